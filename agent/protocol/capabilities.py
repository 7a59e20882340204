"""What a node has, as it tells its peers, for the matching of requirements.

It travels whole with every status; versions before leave out what they do not know.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from agent.protocol.needs import ProgramNeeds, Seats
from agent.protocol.records import Count, ShortText

WAKE_ADDRESSES_MAX = 8


class Withheld(Struct, frozen=True, array_like=True):
    """What a program that is there asks for and does not get, by its ``kind`` (``Withholds``)."""

    program: ShortText
    kind: ShortText
    name: ShortText = ""


class ProgramVersion(Struct, frozen=True, array_like=True):
    """Which version of a program is there."""

    program: ShortText
    version: ShortText


class NeededBy(Struct, frozen=True, array_like=True):
    """What the description of a program that is there asks for: versions of others, seats, and not to
    run twice at once on purpose."""

    program: ShortText
    programs: ProgramNeeds = ()
    seats: Seats = ()
    once: bool = False


class WakeAddress(Struct, frozen=True, array_like=True):
    """An interface that wakes its machine: its hardware address, as six pairs of hexadecimal digits
    with colons between, and the broadcast address of its network."""

    hardware: ShortText
    broadcast: ShortText


class Capabilities(Struct, frozen=True, array_like=True):
    """What a node has, for the matching of requirements.

    ``takes_published``: its owner lets it run programs that come with a submission; ``refused`` are
    those that unfinished work brings and its owner never lets run. ``withheld``: what programs ask
    for that they do not get, so that they do not run. ``versions``: of its programs, where known.
    ``needs``: what these ask for, wherever they run. ``wakes``: where it can be woken, if its owner
    lets it; none otherwise.
    """

    system: ShortText = ""
    architecture: ShortText = ""
    memory_mb: Count = 0
    disk_mb: Count = 0
    cores: Count = 1
    programs: tuple[ShortText, ...] = ()
    tags: tuple[ShortText, ...] = ()
    takes_published: bool = False
    refused: tuple[ShortText, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    versions: tuple[ProgramVersion, ...] = ()
    needs: tuple[NeededBy, ...] = ()
    wakes: Annotated[tuple[WakeAddress, ...], Meta(max_length=WAKE_ADDRESSES_MAX)] = ()
