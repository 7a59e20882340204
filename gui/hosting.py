"""The agent in this process: begun and ended beside Qt's thread, which never waits for it.

Whoever runs an agent of this home already is left alone; then there is nothing to end here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
import time

from PySide6.QtCore import QObject, Signal

from agent.client import Client, Home
from agent.client.errors import ClientError
from agent.client.own_agent import OwnAgent, host
from gui.words import tr

STOP_S_MAX = 30.0
SESSION_END_S_MAX = 4.5 if sys.platform == "win32" else 10.0
"""Windows waits five seconds for a program; session managers elsewhere wait longer."""
GREETING_S_MAX = 3.0


class Hosting(QObject):
    """``failed`` with a sentence; ``begun`` when an agent is there; ``stopped`` at the end; ``anew``
    when the agent of this process has ended so that this one starts the version that is installed."""

    failed = Signal(str)
    begun = Signal()
    stopped = Signal()
    anew = Signal()

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._home = home
        self._agent: OwnAgent | None = None
        self._thread: threading.Thread | None = None
        self._ends_because = ""

    @property
    def hosts(self) -> bool:
        """Whether the agent ends with us."""
        return self._agent is not None and self._agent.alive

    @property
    def starting(self) -> bool:
        """Whether one is being begun just now."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, *, force: bool = False) -> bool:
        """Begin to start an agent in another thread; return whether a start is under way now, False
        where this process hosts an agent already. Where another process runs one, none is started
        (with ``force`` that is not asked). ``begun``, in that case too, or ``failed`` is emitted
        later."""
        if self.hosts or self.starting:
            return self.starting
        self._ends_because = ""
        self._thread = threading.Thread(target=self._start, args=(force,), daemon=True)
        self._thread.start()
        return True

    def end(self, reason: str) -> None:
        """Stop the agent of this process, if there is one, in another thread, so that it hands back
        what runs; ``reason`` is what it is told. ``stopped`` comes when that is done, or took too
        long."""
        self._ends_because = reason
        threading.Thread(target=self._stop, args=(reason,), daemon=True).start()

    def end_now(self, reason: str) -> None:
        """Stop the agent of this process, if there is one, and wait until it has handed back what
        runs, at most ``SESSION_END_S_MAX``: then the system ends this process. An agent that is
        just being begun may run something already: it is waited for. ``stopped`` is not emitted."""
        self._ends_because = reason
        ends_s = time.monotonic() + SESSION_END_S_MAX
        if self._thread is not None:
            self._thread.join(SESSION_END_S_MAX)
        if self._agent is not None:
            self._agent.stop(reason, max(0.0, ends_s - time.monotonic()))

    def _start(self, force: bool) -> None:
        if not force and _answers(self._home):
            self.begun.emit()
            return
        try:
            agent = host(self._home, self.anew.emit)
        except Exception as error:  # noqa: BLE001 - nobody waits for this thread
            self._not_hosted(error)
            return
        self._agent = agent
        self.begun.emit()
        if self._ends_because:
            agent.stop(self._ends_because, STOP_S_MAX)

    def _not_hosted(self, error: Exception) -> None:
        """What is not told here would never be known."""
        if _answers(self._home):
            self.begun.emit()
        elif isinstance(error, ClientError):
            self.failed.emit(str(error))
        else:
            logging.getLogger(__name__).exception("the agent did not start")
            self.failed.emit(tr("The agent does not start: {why}", why=repr(error)))

    def _stop(self, reason: str) -> None:
        if self._thread is not None:
            self._thread.join(STOP_S_MAX)
        if self._agent is not None:
            self._agent.stop(reason, STOP_S_MAX)
        self.stopped.emit()


def _answers(home: Home) -> bool:
    """Whether an agent of this home is there; one that hangs is, and the window says that it does."""

    async def greet() -> None:
        async with asyncio.timeout(GREETING_S_MAX), await Client.connect(home, "tray"):
            pass

    try:
        with contextlib.suppress(TimeoutError):
            asyncio.run(greet())
    except ClientError:
        return False
    return True
