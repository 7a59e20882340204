"""What is wrong with a workflow file, in the language of the person.

A sentence that is not known, such as one of the older language in XML, is shown as the agent says
it, with the line to look at: better foreign than missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gui.model.agent_sentences import Table
from gui.model.fault_sentences import FAULTS, KINDS
from gui.words import tr

_Compiled = tuple[re.Pattern[str], Callable[[], str]]

_MEANT, _KNOWN = "; did you mean ", "; known: "
_WORDED = ("owner", "wanted", "given", "other")
"""Parts of a sentence that may be words of the agent themselves."""
_LISTED = ("ways",)


def _compiled(table: Table) -> tuple[_Compiled, ...]:
    return tuple((re.compile(pattern, re.DOTALL), said) for pattern, said in table)


_FAULTS, _KINDS = _compiled(FAULTS), _compiled(KINDS)


def fault_in_our_words(text: str) -> str:
    """As it is said here with its hint, or as it came."""
    body, hinted, names = text.partition(_MEANT)
    if hinted:
        return _joined(body, tr("did you mean {names}?", names=_either(names.rstrip("?"))), text)
    body, listed, names = text.partition(_KNOWN)
    if listed:
        return _joined(body, tr("known: {names}", names=names), text)
    return _found(_FAULTS, text) or text


def _joined(body: str, hint: str, text: str) -> str:
    fault = _found(_FAULTS, body)
    return f"{fault}; {hint}" if fault else text


def _found(table: tuple[_Compiled, ...], text: str) -> str:
    for pattern, said in table:
        found = pattern.fullmatch(text)
        if found is not None:
            values = {key: _within(key, value) for key, value in found.groupdict().items()}
            return said().format(**values)
    return ""


def _within(key: str, value: str) -> str:
    if key in _WORDED:
        return _found(_KINDS, value) or (_either(value) if key == "wanted" else value)
    return _either(value) if key in _LISTED else value


def _either(names: str) -> str:
    first, joined, last = names.rpartition(" or ")
    return tr("{first} or {last}", first=first, last=last) if joined else names
