"""The course of the demo: start, submit, watch, kill, watch on, fetch, check.

Everything is done through the client protocol, as any client would, but for the kill. Events are
followed at the first machine only: it holds the same table as the others. An agent is killed when a
part of the work is done and another one than the first is in the middle of a long task, so that there is
something to recover: outputs that it made for others, and a task that nobody else has begun.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from contextlib import aclosing, suppress
from pathlib import Path

from agent.api.datasets import ReadDataset
from agent.api.session import Event, TaskMoved, TaskProgressed, WorkflowEnded
from agent.api.values import Dataset, Position, TaskState
from agent.api.work import SHOW, STATUS, Show, Status, TaskView
from agent.client import pieces_of
from agent.commands.demo.lines import (
    Checked,
    Ended,
    Joined,
    Killed,
    Moved,
    Progressed,
    Recovered,
    Starting,
    Submitted,
    Tell,
)
from agent.commands.demo.machines import DemoError, Machine, Machines
from agent.commands.demo.work import Work
from agent.commands.showing import counted
from agent.workflow.submission import submit_file

KILL_AFTER_SHARE = 0.3
INTO_THE_TASK_S = 0.2
LATE_SHARE = 0.6
"""From here on any task will do, so that a quick machine is not too quick."""
FETCH_S_MAX = 20.0


class Playing:
    """One course of the demo from start to check."""

    def __init__(self, machines: Machines, work: Work, keep: Path | None) -> None:
        self._machines, self._work, self._keep = machines, work, keep
        self._began_s = asyncio.get_running_loop().time()
        self._tell: Tell = lambda _: None
        self._tasks = 0
        self._running: dict[str, tuple[str, float]] = {}
        """Where each running task runs, and since when."""
        self._finished: dict[str, None] = {}
        self._lost: dict[str, None] = {}
        self._killed_s = 0.0
        self._right = True

    async def play(self, tell: Tell) -> bool:
        """Play the whole demo, once, and tell each happening; return whether everything was right.
        With ``keep`` the results are written there. Raises ``DemoError``, ``ClientError`` or
        ``OSError`` where it cannot go on; the machines are not ended."""
        self._tell = tell
        machines = self._machines
        names = tuple(machine.name for machine in machines.all)
        folder = str(machines.first.folder.parent)
        work = self._work
        tell(Starting(self._at_s(), names, work.sections, folder, work.scan))
        await asyncio.gather(self._work.prepare(), machines.start(self._work.install))
        await machines.make_flock(self._joined)
        position = (await machines.first.client.call(STATUS, Status(limit=1))).position
        workflow = await self._submit()
        await self._watch(workflow, position)
        return await self._check(workflow)

    # -- acts --------------------------------------------------------------------------------

    async def _submit(self) -> str:
        client = self._machines.first.client
        accepted = await submit_file(client, self._work.workflow, self._work.wanted)
        shown = await client.call(SHOW, Show(accepted.workflow, limit=1))
        self._tasks = shown.workflow.tasks
        planted = len(self._work.planted)
        name = self._machines.first.name
        workflow = shown.workflow.name
        self._tell(Submitted(self._at_s(), workflow, self._tasks, planted, name))
        return accepted.workflow

    async def _watch(self, workflow: str, position: Position) -> None:
        """All that happens after a position, until the workflow has ended."""
        client = self._machines.first.client
        killing = asyncio.create_task(self._kill_in_the_middle())
        try:
            async with (
                asyncio.timeout(self._work.work_s_max),
                aclosing(client.events(position)) as events,
            ):
                async for event in events:
                    if self._heard(event, workflow):
                        return
        except TimeoutError:
            left = self._tasks - len(self._finished)
            raise DemoError(
                f"after {self._work.work_s_max:g} s {left} of {self._tasks} tasks have not ended: this machine "
                f"is very busy, or Wingbeat is at fault (--keep keeps the logs)"
            ) from None
        finally:
            killing.cancel()
            await asyncio.gather(killing, return_exceptions=True)

    def _heard(self, event: Event, workflow: str) -> bool:
        """Whether that was the end."""
        match event.happening:
            case TaskMoved(workflow=name) as moved if name == workflow:
                self._moved(moved)
            case TaskProgressed(workflow=name) as told if name == workflow:
                self._tell(Progressed(self._at_s(), told.name, told.host, told.permille))
            case WorkflowEnded(workflow=name) if name == workflow:
                return True
            case _:
                pass
        return False

    def _moved(self, moved: TaskMoved) -> None:
        at_s, name = self._at_s(), moved.name
        self._running.pop(name, None)
        if moved.after is TaskState.RUNNING:
            self._running[name] = (moved.host, at_s)
        elif moved.after is TaskState.TERMINATED:
            self._finished[name] = None
        self._tell(Moved(at_s, name, moved.after.value, moved.host, moved.cause))
        if name in self._lost and name in self._finished:
            del self._lost[name]  # it had just ended when its agent was killed
        elif name in self._lost and name in self._running and moved.host != self._killed_name():
            del self._lost[name]
            self._tell(Recovered(at_s, name, moved.host, round(at_s - self._killed_s, 3)))

    async def _kill_in_the_middle(self) -> None:
        while True:
            victim = self._victim()
            if victim is not None:
                break
            await asyncio.sleep(0.02)
        tasks = tuple(name for name, (host, _) in self._running.items() if host == victim.name)
        process = victim.process
        self._machines.kill(victim)
        self._killed_s = self._at_s()
        self._lost.update(dict.fromkeys(tasks))
        self._tell(Killed(self._killed_s, victim.name, process, tasks))

    def _victim(self) -> Machine | None:
        share = len(self._finished) / max(self._tasks, 1)
        if share < KILL_AFTER_SHARE:
            return None
        for name, (host, since_s) in self._running.items():
            machine = self._machines.named(host)
            begun = self._at_s() - since_s >= INTO_THE_TASK_S
            in_the_middle = begun and name.partition(".")[0] in self._work.long_tasks
            if (in_the_middle or share >= LATE_SHARE) and machine is not self._machines.first:
                return machine
        return None

    # -- what came of it ---------------------------------------------------------------------

    async def _check(self, workflow: str) -> bool:
        shown = await self._machines.first.client.call(SHOW, Show(workflow, limit=1_000))
        tasks = {task.name: task for task in shown.tasks}
        done = sum(task.state is TaskState.TERMINATED for task in tasks.values())
        self._judge("every task has finished", done == len(tasks), f"{done} of {len(tasks)}")
        killed = self._killed_name()
        self._judge("an agent was killed", bool(killed), killed or "none: the work was too quick")
        again = sum(task.attempt > 1 for task in tasks.values())
        self._judge(
            "its work went on elsewhere", not self._lost, f"{counted(again, 'task')} begun again"
        )
        results = await self._results(tasks)
        for judged in self._work.judge(results):
            self._judge(*judged)
        report = results.get(self._work.report, b"").decode("utf-8", "replace")
        by_machine = Counter(task.host for task in tasks.values())
        kept, plants = self._kept(results), self._work.plants(results)
        self._tell(Ended(self._at_s(), self._right, by_machine, plants, report, kept))
        return self._right

    async def _results(self, tasks: dict[str, TaskView]) -> dict[str, bytes]:
        """By name; each is what its identifier says, byte for byte."""
        found: dict[str, bytes] = {}
        same = True
        wanted = self._work.results
        for name, files in wanted:
            outputs = tasks[name].outputs if name in tasks else ()
            for file, output in zip(files, outputs, strict=False):
                found[file] = await self._fetched(output)
                same &= output.dataset == "sha256:" + hashlib.sha256(found[file]).hexdigest()
        whole = len(found) == sum(len(files) for _, files in wanted)
        self._judge(
            "the results are those that were recorded", same and whole, f"{len(found)} files"
        )
        return found

    async def _fetched(self, output: Dataset) -> bytes:
        client, data = self._machines.first.client, b""
        try:
            async with asyncio.timeout(FETCH_S_MAX):
                with suppress(EOFError):  # whoever compares it sees that
                    async for piece in pieces_of(client, ReadDataset(output.dataset)):
                        data += piece
            return data
        except TimeoutError:
            raise DemoError(
                f"after {FETCH_S_MAX:g} s a result is not fetched: this machine is very busy, or "
                "Wingbeat is at fault (--keep keeps the logs)"
            ) from None

    def _kept(self, results: dict[str, bytes]) -> str:
        if self._keep is None:
            return ""
        folder = self._keep.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in results.items():
            (folder / name).write_bytes(data)
        return str(folder)

    def _judge(self, check: str, holds: bool, found: str) -> None:
        self._right = self._right and holds
        self._tell(Checked(self._at_s(), check, holds, found))

    def _joined(self, machine: Machine) -> None:
        self._tell(Joined(self._at_s(), machine.name, machine.process))

    def _killed_name(self) -> str:
        return "" if self._machines.killed is None else self._machines.killed.name

    def _at_s(self) -> float:
        return round(asyncio.get_running_loop().time() - self._began_s, 3)
