"""What is made of the words of a Wayland compositor, over a real socket."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent.api.presence_reasons import NoSession, ScreenKeptOn
from agent.wording.speech import Speech

if sys.platform == "win32":
    pytest.skip("Wayland is not a thing of Windows", allow_module_level=True)

from agent.presence.readings import LastInput, Seen, Unseen
from agent.presence.sources.wayland import (
    GET_IDLE,
    GET_INPUT_IDLE,
    WaylandIdle,
    wayland_kept_awake,
    wayland_last_input,
)
from tests.certain import of_kind
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for
from tests.presence.clocks import Clock
from tests.presence.compositor import GLOBALS, IDLED, RESUMED, Compositor, compositor

START_S = 1_000.0
AWAKE = Seen(ScreenKeptOn(), "Wayland")


class Session:
    """Both sources on one connection, and the clock they see."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.clock = Clock(START_S)
        self.idle = WaylandIdle(self.clock, environment)
        self.input, self.awake = wayland_last_input(self.idle), wayland_kept_awake(self.idle)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.idle.close()

    def at_s(self) -> float:
        """A busy machine may keep the compositor waiting longer than a source would."""
        wait_for(
            lambda: isinstance(self.input.read(), Seen), EVENTUALLY_S_MAX, "the compositor answers"
        )
        found: Seen[LastInput] = of_kind(Seen, self.input.read())
        return found.value.at_s

    def wait_for_at(self, at_s: float) -> None:
        wait_for(
            lambda: self.at_s() == at_s, EVENTUALLY_S_MAX, "the word of the compositor is heard"
        )


def told(found: Compositor, session: Session, made_by: int, operation: int, at_s: float) -> None:
    """The compositor says so, and it is heard."""
    found.tell(made_by, operation)
    session.wait_for_at(at_s)


def test_the_last_input_is_told_by_what_becomes_idle_and_is_touched_again(tmp_path: Path) -> None:
    with compositor(tmp_path) as (found, environment), Session(environment) as session:
        assert session.at_s() == START_S, "somebody may be there"
        assert session.input.read() == Seen(LastInput(START_S), "Wayland")
        session.clock.pass_s(1)
        told(found, session, GET_INPUT_IDLE, IDLED, START_S)
        session.clock.pass_s(300)
        assert session.at_s() == START_S
        told(found, session, GET_INPUT_IDLE, RESUMED, START_S + 301)
        session.clock.pass_s(5)
        assert session.at_s() == START_S + 306, "until it is idle again somebody is there"
        assert ("wl_seat", 1) in found.bound
        assert ("ext_idle_notifier_v1", 2) in found.bound
        both = [1_000, 1_000]
        wait_for(
            lambda: found.timeouts_ms == both, EVENTUALLY_S_MAX, "both notifications are asked for"
        )


def test_a_film_keeps_the_screen_on_while_nobody_touches_anything(tmp_path: Path) -> None:
    with compositor(tmp_path) as (found, environment), Session(environment) as session:
        assert session.at_s() == START_S
        assert session.awake.read() == Seen(None, "Wayland")
        session.clock.pass_s(1)
        told(found, session, GET_INPUT_IDLE, IDLED, START_S)
        assert session.awake.read() == Seen(None, "Wayland"), "the two words take a moment"
        session.clock.pass_s(10)
        assert session.awake.read() == AWAKE
        found.tell(GET_IDLE, IDLED)
        wait_for(
            lambda: session.awake.read() == Seen(None, "Wayland"),
            EVENTUALLY_S_MAX,
            "the film is over",
        )


def test_an_old_compositor_counts_a_film_as_somebody_there(tmp_path: Path) -> None:
    offered = {**GLOBALS, 3: ("ext_idle_notifier_v1", 1)}
    with compositor(tmp_path, offered) as (found, environment), Session(environment) as session:
        session.at_s()
        session.clock.pass_s(100)
        assert session.at_s() == START_S + 100
        assert session.awake.read() == Seen(None, "Wayland")
        told(found, session, GET_IDLE, IDLED, START_S + 99)


def test_of_several_seats_the_one_touched_last_counts(tmp_path: Path) -> None:
    with compositor(tmp_path) as (found, environment), Session(environment) as session:
        session.at_s()
        session.clock.pass_s(1)
        told(found, session, GET_INPUT_IDLE, IDLED, START_S)
        found.offer(9, "wl_seat")
        session.clock.pass_s(50)
        session.wait_for_at(START_S + 51)
        wait_for(lambda: len(found.notifications) == 4, EVENTUALLY_S_MAX, "both seats are watched")


@pytest.mark.parametrize("end", [Compositor.drop, Compositor.fail])
def test_a_compositor_that_ends_the_connection_is_joined_again(tmp_path: Path, end: object) -> None:
    with compositor(tmp_path) as (found, environment), Session(environment) as session:
        session.at_s()
        assert callable(end)
        end(found)
        wait_for(
            lambda: isinstance(session.input.read(), Unseen),
            EVENTUALLY_S_MAX,
            "it is said",
            poll_s=0.001,
        )
        assert session.at_s() == START_S


@pytest.mark.parametrize(
    ("offered", "because"),
    [
        ({1: ("wl_seat", 8)}, "does not offer ext_idle_notifier_v1"),
        ({3: ("ext_idle_notifier_v1", 2)}, "does not offer wl_seat"),
    ],
)
def test_what_a_compositor_lacks_is_said(
    tmp_path: Path, offered: dict[int, tuple[str, int]], because: str
) -> None:
    with compositor(tmp_path, offered) as (_, environment):
        for source in (Session(environment).input, Session(environment).awake):
            found = of_kind(Unseen, source.read())
            assert because in Speech().every(found.because)


def test_where_there_is_no_compositor_that_is_said(tmp_path: Path) -> None:
    found = Session({}).input.read()
    assert found == Unseen(NoSession())
    found = of_kind(
        Unseen, Session({"XDG_RUNTIME_DIR": str(tmp_path), "WAYLAND_DISPLAY": "none"}).input.read()
    )
    assert "cannot be reached" in Speech().every(found.because)
