"""Sketches of lengths: what a run weighs, how it fades, and what is read off them."""

from __future__ import annotations

import pytest

from agent.protocol.records import EXPECTED_MS
from agent.protocol.sketch import (
    Atoms,
    Length,
    Sketch,
    bin_end_ms,
    quantile_ms,
    quarter_octave,
    remaining_ms,
)

MEAN_MS, END_MS = 10_000, 11_585


def sketch(*runs_ms: int, host: str = "a") -> Sketch:
    found = Sketch()
    for each in runs_ms:
        found.note(each, host)
    return found


def shares(found: Sketch) -> dict[int, float]:
    """By mean length: how much it weighs, in runs like the last one."""
    return {mean: weight / found.last_weight for weight, mean, _ in found.atoms()}


@pytest.mark.parametrize(
    ("ms", "place"), [(-5, 0), (0, 0), (1, 0), (2, 4), (3, 6), (4, 8), (16, 16), (1_024, 40)]
)
def test_bins_are_quarters_of_octaves(ms: int, place: int) -> None:
    assert quarter_octave(ms) == place
    assert bin_end_ms(place) >= ms
    assert bin_end_ms(4 * place + 3) == 2 ** (place + 1)


def test_a_run_counts_half_after_64_others_and_nothing_after_many() -> None:
    assert shares(sketch(100)) == {100: 1.0}
    assert shares(sketch(100, *[900] * 64))[100] == pytest.approx(0.5)
    assert shares(sketch(100, *[900] * 128))[100] == pytest.approx(0.25)
    assert shares(sketch(100, *[900] * 512))[100] == pytest.approx(2**-8)
    assert shares(sketch(100, *[900] * 1_100)).keys() == {900}
    many = sketch(100, *[900] * 1_100)
    assert many.runs == 1_101
    assert shares(many)[900] == pytest.approx(1 / (1 - 2 ** (-1 / 64)), rel=0.02)


def test_no_run_is_shorter_than_a_millisecond_nor_longer_than_forty_octaves() -> None:
    assert [mean for _, mean, _ in sketch(-3, 0, 2**50).atoms()] == [1, 2**40]


def test_what_was_broken_off_takes_as_the_longer_ones_took_or_as_long_again() -> None:
    alone = sketch()
    alone.note_longer(1_000, "a")
    assert [mean for _, mean, _ in alone.atoms()] == [2_000]
    assert (alone.runs, alone.on_hosts()) == (0, {}), "it did not end well"
    among = sketch(500, 4_000, 4_000, 16_000)
    before = shares(among)
    among.note_longer(1_000, "a")
    after = shares(among)
    assert after.keys() == before.keys()
    assert after[500] == pytest.approx(before[500], rel=0.02)
    assert after[4_000] - before[4_000] == pytest.approx(2 / 3, rel=0.06)
    assert after[16_000] - before[16_000] == pytest.approx(1 / 3, rel=0.06)
    same_bin = sketch(1_000)
    same_bin.note_longer(1_000, "a")
    assert sorted(shares(same_bin)) == [1_000, 2_000]


def test_lengths_on_a_slow_host_are_told_as_of_any_other() -> None:
    found = sketch(1_000)
    found.note(4_000, "slow")
    assert [mean for _, mean, _ in found.atoms({"slow": 4.0})] == [1_000]
    assert [mean for _, mean, _ in found.atoms({"slow": 2.0})] == [1_000, 2_000]
    assert [end for _, _, end in found.atoms({"slow": 2.0})] == [1_024, 2_048]


def test_of_each_host_the_middle_and_how_much_it_varies_is_known() -> None:
    found = sketch(1_024, 1_024, 4_096)
    found.note(64, "b")
    on = found.on_hosts()
    assert (on["a"].runs, on["a"].middle, on["b"].runs, on["b"].middle) == (3, 10.0, 1, 6.0)
    assert on["a"].variance == pytest.approx((1.2533 * 2 / 3) ** 2 * 3 / 2, rel=0.03)
    assert on["b"].variance == 0.0
    assert sketch(64, 4_096, 4_096).on_hosts()["a"].middle == 12.0


@pytest.mark.parametrize(
    ("permille", "ms"), [(1, 10), (250, 10), (251, 20), (750, 20), (751, 90), (1_000, 90)]
)
def test_so_many_of_a_thousand_take_no_longer(permille: int, ms: int) -> None:
    assert quantile_ms(((1, 10, 11), (2, 20, 22), (1, 90, 99)), permille) == ms


@pytest.mark.parametrize(
    ("atoms", "ran_ms", "left_ms"),
    [
        (((1, MEAN_MS, END_MS),), 0, MEAN_MS),
        (((1, MEAN_MS, END_MS),), MEAN_MS - 500, 500),
        (((1, MEAN_MS, END_MS),), MEAN_MS, 1),
        (((1, MEAN_MS, END_MS),), MEAN_MS + 250, 1),
        (((1, MEAN_MS, END_MS),), MEAN_MS + 251, (END_MS - MEAN_MS - 251) // 2),
        (((1, MEAN_MS, END_MS),), END_MS - 1, 1),
        (((1, MEAN_MS, END_MS),), END_MS, END_MS),
        (((1, MEAN_MS, END_MS), (3, 2 * MEAN_MS, 2 * END_MS)), 5_000, (5_000 + 3 * 15_000) // 4),
        (((9, 100, 110), (1, MEAN_MS, END_MS)), 5_000, 5_000),
        ((), 0, EXPECTED_MS),
        ((), EXPECTED_MS - 1, EXPECTED_MS - 1),
        ((), 3 * EXPECTED_MS, 3 * EXPECTED_MS),
    ],
)
def test_what_is_left_of_a_run_is_what_longer_ones_took(
    atoms: Atoms, ran_ms: int, left_ms: int
) -> None:
    assert remaining_ms(atoms, ran_ms) == left_ms


def test_lengths_are_multiplied_and_stay_at_least_a_millisecond() -> None:
    length = Length(1, 10, 101, 7, "runs")
    assert length.times(0.25) == Length(1, 2, 25, 7, "runs")
    assert length.times(3.0) == Length(3, 30, 303, 7, "runs")
    assert length.times(1.0) is length
