"""Children in a folder of their own with real processes, and a store that keeps files in a folder."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.execution.children import Children
from agent.execution.groups import Exit
from agent.execution.limits import NODE_LIMITS, NodeLimits
from agent.execution.programs import Programs
from agent.protocol import records
from agent.protocol.effects import StartChild
from agent.protocol.events import (
    ChildFailed,
    ChildNotStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
)
from agent.protocol.reasons import EndCause
from agent.protocol.records import Dataset, DatasetId, TaskSpec
from agent.wording.speech import english
from tests.driver.worlds import RUN
from tests.execution.installed import install, processes, reader
from tests.hosts.waiting import eventually

Failure = ChildFailed | ChildNotStarted


def in_words(event: Event) -> tuple[type[Event], str]:
    """How a run ended, and why in words; that is a value that people's languages can say."""
    assert isinstance(event, ChildFailed | ChildNotStarted)
    assert isinstance(event.why, EndCause)
    return type(event), english(event.why)


ENDS = (ChildSucceeded, ChildFailed, ChildStopped, ChildNotStarted)


def placed(**more: object) -> pytest.MarkDecorator:
    """Mark a test of which the fixture ``here`` is a place with these arguments."""
    return pytest.mark.parametrize("here", [more], indirect=True)


class NotedProcess:
    """A process that only notes what is done with it, and ends when a test says so."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Exit] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        self.held: tuple[str, ...] = ()
        self.done: list[str] = []

    def say(self, line: bytes) -> None:
        self.done.append(line.decode().strip())

    def suspend(self) -> None:
        self.done.append("suspend")

    def resume(self) -> None:
        self.done.append("resume")

    def kill(self) -> None:
        self.done.append("kill")

    def close(self) -> None:
        self.done.append("close")


@dataclass
class FolderStore:
    """Datasets as files of a folder; ``held`` keeps what is to be kept waiting."""

    folder: Path
    held: asyncio.Event | None = None

    async def lay(self, dataset: DatasetId, into: Path) -> Path:
        source = next(self.folder.glob(f"{dataset.replace(':', '-')}.*"))
        path = into / source.name.partition(".")[2]
        path.hardlink_to(source)
        return path

    async def keep(self, path: Path, name: str) -> Dataset:
        if self.held is not None:
            await self.held.wait()
        return self._keep(path, name)

    def _keep(self, path: Path, name: str) -> Dataset:
        data = path.read_bytes() if path.is_file() else b"a folder"
        dataset = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self.folder.mkdir(exist_ok=True)
        path.rename(self.folder / f"{dataset.replace(':', '-')}.{name}")
        return Dataset(dataset, len(data))

    def free_bytes(self) -> int:
        return 2**40


@dataclass
class Place:
    """Children and what they told."""

    folder: Path
    children: Children
    store: FolderStore
    told: list[Event] = field(default_factory=list)

    def start(
        self,
        parameters: str,
        task: str = "t",
        program: str = "tell",
        limits: records.Limits = records.Limits(),  # noqa: B008 - frozen
        **more: object,
    ) -> None:
        spec = TaskSpec(task, task, program, parameters=parameters, limits=limits)
        effect = {"task": task, "run": RUN, "spec": spec, "inputs": (), **more}
        self.children.start(StartChild(**effect))  # type: ignore[arg-type]

    async def end(self, task: str = "t") -> Event:
        def ends() -> list[Event]:
            return [each for each in self.told if isinstance(each, ENDS) and each.task == task]

        await eventually(lambda: bool(ends()))
        return ends()[0]

    async def succeeds(self, task: str = "t") -> tuple[Dataset, ...]:
        """Wait for its end, which is a good one; return its outputs."""
        ended = await self.end(task)
        assert isinstance(ended, ChildSucceeded), ended
        return ended.outputs

    async def fails(self, told: str, task: str = "t", kind: type[Failure] = ChildFailed) -> None:
        """Wait for its end, which is of that kind and told in a sentence that matches this."""
        ended = await self.end(task)
        assert isinstance(ended, kind), ended
        _, said = in_words(ended)
        assert re.fullmatch(told, said), said

    async def running(self, name: str = "pids") -> list[int]:
        path = self.folder / name
        await eventually(lambda: bool(processes(path)))
        return processes(path)

    def log(self, task: str = "t") -> str:
        path = self.folder / "logs" / f"task-{task}" / "1.1.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""


@asynccontextmanager
async def place(
    folder: Path,
    outputs: Sequence[str] = (),
    grace_s: float = 5.0,
    limits: NodeLimits = NODE_LIMITS,
    store: bool = False,
    spare: bool = False,
) -> AsyncIterator[Place]:
    install(folder / "programs", outputs=outputs)
    for name in ("scratch", "logs"):
        (folder / name).mkdir()
    programs = Programs(folder / "programs", reader())
    programs.look()
    told: list[Event] = []
    kept = FolderStore(folder / "store")
    children = Children(
        programs,
        folder / "scratch",
        folder / "logs",
        told.append,
        grace_s=grace_s,
        limits=limits,
        store=kept if store else None,
        spare=spare,
    )
    try:
        yield Place(folder, children, kept, told)
    finally:
        await children.close()
    assert list((folder / "scratch").iterdir()) == []
