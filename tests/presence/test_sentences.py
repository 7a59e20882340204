"""What is said to a person: lengths of time, moments, names, and what each source sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.api.presence_reasons import CameraUsed, MicrophoneUsed, NamedFills, SystemSays
from agent.api.reasons import Reason
from agent.presence.conditions import description
from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions, Unseen
from agent.presence.touch import Busy
from agent.wording.speech import Speech, listed, long, moment
from tests.presence.scenes import NOON_S, ZURICH, Scene

HOUR_S, DAY_S = 3_600, 86_400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((-3, "0 s"), (0.4, "0 s"), (12.4, "12 s"), (89, "89 s")),
        *((90, "2 min"), (100, "2 min"), (89 * 60, "89 min")),
        *((90 * 60, "2 h"), (5 * HOUR_S, "5 h"), (36 * HOUR_S - 1, "36 h")),
        *((36 * HOUR_S, "2 days"), (10 * DAY_S, "10 days")),
    ],
)
def test_a_length_of_time_is_said_roughly(seconds: float, text: str) -> None:
    assert long(seconds) == text


@pytest.mark.parametrize(
    ("later_s", "text"),
    [
        (0, "12:00"),
        (11 * HOUR_S + 59 * 60, "23:59"),
        (12 * HOUR_S, "Wednesday 00:00"),
        (6 * DAY_S, "Monday 12:00"),
        (7 * DAY_S, "2026-03-17 12:00"),
        (-DAY_S, "2026-03-09 12:00"),
    ],
)
def test_a_moment_has_its_day_where_that_is_not_today(later_s: float, text: str) -> None:
    assert moment(NOON_S + later_s, NOON_S, ZURICH) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")],
)
def test_names_are_listed(names: tuple[str, ...], text: str) -> None:
    assert listed(names) == text


@pytest.mark.parametrize(
    ("kind", "name", "reading", "text"),
    [
        (Kind.INPUT, "input", Seen(LastInput(9_988.0), "X11"), "Last input seen 12 s ago, by X11"),
        (
            Kind.INPUT,
            "input",
            Seen(LastInput(9_988.0, None, "pts/3")),
            "Last input seen 12 s ago in pts/3",
        ),
        (
            Kind.INPUT,
            "input",
            Seen(LastInput(float("-inf"))),
            "Nobody is logged in at a screen",
        ),
        (
            Kind.INPUT,
            "input",
            Unseen(SystemSays("it is dark")),
            "Last input: cannot be seen, because it is dark",
        ),
        (Kind.SESSION, "sessions", Seen(Sessions()), "The screen is not locked"),
        (Kind.SESSION, "sessions", Seen(Sessions(locked=True)), "The screen is locked"),
        (
            Kind.SESSION,
            "sessions",
            Seen(Sessions(others=("anna",))),
            "The screen is not locked; anna uses another",
        ),
        (
            Kind.SESSION,
            "sessions",
            Seen(Sessions(locked=True, others=("anna",)), "logind"),
            "The screen is locked; anna uses another, by logind",
        ),
        (
            Kind.SESSION,
            "sessions",
            Seen(Sessions(nobody=True)),
            "Nobody is logged in at a screen",
        ),
        (
            Kind.SESSION,
            "sessions",
            Unseen(SystemSays("no bus")),
            "Screens: cannot be seen, because no bus",
        ),
        (Kind.MAINS, "on_mains", Seen(value=True), "This machine is on mains"),
        (Kind.MAINS, "on_mains", Seen(value=False), "This machine runs on battery"),
        (Kind.MAINS, "on_mains", Unseen(SystemSays("no")), "Mains: cannot be seen, because no"),
        (Kind.FULL_SCREEN, "full_screen", Seen(None), "Nothing fills the screen"),
        (Kind.MEETING, "meeting", Seen(None), "No program uses a microphone or camera"),
        (Kind.MEETING, "meeting", Seen(CameraUsed("cheese")), "Cheese uses the camera"),
        (Kind.MEETING, "meeting", Seen(MicrophoneUsed("")), "A program uses the microphone"),
        (
            Kind.FULL_SCREEN,
            "full_screen",
            Seen(NamedFills("mpv")),
            "Mpv fills the screen",
        ),
        (
            Kind.FULL_SCREEN,
            "full_screen",
            Unseen(SystemSays("no")),
            "Full screen: cannot be seen, because no",
        ),
        (
            Kind.PROCESSOR,
            "others_cpu_percent",
            Seen(7.4),
            "Other programs use 7 % of the processor",
        ),
        (
            Kind.PROCESSOR,
            "others_cpu_percent",
            Unseen(SystemSays("no")),
            "Processor: cannot be seen, because no",
        ),
        (Kind.MEMORY, "free_memory_mb", Seen(812.6), "813 MB of memory are free"),
        (
            Kind.MEMORY,
            "free_memory_mb",
            Unseen(SystemSays("no")),
            "Memory: cannot be seen, because no",
        ),
        (Kind.PROGRAMS, "exclusive", Seen(()), "No exclusive program runs"),
        (Kind.PROGRAMS, "exclusive", Seen(("zoom", "obs")), "zoom and obs runs"),
        (
            Kind.PROGRAMS,
            "exclusive",
            Unseen(SystemSays("no")),
            "Exclusive programs: cannot be seen, because no",
        ),
    ],
)
def test_each_source_says_what_it_sees(
    kind: Kind, name: str, reading: Reading[object], text: str
) -> None:
    scene = Scene()
    scene.see(**{name: reading})
    assert said(scene, description(kind, scene.readings, scene.memory, scene.now)) == text


def test_a_processor_that_counts_as_busy_is_called_so() -> None:
    scene = Scene()
    memory = replace(scene.memory, busy=Busy(now=True))
    seen = description(Kind.PROCESSOR, scene.readings, memory, scene.now)
    assert said(scene, seen) == "Other programs use 3 % of the processor, counted as busy"


def said(scene: Scene, reason: Reason) -> str:
    return Speech(round(scene.wall_s * 1000)).say(reason)
