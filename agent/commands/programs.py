"""`wingbeat programs`: what the flock can run, and what is decided about what others publish."""

from __future__ import annotations

from pathlib import Path

from agent.api.programs import (
    ACCEPT_PROGRAM,
    FORGET_PROGRAM,
    PROGRAMS,
    PUBLISH,
    REFUSE_PROGRAM,
    AcceptProgram,
    Decided,
    ForgetProgram,
    Programs,
    ProgramsReply,
    Publish,
    RefuseProgram,
)
from agent.commands import exits
from agent.commands.asking import ask
from agent.commands.parsing import Options, argument, command, misuse
from agent.commands.showing import duration, show_lines, show_rows, size

ACTIONS = ("publish", "accept", "refuse", "forget")


@command(
    "programs",
    "Show the programs that machines of the flock can run. `publish` gives a program folder of\n"
    "this machine to the flock; `accept` and `refuse` decide whether this machine runs what\n"
    "somebody has published, `forget` deletes it here, with what was decided.",
    "wingbeat programs",
    "wingbeat programs publish ./count",
    "wingbeat programs accept count@0123456789ab",
    argument("action", nargs="?", choices=ACTIONS, help="what to do"),
    argument("programs", nargs="*", default=(), metavar="FOLDER|NAME", help="with which ones"),
)
def run(options: Options) -> int:
    """Show the programs of the flock, or publish, accept, refuse or forget those named, one after
    the other until one fails; return the exit code of that, or of misuse where none is named."""
    if options.action is None:
        return ask(options, PROGRAMS, Programs(), _show)
    if not options.programs:
        return misuse(f"{options.action} what? (`wingbeat programs --help` tells)")
    # One after the other, so that what was done before a refusal is told.
    codes = (_act(options, program) for program in options.programs)
    return next((code for code in codes if code != exits.DONE), exits.DONE)


def _act(options: Options, program: str) -> int:
    if options.action == "accept":
        return ask(options, ACCEPT_PROGRAM, AcceptProgram(program), _decided)
    if options.action == "refuse":
        return ask(options, REFUSE_PROGRAM, RefuseProgram(program), _decided)
    if options.action == "forget":
        return ask(
            options,
            FORGET_PROGRAM,
            ForgetProgram(program),
            lambda gone: show_lines(
                [f"{gone.program} is not here any more; that freed {size(gone.frees_bytes)}"]
            ),
        )
    return ask(
        options,
        PUBLISH,
        Publish(str(Path(program).absolute())),
        lambda made: show_lines([f"{made.program} is published; a task names it so"]),
    )


def _decided(decided: Decided) -> None:
    show_lines([f"{decided.program} is {decided.here} here"])


def _show(reply: ProgramsReply) -> None:
    if not reply.programs:
        show_lines(["No machine of the flock has a program yet; `wingbeat program new` makes one."])
    else:
        show_rows(
            reply.programs,
            PROGRAM=lambda each: each.name,
            HERE=lambda each: each.here or "",
            MACHINES=lambda each: ", ".join(each.nodes),
            TAKES=lambda each: ", ".join(each.inputs),
            MAKES=lambda each: ", ".join(each.outputs),
            EXPECTED=lambda each: duration(each.expected_s) if each.expected_s else "",
            WHAT_IT_DOES=lambda each: each.text.partition("\n")[0],
        )
    show_lines(reply.missing)
    show_lines(f"{each.folder} is no program: {each.fault}" for each in reply.broken)
