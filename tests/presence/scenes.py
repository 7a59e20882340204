"""A machine that only exists as readings, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agent.api.volunteering import VolunteerRules
from agent.presence.judgement import Memory, Now, Unpaused, Verdict, Wish
from agent.presence.readings import LastInput, Readings, Seen, Sessions
from agent.presence.verdict import needed, verdict
from agent.wording.speech import Speech

ZURICH = ZoneInfo("Europe/Zurich")
LONG_AGO_S = 3_600.0


Look = Mapping[str, Any]
"""One look of a story: what ``Scene.play`` is given."""


def look(after_s: float = 0.0, **told: object) -> Look:
    return {"after_s": after_s, **told}


def at(text: str, zone: ZoneInfo = ZURICH) -> float:
    """The moment of a wall clock's time."""
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


NOON_S = at("2026-03-10 12:00")


class Scene:
    """Nobody has been there for an hour, and nothing else is in the way."""

    def __init__(self, rules: VolunteerRules | None = None, wall_s: float = NOON_S) -> None:
        self.rules = rules or VolunteerRules(mode="when idle")
        self.wish: Wish = Unpaused()
        self.steady_s = 10_000.0
        self.wall_s = wall_s
        self.memory = Memory()
        self.readings = Readings(
            input=Seen(LastInput(self.steady_s - LONG_AGO_S, (100, 100)), "X11"),
            sessions=Seen(Sessions(), "logind"),
            on_mains=Seen(value=True),
            full_screen=Seen(None),
            meeting=Seen(None),
            others_cpu_percent=Seen(3.0),
            free_memory_mb=Seen(4_000.0),
            exclusive=Seen(()),
        )

    @property
    def now(self) -> Now:
        return Now(self.steady_s, self.wall_s, ZURICH)

    def said(self, found: Verdict) -> str:
        """The reason of a verdict in English."""
        return Speech(round(self.wall_s * 1000), ZURICH).say(found.reason)

    def look(self) -> Verdict:
        """The verdict now; what it remembers stays."""
        found = verdict(self.rules, self.wish, self.readings, self.memory, self.now)
        self.memory = found.memory
        return found

    def pass_s(self, seconds: float) -> Verdict:
        """Let time pass, and look."""
        self.steady_s += seconds
        self.wall_s += seconds
        return self.look()

    def play(
        self,
        after_s: float,
        sees: Mapping[str, object] | None = None,
        touch: Mapping[str, Any] | None = None,
        said: str = "*",
        **more: Any,
    ) -> None:
        """Let time pass, change what is there, look, and compare the verdict: ``said`` is a pattern
        of what a person is told, ``needs`` what has to be looked at; the rest are the verdict's."""
        self.steady_s += after_s
        self.wall_s += after_s
        for name in more.keys() & {"rules", "wish", "wall_s", "readings"}:
            setattr(self, name, more.pop(name))
        self.see(**sees or {})
        found = self.look() if touch is None else self.touch(**touch)
        assert fnmatchcase(self.said(found), said), self.said(found)
        needs = needed(self.rules, self.wish, self.now)
        told = {name: needs if name == "needs" else getattr(found, name) for name in more}
        assert told == {
            name: pytest.approx(each) if isinstance(each, float) else each
            for name, each in more.items()
        }

    def see(self, **readings: object) -> None:
        """Other readings from now on."""
        self.readings = replace(self.readings, **readings)  # type: ignore[arg-type]

    def touch(
        self, pointer: tuple[int, int] | None = (400, 300), where: str = "", ago_s: float = 0.0
    ) -> Verdict:
        """Somebody uses the machine, and it is looked at."""
        self.see(input=Seen(LastInput(self.steady_s - ago_s, pointer, where), "X11"))
        return self.look()
