"""`wingbeat secrets`: values that programs of this machine may be given, and that nobody is shown."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path

from agent.api.secrets import (
    FORGET_SECRET,
    SECRETS,
    SET_SECRET,
    VALUE_LENGTH_MAX,
    ForgetSecret,
    Place,
    Secrets,
    SecretsReply,
    SecretView,
    SetSecret,
)
from agent.commands.asking import ask, fail
from agent.commands.parsing import Options, argument, command, misuse
from agent.commands.showing import show_lines, show_rows
from agent.regular_files import open_regular

PLACES: dict[Place, str] = {
    "key store": "the system's key store",
    "file": "a file of this account alone, as no key store is open here",
    "machine": "laid down for all by an administrator",
}


@command(
    "secrets",
    "Show which secrets are here, such as the password of a database; no value is shown. `set`\n"
    "reads one from standard input, or `--file`, never from the command line; `forget` deletes it.\n"
    "A program that asks for one by its name finds it as a file in $WINGBEAT_SECRETS, where its\n"
    "owner allows that (`wingbeat permissions`).",
    "wingbeat secrets",
    "wingbeat secrets set survey-db < password.txt",
    "wingbeat secrets set survey-db --file password.txt",
    "wingbeat secrets forget survey-db",
    argument("action", nargs="?", choices=("set", "forget"), help="what to do"),
    argument("name", nargs="?", metavar="NAME", help="what programs call it"),
    argument("--file", metavar="FILE", help="has the value; without it standard input does"),
)
def run(options: Options) -> int:
    """Show the names of this machine's secrets, keep one, read from ``--file`` or standard input
    (at a terminal after a prompt, unseen), or forget one; return the exit code: of misuse where
    none is named, of a failure where no value can be read, or it is empty or too long."""
    if options.action is None:
        return ask(options, SECRETS, Secrets(), _show)
    if not options.name:
        return misuse(f"{options.action} which one? (`wingbeat secrets --help` tells)")
    if options.action == "forget":
        gone = ForgetSecret(options.name)
        return ask(
            options, FORGET_SECRET, gone, lambda done: show_lines([f"{done.name} is forgotten"])
        )
    try:
        value = _value(options.file, options.name)
    except (OSError, ValueError) as error:
        return fail(options, f"no value can be read for {options.name}: {_why(error)}")
    if not 0 < len(value) <= VALUE_LENGTH_MAX:
        given = "nothing" if not value else f"more than {VALUE_LENGTH_MAX} characters"
        return fail(options, f"there is {given} where the value of {options.name} should be")
    return ask(options, SET_SECRET, SetSecret(options.name, value), _kept)


def _value(file: str | None, name: str) -> str:
    """A line end behind it is the editor's."""
    if file is not None:
        with open_regular(Path(file)) as opened:
            return opened.read(VALUE_LENGTH_MAX + 2).decode().removesuffix("\n").removesuffix("\r")
    if sys.stdin is None:
        raise OSError("there is no standard input")
    if sys.stdin.isatty():
        return getpass.getpass(f"{name}: ")
    content = sys.stdin.buffer.read(VALUE_LENGTH_MAX + 2)
    return content.decode().removesuffix("\n").removesuffix("\r")


def _why(error: OSError | ValueError) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else "it is no text"


def _kept(view: SecretView) -> None:
    show_lines([f"{view.name} is kept: {PLACES[view.place]}"])


def _show(reply: SecretsReply) -> None:
    if not reply.secrets:
        show_lines(["No secret is here; `wingbeat secrets set NAME` keeps one."])
        return
    show_rows(reply.secrets, NAME=lambda each: each.name, PLACE=lambda each: PLACES[each.place])
