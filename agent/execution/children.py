"""All runs of this node, as the driver's port for programs.

Requests come as effects and what becomes of them goes back as events, never before the request has
returned. A run that is asked to stop is answered ``ChildStopped`` whether or not there is anything
of it, because whoever asks waits until nothing is left.

Outputs are identifiers in somebody's database for now (``Dataset(external=True)``): there is
nothing to fetch and nothing to copy. If either is asked for all the same, the answer is honest: the
input is not to be had, the outputs are here only.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.parse import quote

from agent.execution.child import GRACE_S, Broken, Child, Ending, Stopped
from agent.execution.groups import Groups, native_groups
from agent.execution.programs import Program, ProgramError, Programs
from agent.execution.words import arguments
from agent.protocol.effects import CopyCheckpoint, CopyOutputs, Fetch, StartChild
from agent.protocol.events import (
    ChildFailed,
    ChildNotStarted,
    ChildProgressed,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
    FetchFailed,
    OutputsCopied,
)
from agent.protocol.records import Dataset, NodeId, RunName, TaskId, TaskSpec, short_text

KILL_ALL_S = 5.0
TAIL_BYTES = 2_000
LACKING = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE)
"""What this machine runs out of; another one, or this one later, may well start the program."""

log = logging.getLogger(__name__)

Key = tuple[TaskId, RunName]


class Run:
    """A run that was asked for: its task on the loop, and its child once there is one."""

    __slots__ = ("child", "started", "stopping", "suspended", "task")

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.child: Child | None = None
        self.started = False
        self.stopping = False
        self.suspended = False


class Children:
    """Starts, suspends, resumes and stops programs."""

    def __init__(
        self,
        me: NodeId,
        programs: Programs,
        scratch: Path,
        logs: Path,
        tell: Callable[[Event], None],
        groups: Groups | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self._me, self._programs, self._tell = me, programs, tell
        self._scratch, self._logs, self._grace_s = scratch, logs, grace_s
        self._groups = groups or native_groups()
        self._runs: dict[Key, Run] = {}

    def names(self) -> tuple[str, ...]:
        """The programs that can be run here."""
        return () if self._groups.available() else self._programs.names

    def running(self) -> int:
        """How many programs run, suspended ones among them; from whatever thread."""
        return len(self._runs)

    def clear_scratch(self) -> None:
        """What an agent that was killed has left."""
        for left in self._scratch.iterdir():
            shutil.rmtree(left, ignore_errors=True)

    # -- what the driver asks --------------------------------------------------------------

    def fetch(self, effect: Fetch) -> None:
        """There is nobody yet to fetch from."""
        log.warning("inputs of %s cannot be fetched: only identifiers are passed on", effect.task)
        self._tell_soon(FetchFailed(effect.task, effect.run, effect.inputs[0][0]))

    def copy(self, effect: CopyOutputs) -> None:
        """Nor to copy to."""
        log.warning("outputs of %s cannot be copied: they are on this node only", effect.task)
        self._tell_soon(OutputsCopied(effect.task, effect.run, (self._me,)))

    def copy_checkpoint(self, effect: CopyCheckpoint) -> None:
        """Nor a checkpoint, which stays here only."""
        log.warning("the checkpoint of %s cannot be copied: it is on this node only", effect.task)

    def start(self, effect: StartChild) -> None:
        """Start the program of a run."""
        key = (effect.task, effect.run)
        run = self._runs[key] = Run()
        run.task = asyncio.create_task(self._execute(run, effect))

    def suspend(self, task: TaskId, run: RunName) -> None:
        """Stop its processes where they are."""
        found = self._runs.get((task, run))
        if found is not None:
            found.suspended = True
            if found.child is not None:
                found.child.suspend()

    def resume(self, task: TaskId, run: RunName) -> None:
        """Let them go on."""
        found = self._runs.get((task, run))
        if found is not None:
            found.suspended = False
            if found.child is not None:
                found.child.resume()

    def stop(self, task: TaskId, run: RunName, reason: str) -> None:
        """End whatever there is of the run."""
        found = self._runs.get((task, run))
        if found is None:
            self._tell_soon(ChildStopped(task, run))
            return
        log.info("stopping task %s: %s", task, reason)
        found.stopping = True
        if found.child is not None:
            found.child.stop()

    async def close(self) -> None:
        """End everything now, and start nothing any more."""
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
        await self._groups.close()

    # -- one run ---------------------------------------------------------------------------

    async def _execute(self, run: Run, effect: StartChild) -> None:
        key = (effect.task, effect.run)
        event: Event
        try:
            event = await self._outcome(run, effect)
        except OSError as error:
            reason = short_text(f"could not be started: {error}")
            lacking = error.errno in LACKING
            event = ChildNotStarted(*key, reason) if lacking else ChildFailed(*key, reason)
        except (ProgramError, ValueError) as error:
            event = ChildFailed(*key, short_text(f"could not be started: {error}"))
        except Exception as error:
            log.exception("the program of %s cannot be followed", effect.task)
            event = ChildFailed(*key, short_text(f"could not be followed: {error!r}"))
        del self._runs[key]
        if run.stopping and isinstance(event, ChildFailed | ChildNotStarted):
            event = ChildStopped(*key)
        log.info("task %s: %s", effect.task, _in_words(event))
        self._tell(event)

    async def _outcome(self, run: Run, effect: StartChild) -> Event:
        program = self._programs.get(effect.spec.program)
        if program is None:
            raise ProgramError(f"the program {effect.spec.program} is not here any more")
        with self._open_log(effect) as output:
            ending = await self._run_program(run, program, effect, output)
            told = _tail(output)
        return self._event(effect, program, ending, told)

    async def _run_program(
        self, run: Run, program: Program, effect: StartChild, output: IO[bytes]
    ) -> Ending:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._scratch))
        try:
            command = program.command_line(arguments(effect.spec, effect.inputs))
            child = Child(output, self._progress(run, effect), self._grace_s)
            process = await self._groups.start(
                command, folder, _environment(effect.spec), child.hear
            )
            child.attach(process)
            run.child = child
            log.info("task %s runs %s", effect.task, program.name)
            self._catch_up(run, child)
            self._tell_started(run, effect)
            return await child.run()
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

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

    def _event(self, effect: StartChild, program: Program, ending: Ending, told: str) -> Event:
        key = (effect.task, effect.run)
        if isinstance(ending, Stopped):
            return ChildStopped(*key)
        if isinstance(ending, Broken):
            return ChildFailed(*key, short_text(f"{program.name} {ending.error}{told}"))
        names = _unnamed(effect, program) if ending.outputs is None else ending.outputs
        if len(names) < program.outputs:
            text = f"{program.name} names {len(names)} outputs, it has {program.outputs}"
            return ChildFailed(*key, short_text(text))
        return ChildSucceeded(*key, tuple(Dataset(name, external=True) for name in names))

    def _open_log(self, effect: StartChild) -> IO[bytes]:
        """What the program prints besides its words, a file for each run of a task."""
        folder = self._logs / f"task-{quote(effect.task, safe='')}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        generation, attempt, _, _ = effect.run
        return (folder / f"{generation}.{attempt}.log").open("a+b", buffering=0)

    def _tell_soon(self, event: Event) -> None:
        asyncio.get_running_loop().call_soon(self._tell, event)


def _unnamed(effect: StartChild, program: Program) -> tuple[str, ...]:
    """A program without words has its outputs named for it, the same wherever it runs."""
    return tuple(f"{effect.task}:{number}" for number in range(program.outputs))


def _environment(spec: TaskSpec) -> dict[str, str]:
    return {**os.environ, "WINGBEAT_TASK": spec.task, "WINGBEAT_PROGRAM": spec.program}


def _tail(output: IO[bytes]) -> str:
    """The last line that the program has printed, for people who see only that it failed."""
    with suppress(OSError):
        end = output.seek(0, os.SEEK_END)
        output.seek(max(0, end - TAIL_BYTES))
        lines = output.read(TAIL_BYTES).decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""
    return ""


def _in_words(event: Event) -> str:
    match event:
        case ChildSucceeded():
            return "succeeded"
        case ChildFailed():
            return event.error
        case ChildNotStarted():
            return event.reason
        case _:
            return "stopped"
