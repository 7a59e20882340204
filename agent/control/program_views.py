"""Programs as clients see them: what is installed here as described, elsewhere by its name."""

from __future__ import annotations

from pathlib import Path

from agent.api.programs import ProgramView
from agent.control.surface import Surface
from agent.workflow.faults import FaultsError
from agent.workflow.program_description import ProgramDescription, read_program

FOLDERS_MAX = 1_000
Described = dict[str, ProgramDescription]


def descriptions(folder: Path) -> tuple[Described, list[tuple[str, str]]]:
    """The programs in a folder by name, and folders that are none with what is wrong."""
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


def program_views(surface: Surface, described: Described) -> tuple[ProgramView, ...]:
    """All that some machine can run, in the order of names."""
    facts = surface.facts()
    holders: dict[str, list[str]] = {name: [facts.name] for name in facts.programs}
    for peer in facts.peers:
        for name in peer.capabilities.programs:
            holders.setdefault(name, []).append(peer.name)
    return tuple(
        _view(name, nodes, described.get(name), here=name in facts.programs)
        for name, nodes in sorted(holders.items())
    )


def _view(
    name: str, nodes: list[str], described: ProgramDescription | None, *, here: bool
) -> ProgramView:
    if described is None:
        return ProgramView(name, tuple(nodes), "installed" if here else None)
    return ProgramView(
        name,
        tuple(nodes),
        "installed" if here else None,
        described.docs,
        tuple(each.name for each in described.inputs),
        described.outputs,
        described.expected_ms / 1000,
    )
