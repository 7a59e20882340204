"""A keeper of a flock that listens, for tests of who joins it; and two nodes with a link."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.net.membership import Membership
from tests.net.flocks import Door, appointed, first, members, open_door
from tests.net.test_asking import Asked, asked_at
from tests.net.test_links_nodes import Node, linked, nodes


@pytest.fixture
def keeper(tmp_path: Path) -> Membership:
    """The first machine of a flock."""
    return first(tmp_path)


@pytest.fixture
async def door(keeper: Membership) -> AsyncIterator[Door]:
    """Where it listens, until the end of the test."""
    async with open_door(keeper) as found:
        yield found


@pytest.fixture
async def pair() -> AsyncIterator[list[Node]]:
    """Two nodes that are linked with each other."""
    async with nodes("ant", "bee") as made:
        await linked(*made)
        yield made


@pytest.fixture
def ant(pair: list[Node]) -> Node:
    return pair[0]


@pytest.fixture
def bee(pair: list[Node]) -> Node:
    return pair[1]


@pytest.fixture
async def second(tmp_path: Path, keeper: Membership, door: Door) -> Membership:
    """A machine that has joined, keeps the flock too and is an administrator's."""
    (joined,) = await members(tmp_path, keeper, door, "b")
    await appointed(keeper, joined)
    return joined


@pytest.fixture
async def there(keeper: Membership) -> AsyncIterator[Asked]:
    """The keeper, where it can be asked."""
    async with asked_at(keeper) as found:
        yield found
