"""The ways to be asked to end of the system that this runs on."""

from __future__ import annotations

import sys

from agent.host.stop_signals import Ending


def native_ending() -> Ending:
    """Return what watches for requests to end on the system that this runs on."""
    if sys.platform == "win32":
        from agent.host.stop_signals_windows import WindowsEnding
        from agent.host.windows_api import CtypesApi

        return WindowsEnding(CtypesApi())
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.host.stop_signals_posix import PosixEnding

        return PosixEnding()
