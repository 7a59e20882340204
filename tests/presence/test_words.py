"""What desktops of people tell an agent that sees none: the busiest of them counts, and only for a while."""

from __future__ import annotations

from typing import Any

import pytest

from agent.api.presence_reasons import NothingShowsIt, ProgramFills, RunsAsService
from agent.api.volunteering import AtHand
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions, Unseen
from agent.presence.sources import Asked, SightError, Source, Sources, blind
from agent.presence.words import FRESH_S, Desktop, Words, with_words

AWAY_MS = 60_000


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def saying(clock: Clock, **people: AtHand) -> Words:
    words = Words(clock)
    for name, said in people.items():
        words.hear(name, said)
    return words


def test_a_word_counts_for_five_seconds_and_the_last_of_each(clock: Clock) -> None:
    words = saying(clock, ana=AtHand(AWAY_MS), rui=AtHand(2_000))
    clock.now_s += FRESH_S
    words.hear("ana", AtHand(500))
    assert words.last_input() == LastInput(1_000 + FRESH_S - 0.5)
    clock.now_s += 0.1
    assert [*words.fresh()] == ["ana"]
    clock.now_s += FRESH_S
    for ask in (words.last_input, words.filling):
        with pytest.raises(SightError) as found:
            ask()
        assert found.value.reason == RunsAsService()
    assert FRESH_S == 5


def test_of_several_people_the_busiest_counts(clock: Clock) -> None:
    words = saying(clock, ana=AtHand(AWAY_MS), rui=AtHand(3_000))
    assert words.last_input() == LastInput(997.0)
    assert words.filling() is None
    words.hear("ana", AtHand(AWAY_MS, filled=True))
    assert words.filling() == ProgramFills()
    words.hear("eva", AtHand(None))
    with pytest.raises(SightError) as found:
        words.last_input()
    assert found.value.reason == NothingShowsIt()


class At(Source[Any]):
    """It sees this."""

    def __init__(self, seen: Reading[Any]) -> None:
        self.seen, self.closed = seen, False

    def read(self) -> Reading[Any]:
        return self.seen

    def close(self) -> None:
        self.closed = True


HERE, AWAY = AtHand(0), AtHand(0, locked=True)


@pytest.mark.parametrize(
    ("seen", "people", "told"),
    [
        (Sessions(others=("ana",)), {}, Sessions(others=("ana",))),
        (Sessions(others=("ana",)), {"ana": HERE}, Sessions()),
        (Sessions(others=("ana",)), {"ana": AWAY}, Sessions(locked=True)),
        (Sessions(others=("ana", "rui")), {"ana": AWAY}, Sessions(others=("rui",))),
        (Sessions(locked=True), {"ana": HERE}, Sessions()),
        (Sessions(), {"ana": AWAY, "rui": HERE}, Sessions()),
        (None, {"ana": AWAY}, None),
    ],
)
def test_those_who_tell_of_themselves_are_no_others(
    clock: Clock, seen: Sessions | None, people: dict[str, AtHand], told: Sessions | None
) -> None:
    unseen: Unseen = Unseen(NothingShowsIt())
    sessions = At(unseen if seen is None else Seen(seen, "logind"))
    nothing = blind(RunsAsService())
    typed = At(Seen(LastInput(1.0, where="pts/3"), "terminals"))
    of = {Kind.INPUT: (nothing, typed), Kind.FULL_SCREEN: (nothing,), Kind.SESSION: (sessions,)}
    made = with_words(Sources(of, lambda _: None), saying(clock, **people), clock)
    reading = made.of[Kind.SESSION][0].read()
    assert reading == (unseen if told is None else Seen(told, "logind"))
    screen, terminals = made.of[Kind.INPUT]
    assert terminals is typed
    assert isinstance(screen.read(), Seen if people else Unseen)
    assert isinstance(made.of[Kind.FULL_SCREEN][0].read(), Seen if people else Unseen)
    made.close()
    assert sessions.closed


@pytest.mark.parametrize(
    ("at_s", "locked", "fills", "said"),
    [
        (998.5, False, None, AtHand(1_500)),
        (1_001.0, True, None, AtHand(0, locked=True)),
        (998.5, False, ProgramFills(), AtHand(1_500, filled=True)),
        (None, None, SightError(NothingShowsIt()), AtHand(None, filled=True)),
    ],
)
def test_a_tray_tells_what_its_desktop_shows_and_what_it_cannot_see_as_somebody(
    clock: Clock, at_s: float | None, locked: bool | None, fills: Any, said: AtHand
) -> None:
    nothing = blind(NothingShowsIt())
    of = {
        Kind.INPUT: (nothing if at_s is None else At(Seen(LastInput(at_s))), nothing),
        Kind.SESSION: (nothing if locked is None else At(Seen(Sessions(locked=locked))),),
        Kind.FULL_SCREEN: (nothing if at_s is None else Asked(lambda: fills),),
    }
    desktop = Desktop(Sources(of, lambda _: None), clock)
    assert desktop.word() == said
    desktop.close()
