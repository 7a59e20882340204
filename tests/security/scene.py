"""A machine for attacks: an owner with files and processes, an agent with keys, another run's work.

What the hostile program (``attacks``) reaches of it is told by the program and, where it only could
be seen from outside, by the scene.
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent.execution.children import Children
from agent.execution.confinement.rule import Confinement, Rule
from agent.execution.grants import Grants
from agent.execution.groups_linux import LinuxGroups
from agent.execution.limits import USUAL, NodeLimits
from agent.execution.programs import Programs
from agent.paths import Home
from agent.protocol.effects import StartChild
from agent.protocol.events import ChildFailed, ChildNotStarted, ChildStopped, ChildSucceeded, Event
from agent.protocol.records import TaskSpec
from tests.driver.worlds import RUN
from tests.execution.installed import reader
from tests.execution.places import FolderStore
from tests.hosts.waiting import eventually

HERE = Path(__file__).parent
HOSTILE = ("hostile.py", "attacks.py", "attacks_beyond_files.py", "attacks_on_the_kernel.py")
INPUT = f"sha256:{64 * 'a'}"
NAMES = tuple(
    name
    for file in HOSTILE[1:]
    for name in re.findall(r"@attack\ndef (\w+)", (HERE / file).read_text("utf-8"))
)
"""Of all attacks."""
ENDS = (ChildSucceeded, ChildFailed, ChildStopped, ChildNotStarted)
ASKED = "import signal, sys; sys.stdout.write('x'); sys.stdout.flush(); signal.pause()"


class CopyingStore(FolderStore):
    """As on a file system that can share blocks: what is laid is a file of its own."""

    async def lay(self, dataset: str, into: Path) -> Path:
        source = next(self.folder.glob(f"{dataset.replace(':', '-')}.*"))
        path = into / source.name.partition(".")[2]
        shutil.copyfile(source, path)
        path.chmod(0o444)
        return path


@dataclass
class Machine:
    """Where programs run, with what of it is none of their business."""

    folder: Path
    rule: Rule
    limits: NodeLimits = NodeLimits(replace(USUAL, wall_s=60))  # noqa: RUF009
    interactive: bool = True
    """Programs do not wait until nobody else wants the processor: on a busy machine that is a minute."""
    told: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home = Home.at(self.folder / "home")
        self.home.prepare()
        self.owner = self.folder / "owner"
        self.store = CopyingStore(self.folder / "store")
        self.groups = LinuxGroups()
        self.programs = Programs(self.home.programs, reader())
        secrets = (self.home.identity / "node.key", self.home.data / "control.json")
        self.confinement = Confinement(
            self.rule, lambda: secrets, self.home.folders, place=self.home.scratch
        )
        self.grants = Grants(self.home.data / "grants.json", self.home.folders)
        self._make_files()
        self.children = Children(
            self.programs,
            self.home.scratch,
            self.home.log,
            self.told.append,
            self.groups,
            grace_s=0.5,
            store=self.store,
            limits=self.limits,
            confinement=self.confinement,
            grants=self.grants,
        )

    def _make_files(self) -> None:
        for folder in (self.home.identity, self.owner / ".ssh", self.owner / "autostart"):
            folder.mkdir(parents=True, mode=0o700)
        (self.home.scratch / "run-99" / "work").mkdir(parents=True, mode=0o700)
        self.store.folder.mkdir()
        secret = [self.home.identity / name for name in ("node.key", "authority.key")]
        secret += [self.home.data / "control.json", self.home.settings_file]
        secret += [self.owner / ".ssh" / "id", self.home.scratch / "run-99" / "work" / "secret"]
        names = ("linked", "renamed", "taken", "deleted", "truncated", ".bashrc")
        secret += [self.owner / name for name in names]
        secret.append(self.store.folder / f"{INPUT.replace(':', '-')}.input.txt")
        for path in secret:
            path.write_text(f"secret of {path.name}")
            path.chmod(0o600)
        secret[-1].chmod(0o444)

    def install(
        self,
        name: str,
        command: Sequence[str],
        files: Mapping[str, str],
        asks: Mapping[str, Any] | None = None,
    ) -> None:
        """A program of these files, which asks for that."""
        folder = self.home.programs / name
        for file, text in files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o700)
        described = {"command": list(command), "outputs": [], **(asks or {})}
        (folder / "program.yaml").write_text(json.dumps(described))
        self.programs.look()

    async def run(self, program: str, parameters: str = "", *, task: str = "t") -> Event:
        self.start(program, parameters, task)
        return await self.end(task)

    def start(self, program: str, parameters: str = "", task: str = "t", **more: Any) -> None:
        spec = TaskSpec(task, task, program, parameters=parameters, **more)
        self.children.start(StartChild(task, RUN, spec, (INPUT,), interactive=self.interactive))

    async def end(self, task: str = "t") -> Event:
        def ends() -> list[Event]:
            return [each for each in self.told if isinstance(each, ENDS) and each.task == task]

        await eventually(lambda: bool(ends()))
        return ends()[-1]

    def log(self, task: str = "t") -> str:
        path = self.home.log / f"task-{task}" / "1.1.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def fingerprint(self) -> dict[str, tuple[int, int, str]]:
        """All that is not the program's, with modes, times and content."""
        found = {}
        for top in (self.owner, self.home.data, self.home.config, self.store.folder):
            for path in (top, *top.rglob("*")):
                seen = path.stat()
                content = path.read_bytes() if path.is_file() else b""
                times = 0 if path.is_dir() else seen.st_mtime_ns
                found[str(path)] = (seen.st_mode, times, hashlib.sha256(content).hexdigest())
        return found


@dataclass
class Attacked:
    """What came of all attacks."""

    got: frozenset[str]
    log: str
    changed: frozenset[str]
    """Paths outside of the program's folder that are not as they were."""
    ended: Event


def attacked(folder: Path, rule: Rule) -> Attacked:
    """Have a hostile program try everything on a machine of its own."""
    return asyncio.run(_attacked(folder, rule))


async def _attacked(folder: Path, rule: Rule) -> Attacked:
    os.environ["PGPASSWORD"] = "of the owner"
    machine = Machine(folder, rule)
    texts = {f"tests/security/{name}": (HERE / name).read_text() for name in HOSTILE[1:]}
    texts["hostile.py"] = (HERE / HOSTILE[0]).read_text()
    machine.install("hostile", ["{python}", "hostile.py"], texts)
    try:
        await machine.children.confinement.prove(machine.groups)
        with surroundings(machine) as (told, asked):
            before = machine.fingerprint()
            ended = await machine.run("hostile", json.dumps(told))
            after = machine.fingerprint()
            got = {line[4:] for line in machine.log().splitlines() if line.startswith("GOT ")}
            got |= {"signals_by_a_file"} if asked.poll() is not None else set()
        shared = Path("/dev/shm") / told["mark"]
        if not shared.exists():
            got.discard("leaves_something_in_shared_memory")
        shared.unlink(missing_ok=True)
    finally:
        del os.environ["PGPASSWORD"]
        await machine.children.close()
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert "tried all" in machine.log(), machine.log()
    return Attacked(frozenset(got), machine.log(), frozenset(changed), ended)


@contextmanager
def surroundings(machine: Machine) -> Iterator[tuple[dict[str, Any], subprocess.Popen[bytes]]]:
    """Processes and sockets of the owner."""
    with ExitStack() as stack:
        processes = []
        for _ in range(3):
            process = subprocess.Popen([sys.executable, "-ISc", ASKED], stdout=subprocess.PIPE)
            stack.callback(_end, process)
            assert process.stdout is not None
            process.stdout.read(1)
            processes.append(process)
        port, paths = _listening(stack, machine.folder)
        buffer = ctypes.create_string_buffer(b"of the agent")
        guardian = machine.groups._guardian
        told = {
            "identity": str(machine.home.identity),
            "data": str(machine.home.data),
            "settings": str(machine.home.settings_file),
            "owner": str(machine.owner),
            "home": str(Path.home()),
            "private": "/etc/shadow",
            "work": str(machine.home.scratch / "run-1" / "work"),
            "input": str(machine.home.scratch / "given-run-1" / "inputs" / "0" / "input.txt"),
            "other": str(machine.home.scratch / "run-99" / "work"),
            "mark": f"wingbeat-{os.getpid()}",
            "keeper": 0,
            "guardian": guardian.pid if guardian is not None else os.getpid(),
            "agent": os.getpid(),
            "address": ctypes.addressof(buffer),
            "process": processes[0].pid,
            "asked": processes[1].pid,
            "victim": processes[2].pid,
            "port": port,
            **paths,
        }
        yield told, processes[1]


def _listening(stack: ExitStack, folder: Path) -> tuple[int, dict[str, str]]:
    short = Path(stack.enter_context(_short_folder()))
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    paths = {"socket": str(short / "s"), "bus": str(short / "bus"), "datagrams": str(short / "d")}
    paths["abstract"] = f"wingbeat-{os.getpid()}"
    for name in ("socket", "bus", "abstract"):
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind("\0" + paths[name] if name == "abstract" else paths[name])
        listening.listen()
        if name == "bus":
            _answer(stack, listening)
    datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    datagrams.bind(paths["datagrams"])
    return tcp.getsockname()[1], paths


def _answer(stack: ExitStack, listening: socket.socket) -> None:
    """As a bus greets whoever comes."""
    loop = asyncio.get_running_loop()
    listening.setblocking(False)

    def accept() -> None:
        connected, _ = listening.accept()
        connected.sendall(b"OK 1234\r\n")
        stack.callback(connected.close)

    loop.add_reader(listening.fileno(), accept)
    stack.callback(loop.remove_reader, listening.fileno())


@contextmanager
def _short_folder() -> Iterator[str]:
    """A path of a socket is at most 108 letters long."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="wb-") as folder:
        yield folder


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
