"""A screen of the X Window System: one connection for all that is asked of it.

Opened when it is first needed, given up when it breaks, opened anew at the next look.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from typing import TypeVar

from agent.api.presence_reasons import SystemSays, WaylandHidesIt
from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources.x11_wire import XConnection, XError

NAME = "X11"
T = TypeVar("T")


class X11Screen:
    """The display that the environment names."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._connection: XConnection | None = None

    def see(self, ask: Callable[[XConnection], T]) -> Reading[T]:
        """Return what ``ask`` finds on the connection, opened if need be; unseen with the reason
        when it cannot. A connection that fails is closed."""
        if self._environment.get("WAYLAND_DISPLAY"):
            return Unseen(WaylandHidesIt())
        try:
            if self._connection is None:
                self._connection = XConnection.connect(self._environment)
            return Seen(ask(self._connection), NAME)
        except XError as error:
            self.close()
            return Unseen(error.reason)
        except (OSError, struct.error) as error:
            self.close()
            return Unseen(SystemSays(f"the X server cannot be asked ({error})"))

    def close(self) -> None:
        """Close the connection to the X server; the next look opens it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
