"""`wingbeat program new`: a folder with a description, a script that works, and its helper."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import Struct

from agent.client import Home
from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.parsing import command_parser
from agent.commands.program.check import tell_faults
from agent.commands.showing import show_json, show_lines, show_verbatim
from agent.workflow.faults import FaultsError
from agent.workflow.program_scaffold import write_program


class Written(Struct, frozen=True):
    """What `program new --json` answers."""

    folder: str
    files: tuple[str, ...]


def run(arguments: list[str]) -> int:
    """Write a new program, over nothing that is there; return the exit code."""
    parser = command_parser(
        "program new",
        "Write a program that works, to begin with: its description, a script in Python, and a\n"
        "helper of one file that talks with the node.",
        "wingbeat program new count",
        "wingbeat program new count --folder ~/programs/count",
    )
    parser.add_argument("name", help="what tasks call it")
    parser.add_argument("--folder", type=Path, help="where; default: a folder of its name here")
    options = parser.parse_args(arguments)
    folder = options.folder or Path(options.name)
    try:
        written = write_program(folder.expanduser(), options.name)
    except FaultsError as error:
        return tell_faults(options, error)
    except OSError as error:
        return fail(options, f"{folder} cannot be written: {error.strerror}")
    return _show(options, folder, written)


def _show(options: argparse.Namespace, folder: Path, written: tuple[Path, ...]) -> int:
    if options.json:
        show_json(Written(str(folder), tuple(path.name for path in written)))
        return exits.DONE
    show_lines(f"wrote {path}" for path in written)
    show_verbatim(
        [
            f"to try it:                      wingbeat program check {folder}",
            f"to offer it to the flock:       wingbeat programs publish {folder}",
            f"to install it here, copy it to  {Home.of().programs}",
        ]
    )
    return exits.DONE
