"""Which sources are looked at, how often, and what is remembered of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agent.api.presence_reasons import CameraUsed, NamedFills, SourceFailed
from agent.presence.looking import Looker
from agent.presence.readings import (
    NOT_READ,
    Kind,
    LastInput,
    Reading,
    Readings,
    Seen,
    Sessions,
    Unseen,
)
from agent.presence.sources import Sources
from tests.presence.clocks import Clock
from tests.presence.watched import Told

TICK_S = 0.25
SAID: dict[str, Reading[Any]] = {
    "screen_input": Seen(LastInput(900.0), "X11"),
    "terminal_input": Seen(LastInput(800.0, None, "pts/1"), "terminals"),
    "sessions": Seen(Sessions(), "logind"),
    "mains": Seen(value=True),
    "full_screen": Seen(NamedFills("mpv")),
    "meeting": Seen(CameraUsed("Zoom")),
    "processor": Seen(7.0),
    "memory": Seen(4_000.0),
    "programs": Seen(("blender",)),
}


class Asked:
    """Nine sources; an exception is raised."""

    def __init__(self) -> None:
        self.said: dict[str, Reading[Any] | Exception] = dict(SAID)
        screen, terminal, *others = (Told(partial(self._say, name)) for name in SAID)
        self.of: dict[Kind, tuple[Told[Any], ...]] = dict(
            zip(Kind, ((screen, terminal), *((each,) for each in others)), strict=True)
        )

    def sources(self) -> Sources:
        return Sources(dict(self.of), lambda _: None)

    def reads_of(self, kind: Kind) -> int:
        """How often this kind was looked at."""
        [each] = {source.reads for source in self.of[kind]}
        return each

    def _say(self, name: str) -> Reading[Any]:
        found = self.said[name]
        if isinstance(found, Exception):
            raise found
        return found


def test_everything_that_is_asked_for_is_seen() -> None:
    looker = Looker(Asked().sources(), Clock())
    looker.look(tuple(Kind), brisk=True)
    assert looker.readings(3) == Readings(
        input=SAID["screen_input"],
        sessions=SAID["sessions"],
        on_mains=SAID["mains"],
        full_screen=SAID["full_screen"],
        meeting=SAID["meeting"],
        others_cpu_percent=SAID["processor"],
        free_memory_mb=SAID["memory"],
        exclusive=SAID["programs"],
        running=3,
    )


@pytest.mark.parametrize("now", [True, False])
@pytest.mark.parametrize("only", list(Kind))
def test_what_no_rule_asks_for_is_not_looked_at(only: Kind, now: bool) -> None:
    asked = Asked()
    Looker(asked.sources(), Clock()).look([only], brisk=True, now=now)
    assert [kind for kind in Kind if asked.reads_of(kind)] == [only]


def test_what_was_seen_before_its_rule_was_off_is_forgotten() -> None:
    asked, clock = Asked(), Clock()
    looker = Looker(asked.sources(), clock)
    looker.look(tuple(Kind), brisk=True)
    assert looker.read_s(Kind.MAINS) == clock()
    looker.look([Kind.INPUT], brisk=True)
    assert looker.readings(0) == Readings(input=SAID["screen_input"])
    assert looker.readings(0).on_mains == NOT_READ
    assert looker.read_s(Kind.MAINS) is None
    looker.look([Kind.MAINS], brisk=True)
    assert asked.reads_of(Kind.MAINS) == 2, "it counts anew at once"


@pytest.mark.parametrize(
    ("brisk", "a_minute"),
    [
        (True, (240, 60, 12, 30, 12, 24, 24, 12)),
        (False, (240, 15, 6, 12, 4, 12, 6, 4)),
    ],
    ids=["while tasks run", "while none does"],
)
def test_each_is_looked_at_as_often_as_is_worth_it(brisk: bool, a_minute: tuple[int, ...]) -> None:
    """Input each time; a minute is sixty times four looks."""
    asked, clock = Asked(), Clock()
    looker = Looker(asked.sources(), clock)
    for _ in range(240):
        looker.look(tuple(Kind), brisk=brisk)
        clock.pass_s(TICK_S)
    order = (
        *(Kind.INPUT, Kind.SESSION, Kind.MAINS, Kind.FULL_SCREEN, Kind.MEETING),
        *(Kind.PROCESSOR, Kind.MEMORY, Kind.PROGRAMS),
    )
    assert tuple(map(asked.reads_of, order)) == a_minute


@pytest.mark.parametrize(("early_s", "reads"), [(0.01, 2), (0.03, 1)])
def test_who_wakes_a_little_early_need_not_come_again(early_s: float, reads: int) -> None:
    asked, clock = Asked(), Clock()
    looker = Looker(asked.sources(), clock)
    looker.look([Kind.MAINS], brisk=True)
    clock.pass_s(5.0 - early_s)
    looker.look([Kind.MAINS], brisk=True)
    assert asked.reads_of(Kind.MAINS) == reads


def test_all_are_due_when_somebody_wants_them_now() -> None:
    asked, clock = Asked(), Clock()
    looker = Looker(asked.sources(), clock)
    looker.look(tuple(Kind), brisk=False)
    clock.pass_s(TICK_S)
    looker.look(tuple(Kind), brisk=False, now=True)
    assert [asked.reads_of(kind) for kind in Kind] == [2] * len(Kind)
    assert looker.read_s(Kind.PROGRAMS) == clock()


def test_one_that_breaks_is_told_of_once_each_time_it_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = Asked()
    looker = Looker(asked.sources(), Clock())

    def look(said: Reading[bool] | Exception) -> Reading[bool]:
        asked.said["mains"] = said
        looker.look([Kind.MAINS], brisk=True, now=True)
        return looker.readings(0).on_mains

    broken = ValueError("it is broken")
    assert look(broken) == Unseen(SourceFailed("ValueError('it is broken')"))
    look(broken)
    assert len(caplog.records) == 1
    assert look(Seen(value=False)) == Seen(value=False)
    look(broken)
    assert len(caplog.records) == 2


def test_of_two_inputs_at_once_the_one_at_the_screen_counts() -> None:
    asked = Asked()
    asked.said["terminal_input"] = Seen(LastInput(900.0, None, "pts/1"), "terminals")
    looker = Looker(asked.sources(), Clock())
    looker.look([Kind.INPUT], brisk=True)
    assert looker.readings(0).input == SAID["screen_input"]


def test_all_are_let_go_of() -> None:
    asked = Asked()
    asked.sources().close()
    assert all(each.closed for sources in asked.of.values() for each in sources)
