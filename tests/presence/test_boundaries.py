"""At the boundaries of rules, filters and latches: the last value on each side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from agent.api.presence_reasons import SystemSays
from agent.api.volunteering import Hours, VolunteerMode, VolunteerRules
from agent.presence.hours import minutes
from agent.presence.judgement import Cause, Finishing, Paused
from agent.presence.readings import Kind, LastInput, Seen, Sessions, Unseen
from agent.presence.rules import faults, read_hours, read_rules, written_rules
from agent.presence.touch import Busy, Touch, after, busy_after
from agent.settings.layers import read_settings
from agent.settings.node_settings import SettingsError
from tests.presence.scenes import NOON_S, Look, Scene, at, look

NINE = Hours("monday", "09:00", "10:00")


# -- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "least", "most", "step"),
    [
        ("idle_s", 0, 86_400, 0.5),
        ("others_cpu_percent", 1, 100, 1),
        ("free_memory_mb", 0, 16_777_216, 1),
        ("lets_end_s", 0, 86_400, 0.5),
        ("warn_s", 0, 600, 0.5),
    ],
)
def test_numbers_are_accepted_from_the_least_to_the_most(
    name: str, least: float, most: float, step: float
) -> None:
    def wrong(value: float) -> list[str]:
        return faults(VolunteerRules(**{name: value}))  # type: ignore[arg-type]

    assert (wrong(least), wrong(most)) == ([], [])
    assert len(wrong(least - step)) == 1
    assert wrong(most + step) == [f"{name} is {most + step:g}: it has to be from 0 to {most:g}."]


def test_lists_are_accepted_up_to_their_most() -> None:
    assert faults(VolunteerRules(hours=(NINE,) * 64, exclusive_programs=("a" * 200,) * 64)) == []
    [wrong] = faults(VolunteerRules(hours=(NINE,) * 65))
    assert wrong == "the number of hours is 65: it has to be from 0 to 64."
    [wrong] = faults(VolunteerRules(exclusive_programs=("a",) * 65))
    assert wrong == "the number of exclusive_programs is 65: it has to be from 0 to 64."
    for name in ("a" * 201, "", "  "):
        [wrong] = faults(VolunteerRules(exclusive_programs=("b", name)))
        assert "empty or overlong name" in wrong
    for name in ("", "a\u202eb", "a" * 201):
        [wrong] = faults(VolunteerRules(people=("ana", name)))
        assert (wrong[-6:], wrong.isprintable()) == ("'ana'.", True)
    [wrong] = faults(VolunteerRules(exclusive_programs=("b", "Wingbeat.EXE")))
    assert wrong == "exclusive_programs has Wingbeat.EXE, which is this program: remove it."
    for name in ("wingbeat-tray", "wing"):
        assert faults(VolunteerRules(exclusive_programs=(name,))) == []


def test_as_much_memory_as_the_machine_has_can_never_be_free() -> None:
    assert faults(VolunteerRules(free_memory_mb=4_095), 4_096.0) == []
    [wrong] = faults(VolunteerRules(free_memory_mb=4_096), 4_096.0)
    assert wrong.startswith("free_memory_mb is 4096, this machine has 4096 MB in all")
    assert faults(VolunteerRules(free_memory_mb=4_096)) == [], "nobody knows how much it has"


@pytest.mark.parametrize("mode", ["always", "when idle", "not now", "not yet"])
def test_only_by_schedule_needs_hours(mode: VolunteerMode) -> None:
    assert faults(VolunteerRules(mode)) == []
    assert len(faults(VolunteerRules("by schedule"))) == 1
    assert faults(VolunteerRules("by schedule", (NINE,))) == []


@pytest.mark.parametrize(("count", "accepted"), [(64, True), (65, False)])
@pytest.mark.parametrize(
    ("key", "text"), [("hours", "mon 9:00-10:00"), ("exclusive_programs", "a")]
)
def test_a_file_may_have_as_many(
    tmp_path: Path, key: str, text: str, count: int, accepted: bool
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"[presence]\n{key} = {[text] * count}\n")
    if accepted:
        assert len(getattr(read_settings(path).rules, key)) == count
    else:
        with pytest.raises(SettingsError, match=f"{key} has to be a list of up to 64 texts"):
            read_settings(path)


def test_each_key_is_read_and_written() -> None:
    table = {
        "hours": ["mon 09:00-10:00"],
        "idle_s": 60,
        "others_cpu_percent": 20,
        "on_mains_only": False,
        "free_memory_mb": 0,
        "full_screen_counts": False,
        "calls_count": False,
        "exclusive_programs": ["zürich"],
        "own_only": True,
        "lets_end_s": 1.5,
        "warn_s": 30,
        "people": ["ana", "joão"],
        "bans": ["rui", "pato"],
    }
    rules = VolunteerRules(
        "always",
        (NINE,),
        60,
        20,
        False,
        0,
        False,
        ("zürich",),
        True,
        *(1.5, False, 30),
        *(("ana", "joão"), ("rui", "pato")),
    )
    assert structs.replace(VolunteerRules(), **read_rules(table)) == rules
    assert written_rules(rules) == {**table, "hours": ["monday 09:00-10:00"]}
    assert written_rules(VolunteerRules()) == {}, "what is as by default is left out"


@pytest.mark.parametrize(
    "table",
    [{"idle_s": True}, {"others_cpu_percent": True}, {"own_only": 0}, {"exclusive_programs": [1]}],
)
def test_a_value_of_another_kind_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="has to be"):
        read_rules(table)


# -- hours ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("00:00", 0), ("7:05", 425), (" 18:30 ", 1110), ("23:59", 1439), ("24:00", 1440)],
)
def test_a_time_of_the_day_is_read(text: str, value: int) -> None:
    assert minutes(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            ":",
            "18",
            "18:",
            ":30",
            "18:3",
            "18:300",
            "018:30",
            "a:30",
            "18:b",
            "-1:30",
            "18.30",
        ),
        *("24:01", "25:00", "18:60"),
    ],
)
def test_what_no_clock_shows_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"no time|no clock"):
        minutes(text)


@pytest.mark.parametrize(
    ("begins", "ends", "good"),
    [
        *(("00:00", "00:00", True), ("23:59", "24:00", True)),
        *(("-1:00", "01:00", False), ("24:01", "01:00", False), ("01:00", "25:00", False)),
        *(("01:00", "9:00", False), ("01:60", "09:00", False)),
    ],
)
def test_hours_lie_within_a_day(begins: str, ends: str, good: bool) -> None:
    told = {"day": "monday", "begins": begins, "ends": ends}
    with nullcontext() if good else pytest.raises(msgspec.ValidationError):
        assert msgspec.convert(told, Hours) == Hours("monday", begins, ends)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mo 1:00-2:00", ["monday"]),
        ("tu-th 1:00-2:00", ["tuesday", "wednesday", "thursday"]),
        ("Saturday-mon 1:00-2:00", ["saturday", "sunday", "monday"]),
        ("fri , sun 1:00-2:00", ["friday", "sunday"]),
        ("we-we 1:00-2:00", ["wednesday"]),
    ],
)
def test_days_are_read(text: str, days: list[str]) -> None:
    assert [each.day for each in read_hours(text)] == days


# -- inputs --------------------------------------------------------------------------------------

RESTED = Touch(counted_s=1_000.0, newest_s=1_000.0, resting=(100, 100))


def inputs(*seen: tuple[float, tuple[int, int] | None]) -> Touch:
    """What is remembered after these inputs."""
    touch = RESTED
    for at_s, pointer in seen:
        touch = after(touch, LastInput(at_s, pointer), at_s)
    return touch


@pytest.mark.parametrize(
    ("seen", "counted_s"),
    [
        ([(1_600.0, (110, 100))], 1_000.0),  # after ten minutes, a nudge
        ([(1_599.5, (110, 100))], 1_599.5),  # sooner, it counts
        ([(1_700.0, (116, 100))], 1_000.0),  # sixteen pixels
        ([(1_700.0, (117, 100))], 1_700.0),
        ([(1_700.0, (100, 100))], 1_700.0),  # a key
        ([(1_700.0, None)], 1_700.0),  # nobody knows where
        ([(1_700.0, (110, 100)), (1_700.25, (112, 100))], 1_000.0),  # still the same burst
        ([(1_700.0, (110, 100)), (1_700.5, (112, 100))], 1_700.5),  # it goes on
        ([(1_700.0, (110, 100)), (1_705.0, (112, 100))], 1_705.0),
        ([(1_700.0, (110, 100)), (1_705.25, (112, 100))], 1_000.0),  # another nudge
        (
            [(1_700.0, (110, 100)), (1_700.25, (112, 100)), (1_700.5, (113, 100))],
            1_700.5,
        ),  # counted from its beginning
        ([(1_000.0625, (300, 300))], 1_000.0625),
        ([(1_000.05, (300, 300))], 1_000.0),  # the same input, read a moment later
    ],
)
def test_which_inputs_count(
    seen: list[tuple[float, tuple[int, int] | None]], counted_s: float
) -> None:
    assert inputs(*seen).counted_s == counted_s


def test_where_the_pointer_rests_is_known_after_a_nudge_and_after_a_program_has_moved_it() -> None:
    nudged = after(inputs((1_700.0, (110, 100))), LastInput(1_700.0, (110, 100)), 1_705.0)
    assert (nudged.bump_s, nudged.resting) == (1_700.0, (100, 100)), "it may go on"
    nudged = after(nudged, LastInput(1_700.0, (110, 100)), 1_705.25)
    assert (nudged.bump_s, nudged.resting) == (None, (110, 100))
    assert after(inputs((1_700.0, (110, 100))), LastInput(1_700.0), 1_706.0).resting == (100, 100)
    moved = after(RESTED, LastInput(1_000.0, (500, 500)), 1_300.0)
    assert (moved.resting, moved.counted_s) == ((500, 500), 1_000.0)
    assert after(RESTED, LastInput(1_000.0), 1_300.0) == RESTED
    assert inputs((1_100.0, None)).resting == (100, 100)


@pytest.mark.parametrize(
    ("resting", "pointer", "by_mouse"),
    [
        ((100, 100), (300, 300), True),
        ((100, 100), (100, 100), False),
        ((100, 100), None, False),
        (None, (300, 300), False),
    ],
)
def test_only_a_pointer_that_has_moved_was_the_mouse(
    resting: tuple[int, int] | None, pointer: tuple[int, int] | None, by_mouse: bool
) -> None:
    touch = after(Touch(1_000.0, 1_000.0, resting=resting), LastInput(1_100.0, pointer), 1_100.0)
    assert touch.by_mouse is by_mouse


# -- others' use of the processor ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("percent", "limit", "busy"), [(10.0, 10, False), (10.5, 10, True), (0.0, 10, False)]
)
def test_the_first_look_counts_by_the_limit(percent: float, limit: int, busy: bool) -> None:
    assert busy_after(Busy(), percent, limit, 100.0).now is busy


@pytest.mark.parametrize(
    ("percent", "limit", "for_s", "busy"),
    [
        (25.0, 10, 100.0, False),
        (25.5, 10, 4.5, False),
        (25.5, 10, 5.0, True),
        (97.0, 90, 100.0, False),
        (97.5, 90, 5.0, True),
    ],
)
def test_it_becomes_busy_well_above_the_limit_and_after_a_while(
    percent: float, limit: int, for_s: float, busy: bool
) -> None:
    latch = busy_after(Busy(now=False), percent, limit, 100.0)
    assert latch.now is False
    assert busy_after(latch, percent, limit, 100.0 + for_s).now is busy


@pytest.mark.parametrize(
    ("percent", "for_s", "busy"), [(10.0, 29.5, True), (10.0, 30.0, False), (10.5, 100.0, True)]
)
def test_it_is_quiet_only_at_the_limit_and_after_longer(
    percent: float, for_s: float, busy: bool
) -> None:
    latch = busy_after(Busy(now=True), percent, 10, 100.0)
    assert busy_after(latch, percent, 10, 100.0 + for_s).now is busy


def test_a_pause_between_two_bursts_begins_anew() -> None:
    latch = Busy(now=False)
    for at_s, percent in ((100.0, 90.0), (104.0, 25.0), (105.0, 90.0), (109.5, 90.0)):
        latch = busy_after(latch, percent, 10, at_s)
    assert latch.now is False
    assert busy_after(latch, 90.0, 10, 110.0).now is True


# -- what is looked at, and when -----------------------------------------------------------------

ALL_OFF = VolunteerRules(
    "when idle",
    idle_s=0,
    others_cpu_percent=100,
    on_mains_only=False,
    free_memory_mb=0,
    full_screen_counts=False,
    calls_count=False,
)
BLIND = Unseen(SystemSays("it is dark"))
COVERED = dict.fromkeys(
    (
        *("input", "on_mains", "full_screen", "meeting"),
        *("others_cpu_percent", "free_memory_mb", "exclusive"),
    ),
    BLIND,
)
LOCKED = {"sessions": Seen(Sessions(locked=True))}
NOBODY = {"sessions": Seen(Sessions(nobody=True))}
OTHERS = {"sessions": Seen(Sessions(others=("anna", "ben")))}
HELPS, HELD = {"volunteering": True}, {"volunteering": False}
FINISHES = "Finishing this task, then paused"
NEVER: dict[str, object] = {"input": Seen(LastInput(float("-inf")))}


def free(memory_mb: float) -> dict[str, object]:
    return {"free_memory_mb": Seen(memory_mb)}


STORIES: dict[str, Sequence[Look]] = {
    **{
        f"the hand leaves the mouse within 3 s of the lock: {after_s}": [
            look(sees=LOCKED),
            look(after_s),
            look(touch={}, volunteering=helps),
        ]
        for after_s, helps in ((3.0, True), (3.5, False))
    },
    **{
        f"a locked screen is free again sooner but no later: {idle_s}": [
            look(rules=VolunteerRules("when idle", idle_s=idle_s), sees=LOCKED),
            look(60),
            look(touch={}),
            look(needed_s - 0.5, **HELD),
            look(0.5, **HELPS),
        ]
        for idle_s, needed_s in ((10, 10), (30, 30), (300, 30))
    },
    **{
        f"what {rule} is for is looked at and has to be seen, and nothing else": [
            look(
                rules=structs.replace(ALL_OFF, **rule),
                sees=COVERED,
                volunteering=not kinds,
                needs=kinds,
            ),
            look(wish=Finishing(Paused()), needs=frozenset()),
        ]
        for rule, kinds in (
            ({}, set()),
            ({"idle_s": 1}, {Kind.INPUT, Kind.SESSION}),
            ({"full_screen_counts": True}, {Kind.FULL_SCREEN, Kind.SESSION}),
            ({"calls_count": True}, {Kind.MEETING, Kind.SESSION}),
            ({"on_mains_only": True}, {Kind.MAINS}),
            ({"others_cpu_percent": 99}, {Kind.PROCESSOR}),
            ({"free_memory_mb": 1}, {Kind.MEMORY}),
            ({"exclusive_programs": ("a",)}, {Kind.PROGRAMS}),
        )
    },
    **{
        f"it looks again in {again_s} s while it helps: {running}, {rules}": [
            look(
                rules=rules,
                sees={"running": running},
                **HELPS,
                look_again_s=again_s,
                cause=Cause.ALWAYS if rules.mode == "always" else Cause.IDLE,
            )
        ]
        for rules, running, again_s in (
            (VolunteerRules("always"), 0, 60.0),
            (VolunteerRules("always", exclusive_programs=("a",)), 1, 2.0),
            (VolunteerRules("when idle"), 0, 2.0),
            (VolunteerRules("when idle"), 1, 0.25),
            (VolunteerRules("when idle", idle_s=1), 0, 0.5),
            (VolunteerRules("when idle", idle_s=0.25), 0, 0.25),
            (VolunteerRules("when idle", idle_s=0), 1, 2.0),
        )
    },
    **{
        f"it looks again in {again_s} s while somebody is there: {left_s}": [
            look(),
            look(touch={}),
            look(300.0 - left_s, cause=Kind.INPUT, look_again_s=again_s),
        ]
        for left_s, again_s in ((30.0, 5.0), (5.0, 5.0), (0.5, 0.5), (0.01, 0.05))
    },
    **{
        f"it looks again in {again_s} s outside its hours": [
            look(
                rules=VolunteerRules("by schedule", read_hours("mon-fri 18:00-07:00")),
                wall_s=at(local),
                cause=Cause.HOURS,
                look_again_s=again_s,
            )
        ]
        for local, again_s in (("2026-03-10 17:00", 60.0), ("2026-03-10 17:59:45", 15.0))
    },
    **{
        f"it looks again in {again_s} s while it is paused": [
            look(wish=Paused(NOON_S + left_s), look_again_s=again_s),
            look(wish=Paused(), look_again_s=60.0),
            look(
                wish=Finishing(Paused()),
                sees={"running": 1},
                look_again_s=2.0,
                said=f"{FINISHES} until you resume",
            ),
            look(wish=Finishing(Paused(NOON_S + 900)), said=FINISHES),
        ]
        for left_s, again_s in ((900.0, 60.0), (20.0, 20.0))
    },
    "enough memory is what the rules say, and a quarter more after it was short": [
        look(rules=VolunteerRules("when idle", free_memory_mb=1_000), sees=free(1_000.0), **HELPS),
        look(sees=free(999.0), **HELD),
        look(29, sees=free(1_249.0), **HELD),
        look(29, **HELD),
        look(29, sees=free(1_250.0), **HELD),
        look(1, **HELPS),
    ],
    **{
        f"only somebody who may be there has to be seen: {kind}": [
            look(sees={kind: BLIND}, cause=Cause.UNSEEN),
            look(sees=LOCKED, **HELPS),
            look(sees=NOBODY, **HELPS),
        ]
        for kind in ("input", "full_screen", "meeting")
    },
    "others do not matter where nobody does": [
        look(rules=VolunteerRules("when idle", idle_s=0), sees=OTHERS, **HELPS),
        look(
            rules=VolunteerRules("when idle"),
            cause=Cause.OTHERS,
            said="Paused: anna and ben uses this machine",
        ),
    ],
    **{
        f"how busy others are is said: {percent}": [
            look(sees={"others_cpu_percent": Seen(50.0)}),
            look(sees={"others_cpu_percent": Seen(percent)}, said=f"Paused: other programs {said}"),
        ]
        for percent, said in (
            (10.4, "use 10 % of the processor, more than 10 %"),
            (10.0, "used more than 10 % of the processor a moment ago"),
        )
    },
    **{
        f"why it may help is said: {said}": [
            look(sees=sees, said=f"Helping: {said}, other programs use 3 % of the processor")
        ]
        for sees, said in (
            (LOCKED, "the screen is locked"),
            ({**NOBODY, **NEVER}, "nobody is logged in"),
            ({"input": Seen(LastInput(6_400.0))}, "no input for 60 min"),
        )
    },
    "where no rule asks for anything the rules allow it": [
        look(rules=ALL_OFF, sees=COVERED, said="Helping: the rules allow it")
    ],
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_at_the_boundary(story: Sequence[Look]) -> None:
    scene = Scene()
    for each in story:
        scene.play(**each)
