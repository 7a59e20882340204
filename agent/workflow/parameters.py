"""Parameters of several values, as the text that a program gets.

JSON unless something else is said. YAML's readers disagree about words such as ``no`` and numbers
such as ``010``; what a program would get from them is asked for in quotes or in plain words,
because here no field says what is wanted.

``arguments`` are words for a command line: ``band: 3, fast: true, files: [a, b]`` becomes
``--band 3 --fast --files a --files b``; a list alone is its words.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from agent.workflow.faults import Faults, shown
from agent.workflow.kinds import ambiguous
from agent.workflow.yaml_nodes import Mapping, Node, Scalar, Sequence

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][+-]?[0-9]+)?")
_TRAPS = re.compile(r"yes|no|on|off|y|n", re.IGNORECASE)
_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_DIGITS_MAX = 300
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""As the standard library has it, in a module that brings along all it has for web and mail."""
XML_ROOT, XML_ITEM = "parameters", "item"


def parameters_text(node: Node, form: str, faults: Faults) -> str:
    """Return these values as the text that a program gets: a single value as it is, others in the
    form ``xml`` or ``arguments``, for any other word as JSON. What cannot be written so becomes a
    fault, and the text is not to be used then."""
    if isinstance(node, Scalar):
        return "" if node.empty else node.text
    if form == "xml":
        return _xml(XML_ROOT, node, faults)
    if form == "arguments":
        return " ".join(shlex.quote(word) for word in _words(node, faults))
    return json.dumps(plain_value(node, faults), ensure_ascii=False)


def plain_value(node: Node, faults: Faults) -> Any:
    """Return the values of a node as JSON has them; whatever is in quotation marks is a text. A
    word that readers of YAML understand differently is a fault, and a text too."""
    match node:
        case Scalar():
            return _single(node, faults)
        case Sequence():
            return [plain_value(item, faults) for item in node.items]
        case Mapping():
            return {each.key.text: plain_value(each.value, faults) for each in node.entries}


def _single(node: Scalar, faults: Faults) -> str | int | float | bool | None:
    text = node.text
    if not node.plain:
        return text
    if node.empty:
        return None
    if text in {"true", "True", "TRUE"}:
        return True
    if text in {"false", "False", "FALSE"}:
        return False
    if _TRAPS.fullmatch(text):
        flag = "true" if text.lower() in {"yes", "on", "y"} else "false"
        faults.at(node.place).said(
            "{name} is no text to some readers: write {one} or {how}",
            name=shown(text),
            one=shown(text),
            how=flag,
        )
        return text
    if ambiguous(node, "", faults) or len(text) > _DIGITS_MAX:
        return text
    if _WHOLE.fullmatch(text):
        return int(text)
    return _finite(text) if _NUMBER.fullmatch(text) else text


def _finite(text: str) -> float | str:
    number = float(text)
    return number if abs(number) != float("inf") else text


def _words(node: Node, faults: Faults) -> list[str]:
    match node:
        case Scalar():
            return ["" if node.empty and node.plain else node.text]
        case Sequence():
            return [word for item in node.items for word in _words(item, faults)]
        case Mapping():
            return [word for each in node.entries for word in _option(each.key, each.value, faults)]


def _option(key: Scalar, value: Node, faults: Faults) -> list[str]:
    option = f"--{key.text}"
    match value:
        case Sequence():
            return [word for item in value.items for word in _option(key, item, faults)]
        case Mapping():
            faults.at(value.place).said("{name} cannot have a mapping as its argument", name=option)
            return []
        case Scalar():
            single = _single(value, faults) if value.plain else value.text
            if single is False:
                return []
            return [option] if single is True or single is None else [option, value.text]


def _xml(name: str, node: Node, faults: Faults) -> str:
    return f"<{name}>{_inside(node, faults)}</{name}>"


def _inside(node: Node, faults: Faults) -> str:
    match node:
        case Scalar():
            return "" if node.empty else node.text.translate(_ESCAPED)
        case Sequence():
            return "".join(_xml(XML_ITEM, item, faults) for item in node.items)
        case Mapping():
            return "".join(_element(each.key, each.value, faults) for each in node.entries)


def _element(key: Scalar, value: Node, faults: Faults) -> str:
    if not _XML_NAME.fullmatch(key.text):
        faults.at(key.place).said("{name} is no name that XML allows", name=shown(key.text))
        return ""
    if isinstance(value, Sequence):
        return "".join(_xml(key.text, item, faults) for item in value.items)
    return _xml(key.text, value, faults)
