"""Why something waits, ended or does not help: values, of which words are made where people read.

A reason carries moments, not ages, and ids, not names. Its tag is its name in the client protocol
and in the JSON of commands, so that scripts need no sentences either.

A reason travels beside a text for those who do not know it: a peer of an older version reads the
text, and a reason of a later version, whose tag is unknown here, is ``Opaque`` and shows its text.
So records and messages carry it encoded (``more["why"]``): an unknown tag inside of a message
would otherwise cost the link.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

import msgspec
from msgspec import Raw, Struct

WHY = "why"
"""Under this name ``more`` carries a reason."""
WHY_BYTES_MAX = 4096


class Reason(Struct, frozen=True, tag=True, tag_field="reason"):
    """What all of them are. A new one needs a sentence in ``agent.wording.english``."""


class Opaque(Reason, frozen=True):
    """A reason of another version, or one that has no type, as it was worded where it arose."""

    text: str


NO_REASON = Opaque("")

# -- whether a machine helps, as it tells the flock: without ages, and without names of people ------


class Starting(Reason, frozen=True):
    """The node has not been told yet whether it may help."""


class SetToAlways(Reason, frozen=True):
    """Its owner lets it help whatever happens."""


class NobodyUsesIt(Reason, frozen=True):
    """It helps because nobody is there."""


class PausedByOwner(Reason, frozen=True):
    """Its owner said so, for a while or until further notice."""


class FinishingThenPaused(Reason, frozen=True):
    """It takes nothing new, and pauses when what it runs has ended."""


class OutsideHours(Reason, frozen=True):
    """Its owner's schedule does not let it help now."""


class CannotSeeOwner(Reason, frozen=True):
    """A source is blind that would have to see whether somebody is there."""


class OwnerUsesIt(Reason, frozen=True):
    """Somebody is at it."""


class SomebodyElseUsesIt(Reason, frozen=True):
    """Another person has a screen of it in use."""


class OnBattery(Reason, frozen=True):
    """It is not on mains."""


class OthersBusy(Reason, frozen=True):
    """Other programs use its processor."""


class ShortOfMemory(Reason, frozen=True):
    """Less memory is free than its owner keeps."""


class NotOfFlock(Reason, frozen=True):
    """It was expelled, and runs the flock's work no more."""

    flock: str


# -- there and back --------------------------------------------------------------------------------


def kinds(of: type[Reason] = Reason) -> Iterator[type[Reason]]:
    """Yield every kind of reason that is known so far."""
    for each in of.__subclasses__():
        yield each
        yield from kinds(each)


def union(reasons: Iterator[type[Reason]]) -> Any:
    """Return the type that a decoder tells the kinds apart by."""
    return reduce(or_, reasons)


_decoder: msgspec.msgpack.Decoder[Reason] = msgspec.msgpack.Decoder(union(kinds()))
_encoder = msgspec.msgpack.Encoder()


def carried(reason: Reason) -> dict[str, Raw]:
    """Return what ``more`` of a record or message carries of a reason; empty for one without a
    type."""
    return {} if isinstance(reason, Opaque) else {WHY: Raw(_encoder.encode(reason))}


def reason_in(more: dict[str, Raw], text: str) -> Reason:
    """Return the reason that ``more`` carries; the text, where there is none or it is not known
    here."""
    told = bytes(more.get(WHY, b""))
    if not 0 < len(told) <= WHY_BYTES_MAX:
        return Opaque(text)
    try:
        return _decoder.decode(told)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return Opaque(text)


def tag_of(reason: Reason) -> str:
    """Return the text of a reason for those who know none, where nothing says it better: its tag,
    or an opaque one's text."""
    return reason.text if isinstance(reason, Opaque) else type(reason).__name__
