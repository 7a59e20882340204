"""A place where programs run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.execution.places import Place, place


@pytest.fixture
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """As ``placed`` has it."""
    async with place(tmp_path, **getattr(request, "param", {})) as here:
        yield here
