"""The command `wingbeat`: finds the command that was named and hands it the other arguments.

Nothing is decided here. A command is a function from its own arguments to an exit code, and reads
them itself; this module reads only what stands before the command's name. Mistakes of the caller
are answered with one sentence on standard error and exit code 2, not with a page of usage.

`demo` shows the protocol in its simulator, because the nodes that will run it on a network do not
exist yet. The simulator is a part of the tests and is not installed, so `demo` works in a clone.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from agent import __version__

EXIT_MISUSE = 2
EXIT_INTERRUPTED = 130

CHECKOUT = Path(__file__).resolve().parent.parent
DEMO_MODULE = "tests.sim.demo"


@dataclass(frozen=True, slots=True)
class Command:
    """What a command does in a few words, and the function that does it."""

    summary: str
    run: Callable[[list[str]], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named in the arguments (default: those of this process)."""
    parser = _parser(COMMANDS)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    command = COMMANDS.get(options.command)
    if command is None:
        parser.error(f"there is no command '{options.command}'")
    try:
        return command.run(options.arguments)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def demo(arguments: list[str]) -> int:
    """Run the simulated flock of this clone."""
    if not (CHECKOUT / "tests").is_dir():
        return _refuse("demo runs the simulator, which is only in a clone of the repository")
    path = Path(*DEMO_MODULE.split(".")).with_suffix(".py")
    if not (CHECKOUT / path).is_file():
        return _refuse(f"demo needs {path.as_posix()}, which is missing from this clone")
    code = importlib.import_module(DEMO_MODULE).main(arguments)
    return int(code)


COMMANDS: Mapping[str, Command] = {
    "demo": Command("show the protocol at work in a simulated flock", demo),
}


class _Parser(argparse.ArgumentParser):
    """Answers a mistake with one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(_refuse(f"{message} (`{self.prog} --help` tells what there is)"))


def _parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    width = max(map(len, commands))
    listing = "\n".join(
        f"  {name:<{width}}  {command.summary}" for name, command in commands.items()
    )
    parser = _Parser(
        prog="wingbeat",
        description="Turns the workstations of a LAN into one flock that executes workflows.",
        epilog=f"commands:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"wingbeat {__version__}")
    parser.add_argument("command", nargs="?", help="one of the commands below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the command is told")
    return parser


def _refuse(reason: str) -> int:
    sys.stderr.write(f"wingbeat: {reason}.\n")
    return EXIT_MISUSE
