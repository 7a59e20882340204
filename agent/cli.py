"""The command `wingbeat`: finds the command that was named and hands it the other arguments.

Nothing is decided here. A command is a function from its own arguments to an exit code, and reads
them itself; this module reads only what stands before the command's name. Mistakes of the caller
are answered with one sentence on standard error and exit code 2, not with a page of usage.

Commands lie under ``agent.commands``, a file each, and are loaded when they are named.
"""

import contextlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from agent import __version__
from agent.commands import exits
from agent.commands.choosing import Command, choosing_parser, commands_of, run_chosen
from agent.commands.columns import complain
from agent.commands.parsing import PROGRAM


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named in the arguments (default: those of this process) and return its exit
    code, also when it is interrupted or the system refuses a file or the output. Standard streams
    that are closed are opened to nowhere. Raises ``SystemExit`` after ``--help`` and ``--version``,
    with 2 for arguments that make no sense."""
    _open_what_is_closed()
    parser = choosing_parser(
        PROGRAM,
        "Turns the workstations of a LAN into one flock that executes workflows.",
        COMMANDS,
        "wingbeat agent",
        "wingbeat flock create workshop",
        "wingbeat submit survey.json",
        "wingbeat submit --help",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    for stream in (sys.stdout, sys.stderr):
        take_all_letters(stream, windows=sys.platform == "win32")
    try:
        try:
            return run_chosen(parser, COMMANDS, arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        _forget_output()  # whoever read it has seen enough (`wingbeat status | head`)
        return exits.DONE
    except OSError as error:
        return _impossible(error)


COMMANDS: Mapping[str, Command] = commands_of(
    ("agent", "agent", "run the agent of this machine here"),
    ("stop", "agent", "end the agent of this machine"),
    ("restart", "agent", "start the version that is installed now"),
    ("flock", "flock", "make a flock, invite, join, see who belongs, expel, leave"),
    ("me", "me", "show which machines are yours, and pair another one"),
    ("peers", "questions", "show the machines of the flock as this one sees them"),
    ("doctor", "doctor", "explain why a machine is not seen, and what to do"),
    ("new", "program", "write a workflow, to begin with"),
    ("submit", "submit", "submit a workflow"),
    ("inspect", "inspect", "inspect a power line, from the folder of a flight"),
    ("status", "status", "show this machine and its workflows, or the tasks of one"),
    ("watch", "watch", "show what goes on, as it happens"),
    ("show", "status", "show one task and every attempt at it"),
    ("why", "questions", "tell why a task waits or moved"),
    ("logs", "logs", "print what a task has printed, wherever it runs"),
    ("fetch", "fetch", "fetch results into a folder"),
    ("cancel", "questions", "cancel a workflow, or some of its tasks"),
    ("remove", "remove", "remove what has ended, and say what that frees"),
    ("retry", "again", "try again what failed or was cancelled"),
    ("again", "again", "run a past workflow again, with other values or scripts"),
    ("priority", "questions", "change the priority of a workflow"),
    ("done", "done", "mark a gate done"),
    ("pause", "volunteering", "give this machine back, for a while"),
    ("resume", "volunteering", "end a pause"),
    ("volunteering", "volunteering", "show whether this machine helps and why, or set rules"),
    ("programs", "programs", "show what the flock can run, or decide"),
    ("permissions", "permissions", "show what others want to run here, and answer"),
    ("secrets", "secrets", "show which secrets programs may be given here, or keep one"),
    ("datasets", "datasets", "show what is kept and where, or add"),
    ("history", "history", "show what has ended, also months ago, and sums of weeks"),
    ("log", "logs", "print the agent's own log"),
    ("audit", "audit", "show who did what on a machine, or check that nothing is missing"),
    ("settings", "settings", "show how this node is set up, or change it"),
    ("telnet", "agent", "tell how to talk to the agent by hand"),
    ("uninstall", "uninstall", "remove Wingbeat from this machine"),
    ("depart", "depart", "hand over, leave and end, as packages do before they go"),
    ("completion", "completion", "print what makes a shell complete names and options"),
    ("program", "program", "write a program, or run one by hand"),
    ("demo", "demo", "watch real agents inspect a power line, lose one, and recover"),
)
"""Each with the module of ``agent.commands`` that knows it."""


def take_all_letters(stream: TextIO, *, windows: bool) -> None:
    """Have a text stream write a letter that it does not have as its number, where it would fail,
    so that names and logs of other machines end no command. On Windows, files and pipes become
    UTF-8, where the code page would lack most letters. Streams of other kinds are left as they
    are."""
    if isinstance(stream, io.TextIOWrapper):
        if windows and not stream.isatty():
            stream.reconfigure(encoding="utf-8")
        if stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _open_what_is_closed() -> None:
    """Services and windows start programs without the usual streams; others go nowhere then, and
    no socket is taken for one of them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))


def _impossible(error: OSError) -> int:
    """What a system refuses where no command expects it: a full disk behind the output, above all."""
    if error.filename is not None:
        reason = f"{error.filename} cannot be used: {error.strerror}"
    elif isinstance(error, FileNotFoundError):
        reason = "the folder that this was started in is not there any more"
    else:
        _forget_output()
        reason = f"the output cannot be written: {error.strerror or error}"
    complain(f"{PROGRAM}: {reason}.")
    return exits.FAILED


def _forget_output() -> None:
    """What is still to be written would fail once more as this process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
