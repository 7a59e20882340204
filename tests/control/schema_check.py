"""Holds a value against a JSON Schema, as far as the client contract uses schemas.

A second reading of the contract, from its published form and by other code than the server's, so
that what is printed for others is what is served. An unknown keyword fails: it would be ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

REMARKS = {"title", "description", "default", "discriminator", "contentEncoding"}
PARTS = {"required", "additionalProperties", "properties", "items"}
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
Bound = Callable[[Any, Any], bool]
BOUNDS: dict[str, tuple[tuple[type, ...], Bound]] = {
    "minimum": ((int, float), lambda value, bound: value >= bound),
    "maximum": ((int, float), lambda value, bound: value <= bound),
    "exclusiveMinimum": ((int, float), lambda value, bound: value > bound),
    "minLength": ((str,), lambda value, bound: len(value) >= bound),
    "maxLength": ((str,), lambda value, bound: len(value) <= bound),
    "pattern": ((str,), lambda value, bound: re.search(bound, value) is not None),
    "minItems": ((list,), lambda value, bound: len(value) >= bound),
    "maxItems": ((list,), lambda value, bound: len(value) <= bound),
}


def faults(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the value; nothing when it fits."""
    for keyword, told in schema.items():
        if keyword in PARTS:
            yield from _parts(keyword, value, schema, document)
        elif keyword == "$ref":
            yield from faults(value, resolved(told, document), document)
        elif keyword == "anyOf":
            if all(list(faults(value, each, document)) for each in told):
                yield f"{value!r} is none of {told}"
        elif keyword not in REMARKS and not _within(keyword, value, told):
            yield f"{value!r} is beyond {keyword} {told}"


def _within(keyword: str, value: Any, told: Any) -> bool:
    if keyword == "type":
        return _is(value, told)
    if keyword in {"enum", "const"}:
        return value in (told if keyword == "enum" else [told])
    kinds, within = BOUNDS[keyword]
    return not isinstance(value, kinds) or within(value, told)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _parts(
    keyword: str, value: Any, schema: dict[str, Any], document: dict[str, Any]
) -> Iterator[str]:
    told = schema[keyword]
    if isinstance(value, list) and keyword == "items":
        yield from (fault for item in value for fault in faults(item, told, document))
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    if keyword == "required":
        yield from (f"{name} is missing" for name in told if name not in value)
    elif keyword == "properties":
        for name in value.keys() & told.keys():
            yield from faults(value[name], told[name], document)
    elif keyword == "additionalProperties":
        for name in value.keys() - known.keys():
            if told is False:
                yield f"{name} is surplus"
            elif isinstance(told, dict):
                yield from faults(value[name], told, document)


def resolved(reference: str, document: dict[str, Any]) -> dict[str, Any]:
    """What a reference within the document points to."""
    found: Any = document
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return dict(found)
