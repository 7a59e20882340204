"""`wingbeat program check`: a program run by hand, with the limits and words of a node.

It is no client of an agent, because none is needed: it runs the program itself.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from msgspec import Struct

from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.parsing import command_parser
from agent.commands.showing import plain, show_json, show_lines, show_verbatim
from agent.workflow.faults import FaultsError
from agent.workflow.program_folder import read_program


class Checked(Struct, frozen=True):
    """What `program check --json` answers."""

    program: str
    succeeded: bool
    verdict: str
    outputs: tuple[str, ...]
    log: str


def run(arguments: list[str]) -> int:
    """Run a program by hand; return the exit code, which is 1 when it failed, or is none."""
    parser = command_parser(
        "program check",
        "Run a program by hand, as a machine of the flock would: with its limits, in a folder of\n"
        "its own, listening to its words. What it leaves is put into a folder.",
        "wingbeat program check count -i survey.las -x fast",
        "wingbeat program check count --checkpoint results/state.json",
    )
    parser.add_argument("folder", type=Path, help="the folder with its description")
    parser.add_argument("-p", action="append", default=[], metavar="RAW", help="raw data")
    parser.add_argument("-i", action="append", default=[], metavar="INPUT", help="an input")
    parser.add_argument("-x", default="", metavar="PARAMETERS", help="its parameters")
    parser.add_argument("--checkpoint", type=Path, help="a state that it has saved before")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="where to put what it leaves"
    )
    options = parser.parse_args(arguments)
    try:
        read_program(options.folder)
    except FaultsError as error:
        return tell_faults(options, error)
    if options.checkpoint is not None and not options.checkpoint.exists():
        return fail(options, f"{options.checkpoint} is not there: name a state that was saved")
    return _try(options)


def _try(options: argparse.Namespace) -> int:
    from agent.node.trial import Trial, TrialError, try_program

    given = (tuple(options.p), tuple(options.i), options.x, options.checkpoint)
    trial = Trial(options.folder, options.results.absolute(), *given)
    try:
        tried = asyncio.run(try_program(trial, lambda line: _tell(options, line)))
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


def _tell(options: argparse.Namespace, line: str) -> None:
    if not options.json:
        sys.stdout.write(plain(line) + "\n")
        sys.stdout.flush()


def tell_faults(options: argparse.Namespace, error: FaultsError) -> int:
    """Print the faults of a description on standard error, or as JSON; return the exit code of a
    failure."""
    told = [fault.sentence() for fault in error.faults]
    if options.json:
        return fail(options, "; ".join(told))
    sys.stderr.writelines(f"{plain(line)}\n" for line in told)
    return exits.FAILED
