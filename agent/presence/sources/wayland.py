"""The last input of a Wayland session, by the compositor's idle notification (ext-idle-notify-v1).

A compositor does not tell when there was input. It tells when there was none for a time that one
chooses, and when there is some again. With a short time that is nearly the same: between the two
words somebody is there now, after the first the last input was that time before it.

There are two such notifications. One counts input alone. The other does not count a machine as idle
either while a program keeps the screen on, which films, games and talks do; where the first is idle
and the second is not, there is such a program. Older compositors have only the second: then
whoever watches a film counts as somebody who touches the machine, which is right as well.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping

from agent.api.presence_reasons import Filling, ScreenKeptOn
from agent.presence.readings import LastInput
from agent.presence.sources.source import Asked
from agent.presence.sources.wayland_wire import WaylandConnection, WaylandError

NAME = "Wayland"
NOTIFIER, SEAT = "ext_idle_notifier_v1", "wl_seat"
GET_IDLE, GET_INPUT_IDLE = 1, 2
INPUT_IDLE_SINCE_VERSION = 2
IDLED, RESUMED = 0, 1
QUIET_MS = 1_000
AWAKE_AFTER_S = 5.0
"""The two notifications do not come at the same instant."""


class WaylandIdle:
    """One connection, and what it has told of each seat."""

    def __init__(
        self, clock: Callable[[], float], environment: Mapping[str, str] = os.environ
    ) -> None:
        self._clock, self._environment = clock, environment
        self._connection: WaylandConnection | None = None
        self._input: dict[int, float | None] = {}
        """Since when each seat is quiet; None while it is not. By notification."""
        self._awake: dict[int, float | None] = {}
        """The same of those that a program can hold back; empty where they are the same."""

    def look(self) -> None:
        """Take in what the compositor has told; raise ``WaylandError`` when that cannot be. The
        connection is closed on failure."""
        try:
            self._hear()
        except WaylandError:
            self.close()
            raise
        except (OSError, struct.error) as error:
            self.close()
            raise WaylandError(f"the compositor cannot be asked ({error})") from error

    def last_input_s(self) -> float:
        """Return when there was input last, of all seats the latest, by this source's clock; now
        while somebody is active."""
        now_s = self._clock()
        return max(now_s if since_s is None else since_s for since_s in self._input.values())

    def kept_awake(self) -> bool:
        """Tell whether nobody touches the machine and yet it does not become idle, because a
        program keeps it awake."""
        if not self._awake or None in self._input.values():
            return False
        quiet_s = self._clock() - self.last_input_s()
        return None in self._awake.values() and quiet_s >= AWAKE_AFTER_S

    def close(self) -> None:
        """Close the connection to the compositor; the next look opens it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _hear(self) -> None:
        if self._connection is None:
            self._connection = self._connected()
        for event in self._connection.events():
            for known in (self._input, self._awake):
                if event.target in known:
                    quiet = event.operation == IDLED
                    known[event.target] = self._clock() - QUIET_MS / 1000 if quiet else None
        if self._connection.changed:
            self._connection.close()  # a seat came or went: begin anew
            self._connection = self._connected()

    def _connected(self) -> WaylandConnection:
        connection = WaylandConnection.connect(self._environment)
        try:
            self._ask_to_be_told(connection)
        except OSError:
            connection.close()
            raise
        return connection

    def _ask_to_be_told(self, connection: WaylandConnection) -> None:
        notifiers, seats = connection.find(NOTIFIER), connection.find(SEAT)
        if not notifiers or not seats:
            raise WaylandError(f"this compositor does not offer {NOTIFIER if seats else SEAT}")
        version = min(notifiers[0].version, INPUT_IDLE_SINCE_VERSION)
        notifier = connection.bind(notifiers[0], version)
        self._input, self._awake = {}, {}
        for seat in [connection.bind(each, 1) for each in seats]:
            wanted = [(self._input, GET_INPUT_IDLE), (self._awake, GET_IDLE)]
            if version < INPUT_IDLE_SINCE_VERSION:
                wanted = [(self._input, GET_IDLE)]
            for known, request in wanted:
                new = connection.new_id()
                connection.ask(notifier, request, new, QUIET_MS, seat)
                known[new] = None


def wayland_last_input(idle: WaylandIdle) -> Asked[LastInput]:
    """Return the source of when any input device of the session was used last."""

    def ask() -> LastInput:
        idle.look()
        return LastInput(idle.last_input_s())

    return Asked(ask, NAME, idle.close)


def wayland_kept_awake(idle: WaylandIdle) -> Asked[Filling | None]:
    """Return the source of whether a program keeps the screen on, which those do that fill it."""

    def ask() -> Filling | None:
        idle.look()
        return ScreenKeptOn() if idle.kept_awake() else None

    return Asked(ask, NAME, idle.close)
