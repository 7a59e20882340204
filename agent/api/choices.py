"""What may stand at a place of a request, where only some words may, for whoever wrote another.

Decoders say that a word is wrong and not which are right. Looked up only then, from the types that
are the contract, in their order, so that there is no second list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

_STEP = re.compile(r"\.(?P<field>\w+)|\[[^\]]*\]")


def choices_at(kind: type[Struct], place: str) -> tuple[str, ...]:
    """Return the words that may stand at a place like ``.rules.hours[0].day``; empty where any
    may."""
    found: list[Any] = [kind]
    for step in _STEP.finditer(place):
        below = [_below(each, step["field"]) for each in found]
        found = [part for each in below for part in _parts(each)]
    return tuple(dict.fromkeys(word for each in found for word in _words(each)))


def _below(kind: Any, field: str | None) -> Any:
    """The type of a field, or of what is inside a list or an object; None where there is none."""
    if field is None:
        inside = [each for each in get_args(kind) if each is not Ellipsis]
        return inside[-1] if inside else None
    if isinstance(kind, type) and issubclass(kind, Struct):
        return get_type_hints(kind).get(field)
    return None


def _parts(kind: Any) -> Iterator[Any]:
    if get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _parts(each)
    else:
        yield kind


def _words(kind: Any) -> Iterator[str]:
    if get_origin(kind) is Literal:
        yield from map(str, get_args(kind))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield from (str(each.value) for each in kind)
