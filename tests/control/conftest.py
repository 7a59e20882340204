"""A server with a fake node behind it, and a client that it has let in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.control.serving import LineClient, Serving, greeted, serving


@pytest.fixture
async def there(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Serving]:
    """With what ``serving`` is told otherwise, as the fixture's parameter."""
    async with serving(tmp_path, **getattr(request, "param", {})) as there:
        yield there


@pytest.fixture
async def client(there: Serving) -> AsyncIterator[LineClient]:
    async with greeted(there) as client:
        yield client
