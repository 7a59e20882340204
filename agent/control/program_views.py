"""Programs as clients see them: as described here, or by another machine that has them."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from agent.api.programs import Decision, ProgramView
from agent.api.rpc import ErrorCode
from agent.control.flock_programs import ProgramAnswers
from agent.control.machines import seen
from agent.control.port import Snapshot
from agent.control.refusal import RefusedError
from agent.control.rooms import ProgramRoom
from agent.control.views import dataset_view
from agent.protocol.records import Dataset
from agent.protocol.table import Table
from agent.workflow.faults import FaultsError
from agent.workflow.program_description import ProgramDescription
from agent.workflow.program_folder import read_program

FOLDERS_MAX = 1_000
Published = dict[str, tuple[Dataset, str]]
Described = dict[str, ProgramDescription]


def descriptions(folder: Path) -> tuple[Described, list[tuple[str, str]]]:
    """Read the programs in the first ``FOLDERS_MAX`` folders of this one; return them by their
    names, of two of one name the first, and the folders that are none with what is wrong. Both are
    empty where the folder cannot be read."""
    found: Described = {}
    broken: list[tuple[str, str]] = []
    try:
        folders = sorted(each for each in folder.iterdir() if each.is_dir())[:FOLDERS_MAX]
    except OSError:
        return found, broken
    for each in folders:
        try:
            described = read_program(each)
        except FaultsError as error:
            broken.append((each.name, str(error)))
        else:
            found.setdefault(described.name, described)
    return found, broken


def program_views(
    now: Snapshot, room: ProgramRoom, described: Described, told: ProgramAnswers
) -> tuple[ProgramView, ...]:
    """Return all programs that some machine can run or unfinished work brings along, in the order
    of names."""
    holders: dict[str, list[str]] = {}
    for machine in seen(now):
        for name in machine.capabilities.programs:
            holders.setdefault(name, []).append(machine.name)
    published = published_programs(now.table)
    for name in published:
        holders.setdefault(name, [])
    return tuple(
        _view(room, name, nodes, described.get(name), published.get(name), told)
        for name, nodes in sorted(holders.items())
    )


def published_programs(table: Table) -> Published:
    """Return the programs that unfinished work brings along, each with its dataset and who
    submitted it."""
    found = Published()
    for task, folder, submitter in table.bringing():
        found.setdefault(task.program, (folder, submitter))
    return found


def find_published(table: Table, room: ProgramRoom, reference: str) -> str:
    """Return the one published program whose name begins so; the reference itself where none does,
    as those who decide know more. Raises ``RefusedError`` where several do."""
    known = [
        *published_programs(table),
        *(each.program for each in room.waiting()),
    ]
    found = sorted({name for name in known if name.startswith(reference)})
    if reference in found or not found:
        return reference
    if len(found) > 1:
        sentence = f'"{reference}" may mean the programs {", ".join(found[:4])}: write more of it'
        raise RefusedError(ErrorCode.AMBIGUOUS, sentence)
    return found[0]


def _view(
    room: ProgramRoom,
    name: str,
    nodes: list[str],
    described: ProgramDescription | None,
    published: tuple[Dataset, str] | None,
    told: ProgramAnswers,
) -> ProgramView:
    here: Decision | None = "installed" if described is not None else None
    if published is not None or "@" in name:
        here = room.decision(name)
    elsewhere = told.views.get(name)
    if described is None and elsewhere is not None:
        return structs.replace(elsewhere, nodes=tuple(nodes), here=here)
    if described is None:
        dataset, publisher = published or (None, "")
        folder = None if dataset is None else dataset_view(dataset)
        return ProgramView(name, tuple(nodes), here, published=folder, publisher=publisher)
    return ProgramView(
        name,
        tuple(nodes),
        here,
        described.docs,
        tuple(each.name for each in described.inputs),
        described.outputs,
        described.expected_ms / 1000,
    )
