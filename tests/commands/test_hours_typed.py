"""Hours of helping as people type them."""

from __future__ import annotations

import pytest

from agent.api.volunteering import Hours
from agent.commands.volunteering import _hours as hours


@pytest.mark.parametrize(
    ("typed", "begins", "ends"),
    [
        ("mon=8:00-17:30", "08:00", "17:30"),
        ("mon = 18:00 - 7:00", "18:00", "07:00"),
        ("mon=:00-24:00", ":00", "24:00"),
        ("mon=noon-8", "noon", "08"),
    ],
)
def test_an_hour_may_have_one_digit(typed: str, begins: str, ends: str) -> None:
    """What is no time is left to the agent, which says so."""
    assert hours(typed) == [Hours("monday", begins, ends)]
