"""What holds for every test.

Examples have no deadline: a shared machine may stall in any of them, and a test that fails for it
says nothing about the code. A failing example prints what repeats it.

Whoever starts the tests in the background has Ctrl-C ignored by all that they start; here it means
what it always means, because programs are interrupted by it.

Nothing is taken from the person who runs the tests: neither the screen and the bus of the desktop,
nor a database, nor the home of a Wingbeat that works for them. A test that forgets to name a home
gets one that must never come to be.
"""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

PERSONAL = ("DBUS_", "DISPLAY", "PG", "QT_", "SWAYSOCK", "WAYLAND_", "XAUTHORITY", "XDG_")
"""Beginnings of what tells programs of the session of whoever runs the tests."""
FORGOTTEN = Path(tempfile.gettempdir()) / f"no-home-of-wingbeat-{os.getpid()}"

settings.register_profile("wingbeat", deadline=None, print_blob=True)
settings.load_profile("wingbeat")
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in [each for each in os.environ if each.startswith(PERSONAL)]:
    del os.environ[name]
os.environ["WINGBEAT_HOME"] = str(FORGOTTEN)


@pytest.fixture(scope="session", autouse=True)
def _every_test_names_its_home() -> Iterator[None]:
    yield
    assert not FORGOTTEN.exists(), "a test let Wingbeat write where a person's files are"
