"""What the YAML library says of a file that is no YAML, in words of somebody who wrote one.

The two parsers of the library (C and Python) word the same fault differently, so the slower one is
asked again for files of a usual size: one wording whatever is installed.
"""

from __future__ import annotations

from typing import Any

import yaml

from agent.protocol.phrases import Phrase, said
from agent.workflow.faults import Faults, Place

_ASKED_AGAIN_CHARACTERS_MAX = 256 * 1024

# The first that fits counts: what the library says, and what to do about it.
_WORDS = (
    ("found character '\\t'", said("a tab cannot indent here: use spaces")),
    ("found a tab character", said("a tab cannot indent here: use spaces")),
    (
        "mapping values are not allowed",
        said("a ':' has no place here: quote the text or indent the key"),
    ),
    (
        "could not find expected ':'",
        said("':' is missing after the key, or a line is not indented"),
    ),
    ("but found '<block mapping start>'", said("the indentation does not fit the lines above")),
    ("but found '<block sequence start>'", said("the indentation does not fit the lines above")),
    ("expected <block end>", said("the indentation or a quote does not fit the lines above")),
    ("expected ',' or ']'", said("a ',' or ']' is missing in the list that begins in line {line}")),
    (
        "expected ',' or '}'",
        said("a ',' or '}}' is missing in the mapping that begins in line {line}"),
    ),
    ("found unexpected end of stream", said("the quote that opens in line {line} is never closed")),
    ("document separator", said("the quote that opens in line {line} is never closed")),
    (
        "found unknown escape character",
        said("there is no such escape: use single quotes or a double \\"),
    ),
    (
        "cannot start any token",
        said("a text cannot begin with this character: put quotes around it"),
    ),
    (
        "alphabetic or numeric character",
        said("after '&' or '*' comes a name: quote a text that has one"),
    ),
    ("undefined tag handle", said("a '!' begins a tag: quote a text that has one")),
)


def syntax_fault(text: str, error: yaml.YAMLError, faults: Faults) -> None:
    """Add a fault that says where and why the text is no YAML."""
    told = _python_error(text) or error
    problem = str(getattr(told, "problem", None) or told)
    place = _place(getattr(told, "problem_mark", None), text)
    line = _line(getattr(told, "context_mark", None)) or place.line
    lines = text.splitlines()
    if "'}'" in problem and "${" in lines[min(place.line, len(lines)) - 1]:
        faults.at(place).said(
            "between {{ and }} a variable needs quotes, like {name}", name='"${name}"'
        )
        return
    for part, words in _WORDS:
        if part in problem:
            faults.add(place, Phrase(words.template, {"line": line}))
            return
    faults.at(place).said("this is not YAML: {why}", why=" ".join(problem.split()))


def _python_error(text: str) -> yaml.YAMLError | None:
    if len(text) > _ASKED_AGAIN_CHARACTERS_MAX:
        return None
    try:
        for _event in yaml.parse(text, yaml.SafeLoader):
            pass
    except yaml.YAMLError as error:
        return error
    return None


def _place(mark: Any, text: str) -> Place:
    if mark is None:
        return Place(1, 1)
    line, column = mark.line + 1, mark.column + 1
    if column == 1 and mark.line and not text.splitlines()[mark.line :]:
        lines = text.splitlines()
        return Place(len(lines), len(lines[-1]) + 1) if lines else Place(1, 1)
    return Place(line, column)


def _line(mark: Any) -> int:
    return 0 if mark is None else int(mark.line) + 1
