"""What a source of presence means by these rules: fine, holding this computer back, or not counted.

The agent tells a sentence of each; which of them keeps it from helping follows from the rules that
the person set. A tick beside "busy" would read as "all is well" to whoever asks why nothing runs.
"""

from __future__ import annotations

import re

from agent.api.volunteering import SourceView, VolunteeringView, VolunteerRules
from gui.model.marks import Mark
from gui.words import tr

_MEMORY = re.compile(r"(\d+) MB of memory are free.*")


def source_mark(source: SourceView, view: VolunteeringView) -> Mark:
    """Bars: it holds back. A tick: it does not. A ring: these rules do not ask it."""
    if source.owner_present:
        return Mark.SUSPENDED
    if view.rules.mode == "always" and view.volunteering:
        return Mark.WAITING if source.sees else Mark.CANCELLED
    if not source.sees:
        return Mark.CANCELLED
    return Mark.SUSPENDED if _holds(source, view) else Mark.DONE


def source_tip(mark: Mark) -> str:
    """The same for whoever cannot see shapes."""
    return {
        Mark.SUSPENDED: tr("Keeps this computer from helping"),
        Mark.DONE: tr("Lets this computer help"),
        Mark.WAITING: tr("Is not asked by these rules"),
    }.get(mark, tr("Cannot see"))


def _holds(source: SourceView, view: VolunteeringView) -> bool:
    text, rules = source.text, view.rules
    match source.source.casefold():
        case "processor":
            return "counted as busy" in text
        case "mains":
            return rules.on_mains_only and "on battery" in text
        case "full screen":
            return rules.full_screen_counts and not text.startswith("Nothing fills")
        case "memory":
            return _too_little(text, rules)
        case "programs":
            return not text.startswith("No exclusive")
        case "last input":
            return not view.volunteering and view.reason.startswith("Paused: you ")
        case "sessions":
            return not view.volunteering and "somebody" in view.reason
        case _:
            return False


def _too_little(text: str, rules: VolunteerRules) -> bool:
    found = _MEMORY.match(text)
    return found is not None and int(found[1]) < rules.free_memory_mb
