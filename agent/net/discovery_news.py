"""Whether the system has told of other addresses, for whoever would look at them every few seconds.

A look at all addresses is a dozen system calls and as many objects. Where the system tells of
changes by itself, asking whether it did is one call that finds nothing, and the look can wait.
Where it does not, or will not, the answer is that there may always be something new.
"""

from __future__ import annotations

import sys
from typing import Protocol


class AddressNews(Protocol):
    """Tells whether the system had news of addresses; asked now and then, from one thread."""

    def due(self) -> bool:
        """Tell whether addresses may have changed since this was asked last; True the first
        time."""

    def close(self) -> None:
        """Let go of everything. Can be called again."""


class NoNews:
    """The news of a system that tells nothing: looking is the only way to know."""

    def due(self) -> bool:
        return True

    def close(self) -> None:
        """Do nothing, as nothing is held open."""


def native_news() -> AddressNews:
    """Return the source of news about changed addresses on this system; one that never has any
    where none is known."""
    if sys.platform == "linux":
        from agent.net.discovery_news_linux import NetlinkNews

        return NetlinkNews()
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return NoNews()
