"""Programs that are published with a workflow: folders and scripts that lie beside its file.

A folder has its own description. A script gets one, from the word after its ``#!`` or from its
suffix; what it leaves as outputs is said in the workflow file, or by the script as it ends, or is
all that lies in its folder then.
"""

from __future__ import annotations

import json
from pathlib import Path

from agent.regular_files import open_regular
from agent.workflow.faults import FaultsError, Place
from agent.workflow.kinds import Word
from agent.workflow.local_files import LocalFiles
from agent.workflow.model import KnownProgram, LocalProgram
from agent.workflow.program_description import script_description
from agent.workflow.program_folder import read_program
from agent.workflow.program_yaml import wrong_name
from agent.workflow.records import Named, Values
from agent.workflow.tables import PROGRAM, PROGRAMS_MAX, TASK_NAME, TASK_NAME_WANTED, Later
from agent.workflow.variables import Scope, fill
from agent.workflow.yaml_nodes import Mapping, Node

SCRIPT_BYTES_MAX = 16 * 1024 * 1024
LOOKED_AT_BYTES = 64 * 1024
SHELL_SUFFIXES = (".sh", ".bash")
INTERPRETED_SUFFIXES = (".bat", ".cmd", ".js", ".pl", ".ps1", ".py", ".r", ".rb")
"""What runs these takes both kinds of line ends."""


class ProgramsBeside:
    """What ``programs:`` lists, and what of it is used."""

    def __init__(self, node: Node | None, scope: Scope, files: LocalFiles) -> None:
        self.local: dict[str, LocalProgram] = {}
        self.known: dict[str, KnownProgram] = {}
        self._files, self._faults = files, files.faults
        self._places: dict[str, Word] = {}
        names = Named(TASK_NAME, TASK_NAME_WANTED, Later(), PROGRAMS_MAX)
        found = (
            None
            if node is None
            else names.read(fill(node, scope, self._faults), "programs", self._faults)
        )
        for word, each in (found or {}).items():
            name = str(word)
            self._places[name] = word
            if reason := wrong_name(name):
                self._faults.add(word.place, reason)
            self._read(name, each)

    @property
    def names(self) -> list[str]:
        """All that are listed, wrong ones too."""
        return list(self._places)

    def report_unused(self, used: set[str]) -> None:
        """Add a fault for each listed program whose name is not in ``used``, as it would be
        published for nothing."""
        for name, word in self._places.items():
            if name not in used:
                self._faults.at(word.place).said(
                    "no task runs the program {name}: remove it", name=name
                )

    def _read(self, name: str, node: Node) -> None:
        if isinstance(node, Mapping):
            values = PROGRAM.read(node, name, self._faults) or Values(node.place)
        else:
            run = next(each.kind for each in PROGRAM.fields if each.name == "run")
            values = Values(node.place, {"run": run.read(node, name, self._faults)})
        path = None if values.get("run") is None else self._files.one(values.get("run"))
        if path is None:
            return
        if path.is_dir():
            self._folder(name, path, values)
        else:
            self._script(name, path, values)

    def _folder(self, name: str, path: Path, values: Values) -> None:
        try:
            described = read_program(path)
        except FaultsError as error:
            for fault in error.faults:
                self._faults.take(fault)
            return
        for key in ("outputs", "expected", "once"):
            if key in values:
                self._faults.at(values.place_of(key)).said(
                    "the folder's own description says the {name}: remove it here", name=key
                )
        files = (path / word for word in described.command)
        executed = next((each for each in files if each.is_file()), None)
        if executed is not None and _is_empty(executed):
            self._tell_empty(values.place, executed)
        self.local[name] = LocalProgram(name, path)
        self.known[name] = KnownProgram.of(described)

    def _tell_empty(self, place: Place, path: Path) -> None:
        self._faults.at(place).said("{name} is empty: write what it is to do", name=path.name)

    def _script(self, name: str, path: Path, values: Values) -> None:
        told = values.get("outputs")
        outputs = None if told is None else tuple(str(each) for each in told)
        size = path.stat().st_size
        if size > SCRIPT_BYTES_MAX:
            limit = SCRIPT_BYTES_MAX // 1024 // 1024
            self._faults.at(values.place).said(
                "a script has at most {most} MB: make it a folder", most=limit
            )
            return
        if _is_empty(path):
            self._tell_empty(values.place, path)
            return
        if _has_windows_line_ends(path):
            self._faults.at(values.place).said(
                "{name} has the line ends of Windows, which the shells of other systems cannot read: "
                "save it with those of Unix",
                name=path.name,
            )
            return
        expected_s = float(values.get("expected", 0.0))
        text = describe_script(name, path, outputs)
        self.local[name] = LocalProgram(name, path, text)
        self.known[name] = KnownProgram(outputs, expected_s, once=values.get("once", False))


def _begins(path: Path) -> tuple[bytes, bytes]:
    """The first line of a script, and what follows on it; ``?`` where it cannot be read."""
    try:
        with open_regular(path) as file:
            first, _, rest = file.read(LOOKED_AT_BYTES).partition(b"\n")
    except OSError:
        return b"?", b""  # told when it is read to be sent
    return first, rest


def _is_empty(path: Path) -> bool:
    """Tell whether there is nothing in a file but blanks, and who would run it."""
    first, rest = _begins(path)
    said = b"" if first.startswith(b"#!") else first
    return path.stat().st_size <= LOOKED_AT_BYTES and not (said + rest).strip()


def _has_windows_line_ends(path: Path) -> bool:
    """Tell whether a script has them that a shell of Unix is to run, or that names who runs it in
    its first line."""
    first, rest = _begins(path)
    if first.startswith(b"#!") and first.endswith(b"\r"):
        return path.suffix.lower() not in INTERPRETED_SUFFIXES
    return path.suffix.lower() in SHELL_SUFFIXES and (first.endswith(b"\r") or b"\r\n" in rest)


def describe_script(name: str, path: Path, outputs: tuple[str, ...] | None) -> str:
    """Return the text of the description that is published with a script: its name, the command for
    its ending, and the outputs where its author said which; empty ones say that there are none,
    None says nothing. The script is not opened."""
    text = script_description(name, path.name)
    if outputs is not None:
        text += f"outputs: {json.dumps(list(outputs), ensure_ascii=False)}\n"
    return text
