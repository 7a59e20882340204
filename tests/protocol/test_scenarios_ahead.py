"""What follows a task is claimed shortly before that task is expected to end, and held until then."""

from __future__ import annotations

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.records import PRIORITY_INTERACTIVE, TaskState, Terminated
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import NAMES, Course

HELD_S = 1.9
"""A task of 2 s has not ended yet, and what follows is claimed."""
THREE_ROUNDS_S = 6.2


def holding(
    *names: str,
    first_s: float = 2.0,
    fails_on: tuple[str, ...] = (),
    file: bool = False,
    slots: int = 1,
) -> Stage:
    """The first of a chain is about to end on acor."""
    stage = Stage(*names)
    stage.slots = slots
    stage.courses["first"] = Course(length_s=first_s, fails_on=fails_on, file=file)
    stage.flock()
    stage.submit(names[-1], "chain", task("first"), task("second", "first")).play(HELD_S)
    assert stage.starters("first") == ["acor"]
    assert "second" in stage.living()["acor"].claims.open
    assert stage.starters("second") == []
    return stage


def claims_of(stage: Stage, wanted: str) -> list[str]:
    """Who asked for the task, in order."""
    return [
        entry.who
        for entry in stage.entries
        if isinstance(entry.what, msg.TryDequeue)
        and any(claim.task == wanted for claim in entry.what.claims)
    ]


def test_the_next_starts_without_a_further_question() -> None:
    stage = holding(*NAMES)
    stage.curtain()
    stage.play(0.2)
    assert stage.starters("second") == ["acor"]
    assert stage.sent(msg.TryDequeue) == stage.sent(msg.ClaimAnswers) == []
    stage.play(3)
    assert stage.outcome("second") == "acor"
    assert stage.same_tables()


def test_a_task_that_takes_longer_is_not_waited_for() -> None:
    stage = holding(*NAMES, first_s=20.0)
    stage.play(12)
    assert all(not node.claims.open for node in stage.living().values())
    assert all(not node.promises.by_task for node in stage.living().values())
    stage.play(12)
    assert stage.starters("second") == ["acor"]
    assert claims_of(stage, "second") == ["acor", "acor"]
    assert stage.state("second") is TaskState.TERMINATED


def test_a_task_that_fails_is_tried_elsewhere_and_nothing_stays_claimed() -> None:
    stage = holding(*NAMES, fails_on=("acor",))
    stage.play(0.3)
    assert "second" not in stage.living()["acor"].claims.open
    stage.play(8)
    (_, other) = stage.starters("first")
    assert other != "acor"
    assert (stage.starters("second"), stage.state("second")) == ([other], TaskState.TERMINATED)


def test_whose_owner_comes_back_gives_the_claim_up() -> None:
    stage = holding(*NAMES)
    stage.owner("acor", here=True).play(0.05)
    assert "second" not in stage.living()["acor"].claims.open
    assert all(not node.promises.by_task for node in stage.living().values())


def test_who_dies_with_a_claim_leaves_nothing_promised() -> None:
    stage = holding(*NAMES)
    stage.crash("acor").play(8)
    (_, other) = stage.starters("first")
    assert (stage.starters("second"), stage.state("second")) == ([other], TaskState.TERMINATED)


def test_urgent_work_comes_before_what_was_claimed_ahead() -> None:
    stage = holding("acor")
    stage.submit("acor", "urgent", task("now"), priority=PRIORITY_INTERACTIVE).play(1)
    assert (stage.starters("now"), stage.starters("second")) == (["acor"], [])
    stage.play(6)
    assert stage.starters("second") == ["acor"]


def test_what_needs_more_than_the_one_task_is_not_claimed_ahead() -> None:
    stage = Stage(*NAMES)
    stage.courses["long"] = Course(length_s=6.0)
    stage.flock()
    both = task("both", "short", "long")
    stage.submit("grifo", "two", task("short"), task("long", expected_ms=6_000), both).play(5)
    assert claims_of(stage, "both") == []
    stage.play(6)
    assert len(stage.starters("both")) == 1


def test_nothing_is_claimed_ahead_of_what_is_wanted_more() -> None:
    stage = Stage("acor").flock()
    stage.submit("acor", "chain", task("first"), task("second", "first"))
    stage.submit("acor", "other", task("alone"), priority=60).play(HELD_S)
    assert stage.starters("first") == ["acor"]
    assert not stage.living()["acor"].claims.open
    stage.play(0.3)
    assert stage.starters("alone") == ["acor"]
    stage.play(6)
    assert stage.starters("second") == ["acor"]


def test_what_is_claimed_ahead_takes_no_place_meanwhile() -> None:
    stage = holding("acor", first_s=6.0, slots=2)
    stage.submit("acor", "other", task("alone")).play(0.1)
    assert stage.starters("alone") == ["acor"]
    stage.play(4.1)
    assert stage.starters("second") == ["acor"]


def test_others_see_no_less_room_where_something_is_claimed_ahead() -> None:
    """Two machines with a task each and a free place: what comes next is for the first of them."""
    stage = Stage("acor", "pato")
    stage.slots = 2
    stage.courses |= {"first": Course(length_s=6.0), "long": Course(length_s=60.0)}
    stage.flock()
    stage.submit("pato", "chain", task("first"), task("second", "first"))
    stage.submit("pato", "other", task("long", expected_ms=60_000)).play(HELD_S)
    assert (stage.starters("first"), stage.starters("long")) == (["acor"], ["pato"])
    assert "second" in stage.living()["pato"].promises.by_task
    stage.submit("pato", "third", task("alone")).play(0.1)
    assert stage.starters("alone") == ["acor"]


def test_work_that_comes_meanwhile_and_is_wanted_more_goes_first() -> None:
    stage = holding(*NAMES[:1], first_s=6.0)
    stage.submit("acor", "other", task("alone"), priority=90).play(0.1)
    assert not stage.living()["acor"].claims.open
    stage.play(4.1)
    assert stage.starters("alone") == ["acor"]
    stage.play(2.2)
    assert stage.starters("second") == ["acor"]


def test_work_that_comes_meanwhile_and_is_wanted_less_changes_nothing() -> None:
    stage = holding(*NAMES[:1], first_s=6.0)
    stage.submit("acor", "other", task("alone"), priority=20).play(0.1)
    assert "second" in stage.living()["acor"].claims.open


def test_a_wish_for_other_work_that_waits_is_heard() -> None:
    stage = holding(*NAMES[:1], first_s=6.0)
    stage.submit("acor", "other", task("alone"), priority=20)
    stage.ask("acor", "first of all", ev.Prioritise("first of all", "other", 90)).play(4.2)
    assert stage.starters("alone") == ["acor"]


def test_what_is_cancelled_is_not_claimed_any_more() -> None:
    stage = holding(*NAMES, first_s=6.0)
    stage.ask("pato", "cancel chain", ev.Cancel("cancel chain", "chain")).play(0.1)
    assert all(not node.claims.open for node in stage.living().values())
    assert all(not node.promises.by_task for node in stage.living().values())


def test_an_agent_that_stops_begins_nothing_that_it_has_claimed() -> None:
    """Not even while it still sees to the outputs of what it has run."""
    stage = holding(*NAMES, file=True)
    while not any(isinstance(entry.what, fx.CopyOutputs) for entry in stage.entries):
        stage.play(0.001)
    stage.ask("acor", "stop", ev.Shutdown()).play(4)
    (run,) = stage.living()["grifo"].table.life("second").runs
    assert run.host != "acor"
    assert isinstance(run.phase, Terminated)


def test_whoever_consented_is_asked_again_when_its_link_was_broken() -> None:
    stage = holding(*NAMES, first_s=6.0)
    stage.reset("acor", "pato")
    assert not stage.living()["pato"].promises.by_task
    stage.link("acor", "pato").play(0.1)
    assert "second" in stage.living()["pato"].promises.by_task
    stage.play(4.2)
    assert stage.starters("second") == ["acor"]
    assert claims_of(stage, "second") == ["acor", "acor"]


def test_what_waits_already_gets_its_turn() -> None:
    """Whoever looked at its own end alone would leave the third chain to the other."""
    stage = Stage("acor", "pato").flock()
    for number in "123":
        stage.submit(
            "pato", f"chain {number}", task(f"A{number}"), task(f"B{number}", f"A{number}")
        )
    stage.play(THREE_ROUNDS_S)
    assert all(stage.state(f"B{number}") is TaskState.TERMINATED for number in "123")


def test_ends_that_fall_together_are_dealt_out_together() -> None:
    stage = Stage("acor", "pato").flock()
    stage.submit("pato", "first", task("one"), task("other"))
    urgent = [task(name, after=("other",)) for name in ("urgent", "urgent too")]
    stage.submit("pato", "urgent", *urgent, priority=90)
    stage.submit("pato", "later", task("later"), task("later too"), priority=10).play(1)
    assert [stage.starters(name) for name in ("one", "other")] == [["acor"], ["pato"]]
    stage.curtain()
    stage.play(2)
    assert [start.task for start in stage.effects(fx.StartChild)] == ["urgent", "urgent too"]


def test_who_dies_before_it_has_told_of_the_end_leaves_it_to_others() -> None:
    stage = holding(*NAMES)
    while stage.starters("second") == []:
        stage.play(0.01)
    stage.crash("acor")
    assert stage.state("first") is TaskState.RUNNING, "nobody has been told of the end"
    stage.play(8)
    (_, other) = stage.starters("first")
    assert stage.starters("second") == ["acor", other]
    stage.boot("acor")
    stage.link("acor", "pato", "grifo").play(8)
    assert stage.state("second") is TaskState.TERMINATED
    assert stage.same_tables()
