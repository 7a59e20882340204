"""`wingbeat programs`: what the flock can run, and what is decided about what others publish."""

from __future__ import annotations

import argparse
from pathlib import Path

from agent.api.methods import ACCEPT_PROGRAM, PROGRAMS, PUBLISH, REFUSE_PROGRAM
from agent.api.programs import (
    AcceptProgram,
    Decided,
    Programs,
    ProgramsReply,
    ProgramView,
    Publish,
    Published,
    RefuseProgram,
)
from agent.commands import exits
from agent.commands.asking import ask
from agent.commands.parsing import client_parser, misuse
from agent.commands.showing import duration, show_lines, show_table

ACTIONS = ("publish", "accept", "refuse")


def run(arguments: list[str]) -> int:
    """Show the programs of the flock, or publish, accept or refuse some; return the exit code."""
    parser = client_parser(
        "programs",
        "Show the programs that machines of the flock can run. `publish` gives a program folder of\n"
        "this machine to the flock; `accept` and `refuse` decide whether this machine runs what\n"
        "somebody has published.",
        "wingbeat programs",
        "wingbeat programs publish ./count",
        "wingbeat programs accept count@0123456789ab",
    )
    parser.add_argument("action", nargs="?", choices=ACTIONS, help="what to do")
    parser.add_argument(
        "programs", nargs="*", default=(), metavar="FOLDER|NAME", help="with which ones"
    )
    options = parser.parse_args(arguments)
    if options.action is None:
        return ask(options, PROGRAMS, Programs(), _show)
    if not options.programs:
        return misuse(f"{options.action} what? (`wingbeat programs --help` tells)")
    # One after the other, so that what was done before a refusal is told.
    codes = (_act(options, program) for program in options.programs)
    return next((code for code in codes if code != exits.DONE), exits.DONE)


def _act(options: argparse.Namespace, program: str) -> int:
    if options.action == "publish":
        folder = str(Path(program).absolute())
        return ask(options, PUBLISH, Publish(folder), _published)
    if options.action == "accept":
        return ask(options, ACCEPT_PROGRAM, AcceptProgram(program), _decided)
    return ask(options, REFUSE_PROGRAM, RefuseProgram(program), _decided)


def _published(published: Published) -> None:
    show_lines([f"{published.program} is published; a task names it so"])


def _decided(decided: Decided) -> None:
    show_lines([f"{decided.program} is {decided.here} here"])


def _show(reply: ProgramsReply) -> None:
    if not reply.programs:
        show_lines(["No machine of the flock has a program yet; `wingbeat program new` makes one."])
    else:
        header = ("PROGRAM", "HERE", "MACHINES", "TAKES", "MAKES", "EXPECTED", "WHAT IT DOES")
        show_table(header, [_row(each) for each in reply.programs])
    show_lines(reply.missing)
    show_lines(f"{each.folder} is no program: {each.fault}" for each in reply.broken)


def _row(program: ProgramView) -> tuple[str, ...]:
    return (
        program.name,
        program.here or "",
        ", ".join(program.nodes),
        ", ".join(program.inputs),
        ", ".join(program.outputs),
        duration(program.expected_s) if program.expected_s else "",
        program.text.partition("\n")[0],
    )
