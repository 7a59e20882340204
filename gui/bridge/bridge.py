"""The bridge: a thread with a loop of its own, in which the client lives; signals to the window.

Questions go in from Qt's thread and never wait; answers come back as calls in Qt's thread. Notices
come in bundles, at most ten a second, so that however much happens there is at most one repaint for
each bundle. Nothing of Qt is touched in the bridge's thread but the emission of signals.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal, Slot

from agent.api.logs import TaskLog, TaskLogPart
from agent.api.methods import TASK_LOG, Method
from agent.client import Client, ClientError, Home
from gui.bridge.following import Attention, Follower
from gui.model.notices import Notice

BUNDLE_S = 0.1
ASK_S_MAX = 30.0
LOG_WAIT_S = 20.0
SWITCH_S = 0.0005
"""Between threads, which is Python's own 5 ms otherwise. Painting gives the interpreter away at every
call of Qt, and waits for it so long each time while the bridge, or an agent in this process, computes.
"""
LOG_PART_BYTES = 64 * 1024
STOP_S_MAX = 5.0

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)
Done = Callable[[Any], object]
Failed = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A call to be made in Qt's thread."""

    call: Callable[[Any], object]
    value: Any


class Task:
    """Work in the bridge's loop that can be called off."""

    def __init__(self, future: concurrent.futures.Future[None]) -> None:
        self._future = future

    def cancel(self) -> None:
        """Nothing of it is told any more, once this returns and the queue is empty."""
        self._future.cancel()


class Bridge(QObject):
    """Started with ``start``, ended with ``stop``; lives in Qt's thread."""

    bundle = Signal(object)
    _answered = Signal(object)

    def __init__(self, home: Home, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.attention = Attention()
        self._home = home
        self._loop = asyncio.new_event_loop()
        self._follower: Follower
        self._gathered: list[Notice] = []
        self._due = False
        self._last_s = 0.0
        self._ready = threading.Event()
        self._following: asyncio.Task[None] | None = None
        self._over = False
        self._under_way: set[concurrent.futures.Future[None]] = set()
        self._thread = threading.Thread(target=self._main, name="bridge", daemon=True)
        self._answered.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Returns at once; what is found is told by ``bundle``."""
        sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Nothing is told after this."""
        if self._over or not self._thread.is_alive():
            return
        self._over = True
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join(STOP_S_MAX)

    def ask(
        self,
        method: Method[P, R],
        params: P,
        done: Done | None = None,
        failed: Failed | None = None,
        within_s: float = ASK_S_MAX,
    ) -> Task:
        """Ask the agent; ``done`` or ``failed`` (with a sentence) is called in Qt's thread."""
        return self.work(lambda: self._follower.ask(method, params, within_s), done, failed)

    def work(
        self,
        begin: Callable[[], Coroutine[Any, Any, Any]],
        done: Done | None = None,
        failed: Failed | None = None,
    ) -> Task:
        """The same for any work of the bridge's loop that may take long."""

        async def whole() -> None:
            try:
                value = await begin()
            except ClientError as error:
                self._tell_answer(failed, _sentence(error))
            except OSError as error:
                self._tell_answer(failed, f"{error.filename or ''} {error.strerror}".strip() + ".")
            else:
                self._tell_answer(done, value)

        return Task(self._submit(whole()))

    def client_work(
        self,
        begin: Callable[[Client], Coroutine[Any, Any, Any]],
        done: Done | None = None,
        failed: Failed | None = None,
        node: str = "",
    ) -> Task:
        """Work with a client of its own, which does not hold up the others; of another machine, if
        one is named."""

        async def with_client() -> object:
            async with await Client.connect(self._home, "window", node) as client:
                return await begin(client)

        return self.work(with_client, done, failed)

    def follow_log(
        self, log: TaskLog, part: Callable[[TaskLogPart], object], failed: Failed
    ) -> Task:
        """A task's output from an offset on, until the run is over or the work is called off."""

        async def follow(client: Client) -> None:
            offset = log.offset
            while True:
                told = await client.call(
                    TASK_LOG, TaskLog(log.task, log.run, offset, LOG_PART_BYTES, LOG_WAIT_S)
                )
                self._tell_answer(part, told)
                if told.over and told.next_offset >= told.size_bytes:
                    return
                offset = told.next_offset

        return self.client_work(follow, None, failed)

    def tell(self, call: Callable[[Any], object], value: object) -> None:
        """From work in the bridge's loop: have something called in Qt's thread."""
        self._tell_answer(call, value)

    def want(self, workflow: str) -> None:
        """Read the tasks of this workflow soon."""
        self._call(lambda: self._follower.want(workflow))

    def want_flock(self) -> None:
        """Read the machines, members, programs and settings again."""
        self._call(self._follower.want_flock)

    # -- in the bridge's thread --------------------------------------------------------------

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._follower = Follower(self._home, self._tell, self.attention)
        self._following = self._loop.create_task(self._follower.run())
        self._loop.call_soon(self._ready.set)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _end(self) -> None:
        async def all_over() -> None:
            own = asyncio.current_task()
            tasks = [each for each in asyncio.all_tasks() if each is not own]
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._loop.stop()

        self._ending = self._loop.create_task(all_over())

    def _tell(self, notice: Notice) -> None:
        self._gathered.append(notice)
        if self._due:
            return
        self._due = True
        wait_s = max(0.005, self._last_s + BUNDLE_S - self._loop.time())
        self._loop.call_later(wait_s, self._flush)

    def _flush(self) -> None:
        self._due = False
        self._last_s = self._loop.time()
        bundle, self._gathered = tuple(self._gathered), []
        if not self._over:
            self.bundle.emit(bundle)

    def _tell_answer(self, call: Callable[[Any], object] | None, value: object) -> None:
        if call is not None and not self._over:
            self._answered.emit(_Answer(call, value))

    # -- from Qt's thread --------------------------------------------------------------------

    def _call(self, what: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)

    def _submit(self, work: Coroutine[Any, Any, None]) -> concurrent.futures.Future[None]:
        if self._over or self._loop.is_closed():
            work.close()
            ended: concurrent.futures.Future[None] = concurrent.futures.Future()
            ended.cancel()
            return ended
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._under_way.add(future)  # a loop holds its tasks weakly; nobody else may hold this one
        future.add_done_callback(self._under_way.discard)
        return future

    @Slot(object)
    def _deliver(self, answer: _Answer) -> None:
        if not self._over:
            answer.call(answer.value)


def _sentence(error: Exception) -> str:
    """As a person reads it: it begins large and ends with a full stop."""
    text = str(error).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
