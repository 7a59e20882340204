"""Counts what goes over the simulated network, by kind, in messages and in bytes.

Bytes are those of the codec that a live node uses, without the framing of TLS and TCP. A message
to many is encoded once and counted once per copy, for that is what the links carry.
"""

from __future__ import annotations

from agent.protocol import messages
from agent.protocol.events import Event, Received
from tests.sim.lan import Flock
from tests.sim.network import Channel


class Meter:
    """Sits between the machines of a flock and its network."""

    def __init__(self, flock: Flock) -> None:
        network = flock.simulation.network
        self.messages: dict[str, int] = {}
        self.bytes: dict[str, int] = {}
        self._last: Event | None = None
        self._last_bytes = 0
        self._send = network.send
        network.send = self.send  # type: ignore[method-assign]

    def send(self, channel: Channel, event: Event) -> None:
        """Count a word and put it on the wire."""
        if isinstance(event, Received):
            if event is not self._last:
                self._last, self._last_bytes = event, len(messages.encode(event.message))
            kind = type(event.message).__name__
            self.messages[kind] = self.messages.get(kind, 0) + 1
            self.bytes[kind] = self.bytes.get(kind, 0) + self._last_bytes
        self._send(channel, event)

    def restart(self) -> None:
        """Count from here on."""
        self.messages, self.bytes = {}, {}
