"""What the YAML library says of a file that is no YAML, in words of somebody who wrote one.

The two parsers of the library (C and Python) word the same fault differently, so the slower one is
asked again for files of a usual size: one wording whatever is installed.
"""

from __future__ import annotations

from typing import Any

import yaml

from agent.workflow.faults import Faults, Place

_ASKED_AGAIN_CHARACTERS_MAX = 256 * 1024

# The first that fits counts: what the library says, and what to do about it.
_WORDS = (
    ("found character '\\t'", "a tab cannot indent here: use spaces"),
    ("found a tab character", "a tab cannot indent here: use spaces"),
    ("mapping values are not allowed", "a ':' has no place here: quote the text or indent the key"),
    ("could not find expected ':'", "':' is missing after the key, or a line is not indented"),
    ("but found '<block mapping start>'", "the indentation does not fit the lines above"),
    ("but found '<block sequence start>'", "the indentation does not fit the lines above"),
    ("expected <block end>", "the indentation or a quote does not fit the lines above"),
    ("expected ',' or ']'", "a ',' or ']' is missing in the list that begins in line {context}"),
    (
        "expected ',' or '}'",
        "a ',' or '}}' is missing in the mapping that begins in line {context}",
    ),
    ("found unexpected end of stream", "the quote that opens in line {context} is never closed"),
    ("document separator", "the quote that opens in line {context} is never closed"),
    ("found unknown escape character", "there is no such escape: use single quotes or a double \\"),
    ("cannot start any token", "a text cannot begin with this character: put quotes around it"),
    ("alphabetic or numeric character", "after '&' or '*' comes a name: quote a text that has one"),
    ("undefined tag handle", "a '!' begins a tag: quote a text that has one"),
)


def syntax_fault(text: str, error: yaml.YAMLError, faults: Faults) -> None:
    """Say where and why it is no YAML."""
    said = _python_error(text) or error
    problem = str(getattr(said, "problem", None) or said)
    context = _line(getattr(said, "context_mark", None))
    place = _place(getattr(said, "problem_mark", None), text)
    lines = text.splitlines()
    if "'}'" in problem and "${" in lines[min(place.line, len(lines)) - 1]:
        faults.add(place, 'between { and } a variable needs quotes, like "${name}"')
        return
    for part, words in _WORDS:
        if part in problem:
            faults.add(place, words.format(context=context or place.line))
            return
    faults.add(place, f"this is not YAML: {' '.join(problem.split())}")


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
