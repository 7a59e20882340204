"""What is learned of an owner's absences, and what of that is told."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.presence.absences import DAY_S, STEP_PERMILLE, WEEK_S, Absences, Spell
from agent.presence.kept_absences import FILE, FOLDER, KeptAbsences, local_s
from agent.protocol.policy.lasting import CURVE_S, UNKNOWN, half_s, survival

HOUR_S = 3600.0
curves = st.tuples(*[st.integers(0, 1000)] * 3)


def at(day: int, hour: float) -> float:
    return day * DAY_S + hour * HOUR_S


def office(weeks: int, draw: Random, irregular: float = 0.0) -> Absences:
    """Away for lunch from 12 to 13, and from 17:30 to 9 and at weekends."""
    absences, left_s = Absences(), 0.0
    for day in range(weeks * 7):
        if day % 7 > 4:
            continue
        shift = draw.gauss(0.0, 3.0) if draw.random() < irregular else 0.0
        comes, lunch, back, leaves = (h + draw.gauss(shift, 0.1) for h in (9, 12, 13, 17.5))
        absences.note(Spell(left_s, at(day, comes)))
        absences.note(Spell(at(day, lunch), at(day, back)))
        left_s = at(day, leaves)
    return absences


def test_lunch_ends_when_it_ends_and_evenings_last() -> None:
    absences = office(5, Random(1))
    noon = absences.curve(at(36, 12.2), at(36, 12.0))
    end_of_lunch = absences.curve(at(36, 12.8), at(36, 12.0))
    evening = absences.curve(at(36, 18.0), at(36, 17.5))
    early = absences.curve(at(36, 8.5), at(35, 17.5))
    assert noon[0] >= 850 > end_of_lunch[1]
    assert noon[2] <= 250
    assert end_of_lunch[0] < noon[0]
    assert min(evening) >= 850
    assert early[2] <= 400


def test_nobody_comes_on_a_sunday() -> None:
    absences = office(6, Random(2))
    sunday = absences.curve(at(48, 8.7), at(46, 17.5))
    monday = absences.curve(at(49, 8.7), at(46, 17.5))
    assert sunday[2] >= monday[2] + 200
    assert monday[2] <= 500


def test_irregular_days_widen_but_do_not_hide_the_rhythm() -> None:
    regular = office(8, Random(3)).curve(at(57, 12.8), at(57, 12.0))
    mixed = office(8, Random(3), irregular=0.3).curve(at(57, 12.8), at(57, 12.0))
    assert regular[1] <= mixed[1] < 700


def test_little_history_says_nothing_and_a_few_days_say_little() -> None:
    assert Absences().curve(at(1, 12.0), at(1, 11.5)) == ()
    few = Absences([Spell(at(d, 12.0), at(d, 13.0)) for d in range(4)])
    assert few.curve(at(1, 12.5), at(1, 12.0)) == ()
    told = few.curve(at(4, 12.3), at(4, 12.0))
    assert 50 < told[1] < 950


def test_a_machine_that_nobody_ever_needs_lasts() -> None:
    assert min(Absences().curve(at(9, 12.0), 0.0)) >= 900


def test_what_was_is_forgotten_over_weeks() -> None:
    """A new office with lunch at 14 is learned while the old one is still remembered."""
    absences = office(6, Random(4))
    for day in range(42, 84):
        absences.note(Spell(at(day, 14.0), at(day, 15.0)))
    late = absences.curve(at(85, 14.7), at(85, 14.0))
    assert late[1] <= 500


def test_moves_of_the_clock_and_empty_spells_teach_nothing() -> None:
    absences = Absences([Spell(at(1, 9), at(1, 10))])
    absences.note(Spell(at(1, 9.5), at(1, 11)))
    absences.note(Spell(at(2, 9), at(2, 9)))
    assert absences.spells == [Spell(at(1, 9), at(1, 10))]


def test_who_comes_for_a_moment_does_not_stay() -> None:
    away = [Spell(at(0, 8 + n / 4), at(0, 8.15 + n / 4)) for n in range(20)]
    assert not Absences(away).stays(at(1, 10))
    apart = [Spell(at(0, n), at(0, n + 0.5)) for n in range(8, 18)]
    assert Absences(apart).stays(at(1, 10))
    assert not Absences(apart[:3]).stays(at(1, 10))


@pytest.mark.parametrize(
    ("hour", "stays"),
    [(9, True), (23.5, False), (22, False), (21.9, True), (25, False), (25.1, True)],
)
def test_who_comes_back_stays_as_usual_at_about_this_hour(hour: float, stays: bool) -> None:
    """At nine for the day, half an hour before midnight for a moment; at other hours both count."""
    spells = [
        each
        for day in range(8)
        for each in (Spell(at(day, 17), at(day, 23.5)), Spell(at(day, 23.52), at(day, 33)))
    ]
    assert Absences(spells[1:]).stays(at(9, hour)) is stays


@given(
    st.lists(st.tuples(st.floats(60, 2e5), st.floats(60, 2e5)), max_size=40),
    st.floats(0, 3e5),
)
def test_whatever_was_seen_the_curve_falls_in_coarse_steps(
    gaps: list[tuple[float, float]], ahead_s: float
) -> None:
    absences, now_s = Absences(), 0.0
    for away_s, there_s in gaps:
        absences.note(Spell(now_s, now_s + away_s))
        now_s += away_s + there_s
    curve = absences.curve(now_s + ahead_s, now_s)
    assert list(curve) == sorted(curve, reverse=True)
    assert all(0 <= each <= 1000 and each % STEP_PERMILLE == 0 for each in curve)
    assert len(curve) in (0, len(CURVE_S))


@given(curves, st.floats(0, 1e6), st.floats(0, 1e6))
def test_survival_never_rises(curve: tuple[int, ...], one_s: float, other_s: float) -> None:
    sooner, later = sorted((one_s, other_s))
    assert 0.0 <= survival(curve, later) <= survival(curve, sooner) <= 1.0


@given(curves)
def test_survival_goes_through_what_was_told(curve: tuple[int, ...]) -> None:
    told = 1000
    for moment_s, permille in zip(CURVE_S, curve, strict=True):
        told = max(min(told, permille), 1)
        assert abs(survival(curve, moment_s) - told / 1000) < 1e-6
    half = half_s(curve)
    assert half is None or survival(curve, half + 1.0) <= 0.5 + 1e-3


def test_who_says_nothing_is_neither_trusted_nor_shunned() -> None:
    assert survival((), 60.0) == survival((), 1e6) == UNKNOWN
    assert survival((1000, 500), 60.0) == UNKNOWN


def test_it_is_found_again_after_a_restart(tmp_path: Path) -> None:
    kept, begins = KeptAbsences(tmp_path), 1_750_000_000.0
    for day in range(6):
        for hour, free in ((0.0, True), (9.0, False), (12.0, True), (13.0, False), (18.0, True)):
            kept.look(free=free, wall_s=begins + day * DAY_S + hour * HOUR_S)
            kept.keep()
    told = kept.curve
    assert told
    again = KeptAbsences(tmp_path)
    assert again.absences.spells == [Spell(round(a), round(b)) for a, b in kept.absences.spells]
    assert not again.curve  # nothing was looked at yet
    last = begins + 5 * DAY_S + 18 * HOUR_S
    again.look(free=True, wall_s=last + 60.0)
    assert again.curve
    assert (tmp_path / FOLDER / FILE).stat().st_mode & 0o077 == 0


def test_a_stretch_that_the_power_ended_counts_until_it_was_last_seen(tmp_path: Path) -> None:
    kept, begins = KeptAbsences(tmp_path), 1_750_000_000.0
    kept.look(free=True, wall_s=begins)
    kept.look(free=True, wall_s=begins + 7200.0)
    kept.keep()
    (spell,) = KeptAbsences(tmp_path).absences.spells
    assert spell.ends_s - spell.begins_s == 7200.0


def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path) -> None:
    kept = KeptAbsences(tmp_path)
    kept.look(free=True, wall_s=1_750_000_000.0)
    kept.keep()
    (tmp_path / FOLDER / FILE).write_text('{"spells": 7}')
    assert KeptAbsences(tmp_path).absences.spells == []


def test_a_clock_that_is_set_back_ends_nothing(tmp_path: Path) -> None:
    kept = KeptAbsences(tmp_path)
    kept.look(free=True, wall_s=1_750_000_000.0)
    kept.look(free=True, wall_s=1_750_000_000.0 - WEEK_S)
    kept.look(free=False, wall_s=1_750_000_000.0 - WEEK_S + 60.0)
    (spell,) = kept.absences.spells
    assert spell.ends_s - spell.begins_s == 60.0
    assert local_s(1_750_000_060.0) - local_s(1_750_000_000.0) == 60.0
