"""What the owner of this machine has decided about the programs of others, and what is still asked.

Decisions are kept by the content of a program: ``count@1f0c…`` is the same one for ever. A leave that was
given once lasts until its workflow has ended; one given to a machine is given once to each workflow that is
submitted there. Asked is once for each workflow, for its programs of which nothing is decided, as long as a
task of it needs them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from agent.api.permissions import AskedProgram, PermissionAsked
from agent.api.programs import Decision, bare_name, published_name
from agent.api.values import Dataset as DatasetView
from agent.protocol.records import DatasetId, NodeId, TaskSpec, Workflow, WorkflowId, WorkflowSpec
from agent.protocol.table import Table

FILE_BYTES_MAX = 16 * 1024 * 1024

log = logging.getLogger(__name__)


class NotAcceptedError(Exception):
    """The owner of this machine has not accepted a program, or not any more."""


class Decisions(msgspec.Struct):
    """What was decided here, by the program's name; ``own`` were published here.

    ``machines``: what is submitted there is allowed, with the names that they had. ``last``: by the
    name that its author gave, the version that was allowed last.
    """

    own: dict[str, DatasetId] = {}
    accepted: dict[str, DatasetId] = {}
    refused: dict[str, DatasetId] = {}
    once: dict[WorkflowId, dict[str, DatasetId]] = {}
    machines: dict[NodeId, str] = {}
    last: dict[str, DatasetId] = {}

    def allowed(self) -> dict[str, DatasetId]:
        """Return the folders of all programs that may run here now, by name: published or accepted
        here, or allowed for a workflow."""
        found = self.own | self.accepted
        for programs in self.once.values():
            found |= programs
        return found

    def allow(self, programs: dict[str, DatasetId], workflow: WorkflowId | None) -> None:
        """Let these programs run, refused before or not: until the workflow has ended, or for good
        without one. Nothing is written."""
        for name in programs:
            self.refused.pop(name, None)
        self.last |= {bare_name(name): dataset for name, dataset in programs.items()}
        if workflow is None:
            self.accepted |= programs
        else:
            self.once[workflow] = self.once.get(workflow, {}) | programs

    def refuse(self, name: str, dataset: DatasetId) -> None:
        """Let this program run never."""
        for allowed in (self.own, self.accepted, *self.once.values()):
            allowed.pop(name, None)
        self.refused[name] = dataset

    def forget(self, name: str) -> None:
        """Drop all that was decided about this program, also that it was the last version; do
        nothing for an unknown one. Nothing is written."""
        dataset = (self.allowed() | self.refused).get(name)
        for each in (self.own, self.accepted, self.refused, *self.once.values()):
            each.pop(name, None)
        if self.last.get(bare_name(name)) == dataset:
            self.last.pop(bare_name(name), None)

    def end(self, table: Table) -> bool:
        """Drop what was allowed for workflows that have ended or left the table; tell whether
        anything was. Nothing is written."""
        over = [workflow for workflow in self.once if not table.unfinished.get(workflow)]
        for workflow in over:
            del self.once[workflow]
        return bool(over)


def read_decisions(file: Path) -> Decisions:
    """Return the owner's earlier decisions from their file; none where the file is missing or
    cannot be read, which is logged."""
    try:
        return _read(file.read_bytes()[:FILE_BYTES_MAX])
    except FileNotFoundError:
        log.debug("nothing was decided about published programs yet")
    except (msgspec.MsgspecError, OSError) as error:
        log.warning("%s cannot be read (%s): programs are asked about again", file, error)
    return Decisions()


_read = msgspec.json.Decoder(Decisions).decode


def is_name_of(name: str, dataset: DatasetId) -> bool:
    """Tell whether a published program of this folder is called so: nobody can give something else
    under an allowed name."""
    program, at, _ = name.rpartition("@")
    return bool(at) and dataset.startswith("tree:") and name == published_name(program, dataset)


def brought(table: Table) -> Iterator[tuple[Workflow, TaskSpec, DatasetId]]:
    """Yield, for each unfinished task that brings its program along, its workflow, the task and the
    program's dataset; not where the program's name is not made of its content."""
    for workflow, tasks in table.unfinished.items():
        for task in tasks:
            spec = table.specs[task]
            folder = spec.published
            if folder is not None and is_name_of(spec.program, folder.dataset):
                yield table.workflows[workflow], spec, folder.dataset


def questions(
    table: Table,
    decisions: Decisions,
    decision: Callable[[str], Decision],
    home_of: Callable[[WorkflowSpec], NodeId],
) -> list[PermissionAsked]:
    """Return what is asked of the owner, a question for each workflow that brings programs about
    which ``decision`` is "waiting", the oldest first; ``home_of`` tells which machine it is of,
    names of machines are left out."""
    found: dict[WorkflowId, tuple[Workflow, dict[str, AskedProgram]]] = {}
    for workflow, spec, dataset in brought(table):
        if decision(spec.program) != "waiting":
            continue
        _, programs = found.setdefault(workflow.spec.workflow, (workflow, {}))
        size = spec.published.size_bytes if spec.published is not None else 0
        before = decisions.last.get(bare_name(spec.program), "")
        programs.setdefault(
            spec.program, AskedProgram(spec.program, DatasetView(dataset, size), before)
        )
    asked = [_question(each.spec, home_of(each.spec), brings) for each, brings in found.values()]
    return sorted(asked, key=lambda each: (each.submitted_ms, each.workflow))


def _question(
    spec: WorkflowSpec, home: NodeId, programs: dict[str, AskedProgram]
) -> PermissionAsked:
    return PermissionAsked(
        *(spec.workflow, spec.name, spec.submitter, "", home, spec.submitted[0]),
        tuple(programs.values()),
    )
