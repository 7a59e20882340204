"""The machines of the demo: agents as processes, each with a home of its own below one folder.

They listen on the loopback address only, at ports that the system chooses, so that nothing else on
this machine or its network is touched. The first makes the flock, the others join it by invitation.
Each is a process group of its own: Ctrl-C reaches the demo alone, which then ends the agents. Each has
a pipe from the demo as its input and ends when that ends, so none outlives a demo that is killed:
the system closes the pipe, on Windows as well.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from agent.api.flock import FLOCK_CREATE, INVITE, JOIN, PEERS, FlockCreate, Invite, Join, Peers
from agent.api.session import STOP, Stop
from agent.client import (
    Client,
    ClientError,
    Home,
    NoAgentError,
)
from agent.client.own_agent import own_command

NAMES = ("heron", "kestrel", "merlin", "osprey", "swift", "dipper", "plover", "siskin", "wren")
FLOCK = "demo"
VARIABLE = "WINGBEAT_HOME"
ROOT = Path(__file__).resolve().parents[3]
"""Where the packages lie, installed or not: the agents are started there to find them."""
START_S_MAX, LINK_S_MAX, STOP_S_MAX = 40.0, 30.0, 3.0
LOOK_EVERY_S = 0.05
LAST_WORDS = 600
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""What keeps Ctrl-C at this terminal from the agents on Windows; a session does elsewhere."""


class DemoError(Exception):
    """One sentence: why the demo cannot go on."""


class Machine:
    """One agent of the demo, as a process with a home of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.home = Home.at(folder)
        self.output = folder / "output"
        self._process: subprocess.Popen[bytes] | None = None
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The connection to the agent; ``AssertionError`` before ``up`` has made it and after
        ``end``."""
        assert self._client is not None
        return self._client

    @property
    def process(self) -> int:
        """The agent's process id, also when it has ended; ``AssertionError`` before ``start``."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Write the machine's settings and start its agent as a process; do not wait until it
        answers. Raises ``OSError`` where that cannot be done."""
        self.home.prepare()
        settings = f'name = "{self.name}"\nport = 0\nlisten = ["127.0.0.1"]\nvolunteer = "always"\n'
        settings += 'processor = "share"\n'  # somebody waits for it, however busy the machine is
        settings += 'published_programs = "always"\n'  # there is nobody who could be asked
        settings += 'confinement = "when possible"\n'  # a container may forbid it, Windows lacks it
        self.home.settings_file.write_text(settings, "utf-8")
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(
                [*own_command("agent"), "agent", "--until-input-ends"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=ROOT,
                env={**os.environ, VARIABLE: str(self.folder)},
                start_new_session=os.name == "posix",
                creationflags=NEW_GROUP,
            )

    async def up(self) -> None:
        """Wait until the started agent answers, and connect ``client`` to it, unless it is
        connected; raise ``DemoError`` when the agent ends or takes longer than ``START_S_MAX``,
        ``ClientError`` when what answers refuses or is not understood."""
        deadline_s = _now_s() + START_S_MAX
        while self._client is None:
            assert self._process is not None
            if self._process.poll() is not None or _now_s() > deadline_s:
                raise DemoError(f"the agent {self.name} does not start: {self._last_words()}")
            try:
                self._client = await Client.connect(self.home, "demo")
            except NoAgentError:
                await asyncio.sleep(LOOK_EVERY_S)

    def kill(self) -> None:
        """Kill the agent as when somebody pulls the plug, and wait until it is gone: it does not
        get to do anything. One that does not run is left alone."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
            self._close_input()

    async def end(self) -> None:
        """End the agent in good order, however far it has come, kill it if that takes too long, and
        wait until it is gone. Of one that does not run only the connection is closed."""
        if self._process is None or self._process.poll() is not None:
            await self._let_go()
            return
        if self._client is None:
            self._process.terminate()
        else:
            with suppress(ClientError, OSError, TimeoutError):
                async with asyncio.timeout(STOP_S_MAX):
                    await self._client.call(STOP, Stop("the demo is over"))
        await self._let_go()
        deadline_s = _now_s() + STOP_S_MAX
        while self._process.poll() is None:
            if _now_s() > deadline_s:
                self._process.kill()
            await asyncio.sleep(LOOK_EVERY_S)

    async def _let_go(self) -> None:
        self._close_input()
        client, self._client = self._client, None
        if client is not None:
            with suppress(ClientError, OSError, TimeoutError):
                async with asyncio.timeout(1.0):
                    await client.close()

    def _close_input(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _last_words(self) -> str:
        printed = self.output.read_text("utf-8", "replace") if self.output.exists() else ""
        return " ".join(printed[-LAST_WORDS:].split()) or "it says nothing"


class Machines:
    """All machines of the demo."""

    def __init__(self, folder: Path, count: int) -> None:
        self.all = [Machine(name, folder / name) for name in NAMES[:count]]
        self.killed: Machine | None = None

    @property
    def first(self) -> Machine:
        """The machine that made the flock and is asked."""
        return self.all[0]

    def named(self, name: str) -> Machine | None:
        """Return the machine of this name, killed or not; None when there is none."""
        return next((each for each in self.all if each.name == name), None)

    async def start(self, programs: Callable[[Path], None]) -> None:
        """Install programs on all machines by calling this for the folder of each, start them and
        wait until they answer; raise ``DemoError`` when one does not, and what installing raises,
        as ``OSError``. Those that were started run on then."""
        for machine in self.all:
            programs(machine.home.programs)
            machine.start()
        await asyncio.gather(*(machine.up() for machine in self.all))

    async def make_flock(self, joined: Callable[[Machine], None]) -> None:
        """Make one flock of all machines, and wait until everybody is linked with everybody;
        ``joined`` is called for each that belongs to it. Raise ``DemoError`` when that takes too
        long, and ``ClientError``."""
        await self.first.client.call(FLOCK_CREATE, FlockCreate(FLOCK))
        joined(self.first)
        invitation = await self.first.client.call(INVITE, Invite(uses=len(self.all)))
        for machine in self.all[1:]:
            await machine.client.call(JOIN, Join(invitation.text))
            joined(machine)
        await self._all_linked()

    async def _all_linked(self) -> None:
        deadline_s = _now_s() + LINK_S_MAX
        while not all([await self._sees_all(machine) for machine in self.all]):
            if _now_s() > deadline_s:
                raise DemoError("the agents do not find each other on the loopback address")
            await asyncio.sleep(LOOK_EVERY_S)

    async def _sees_all(self, machine: Machine) -> bool:
        peers = (await machine.client.call(PEERS, Peers())).peers
        return sum(peer.state == "linked" for peer in peers) == len(self.all) - 1

    def kill(self, machine: Machine) -> None:
        """Kill one of the machines, for good, and keep it as ``killed``."""
        machine.kill()
        self.killed = machine

    def kill_all(self) -> None:
        """Kill all machines at once, as nobody wants to wait."""
        for machine in self.all:
            machine.kill()

    async def end(self) -> None:
        """End all machines that still run, at the same time, and wait for it; nothing is raised for
        one where that fails."""
        await asyncio.gather(*(machine.end() for machine in self.all), return_exceptions=True)


def keep_logs(machines: Sequence[Machine], into: Path) -> None:
    """Copy what the agents logged and printed into a folder for each, over what is there; of one
    that has no log nothing is copied. Raises ``OSError``."""
    for machine in machines:
        if machine.home.log.is_dir():
            shutil.copytree(machine.home.log, into / machine.name, dirs_exist_ok=True)
            shutil.copy(machine.output, into / machine.name)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
