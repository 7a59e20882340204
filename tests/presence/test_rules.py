"""Rules in the settings file, both ways, and those that cancel each other; hours of the week."""

from __future__ import annotations

import time
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.api.errors import RefusedError
from agent.api.presence_reasons import HeldUnconfined, HelpsAlways
from agent.api.volunteering import Hours, Pause, VolunteerRules
from agent.presence.hours import WEEK, clock, inside, next_change_s, tomorrow_s
from agent.presence.judgement import Bar, Cause, Memory, Verdict
from agent.presence.rules import faults, hours_text, read_hours, read_rules, written_rules
from agent.presence.verdict import barred
from agent.presence.volunteering import Volunteering
from agent.protocol.reasons import CannotConfine, NobodyUsesIt
from agent.settings.editing import keep_rules, with_values
from agent.settings.layers import read_settings
from agent.settings.node_settings import SettingsError
from tests.presence.scenes import ZURICH, Scene, at
from tests.presence.watched import Machine, presence

OTHERS = """\
# of the workshop
name = "bench 3" # by the window
volunteer = "paused"

[presence]
# two lines that stay
idle_s = 60
hours = [
  "mon-fri 18:00-07:00",
  "sat 00:00-24:00",
]

# what follows stays
"""

some_hours = st.builds(
    Hours, st.sampled_from(WEEK), st.integers(0, 1439).map(clock), st.integers(0, 1440).map(clock)
)
some_rules = st.builds(
    VolunteerRules,
    mode=st.sampled_from(["always", "when idle"]),
    hours=st.lists(
        some_hours,
        max_size=4,
    ).map(tuple),
    idle_s=st.floats(0, 86_400),
    others_cpu_percent=st.integers(1, 100),
    on_mains_only=st.booleans(),
    free_memory_mb=st.integers(0, 100_000),
    full_screen_counts=st.booleans(),
    calls_count=st.booleans(),
    exclusive_programs=st.lists(
        st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
            lambda text: bool(text.strip()) and not text.casefold().startswith("wingbeat")
        ),
        max_size=3,
    ).map(tuple),
    own_only=st.booleans(),
    lets_end_s=st.floats(0, 3_600),
    warn_s=st.floats(0, 600),
    bans=st.lists(st.sampled_from(["rui", "render"]), unique=True).map(tuple),
    people=st.lists(st.sampled_from(["ana", "Bia Reis", "joão"]), unique=True).map(tuple),
)


def read_back(table: object) -> VolunteerRules:
    return structs.replace(VolunteerRules(), **read_rules(table))


@given(some_rules)
def test_rules_are_read_as_they_were_written(rules: VolunteerRules) -> None:
    assert read_back(written_rules(rules)) == structs.replace(rules, mode="always")


@given(some_rules)
def test_a_settings_file_keeps_everything_else(rules: VolunteerRules) -> None:
    given = {"volunteer": rules.mode, "presence": written_rules(rules)}
    text = with_values(OTHERS, given)
    read = tomllib.loads(text)
    assert read["name"] == "bench 3"
    assert [line for line in text.splitlines() if line.startswith(("#", "name"))] == [
        "# of the workshop",
        'name = "bench 3" # by the window',
        "# two lines that stay",
        "# what follows stays",
    ]
    assert (list(read), read["volunteer"]) == (["name", "volunteer", "presence"], rules.mode)
    assert read_back(read["presence"]) == structs.replace(rules, mode="always")
    assert with_values(text, given) == text


def test_a_file_without_anything_gets_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.toml"
    rules = VolunteerRules("when idle", idle_s=120, exclusive_programs=("blender",))
    keep_rules(path, rules)
    assert read_settings(path).rules == rules


@pytest.mark.parametrize(
    "text",
    [
        'presence = { idle_s = 60 }\nname = "ant"\n',
        'presence.idle_s = 60\nname = "ant"\n',
        'name = "ant" # mine\n\n# when to help\n[presence] # what counts\nidle_s = 60 # a minute\n',
    ],
)
def test_rules_are_changed_however_they_are_written(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    kept = keep_rules(path, VolunteerRules(idle_s=30, own_only=True))
    assert (kept.name, kept.presence.idle_s, kept.presence.own_only) == ("ant", 30, True)
    kept = keep_rules(path, VolunteerRules())
    assert (kept.name, kept.rules) == ("ant", VolunteerRules())
    lines = path.read_text().splitlines()
    assert [line for line in text.splitlines() if "#" in line and "60" not in line] == [
        line for line in lines if "#" in line and "30" not in line
    ]
    if "# when to help" in lines:
        assert lines[lines.index("# when to help") + 1] == "[presence] # what counts"
    assert keep_rules(path, VolunteerRules()).presence == VolunteerRules()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            'volunteer = "sometimes"',
            "choose always, when idle, by schedule, not now, not yet or paused",
        ),
        ('volunteer = "by schedule"', "without hours never helps"),
        ("presence = 3", "has to be a table"),
        ("[presence]\nidle = 3", "has no key 'idle'"),
        ("[presence]\nidle_s = -1", "has to be from 0 to 86400"),
        ('[presence]\nidle_s = "long"', "a number of seconds"),
        ("[presence]\nothers_cpu_percent = 0", "no machine ever rests so much"),
        ("[presence]\nothers_cpu_percent = 1.5", "a whole number"),
        ("[presence]\non_mains_only = 1", "true or false"),
        ('[presence]\nhours = "mon 1-2"', "a list of up to"),
        ('[presence]\nhours = ["mon 1-2"]', "hours has '1'"),
        ('[presence]\nexclusive_programs = ["wingbeat"]', "which is this program"),
        ('[presence]\nexclusive_programs = [""]', "empty or overlong"),
    ],
)
def test_what_is_wrong_in_the_file_is_said(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=wrong) as caught:
        read_settings(path)
    assert str(path) in str(caught.value)


def test_a_memory_floor_above_what_the_machine_has_is_refused() -> None:
    assert faults(VolunteerRules(free_memory_mb=16_000), 8_000.0) != []
    assert faults(VolunteerRules(free_memory_mb=4_000), 8_000.0) == []


def test_paused_in_the_file_leaves_rules_for_whoever_resumes(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('volunteer = "paused"\n[presence]\nown_only = true\n')
    settings = read_settings(path)
    assert settings.volunteer == "paused"
    assert settings.rules == VolunteerRules("always", own_only=True)


# -- hours of the week: overnight, several a day, summer time, another zone; and as text -----


NIGHTS = read_hours("mon-fri 18:00-07:00")
LUNCH = read_hours("mon-fri 12:00-13:00")


@pytest.mark.parametrize(
    ("hours", "local", "expected"),
    [
        (NIGHTS, "2026-03-10 18:00", True),  # a Tuesday
        (NIGHTS, "2026-03-10 17:59", False),
        (NIGHTS, "2026-03-11 06:59", True),
        (NIGHTS, "2026-03-11 07:00", False),
        (NIGHTS, "2026-03-14 06:59", True),  # Saturday morning still is Friday's night
        (NIGHTS, "2026-03-14 18:00", False),
        (NIGHTS, "2026-03-16 03:00", False),  # Monday morning is Sunday's night
        (NIGHTS + LUNCH, "2026-03-10 12:30", True),
        (NIGHTS + LUNCH, "2026-03-10 13:00", False),
        (read_hours("sa 00:00-24:00"), "2026-03-14 23:59", True),
        (read_hours("sa 00:00-24:00"), "2026-03-15 00:00", False),
        (read_hours("su 22:00-22:00"), "2026-03-16 21:59", True),  # from Sunday round the clock
        (read_hours("su 22:00-22:00"), "2026-03-16 22:00", False),
        (read_hours("fri-mon 01:00-02:00"), "2026-03-15 01:30", True),
        (read_hours("fri-mon 01:00-02:00"), "2026-03-18 01:30", False),
        # The night in which 02:00 to 03:00 does not come, and the one in which it comes twice.
        (read_hours("su 02:00-03:00"), "2026-03-29 01:59", False),
        (read_hours("su 02:00-03:00"), "2026-03-29 03:00", False),
        (read_hours("su 02:00-03:00"), "2026-10-25 02:30", True),
    ],
)
def test_what_is_inside(hours: tuple[Hours, ...], local: str, expected: bool) -> None:
    assert inside(hours, datetime.fromtimestamp(at(local), ZURICH)) is expected


def test_the_hour_that_comes_twice_is_inside_twice() -> None:
    hours = read_hours("su 02:00-03:00")
    first_s = at("2026-10-25 02:30")
    assert inside(hours, datetime.fromtimestamp(first_s, ZURICH))
    assert inside(hours, datetime.fromtimestamp(first_s + 3600, ZURICH))
    assert not inside(hours, datetime.fromtimestamp(first_s + 5400, ZURICH))


@pytest.mark.parametrize(
    ("local", "hours_later"),
    [
        ("2026-03-10 12:00", 6.0),
        ("2026-03-10 18:00", 13.0),
        ("2026-03-13 18:00", 13.0),
        ("2026-03-14 08:00", 58.0),  # from Saturday to Monday evening
    ],
)
def test_when_it_changes_next(local: str, hours_later: float) -> None:
    assert next_change_s(NIGHTS, at(local), ZURICH) == at(local) + hours_later * 3600


def test_a_night_with_a_jump_of_the_clock_is_an_hour_shorter_or_longer() -> None:
    nights = read_hours("mon-sun 22:00-06:00")
    spring_s = at("2026-03-28 22:00")
    assert next_change_s(nights, spring_s, ZURICH) == spring_s + 7 * 3600
    autumn_s = at("2026-10-24 22:00")
    assert next_change_s(nights, autumn_s, ZURICH) == autumn_s + 9 * 3600


def test_hours_that_never_change_have_no_next_change() -> None:
    assert next_change_s((), at("2026-03-10 12:00"), ZURICH) is None
    assert next_change_s(read_hours("mon-sun 00:00-24:00"), at("2026-03-10 12:00"), ZURICH) is None


def test_a_machine_that_travels_keeps_to_the_clock_on_its_wall() -> None:
    moment = datetime.fromtimestamp(at("2026-03-10 12:00"), ZURICH)
    assert not inside(NIGHTS, moment)
    assert inside(NIGHTS, moment.astimezone(ZoneInfo("Asia/Tokyo")))


hours_of_a_week = st.lists(some_hours, max_size=5).map(tuple)


@given(
    hours_of_a_week,
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001 - wall clocks
    st.sampled_from(["Europe/Zurich", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]),
)
def test_nothing_changes_before_the_next_change(
    hours: tuple[Hours, ...], moment: datetime, name: str
) -> None:
    zone = ZoneInfo(name)
    wall_s = moment.replace(tzinfo=UTC).timestamp() // 60 * 60
    now = inside(hours, datetime.fromtimestamp(wall_s, zone))
    change_s = next_change_s(hours, wall_s, zone)
    end_s = wall_s + 7 * 86_400 if change_s is None else change_s
    step_s = max(60.0, (end_s - wall_s) // 60 // 50 * 60)
    while wall_s < end_s:
        local = datetime.fromtimestamp(wall_s, zone)
        jumped = local.utcoffset() != (local - timedelta(hours=30)).utcoffset()
        assert inside(hours, local) is now or jumped
        wall_s += step_s


def test_until_tomorrow_is_the_next_morning_whatever_the_clock_does_in_between() -> None:
    assert tomorrow_s(at("2026-03-28 20:00"), ZURICH, 8) == at("2026-03-29 08:00")
    assert tomorrow_s(at("2026-03-10 00:30"), ZURICH, 8) == at("2026-03-11 08:00")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("mon-fri", "write it like"),
        ("18:00-07:00", "write it like"),
        ("mon 1800-0700", "which is no time"),
        ("mon 25:00-26:00", "no clock shows"),
        ("mon 18:60-19:00", "no clock shows"),
        ("mon 24:00-02:00", "the day after"),
        ("t 18:00-19:00", "no day"),
        ("noday 18:00-19:00", "no day"),
        ("mon,, 18:00-19:00", "no day"),
    ],
)
def test_what_is_no_hours_is_said(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read_hours(text)


@given(some_hours)
def test_hours_are_written_as_they_are_read(hours: Hours) -> None:
    assert read_hours(hours_text(hours)) == (hours,)


@pytest.mark.parametrize(
    ("bar", "found", "becomes"),
    [
        ("", (True, False, False), (True, False, False, False)),
        ("others", (True, False, False), (True, True, False, True)),
        ("others", (True, True, False), (True, True, False, False)),
        ("others", (False, False, False), (False, True, False, False)),
        ("others", (False, False, True), (False, False, True, False)),
        ("all", (True, False, False), (False, True, True, True)),
        ("all", (False, False, True), (False, False, True, False)),
    ],
)
def test_where_programs_cannot_be_confined_nothing_of_others_begins(
    bar: Bar, found: tuple[bool, bool, bool], becomes: tuple[bool, bool, bool, bool]
) -> None:
    """Whether it helps, its owner alone, is paused; and whether that is what holds it back."""
    volunteering, own_only, paused = found
    before = Verdict(
        *(volunteering, False, own_only, 0, Cause.IDLE, HelpsAlways(), NobodyUsesIt()),
        *(1.0, False, Memory(), paused),
    )
    after = barred(before, bar)
    said = after.reason, after.told
    assert said in [(HeldUnconfined(), CannotConfine()), (before.reason, before.told)]
    held = said != (before.reason, before.told)
    assert (after.volunteering, after.own_only, after.paused, held) == becomes


async def test_a_bar_holds_from_when_it_is_told_until_it_is_lifted(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(), VolunteerRules("always")) as (found, _):
        told: tuple[tuple[Bar, bool, str], ...] = (
            ("all", False, "none"),
            ("others", False, "all"),
            ("", True, "all"),
        )
        for bar, volunteering, own in told:
            found.bar(bar)
            assert (found.state().volunteering, found.state().own_work) == (volunteering, own), bar


def test_without_any_hours_it_never_helps_by_schedule() -> None:
    rules = VolunteerRules("by schedule")
    Scene(rules).play(0, said="Paused: it is outside its hours", volunteering=False)


@pytest.mark.parametrize(
    ("wanted", "least_s", "most_s"),
    [
        (Pause(), None, None),
        (Pause(for_s=600), 590, 600),
        (Pause(until_tomorrow=True), 7 * 3_600, 34 * 3_600),
    ],
)
@pytest.mark.parametrize("finish_first", [False, True])
async def test_a_pause_is_as_long_as_is_asked_for_and_may_wait_for_what_runs(
    tmp_path: Path, wanted: Pause, least_s: float | None, most_s: float | None, finish_first: bool
) -> None:
    async with presence(tmp_path, Machine(running=1), VolunteerRules("always")) as (found, _):
        room, begun_s = Volunteering(found, lambda view: view), time.time()
        view = await room.pause(structs.replace(wanted, finish_first=finish_first))
        assert (view.paused, view.finishing) == (not finish_first, finish_first)
        until_ms = view.paused_until_ms
        if least_s is None or most_s is None:
            assert until_ms is None
        else:
            assert until_ms is not None
            assert least_s <= until_ms / 1000 - begun_s <= most_s + 60
        view = await room.resume()
        assert (view.paused, view.finishing, view.paused_until_ms) == (False, False, None)


async def test_that_programs_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> list[str]:
        raise OSError("no /proc")

    async with presence(tmp_path, Machine()) as (found, _):
        room = Volunteering(found, lambda view: view)
        monkeypatch.setattr("agent.presence.volunteering.running_programs", refuse)
        with pytest.raises(RefusedError, match=r"cannot be listed \(no /proc\): write their names"):
            await room.running()
        listed = ["blender", "Wingbeat", "zoom"]
        monkeypatch.setattr("agent.presence.volunteering.running_programs", lambda: listed)
        monkeypatch.setattr("agent.presence.volunteering.OWN_NAMES", {"wingbeat"})
        assert await room.running() == ("blender", "zoom")
