"""Seats of the flock and versions of programs: what a task needs beyond its machine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol import messages as msg
from agent.protocol.flock_seats import Answer, FlockSeats
from agent.protocol.messages import Capabilities, ProgramVersion
from agent.protocol.needs import Seat, compared, seats_of, version_meets, versions_of, with_needs
from agent.protocol.news import News
from agent.protocol.records import Claim, Life, Run, Running, TaskSpec, TaskState
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


def claim(host: str, score: int) -> Claim:
    return Claim(score, (1, 0), host)


class Counted:
    """Two seats of one name; who holds and who claims them is given, of tasks H0, ... and C0, ..."""

    def __init__(self, held: int, *claims: Claim) -> None:
        live = Run(0, 1, "far", 7, claim("far", 1), 0, (), phase=Running())
        held_by = {f"H{number}": Life(runs=(live,)) for number in range(held)}
        self.claims = {f"C{number}": each for number, each in enumerate(claims)}
        self.alive = True
        names = (*held_by, *self.claims, "T")
        table: Any = SimpleNamespace(
            specs={**{name: seated(name, 2) for name in names}, "free": task("free")},
            lives=held_by,
            life=lambda name: held_by.get(name, Life()),
        )
        core = cast("Any", SimpleNamespace(me="acor", table=table))
        self.seats = FlockSeats(core, lambda *_: self.alive, self.claims.items)


MINE, WORSE, BETTER = claim("acor", 50), claim("acor", 40), claim("acor", 60)
FAR, ASKED = claim("far", 40), claim("pato", 50)


@pytest.mark.parametrize(
    ("held", "claims", "answer", "give_up"),
    [
        (0, (), Answer.CONSENT, []),
        (1, (), Answer.CONSENT, []),
        (2, (), Answer.REFUSE, []),
        (1, (BETTER,), Answer.REFUSE, []),
        (0, (BETTER,), Answer.CONSENT, []),
        (1, (WORSE,), Answer.CONSENT, ["C0"]),
        (1, (FAR,), Answer.WAIT, []),
        (0, (WORSE, WORSE), Answer.CONSENT, ["C1"]),
        (0, (FAR, WORSE), Answer.CONSENT, ["C1"]),
        (0, (FAR, FAR), Answer.WAIT, []),
        (0, (BETTER, BETTER), Answer.REFUSE, []),
    ],
)
def test_a_claim_on_a_seat_is_answered_by_who_has_them(
    held: int, claims: tuple[Claim, ...], answer: Answer, give_up: list[str]
) -> None:
    counted = Counted(held, *claims)
    assert counted.seats.answer("T", ASKED) == (answer, give_up)
    assert counted.seats.answer("free", ASKED) == (Answer.CONSENT, [])
    assert counted.seats.taken("acme") == held + len(claims)
    assert counted.seats.taken("another") == 0
    full = SeatsTaken("acme", 2, (*["far"] * held, *[each.host for each in claims]))
    taken = held + len(claims) >= 2
    assert counted.seats.obstacle("T") == (full if taken else None)
    assert counted.seats.obstacle("free") is counted.seats.obstacle("unknown") is None


def test_a_machine_that_is_down_holds_no_seat_and_nobody_is_in_his_own_way() -> None:
    counted = Counted(2)
    counted.alive = False
    assert (counted.seats.taken("acme"), counted.seats.obstacle("T")) == (0, None)
    counted = Counted(1, MINE)
    assert counted.seats.obstacle("C0") is None, "its own claim"
    counted.seats.on_news(News(forgotten_tasks=["H0"]))
    assert counted.seats.taken("acme") == 1
