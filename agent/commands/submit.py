"""`wingbeat submit`: a workflow from a file to the flock."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path

import msgspec

from agent.api.methods import SUBMIT
from agent.api.work import Submit, Submitted
from agent.commands.asking import ask, fail
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines

FILE_BYTES_MAX = 32 * 1024 * 1024
DESCRIPTION = """\
Submit a workflow to the flock. Submitting one under a name that is known runs nothing twice.

FILE is JSON for now; the YAML language for workflows is still to come. `-` reads standard input.

  {"name": "survey", "priority": "low", "tasks": [
    {"id": "import", "program": "import", "parameters": "band=3", "expected_s": 120},
    {"id": "check", "gate": true, "asks": "look at the pictures", "after": ["import"]},
    {"id": "merge", "program": "merge", "inputs": [{"task": "import", "output": 0}]}]}"""


def run(arguments: list[str]) -> int:
    """Submit it."""
    parser = command_parser(
        "submit",
        DESCRIPTION,
        "wingbeat submit survey.json",
        "wingbeat submit survey.json --name survey-2 --priority interactive",
    )
    parser.add_argument("file", metavar="FILE.json", help="the workflow")
    parser.add_argument("--name", help="submit it under this name instead of its own")
    parser.add_argument("--priority", type=priority, help="low, interactive, or 0 to 100")
    options = parser.parse_args(arguments)
    source = "what was read" if options.file == "-" else options.file
    try:
        workflow = _read(options)
    except OSError as error:
        return fail(options, f"{source} cannot be read: {error.strerror}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return fail(options, f"{source} is no workflow: {error}")
    return ask(options, SUBMIT, workflow, _show)


def priority(text: str) -> int | str:
    """A priority as it is typed."""
    if text in {"low", "interactive"}:
        return text
    if text.isascii() and text.isdecimal() and int(text) <= 100:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not low, interactive, or a number up to 100")


def _read(options: argparse.Namespace) -> Submit:
    """The workflow in the file, with what the command line says otherwise."""
    if options.file == "-":
        data = sys.stdin.buffer.read(FILE_BYTES_MAX)
    else:
        with Path(options.file).open("rb") as file:
            data = file.read(FILE_BYTES_MAX)
    document = msgspec.json.decode(data, type=dict[str, object])
    told = {"name": options.name, "priority": options.priority}
    document.update({name: value for name, value in told.items() if value is not None})
    document.setdefault("submitter", _user())
    return msgspec.convert(document, Submit)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _show(submitted: Submitted) -> None:
    name = submitted.workflow
    if submitted.known:
        show_lines([f"{name} is known already and not run twice; --name gives it another name"])
        return
    disks = "this disk only, as nobody else is there" if submitted.disks < 2 else "two disks"
    show_lines([f"{name} is accepted and kept on {disks}"])
