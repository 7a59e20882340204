"""Runs a program by hand, as a node would: the same limits, words, environment and end.

No agent is needed and none is told. What a node would keep as datasets lies in a folder afterwards.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent.execution.children import Children
from agent.execution.confinement.rule import OWN_WORK, Confinement
from agent.execution.limits import node_limits
from agent.execution.machine import capabilities
from agent.execution.programs import ProgramError, Programs
from agent.node.programs import ProgramReader
from agent.paths import Home
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
from agent.protocol.records import Dataset, DatasetId, TaskSpec
from agent.wording.speech import english

TASK, NODE = "trial", "here"
RUN = (1, 1, NODE, 1)


class TrialError(Exception):
    """One sentence: why the program cannot be run here at all."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What to give to a program: ``-p``, ``-i``, ``-x``, and a state that it has saved before."""

    folder: Path
    results: Path
    raw: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    parameters: str = ""
    checkpoint: Path | None = None


@dataclass(slots=True)
class Tried:
    """What became of a program that was tried."""

    program: str = ""
    verdict: str = ""
    succeeded: bool = False
    outputs: list[str] = field(default_factory=list)
    """Paths of what it left, or identifiers."""
    log: str = ""


class _Results:
    """The store of a trial: a folder that the caller sees."""

    def __init__(self, folder: Path, checkpoint: Path | None) -> None:
        self._folder, self._checkpoint = folder, checkpoint
        self.paths: dict[DatasetId, Path] = {}

    async def lay(self, dataset: DatasetId, into: Path) -> Path:
        """Copy the saved state, which is all that a trial ever lays, into a folder, and return
        where."""
        del dataset  # only a saved state is ever laid
        assert self._checkpoint is not None
        path = into / self._checkpoint.name
        copy = shutil.copytree if await asyncio.to_thread(self._checkpoint.is_dir) else shutil.copy2
        await asyncio.to_thread(copy, self._checkpoint, path)
        return path

    async def keep(self, path: Path, name: str) -> Dataset:
        return await asyncio.to_thread(self._keep, path, name)

    def free_bytes(self) -> int:
        return shutil.disk_usage(self._folder).free

    def _keep(self, path: Path, name: str) -> Dataset:
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = self._folder / name
        if kept.is_dir():
            shutil.rmtree(kept)
        shutil.move(path, kept)
        dataset = _named(name)
        self.paths[dataset] = kept
        return Dataset(dataset, kept.stat().st_size)


async def try_program(trial: Trial, tell: Callable[[str], None]) -> Tried:
    """Run a program to its end as a node would, and return its verdict, outputs and log; a program
    that fails is a result. ``tell`` is called with each step in words. Outputs go to
    ``trial.results``, in the place of what has their names there. Raises ``TrialError`` where it
    cannot be tried."""
    try:
        with tempfile.TemporaryDirectory(prefix="wingbeat-trial-") as place:
            return await _try(trial, tell, Path(place))
    except ProgramError as error:
        raise TrialError(str(error)) from error
    except OSError as error:
        raise TrialError(f"it could not be tried: {error}") from error


async def _try(trial: Trial, tell: Callable[[str], None], place: Path) -> Tried:
    machine = capabilities((), place)
    programs = Programs(place / "programs", ProgramReader(machine))
    folder = await asyncio.to_thread(trial.folder.resolve)
    tried = Tried(ProgramReader(machine)(folder).name)
    program = programs.add(tried.program, folder)
    if program.unfit:
        raise ProgramError(f"{tried.program} does not run on this machine: {program.unfit}")
    ended: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
    results = _Results(trial.results, trial.checkpoint)

    def told(event: Event) -> None:
        if isinstance(event, ChildSucceeded | ChildFailed | ChildNotStarted | ChildStopped):
            ended.set_result(event)
        else:
            tell(_in_words(event))

    scratch = place / "scratch"
    scratch.mkdir()
    limits = node_limits(machine.memory_mb, 1)
    given = [_whole(each) for each in (*trial.raw, *trial.inputs)]
    children = Children(
        programs,
        scratch,
        place / "log",
        told,
        store=results,
        limits=limits,
        confinement=Confinement(OWN_WORK, kept=Home.of().folders, reads=given, place=scratch),
    )
    try:
        children.start(_order(trial, tried.program))
        _judge(tried, await ended, results)
    finally:
        await children.close()
        with suppress(OSError):
            path = next((place / "log").rglob("*.log"), None)
            tried.log = path.read_text("utf-8", "replace") if path is not None else ""
    return tried


def _order(trial: Trial, program: str) -> StartChild:
    raw = tuple(Dataset(word, external=True) for word in map(_whole, trial.raw))
    inputs = tuple(each.dataset for each in raw) + tuple(map(_whole, trial.inputs))
    spec = TaskSpec(TASK, TASK, program, raw=raw, parameters=trial.parameters)
    checkpoint = "" if trial.checkpoint is None else _named(trial.checkpoint.name)
    return StartChild(TASK, RUN, spec, inputs, checkpoint, TASK)


def _whole(word: str) -> str:
    """A program works in a folder of its own, so the path of a file has to be whole."""
    path = Path(word)
    return str(path.absolute()) if path.exists() else word


def _named(name: str) -> DatasetId:
    """What a store would call something; here by its name, which is enough for one trial."""
    return f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def _judge(tried: Tried, event: Event, results: _Results) -> None:
    match event:
        case ChildSucceeded():
            tried.succeeded, tried.verdict = True, "succeeded"
            tried.outputs = [
                str(results.paths.get(each.dataset, each.dataset)) for each in event.outputs
            ]
        case ChildFailed():
            tried.verdict = f"failed: {english(event.why)}"
        case ChildNotStarted():
            tried.verdict = f"this machine cannot run it now: {english(event.why)}"
        case _:
            tried.verdict = "was stopped"


def _in_words(event: Event) -> str:
    match event:
        case ChildStarted():
            return "started"
        case ChildProgressed():
            return f"progress: {event.permille / 10:.1f} %, {event.left_ms / 1000:.1f} s left"
        case ChildCheckpointed():
            return "saved its state"
        case _:
            return type(event).__name__
