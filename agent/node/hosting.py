"""An agent and the way in to it for clients, from start to end: as a process, or inside another one.

The one place that puts a node and its clients' server together, and keeps the order of their ends:
clients are told last, when everything is handed back. A window toolkit owns the main thread of its
process, and signals reach that one only; so an agent inside runs in a thread of its own, and its end
is asked for by ``stop``, or by a client. Clients find it like any other, by its control file.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import AsyncExitStack, contextmanager, suppress

import msgspec
from msgspec import Struct

from agent.api.errors import ServiceError
from agent.api.volunteering import NOT_YET
from agent.control.server import ControlServer
from agent.driver.resting import new_loop
from agent.host.local_socket import service_answers
from agent.host.stop_signals import Asked, Ending, InputEnding, native_ending
from agent.node.agent import Agent
from agent.node.own_files import until_removed
from agent.node.running import AlreadyRunningError, Options, refuse_second_start
from agent.paths import Home, own_command
from agent.settings.editing import keep_changes
from agent.settings.layers import read_settings

START_S_MAX = 30.0
LOOK_EVERY_S = 0.05
LOOK_FOR_SERVICE_S = 5.0
LAST_WORDS_MAX = 300
FIRST_WORDS = "started.txt"
"""In the folder of logs: what an agent in the background said before it had a log of its own."""
APART = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(
    subprocess, "CREATE_NEW_PROCESS_GROUP", 0
)
"""On Windows: no console of its own, and no Ctrl-C from the one that it was started in."""
SERVICE_ANSWERS_S = 2.0
STOP_S_MAX = 30.0
HAND_OVER_S_MAX = 60.0

log = logging.getLogger(__name__)
Beside = Callable[[Agent], Awaitable[None]]
"""Called when the node runs; what it begins ends when the agent has stopped."""


class Ended(Struct, frozen=True):
    """Why an agent has ended; ``anew``: so that its host starts the version that was installed."""

    reason: str
    anew: bool = False


class NotStartedError(Exception):
    """One sentence: why there is no agent now."""


class RunsAlreadyError(NotStartedError):
    """An agent runs on this home."""


class Running(Struct, frozen=True):
    """What is told of an agent when it runs; ``answered``: somebody has said when it may help."""

    node: str
    name: str
    flock: str
    process: int
    control: str
    port: int
    data_folder: str
    log_folder: str
    answered: bool = True


_told = msgspec.json.Decoder(Running)
Started = Callable[[Running], object]


def run(
    name: str | None, port: int | None, started: Started, *, until_input_ends: bool = False
) -> Ended:
    """Run the agent of this user's home in this thread until it is asked to end, with
    ``until_input_ends`` by the end of standard input too; return why it ended. A name or port that is
    given is kept in the settings; ``started`` is called once clients can connect. Raise
    ``NotStartedError`` when it cannot start."""
    home = Home.of()
    ending = InputEnding(native_ending()) if until_input_ends else native_ending()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    with _saying_why_not():
        keep_settings(home, {"name": name, "port": port})
        options = Options(log_to_terminal=terminal, service=is_service(home))
        return _run(home, options, ending, started)


def run_in_background(name: str | None, port: int | None) -> Running:
    """Start the agent of this user's home as a process that outlives this one and its terminal, wait
    until clients can connect, and return what is told of it. A name or port that is given is kept in
    the settings. Raise ``RunsAlreadyError`` when one runs, ``NotStartedError`` when this one cannot
    start; also when it takes longer than ``START_S_MAX``, but then it goes on."""
    home = Home.of()
    with _saying_why_not():
        refuse_second_start(home)
        keep_settings(home, {"name": name, "port": port})
        home.prepare()
        return _started_apart(home)


def _started_apart(home: Home) -> Running:
    path = home.log / FIRST_WORDS
    with path.open("wb") as said:
        process = subprocess.Popen(
            [*own_command("agent", "-P"), "agent", "--json"],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            cwd=home.data,
            start_new_session=os.name == "posix",
            creationflags=APART,
        )
    until = time.monotonic() + START_S_MAX
    while time.monotonic() < until:
        ended = process.poll() is not None
        told = path.read_bytes()
        with suppress(msgspec.MsgspecError):
            running = _told.decode(told)
            process.returncode = 0  # nobody waits for it: it is to outlive this process
            return running
        if ended:
            raise NotStartedError(_why_it_ended(told))
        time.sleep(LOOK_EVERY_S)
    raise NotStartedError(
        f"the agent does not answer after {START_S_MAX:.0f} s: its log in {home.log} tells how far it "
        f"came, and `wingbeat stop` ends it"
    )


def _why_it_ended(told: bytes) -> str:
    try:
        return str(msgspec.json.decode(told)["error"])
    except (msgspec.MsgspecError, KeyError, TypeError):
        last = told.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"the agent ended at once: {last[:LAST_WORDS_MAX]}"


class InsideAgent:
    """Runs an agent in a thread of its own; started once, stopped once. ``anew`` is called in that
    thread when it has ended so that this process starts the version that was installed."""

    def __init__(self, home: Home, anew: Callable[[], object] = lambda: None) -> None:
        self._home, self._ending, self._anew = home, AskedFromOutside(), anew
        self._started: Future[Running] = Future()
        self._thread = threading.Thread(target=self._main, name="agent", daemon=True)

    def start(self, within_s: float = START_S_MAX) -> Running:
        """Start the agent's thread, wait until clients can connect, and return what is told of the
        agent. Raise ``NotStartedError`` when it cannot start or takes longer than ``within_s``; in
        the latter case it is asked to stop, and not waited for."""
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
        """Ask the agent to hand back what it runs and end, and wait for its thread, at most
        ``within_s``; return whether that has ended, which is also so when it never began. The
        reason of the first who asks counts."""
        self._ending.ask(reason)
        if self._thread.is_alive():
            self._thread.join(within_s)
        return not self._thread.is_alive()

    def _main(self) -> None:
        try:
            with _saying_why_not():
                options = Options(updates_alone=False)
                ended = _run(self._home, options, self._ending, self._started.set_result)
            if ended.anew:
                self._anew()
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)
            elif not isinstance(error, NotStartedError):
                raise


class AskedFromOutside:
    """Satisfies ``Ending``: asked by a method, from any thread, also before the loop watches."""

    def __init__(self) -> None:
        self._asked: Future[str] = Future()

    def watch(self, asked: Asked) -> None:
        """Have ``asked`` called in this loop, with the reason, once somebody asks; soon after this
        returns if that was before, not at all if ``ended`` comes first."""

        def told(reason: asyncio.Future[str]) -> None:
            if not reason.cancelled():
                asked(reason.result())

        asyncio.wrap_future(self._asked).add_done_callback(told)

    def ask(self, reason: str) -> None:
        """Ask from any thread; what is asked later, or after the end, changes nothing."""
        with suppress(InvalidStateError):
            self._asked.set_result(reason)

    def ended(self) -> None:
        self._asked.cancel()


@contextmanager
def _saying_why_not() -> Iterator[None]:
    """Make one ``NotStartedError`` of all that a person can mend."""
    try:
        yield
    except AlreadyRunningError as error:
        raise RunsAlreadyError(str(error)) from error
    except ServiceError as error:
        raise NotStartedError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise NotStartedError(f"the agent cannot start: {where}{error.strerror}") from error


def _run(home: Home, options: Options, ending: Ending, started: Started) -> Ended:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_live_with_clients(home, options, ending, started))


async def _live_with_clients(
    home: Home, options: Options, ending: Ending, started: Started
) -> Ended:
    async with AsyncExitStack() as ended:

        async def serve(agent: Agent) -> None:
            server = ControlServer(
                agent,
                home.data,
                telnet=agent.settings.telnet,
                service=home.service if is_service(home) else None,
                administrators=agent.settings.administrators,
            )
            await server.start()
            ended.push_async_callback(server.stop)
            agent.member_clients.serve(server.serve_member)
            started(_running(agent, server))

        return await live(home, options, ending, serve)


def _refuse_beside_service(home: Home) -> None:
    if serves_all(home):
        raise RunsAlreadyError(
            "the agent of this machine runs as a service: `wingbeat status` and the tray reach it, no "
            "other is started beside it"
        )


async def live(home: Home, options: Options, ending: Ending, beside: Beside | None = None) -> Ended:
    """Start a node and run it until it has stopped, because ``ending`` asks it to or for a reason
    of its own; return why. ``beside``, unless it is None, is awaited when it runs; if it raises,
    the node is stopped and the error raised. Raise ``RunsAlreadyError`` where a service is the
    agent of this machine, ``ServiceError`` when the node cannot start, with nothing running."""
    _refuse_beside_service(home)
    agent = await Agent.start(home, options)
    stopping: list[asyncio.Task[None]] = []
    anew: list[str] = []
    stopped = False

    def asked(reason: str) -> None:
        if not stopping and not stopped:
            stopping.append(asyncio.create_task(agent.stop(reason)))

    ending.watch(asked)
    watching = [
        asyncio.create_task(each)
        for each in (
            _end_when_removed(agent, asked),
            _end_when_updated(agent, asked, anew),
            _end_when_served(agent, asked),
        )
    ]
    try:
        if beside is not None:
            await beside(agent)
        reason = await agent.wait_stopped()
        return Ended(reason, reason in anew)
    finally:
        for each in watching:
            each.cancel()
        try:
            await agent.stop("the process ends")
        finally:
            stopped = True  # a task begun from here on might outlive the loop
            await asyncio.wait([*watching, *stopping])
            ending.ended()


async def _end_when_removed(agent: Agent, asked: Asked) -> None:
    """Nobody can end it by a command any more, nor start it again."""
    await until_removed()
    log.warning("the files of this program were removed: what it holds is handed over")
    within_s = HAND_OVER_S_MAX if agent.linked() else 0.0  # alone there is nobody to wait for
    left = await agent.live.datasets.hand_over(within_s)
    if left.datasets:
        log.warning("%d results or files are on this machine only", left.datasets)
    asked("its own files were removed")


async def _end_when_served(agent: Agent, asked: Asked) -> None:
    """Of a machine's agents one works for others: the one that is a service."""
    while not serves_all(agent.home):  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(LOOK_FOR_SERVICE_S)
    log.warning("the agent of this machine runs as a service: this one hands over to it")
    asked("a service is the agent of this machine")


async def _end_when_updated(agent: Agent, asked: Asked, anew: list[str]) -> None:
    """Another reason may have come first: then nothing is started."""
    version = await agent.updates.until_due()
    anew.append(f"Wingbeat {version} starts in its place")
    asked(anew[0])


def is_service(home: Home, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this process is the service of this machine, by the environment:
    ``RUNTIME_DIRECTORY`` names the folder in which a service of this home would listen."""
    folders = environment.get("RUNTIME_DIRECTORY", "").split(":")
    return home.service is not None and str(home.service.parent) in folders


def serves_all(home: Home) -> bool:
    """Tell whether an agent that is a service, of another process, takes clients now; wait up to
    two seconds for its answer. False in the service itself."""
    if home.service is None or is_service(home):
        return False
    return service_answers(home.service, SERVICE_ANSWERS_S)


def _running(agent: Agent, server: ControlServer) -> Running:
    now = agent.now()
    return Running(
        now.node,
        now.name,
        now.status.flock,
        os.getpid(),
        server.place,
        agent.port,
        str(agent.home.data),
        str(agent.home.log),
        agent.presence.rules.mode != NOT_YET,
    )


def keep_settings(home: Home, told: dict[str, str | int | None]) -> None:
    """Put each value that is not None into the settings file, in the place of what it says so far;
    make the folders of this home if need be. Without any value nothing is done.

    Not while an agent runs: a second start is refused, and changes nothing. Raise ``ServiceError``
    then, and when the file cannot be read or written, ``OSError`` when a folder cannot be made.
    """
    given = {key: value for key, value in told.items() if value is not None}
    if given:
        refuse_second_start(home)
        read_settings(home.settings_file)
        home.prepare()
        keep_changes(home.settings_file, given, home.machine)
