"""All runs of this node, as the driver's port for programs.

Requests come as effects and what becomes of them goes back as events, never before the request has
returned. A run that is asked to stop is answered ``ChildStopped`` whether or not there is anything
of it, because whoever asks waits until nothing is left.

Without a store, outputs are identifiers in somebody's database (``Dataset(external=True)``): there
is nothing to fetch and nothing to copy.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from msgspec import structs

from agent.execution.allowed_commands import ConfinementError, refuse_steering
from agent.execution.child import GRACE_S, Broken, Child, Deprived, Ending, Stopped, Succeeded
from agent.execution.confinement.proof import Proof
from agent.execution.confinement.rule import OFF, Confinement, Given, UnconfinedError
from agent.execution.grants import Grants
from agent.execution.groups import Exit, Groups, Hear, Launch, Process
from agent.execution.inherited import inherited
from agent.execution.limits import (
    FREE_BYTES_MIN,
    MEGABYTE,
    NODE_LIMITS,
    Limits,
    NodeLimits,
    limits_of,
)
from agent.execution.node_permissions import is_node, permitted
from agent.execution.output import OutputLog, shortened
from agent.execution.programs import Program, ProgramError, Programs
from agent.execution.scratch import OutputError, Saving, Scratch, ScratchFolders, Store
from agent.execution.shares import opened, place_of
from agent.host.deleting import delete_tree
from agent.paths import task_log
from agent.protocol.effects import StartChild
from agent.protocol.events import (
    ChildCheckpointed,
    ChildFailed,
    ChildNotStarted,
    ChildProgressed,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
)
from agent.protocol.reasons import CauseKind, EndCause
from agent.protocol.records import SHORT_TEXT_MAX, Dataset, RunName, TaskId, short_text
from agent.protocol.times import Took
from agent.wording.speech import english, megabytes

KILL_ALL_S = 5.0
PREPARE_AFTER_S = 1.0
"""Starting the agent comes first."""
DISK_SHARE = 0.8
"""Of what is free, as much may be written by a program that nobody has set a limit for."""
LACKING = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE)
"""What this machine runs out of; another one, or this one later, may well start the program."""

log = logging.getLogger(__name__)

Key = tuple[TaskId, RunName]


class Run:
    """A run that was asked for: its task on the loop, and its child once there is one."""

    __slots__ = ("called", "child", "started", "stopping", "suspended", "task", "used")

    def __init__(self, called: str) -> None:
        self.called = called
        self.task: asyncio.Task[None] | None = None
        self.child: Child | None = None
        self.started = False
        self.stopping = False
        self.suspended = False
        self.used = ""


class Children:
    """Starts, suspends, resumes and stops programs."""

    def __init__(
        self,
        programs: Programs,
        scratch: Path,
        logs: Path,
        tell: Callable[[Event], None],
        groups: Groups | None = None,
        grace_s: float = GRACE_S,
        store: Store | None = None,
        limits: NodeLimits = NODE_LIMITS,
        spare: bool = True,
        confinement: Confinement | None = None,
        grants: Grants | None = None,
    ) -> None:
        """``confinement`` says what programs may reach; without one, whatever the account may.
        ``grants`` says what they were allowed; without it, what they ask for."""
        self._programs, self._tell = programs, tell
        self.confinement, self._grants = confinement or Confinement(), grants
        self._scratch, self._logs, self._grace_s = scratch, logs, grace_s
        self._groups = groups or native_groups()
        self._limits, self._spare = limits, spare
        self._folders = ScratchFolders(scratch, store)
        self._inherited = inherited(os.environ)
        self._runs: dict[Key, Run] = {}
        self._preparing: asyncio.TimerHandle | None = None
        self._proving: asyncio.Task[Proof] | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names of the programs that can be run here; empty where none can be run at
        all."""
        return () if self._groups.available() else self._programs.names

    def running(self) -> int:
        """Return how many runs were begun and have not ended, suspended ones and those that still
        prepare among them; may be called from any thread."""
        return len(self._runs)

    def at_work(self) -> int:
        """Return how many runs have a program that has started and is not suspended; may be called
        from any thread."""
        return sum(each.started and not each.suspended for each in list(self._runs.values()))

    def clear_scratch(self) -> None:
        """Delete all working folders, which an agent that was killed has left; what cannot be
        deleted stays. Raise ``OSError`` when the place of them cannot be listed."""
        for left in self._scratch.iterdir():
            delete_tree(left)

    def prepare(self) -> None:
        """Have what starts programs made ready in a moment, and return at once; do nothing when
        that was asked for before or programs cannot be run here. A failure is only logged."""
        if self._preparing is None and not self._groups.available():
            loop = asyncio.get_running_loop()
            self._preparing = loop.call_later(PREPARE_AFTER_S, self._prepare)

    def _prepare(self) -> None:
        if self.confinement.rule != OFF:
            self._proving = asyncio.create_task(self.prove())
            return
        try:
            self._groups.prepare()
        except OSError as error:
            log.info("programs cannot be prepared for: %s", error)

    async def prove(self) -> Proof:
        """Return what holds programs back on this machine, found out by trying once."""
        return await self.confinement.prove(self._groups)

    # -- what the driver asks --------------------------------------------------------------

    def start(self, effect: StartChild) -> None:
        """Begin the run in the background and return at once; that it started, how far it is and
        how it ended, or why it did not start, are told as events."""
        key = (effect.task, effect.run)
        run = self._runs[key] = Run(_called(effect))
        run.task = asyncio.create_task(self._execute(run, effect))

    def suspend(self, task: TaskId, run: RunName) -> None:
        """Suspend the run's processes where they are, or right after its start if it has none yet;
        an unknown run is ignored."""
        found = self._runs.get((task, run))
        if found is not None:
            found.suspended = True
            if found.child is not None:
                found.child.suspend()

    def resume(self, task: TaskId, run: RunName) -> None:
        """Let a suspended run go on, or take back the wish to suspend it at its start; an unknown
        run is ignored."""
        found = self._runs.get((task, run))
        if found is not None:
            found.suspended = False
            if found.child is not None:
                found.child.resume()

    def stop(self, task: TaskId, run: RunName, reason: str) -> None:
        """Ask the run's program to end, once it has started if it has not yet, kill it after its
        grace time, and return at once; ``reason`` is logged. Its end is told as an event,
        ``ChildStopped`` soon for an unknown run."""
        found = self._runs.get((task, run))
        if found is None:
            self._tell_soon(ChildStopped(task, run))
            return
        log.info("stopping %s: %s", found.called, reason)
        found.stopping = True
        if found.child is not None:
            found.child.stop()

    async def close(self) -> None:
        """Kill all programs, wait some seconds until they are gone, then give up whatever is left,
        and close what starts programs; none may be started after that."""
        if self._preparing is not None:
            self._preparing.cancel()
        for run in list(self._runs.values()):
            run.stopping = True
            if run.child is not None:
                run.child.kill()
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=KILL_ALL_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self.confinement.close()
        await self._groups.close()
        self._folders.close()

    # -- one run ---------------------------------------------------------------------------

    async def _execute(self, run: Run, effect: StartChild) -> None:
        key = (effect.task, effect.run)
        event: Event
        try:
            event = await self._run_program(run, effect)
        except OSError as error:
            why = _beyond("NotFollowed" if run.started else "NotStarted", str(error))
            lacking = error.errno in LACKING
            event = ChildNotStarted(*key, why) if lacking else ChildFailed(*key, why)
        except (ProgramError, ValueError) as error:
            event = ChildFailed(*key, _beyond("NotStarted", str(error)))
        except UnconfinedError:
            event = ChildNotStarted(*key, EndCause("Unconfined", program=effect.spec.program))
        except Exception as error:
            log.exception("the program of %s cannot be followed", run.called)
            event = ChildFailed(*key, _beyond("NotFollowed", repr(error)))
        del self._runs[key]
        if run.stopping and isinstance(event, ChildFailed | ChildNotStarted):
            event = ChildStopped(*key)
        self._tell(event)  # what follows it may begin: the log can wait
        log.info("%s: %s%s", run.called, _in_words(event), run.used)

    async def _run_program(self, run: Run, effect: StartChild) -> Event:
        key, program = (effect.task, effect.run), self._programs.get(effect.spec.program)
        if program is None:
            return ChildFailed(*key, EndCause("ProgramGone", program=effect.spec.program))
        if self._grants is not None and self._grants.withheld([program]):
            return ChildNotStarted(*key, EndCause("NotGranted", program=program.name))
        free = shutil.disk_usage(self._scratch).free
        wanted = FREE_BYTES_MIN + effect.spec.requirements.disk_mb * MEGABYTE
        if free < wanted:
            return ChildNotStarted(*key, EndCause("NoRoom", took_bytes=free, limit_bytes=wanted))
        limits = self._limits_of(effect, program, free)
        path = task_log(self._logs, effect.task, effect.run[0], effect.run[1])
        async with AsyncExitStack() as done:
            scratch = self._folders.take()
            done.push_async_callback(self._folders.give_back, scratch)
            output = done.enter_context(closing(OutputLog(path, limits.log_bytes)))
            saving = Saving(scratch, self._saved(run, effect))
            child = Child(output, limits, self._progress(run, effect), saving.take, self._grace_s)
            launch = await self._launch(program, effect, limits, scratch)
            child.attach(await self._groups.start(launch, child.hear))
            run.child = child
            log.info("%s runs %s", run.called, program.name)
            self._catch_up(run, child)
            self._tell_started(run, effect)
            ending, found = await child.run()
            if found.cpu_ms or found.memory_kb:
                memory = megabytes(found.memory_kb * 1_024)
                used = f"{found.cpu_ms / 1_000:.1f} s of the processor and {memory} of memory"
                run.used = f"; took {used}"
            ending = self._whose_fault(ending)
            await saving.finish()
            bytes_max = limits.disk_mb * MEGABYTE
            took = Took(child.took_ms, found.cpu_ms)
            told = await self._event(effect, program, ending, found, output, scratch, bytes_max)
            return told if isinstance(told, ChildNotStarted) else replace(told, took=took)

    async def _launch(
        self, program: Program, effect: StartChild, limits: Limits, scratch: Scratch
    ) -> Launch:
        """Raises ``OSError``, ``ProgramError``."""
        shares = self._grants.shares if self._grants is not None else {}
        wishes = opened(program.wishes, shares)
        place = partial(place_of, wishes=program.wishes, shares=shares)
        told = await scratch.arguments(effect, place)
        command = (*program.command_line(), *told)
        try:
            refuse_steering(command, told)
        except ConfinementError as error:
            raise ProgramError(str(error)) from error
        environment = await scratch.environment(effect, self._inherited)
        if self._grants is not None and program.wishes.secrets:
            values = await asyncio.to_thread(self._grants.secrets_of, program)
            environment |= scratch.give(values)
        writes = (scratch.folder, scratch.temporary)
        given = Given(scratch.home, writes, scratch.reads(), limits)
        boundary = await self.confinement.boundary(
            self._groups, wishes, program.folder, command, given
        )
        if boundary is not None:
            environment["HOME"] = str(scratch.temporary)
            reads = (str(program.folder), *given.reads)
            if is_node(command):
                command = await asyncio.to_thread(permitted, command, reads, boundary.writes)
        if any("\0" in word for word in (*command, *environment.values())):
            raise ProgramError("it would be told something with a zero byte, which no system can")
        return Launch(
            command=command,
            folder=scratch.folder,
            environment=environment,
            spare=self._spare and not effect.interactive,
            memory_bytes=limits.memory_mb * MEGABYTE,
            disk_bytes=limits.disk_mb * MEGABYTE,
            free_bytes_min=FREE_BYTES_MIN,
            written=scratch.home,
            processes=limits.processes,
            processors=limits.processors,
            boundary=boundary,
        )

    def _limits_of(self, effect: StartChild, program: Program, free: int) -> Limits:
        limits = limits_of(effect.spec, program.limits, self._limits)
        if limits.disk_mb:
            return limits
        share_mb = int(DISK_SHARE * (free - FREE_BYTES_MIN)) // MEGABYTE
        return replace(limits, disk_mb=max(1, share_mb))

    def _whose_fault(self, ending: Ending) -> Ending:
        """A program that fails while the disk is full has probably met that."""
        if isinstance(ending, Broken):
            free = shutil.disk_usage(self._scratch).free
            if free < FREE_BYTES_MIN:
                left = max(1, free)  # 0 would say that nobody looked
                return Deprived(structs.replace(ending.why, disk_left_bytes=left))
        return ending

    def _catch_up(self, run: Run, child: Child) -> None:
        """What was asked while the process was being made."""
        if run.stopping:
            child.stop()
        elif run.suspended:
            child.suspend()

    def _tell_started(self, run: Run, effect: StartChild) -> None:
        if not run.started:
            run.started = True
            self._tell(ChildStarted(effect.task, effect.run))

    def _progress(self, run: Run, effect: StartChild) -> Callable[[int, int], None]:
        def progressed(permille: int, left_ms: int) -> None:
            self._tell_started(run, effect)  # a quick program speaks before its start returns
            self._tell(ChildProgressed(effect.task, effect.run, permille, left_ms))

        return progressed

    def _saved(self, run: Run, effect: StartChild) -> Callable[[Dataset], None]:
        def saved(checkpoint: Dataset) -> None:
            self._tell_started(run, effect)  # as above
            log.info("%s has saved its state", _called(effect))
            self._tell(ChildCheckpointed(effect.task, effect.run, checkpoint))

        return saved

    async def _event(
        self,
        effect: StartChild,
        program: Program,
        ending: Ending,
        found: Exit,
        output: OutputLog,
        scratch: Scratch,
        bytes_max: int,
    ) -> ChildSucceeded | ChildFailed | ChildStopped | ChildNotStarted:
        key = (effect.task, effect.run)
        match ending:
            case Stopped():
                return ChildStopped(*key)
            case Deprived():
                return ChildNotStarted(*key, structs.replace(ending.why, program=program.name))
            case Broken():
                folders = (program.folder, scratch.folder)
                error = short_text(shortened(ending.why.error, folders))
                room = SHORT_TEXT_MAX - len(error)  # as one text would hold
                said = "" if found.excess else short_text(shortened(output.last_line(), folders))
                why = structs.replace(
                    ending.why, program=program.name, error=error, last=said[:room]
                )
                return ChildFailed(*key, why)
            case Succeeded(named):
                try:
                    told = (named, program.outputs, effect.task, output.note, bytes_max)
                    outputs, names = await scratch.outputs(*told)
                except OutputError as error:
                    return ChildFailed(*key, structs.replace(error.why, program=program.name))
                return ChildSucceeded(*key, outputs, names)

    def _tell_soon(self, event: Event) -> None:
        asyncio.get_running_loop().call_soon(self._tell, event)


def _beyond(kind: CauseKind, error: str) -> EndCause:
    """What a system says, as far as a record holds it."""
    return EndCause(kind, error=short_text(error))


def _called(effect: StartChild) -> str:
    """What people call the task."""
    return f"{effect.workflow}/{effect.spec.name}" if effect.workflow else effect.spec.name


def _in_words(event: Event) -> str:
    match event:
        case ChildSucceeded():
            return "succeeded"
        case ChildFailed() | ChildNotStarted():
            return english(event.why)
        case _:
            return "stopped"


class NoGroups:
    """Refuses to start programs, on systems where they cannot be run."""

    def available(self) -> str:
        """Return a sentence that says why no program can be run on this system."""
        return (
            "Programs cannot be run on this system, because nothing here could suspend and end "
            "them with all that they start; run them on Linux and Windows machines of the flock."
        )

    def prepare(self) -> None:
        """Do nothing, as nothing can be started."""

    async def start(self, launch: Launch, hear: Hear) -> Process:
        del launch, hear
        raise ProgramError(self.available())

    async def close(self) -> None:
        """Do nothing, as nothing was started."""


def native_groups() -> Groups:
    """Return what starts groups of processes on the system that this runs on; on systems other than
    Windows and Linux one that refuses to."""
    if sys.platform == "win32":
        from agent.execution.groups_windows import WindowsGroups
        from agent.execution.groups_windows_api import JobApi

        return WindowsGroups(JobApi())
    elif sys.platform == "linux":  # noqa: RET505 - so that the type checker sees one of them
        from agent.execution.groups_linux import LinuxGroups

        return LinuxGroups()
    else:
        return NoGroups()
