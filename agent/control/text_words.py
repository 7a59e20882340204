"""What a person types at a terminal: lines of the source's table 3.3, read into wishes.

=============  ==========================================================================
line           meaning
=============  ==========================================================================
``TOKEN``      ``TOKEN t``: proof that one may read the owner's files; the first line
``SCHEDULE``   ``program priority [-p path] [-a task n]... [-x file]``: run a program
``SUBSCRIBE``  ``task...``: tell how far these tasks are, now and as they go on
``CANCEL``     ``task``: cancel it, with all that depends on it
``HELP``       what there is
``QUIT``       end the connection
=============  ==========================================================================

The first and the last two are ours: the document has no word for them. Outputs count from 1, as
its "nth output" says; JSON counts from 0. A word with spaces stands in quotes. Backslashes mean
nothing, because paths of Windows have them.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from agent.api.errors import ServiceError

LINE_WORDS_MAX = 4_096
OUTPUT_NUMBER_MAX = 10_000
PRIORITIES = ("low", "interactive")
VERBS = ("TOKEN", "SCHEDULE", "SUBSCRIBE", "CANCEL", "HELP", "QUIT")
USAGE = {
    "TOKEN": "TOKEN token",
    "SCHEDULE": "SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]",
    "SUBSCRIBE": "SUBSCRIBE task...",
    "CANCEL": "CANCEL task",
    "HELP": "HELP",
    "QUIT": "QUIT",
}


class TextError(ServiceError):
    """One sentence: what is wrong with the line."""


@dataclass(frozen=True, slots=True)
class Token:
    """The first line: who does not know the token is sent away."""

    token: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """Run a program. ``inputs``: task and number of its output, from 1."""

    program: str
    priority: str
    raw: str = ""
    inputs: tuple[tuple[str, int], ...] = ()
    parameters_file: str = ""


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Tell how far these tasks are, from now on."""

    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel this task."""

    task: str


@dataclass(frozen=True, slots=True)
class Help:
    """What is there to be said?"""


@dataclass(frozen=True, slots=True)
class Quit:
    """End the conversation."""


Wish = Token | Schedule | Subscribe | Cancel | Help | Quit


def read_line(line: bytes) -> Wish:
    """Return the wish in a line. Raises ``TextError`` with what to say instead."""
    words = _words(line)
    verb, told = words[0].upper(), words[1:]
    match verb:
        case "TOKEN":
            return Token(_only(verb, told))
        case "SCHEDULE":
            return _schedule(told)
        case "SUBSCRIBE":
            if not told:
                raise TextError(f"SUBSCRIBE names no task: {USAGE[verb]}")
            return Subscribe(tuple(dict.fromkeys(told)))
        case "CANCEL":
            return Cancel(_only(verb, told))
        case "HELP" | "QUIT":
            if told:
                raise TextError(f"{verb} takes nothing behind it: {USAGE[verb]}")
            return Help() if verb == "HELP" else Quit()
        case _:
            known = ", ".join(VERBS)
            raise TextError(f"there is no {words[0][:40]}: say one of {known}")


def _words(line: bytes) -> list[str]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"the line is not UTF-8 (byte {error.start})") from error
    unseen = next((letter for letter in text if letter != "\t" and not letter.isprintable()), None)
    if unseen is not None:
        raise TextError(f"the line has a character that cannot be seen (code {ord(unseen)})")
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise TextError("a quotation mark is not closed") from error
    if not words or not words[0]:
        raise TextError(f"the line says nothing: say one of {', '.join(VERBS)}")
    if len(words) > LINE_WORDS_MAX:
        raise TextError(f"the line has more than {LINE_WORDS_MAX} words")
    return words


def _only(verb: str, told: list[str]) -> str:
    if len(told) != 1 or not told[0]:
        raise TextError(f"{verb} takes one word behind it: {USAGE[verb]}")
    return told[0]


def _schedule(told: list[str]) -> Schedule:
    usage = USAGE["SCHEDULE"]
    if len(told) < 2 or told[0].startswith("-") or not told[0]:
        raise TextError(f"SCHEDULE needs a program and a priority: {usage}")
    program, priority, *options = told
    if priority not in PRIORITIES:
        raise TextError(f'the priority is low or interactive, not "{priority[:40]}": {usage}')
    raw = parameters_file = ""
    inputs: list[tuple[str, int]] = []
    while options:
        option = options.pop(0)
        match option:
            case "-p":
                raw = _value(option, raw, options)
            case "-x":
                parameters_file = _value(option, parameters_file, options)
            case "-a":
                inputs.append(_input(options))
            case _:
                raise TextError(f'SCHEDULE knows no "{option[:40]}": {usage}')
    return Schedule(program, priority, raw, tuple(inputs), parameters_file)


def _value(option: str, before: str, options: list[str]) -> str:
    if before:
        raise TextError(f"{option} stands twice: {USAGE['SCHEDULE']}")
    if not options or not options[0]:
        raise TextError(f"{option} needs a word behind it: {USAGE['SCHEDULE']}")
    return options.pop(0)


def _input(options: list[str]) -> tuple[str, int]:
    if len(options) < 2 or not options[0]:
        raise TextError(f"-a needs a task and the number of its output: {USAGE['SCHEDULE']}")
    task, number = options.pop(0), options.pop(0)
    if not (number.isascii() and number.isdecimal() and len(number) <= len(str(OUTPUT_NUMBER_MAX))):
        raise TextError(f'the output of -a is a number from 1, not "{number[:40]}"')
    if not 1 <= int(number) <= OUTPUT_NUMBER_MAX:
        raise TextError(f"the output of -a is a number from 1 to {OUTPUT_NUMBER_MAX}, not {number}")
    return task, int(number)
