"""Who has to go where strangers have taken all the room.

Whoever reaches the port can open as many connections as they like, so those that nobody has been
verified on are few at a time. To refuse whoever comes then would let a handful of silent sockets
close the port to members. So the newcomer gets in, and one of those goes who take most: of its own
origin when that has its share, else of the origin with most, a stranger's before one from which a
member has come. Of these the one goes that has said nothing, else the oldest: an honest one is done
in less time than it takes to fill the places anew.

An origin is an address, of IPv6 a network of 64 bits, because one machine has many; or a member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

HOSTS_REMEMBERED_MAX = 512
"""From which members have come; of more, the one that is forgotten came longest ago."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Room:
    """How many find room, in all and of one origin."""

    total_max: int
    of_origin_max: int


class MemberHosts:
    """The origins from which verified members have come in this life of the node."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}

    def note(self, origin: str) -> None:
        """Remember that a member has connected from this origin; of too many origins, the longest
        silent is forgotten."""
        self._seen.pop(origin, None)
        self._seen[origin] = None
        if len(self._seen) > HOSTS_REMEMBERED_MAX:
            del self._seen[next(iter(self._seen))]

    def __contains__(self, origin: str) -> bool:
        return origin in self._seen


def crowding(
    held: Mapping[T, str], origin: str, room: Room, known: Callable[[str], bool]
) -> list[T]:
    """Return the connections of which one has to end before another of this origin is let in, the
    oldest first; empty while there is room. ``held`` names the origin of each; origins ``known`` to
    be members' are spared where there is a choice."""
    counted = Counter(held.values())
    if counted[origin] >= room.of_origin_max:
        crowded = origin
    elif len(held) >= room.total_max:
        crowded = max(counted, key=lambda each: (not known(each), counted[each]))
    else:
        return []
    return [each for each, of in held.items() if of == crowded]
