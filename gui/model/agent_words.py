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
    (r"set to always", lambda: tr("Helps always")),
    (r"set to paused", lambda: tr("Does not help: switched off")),
    (r"starting", lambda: tr("Starting …")),
    (r"cancelled", lambda: tr("cancelled")),
    (
        r"waits for (?P<task>.+), not known here yet",
        lambda: tr("waits for {task}, not known here yet"),
    ),
    (r"needs (?P<task>.+), which was given up", lambda: tr("needs {task}, which was given up")),
    (r"needs (?P<task>.+), which was cancelled", lambda: tr("needs {task}, which was cancelled")),
    (r"waits for (?P<task>.+)", lambda: tr("waits for {task}")),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), said) for pattern, said in _PATTERNS)


def in_our_words(sentence: str) -> str:
    """As it is said here, or as it came."""
    bare = sentence.strip()
    for pattern, said in _COMPILED:
        found = pattern.fullmatch(bare)
        if found is not None:
            text = said()
            values = found.groupdict()
            return text.format(**values) if values else text
    return sentence
