"""What programs ask for beyond what all have, in words."""

from __future__ import annotations

from collections.abc import Iterable

from agent.api.permissions import AskedFor, AskedProgram
from agent.api.programs import bare_name
from gui.words import tr


def wants_words(wants: Iterable[AskedFor]) -> str:
    """Return what is asked for, in a row. Nobody can keep a program to the local network, and that
    is said rather than pretended."""
    return ", ".join(map(_words, wants))


def _words(want: AskedFor) -> str:
    if want.kind == "network":
        return tr("network (all of it, for no computer can keep a program to the local one)")
    if want.kind == "reads":
        return tr("reading {path}", path=want.name)
    if want.kind == "device":
        return tr("the device {name}", name=want.name)
    return tr("the secret {name}", name=want.name)


def asks_words(programs: Iterable[AskedProgram]) -> str:
    """Return a line for each program that asks for more than all have, and one more that names what
    they ask to read and no program may; empty where none asks."""
    lines = [
        tr(
            "{program} asks for {wants}.",
            program=bare_name(each.program),
            wants=wants_words(each.wants),
        )
        for each in programs
        if each.wants
    ]
    closed = [each.name for one in programs for each in one.wants if each.refused]
    if closed:
        lines.append(
            tr(
                "No program may read {paths}: keys, settings or somebody's own things lie there.",
                paths=", ".join(closed),
            )
        )
    return "\n".join(lines)
