"""Groups of processes on Windows: a job object for each, which ends them when its handle is closed.

A program is made suspended, put into its job, and only then let go, so that nothing that it starts
is outside of the job. The agent holds the only handle: when the agent ends, in whatever way, the
system closes it and ends whatever is in the job. Priority and memory are limits of the job; the
priority for disks is set on the first process, and others inherit it.

Windows has no call that suspends a job, so its processes are suspended one by one, again and again
until a look finds no new one.

A job does not end a program that wants more memory than it may have: the program is refused it, as
on a machine that has no more. That it was refused is read off the job when the program failed.

What is decided is here and runs anywhere, over the few calls of the system or others (``JobApi``).
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agent.execution.confinement.appcontainer import TOLD, enclosing_command
from agent.execution.confinement.boundary import Boundary
from agent.execution.folder_size import WALK_SHARE, folder_bytes
from agent.execution.groups import Exit, Hear, Launch
from agent.execution.groups_windows_api import JobApi, JobUse

CREATE_SUSPENDED = 0x00000004
CREATE_NEW_PROCESS_GROUP = 0x00000200
CREATE_NO_WINDOW = 0x08000000
FLAGS = CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW
ENDED_HERE = 1
ENCLOSING = 1
"""The process that begins a confined program counts, too."""
LOOKS_MAX = 200
LOOK_S, GONE_S = 1.0, 0.01
NEARLY = 0.95
"""Of its memory, as much is taken by a program that was refused more."""


Factory = Callable[[], asyncio.SubprocessProtocol]
Spawn = Callable[[Factory, Launch], Awaitable[asyncio.SubprocessTransport]]


class WindowsGroup(asyncio.SubprocessProtocol):
    """One job, by the process that it began with."""

    def __init__(self, api: JobApi, job: int, launch: Launch, hear: Hear) -> None:
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Exit] = self._loop.create_future()
        self.silent: asyncio.Future[None] = self._loop.create_future()
        self.held: tuple[str, ...] = ()
        self._api, self._job, self._launch, self._hear = api, job, launch, hear
        self._transport: asyncio.SubprocessTransport
        self._suspended: dict[int, None] = {}
        self._excess: tuple[str, int] = ("", 0)
        self._looking: asyncio.Task[None] | None = None

    # -- for whoever started it ------------------------------------------------------------

    def say(self, line: bytes) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(line)

    def suspend(self) -> None:
        """Suspend all processes of the group that are not yet, and look again until no new one is
        found, within a number of looks; those that have just ended are ignored."""
        for _ in range(LOOKS_MAX):
            fresh = [each for each in self._processes() if each not in self._suspended]
            if not fresh:
                return
            for each in fresh:
                self._suspended[each] = None
                with suppress(OSError):  # it has just ended
                    self._api.suspend(each)

    def resume(self) -> None:
        """Let the processes of the group that ``suspend`` has suspended go on; those that have
        ended are ignored."""
        suspended, self._suspended = self._suspended, {}
        for each in suspended:
            with suppress(OSError):
                self._api.resume(each)

    def kill(self) -> None:
        with suppress(OSError):
            self._api.terminate(self._job, ENDED_HERE)

    def close(self) -> None:
        """Close the pipes and the job, which ends every process that is left in it; nothing is
        raised, also when it was closed before."""
        if self._looking is not None:
            self._looking.cancel()
        self._transport.close()
        job, self._job = self._job, 0
        if job:
            with suppress(OSError):
                self._api.close(job)

    def begin(self) -> None:
        """Let the program go, which is in its job now, and watch how much disk it takes."""
        self._api.resume(self._transport.get_pid())
        self._looking = self._loop.create_task(self._look())

    def _processes(self) -> list[int]:
        try:
            return self._api.processes(self._job)
        except OSError:
            return []

    # -- for the loop ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._hear(fd, data)

    def process_exited(self) -> None:
        """Kill what the program has left behind and look again a moment later; when nothing is
        left, settle how the group ended. Do nothing when that is settled, or once the job is
        closed: no handle means the job of the agent itself."""
        if self.ended.done() or not self._job:
            return
        if self._processes():
            self.kill()
            self._loop.call_later(GONE_S, self.process_exited)
            return
        code = self._transport.get_returncode() or 0
        used = self._used()
        limit = self._launch.memory_bytes
        if code and limit and used.memory_bytes >= NEARLY * limit and not self._excess[0]:
            self._excess = ("memory", used.memory_bytes)
        memory_kb = used.memory_bytes // 1024
        self.ended.set_result(Exit(code, *self._excess, used.cpu_ms, memory_kb))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if not self.silent.done():
            self.silent.set_result(None)

    def _used(self) -> JobUse:
        try:
            return self._api.used(self._job)
        except OSError:
            return JobUse(0, 0)

    async def _look(self) -> None:
        """Whether it takes more of the disk than it may."""
        rest_s = LOOK_S
        while not self.ended.done():
            await asyncio.sleep(rest_s)
            began_s = time.monotonic()
            excess = await asyncio.to_thread(self._disk_excess)
            rest_s = max(LOOK_S, WALK_SHARE * (time.monotonic() - began_s))
            if excess[0]:
                self._excess = excess
                self.kill()
                return

    def _disk_excess(self) -> tuple[str, int]:
        launch = self._launch
        with suppress(OSError):
            free = shutil.disk_usage(launch.folder).free
            if free < launch.free_bytes_min:
                return "full", free
        if launch.disk_bytes:
            used = folder_bytes(str(launch.written or launch.folder))
            if used > launch.disk_bytes:
                return "disk", used
        return "", 0


class WindowsGroups:
    """Starts programs on Windows, each with a job object of its own."""

    def __init__(self, api: JobApi, spawn: Spawn | None = None) -> None:
        self._api = api
        self._spawn = spawn or _spawn_suspended

    def available(self) -> str:
        return ""

    def prepare(self) -> None:
        """Do nothing, as a job is made at once."""

    async def start(self, launch: Launch, hear: Hear) -> WindowsGroup:
        """Start a program in a job of its own, whose output goes to ``hear``, and return the group
        without waiting for its end; raise ``OSError``, and leave nothing running, when it cannot be
        started."""
        api, boundary = self._api, launch.boundary
        processes = launch.processes
        if boundary is not None:
            launch = await asyncio.to_thread(_enclosed, launch, boundary)
            processes += ENCLOSING if processes else 0
        job = api.new_job(
            launch.memory_bytes,
            spare=launch.spare,
            processes=processes,
            alone=boundary is not None,
        )
        group = WindowsGroup(api, job, launch, hear)
        try:
            transport = await self._spawn(lambda: group, launch)
        except BaseException:
            api.close(job)
            raise
        try:
            api.adopt(job, transport.get_pid(), spare=launch.spare)
            group.begin()
        except BaseException:
            transport.kill()
            group.close()
            raise
        return group

    async def close(self) -> None:
        """Do nothing, as each job has ended with its run."""


def _enclosed(launch: Launch, boundary: Boundary) -> Launch:
    """What begins it within its boundary, which is written beside its folder. Raises ``OSError``."""
    told = Path(boundary.home) / TOLD
    told.write_text(json.dumps(boundary.told_of_places()), "utf-8")
    return replace(launch, command=enclosing_command(told, launch.command))


async def _spawn_suspended(factory: Factory, launch: Launch) -> asyncio.SubprocessTransport:
    transport, _ = await asyncio.get_running_loop().subprocess_exec(
        factory,
        *launch.command,
        cwd=launch.folder,
        env=dict(launch.environment),
        creationflags=FLAGS,
    )
    return transport
