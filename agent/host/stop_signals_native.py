"""The ways to be asked to end of the system that this runs on."""

from __future__ import annotations

import sys

from agent.execution.child import GRACE_S
from agent.host.stop_signals import Ending


def program_grace_s() -> float:
    """How long programs may take to end by themselves: less where the system does not wait."""
    if sys.platform == "win32":
        from agent.host.stop_signals_windows import PROGRAM_GRACE_S

        return PROGRAM_GRACE_S
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return GRACE_S


def native_ending() -> Ending:
    """Return what watches for the end on the system that this runs on."""
    if sys.platform == "win32":
        from agent.host.stop_signals_windows import WindowsEnding
        from agent.host.windows_api import CtypesApi

        return WindowsEnding(CtypesApi())
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.host.stop_signals_posix import PosixEnding

        return PosixEnding()
