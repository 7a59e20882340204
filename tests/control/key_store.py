"""A store of keys that only lies in memory."""

from __future__ import annotations


class FakeStore:
    """As the system's; ``broken`` says why it keeps nothing."""

    def __init__(self, broken: str = "") -> None:
        self.held: dict[str, bytes] = {}
        self.broken = broken

    def put(self, name: str, value: bytes) -> None:
        """Keep it."""
        if self.broken:
            raise OSError(self.broken)
        self.held[name] = value

    def get(self, name: str) -> bytes:
        """Return it."""
        if self.broken or name not in self.held:
            raise OSError(self.broken or f"there is no {name}")
        return self.held[name]

    def remove(self, name: str) -> None:
        """Delete it."""
        self.held.pop(name, None)
