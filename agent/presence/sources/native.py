"""The sources that suit this system and session."""

from __future__ import annotations

import sys
from collections.abc import Callable

from agent.presence.looking import Sources


def native_sources(clock: Callable[[], float]) -> Sources:
    """Return the sources of presence for this system; nothing is opened before it is read."""
    if sys.platform == "win32":
        from agent.presence.sources.native_windows import windows_sources

        return windows_sources(clock)
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.presence.sources.native_linux import linux_sources

        return linux_sources(clock)
