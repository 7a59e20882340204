"""How busy a machine counts in a plan, and whether its row of short tasks is to be filled up."""

from __future__ import annotations

import pytest

from agent.protocol.messages import Capabilities
from agent.protocol.seats import Seats, helps


def seats(slots: int, busy: int, **more: int) -> Seats:
    return Seats("acor", Capabilities(), slots, busy, busy, willing=True, **more)


@pytest.mark.parametrize(
    ("had", "dealt", "fills"),
    [(0, 0, True), (4, 0, True), (5, 0, False), (4, 3, True), (4, 4, False), (0, 8, False)],
)
def test_a_row_is_filled_up_from_half_and_not_beyond(had: int, dealt: int, fills: bool) -> None:
    two = seats(2, had)
    for _ in range(dealt):
        two.take()
    assert two.fills_up(4) is fills


def test_a_row_is_as_long_as_the_machine_lets_it_be_for_the_slots_that_may_have_one() -> None:
    assert seats(2, 3, in_a_row_max=3).fills_up(9)
    assert not seats(2, 4, in_a_row_max=3).fills_up(9)
    half = seats(2, 2)
    half.for_rows = 1
    assert half.fills_up(4)
    assert not half.fills_up(3)


def test_what_is_dealt_makes_busier_and_what_is_over_does_not_any_more() -> None:
    one = seats(2, 1)
    assert (one.open, one.level) == (True, (0, 1))
    one.take()
    assert (one.open, one.level, one.active, one.had) == (False, (1, 2), 2, 1)
    one.take()
    one.leave()
    one.leave()
    assert (one.open, one.level, one.active) == (True, (0, 1), 1)
    assert (seats(0, 0).open, seats(0, 3).level) == (False, (3, 3))


def test_who_has_named_nobody_helps_everybody() -> None:
    assert helps((), "ana")
    assert helps(("Ana", "bia"), "caio", "ANA")
    assert not helps(("Ana",), "caio")
