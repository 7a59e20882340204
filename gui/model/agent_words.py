"""The agent's sentences in the language of the person.

The agent speaks English in its log and to all clients. Its sentences about why something waits or
pauses are few and of fixed form; those are known here and said again in the person's language. One
that is not known is shown as the agent said it: better foreign than missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gui.words import tr

Say = Callable[..., str]

_PATTERNS: tuple[tuple[str, Callable[[], str]], ...] = (
    (r"(?:Helping: )?set to always", lambda: tr("Helps always")),
    (r"set to paused", lambda: tr("Does not help: switched off")),
    (r"set to always", lambda: tr("Helps always")),
    (r"paused by its owner", lambda: tr("paused by its owner")),
    (r"nobody uses it", lambda: tr("nobody uses it")),
    (r"finishing what it runs", lambda: tr("finishes what runs, then pauses")),
    (r"somebody uses it|in use by its owner|somebody else uses it", lambda: tr("somebody uses it")),
    (r"outside its hours", lambda: tr("outside its hours")),
    (r"starting", lambda: tr("Starting …")),
    (r"cancelled", lambda: tr("cancelled")),
    (r"failed 1 times, last: (?P<why>.+)", lambda: "{why}"),
    (r"Paused until you resume", lambda: tr("Paused until you resume")),
    (r"Paused until (?P<when>.+)", lambda: tr("Paused until {when}")),
    (
        r"Paused: you (?:typed|pressed a key) (?P<ago>.+) ago",
        lambda: tr("Paused: you typed {ago} ago"),
    ),
    (
        r"Paused: you moved the mouse (?P<ago>.+) ago",
        lambda: tr("Paused: you moved the mouse {ago} ago"),
    ),
    (
        r"Paused: (?:you used|somebody used) (?P<what>.+?) (?P<ago>\d+ \w+) ago",
        lambda: tr("Paused: {what} was used {ago} ago"),
    ),
    (
        r"Paused: outside its hours until (?P<when>.+)",
        lambda: tr("Paused: outside its hours until {when}"),
    ),
    (r"Paused: it is outside its hours", lambda: tr("Paused: outside its hours")),
    (
        r"Paused: other programs use (?P<percent>\d+) % of the processor, more than (?P<limit>\d+) %",
        lambda: tr("Paused: other programs use {percent} % of the processor, more than {limit} %"),
    ),
    (
        r"Paused: other programs used more than (?P<limit>\d+) % of the processor a moment ago",
        lambda: tr("Paused: other programs used more than {limit} % of the processor a moment ago"),
    ),
    (r"Paused: (?P<names>.+) runs", lambda: tr("Paused: {names} runs")),
    (
        r"Paused: cannot see (?P<what>.+), because (?P<why>.+)",
        lambda: tr("Paused: {what} cannot be seen ({why})"),
    ),
    (r"Helping: the screen is locked(?P<more>.*)", lambda: tr("Helps: the screen is locked")),
    (r"Helping: nobody is logged in(?P<more>.*)", lambda: tr("Helps: nobody is logged in")),
    (
        r"Helping: no input for (?P<time>[^,]+)(?P<more>.*)",
        lambda: tr("Helps: no input for {time}"),
    ),
    (
        r"Last input seen (?P<ago>.+?) ago(?:, by (?P<by>.+))?",
        lambda: tr("Last input seen {ago} ago, by {by}"),
    ),
    (r"(?P<what>[^:]+): cannot be seen, because (?P<why>.+)", lambda: tr("Cannot be seen: {why}")),
    (r"This machine is on mains(?:, by (?P<by>.+))?", lambda: tr("On mains")),
    (r"This machine is on battery(?:, by (?P<by>.+))?", lambda: tr("On battery")),
    (r"Nothing fills the screen(?:, by (?P<by>.+))?", lambda: tr("Nothing fills the screen")),
    (
        r"Other programs use (?P<percent>\d+) % of the processor, counted as busy",
        lambda: tr("Other programs use {percent} % of the processor: busy"),
    ),
    (
        r"Other programs use (?P<percent>\d+) % of the processor.*",
        lambda: tr("Other programs use {percent} % of the processor"),
    ),
    (r"(?P<memory>\d+) MB of memory are free", lambda: tr("{memory} MB of memory are free")),
    (r"No exclusive program runs", lambda: tr("No exclusive program runs")),
    (
        r"waits for (?P<task>.+), not known here yet",
        lambda: tr("waits for {task}, not known here yet"),
    ),
    (r"needs (?P<task>.+), which was given up", lambda: tr("needs {task}, which was given up")),
    (r"needs (?P<task>.+), which was cancelled", lambda: tr("needs {task}, which was cancelled")),
    (r"waits for (?P<task>.+)", lambda: tr("waits for {task}")),
    (r"(?P<task>.+) runs on (?P<host>.+)", lambda: tr("{task} runs on {host}")),
    (r"(?P<task>.+) finished on (?P<host>.+)", lambda: tr("{task} finished on {host}")),
    (
        r"(?P<host>.+) has taken (?P<task>.+) and fetches its inputs",
        lambda: tr("{host} has taken {task} and fetches its inputs"),
    ),
    (
        r"(?P<task>.+) is suspended on (?P<host>.+), whose owner needs the machine",
        lambda: tr("{task} is suspended on {host}: its owner needs the machine"),
    ),
    (
        r"(?P<task>.+) waits until a person marks it done: (?P<asks>.+)",
        lambda: tr("{task} waits until a person marks it done: {asks}"),
    ),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), said) for pattern, said in _PATTERNS)


def in_our_words(sentence: str) -> str:
    """As it is said here, or as it came."""
    bare = sentence.strip()
    for pattern, said in _COMPILED:
        found = pattern.fullmatch(bare)
        if found is not None:
            text = said()
            values = {key: value or "" for key, value in found.groupdict().items()}
            return text.format(**values) if values else text
    return sentence
