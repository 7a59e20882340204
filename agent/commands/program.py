"""`wingbeat program`: `new` writes one that works, to begin with; `check` runs one by hand, with the
limits and words of a node. `wingbeat new` writes a workflow to begin with.

Neither is a client of an agent, because none is needed: a program that is checked is run here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from agent.client import Home
from agent.commands import exits
from agent.commands.asking import fail, tell
from agent.commands.choosing import Command, commands_of, group_of
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import plain, show_json, show_lines, show_verbatim
from agent.workflow.faults import FaultsError
from agent.workflow.program_folder import read_program
from agent.workflow.reading import SUFFIX
from agent.workflow.scaffold import write_program, write_workflow

COMMANDS: Mapping[str, Command] = commands_of(
    ("new", "program", "write a program that works, to begin with"),
    ("check", "program", "run a program by hand, as a machine of the flock would"),
    group="program",
)

run = group_of(
    "program",
    "Make programs that the machines of the flock can run.",
    COMMANDS,
    "wingbeat program new count",
    "wingbeat program check count -i survey.las",
)


class Written(Struct, frozen=True):
    """What `program new --json` and `new --json` answer."""

    folder: str
    files: tuple[str, ...]


@command(
    "program new",
    "Write a program that works, to begin with: its description, a script in Python, and a\n"
    "helper of one file that talks with the node.",
    "wingbeat program new count",
    "wingbeat program new count --folder ~/programs/count",
    argument("name", help="what tasks call it"),
    argument("--folder", type=Path, help="where; default: a folder of its name here"),
    node=False,
)
def new(options: Options) -> int:
    """Write a new program into a folder that is empty or not there yet, and print how to go on (not
    with ``--json``). Return the exit code: that of a failure, which is told, for a wrong name and
    for a folder that has something in it or cannot be written."""
    folder = _folder(options)
    return _write(
        options,
        write_program,
        [
            f"to try it:                      wingbeat program check {folder}",
            f"to offer it to the flock:       wingbeat programs publish {folder}",
            f"to install it here, copy it to  {Home.of().programs}",
        ],
    )


@command(
    "new",
    "Write a workflow that works, to begin with: its file, three scripts in Python, and a text\n"
    "whose words they count.",
    "wingbeat new words",
    "wingbeat new words --folder ~/workflows/words",
    argument("name", help="what it is to be called"),
    argument("--folder", type=Path, help="where; default: a folder of its name here"),
    node=False,
)
def new_workflow(options: Options) -> int:
    """Write a new workflow into a folder that is empty or not there yet, and print how to go on
    (not with ``--json``). Return the exit code: that of a failure, which is told, for a wrong name
    and for a folder that has something in it or cannot be written."""
    file = _folder(options) / f"{options.name}{SUFFIX}"
    return _write(
        options,
        write_workflow,
        [
            f"to see what it would do:  wingbeat submit {file} --dry-run",
            f"to run it:                wingbeat submit {file} --wait",
            f"to have its result here:  wingbeat fetch {options.name}/top",
        ],
    )


def _folder(options: Options) -> Path:
    return options.folder or Path(options.name)


def _write(
    options: Options, write: Callable[[Path, str], tuple[Path, ...]], further: list[str]
) -> int:
    folder = _folder(options)
    try:
        written = write(folder.expanduser(), options.name)
    except FaultsError as error:
        return _tell_faults(options, error)
    except OSError as error:
        return fail(options, f"{folder} cannot be written: {error.strerror}")
    names = tuple(path.name for path in written)
    tell(options, Written(str(folder), names), [f"wrote {path}" for path in written])
    if not options.json:
        show_verbatim(further)
    return exits.DONE


class Checked(Struct, frozen=True):
    """What `program check --json` answers."""

    program: str
    succeeded: bool
    verdict: str
    outputs: tuple[str, ...]
    log: str


@command(
    "program check",
    "Run a program by hand, as a machine of the flock would: with its limits, in a folder of\n"
    "its own, listening to its words. What it leaves is put into a folder.",
    "wingbeat program check count -i survey.las -x fast",
    "wingbeat program check count --checkpoint results/state.json",
    argument("folder", type=Path, help="the folder with its description"),
    argument("-p", action="append", default=[], metavar="RAW", help="raw data"),
    argument("-i", action="append", default=[], metavar="INPUT", help="an input"),
    argument("-x", default="", metavar="PARAMETERS", help="its parameters"),
    argument("--checkpoint", type=Path, help="a state that it has saved before"),
    argument("--results", type=Path, default=Path("results"), help="where to put what it leaves"),
    node=False,
)
def check(options: Options) -> int:
    """Run a program by hand, wait for its end, and print what it says; what it leaves is put into
    the folder for results, in the place of what has the same names there. Return the exit code:
    that of a failure where the program failed, there is none in the folder, or the saved state that
    is named is missing."""
    try:
        read_program(options.folder)
    except FaultsError as error:
        return _tell_faults(options, error)
    if options.checkpoint is not None and not options.checkpoint.exists():
        return fail(options, f"{options.checkpoint} is not there: name a state that was saved")
    return _try(options)


def _try(options: Options) -> int:
    from agent.node.trial import Trial, TrialError, try_program

    def told(line: str) -> None:
        if not options.json:
            show_verbatim([line])

    given = (tuple(options.p), tuple(options.i), options.x, options.checkpoint)
    trial = Trial(options.folder, options.results.absolute(), *given)
    try:
        tried = asyncio.run(try_program(trial, told))
    except TrialError as error:
        return fail(options, str(error))
    outputs = tuple(tried.outputs)
    if options.json:
        show_json(Checked(tried.program, tried.succeeded, tried.verdict, outputs, tried.log))
    else:
        show_verbatim(f"printed: {line}" for line in tried.log.splitlines())
        show_lines([f"{tried.program} {tried.verdict}"])
        show_lines(f"output {number}: {output}" for number, output in enumerate(outputs))
    return exits.DONE if tried.succeeded else exits.FAILED


def _tell_faults(options: Options, error: FaultsError) -> int:
    """Print the faults of a description on standard error, or as JSON; a failure."""
    told = [fault.sentence() for fault in error.faults]
    if options.json:
        return fail(options, "; ".join(told))
    sys.stderr.writelines(f"{plain(line)}\n" for line in told)
    return exits.FAILED
