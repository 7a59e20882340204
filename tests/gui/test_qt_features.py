"""A window holds no sources of modules, which PySide would read for features that nobody uses."""

from __future__ import annotations

import subprocess
import sys

from tests.style.source import REPOSITORY

LOADS = """\
import linecache, sys
import gui.__main__, gui.application
from PySide6.QtWidgets import QApplication
print(len(linecache.cache), "PySide6.QtCore" in sys.modules)
"""


def test_a_window_has_read_no_sources() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    read, loaded = done.stdout.split()
    assert loaded == "True"
    assert int(read) < 10
