"""Groups of processes on Linux: a keeper for each, forked by the guardian, which nothing outlives.

The agent makes the pipes and hands their far ends to the guardian; from then on it talks with the
program through the pipes and with its keeper through a socket. All of it hangs in the loop as plain
file descriptors: a program that does nothing costs the agent a few hundred microseconds.
"""

from __future__ import annotations

import array
import asyncio
import errno
import fcntl
import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.execution.confinement import seccomp
from agent.execution.confinement.boundary import Boundary
from agent.execution.groups import Exit, Hear, Launch
from agent.execution.keeper import HEADER, KILL, REQUEST, RESUME, SUSPEND

assert sys.platform == "linux"

READ_BYTES = 64 * 1024
FLOOD_PIPE_BYTES = 1024 * 1024
"""The pipe of a program that prints a great deal is made larger: fewer, larger pieces."""
GUARDIAN_ENDS_S = 5.0
KEEPER_IDLE_S = 10.0
"""A keeper that nothing was asked of for so long is let go, but for the one that stays ready."""
KEEPERS_READY = 1
SOURCES = Path(__file__).resolve().parents[2]
GUARDIAN = (
    "import sys; sys.path.insert(0, sys.argv[1]); from agent.execution.guardian import main; main()"
)
KEEPER_GONE = -9


class Keeper:
    """The agent's end of the socket to one keeper."""

    def __init__(self, near: socket.socket, *, secluded: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._near = near
        self.secluded = secluded
        """It has mounts of its own, for good."""
        self._heard = b""
        self._group: LinuxGroup | None = None
        near.setblocking(False)
        self._loop.add_reader(near.fileno(), self._readable)

    @property
    def usable(self) -> bool:
        """Whether the keeper has not gone."""
        return self._near.fileno() >= 0

    async def start(self, group: LinuxGroup, request: bytes, files: list[int]) -> None:
        """Send the keeper a request to start a program, with its three files, and let this group
        hear its answers; returns when that is sent. Raise ``OSError`` when the keeper is gone."""
        self._group = group
        rights = array.array("i", files)
        sent = self._near.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        if sent < len(request):
            await self._loop.sock_sendall(self._near, request[sent:])

    def ask(self, letter: bytes) -> None:
        """Ask the keeper to do something with its program; one that is gone is ignored."""
        with suppress(OSError):
            self._near.send(letter)

    def close(self) -> None:
        """Close this end, by which the keeper ends, with whatever it keeps; do nothing when that
        was done."""
        if self._near.fileno() >= 0:
            self._loop.remove_reader(self._near.fileno())
            self._near.close()

    def _readable(self) -> None:
        try:
            data = self._near.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            if self._group is not None:
                self._group.answered(line.decode().split())
        if not data:
            self.close()
            if self._group is not None:
                self._group.keeper_gone()


class LinuxGroup:
    """One program, by its pipes and its keeper."""

    def __init__(
        self,
        hear: Hear,
        keeper: Keeper,
        files: tuple[int, int, int],
        free: Callable[[Keeper], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.started: asyncio.Future[int] = self._loop.create_future()
        """0, or the number of the error for which it could not be started."""
        self.ended: asyncio.Future[Exit] = self._loop.create_future()
        self.silent: asyncio.Future[None] = self._loop.create_future()
        self.held: tuple[str, ...] = ()
        self._hear, self._free = hear, free
        self._keeper: Keeper | None = keeper
        self._input, *outputs = files
        self._open = {file: number for number, file in enumerate(outputs, 1)}
        self._read_bytes = READ_BYTES
        self._excess: tuple[str, int] = ("", 0)
        for file in outputs:
            self._loop.add_reader(file, self._readable, file)

    def say(self, line: bytes) -> None:
        with suppress(OSError):  # one that does not read has a full pipe, or none
            os.write(self._input, line)

    def suspend(self) -> None:
        self._ask(SUSPEND)

    def resume(self) -> None:
        self._ask(RESUME)

    def kill(self) -> None:
        self._ask(KILL)

    def close(self) -> None:
        """Close the pipes to the program and its keeper, if it still has one, which ends what is
        left of the program; a second call does nothing."""
        for file in list(self._open):
            self._close_output(file)
        if self._input >= 0:
            os.close(self._input)
            self._input = -1
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.close()

    def _ask(self, letter: bytes) -> None:
        if self._keeper is not None:
            self._keeper.ask(letter)

    # -- for the loop ----------------------------------------------------------------------

    def _readable(self, file: int) -> None:
        try:
            data = os.read(file, self._read_bytes)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close_output(file)
            return
        if len(data) == self._read_bytes == READ_BYTES:
            self._widen(file)
        self._hear(self._open[file], data)

    def _widen(self, file: int) -> None:
        with suppress(OSError):
            self._read_bytes = fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, FLOOD_PIPE_BYTES)

    def _close_output(self, file: int) -> None:
        self._loop.remove_reader(file)
        os.close(file)
        del self._open[file]
        if not self._open and not self.silent.done():
            self.silent.set_result(None)

    def answered(self, words: list[str]) -> None:
        """Take in the words of one answer of the keeper: the program started, failed to, took too
        much, or ended, which settles ``started`` and ``ended``. Unknown answers are ignored."""
        match words:
            case ["started", *held]:
                self.held = tuple(held)
                self._settle(0)
            case ["failed", number]:
                self._release()
                self._settle(int(number))
            case ["excess", what, count]:
                self._excess = (what, int(count))
            case ["ended", code, cpu_ms, memory_kb]:
                self._release()
                self._end(Exit(int(code), *self._excess, int(cpu_ms), int(memory_kb)))
            case _:
                pass

    def keeper_gone(self) -> None:
        """Give up the keeper, which is gone, and settle that the program could not be started, or
        was killed, unless how it did is known already."""
        self._keeper = None
        self._settle(errno.EAGAIN)
        self._end(Exit(KEEPER_GONE))

    def _release(self) -> None:
        """Nothing is left of the program: its keeper is free for another."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            self._free(keeper)

    def _end(self, found: Exit) -> None:
        if not self.ended.done():
            self.ended.set_result(found)

    def _settle(self, number: int) -> None:
        if not self.started.done():
            self.started.set_result(number)


class LinuxGroups:
    """Starts groups. The guardian is started with the first of them, or before by ``prepare``."""

    def __init__(self) -> None:
        self._guardian: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._idle: list[tuple[Keeper, float]] = []
        self._closing: asyncio.TimerHandle | None = None
        self._secluded = False
        """As the last one that was wanted."""

    def available(self) -> str:
        return ""

    async def start(self, launch: Launch, hear: Hear) -> LinuxGroup:
        """Start a program in a group of its own, whose output goes to ``hear``, and return the
        group once it runs, not when it has ended; raise ``OSError``, with nothing left open, when
        it cannot be started."""
        boundary = launch.boundary
        keeper = self._keeper(secluded=boundary is not None and boundary.means.mounts)
        files, theirs = _pipes()
        group = LinuxGroup(hear, keeper, files, self._freed)
        try:
            await keeper.start(group, _request(launch), theirs)
        except (BrokenPipeError, ConnectionResetError):
            group.keeper_gone()
        except BaseException:
            group.close()
            raise
        finally:
            for file in theirs:
                os.close(file)
        try:
            error = await group.started
        except BaseException:
            group.close()
            raise
        if error:
            group.close()
            raise OSError(error, os.strerror(error), launch.command[0])
        return group

    def prepare(self) -> None:
        """Start the guardian and one keeper ahead of the first program, which would wait for them
        at the worst moment; do nothing when one is ready. Returns at once; raise ``OSError`` when
        that fails."""
        if not self._idle:
            keeper = self._keeper(secluded=self._secluded)
            self._idle.append((keeper, asyncio.get_running_loop().time()))

    async def close(self) -> None:
        """End the idle keepers and the guardian, which ends all that still runs, and wait until it
        is gone; one that takes too long is killed."""
        if self._closing is not None:
            self._closing.cancel()
        while self._idle:
            self._idle.pop()[0].close()
        watching, self._guardian = self._guardian, None
        if watching is None:
            return
        if self._requests is not None:
            self._requests.close()
        try:
            await asyncio.to_thread(watching.wait, GUARDIAN_ENDS_S)
        except subprocess.TimeoutExpired:
            watching.kill()
            watching.wait()

    # -- keepers ---------------------------------------------------------------------------

    def _keeper(self, *, secluded: bool) -> Keeper:
        """One of this kind that is free, or a new one."""
        self._secluded = secluded
        for place in reversed(range(len(self._idle))):
            keeper, _ = self._idle[place]
            if not keeper.usable:
                self._idle.pop(place)
            elif keeper.secluded == secluded:
                self._idle.pop(place)
                return keeper
        requests = self._have_guardian()
        near, far = socket.socketpair()
        with far:
            try:
                rights = array.array("i", [far.fileno()])
                requests.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except OSError:
                near.close()
                raise
        return Keeper(near, secluded=secluded)

    def _freed(self, keeper: Keeper) -> None:
        self._idle.append((keeper, asyncio.get_running_loop().time()))
        self._close_later()

    def _close_idle(self) -> None:
        """Those that were not used for a while; the one used last is the next to be used."""
        loop = asyncio.get_running_loop()
        self._closing = None
        before_s = loop.time() - KEEPER_IDLE_S
        while len(self._idle) > KEEPERS_READY and self._idle[0][1] <= before_s:
            self._idle.pop(0)[0].close()
        self._close_later()

    def _close_later(self) -> None:
        if self._closing is None and len(self._idle) > KEEPERS_READY:
            loop = asyncio.get_running_loop()
            self._closing = loop.call_later(KEEPER_IDLE_S, self._close_idle)

    def _have_guardian(self) -> socket.socket:
        """Started anew if somebody has ended it."""
        if self._requests is not None and self._guardian is not None:
            if self._guardian.poll() is None:
                return self._requests
            self._requests.close()
        near, far = socket.socketpair()
        with far:
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", "-E", "-c", GUARDIAN, str(SOURCES)],
                stdin=far.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        self._requests = near
        return near


def _pipes() -> tuple[tuple[int, int, int], list[int]]:
    """Our ends of the three pipes of a program, and its own."""
    made: list[int] = []
    try:
        for _ in range(3):
            made += os.pipe2(os.O_CLOEXEC)
    except OSError:
        for file in made:
            os.close(file)
        raise
    ours = (made[1], made[2], made[4])
    for file in ours:
        os.set_blocking(file, False)
    return ours, [made[0], made[3], made[5]]


def _request(launch: Launch) -> bytes:
    """What the keeper is to do, in one piece."""
    boundary = launch.boundary
    content = marshal.dumps(
        {
            "command": list(launch.command),
            "folder": str(launch.folder),
            "environment": dict(launch.environment),
            "spare": launch.spare,
            "memory": launch.memory_bytes,
            "disk": launch.disk_bytes,
            "free": launch.free_bytes_min,
            "processes": launch.processes,
            "processors": launch.processors,
            "counted": str(launch.written or launch.folder),
            "boundary": boundary.told(_filter(launch, boundary)) if boundary else None,
        }
    )
    return REQUEST + HEADER.pack(len(content)) + content


def _filter(launch: Launch, boundary: Boundary) -> bytes:
    return seccomp.assembled(
        os.uname().machine,
        network=boundary.network,
        metadata=boundary.means.mounts,
        pinned=launch.processors > 0,
    )
