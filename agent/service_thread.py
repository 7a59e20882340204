"""A live node in a background thread, for a process whose main thread belongs to somebody else.

A window toolkit owns the main thread, so the node gets a loop in a thread of its own. The bridge
carries calls in and futures out; nothing else is shared, and no lock is needed. Callbacks of
subscriptions come in the node's thread: whoever subscribes takes them over to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from agent.paths import Home
from agent.service import Options, Service

_Result = TypeVar("_Result")


class ServiceThread:
    """A service and the thread that it runs in, from ``start`` to ``stop``."""

    def __init__(self, home: Home, options: Options | None = None) -> None:
        raise NotImplementedError

    def start(self, within_s: float = 30.0) -> Service:
        """Start, and wait for it. Raises what ``Service.start`` raises."""
        raise NotImplementedError

    def stop(self, reason: str = "stopped", within_s: float = 30.0) -> None:
        """Stop, and wait for it. Can be called again."""
        raise NotImplementedError

    def call(self, ask: Callable[[Service], _Result]) -> Future[_Result]:
        """Have a function called with the service in its thread."""
        raise NotImplementedError

    def run(self, ask: Callable[[Service], Coroutine[Any, Any, _Result]]) -> Future[_Result]:
        """Have a coroutine made from the service run in its thread."""
        raise NotImplementedError
