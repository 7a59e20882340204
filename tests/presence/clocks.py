"""A monotonic clock that the test turns."""

from __future__ import annotations


class Clock:
    """Called for the time."""

    def __init__(self, now_s: float = 1_000.0) -> None:
        self._now_s = now_s

    def __call__(self) -> float:
        return self._now_s

    def pass_s(self, seconds: float) -> None:
        """Later."""
        self._now_s += seconds
