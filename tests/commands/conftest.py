"""An agent for commands that need one and leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hosts.machine import Machine


@pytest.fixture(scope="module")
def birch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("birch"))
    with machine.agent("--name", "birch", "--port", "0"):
        yield machine
