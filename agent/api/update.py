"""A version that was installed while another one runs, and starting it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from agent.api.reasons import NewerElsewhere, OlderAsks, Reason, VersionAsks, VersionFinishes
from agent.api.rpc import Method

Updates = Literal["by itself", "ask"]
"""Who begins with a version that was installed: the agent, when nothing runs here, or a person."""
STAGES = ("dev", "a", "b", "rc")
"""What goes before a release, in this order."""
Standing = Literal["asks", "finishes"]


class UpdateView(Struct, frozen=True):
    """This version is installed, and begins when the agent is started anew. ``standing``: it waits for
    somebody to say so, or for what runs here; nothing new begins here meanwhile. ``older``: it is
    an earlier one than what runs, which may not read what this one has kept."""

    installed: str
    standing: Standing
    older: bool = False


def standing_of(update: UpdateView) -> Reason:
    """Return what a version that was installed waits for."""
    if update.standing == "finishes":
        return VersionFinishes(update.installed)
    return (OlderAsks if update.older else VersionAsks)(update.installed)


def is_later(version: str, than: str) -> bool:
    """Tell whether a version is later than another: by its numbers, and a candidate for a release is
    earlier than that release."""
    return _order(version) > _order(than)


def newer_elsewhere(machines: Iterable[tuple[str, str]], own: str) -> list[NewerElsewhere]:
    """Return, for each version later than ``own``, which of these machines (name and version) run
    it, the earliest version first; machines of unknown (empty) version are left out."""
    newer: dict[str, list[str]] = {}
    for name, version in machines:
        if version and is_later(version, own):
            newer.setdefault(version, []).append(name)
    return [NewerElsewhere(tuple(newer[each]), each, own) for each in sorted(newer, key=_order)]


def _order(version: str) -> tuple[list[int], int, list[int]]:
    """The numbers of the release, how near to it this is, and the numbers behind."""
    public = version.partition("+")[0]
    rest = public.lstrip("0123456789.")
    numbers = _numbers(public.removesuffix(rest))
    while numbers and not numbers[-1]:
        numbers.pop()
    stage = re.search("|".join(STAGES), rest, re.IGNORECASE)
    nearness = STAGES.index(stage[0].lower()) if stage else len(STAGES)
    return numbers, nearness, _numbers(rest)


def _numbers(text: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", text)]


class StartAnew(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Begin with the version that is installed, when what runs here has ended, or ``now``: then that
    is handed back first."""

    now: bool = False


class StartingAnew(Struct, frozen=True):
    """It begins; the connection ends when it does."""

    installed: str


START_ANEW = Method("start_anew", StartAnew, StartingAnew, repeatable=False, by_members=False)
