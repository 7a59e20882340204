"""The bridge: a thread with a loop of its own, in which the client lives; signals to the window.

Questions go in from Qt's thread and never wait; answers come back as calls in Qt's thread. Notices
come in bundles, at most ten a second, so that however much happens there is at most one repaint for
each bundle. Nothing of Qt is touched in the bridge's thread but the emission of signals.

A reply belongs to whoever asked: a dialog may be closed while its question is under way, and what
it would have done with the reply can then only fail. So each question names its asker; once that is
gone nothing is told to it, and what only asks is called off. An act goes on, for its person meant
it, and if it fails that is told to everybody, as no one else would know.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget
from shiboken6 import Shiboken

from agent.api.admission import NEARBY
from agent.api.audit import CHECK_AUDIT
from agent.api.datasets import DATASETS
from agent.api.flock import DOCTOR
from agent.api.history import RUNS, STATISTICS
from agent.api.logs import TASK_LOG, TaskLog, TaskLogPart
from agent.api.past import PAST
from agent.api.permissions import SCRIPTS
from agent.api.rpc import Method, P, R
from agent.api.volunteering import RUNNING_PROGRAMS
from agent.api.work import WHY
from agent.client import Client, ClientError, Home, RequestError
from gui.bridge.following import Attention, Follower
from gui.model.notices import FlockPart, Notice
from gui.wording import sentence_of

BUNDLE_S = 0.1
ASK_S_MAX = 30.0
LOG_WAIT_S = 20.0
SWITCH_S = 0.0005
"""Between threads, which is Python's own 5 ms otherwise. Painting gives the interpreter away at every
call of Qt, and waits for it so long each time while the bridge, or an agent in this process, computes.
"""
LOG_PART_BYTES = 64 * 1024
STOP_S_MAX = 5.0
ONLY_ASKING = frozenset(
    each.name
    for each in (
        *(CHECK_AUDIT, DATASETS, DOCTOR, NEARBY, PAST, RUNNING_PROGRAMS),
        *(RUNS, SCRIPTS, STATISTICS, WHY),
    )
)
"""What ``ask`` may call off; everything else that it asks for is an act."""
_PASSING = Qt.WidgetAttribute.WA_DeleteOnClose

Done = Callable[[Any], object]
Failed = Callable[[str], object]
_NONE: Mapping[int, Failed] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Question:
    """One that is under way; known in Qt's thread only, so that nothing of Qt ends in another."""

    asker: QObject
    key: int
    """Of the asker, as long as it lives."""
    window: QWidget | None
    done: Done | None
    failed: Failed | None
    refused: Mapping[int, Failed]
    act: bool
    future: concurrent.futures.Future[None]


class Task:
    """Work in the bridge's loop that can be called off."""

    def __init__(self, call_off: Callable[[], None]) -> None:
        self._call_off = call_off

    def cancel(self) -> None:
        """Call the work off; neither its end nor its failure is told once this returns."""
        self._call_off()


class Bridge(QObject):
    """Started with ``start``, ended with ``stop``; lives in Qt's thread."""

    bundle = Signal(object)
    unheard = Signal(str)
    """Why an act failed whose asker is gone."""
    _answered = Signal(int, bool, object, int)
    _told = Signal(object, object, object)

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
        self._numbers = count()
        self._questions: dict[int, _Question] = {}
        self._askers: set[int] = set()
        self._clients: list[Client] = []
        self._thread = threading.Thread(target=self._main, name="bridge", daemon=True)
        self._answered.connect(self._answer, Qt.ConnectionType.QueuedConnection)
        self._told.connect(self._tell_part, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Start the bridge's thread and wait until its loop runs; notices come by ``bundle``. Has
        Python switch between threads more often in the whole process. To be called once."""
        sys.setswitchinterval(min(SWITCH_S, sys.getswitchinterval()))
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """End the thread and all that is under way in it, acts too, waiting a few seconds at most.
        No question is answered after this. Does nothing before ``start`` and a second time."""
        if self._over or not self._thread.is_alive():
            return
        self._over = True
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join(STOP_S_MAX)
        self._questions.clear()

    def ask(
        self,
        asker: QObject,
        method: Method[P, R],
        params: P,
        done: Done | None = None,
        failed: Failed | None = None,
        within_s: float = ASK_S_MAX,
        *,
        refused: Mapping[int, Failed] = _NONE,
    ) -> Task:
        """Ask the agent, and return at once what calls the question off. In Qt's thread, later,
        ``done`` is called with the reply, or ``failed`` with a sentence, also when ``within_s``
        have passed, where nobody knows whether it was done; in its place what ``refused`` has for
        the agent's code of the failure, if anything. Nothing is called for None, nor once the asker
        is gone, but why an act then failed is told by ``unheard``."""
        return self.work(
            asker,
            lambda: self._follower.ask(method, params, within_s),
            done,
            failed,
            refused=refused,
            act=method.name not in ONLY_ASKING,
        )

    def work(
        self,
        asker: QObject,
        begin: Callable[[], Coroutine[Any, Any, Any]],
        done: Done | None = None,
        failed: Failed | None = None,
        *,
        refused: Mapping[int, Failed] = _NONE,
        act: bool = False,
    ) -> Task:
        """Run the coroutine that ``begin`` makes in the bridge's loop, and return at once what
        calls it off. Later, in Qt's thread, ``done`` is called with its result or ``failed`` with a
        sentence (in its place what ``refused`` has for the agent's code), but nothing once the
        asker is gone: then it is called off, unless it is an act, whose failure ``unheard`` tells.
        After ``stop`` nothing is run."""
        number = next(self._numbers)

        async def whole() -> None:
            reply: tuple[bool, object, int]
            try:
                reply = True, await begin(), 0
            except (ClientError, OSError) as error:
                code = error.code if isinstance(error, RequestError) else 0
                reply = False, sentence_of(error), code
            except Exception as error:
                logging.getLogger(__name__).exception("a question of the window failed")
                reply = False, sentence_of(error), 0
            if not self._over:
                self._answered.emit(number, *reply)

        future = self._submit(whole())
        if not future.cancelled():
            key = self._attend(asker)
            # A loop holds its tasks weakly; nobody but this table may hold the future.
            self._questions[number] = _Question(
                asker, key, _passing_window(asker), done, failed, refused, act, future
            )
        return Task(partial(self._call_off, number))

    def client_work(
        self,
        asker: QObject,
        begin: Callable[[Client], Coroutine[Any, Any, Any]],
        done: Done | None = None,
        failed: Failed | None = None,
        node: str = "",
        *,
        act: bool = False,
    ) -> Task:
        """Run the coroutine that ``begin`` makes of a client of its own, so that no other question
        waits for it, to this machine's agent or that of ``node`` if not empty; return at once what
        calls it off. ``done`` or ``failed`` is called later, as by ``ask``, also when it cannot
        connect."""

        async def with_client() -> object:
            async with await Client.connect(self._home, "window", node) as client:
                return await begin(client)

        return self.work(asker, with_client, done, failed, act=act)

    def client(self, asker: QObject) -> Client:
        """Return a new client for all that this asker asks in the bridge's loop, so that nobody
        else waits for it. It connects when first asked, and is closed when the asker is
        destroyed."""
        made = Client(self._home, "window")
        self._clients.append(made)
        asker.destroyed.connect(lambda: self._submit(self._close(made)))
        return made

    def follow_log(
        self, asker: QObject, log: TaskLog, part: Callable[[TaskLogPart], object], failed: Failed
    ) -> Task:
        """Tell ``part`` a task's output from ``log.offset`` on, piece by piece, until the run is
        over, the asker is gone or the returned work is called off; returns at once. It is that of
        one run, the latest where none is named. The last piece says that it is over; ``failed``
        gets a sentence if reading fails."""

        async def follow(client: Client) -> None:
            offset, run = log.offset, log.run
            while True:
                told = await client.call(
                    TASK_LOG, TaskLog(log.task, run, offset, LOG_PART_BYTES, LOG_WAIT_S)
                )
                run = told.run or run
                self.tell(asker, part, told)
                if told.over and told.next_offset >= told.size_bytes:
                    return
                offset = told.next_offset

        return self.client_work(asker, follow, None, failed)

    def tell(self, asker: QObject, call: Callable[[Any], object], value: object) -> None:
        """Have ``call`` called with a value in Qt's thread, unless the asker is gone; for work in
        the bridge's loop."""
        if not self._over:
            self._told.emit(asker, call, value)

    def want(self, workflow: str) -> None:
        """Have the tasks of this workflow read soon; returns at once."""
        self._call(lambda: self._follower.want(workflow))

    def want_outlook(self, workflow: str) -> None:
        """Ask soon how far this workflow is, and when it may end; returns at once."""
        self._call(lambda: self._follower.want_outlook(workflow))

    def want_parts(self, parts: Collection[FlockPart]) -> None:
        """Have these parts of the flock read again soon; returns at once."""
        self._call(lambda: self._follower.want_parts(parts))

    def want_flock(self) -> None:
        """Have all parts of the flock, and who asks to join, read again soon; returns at once."""
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
            for client in list(self._clients):
                await self._close(client)
            self._loop.stop()

        self._ending = self._loop.create_task(all_over())

    async def _close(self, client: Client) -> None:
        self._clients.remove(client)
        await client.close()

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
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    @Slot(int, bool, object, int)
    def _answer(self, number: int, good: bool, value: Any, code: int) -> None:
        question = self._questions.get(number)
        if question is None:
            return
        gone = self._is_gone(question.asker)
        del self._questions[number]
        call = question.done if good else question.refused.get(code, question.failed)
        if not gone and call is not None:
            call(value)
        elif gone and question.act and not good:
            self.unheard.emit(value)

    @Slot(object, object, object)
    def _tell_part(self, asker: QObject, call: Callable[[Any], object], value: object) -> None:
        if not self._over and not self._is_gone(asker):
            call(value)

    def _is_gone(self, asker: QObject) -> bool:
        own = (each for each in self._questions.values() if each.asker is asker)
        return is_gone(asker) or any(_is_closed(each.window) for each in own)

    def _call_off(self, number: int) -> None:
        question = self._questions.pop(number, None)
        if question is not None:
            question.future.cancel()

    def _attend(self, asker: QObject) -> int:
        """Hear when it is destroyed; the key by which its questions are found then."""
        key: int = Shiboken.getCppPointer(asker)[0]
        if key not in self._askers:
            self._askers.add(key)
            asker.destroyed.connect(lambda: self._asker_gone(key))
        return key

    def _asker_gone(self, key: int) -> None:
        self._askers.discard(key)
        for number, question in list(self._questions.items()):
            if question.key == key and not question.act:
                self._call_off(number)


def is_gone(asker: QObject) -> bool:
    """Tell whether Qt has destroyed it; to be asked in Qt's thread. What is only hidden, such as a
    page behind another one or the window while it is in the tray, is there."""
    return not Shiboken.isValid(asker)


def _passing_window(asker: QObject) -> QWidget | None:
    """Return the window of a widget if that is deleted when it is closed; else None."""
    window = asker.window() if isinstance(asker, QWidget) else None
    return window if window is not None and window.testAttribute(_PASSING) else None


def _is_closed(passing: QWidget | None) -> bool:
    """Tell whether a passing window was closed: Qt takes the mark away as it does that. What it
    would do with a reply (close itself, copy it) its person does not want any more."""
    return passing is not None and (is_gone(passing) or not passing.testAttribute(_PASSING))
