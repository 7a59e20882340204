"""Scenes over minutes and months: what is kept how long, with the settings that every flock has.

Clocks are set forward where only the wall clock counts. Where a node has to wait itself, there are
one or two of them and nothing goes on, so an hour is played in a moment.
"""

from __future__ import annotations

import pytest

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.allowance import RECORDS_AT_ONCE_MAX, RECORDS_PER_S, Allowance
from agent.protocol.clock import Instant
from agent.protocol.records import Requirements, TaskState
from agent.protocol.settings import Settings
from tests.protocol.stage import Stage, at_work, task
from tests.protocol.stage_machines import Course

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def finished_alone() -> Stage:
    stage = Stage("acor").flock()
    stage.submit("acor", "bread", task("T1")).play(5)
    assert stage.state("T1") is TaskState.TERMINATED
    return stage


def knows_bread(stage: Stage) -> bool:
    return "bread" in stage.living()["acor"].table.workflows


def remembers_pruning(stage: Stage) -> bool:
    return "bread" in stage.living()["acor"].table.prunings


def test_what_is_finished_is_kept_for_thirty_days() -> None:
    stage = finished_alone()
    acor = stage.actors["acor"]
    stage.play(3_620)
    acor.clock_ahead_ms = 30 * DAY_MS - 2 * HOUR_MS
    stage.play(20)
    assert knows_bread(stage)
    acor.clock_ahead_ms = 30 * DAY_MS
    stage.play(20)
    assert not knows_bread(stage)
    assert remembers_pruning(stage)
    acor.clock_ahead_ms = 429 * DAY_MS
    stage.play(20)
    assert remembers_pruning(stage), "or another machine could bring it back"
    acor.clock_ahead_ms = 431 * DAY_MS
    stage.play(20)
    assert not remembers_pruning(stage)
    held = stage.living()["acor"].table.hash
    stage.crash("acor")
    stage.boot("acor")
    assert stage.living()["acor"].table.hash == held, "who starts anew compares nothing for it"


def test_what_was_just_seen_finished_rests_for_an_hour_whatever_the_clock_says() -> None:
    stage = finished_alone()
    stage.actors["acor"].clock_ahead_ms = 60 * DAY_MS
    stage.play(3_500)
    assert knows_bread(stage)
    stage.play(150)
    assert not knows_bread(stage)


def test_what_an_owner_interrupts_is_offered_after_five_minutes() -> None:
    stage = at_work("acor", "pato", length_s=1_000, for_s=5, once=True)
    (first,) = stage.starters("T1")
    (other,) = {"acor", "pato"} - {first}
    stage.owner(first, here=True).play(298)
    assert stage.starters("T1") == [first]
    stage.play(6)
    assert stage.starters("T1") == [first, other]


def test_an_agent_whose_peers_are_away_waits_for_them_for_five_seconds() -> None:
    stage = Stage("acor", "pato")
    stage.boot("acor")
    stage.owner("acor", here=False).play(0.5)
    stage.submit("acor", "bread", task("T1")).play(4.2)
    assert stage.starters("T1") == []
    stage.play(2.5)
    assert stage.starters("T1") == ["acor"]


def test_outputs_of_a_machine_that_stays_away_are_made_again_after_five_minutes() -> None:
    stage = Stage("acor", "pato", settings=Settings(copies=1))
    stage.tags["pato"] = ("oven",)
    stage.flock()
    stage.owner("pato", here=True)
    stage.courses["T1"] = Course(file=True)
    oven = Requirements(tags=("oven",))
    stage.submit("pato", "bread", task("T1"), task("T2", "T1", requirements=oven)).play(3)
    assert stage.state("T2") is TaskState.READY
    stage.crash("acor")
    stage.owner("pato", here=False).play(298)
    assert (stage.starters("T1"), stage.starters("T2")) == (["acor"], [])
    stage.play(15)
    assert (stage.starters("T1"), stage.state("T2")) == (["acor", "pato"], TaskState.TERMINATED)


def test_a_task_under_which_five_agents_died_is_given_up() -> None:
    stage = Stage("acor").flock()
    stage.courses["T1"] = Course(length_s=50.0)
    stage.submit("acor", "bread", task("T1", expected_ms=50_000))
    for _ in range(5):
        stage.play(8)
        assert stage.state("T1") is TaskState.RUNNING
        stage.crash("acor")
        stage.boot("acor")
    stage.play(8)
    assert (stage.starters("T1"), stage.state("T1")) == (["acor"] * 5, TaskState.ABORTED)


@pytest.mark.parametrize(("ahead_ms", "is_followed"), [(23 * HOUR_MS, True), (25 * HOUR_MS, False)])
def test_a_clock_more_than_a_day_ahead_moves_no_other(ahead_ms: int, is_followed: bool) -> None:
    stage = Stage("acor", "pato")
    stage.actors["pato"].clock_ahead_ms = ahead_ms
    stage.flock()
    stage.submit("pato", "cake", task("T1")).play(1)
    stage.submit("acor", "bread", task("T2")).play(1)
    submitted_ms = stage.living()["acor"].table.workflows["bread"].spec.submitted[0]
    assert (submitted_ms >= stage.origin_ms + ahead_ms) is is_followed
    assert stage.same_tables()


def test_who_asks_for_a_task_that_was_cleaned_up_is_told_so() -> None:
    stage = Stage("acor", "pato", settings=Settings(retention_ms=20_000)).flock()
    stage.submit("acor", "bread", task("T1")).play(60)
    assert not knows_bread(stage)
    stage._hand("acor", ev.Received("pato", msg.DoYouKnow("T1")))
    stage.play(1)
    assert len(stage.sent(msg.AlreadyFinished, by="acor")) == 1
    assert stage.same_tables()


def test_a_long_table_comes_in_pieces() -> None:
    stage = Stage("acor", "pato").flock("acor")
    stage.owner("acor", here=True)
    for name in ("a", "b", "c"):
        stage.submit("acor", name, *(task(f"{name}{number}") for number in range(300)))
    stage.play(1)
    stage.boot("pato")
    stage.owner("pato", here=True)
    stage.link("acor", "pato").play(3)
    pieces = [entry.what for entry in stage.entries if isinstance(entry.what, msg.Records)]
    sizes = [sum(len(each.spec.tasks) for each in piece.workflows) for piece in pieces]
    assert [size for size in sizes if size] == [600, 300]
    assert stage.same_tables()


def test_only_the_master_cleans_up() -> None:
    stage = Stage("acor", "pato", settings=Settings(retention_ms=20_000)).flock()
    stage.submit("acor", "bread", task("T1")).play(60)
    assert not knows_bread(stage)
    said = {
        (each.who, pruning.by)
        for each in stage.entries
        if isinstance(each.what, fx.Persist)
        for pruning in each.what.prunings
    }
    (master,) = stage.masters()
    assert said == {("acor", master), ("pato", master)}


def test_who_asks_for_everything_again_and_again_is_answered_at_a_pace() -> None:
    """No answer is too large for whoever has asked for nothing in a while."""
    core = Stage("acor").flock().living()["acor"]._core
    allowance = Allowance(core)

    def answered(*asked: tuple[float, str, int]) -> list[bool]:
        found = []
        for at_s, peer, records in asked:
            core.set_now(Instant(100.0 + at_s, 0), "")
            found.append(allowance.takes(peer, records))
        return found

    most, later_s = RECORDS_AT_ONCE_MAX, RECORDS_AT_ONCE_MAX / RECORDS_PER_S
    assert answered((0, "pato", most - 1), (0, "pato", 1), (0, "acor", 3 * most)) == [True] * 3
    assert not core.counters
    assert answered((0, "pato", 1), (1, "pato", RECORDS_PER_S + 1)) == [False] * 2
    assert core.counters == {"asks for more records than one member may": 2}
    assert answered((1, "pato", RECORDS_PER_S), (1, "pato", 1)) == [True, False]
    back_s = 1 + later_s
    assert answered((back_s, "pato", most + 1), (back_s, "pato", 1)) == [True, False]
    assert answered((2 * later_s, "acor", 1), (3 * later_s, "acor", most)) == [False, True]
    assert (RECORDS_AT_ONCE_MAX, RECORDS_PER_S) == (1_000_000, 50_000)
