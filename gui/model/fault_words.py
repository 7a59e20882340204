"""What is wrong with a workflow file, in the language of the person: the faults that people make.

There are many more that a file can have, most of them of YAML itself; those are shown as the agent
says them, with the line to look at.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gui.words import tr

_FAULTS: tuple[tuple[str, Callable[[], str]], ...] = (
    (r"no machine has the program (?P<name>.+)", lambda: tr("no machine has the program {name}")),
    (r"there is no task (?P<name>.+)", lambda: tr("there is no task {name}")),
    (r"there is no variable (?P<name>.+)", lambda: tr("there is no variable {name}")),
    (r"a workflow has no (?P<name>.+)", lambda: tr("a workflow has no {name}")),
    (
        r"there is nothing under (?P<name>.+): remove it",
        lambda: tr("there is nothing under {name}: remove it"),
    ),
    (
        r"a workflow needs tasks: there are none",
        lambda: tr("a workflow needs tasks: there are none"),
    ),
    (r"two tasks are called (?P<name>.+)", lambda: tr("two tasks are called {name}")),
    (r"(?P<task>.+) needs itself", lambda: tr("{task} needs itself")),
    (
        r"tasks need each other in a circle: (?P<way>.+)",
        lambda: tr("tasks need each other in a circle: {way}"),
    ),
    (
        r"the variable (?P<name>.+?) is never used: write (?P<how>.+) or remove it",
        lambda: tr("the variable {name} is never used: write {how} or remove it"),
    ),
    (r"(?P<task>.+) has no output (?P<name>.+)", lambda: tr("{task} has no output {name}")),
    (r"there is nothing in this file", lambda: tr("there is nothing in this file")),
    (r"cannot be read: it is not there", lambda: tr("cannot be read: it is not there")),
    (r"cannot be read: (?P<why>.+)", lambda: tr("cannot be read: {why}")),
    (
        r"is not UTF-8 text from here on: save it as UTF-8",
        lambda: tr("is not UTF-8 text from here on: save it as UTF-8"),
    ),
    (r"(?P<name>.+) is given twice, (?P<where>.+)", lambda: tr("{name} is given twice")),
    (
        r"(?P<name>.+) must be true or false, not (?P<given>.+)",
        lambda: tr("{name} must be true or false, not {given}"),
    ),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), said) for pattern, said in _FAULTS)
_MEANT = "; did you mean "


def fault_in_our_words(text: str) -> str:
    """As it is said here with its hint, or as it came."""
    body, hinted, names = text.partition(_MEANT)
    for pattern, said in _COMPILED:
        found = pattern.fullmatch(body)
        if found is not None:
            fault = said().format(**found.groupdict())
            return f"{fault}; {_hint(names.rstrip('?'))}" if hinted else fault
    return text


def _hint(names: str) -> str:
    first, joined, last = names.rpartition(" or ")
    said = tr("{first} or {last}", first=first, last=last) if joined else names
    return tr("did you mean {names}?", names=said)
