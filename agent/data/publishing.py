"""Programs that come with the work: published by a member, taken or not by the owner of a machine.

A published program is a folder in the store of datasets, and its name ends with the beginning of the
hash of that folder: ``count@1f0c…`` is the same program on every machine, for ever. It runs from a
folder of its own, laid out read-only from the store, so a workflow brings its programs along as it
brings its data.

Somebody else's program on one's own machine is the owner's business: the setting ``published_programs``
is ``always``, ``never``, or ``ask``, and then each workflow that brings some waits here until it was
answered once for all of them (``leave``). What was published on this very node is always taken here, as
soon as the work is accepted that it was published for. Decisions are kept over restarts.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from agent.api.errors import ServiceError
from agent.api.permissions import (
    AskedProgram,
    OwnerAnswer,
    PermissionAsked,
    Script,
)
from agent.api.programs import Decision, bare_name, published_name
from agent.api.session import ProgramWaiting
from agent.data.leave import Decisions, NotAcceptedError, brought, questions, read_decisions
from agent.data.node_datasets import NodeDatasets
from agent.data.published_folders import PublishedFolders
from agent.data.scripts import program_files
from agent.data.shared import in_thread
from agent.execution.folder_size import folder_bytes
from agent.execution.grants import Grants
from agent.execution.machine import look_at_extras
from agent.execution.program_content import contents
from agent.execution.programs import Program, ProgramError, Programs, Reader
from agent.host.deleting import delete_tree
from agent.host.private_files import write_whole
from agent.protocol.effects import (
    TaskMoved,
)
from agent.protocol.records import (
    ENDED,
    Dataset,
    DatasetId,
    NodeId,
    TaskSpec,
    WorkflowId,
    WorkflowSpec,
)
from agent.protocol.table import Table
from agent.settings.node_settings import TAKES

ALWAYS, ASK, NEVER = TAKES
LOOK_S = 0.2
REMIND_S = 60.0
HANDED_IN_MAX = 256
REFUSALS_TOLD_MAX = 50

log = logging.getLogger(__name__)


class PublishedPrograms:
    """Which published programs run here, in the loop, from ``load`` on."""

    def __init__(
        self,
        data: Path,
        mode: str,
        datasets: NodeDatasets,
        programs: Programs,
        read: Reader,
        changed: Callable[[], None],
        grants: Grants,
    ) -> None:
        self._file = data / "published.json"
        self._folders = PublishedFolders(data / "published", datasets, programs, read)
        self.mode, self._datasets, self._programs = mode, datasets, programs
        self._read, self._changed, self._grants = read, changed, grants
        self._decisions, self._deciding = Decisions(), asyncio.Lock()
        self._table: Table
        self._home_of: Callable[[WorkflowSpec], NodeId]
        self._handed_in: dict[str, DatasetId] = {}
        """Published with work that is not accepted yet."""
        self.refusals: tuple[str, ...] = ()
        """What unfinished work brings and the owner never lets run, as far as the flock is told."""
        self._announced: dict[WorkflowId, float] = {}
        """Of which workflows it was told that they ask, and when."""
        self._trusting: dict[WorkflowId, None] = {}
        """What is being allowed because its machine is trusted."""
        self._background: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.offered: Callable[[ProgramWaiting], object] = id  # nobody wants to know
        datasets.kept_besides = self._kept

    def load(self) -> None:
        """Read what was decided about published programs, and lay out and add those that are
        accepted; waits for the disk. Decisions that cannot be read are asked for again, a program
        that cannot be prepared is tried again when it is to run; either is only logged."""
        self._decisions = read_decisions(self._file)
        for name, dataset in self._decisions.allowed().items():
            try:
                self._folders.prepare(name, dataset)
            except (OSError, ProgramError) as error:
                log.info("the published program %s is not ready: %s", name, error)

    def begin(self, table: Table, home_of: Callable[[WorkflowSpec], NodeId]) -> None:
        """Take the table of the node, which runs now, and which machine a workflow is of, and
        announce in a moment the published programs that wait for a decision; ``moved`` has it done
        again as work comes."""
        self._table, self._home_of = table, home_of
        self._look_soon()

    def moved(self, moved: TaskMoved) -> None:
        """Notice that a task moved: where it is new, look soon for programs to ask the owner for;
        where it has ended, for permissions that are over by that."""
        came = moved.before is None and self.mode != NEVER
        if came or (self._decisions.once and moved.after in ENDED):
            self._look_soon()

    # -- what is asked ---------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The folder of the programs that are installed here."""
        return self._programs.folder

    @property
    def takes(self) -> bool:
        """Whether this node takes any program that comes."""
        return self.mode == ALWAYS

    async def contents(self, names: Iterable[str]) -> dict[str, str]:
        """Return digests of what programs here are, by name; of none that cannot be read."""
        return await asyncio.to_thread(contents, self._programs, names)

    async def look_for(self, tags: Iterable[str]) -> None:
        """Find out whether the extras that these tags stand for are here, and tell the flock."""
        if await asyncio.to_thread(look_at_extras, tags):
            self._changed()

    async def publish(self, folder: Path, *, with_work: bool = False) -> tuple[str, Dataset]:
        """Keep the program in a folder of this machine as a dataset, accept it here, and return its
        published name and dataset. ``with_work``: it is neither accepted nor told to anybody before
        ``confirm``. Raise ``ServiceError`` when it is no program or cannot be kept, ``OSError``
        when it cannot be written that it is accepted: it is kept then and does not run."""
        try:
            program = await asyncio.to_thread(self._read, folder)
            dataset = await self._datasets.add(folder, program.name)
            name = published_name(program.name, dataset.dataset)
            if with_work:
                self._hand_in(name, dataset.dataset)
                return name, dataset
            await asyncio.to_thread(self._folders.prepare, name, dataset.dataset)
        except (ProgramError, OSError) as error:
            raise ServiceError(f"{folder} cannot be published: {error}") from error
        await self._allow(
            {name: dataset.dataset}, lambda held: held.own.update({name: dataset.dataset})
        )
        return name, dataset

    async def confirm(self, names: Iterable[str]) -> None:
        """Let programs that were handed in with work run here, as that was accepted; the names of
        others are left alone. Raise ``ServiceError`` for one that cannot be placed, ``OSError``
        when it cannot be written that they are this machine's own; they stay handed in then."""
        found = {name: self._handed_in[name] for name in names if name in self._handed_in}
        await self._place_all(found)
        if found:
            await self._allow(found, lambda held: held.own.update(found))
        for name in found:
            self._handed_in.pop(name, None)

    def questions(self) -> list[PermissionAsked]:
        """Return the questions for the owner, the oldest first, without names of machines; empty
        where no published programs are taken. Where all are taken, only programs are asked for that
        want more than others have."""
        if self.mode == NEVER:
            return []
        found = questions(self._table, self._decisions, self.decision, self._home_of)
        return [
            structs.replace(each, programs=tuple(map(self._with_wants, each.programs)))
            for each in found
        ]

    def _with_wants(self, asked: AskedProgram) -> AskedProgram:
        """What it asks for is known once it is here."""
        program = self._programs.get(asked.program) or self._folders.seen.get(asked.program)
        return (
            asked if program is None else structs.replace(asked, wants=self._grants.asked(program))
        )

    def waiting(self) -> list[ProgramWaiting]:
        """Return the programs that wait for the owner's answer, each once, with the first workflow
        that brought it and its submitter."""
        found: dict[str, ProgramWaiting] = {}
        for asked in self.questions():
            for each in asked.programs:
                told = ProgramWaiting(each.program, asked.submitter, asked.workflow, asked.name)
                found.setdefault(each.program, told)
        return list(found.values())

    def decision(self, name: str) -> Decision:
        """Return what holds for a published program of this name here, known or not: ``accepted``,
        ``refused`` or, where the owner has to be asked, also for more than it was allowed,
        ``waiting``."""
        program = self._programs.get(name)
        if program is not None and self._grants.lacks_leave(program):
            return "refused" if name in self._decisions.refused else "waiting"
        if name in self._decisions.allowed():
            return "accepted"
        if name in self._decisions.refused or self.mode == NEVER:
            return "refused"
        return "accepted" if self.takes else "waiting"

    def _refused_now(self) -> tuple[str, ...]:
        if self.mode == NEVER:
            return ()  # that it takes none is said of all at once
        found = {spec.program: None for _, spec, _ in brought(self._table)}
        refused = (name for name in found if self.decision(name) == "refused")
        return tuple(islice(refused, REFUSALS_TOLD_MAX))

    # -- one question for each workflow ----------------------------------------------------

    @property
    def trusted(self) -> dict[NodeId, str]:
        """The machines of which all is allowed, with the names that they had then."""
        return dict(self._decisions.machines)

    async def permit(
        self, workflow: WorkflowId, answer: OwnerAnswer, name: str = "", *, trusting: bool = False
    ) -> None:
        """Answer the question about a workflow: fetch and place its programs and let them run with
        what they ask for, or let them never run. ``name`` is that of the machine that is trusted
        then. Raise ``ServiceError`` where nothing is asked, nobody can be trusted, a program cannot
        be had or asks for what nobody can allow, for more than others have where nobody was asked
        (``trusting``), ``OSError`` when the answer cannot be written: it is asked again then."""
        asked = self._question(workflow)
        programs = {each.program: each.folder.dataset for each in asked.programs}
        if answer == "never":
            for each in programs:
                await self.refuse(each)
            return
        if answer == "machine" and not asked.node:
            raise ServiceError(
                f"{asked.name} was submitted from another machine than the one that has it: allow it "
                f"once, or its programs."
            )
        found = await self._place_all(programs)
        lacking = [each.name for each in found if self._grants.lacks_leave(each)]
        if lacking and trusting:
            raise ServiceError(f"{', '.join(lacking)} asks for more than programs have.")
        await asyncio.to_thread(self._grants.grant, found)
        trusted = {asked.node: name} if answer == "machine" else {}

        def answered(held: Decisions) -> None:
            held.machines.update(trusted)
            held.allow(programs, None if answer == "programs" else workflow)

        await self._allow(programs, answered)

    async def distrust(self, node: NodeId) -> None:
        """Ask about what is submitted on this machine again; do nothing for one that is not
        trusted. Raise ``OSError`` when that cannot be written; it is trusted then as before."""
        if node in self._decisions.machines:
            await self._decide(lambda held: held.machines.pop(node, None))

    async def scripts(self, workflow: WorkflowId) -> tuple[PermissionAsked, tuple[Script, ...]]:
        """Return the question about a workflow and what ``program_files`` tells of each of its
        programs. Raise ``ServiceError`` where nothing is asked or a program cannot be had."""
        asked = self._question(workflow)
        await self._learn(asked)
        asked = self._question(workflow)
        try:
            found = [await program_files(self._datasets, each) for each in asked.programs]
        except OSError as error:
            raise ServiceError(f"the programs of {asked.name} cannot be read: {error}") from error
        return asked, tuple(script for each in found for script in each)

    async def _learn(self, asked: PermissionAsked) -> None:
        """Have what its programs ask for known; one that cannot be had or read stays unknown."""
        for each in asked.programs:
            try:
                await self._datasets.bring(each.folder.dataset)
                await asyncio.to_thread(self._folders.look, each.program, each.folder.dataset)
            except (OSError, ProgramError) as error:
                log.info("it is not known what %s asks for: %s", each.program, error)

    def remind(self, workflow: WorkflowId) -> bool:
        """Announce the question about a workflow's programs again, at most once a minute; tell
        whether there is such a question."""
        found = [each for each in self.waiting() if each.workflow == workflow]
        now_s = time.monotonic()
        if found and now_s - self._announced.get(workflow, -REMIND_S) >= REMIND_S:
            self._announced[workflow] = now_s
            self.offered(found[0])
        return bool(found)

    def _question(self, workflow: WorkflowId) -> PermissionAsked:
        for each in self.questions():
            if each.workflow == workflow:
                return each
        known = self._table.workflows.get(workflow)
        name = known.spec.name if known is not None else workflow
        raise ServiceError(f"Nobody asks for {name} here: see what is asked.")

    async def _place_all(self, programs: Mapping[str, DatasetId]) -> list[Program]:
        found = []
        for name, dataset in programs.items():
            try:
                await self._datasets.bring(dataset)
                found.append(await asyncio.to_thread(self._folders.prepare, name, dataset))
            except (OSError, ProgramError) as error:
                raise ServiceError(f"{name} cannot be taken: {error}") from error
        return found

    async def accept(self, name: str) -> None:
        """Fetch a published program and let it run here from now on, over restarts; raise
        ``ServiceError`` when it is unknown, cannot be fetched or is unusable, ``OSError`` when the
        decision cannot be written: it does not run then, unless it did before."""
        programs = {name: self._dataset_of(name)}
        found = await self._place_all(programs)
        await asyncio.to_thread(self._grants.grant, found)
        await self._allow(programs, lambda held: held.allow(programs, None))

    async def refuse(self, name: str) -> None:
        """Let a published program not run here from now on, over restarts, and delete its folder as far
        as that goes; what runs of it is not ended. Raise ``ServiceError`` when it is unknown, ``OSError``
        when the decision cannot be written, with nothing changed, or its leave not be taken back."""
        dataset = self._dataset_of(name)
        await self._decide(lambda held: held.refuse(name, dataset))
        self._programs.drop(name)
        self._changed()
        await asyncio.to_thread(delete_tree, self._folders.place(dataset))
        await asyncio.to_thread(self._grants.revoke, [name])

    async def forget(self, name: str, *, trial: bool) -> int:
        """Delete a published program here, its folder and the dataset that nobody else needs, with
        what was decided about it; return how many bytes that frees, in a trial would free. Raise
        ``ServiceError`` when nothing is decided about it here or unfinished work brings it,
        ``OSError`` when its leave cannot be taken back or that be written, and it can be asked for
        again, or when the dataset cannot be deleted."""
        decided = self._decisions.allowed() | self._decisions.refused
        if name not in decided:
            raise ServiceError(f"Nothing is decided here about a program {name}.")
        if any(name == spec.program for _, spec, _ in brought(self._table)):
            raise ServiceError(f"{name} is needed: unfinished work brings it.")
        dataset = decided[name]
        place, kept = self._folders.place(dataset), self._datasets.store.get(dataset)
        alone = kept is not None and not self._datasets.is_needed(dataset)
        frees = await asyncio.to_thread(folder_bytes, str(place))
        frees += kept.size_bytes if kept is not None and alone else 0
        if trial:
            return frees
        await asyncio.to_thread(self._grants.revoke, [name])
        await self._decide(lambda held: held.forget(name))
        self._programs.drop(name)
        self._changed()
        await asyncio.to_thread(delete_tree, place)
        if alone:
            await self._datasets.let_go([dataset], added=True)
        return frees

    # -- for the node ----------------------------------------------------------------------

    async def ready(self, spec: TaskSpec) -> None:
        """Have the program of a task laid out and added, if it came with the task, else do nothing.
        Raise ``ProgramError`` where no other attempt would do better, ``NotAcceptedError`` where
        its owner has not accepted it, and ``OSError`` where it is not here or cannot be placed."""
        if spec.published is None:
            return
        decided = self._decisions.allowed().get(spec.program)
        if decided not in (None, spec.published.dataset):  # two can be made that begin alike
            raise ProgramError(f"{spec.program} is not what was accepted here under that name")
        if self._programs.get(spec.program) is not None:
            return
        if self.decision(spec.program) != "accepted":
            raise NotAcceptedError("the owner of this machine has not accepted it")
        program = await asyncio.to_thread(
            self._folders.prepare, spec.program, spec.published.dataset
        )
        if self._grants.lacks_leave(program):
            self._changed()
            self._look_soon()
            raise NotAcceptedError("it asks for more than the owner of this machine has allowed it")

    # -- inside ----------------------------------------------------------------------------

    def _hand_in(self, name: str, dataset: DatasetId) -> None:
        """The oldest ones, of which nothing came, make room."""
        if name not in self._decisions.own:
            self._handed_in[name] = dataset
        while len(self._handed_in) > HANDED_IN_MAX:
            del self._handed_in[next(iter(self._handed_in))]

    def _look_soon(self) -> None:
        """Not for each task of a workflow."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        """Take back what was allowed once to work that has ended, allow what comes from machines
        that are trusted, and tell of the other questions, of each once."""
        self._timer = None
        if (refused := self._refused_now()) != self.refusals:
            self.refusals = refused
            self._changed()
        before = self._decisions.allowed()
        if self._decisions.end(self._table):
            over = before.keys() - self._decisions.allowed().keys()
            self._in_background(self._take_back({name: before[name] for name in over}))
        for asked in self.questions():
            if asked.node in self._decisions.machines:
                if asked.workflow not in self._trusting:
                    self._in_background(self._trust(asked))
            elif asked.workflow not in self._announced:
                self._announce(asked)

    async def _take_back(self, programs: Mapping[str, DatasetId]) -> None:
        """These may not run any more, and nothing of them does."""
        for name in programs:
            self._programs.drop(name)
        try:
            await asyncio.to_thread(self._grants.revoke, programs)
            await self._decide(lambda _: None)
        except OSError as error:  # what is read at the next start is taken back there
            log.warning("it cannot be written which programs do not run here any more: %s", error)
            self._changed()
        needed = {spec.program for _, spec, _ in brought(self._table)}
        for name, dataset in programs.items():
            if name not in needed:
                await asyncio.to_thread(delete_tree, self._folders.place(dataset))

    def _announce(self, asked: PermissionAsked) -> None:
        self._announced[asked.workflow] = time.monotonic()
        self._in_background(self._learn(asked))
        programs = ", ".join(bare_name(each.program) for each in asked.programs)
        log.info("%s of %s asks to be run here: %s", asked.name, asked.submitter, programs)
        first = asked.programs[0].program
        self.offered(ProgramWaiting(first, asked.submitter, asked.workflow, asked.name))

    async def _trust(self, asked: PermissionAsked) -> None:
        self._trusting[asked.workflow] = None
        try:
            await self.permit(asked.workflow, "once", trusting=True)
        except (ServiceError, OSError) as error:
            log.info("%s is asked for, though its machine is trusted: %s", asked.name, error)
            if asked.workflow not in self._announced:
                self._announce(asked)
        finally:
            del self._trusting[asked.workflow]

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _dataset_of(self, name: str) -> DatasetId:
        known = self._decisions.allowed() | self._decisions.refused
        if name in known:
            return known[name]
        for _, spec, dataset in brought(self._table):
            if spec.program == name:
                return dataset
        raise ServiceError(f"No published program is called {name}: see which there are.")

    def _kept(self) -> tuple[DatasetId, ...]:
        decided = self._decisions
        return (*decided.allowed().values(), *decided.last.values(), *self._handed_in.values())

    async def _allow(
        self, programs: Mapping[str, DatasetId], change: Callable[[Decisions], object]
    ) -> None:
        """Placed are these programs already: those that may not run are taken off again."""
        try:
            await self._decide(change)
        finally:
            for name in programs.keys() - self._decisions.allowed().keys():
                self._programs.drop(name)

    async def _decide(self, change: Callable[[Decisions], object]) -> None:
        """What cannot be written does not hold either. Many programs come with many files."""
        async with self._deciding:
            decided = copy.deepcopy(self._decisions)
            change(decided)
            content = msgspec.json.format(msgspec.json.encode(decided), indent=1)
            await in_thread(write_whole, self._file, content)
            change(self._decisions)  # what was allowed once may have ended meanwhile
        self._changed()
        self._look_soon()
