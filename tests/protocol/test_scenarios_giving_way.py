"""Scenes about machines that are given back: what was saved, what may end, what is taken at all. And of
a machine that comes back without its disk: it is not its former self.
"""

from __future__ import annotations

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.reasons import Opaque
from agent.protocol.records import Dataset, TaskId, TaskState
from tests.certain import certain
from tests.protocol.stage import DELAY_S, Stage, at_work, task
from tests.protocol.stage_machines import NAMES
from tests.sim.disk import Disk

LETS_END = ev.PresenceChanged(False, True, Opaque("the owner is here"), lets_end_ms=15_000)


def checkpoints(stage: Stage, name: TaskId) -> list[str]:
    """With what the program of the task was started, time after time."""
    return [start.checkpoint for start in stage.effects(fx.StartChild) if start.task == name]


def scene_saved_state_goes_to_the_next() -> Stage:
    stage = at_work(*NAMES, length_s=20, for_s=14, saves_s=12)
    stage.say("acor is killed after its program has saved")
    stage.crash("acor").play(10)
    assert checkpoints(stage, "T1") == ["", "state of T1 on acor"]
    assert stage.outcome("T1") != "acor"
    return stage


def scene_saved_state_of_an_offered_run() -> Stage:
    stage = at_work("acor", "pato", length_s=20, for_s=8, saves_s=5, once=True).curtain()
    stage.owner("acor", here=True).play(330)
    assert checkpoints(stage, "T1") == ["state of T1 on acor"]
    assert stage.outcome("T1") == "pato"
    return stage


def scene_saved_state_that_cannot_be_had() -> Stage:
    stage = at_work("acor", "pato", length_s=20, for_s=0, saves_s=12)
    while not stage.effects(fx.CopyCheckpoint):
        stage.play(0.002)
    stage.play(2 * DELAY_S)
    stage.say("acor is killed before the state is copied, but not before it is known")
    stage.crash("acor").play(30)
    saved = stage.living()["pato"].table.life("T1").runs[0].checkpoint
    assert certain(saved).dataset == "state of T1 on acor"
    assert checkpoints(stage, "T1") == ["", ""]
    assert stage.outcome("T1") == "pato"
    return stage


def test_a_saved_state_that_does_not_arrive_is_done_without() -> None:
    stage = at_work(*NAMES, length_s=20, for_s=8, saves_s=5)
    assert stage.starters("T1") == ["acor"]
    (copied,) = stage.effects(fx.CopyCheckpoint)
    stage.broken = (copied.checkpoint.dataset,)
    stage.owner(copied.peers[0], here=True)
    stage.crash("acor").play(8)
    (fetch,) = stage.effects(fx.Fetch)
    assert [dataset for dataset, _ in fetch.inputs] == ["state of T1 on acor"]
    assert stage.effects(fx.StartChild)[-1].run == fetch.run, "the run has not ended for it"
    assert checkpoints(stage, "T1") == ["", ""]


def scene_failed_run_leaves_no_state() -> Stage:
    fails = ("acor",)
    stage = at_work("acor", "pato", length_s=4, for_s=12, expected_s=2, saves_s=1, fails_on=fails)
    assert checkpoints(stage, "T1") == ["", ""]
    assert stage.outcome("T1") == "pato"
    return stage


def scene_owner_lets_it_end() -> Stage:
    stage = at_work("acor", "pato", length_s=20, for_s=12).curtain()
    stage.allow("acor", "the owner comes, and lets end what ends within 15 s", LETS_END)
    stage.play(12)
    assert not stage.effects(fx.SuspendChild)
    assert stage.outcome("T1") == "acor"
    return stage


def scene_owner_waits_no_longer_than_said() -> Stage:
    stage = at_work("acor", "pato", length_s=60, for_s=12, expected_s=20).curtain()
    words = "the owner comes; the program takes longer than it was expected to"
    stage.allow("acor", words, LETS_END)
    stage.play(14)
    assert not stage.effects(fx.SuspendChild)
    stage.play(2)
    assert len(stage.effects(fx.SuspendChild)) == 1
    return stage


def scene_only_own_work() -> Stage:
    stage = Stage("acor", "pato").flock()
    own = ev.PresenceChanged(True, False, own_only=True)
    stage.allow("acor", "helps only with its own work", own)
    stage.submit("pato", "bread", task("T1"), task("T2")).play(0.5)
    stage.submit("acor", "cake", task("T3")).play(6)
    assert stage.outcome("T1") == stage.outcome("T2") == "pato"
    assert stage.outcome("T3") == "acor"
    return stage


def scene_published_program() -> Stage:
    stage = Stage(*NAMES)
    stage.takers = ("grifo",)
    stage.flock()
    folder = Dataset("folder of oven", 10)
    stage.say("the program lies on pato, and only grifo takes what it does not know")
    stage._gain(stage.actors["pato"], folder.dataset)
    stage.submit("pato", "bread", task("T1", program="oven@1", published=folder)).play(4)
    assert stage.outcome("T1") == "grifo"
    assert folder.dataset in stage.actors["grifo"].disk.datasets
    assert stage.state("T1") is TaskState.TERMINATED
    return stage


HOUR_MS = 3_600_000


def incarnation(stage: Stage, name: str) -> int:
    return stage.living()[name]._core.incarnation


def returned(stage: Stage, name: str, *peers: str) -> None:
    """The disk was replaced, and nobody has set the clock of the machine."""
    actor = stage.actors[name]
    stage.crash(name).play(0.5)
    actor.disk, actor.clock_ahead_ms = Disk(), -HOUR_MS
    stage.boot(name)
    for peer in peers:
        stage.link(name, peer)
    stage.play(3)


def test_it_takes_a_later_incarnation_than_all_that_others_have_seen() -> None:
    stage = Stage("acor", "pato", "grifo").flock()
    before = incarnation(stage, "acor")
    returned(stage, "acor", "pato", "grifo")
    after = incarnation(stage, "acor")
    assert stage.actors["acor"].incarnations[-1] < before < after
    assert stage.actors["acor"].disk.identity is not None
    assert stage.actors["acor"].disk.identity.incarnation == after
    for name in ("pato", "grifo"):
        assert stage.living()[name]._core.incarnations["acor"] == after
    assert stage.same_tables()


def test_what_its_former_self_ran_is_not_taken_for_its_own() -> None:
    stage = at_work("acor", "pato", length_s=4, for_s=1)
    assert stage.starters("T1") == ["acor"]
    returned(stage, "acor", "pato")
    stage.play(8)
    assert (stage.state("T1"), len(stage.starters("T1"))) == (TaskState.TERMINATED, 2)
    assert stage.same_tables()


def test_a_number_that_no_honest_node_has_seen_is_not_followed() -> None:
    stage = Stage("acor", "pato").flock()
    pato = stage.living()["pato"]._core
    pato.incarnations["acor"] = 2**53
    before = incarnation(stage, "acor")
    stage.reset("acor", "pato")
    stage.link("acor", "pato").play(1)
    assert any(hello.seen == 2**53 for hello in hellos(stage))
    assert incarnation(stage, "acor") == before


def hellos(stage: Stage) -> list[msg.Hello]:
    return [entry.what for entry in stage.entries if isinstance(entry.what, msg.Hello)]
