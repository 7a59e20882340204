"""Keeps PySide from reading the source of every module that is imported after it.

It looks there whether a module speaks of PySide, in case somebody switches features of its own on (names
with underscores), which nobody does here. What it has read stays in memory, in Python's cache of source
lines: 600 files, 17 MB, and a tenth of a second at each start.

To be imported before all else of Qt, as that begins to read at once. What is changed is an inner part of
PySide: a version that has it no more, or another way to look, works as ever and takes the memory.
"""

from __future__ import annotations

import linecache
import sys
from types import ModuleType

import shiboken6 as shiboken6  # noqa: PLC0414 - brings what is changed here

FEATURES, ASKED = "shibokensupport.feature", "_mod_uses_pyside"


def _uses_no_features(_: ModuleType) -> bool:
    """What PySide asks of each module that was imported."""
    return False


def leave_sources_unread() -> None:
    """Have PySide take every module that is imported from now on for one without features, and let go
    of the sources that it has read until now; do nothing where it has no such part."""
    if hasattr(sys.modules.get(FEATURES), ASKED):
        setattr(sys.modules[FEATURES], ASKED, _uses_no_features)
        linecache.clearcache()


leave_sources_unread()
