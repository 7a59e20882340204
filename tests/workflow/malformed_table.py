"""The tables of malformed files: ``malformed/*.txt``, and the folder they lie in.

A case is a line ``=== title``, the file, a line ``>>>``, and the sentences that answer it. Titles
that end in ``(xml)`` are files in that language; those of ``programs.txt`` describe programs. Run
as a program it writes the answers anew.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.workflow.faults import Fault, FaultsError
from agent.workflow.model import KnownProgram
from agent.workflow.program_folder import read_program
from agent.workflow.reading import Asked
from agent.workflow.xml_workflow import read_xml_text
from tests.workflow.whole import read_workflow_file

TABLES = tuple(
    Path(__file__).parent / "malformed" / f"{of}.txt" for of in ("workflows", "programs")
)
BEGIN, MIDDLE = "=== ", ">>>\n"
PROGRAMS = {
    "import": KnownProgram(),
    "georeferencing": KnownProgram(("points.las",), 30.0),
    "segmentation": KnownProgram(("points", "report")),
    "merge": KnownProgram(("all.las",)),
}


@dataclass(frozen=True)
class Case:
    """One file that is wrong, and what is said of it."""

    title: str
    text: str
    sentences: tuple[str, ...]
    program: bool

    @property
    def file(self) -> str:
        xml = self.title.endswith("(xml)")
        if self.program:
            return "program/program.xml" if xml else "program/program.yaml"
        return "line42.xml" if xml else "line42.wingbeat.yaml"


def cases() -> list[Case]:
    return [case for table in TABLES for case in _cases(table)]


def _cases(table: Path) -> list[Case]:
    found = []
    for part in ("\n" + table.read_text("utf-8")).split("\n" + BEGIN)[1:]:
        title, _, rest = part.partition("\n")
        text, _, told = ("\n" + rest + "\n").partition("\n" + MIDDLE)
        said = tuple(filter(None, told.split("\n")))
        found.append(Case(title, text[1:] + "\n" if text else "", said, table == TABLES[1]))
    return found


def furnish(folder: Path) -> None:
    """What lies beside the file."""
    (folder / "program").mkdir()
    (folder / "scans").mkdir()
    for name in ("scan.las", "scans/a.las", "scans/b.las"):
        (folder / name).write_text("points")
    (folder / "empty").mkdir()
    (folder / "inner").mkdir()
    (folder / "dangling.las").symlink_to(folder / "nothing.las")
    (folder / "inner" / "out.las").symlink_to(folder / "scan.las")
    (folder / "count.sh").write_text("#!/bin/sh\nwc -l\n")
    (folder / "blank.sh").write_text("\n  \n")
    (folder / "head.sh").write_text("#!/bin/sh\n\n")
    (folder / "mill").mkdir()
    (folder / "mill" / "program.yaml").write_text('command: ["{python}", mill.py, sizes.txt]\n')
    (folder / "mill" / "mill.py").touch()
    (folder / "dos.sh").write_bytes(b"#!/bin/sh\r\nwc -l\r\n")
    (folder / "bare.sh").write_bytes(b"wc -l\r\n")
    (folder / "mixed.SH").write_bytes(b"wc -l\nwc -l\r\n")
    (folder / "dos").write_bytes(b"#!/usr/bin/awk -f\r\nEND { print NR }\r\n")
    (folder / "lines.txt").write_text("one\ntwo\n")
    (folder / "params.xml").write_text("<parameters/>")
    (folder / "bad.xml").write_text("<parameters>\n  <band>\n</parameters>")
    (folder / "Add.js").write_text("function weevil_main(a, b) { return a + b; }\n")
    (folder / "NoMain.js").write_text("function main(a, b) { return a + b; }\n")


def shortened(sentence: str, folder: Path) -> str:
    """Names of files as seen from that folder, which is called FOLDER itself."""
    return sentence.replace(f"{folder}{os.sep}", "").replace(str(folder), "FOLDER")


def answer(case: Case, folder: Path) -> list[str]:
    """What is said of a file in that folder."""
    return [shortened(fault.sentence(), folder) for fault in faults_of(case, folder)]


def faults_of(case: Case, folder: Path) -> tuple[Fault, ...]:
    """What is wrong with a file in that folder."""
    path, data = folder / case.file, case.text.encode()
    try:
        if case.program:
            path.write_bytes(data)
            read_program(path.parent)
        elif path.suffix == ".xml":
            read_xml_text(data, path)
        else:
            read_workflow_file(path, Asked({}, PROGRAMS), data)
    except FaultsError as error:
        return error.faults
    finally:
        if case.program:
            path.unlink()
    return ()


def written_anew(table: Path, folder: Path) -> str:
    """Return a table with the answers of today; what is answered by nothing is no longer in it."""
    return "".join(
        f"{BEGIN}{case.title}\n{case.text}{MIDDLE}" + "".join(f"{each}\n" for each in said)
        for case in _cases(table)
        if (said := answer(case, folder))
    )


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        furnish(Path(made))
        for table in TABLES:
            table.write_text(written_anew(table, Path(made)), "utf-8")
