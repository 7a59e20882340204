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
from collections.abc import Callable, Iterable, Mapping

from agent.api.flock import Peers
from agent.api.methods import PEERS, PROGRAMS, SHOW, STATUS
from agent.api.programs import Programs
from agent.api.work import Show, Status
from agent.client import BlockingClient, ClientError
from agent.commands import exits
from agent.commands.parsing import command_parser
from agent.commands.scripts import SCRIPTS

NAMES_MAX = 500
WORDS, LINE = "words", "line"
GROUPS = ("flock", "program")
"""Commands that have commands of their own."""
BASH_BREAKS = ":="
_STRANGE = re.compile(r"[^\w@%+=:,./-]")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def run(arguments: list[str]) -> int:
    """Print the script of a shell, or, when that asks, the words that fit."""
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
    """What fits the last of these words, which stand behind `wingbeat`."""
    *before, last = line or [""]
    begun = last.strip("\"'")  # a shell may have to write the empty word so
    commands, folder = _commands(before)
    named = [each for each in before if not each.startswith("-")]
    depth = 2 if folder else 1
    if len(named) < depth:
        return _fitting(_options(named) if begun.startswith("-") else commands, begun)
    command = named[depth - 1]
    if before[-1] == "--node":
        return _fitting(_asked(_machines), begun)
    if begun.startswith("-"):
        return _fitting(_options(named[:depth]), begun)
    source = SOURCES.get(command)
    return _fitting(_asked(lambda client: source(client, begun)), begun) if source else []


def for_line(line: str) -> list[str]:
    """What bash is to write in the place of the last word of a line, as it sees words.

    It takes a colon for the end of a word, and so would write what stands before it twice.
    """
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
    """As its own help tells them."""
    from agent.cli import main

    said = io.StringIO()
    quiet = contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)
    with quiet[0], quiet[1], contextlib.suppress(SystemExit):
        main([*command, "--help"])
    usage = said.getvalue().partition("examples:")[0]
    return sorted({*_OPTION.findall(usage), "--help"})


def _fitting(known: Iterable[str], begun: str) -> list[str]:
    return [each for each in known if each.startswith(begun) and each.isprintable()][:NAMES_MAX]


def _asked(ask: Callable[[BlockingClient], list[str]]) -> list[str]:
    try:
        with BlockingClient(name="completion") as client:
            return ask(client)
    except ClientError:
        return []


def _machines(client: BlockingClient) -> list[str]:
    return [peer.name for peer in client.call(PEERS, Peers()).peers]


def _workflows(client: BlockingClient, begun: str) -> list[str]:
    del begun
    reply = client.call(STATUS, Status(limit=NAMES_MAX))
    return [each.name for each in reply.workflows]


def _tasks(client: BlockingClient, begun: str) -> list[str]:
    """Workflows first; behind a slash, the tasks of that one."""
    workflow, slash, _ = begun.rpartition("/")
    if not slash:
        return [f"{name}/" for name in _workflows(client, begun)]
    reply = client.call(SHOW, Show(workflow, limit=NAMES_MAX))
    return [f"{workflow}/{task.name}" for task in reply.tasks]


def _programs(client: BlockingClient, begun: str) -> list[str]:
    del begun
    known = [each.name for each in client.call(PROGRAMS, Programs()).programs]
    return ["publish", "accept", "refuse", *known]


SOURCES: Mapping[str, Callable[[BlockingClient, str], list[str]]] = {
    **dict.fromkeys(
        ("status", "watch", "cancel", "retry", "priority", "fetch", "datasets", "history"),
        _workflows,
    ),
    **dict.fromkeys(("why", "show", "logs", "done"), _tasks),
    "programs": _programs,
    "expel": lambda client, begun: _machines(client),  # noqa: ARG005 - all take the word
}
