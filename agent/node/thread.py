"""A live node in a background thread, for a process whose main thread belongs to somebody else.

A window toolkit owns the main thread, so the node gets a loop in a thread of its own. The bridge
carries calls in and futures out; nothing else is shared, and no lock is needed. Callbacks of
subscriptions come in the node's thread: whoever subscribes takes them over to its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from agent.driver.resting import new_loop
from agent.node.agent import Options, Service
from agent.node.facts import ServiceError
from agent.paths import Home

_Result = TypeVar("_Result")


class ServiceThread:
    """A service and the thread that it runs in, from ``start`` to ``stop``."""

    def __init__(self, home: Home, options: Options | None = None) -> None:
        self._home, self._options = home, options
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service: Service | None = None

    def start(self, within_s: float = 30.0) -> Service:
        """Start, and wait for it. Raises what ``Service.start`` raises."""
        if self._thread is not None:
            raise ServiceError("This node was started already.")
        started: Future[Service] = Future()
        self._thread = threading.Thread(target=self._main, args=(started,), name="wingbeat")
        self._thread.start()
        return started.result(within_s)

    def stop(self, reason: str = "stopped", within_s: float = 30.0) -> None:
        """Stop, and wait for it. Can be called again, also when the node stopped by itself."""
        if self._thread is None:
            return
        if self._thread.is_alive():
            self._ask_to_stop(reason)
        self._thread.join(within_s)
        if self._thread.is_alive():
            raise ServiceError(f"The node did not stop within {within_s:.0f} s.")

    def call(self, ask: Callable[[Service], _Result]) -> Future[_Result]:
        """Have a function called with the service in its thread."""

        async def asked(service: Service) -> _Result:
            return ask(service)

        return self.run(asked)

    def run(self, ask: Callable[[Service], Coroutine[Any, Any, _Result]]) -> Future[_Result]:
        """Have a coroutine made from the service run in its thread.

        Raises ``ServiceError`` when the node does not run.
        """
        loop, service = self._loop, self._service
        if loop is None or service is None or loop.is_closed():
            raise ServiceError("This node does not run: start it first.")

        async def asked() -> _Result:
            return await ask(service)

        work = asked()
        try:
            return asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError as error:
            work.close()
            raise ServiceError("This node does not run any more.") from error

    def _ask_to_stop(self, reason: str) -> None:
        try:
            self.run(lambda service: service.stop(reason))
        except ServiceError:
            return  # it is ending already

    def _main(self, started: Future[Service]) -> None:
        try:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(self._live(started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    async def _live(self, started: Future[Service]) -> None:
        self._loop = asyncio.get_running_loop()
        self._service = service = await Service.start(self._home, self._options)
        started.set_result(service)
        await service.wait_stopped()
