"""Reads the program in a folder, in whichever format it is described."""

from __future__ import annotations

from pathlib import Path

from agent.protocol.phrases import Phrase, said
from agent.workflow.faults import WHOLE_FILE, Faults, FaultsError
from agent.workflow.program_description import PROGRAM_XML, PROGRAM_YAML, ProgramDescription

OTHER_NAMES = ("program.yml", "program.json", "Program.yaml", "program.toml")


def read_program(folder: Path) -> ProgramDescription:
    """Return the description of the program in a folder, from ``program.yaml`` or ``program.xml``.
    Raises ``FaultsError`` with all that is wrong at once, also where there is neither or both."""
    from agent.workflow.program_xml import read_program_xml
    from agent.workflow.program_yaml import read_program_yaml

    path = description_file(folder)
    faults = Faults(str(path))
    read = read_program_yaml if path.name == PROGRAM_YAML else read_program_xml
    described = read(path, faults)
    if faults or described is None:
        raise FaultsError(faults.listing())
    return described


def description_file(folder: Path) -> Path:
    """Return the path of ``program.yaml`` or ``program.xml`` in a folder, not read yet. Raises
    ``FaultsError`` where there is neither or both, or no such folder."""
    wanted, older = folder / PROGRAM_YAML, folder / PROGRAM_XML
    if wanted.is_file() and older.is_file():
        raise _one_fault(
            older, said("{name} is beside it: remove the one that does not hold", name=PROGRAM_YAML)
        )
    if older.is_file():
        return older
    if not wanted.is_file():
        raise _one_fault(wanted, _why_missing(folder))
    return wanted


def _why_missing(folder: Path) -> Phrase:
    if not folder.is_dir():
        return said("there is no such folder")
    for name in OTHER_NAMES:
        if (folder / name).is_file():
            return said(
                "is not there, but {name} is: describe the program in {right}",
                name=name,
                right=PROGRAM_YAML,
            )
    return said(
        "is not there: it describes the program (`{how}` writes one)", how="wingbeat program new"
    )


def _one_fault(path: Path, wrong: Phrase) -> FaultsError:
    faults = Faults(str(path))
    faults.add(WHOLE_FILE, wrong)
    return FaultsError(faults.listing())
