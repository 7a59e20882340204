"""A keeper of a flock that listens, for tests of who joins it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.net.membership import Membership
from tests.net.flocks import Door, first, open_door


@pytest.fixture
def keeper(tmp_path: Path) -> Membership:
    """The first machine of a flock."""
    return first(tmp_path)


@pytest.fixture
async def door(keeper: Membership) -> AsyncIterator[Door]:
    """Where it listens, until the end of the test."""
    async with open_door(keeper) as found:
        yield found
