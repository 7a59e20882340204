"""What is wrong with a request, in words of people rather than of the decoder.

The decoder's messages name types of Python and places with a dollar sign; who typed the request
has neither in mind. The rules below are all the kinds of message that it has; one that a later
version of it words otherwise is passed on as it is, still one sentence. Below them is what such
sentences share: what may be meant, and when something was.

Decoders say that a word is wrong and not which are right. Looked up only then, from the types that
are the contract, in their order, so that there is no second list.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import Enum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from agent.api.phrases import worded
from agent.protocol.phrases import Phrase, said

NEAR_NAMES_MAX = 3
NEAR_AMONG_MAX = 2_000
WORD_CHARACTERS_MAX = 256
_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "bytes": "a text in base64",
}
_BOUNDS = {
    ("length", "<="): "of at most {bound} {unit}",
    ("length", ">="): "of at least {bound} {unit}",
    ("", "<="): "of at most {bound}",
    ("", ">="): "of at least {bound}",
    ("", ">"): "greater than {bound}",
}
_PLACE = re.compile(r"^(?P<said>.*?)(?: - at `(?P<key>key in )?\$(?P<place>.*)`)?$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_SURPLUS = re.compile(r"Object contains unknown field `(.*)`")
_OTHER_KIND = re.compile(r"Expected `(.*)`, got `(.*)`")
_BOUND = re.compile(r"Expected `(\w+)` (?:of (length) )?(<=|>=|>) (\S+)")
_SECRET = re.compile(r".* matching regex '\^\[A-Za-z0-9\]\[A-Za-z0-9\._-\]\*\$'.*")
_CLOCK = re.compile(r"Expected `str` matching regex '\^\(\[01\]\[0-9\]\|.*'")
_BASE64 = re.compile("Invalid base64 encoded string")
_PATTERN = re.compile(r"Expected `str` matching regex '\^\[\^/\]\+\$'")
_NO_VALUE = re.compile(r"Invalid enum value (.*)")
_WANTED = (
    (_PATTERN, "a text without a slash, and not empty"),
    (_SECRET, "a name of letters, digits, dots and dashes"),
    (_CLOCK, "a time of a day like 18:30"),
    (_BASE64, "a text in base64"),
)
_STEP = re.compile(r"\.(?P<field>\w+)|\[[^\]]*\]")
_STRANGE = re.compile(r'[\x00-\x1f<>:"/\\|?*]')


def parameters_fault(
    method: str,
    message: str,
    fields: Iterable[str] = (),
    choices: Callable[[str], Sequence[str]] = lambda _: (),
) -> str:
    """Return a decoder's message as one sentence for a person, which begins with the method; one of
    an unknown form goes in as it is. ``fields`` are those that a wrong name may mean, ``choices``
    tells which words may stand at a place, where not any may."""
    found = _PLACE.match(message)
    said, place = (found["said"], found["place"] or "") if found else (message, "")
    where = place.lstrip(".")
    sentence = _worded(said, where, list(fields))
    if _NO_VALUE.fullmatch(said):
        sentence += _choose(choices(place))
    return f"{method}: {sentence}"


def near(word: str, known: Iterable[str], most: int = NEAR_NAMES_MAX) -> Phrase | None:
    """Return the question ``did you mean …?`` with the names nearest to a word, at most ``most``
    unless they are published programs of just that name; None when none is near."""
    names = sorted(set(known))
    if len(names) > NEAR_AMONG_MAX:
        names = [name for name in names if abs(len(name) - len(word)) <= 1][:NEAR_AMONG_MAX]
    found = published_as(word, names)[:NEAR_NAMES_MAX] or difflib.get_close_matches(
        word[:WORD_CHARACTERS_MAX], names, most
    )
    return said("did you mean {names}?", names=tuple(found)) if found else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that says what was probably meant; empty when nothing is near."""
    hint = near(word, known, 1)
    return f"; {worded(hint)}" if hint else ""


def published_as(word: str, names: Iterable[str]) -> list[str]:
    """Return the published programs of this bare name."""
    return [name for name in names if name.startswith(f"{word}@")]


def _choose(words: Sequence[str]) -> str:
    if len(words) < 2:
        return f": write {words[0]}" if words else ""
    return f": choose {', '.join(words[:-1])} or {words[-1]}"


def _worded(said: str, where: str, fields: list[str]) -> str:
    subject = where or "params"
    if found := _MISSING.fullmatch(said):
        return f"{where}{'.' if where else ''}{found[1]} is missing"
    if found := _SURPLUS.fullmatch(said):
        meant = suggestion(found[1], [field for field in fields if not where])
        return f"there is no {found[1]}{f' in {where}' if where else ''}{meant}"
    if found := _OTHER_KIND.fullmatch(said):
        return f"{subject} must be {_kinds(found[1])}, not {_kinds(found[2])}"
    for pattern, wanted in _WANTED:
        if pattern.fullmatch(said):
            return f"{subject} must be {wanted}"
    if found := _BOUND.fullmatch(said):
        return f"{subject} must be {_bounded(found)}"
    if found := _NO_VALUE.fullmatch(said):
        return f"{subject} cannot be {found[1]}"
    return f"{subject}: {said}"


def _kinds(names: str) -> str:
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))


def _bounded(found: re.Match[str]) -> str:
    kind, length, relation, bound = found.groups()
    unit = "characters" if kind == "str" else "entries"
    if bound == "1" and length:
        unit = unit.removesuffix("s").removesuffix("ie") + ("y" if kind == "array" else "")
    bound = bound.removesuffix(".0")
    return (
        f"{_KINDS.get(kind, kind)} {_BOUNDS[length or '', relation].format(bound=bound, unit=unit)}"
    )


def read_as(kind: Any, wanted: str) -> Callable[[object], Any]:
    """Return a function that converts what a person wrote into this type, and raises ``ValueError``
    for what does not fit, with the value and ``wanted`` as the end of a sentence."""

    def read(value: object) -> object:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            raise ValueError(f"is {value!r}: {wanted}") from None

    return read


def moment(time_s: float) -> str:
    """Return a time to the minute as people read it, in UTC; ``second N`` for one that no calendar
    holds."""
    try:
        return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, OSError, ValueError):
        return f"second {time_s:.0f}"


def choices_at(kind: type[Struct], place: str) -> tuple[str, ...]:
    """Return the words that may stand at a place like ``.rules.hours[0].day`` of this message;
    empty where any may, and where there is no such place."""
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


def plain(name: str) -> str:
    """Return a name that every system takes, made of what somebody calls a file; it may be empty."""
    return _STRANGE.sub("_", name).rstrip(". ")
