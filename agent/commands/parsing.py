"""What commands are told: a table of words for each, and one sentence for a mistake instead of a page
of usage.

The table is read by argparse, and by whoever completes a line for a shell.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from agent.commands import exits
from agent.commands.columns import HelpFormatter, complain

PROGRAM = "wingbeat"
PORT_MAX = 65_535
Options = argparse.Namespace
Use = Callable[[Options], int]
"""What a command does with what it was told; its exit code."""


class CommandParser(argparse.ArgumentParser):
    """Answers a mistake with one sentence on standard error, and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(misuse(f"{message} (`{self.prog} --help` tells what there is)"))


class MixingParser(CommandParser):
    """Takes options between the other words too: `cancel survey --json merge`."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return arguments parsed as people type them, options and others mixed; raise
        ``SystemExit`` with 2, after a sentence, when they make no sense."""
        return self.parse_intermixed_args(args, namespace)


class Argument(NamedTuple):
    """What is typed behind a command, as argparse has it."""

    names: tuple[str, ...]
    told: dict[str, Any]

    @property
    def shown(self) -> bool:
        """Whether it is an option that help texts tell of."""
        return self.names[0].startswith("-") and self.told.get("help") != argparse.SUPPRESS

    @property
    def takes_value(self) -> bool:
        """Whether a word stands behind it, if it is an option."""
        return "action" not in self.told or self.told["action"] in ("append", "extend")

    @property
    def choices(self) -> tuple[str, ...]:
        """The only words that fit; none where any may."""
        return tuple(self.told.get("choices", ()))


def argument(*names: str, **told: Any) -> Argument:
    """Return a row of a command's table: the names of an option, or of a place, and what argparse
    is told of it."""
    return Argument(names, told)


AS_JSON = argument("--json", action="store_true", help="answer as JSON, for programs")
NODE = argument(
    "--node",
    default="",
    metavar="NAME",
    help="ask the agent of this other machine of the flock, by way of the one here",
)
ALL = argument("--all", action="store_true", help="not only the latest")


REFERENCES: dict[str, tuple[bool, ...]] = {
    "WORKFLOW": (False,),
    "TASK": (True,),
    "GATE": (True,),
    "WORKFLOW|TASK|DATASET": (False, True),
}
"""By what stands for it in a help text: a word that names a workflow, or (True) a task, of the person
who types. Others, such as those of a permission, may name anybody's."""


KNOWN: dict[str, Callable[[list[str]], int]] = {}
"""The commands whose modules were loaded, by what is typed; each reads the words behind that."""


class CommandLine:
    """One command: what it is told, and what it does then."""

    def __init__(
        self,
        name: str,
        description: str,
        examples: tuple[str, ...],
        arguments: tuple[Argument, ...],
        use: Use,
    ) -> None:
        self.name, self.description, self.examples = name, description, examples
        self.arguments, self.use = arguments, use

    def __call__(self, arguments: list[str]) -> int:
        """Read what was typed behind the command and do it; return its exit code. Raises
        ``SystemExit`` with 2 where it makes no sense, and with 0 after ``--help``."""
        parser = MixingParser(
            prog=f"{PROGRAM} {self.name}",
            description=self.description,
            epilog=epilog(*self.examples),
            formatter_class=HelpFormatter,
            allow_abbrev=False,
        )
        for each in self.arguments:
            parser.add_argument(*each.names, **each.told)
        options = parser.parse_args(arguments)
        told = {each.names[0]: each.told.get("metavar", "") for each in self.arguments}
        options.references = {
            name: REFERENCES[metavar] for name, metavar in told.items() if metavar in REFERENCES
        }
        return self.use(options)


def command(
    name: str,
    description: str,
    *words: str | Argument,
    node: bool = True,
    kind: type[CommandLine] = CommandLine,
) -> Callable[[Use], CommandLine]:
    """Return a decorator that makes the function below it the command of this name, entered into
    ``KNOWN`` in the place of one of the same name. ``words`` are its examples (texts) and its
    arguments; ``--json`` is added for every command, and with ``node`` an option to ask another
    member. ``kind`` is what it becomes."""
    examples = tuple(each for each in words if isinstance(each, str))
    own = tuple(each for each in words if isinstance(each, Argument))
    arguments = (AS_JSON, NODE, *own) if node else (AS_JSON, *own)

    def bind(use: Use) -> CommandLine:
        KNOWN[name] = line = kind(name, description, examples, arguments, use)
        return line

    return bind


def number_of(name: str, least: int, most: int) -> Callable[[str], int]:
    """Return a function that reads a text as a whole number from ``least`` to ``most`` and raises
    ``ArgumentTypeError``, which calls it ``name``, for any other text."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no {name} from {least} to {most}")
        return int(text)

    return read


def misuse(reason: str) -> int:
    """Print on standard error what makes no sense, a sentence without its full stop; return the
    exit code for it."""
    complain(f"{PROGRAM}: {reason}.")
    return exits.MISUSED


def epilog(*examples: str) -> str:
    """Return the end of a help text: examples, and what the exit codes say."""
    shown = "\n".join(f"  {example}" for example in examples)
    return f"examples:\n{shown}\n\n{exits.DESCRIPTION}" if examples else exits.DESCRIPTION
