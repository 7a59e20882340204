"""An agent inside another program's process, in a thread of its own: how a tray hosts its node.

A window toolkit owns the main thread, and signals reach that one only; so the end of this agent is
asked for by ``stop``, or by a client. Clients find it like any other, by its control file: the
window that hosts it talks to it no other way than to an agent of another process.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

from agent.api.errors import ServiceError
from agent.driver.resting import new_loop
from agent.host.stop_signals import Asked
from agent.net.refusals import MembershipError
from agent.node.headless import NotStartedError, Running, live_with_clients
from agent.node.options import Options
from agent.paths import Home

START_S_MAX = 30.0
STOP_S_MAX = 30.0


class InsideAgent:
    """Started once, stopped once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._ending = _AskedFromOutside()
        self._started: Future[Running] = Future()
        self._thread = threading.Thread(target=self._main, name="agent", daemon=True)

    def start(self, within_s: float = START_S_MAX) -> Running:
        """Start the agent in its thread, and wait until it runs. Raises ``NotStartedError``, also
        when that takes too long."""
        self._thread.start()
        try:
            return self._started.result(within_s)
        except TimeoutError:
            self.stop("it took too long to start", 0)
            raise NotStartedError(
                f"the agent did not start within {within_s:.0f} s: its log in {self._home.log} "
                f"tells how far it came"
            ) from None

    @property
    def alive(self) -> bool:
        """Whether the agent's thread still runs."""
        return self._thread.is_alive()

    def stop(self, reason: str, within_s: float = STOP_S_MAX) -> bool:
        """Have the agent hand back what it runs and end; return whether it ended in time."""
        self._ending.ask(reason)
        if self._thread.is_alive():
            self._thread.join(within_s)
        return not self._thread.is_alive()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                told = self._started.set_result
                runner.run(live_with_clients(self._home, Options(), self._ending, told))
        except (ServiceError, MembershipError) as error:
            self._failed(NotStartedError(str(error)))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            self._failed(NotStartedError(f"the agent cannot start: {where}{error.strerror}"))
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    def _failed(self, error: NotStartedError) -> None:
        if not self._started.done():
            self._started.set_exception(error)


class _AskedFromOutside:
    """Satisfies ``Ending``: asked by a method, from any thread, also before the loop watches."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: Asked | None = None
        self._reason: str | None = None

    def watch(self, asked: Asked) -> None:
        """Have ``asked`` called in this loop once somebody asks; at once if that was before."""
        with self._lock:
            self._loop, self._asked = asyncio.get_running_loop(), asked
            reason = self._reason
        if reason is not None:
            asked(reason)

    def ask(self, reason: str) -> None:
        """Ask the agent to end, from any thread; only the first reason counts, and after the end
        nothing happens."""
        with self._lock:
            self._reason = self._reason or reason
            loop, asked = self._loop, self._asked
        if loop is None or asked is None:
            return
        try:
            loop.call_soon_threadsafe(asked, reason)
        except RuntimeError:
            return  # the loop is closed: it has ended already

    def ended(self) -> None:
        """Do nothing: nobody waits but ``stop``, and that waits for the thread."""
