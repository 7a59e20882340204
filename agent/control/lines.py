"""Bytes to lines. A line that is too long is skipped to its end, so that the next one is heard.

Told of bytes, never asks for them: the connection reads, this only cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line exceeded the limit; its content is gone."""

    limit_bytes: int


class Lines:
    """Cuts what a client sends; the limit may be raised between two lines."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._held = bytearray()
        self._searched = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        """Add bytes that have arrived; ``take`` cuts them."""
        self._held += data

    def take(self) -> Iterator[bytes | TooLong]:
        """Yield the complete lines, without their ends; one that is too long is told once, at once,
        and skipped."""
        while True:
            end = self._held.find(b"\n", self._searched)
            if end < 0:
                break
            line = bytes(self._held[:end])
            del self._held[: end + 1]
            self._searched = 0
            if self._skipping:
                self._skipping = False
            elif len(line) > self.limit_bytes:
                yield TooLong(self.limit_bytes)
            else:
                yield line.strip()
        self._searched = len(self._held)
        if self._skipping or len(self._held) > self.limit_bytes:
            self._held.clear()
            self._searched = 0
            if not self._skipping:
                self._skipping = True
                yield TooLong(self.limit_bytes)
