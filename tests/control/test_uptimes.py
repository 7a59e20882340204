"""How long machines are up within working hours, and how many copies of a result are enough for that."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.datasets import CopiesView
from agent.history.uptimes import FILE, FOLDER, LOOK_S, Uptimes, working_s
from agent.protocol.events import MembersChanged, PeerLinked, PeerUnlinked
from agent.protocol.policy.availability import by_copies, least_copies
from agent.protocol.settings import Settings
from agent.wording.copies import NOT_KNOWN, copies_said, percent
from tests.control.serving import LineClient, Serving
from tests.driver.nodes import QUIET, services

MONDAY = datetime(2026, 11, 16)  # noqa: DTZ001 - as the clock on the wall shows it
HOUR_S = 3_600.0


def at(day: int, hour: float) -> float:
    return (MONDAY + timedelta(days=day, hours=hour)).timestamp()


class Clock:
    """Of a machine whose agent looks each minute."""

    def __init__(self, now_s: float) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s

    def go(self, uptimes: Uptimes, hours: float) -> None:
        for _ in range(round(hours * HOUR_S / LOOK_S)):
            self.now_s += LOOK_S
            uptimes.look()


@pytest.fixture
def clock() -> Clock:
    return Clock(at(0, 9))


@pytest.fixture
def uptimes(tmp_path: Path, clock: Clock) -> Uptimes:
    found = Uptimes("acor", tmp_path, clock)
    found.look()
    found.heed(MembersChanged(("acor", "birch", "cedar")))
    return found


@pytest.mark.parametrize(
    ("begins", "ends", "hours"),
    [
        ((0, 9), (0, 11), 2),
        ((0, 6), (0, 9), 1),
        ((0, 17), (1, 9), 2),
        ((4, 17), (7, 9), 2),
        ((5, 9), (6, 17), 0),
        ((0, 0), (7, 0), 50),
        ((0, 12), (0, 12), 0),
    ],
)
def test_only_working_hours_count(
    begins: tuple[int, float], ends: tuple[int, float], hours: float
) -> None:
    assert working_s(at(*begins), at(*ends)) == pytest.approx(hours * HOUR_S)


def test_a_member_is_up_while_it_is_linked(uptimes: Uptimes, clock: Clock) -> None:
    uptimes.heed(PeerLinked("birch"))
    clock.go(uptimes, 6)
    uptimes.heed(PeerUnlinked("birch", True))
    clock.go(uptimes, 2)
    shares = uptimes.shares()
    assert shares["acor"] == 1.0
    assert shares["birch"] == pytest.approx(0.75, abs=0.01)
    assert shares["cedar"] == 0.0
    assert [uptimes.mostly_off(each) for each in ("acor", "birch", "cedar", "of no flock")] == [
        False,
        False,
        True,
        False,
    ]


def test_nothing_is_said_of_who_was_watched_for_an_hour(uptimes: Uptimes, clock: Clock) -> None:
    clock.go(uptimes, 1)
    assert uptimes.shares() == {}
    assert uptimes.advised() == 2
    assert uptimes.view().available == ()


def test_what_was_not_seen_is_time_in_which_this_machine_was_down(
    uptimes: Uptimes, clock: Clock
) -> None:
    uptimes.heed(PeerLinked("birch"))
    clock.go(uptimes, 5)
    clock.now_s += 3 * HOUR_S  # until 17:00, asleep
    uptimes.look()
    shares = uptimes.shares()
    assert shares["acor"] == pytest.approx(5 / 8, abs=0.01)
    assert shares["birch"] == 1.0


def test_a_clock_that_was_set_back_adds_nothing(uptimes: Uptimes, clock: Clock) -> None:
    clock.go(uptimes, 5)
    before = uptimes.view().hours
    clock.now_s -= 2 * HOUR_S
    uptimes.look()
    assert uptimes.view().hours == before


async def test_what_was_seen_outlives_the_agent(tmp_path: Path, clock: Clock) -> None:
    first = Uptimes("acor", tmp_path, clock)
    first.begin(("acor", "birch"))
    first.heed(PeerLinked("birch"))
    clock.go(first, 6)
    await first.close()
    clock.now_s += HOUR_S
    second = Uptimes("acor", tmp_path, clock)
    second.begin(("acor", "birch"))
    assert second.shares()["acor"] == pytest.approx(6 / 7, abs=0.01)
    assert second.shares()["birch"] == 1.0
    await second.close()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seen": 1}', '{"seen": 1, "times": {"a": 3}}'])
def test_a_file_that_says_nothing_is_begun_anew(tmp_path: Path, clock: Clock, text: str) -> None:
    found = Uptimes("acor", tmp_path, clock)
    found._folder.prepare()
    (tmp_path / FOLDER / FILE).write_text(text)
    assert Uptimes("acor", tmp_path, clock).shares() == {}


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=7))
def test_copies_are_worth_the_mean_over_all_who_may_hold_them(shares: list[float]) -> None:
    for copies, share in enumerate(by_copies(shares, 5), 1):
        sets = list(combinations(shares, copies))
        mean = sum(1 - prod(1 - each for each in those) for those in sets) / len(sets)
        assert share == pytest.approx(mean, abs=1e-9)


def test_as_many_copies_are_advised_as_are_enough() -> None:
    available = by_copies([0.95] * 9, 5)
    assert available[:3] == pytest.approx((0.95, 0.9975, 0.999875))
    assert least_copies(available, 0.999, 2) == 3
    assert least_copies(available, 0.9, 2) == 2
    assert least_copies(by_copies([0.3] * 9, 5), 0.999, 2) == 5


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.993, "99.3 %"), (0.9997, "99.97 %"), (0.5, "50.0 %"), (1.0, "100 %")],
)
def test_shares_are_told_with_the_digits_that_matter(share: float, said: str) -> None:
    assert percent(share) == said


def test_a_sentence_says_what_copies_are_worth() -> None:
    told = copies_said(CopiesView(2, 3, (0.9, 0.993, 0.9997)))
    assert told == ("2 copies keep a result available 99.3 % of the working week; 3 would 99.97 %")
    assert "; " not in copies_said(CopiesView(2, 2, (0.9, 0.993)))
    assert copies_said(CopiesView(2, 2)) == NOT_KNOWN
    assert copies_said(CopiesView(4, 2, (0.9, 0.99))) == NOT_KNOWN


async def test_people_are_told_with_the_names_of_machines(
    there: Serving, client: LineClient
) -> None:
    told = (await client.result("datasets"))["copies"]
    assert (told["copies"], told["available"][1]) == (2, pytest.approx(0.997))
    assert set(told["up"]) == {there.node.known.name_of(each) for each in there.node.view().up}


@pytest.mark.parametrize(("setting", "disks"), [(3, 3), (2, 1), (0, 2)])
async def test_results_get_as_many_copies_as_the_owner_says(
    tmp_path: Path, setting: int, disks: int
) -> None:
    """Where nobody has set it whoever starts the agent decides; nothing is advised yet."""
    options = replace(QUIET, protocol=Settings(copies=1))
    async with services(tmp_path, "ant", options=options, copies=setting) as (ant,):
        assert ant.live.node._core.settings.copies == disks
        assert ant.live.uptimes.view().copies == disks
