"""A store on disk, for what is kept in it without nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from agent.storage.datasets.store import DatasetStore


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., DatasetStore]]:
    """Opens the store in ``store`` with a quota and so on, and closes it before it opens it again."""
    with ExitStack() as stack:

        def opening(*told: Any, **more: Any) -> DatasetStore:
            stack.close()
            store = DatasetStore(tmp_path / "store", *told, **more)
            return stack.enter_context(closing(store))

        yield opening


@pytest.fixture
def store(opened: Callable[..., DatasetStore]) -> DatasetStore:
    return opened(10_000_000)
