"""Nudged desks and people who come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.presence.scenes import Scene

LOOK_S = 0.25


def test_a_nudged_desk_is_not_a_person() -> None:
    scene = Scene()
    scene.look()
    found = scene.touch(pointer=(106, 104))
    assert found.volunteering
    assert found.look_again_s == LOOK_S, "whether it goes on is seen soon"
    for _ in range(60):
        assert scene.pass_s(LOOK_S).volunteering


def test_each_of_several_nudges_far_apart_is_none() -> None:
    scene = Scene()
    scene.look()
    for place in ((104, 100), (108, 100), (104, 104)):
        scene.pass_s(120)
        assert scene.touch(pointer=place).volunteering


def test_a_second_input_makes_it_a_person() -> None:
    scene = Scene()
    scene.look()
    scene.touch(pointer=(104, 100))
    scene.pass_s(1)
    assert not scene.touch(pointer=(104, 100)).volunteering


@pytest.mark.parametrize(
    "pointer", [(130, 100), (100, 100), None], ids=["far", "a key or button", "place unknown"]
)
def test_whatever_is_no_small_movement_counts_at_once(pointer: tuple[int, int] | None) -> None:
    scene = Scene()
    scene.look()
    assert not scene.touch(pointer=pointer).volunteering


def test_shortly_after_somebody_was_there_the_smallest_movement_counts() -> None:
    scene = Scene()
    scene.look()
    scene.touch(pointer=(300, 300))
    assert scene.pass_s(400).volunteering
    assert not scene.touch(pointer=(301, 300)).volunteering


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=20, max_size=20))
def test_a_hand_that_goes_on_moving_is_given_way_within_seven_tenths_of_a_second(
    steps: list[tuple[int, int]],
) -> None:
    """However slowly it begins; looked at as often as while tasks run."""
    scene = Scene()
    scene.see(running=1)
    scene.look()
    began_s, place = scene.steady_s, (101, 100)
    scene.touch(pointer=place)
    for step in steps:
        scene.steady_s += LOOK_S
        place = (place[0] + step[0], place[1] + step[1])
        if not scene.touch(pointer=place).volunteering:
            break
    assert not scene.look().volunteering
    assert scene.steady_s - began_s <= 0.7


def test_a_program_that_moves_the_pointer_is_nobody() -> None:
    scene = Scene()
    scene.look()
    scene.steady_s += 1
    assert scene.touch(pointer=(500, 500), ago_s=3_601).volunteering
