"""One desktop and one office for all runs of this folder; a window of its own for each run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.desktop.office import Office, Window
from tests.desktop.virtual_desktop import VirtualDesktop, virtual_desktop


@pytest.fixture(scope="package")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualDesktop]:
    """With a window manager and a panel that has a tray."""
    with virtual_desktop(tmp_path_factory.mktemp("desktop")) as made:
        yield made


@pytest.fixture(scope="package")
def office(desktop: VirtualDesktop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A flock of two machines."""
    with Office(tmp_path_factory.mktemp("office"), desktop).open() as made:
        yield made


@pytest.fixture
def window(office: Office) -> Iterator[Window]:
    """Opened, and in front."""
    with office.window() as made:
        made.to_front()
        yield made
