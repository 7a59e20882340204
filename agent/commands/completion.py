"""`wingbeat completion`: what a shell needs to complete commands, options and names.

The script that a shell reads asks this command for the words that fit, so that it stays right when
commands change, and can name workflows and tasks. Nothing is printed when the agent cannot be
asked: who presses a key wants no error there.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
import sys
from collections.abc import Iterable

from agent.client import BlockingClient, ClientError
from agent.commands import exits
from agent.commands.completing import (
    NAMES_MAX,
    OWN_VALUES,
    OWN_WORDS,
    PLACES,
    VALUES,
    Source,
)
from agent.commands.parsing import command_parser
from agent.commands.scripts import SCRIPTS

WORDS, LINE = "words", "line"
GROUPS = ("flock", "program")
"""Commands that have commands of their own."""
BASH_BREAKS = ":="
_STRANGE = re.compile(r"[^\w@%+=:,./-]")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_VALUED = r"(?<![\w-]){option} (\{{[^}}]*\}}|[^\s\]]+)"
_CHOICES = re.compile(r"(?:^|\] |\[)\{([^}]*)\}")
"""Of a place of the command, and not of an option, which stands before them."""


def run(arguments: list[str]) -> int:
    """Print the completion script of a shell or, when that script asks, the words that fit; return
    the exit code."""
    if arguments[:1] == [WORDS]:
        sys.stdout.writelines(f"{word}\n" for word in words(arguments[1:]))
        return exits.DONE
    if arguments[:1] == [LINE]:
        sys.stdout.writelines(f"{word}\n" for word in for_line(" ".join(arguments[1:])))
        return exits.DONE
    parser = command_parser(
        "completion",
        "Print a script that makes a shell complete commands, options and names.",
        "wingbeat completion bash > ~/.local/share/bash-completion/completions/wingbeat",
        "wingbeat completion zsh > ~/.zfunc/_wingbeat",
        "wingbeat completion fish > ~/.config/fish/completions/wingbeat.fish",
        "wingbeat completion powershell >> $PROFILE",
    )
    parser.add_argument("shell", choices=SCRIPTS, help="for which one")
    options = parser.parse_args(arguments)
    sys.stdout.write(SCRIPTS[options.shell])
    return exits.DONE


def words(line: list[str]) -> list[str]:
    """Return what may stand in place of the last of these words, which stand behind `wingbeat`."""
    *before, last = line or [""]
    begun = last.strip("\"'")  # a shell may have to write the empty word so
    commands, folder = _commands(before)
    named = [each for each in before if not each.startswith("-")]
    depth = 2 if folder else 1
    if len(named) < depth:
        return _fitting(_options(named) if begun.startswith("-") else commands, begun)
    command = named[:depth]
    placed = _placed(command, before[before.index(command[-1]) + 1 :])
    if before[-1].startswith("--"):
        known = _values(command, before[-1], placed, begun)
        if known is not None:
            return _fitting(known, begun)
    if begun.startswith("-"):
        return _fitting(_options(command), begun)
    return _fitting(_at_place(command, placed, begun), begun)


def for_line(line: str) -> list[str]:
    """Return what bash is to write in place of the last word of a line. It takes a colon for the
    end of a word, so only what follows the last one is returned."""
    typed, quoted = _typed(line)
    known = words(typed[1:] or [""])
    end = max((typed[-1].rfind(sign) for sign in BASH_BREAKS), default=-1) + 1 if typed else 0
    return [word if quoted else _STRANGE.sub(r"\\\g<0>", word[end:]) for word in known]


def _typed(line: str) -> tuple[list[str], bool]:
    """The words of a line that may break off anywhere, and whether that is inside of quotes."""
    for end in ("", '"', "'"):
        lexer = shlex.shlex(line + end, posix=True, punctuation_chars=False)
        lexer.whitespace_split, lexer.commenters = True, ""
        try:
            found = list(lexer)
        except ValueError:
            continue
        if not end and line[-1:].isspace() and not line.endswith("\\ "):
            found.append("")
        return found, bool(end)
    return [], False


def _commands(before: list[str]) -> tuple[Iterable[str], bool]:
    """The commands at this place, and whether they belong to one that has its own."""
    from agent.cli import COMMANDS

    first = next((each for each in before if not each.startswith("-")), "")
    return (_of(first), True) if first in GROUPS else (COMMANDS, False)


def _of(group: str) -> Iterable[str]:
    found: Iterable[str] = importlib.import_module(f"agent.commands.{group}").COMMANDS
    return found


def _options(command: list[str]) -> list[str]:
    return sorted({*_OPTION.findall(_help(command)), "--help"})


def _at_place(command: list[str], placed: list[str], begun: str) -> Iterable[str]:
    name = " ".join(command)
    own, source = OWN_WORDS.get((name, len(placed)), ()), PLACES.get(name)
    if source:
        return [*own, *_asked(source, placed, begun)]
    return own or ([] if placed else _choices(command))


def _values(command: list[str], option: str, placed: list[str], begun: str) -> Iterable[str] | None:
    """What an option takes; None where it takes nothing, and no word of it is missing."""
    valued = _valued(command, option)
    if not valued:
        return None
    if valued.startswith("{"):
        return valued.strip("{}").split(",")
    source = VALUES.get(option)
    return _asked(source, placed, begun) if source else OWN_VALUES.get(option, ())


def _valued(command: list[str], option: str) -> str:
    """What stands behind an option, as the usage tells it; empty where nothing does."""
    found = re.search(_VALUED.format(option=re.escape(option)), _usage(command))
    return found[1] if found else ""


def _placed(command: list[str], behind: list[str]) -> list[str]:
    """Of the words behind a command, those that are neither options nor values of such."""
    of_options = {
        place + 1
        for place, word in enumerate(behind)
        if word.startswith("--") and _valued(command, word)
    }
    return [
        word
        for place, word in enumerate(behind)
        if place not in of_options and not word.startswith("-")
    ]


def _choices(command: list[str]) -> list[str]:
    """The words of which one stands behind a command."""
    found = _CHOICES.search(_usage(command))
    return found[1].split(",") if found else []


def _usage(command: list[str]) -> str:
    """The line that tells in which order what stands; help texts break it where they like."""
    return " ".join(_help(command).partition("\n\n")[0].split())


def _help(command: list[str]) -> str:
    from agent.cli import main

    said = io.StringIO()
    quiet = contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)
    with quiet[0], quiet[1], contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return said.getvalue().partition("examples:")[0]


def _fitting(known: Iterable[str], begun: str) -> list[str]:
    return [each for each in known if each.startswith(begun) and each.isprintable()][:NAMES_MAX]


def _asked(source: Source, placed: list[str], begun: str) -> list[str]:
    try:
        with BlockingClient(name="completion") as client:
            return source(client, placed, begun)
    except ClientError:
        return []
