"""Seats of the flock and versions of programs: what a task needs beyond its machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol import messages as msg
from agent.protocol.messages import Capabilities, ProgramVersion
from agent.protocol.needs import Seat, compared, seats_of, version_meets, versions_of, with_needs
from agent.protocol.records import TaskSpec, TaskState
from agent.protocol.seats import misfit
from agent.protocol.sharing_reasons import OtherVersion, SeatsTaken
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import NAMES

ACME = (Seat("acme", 1),)


def seated(name: str, most: int = 1) -> TaskSpec:
    return task(name, more=with_needs((), (Seat("acme", most),)))


@pytest.mark.parametrize(
    ("need", "there", "meets"),
    [
        ("acme >= 3", "3", True),
        ("acme >= 3", "3.0", True),
        ("acme>=3.10", "3.9", False),
        ("acme >= 3", "3.0-beta", False),
        ("acme > 3", "3.0.1", True),
        ("acme < 3", "2.9", True),
        ("acme <= 2", "2.0", True),
        ("acme = 2", "2.0", True),
        ("acme == 2", "2.1", False),
        ("acme", "", True),
        ("acme >= 3", "", False),
        ("bolt", "3", False),
        ("acme >> 3", "3", False),
    ],
)
def test_a_version_is_what_is_needed_or_not(need: str, there: str, meets: bool) -> None:
    assert version_meets(need, {"acme": there}) is meets


VERSIONS = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,2}){0,2}(-(beta|rc1))?", fullmatch=True)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_versions_have_one_order(one: str, two: str, three: str) -> None:
    assert compared(one, two) == -compared(two, one)
    assert compared(one, one + ".0") == 0 or "-" in one
    if compared(one, two) <= 0 and compared(two, three) <= 0:
        assert compared(one, three) <= 0


def test_needs_travel_with_the_task_and_nonsense_asks_for_nothing() -> None:
    spec = task("T1", more=with_needs(("acme >= 3",), ACME))
    assert (versions_of(spec), seats_of(spec)) == (("acme >= 3",), ACME)
    wrong = task("T1", more={"versions": spec.more["seats"]})
    assert (versions_of(wrong), seats_of(wrong), seats_of(None)) == ((), (), ())


def test_a_machine_fits_by_the_versions_of_its_programs() -> None:
    spec = task("T1", more=with_needs(("acme >= 3",), ()))
    has = Capabilities(programs=(spec.program, "acme"))
    newer = Capabilities(programs=(spec.program, "acme"), versions=(ProgramVersion("acme", "3.2"),))
    assert misfit(spec, has) == OtherVersion("acme >= 3", "")
    assert misfit(spec, newer) is None


def test_one_seat_is_one_run_at_once_and_the_next_follows_at_its_end() -> None:
    stage = Stage(*NAMES).flock()
    stage.submit("pato", "bread", *(seated(f"T{number}") for number in range(4)))
    most = 0
    for _ in range(200):
        stage.play(0.05)
        running = [each for each in range(4) if stage.state(f"T{each}") is TaskState.RUNNING]
        most = max(most, len(running))
    assert [stage.state(f"T{each}") for each in range(4)] == [TaskState.TERMINATED] * 4
    assert [len(stage.starters(f"T{each}")) for each in range(4)] == [1] * 4
    assert most == 1


def test_a_race_for_the_last_seat_has_one_winner() -> None:
    """Each node believes that it is alone, and goes for another task; one seat is there."""
    stage = Stage(*NAMES).flock()
    for name in NAMES:
        stage.owner(name, here=True)
    stage.play(0.1)
    stage.submit("grifo", "bread", *(seated(f"T{number}") for number in range(3))).play(0.1)
    for name in NAMES:
        stage.owner(name, here=False)
    stage.play(0.5)
    started = [name for number in range(3) for name in stage.starters(f"T{number}")]
    assert len(started) == 1
    stage.play(12)
    assert {stage.state(f"T{each}") for each in range(3)} == {TaskState.TERMINATED}


def test_who_holds_the_seats_is_told() -> None:
    stage = Stage("acor", "pato").flock()
    stage.submit("pato", "bread", seated("T1"), seated("T2")).play(0.5)
    (holder,) = stage.starters("T1") or stage.starters("T2")
    waiting = "T2" if stage.starters("T1") else "T1"
    node = stage.living()["pato"]
    assert node.seats.obstacle(waiting) == SeatsTaken("acme", 1, (holder,))


def test_a_machine_that_dies_gives_its_seat_free() -> None:
    stage = Stage("acor", "pato").flock()
    stage.submit("pato", "bread", seated("T1"), seated("T2")).play(0.5)
    (holder,) = stage.starters("T1") or stage.starters("T2")
    waiting = "T2" if stage.starters("T1") else "T1"
    stage.crash(holder, power=True).play(12)
    assert stage.starters(waiting)
    assert stage.sent(msg.TryDequeue)
