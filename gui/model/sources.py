"""What a source of presence means by these rules: fine, holding this computer back, or not counted.

A tick beside "busy" would read as "all is well" to whoever asks why nothing runs, so the mark is
what the agent says of the source, not how its sentence reads.
"""

from __future__ import annotations

from agent.api.volunteering import SourceStanding
from gui.model.marks import Mark
from gui.words import tr

_MARKS: dict[SourceStanding, Mark] = {
    "unasked": Mark.WAITING,
    "unseen": Mark.CANCELLED,
    "free": Mark.DONE,
    "holds": Mark.SUSPENDED,
}


def source_mark(standing: SourceStanding) -> Mark:
    """Return a source's mark. Bars: it holds back. A tick: it does not. A ring: no rule asks it. A
    slash: it is blind."""
    return _MARKS[standing]


def source_tip(standing: SourceStanding) -> str:
    """Return a source's mark in a few words, for whoever cannot see shapes: whether the rules ask
    for it, and if so, whether it cannot see, keeps this computer from helping or lets it."""
    return {
        "unasked": tr("Is not asked by these rules"),
        "unseen": tr("Cannot see"),
        "free": tr("Lets this computer help"),
        "holds": tr("Keeps this computer from helping"),
    }[standing]
