"""What a task needs beyond what its machine is: versions of programs, and seats of the flock.

A *seat* is one of so many runs that may hold something at once in the whole flock, as a licence of
which there are three. A task asks for one seat of each name, and says of how many; two tasks that say
different numbers are each judged by their own.

A version is compared part by part, numbers as numbers: 3.10 comes after 3.9, and 3 is 3.0. A word in
it comes before nothing, so that 3.0-beta comes before 3.0.

What has effects beyond its outputs may be marked *once*: it is never run a second time to be done
sooner, while its first run goes on (``copies``).

All travel under ``more``, so that a node of an earlier version passes them on. It does not heed them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from agent.protocol.records import More, ShortText, TaskSpec

VERSIONS, SEATS, ONCE = "versions", "seats", "once"
"""By which names a task carries them under ``more``."""
_YES = Raw(b"\xc3")
SEATS_MAX: Final = 1_000_000
NEEDED_MAX: Final = 32
DIGITS_MAX: Final = 18
VERSION_NEED: Final = r"\s*[^\s<>=]+\s*(?:(?:>=|<=|==|=|>|<)\s*[^\s<>=]+\s*)?"
"""How a program and what its version must be are written: ``acme >= 3``."""

_SIGNS = (">=", "<=", "==", "=", ">", "<")


class Seat(Struct, frozen=True, array_like=True):
    """One seat of this name, of ``most`` in the whole flock."""

    name: ShortText
    most: Annotated[int, Meta(ge=1, le=SEATS_MAX)]


ProgramNeeds = Annotated[tuple[ShortText, ...], Meta(max_length=NEEDED_MAX)]
Seats = Annotated[tuple[Seat, ...], Meta(max_length=NEEDED_MAX)]
_encode = msgspec.msgpack.Encoder().encode
_read_versions = msgspec.msgpack.Decoder(ProgramNeeds).decode
_read_seats = msgspec.msgpack.Decoder(Seats).decode


def with_needs(programs: tuple[str, ...], seats: tuple[Seat, ...], *, once: bool = False) -> More:
    """Return what a task carries of the programs that it needs, each as ``acme >= 3``, of its
    seats, and that it must not run twice at once on purpose; nothing where none of it holds."""
    told = {VERSIONS: Raw(_encode(programs))} if programs else {}
    told |= {ONCE: _YES} if once else {}
    return told | ({SEATS: Raw(_encode(seats))} if seats else {})


def only_once(spec: TaskSpec) -> bool:
    """Tell whether no second copy of the task may run beside the first, to have it done sooner."""
    return ONCE in spec.more


def needs_key(spec: TaskSpec) -> bytes:
    """Return what is equal for tasks that need the same versions; empty for one without any."""
    return bytes(spec.more[VERSIONS]) if VERSIONS in spec.more else b""


def versions_of(spec: TaskSpec) -> tuple[str, ...]:
    """Return which programs a task needs, by their versions; none where its record does not say, or
    cannot be read."""
    return _versions_in(bytes(spec.more[VERSIONS])) if VERSIONS in spec.more else ()


def seats_of(spec: TaskSpec | None) -> tuple[Seat, ...]:
    """Return the seats that a task needs; none of an unknown one, or where that cannot be read."""
    if spec is None or SEATS not in spec.more:
        return ()
    return _seats_in(bytes(spec.more[SEATS]))


@lru_cache(maxsize=1_000)
def _versions_in(told: bytes) -> tuple[str, ...]:
    try:
        return _read_versions(told)
    except msgspec.MsgspecError:
        return ()


@lru_cache(maxsize=1_000)
def _seats_in(told: bytes) -> tuple[Seat, ...]:
    try:
        return _read_seats(told)
    except msgspec.MsgspecError:
        return ()


def parted(need: str) -> tuple[str, str, str]:
    """Return program, sign and version of a need such as ``acme >= 3``; sign and version are empty
    where any version will do."""
    for sign in _SIGNS:
        name, found, wanted = need.partition(sign)
        if found:
            return name.strip(), sign, wanted.strip()
    return need.strip(), "", ""


def version_meets(need: str, versions: Mapping[str, str]) -> bool:
    """Tell whether one of these programs with these versions is what a need asks for. Of a program
    whose version is not known any number is too much asked."""
    name, sign, wanted = parted(need)
    if not sign:
        return name in versions
    given = versions.get(name, "")
    if not given:
        return False
    order = compared(given, wanted)
    holds = {">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}
    return holds.get(sign, order == 0)


def compared(one: str, other: str) -> int:
    """Compare two versions: return -1 where ``one`` comes before ``other``, 0 where they are the
    same, 1 where it comes after."""
    for mine, theirs in zip_longest(_parts(one), _parts(other), fillvalue=(1, 0, "")):
        if mine != theirs:
            return 1 if mine > theirs else -1
    return 0


def _parts(version: str) -> list[tuple[int, int, str]]:
    """Words come before the end of a version, which counts as a zero."""
    kinds = groupby(version, lambda sign: "0" <= sign <= "9" or (sign.isalpha() and "a"))
    parts = [(kind, "".join(signs)) for kind, signs in kinds if kind]
    return [
        (1, int(part[:DIGITS_MAX]), "") if kind is True else (0, 0, part.lower())
        for kind, part in parts
    ]
