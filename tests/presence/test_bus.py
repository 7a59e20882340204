"""What desktops and logind tell, asked over a real message bus of the test's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.api.presence_reasons import NoBus, ScreenKeptOn, SystemSays

if not sys.platform.startswith("linux"):
    pytest.skip("message buses are a thing of Linux desktops", allow_module_level=True)

from agent.presence.readings import LastInput, Seen, Sessions, Unseen
from agent.presence.sources import Source
from agent.presence.sources.bus import (
    GNOME_SAVER,
    MANAGER,
    PROPERTIES_INTERFACE,
    SAVER,
    SERVICE,
    Bus,
    bus_kept_awake,
    bus_screen_saver,
    logind_sessions,
    mutter_last_input,
    saver_last_input,
)
from tests.presence.clocks import Clock
from tests.presence.desktop_on_bus import Answer, Answers, desktop
from tests.presence.displays import bus

ANT, BEE = 1000, 1001


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with bus(tmp_path) as found:
        yield found


def always(signature: str, *values: object) -> Callable[..., Answer]:
    return lambda *_: (signature, values)


@pytest.mark.parametrize(("a_second", "first"), [(1, 40), (1000, 40_000)])
def test_a_screen_saver_may_tell_seconds_or_milliseconds(
    address: str, a_second: int, first: int
) -> None:
    told, clock = [first], Clock(1_000.0)
    answers: Answers = {(FREE_NAME, "GetSessionIdleTime"): lambda *_: ("u", (told[0],))}
    with closing(Bus(address)) as joined, desktop(address, (FREE_NAME,), answers):
        source = saver_last_input(joined, clock)
        assert source.read() == Seen(LastInput(1_000.0 - first / 1000), "the screen saver")
        clock.pass_s(2)
        told[0] += 2 * a_second
        assert source.read() == Seen(LastInput(960.0), "the screen saver")


MUTTER, GNOME = "org.gnome.Mutter.IdleMonitor", "org.gnome.SessionManager"
KDE = "org.kde.Solid.PowerManagement.PolicyAgent"
GNOME_NAME, FREE_NAME = "org.gnome.ScreenSaver", "org.freedesktop.ScreenSaver"


@pytest.mark.parametrize(
    ("name", "method", "answer", "source", "expected"),
    [
        (
            MUTTER,
            "GetIdletime",
            always("t", 12_500),
            lambda joined: mutter_last_input(joined, Clock(100.0)),
            Seen(LastInput(87.5), "GNOME"),
        ),
        *(
            (name, "GetActive", always("b", on), make, Seen(on, "the screen saver"))
            for name, make in (
                (GNOME_NAME, lambda joined: bus_screen_saver(joined, GNOME_SAVER)),
                (FREE_NAME, lambda joined: bus_screen_saver(joined, SAVER)),
            )
            for on in (True, False)
        ),
        (
            GNOME,
            "IsInhibited",
            lambda _, flags: ("b", (flags == 8,)),
            lambda joined: bus_kept_awake(joined, "GNOME"),
            Seen(ScreenKeptOn(), "GNOME"),
        ),
        (
            KDE,
            "HasInhibition",
            lambda _, kinds: ("b", (kinds != 4,)),
            lambda joined: bus_kept_awake(joined, "KDE"),
            Seen(None, "KDE"),
        ),
    ],
)
def test_what_desktops_tell(
    address: str,
    name: str,
    method: str,
    answer: Callable[..., Answer],
    source: Callable[[Bus], Source[Any]],
    expected: Seen[object],
) -> None:
    with closing(Bus(address)) as joined, desktop(address, (name,), {(name, method): answer}):
        assert source(joined).read() == expected


# -- logind --------------------------------------------------------------------------------------


def session(**changed: object) -> dict[str, tuple[str, Any]]:
    told: dict[str, object] = {
        "Type": "x11",
        "Class": "user",
        "State": "active",
        "Active": True,
        "LockedHint": False,
        "Remote": False,
        **changed,
    }
    return {name: ("b" if isinstance(value, bool) else "s", value) for name, value in told.items()}


def logind(*sessions: tuple[int, str, dict[str, tuple[str, Any]]]) -> Answers:
    """A service with these sessions, of a user id and name each."""
    paths = [f"/org/freedesktop/login1/session/_{number}" for number in range(len(sessions))]
    listed = [
        (str(number), user_id, user, "seat0", path)
        for number, ((user_id, user, _), path) in enumerate(zip(sessions, paths, strict=True))
    ]
    told = {path: each[2] for each, path in zip(sessions, paths, strict=True)}
    return {
        (MANAGER.interface, "ListSessions"): always("a(susso)", listed),
        (PROPERTIES_INTERFACE, "GetAll"): lambda path, _: ("a{sv}", (told[path],)),
    }


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [
        ([(ANT, "ant", session())], Sessions()),
        ([(ANT, "ant", session(LockedHint=True))], Sessions(locked=True)),
        ([(ANT, "ant", session(Active=False))], Sessions(locked=True)),
        (
            [(ANT, "ant", session(Active=False)), (BEE, "bee", session(Type="wayland"))],
            Sessions(locked=True, others=("bee",)),
        ),
        ([(ANT, "ant", session()), (BEE, "bee", session(LockedHint=True))], Sessions()),
        ([(ANT, "ant", session()), (BEE, "bee", session(Active=False))], Sessions()),
        ([(ANT, "ant", session()), (BEE, "bee", session(Remote=True))], Sessions(others=("bee",))),
        ([(BEE, "bee", session())], Sessions(others=("bee",))),
        ([(120, "gdm", session(Class="greeter"))], Sessions(nobody=True)),
        (
            [(ANT, "ant", session(Type="tty")), (ANT, "ant", session(Class="manager"))],
            Sessions(nobody=True),
        ),
        ([(ANT, "ant", session(State="closing"))], Sessions(nobody=True)),
        ([], Sessions(nobody=True)),
    ],
)
def test_who_is_at_the_screens(
    address: str, sessions: list[tuple[int, str, dict[str, tuple[str, Any]]]], expected: Sessions
) -> None:
    with closing(Bus(address)) as joined, desktop(address, (SERVICE,), logind(*sessions)):
        assert logind_sessions(joined, ANT).read() == Seen(expected, "logind")


# -- what goes wrong -----------------------------------------------------------------------------


def test_a_desktop_that_is_not_there_or_does_not_tell_is_said(address: str) -> None:
    gone = Unseen(SystemSays(f"{MUTTER} is not there"))
    with closing(Bus(address)) as joined:
        source = mutter_last_input(joined, Clock())
        assert source.read() == gone
        with desktop(address, (MUTTER,), {}):
            assert source.read() == Unseen(SystemSays(f"{MUTTER} does not tell (GetIdletime)"))
        assert source.read() == gone


def test_a_bus_that_is_not_there_or_goes_away_is_said_and_joined_again(tmp_path: Path) -> None:
    answers = {(MUTTER, "GetIdletime"): always("t", 0)}
    with closing(Bus(f"unix:path={tmp_path}/bus")) as joined:
        source = mutter_last_input(joined, Clock(10.0))
        assert source.read() == Unseen(NoBus("message"))
        for _ in range(2):
            with bus(tmp_path) as address, desktop(address, (MUTTER,), answers):
                found = source.read()
                if isinstance(
                    found, Unseen
                ):  # it notices at this question that the old bus is gone
                    found = source.read()
                assert found == Seen(LastInput(10.0), "GNOME")
