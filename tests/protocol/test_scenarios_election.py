"""Scenes about the master: each condition that breaks a tie, its loss, and two of them; and about
joining.
"""

from __future__ import annotations

from itertools import combinations

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.effects import Identity
from agent.protocol.records import TaskState
from agent.protocol.settings import Settings
from tests.protocol.stage import Stage, both_ways, task
from tests.protocol.stage_machines import NAMES, Course

ELECTION = ("WHO_IS_MASTER", "START_ELECTION", "TRY_TO_BE_MASTER", "NEW_MASTER")


def first_election(stage: Stage) -> None:
    """All are linked a moment after the last has started, and elect their first master."""
    for pair in combinations(stage.actors, 2):
        stage.link(*pair)
    stage.play(2.5)


def candidacies(stage: Stage) -> dict[str, msg.TryToBeMaster]:
    return {e.who: e.what for e in stage.entries if isinstance(e.what, msg.TryToBeMaster)}


def scene_election_by_reputation() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION)
    stage.actors["acor"].disk.identity = Identity(1, 8, (0, 0))
    for name in NAMES:
        stage.boot(name)
    first_election(stage)
    assert {name: each.reputation for name, each in candidacies(stage).items()} == {
        "acor": 7,
        "pato": 10,
        "grifo": 10,
    }
    assert stage.masters() == {"grifo"}
    return stage


def scene_election_by_table_size() -> Stage:
    stage = Stage("acor", "grifo", "pato", "tordo", shows=ELECTION).flock()
    for name in stage.actors:
        stage.owner(name, here=True)
    stage.play(0.1).curtain()
    stage.say("grifo misses a submission, and the master dies before grifo is helped")
    stage.lose("tordo", "grifo", msg.Enqueue)
    stage.submit("tordo", "bread", task("T1")).play(0.01)
    stage.crash("acor").play(3)
    assert {name: each.tasks for name, each in candidacies(stage).items()} == {
        "grifo": 0,
        "pato": 1,
        "tordo": 1,
    }
    assert stage.masters() == {"pato"}
    return stage


def scene_election_by_candidacy_stamp() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION)
    stage.say("the clock of pato is 300 ms behind, so its candidacy bears the oldest stamp")
    stage.actors["pato"].clock_ahead_ms = -300
    for name in NAMES:
        stage.boot(name)
    first_election(stage)
    stamps = {name: each.stamp for name, each in candidacies(stage).items()}
    assert stamps["pato"] < min(stamps["acor"], stamps["grifo"])
    assert stage.masters() == {"pato"}
    return stage


def scene_election_by_host_name() -> Stage:
    stage = Stage("tordo", "pato", "grifo", shows=ELECTION)
    for name in stage.actors:
        stage.boot(name)
    first_election(stage)
    assert len({(c.reputation, c.tasks, c.stamp) for c in candidacies(stage).values()}) == 1
    assert stage.masters() == {"grifo"}
    return stage


def scene_master_lost() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION).flock()
    assert stage.masters() == {"acor"}
    stage.crash("acor").play(2.5)
    assert stage.masters() == {"grifo"}
    stage.say("the old master comes back, and takes its place behind the new one")
    stage.boot("acor")
    stage.link("acor", "pato", "grifo").play(2)
    assert stage.masters() == {"grifo"}
    return stage


def scene_election_is_held_once() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION, settings=Settings())
    for name in NAMES:
        stage.boot(name)
    first_election(stage)
    stage.play(2)
    assert len(stage.sent(msg.NewMaster)) == 1
    return stage


def scene_two_masters_after_a_partition() -> Stage:
    stage = Stage(*NAMES, shows=(*ELECTION, "HB")).flock()
    cables = both_ways("pato", "acor", "grifo")
    stage.hold(*cables)
    stage.play(7)
    assert stage.masters() == {"acor", "pato"}
    stage.say("together again: of two masters the one with the newer election stands")
    stage.link("pato", "acor", "grifo").play(1.5)
    assert stage.masters() == {"pato"}
    return stage


# -- knowing what others know: joining, coming back, and tasks only heard of -----------------------


COMPARING = ("HELLO", "DIGEST", "BUCKET_LIST", "ASK_RECORDS", "WHO_IS_MASTER", "NEW_MASTER")


def scene_joining_with_an_empty_disk() -> Stage:
    stage = Stage(*NAMES, shows=COMPARING).flock("acor", "pato")
    stage.courses["T2"] = Course(length_s=6)
    stage.submit("pato", "bread", task("T1"), task("T2", "T1"), task("T3", "T2")).play(3).curtain()
    stage.boot("grifo")
    stage.play(0.2)
    stage.say("links come up one by one; nothing is claimed before the table is here")
    stage.link("grifo", "pato").play(0.1)
    assert stage.sent(msg.TasksTransfer, by="grifo")
    stage.link("grifo", "acor").play(0.5)
    assert stage.same_tables()
    assert (stage.masters(), stage.state("T1")) == ({"acor"}, TaskState.TERMINATED)
    assert stage.state("T2") is TaskState.RUNNING
    return stage


def scene_joining_with_an_old_disk() -> Stage:
    stage = Stage(*NAMES, shows=COMPARING).flock()
    stage.submit("pato", "bread", task("T1")).play(0.5)
    assert stage.starters("T1") == ["acor"]
    stage.say("the power of acor goes while it runs the task; another runs it meanwhile")
    stage.crash("acor", power=True).play(9)
    assert stage.state("T1") is TaskState.TERMINATED
    stage.curtain()
    stage.say("acor comes back, and its disk says that it is running the task")
    stage.boot("acor")
    stage.play(0.2)
    stage.link("acor", "pato", "grifo").play(2)
    assert (stage.starters("T1"), stage.outcome("T1")) == ([], "grifo")
    assert stage.same_tables()
    return stage


def deaf_pato(stage: Stage) -> None:
    """Pato misses what the others are told of a workflow, and then hears of its task."""
    stage.flock()
    for name in stage.actors:
        stage.owner(name, here=name != "grifo")
    stage.play(0.1).curtain()
    stage.lose("tordo", "pato", msg.Enqueue)
    stage.submit("tordo", "bread", task("T1"))


def scene_unknown_task_the_master_answers() -> Stage:
    stage = Stage("acor", "grifo", "pato", "tordo")
    deaf_pato(stage)
    stage.play(3)
    assert stage.sent(msg.GetTask, by="pato")
    assert stage.sent(msg.TakeTask) == stage.sent(msg.TakeTask, by="acor")
    assert len(stage.sent(msg.TakeTask)) == 1
    assert not stage.sent(msg.DoYouKnow)
    assert stage.same_tables()
    return stage


def scene_unknown_task_everybody_is_asked() -> Stage:
    stage = Stage("acor", "grifo", "pato", "tordo")
    deaf_pato(stage)
    stage.crash("acor")
    stage.say("the master dies; whoever is asked waits a delay of its own, the first answer stands")
    stage.play(3)
    assert not stage.sent(msg.GetTask)
    assert len(stage.sent(msg.DoYouKnow, by="pato")) == 1
    assert len(stage.sent(msg.TakeTask)) == 1, "who is told KNOWN keeps its answer to itself"
    assert stage.sent(msg.Known, by="pato")
    assert stage.same_tables()
    return stage


def test_who_is_no_member_any_more_loses_its_links() -> None:
    stage = Stage(*NAMES)
    stage.flock()
    stage._hand("acor", ev.MembersChanged(("acor", "grifo")))
    assert [effect.peer for effect in stage.effects(fx.Unlink)] == ["pato"]


def test_a_link_of_who_is_no_member_is_ended_at_once() -> None:
    stage = Stage(*NAMES)
    stage.flock("acor", "grifo")
    stage._hand("acor", ev.MembersChanged(("acor", "grifo")))
    stage._hand("acor", ev.PeerLinked("pato"))
    assert [effect.peer for effect in stage.effects(fx.Unlink)] == ["pato"]
    assert stage.living()["acor"].reachable() == ("grifo",)


def chain_that_starts() -> Stage:
    """Four start and only neighbours find each other; a task comes that the two at the ends could run."""
    stage = Stage("acor", "grifo", "pato", "tordo", settings=Settings())
    for name in stage.actors:
        stage.boot(name)
    stage.play(0.1)
    for pair in (("acor", "grifo"), ("grifo", "pato"), ("pato", "tordo")):
        stage.link(*pair)
    stage.play(7)
    for name in ("grifo", "pato"):
        stage.owner(name, here=True)
    stage.courses["T1"] = Course(2.0)
    return stage.submit("grifo", "bread", task("T1")).play(2)


def test_two_that_start_and_share_no_peer_do_not_both_start_a_task() -> None:
    stage = chain_that_starts()
    assert stage.state("T1") is TaskState.READY
    stage.link("acor", "pato").play(1)
    assert len(stage.starters("T1")) == 1


def test_what_is_never_linked_is_not_waited_for_without_end() -> None:
    stage = chain_that_starts().play(10)
    assert stage.state("T1") is TaskState.TERMINATED
