"""Verdicts from readings: who is there, what holds the machine back, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.presence_reasons import NamedFills, SystemSays
from agent.presence.conditions import required
from agent.presence.judgement import Cause, Finishing, Memory, Paused, Unpaused
from agent.presence.readings import Kind, LastInput, Readings, Seen, Sessions, Unseen
from agent.presence.rules import Mode, Rules
from agent.presence.rules_file import read_hours
from agent.presence.verdict import held_back_by, needed, verdict
from agent.protocol.reasons import OwnerUsesIt, SomebodyElseUsesIt
from tests.presence.scenes import Scene

BLIND = Unseen(SystemSays("a test has covered it"))
FIELD = {
    Kind.INPUT: "input",
    Kind.MAINS: "on_mains",
    Kind.FULL_SCREEN: "full_screen",
    Kind.PROCESSOR: "others_cpu_percent",
    Kind.MEMORY: "free_memory_mb",
    Kind.PROGRAMS: "exclusive",
}


def test_an_unused_machine_helps_and_says_so() -> None:
    scene = Scene()
    found = scene.look()
    assert found.volunteering
    assert not found.owner_present
    assert (
        scene.said(found) == "Helping: no input for 60 min, other programs use 3 % of the processor"
    )


def test_whoever_comes_back_is_given_way_at_once_with_the_time_since() -> None:
    scene = Scene()
    scene.look()
    assert not scene.touch().volunteering
    found = scene.pass_s(12)
    assert found.owner_present
    assert found.cause is Cause.INPUT
    assert scene.said(found) == "Paused: you moved the mouse 12 s ago"
    assert found.told == OwnerUsesIt()


def test_a_key_is_told_apart_from_the_mouse() -> None:
    scene = Scene()
    scene.look()
    assert (
        scene.said(scene.touch(pointer=(100, 100)))
        == "Paused: you used the keyboard or mouse 0 s ago"
    )


def test_somebody_in_a_terminal_counts() -> None:
    scene = Scene()
    scene.look()
    found = scene.touch(pointer=None, where="pts/3")
    assert scene.said(found) == "Paused: somebody typed in pts/3 0 s ago"


def test_it_helps_again_after_the_idle_time_and_looks_then() -> None:
    scene = Scene()
    scene.look()
    scene.touch()
    assert not scene.pass_s(299).volunteering
    assert scene.look().look_again_s == pytest.approx(1.0)
    assert scene.pass_s(1).volunteering


def test_it_looks_often_only_while_something_runs() -> None:
    scene = Scene()
    assert scene.look().look_again_s == 2.0
    scene.see(running=1)
    assert scene.look().look_again_s == 0.25
    scene.rules = Rules(mode=Mode.ALWAYS)
    assert scene.look().look_again_s == 60.0


# -- locks and other people ----------------------------------------------------------------------


def test_a_lock_counts_at_once() -> None:
    scene = Scene()
    scene.touch()
    scene.see(sessions=Seen(Sessions(locked=True)))
    found = scene.pass_s(0.5)
    assert found.volunteering
    assert scene.said(found).startswith("Helping: the screen is locked")


def test_the_hand_that_leaves_the_mouse_after_locking_does_not_count() -> None:
    scene = Scene()
    scene.touch()
    scene.see(sessions=Seen(Sessions(locked=True)))
    scene.look()
    scene.pass_s(2)
    assert scene.touch().volunteering


def test_whoever_touches_a_locked_screen_is_given_way_for_a_short_time() -> None:
    scene = Scene()
    scene.touch()
    scene.see(sessions=Seen(Sessions(locked=True)))
    scene.look()
    scene.pass_s(60)
    found = scene.touch(pointer=(700, 100))
    assert scene.said(found) == "Paused: somebody touched the locked screen 0 s ago"
    assert not scene.pass_s(29).volunteering
    assert scene.pass_s(1).volunteering


def test_unlocking_makes_what_came_before_count_again() -> None:
    scene = Scene()
    scene.touch()
    scene.see(sessions=Seen(Sessions(locked=True)))
    assert scene.pass_s(10).volunteering
    scene.see(sessions=Seen(Sessions()))
    assert not scene.pass_s(1).volunteering


def test_another_persons_screen_counts_as_somebody_there() -> None:
    scene = Scene()
    scene.see(sessions=Seen(Sessions(others=("anna",))))
    assert scene.said(scene.look()) == "Paused: anna uses this machine"
    assert scene.look().told == SomebodyElseUsesIt()


def test_where_nobody_is_logged_in_terminals_alone_are_looked_at() -> None:
    scene = Scene()
    scene.see(
        sessions=Seen(Sessions(nobody=True)),
        input=Seen(LastInput(float("-inf"))),
        full_screen=BLIND,
    )
    assert "nobody is logged in" in scene.said(scene.look())
    assert not scene.touch(pointer=None, where="pts/0").volunteering


def test_a_locked_screen_needs_neither_an_eye_on_the_keyboard_nor_on_films() -> None:
    scene = Scene()
    scene.see(input=BLIND, full_screen=BLIND)
    assert scene.look().cause is Cause.UNSEEN
    scene.see(sessions=Seen(Sessions(locked=True)))
    assert scene.look().volunteering


# -- everything else that holds it back ----------------------------------------------------------


@pytest.mark.parametrize(
    ("reading", "reason", "cause"),
    [
        ({"on_mains": Seen(value=False)}, "Paused: this machine runs on battery", Cause.MAINS),
        (
            {"full_screen": Seen(NamedFills("mpv"))},
            "Paused: mpv fills the screen",
            Cause.FULL_SCREEN,
        ),
        (
            {"others_cpu_percent": Seen(41.4)},
            "Paused: other programs use 41 % of the processor, more than 10 %",
            Cause.PROCESSOR,
        ),
        (
            {"free_memory_mb": Seen(100.0)},
            "Paused: only 100 MB of memory are free, 512 MB are kept for you",
            Cause.MEMORY,
        ),
        ({"exclusive": Seen(("zoom", "obs"))}, "Paused: zoom and obs runs", Cause.PROGRAM),
    ],
)
def test_what_holds_it_back_is_said(reading: dict[str, object], reason: str, cause: Cause) -> None:
    scene = Scene(Rules(mode=Mode.WHEN_IDLE, exclusive_programs=("zoom", "obs")))
    scene.see(**reading)
    found = scene.look()
    assert (found.volunteering, found.owner_present) == (False, True)
    assert (scene.said(found), found.cause) == (reason, cause)


@pytest.mark.parametrize(
    ("name", "held", "free", "settles_s"),
    [
        ("on_mains", Seen(value=False), Seen(value=True), 10),
        ("full_screen", Seen(NamedFills("mpv")), Seen(None), 10),
        ("free_memory_mb", Seen(100.0), Seen(4_000.0), 30),
        ("exclusive", Seen(("zoom",)), Seen(()), 10),
    ],
)
def test_what_has_ended_has_to_stay_so_for_a_while(
    name: str, held: Seen[object], free: Seen[object], settles_s: float
) -> None:
    scene = Scene(Rules(mode=Mode.WHEN_IDLE, exclusive_programs=("zoom",)))
    scene.see(**{name: held})
    scene.look()
    scene.see(**{name: free})
    found = scene.pass_s(4)
    assert not found.volunteering
    assert "4 s ago" in scene.said(found)
    assert found.look_again_s == pytest.approx(min(5.0, settles_s - 4))
    assert scene.pass_s(settles_s - 4).volunteering


def test_memory_has_to_be_freer_than_the_floor_before_it_counts_as_enough() -> None:
    scene = Scene()
    scene.see(free_memory_mb=Seen(500.0))
    scene.look()
    scene.see(free_memory_mb=Seen(520.0))
    for _ in range(10):
        assert not scene.pass_s(10).volunteering
    scene.see(free_memory_mb=Seen(700.0))
    assert scene.pass_s(30).volunteering


@pytest.mark.parametrize("kind", [each for each in Kind if each is not Kind.SESSION])
def test_what_cannot_be_seen_holds_it_back_unless_its_rule_is_off(kind: Kind) -> None:
    scene = Scene(Rules(mode=Mode.WHEN_IDLE, exclusive_programs=("zoom",)))
    scene.see(**{FIELD[kind]: BLIND})
    found = scene.look()
    assert found.cause is Cause.UNSEEN
    assert scene.said(found).startswith("Paused: cannot see ")
    assert scene.said(found).endswith(", because a test has covered it")
    off = Rules(
        mode=Mode.WHEN_IDLE,
        idle_s=0,
        on_mains_only=False,
        full_screen_counts=False,
        others_cpu_percent=100,
        free_memory_mb=0,
    )
    scene.rules = off
    assert scene.look().volunteering


rules = st.builds(
    Rules,
    mode=st.just(Mode.WHEN_IDLE),
    idle_s=st.sampled_from([0.0, 300.0]),
    others_cpu_percent=st.sampled_from([10, 100]),
    on_mains_only=st.booleans(),
    free_memory_mb=st.sampled_from([0, 512]),
    full_screen_counts=st.booleans(),
    exclusive_programs=st.sampled_from([(), ("zoom",)]),
)


@given(
    rules,
    st.sets(st.sampled_from(list(FIELD))),
    st.sampled_from([Sessions(), Sessions(locked=True), Sessions(nobody=True)]),
    st.integers(0, 3),
)
def test_it_never_helps_while_something_required_is_unseen(
    rules: Rules, covered: set[Kind], sessions: Sessions, running: int
) -> None:
    scene = Scene(rules)
    scene.look()
    scene.see(sessions=Seen(sessions), running=running, **{FIELD[kind]: BLIND for kind in covered})
    wanted = required(rules, scene.readings)
    assert scene.look().volunteering == (not wanted & covered)
    assert wanted <= needed(rules, Unpaused(), scene.now)


def test_nothing_that_was_never_read_counts_as_seen() -> None:
    scene = Scene()
    found = verdict(scene.rules, Unpaused(), Readings(), Memory(), scene.now)
    assert found.cause is Cause.UNSEEN


# -- wishes --------------------------------------------------------------------------------------


def test_a_pause_beats_everything_until_its_time() -> None:
    scene = Scene(Rules(mode=Mode.ALWAYS))
    scene.wish = Paused(scene.wall_s + 900)
    found = scene.look()
    assert (found.volunteering, found.owner_present, found.lets_end_ms) == (False, True, 0)
    assert scene.said(found) == "Paused until 12:15"
    assert needed(scene.rules, scene.wish, scene.now) == frozenset()
    assert not scene.pass_s(899).volunteering
    assert scene.pass_s(1).volunteering


def test_the_hours_do_not_end_a_pause() -> None:
    scene = Scene(Rules(Mode.BY_SCHEDULE, read_hours("mon-sun 13:00-14:00")))
    scene.wish = Paused()
    assert scene.said(scene.look()) == "Paused until you resume"
    assert scene.said(scene.pass_s(3_700)) == "Paused until you resume"


def test_a_pause_into_another_day_says_which() -> None:
    scene = Scene()
    scene.wish = Paused(scene.wall_s + 20 * 3600)
    assert scene.said(scene.look()) == "Paused until Wednesday 08:00"


def test_what_runs_is_finished_even_though_somebody_is_there_and_then_it_pauses() -> None:
    scene = Scene()
    scene.touch()
    scene.wish = Finishing(Paused())
    scene.see(running=2)
    found = scene.look()
    assert (found.volunteering, found.owner_present) == (False, False)
    assert scene.said(found) == "Finishing 2 tasks, then paused until you resume"
    scene.see(running=0)
    found = scene.look()
    assert (found.owner_present, found.pause_begins) == (True, True)


def test_an_exclusive_program_stops_even_always() -> None:
    scene = Scene(Rules(mode=Mode.ALWAYS, exclusive_programs=("zoom",)))
    assert needed(scene.rules, scene.wish, scene.now) == {Kind.PROGRAMS}
    scene.see(exclusive=Seen(("zoom",)))
    assert scene.said(scene.look()) == "Paused: zoom runs"


def test_always_looks_at_nothing_and_helps_whoever_is_there() -> None:
    scene = Scene(Rules(mode=Mode.ALWAYS, own_only=True, lets_end_s=90))
    scene.readings = Readings()
    found = scene.look()
    assert found.volunteering
    assert scene.said(found) == "Helping: set to always"
    assert (found.own_only, found.lets_end_ms) == (True, 90_000)
    assert needed(scene.rules, scene.wish, scene.now) == frozenset()


# -- flicker -------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 100), min_size=100, max_size=240), st.floats(0.25, 5))
def test_however_the_load_swings_it_changes_its_mind_few_times_a_minute(
    loads: list[float], step_s: float
) -> None:
    scene = Scene()
    answers = []
    for load in loads:
        scene.see(others_cpu_percent=Seen(load))
        answers.append((scene.steady_s, scene.pass_s(step_s).volunteering))
    changes = [at for (at, was), (_, now) in pairwise(answers) if was != now]
    for at in changes:
        assert sum(at <= each < at + 60 for each in changes) <= 4


def test_a_short_burst_of_others_does_not_stop_it_and_a_lasting_one_does() -> None:
    scene = Scene()
    scene.look()
    scene.see(others_cpu_percent=Seen(90.0))
    assert scene.pass_s(1).volunteering
    scene.see(others_cpu_percent=Seen(4.0))
    assert scene.pass_s(3).volunteering
    scene.see(others_cpu_percent=Seen(30.0))
    scene.look()
    assert not scene.pass_s(5).volunteering
    scene.see(others_cpu_percent=Seen(12.0))
    assert not scene.pass_s(100).volunteering, "between the two limits it stays as it is"
    scene.see(others_cpu_percent=Seen(5.0))
    scene.look()
    assert "a moment ago" in scene.said(scene.pass_s(20))
    assert scene.pass_s(10).volunteering


def test_own_only_and_lets_end_come_from_the_rules() -> None:
    scene = Scene(replace(Scene().rules, own_only=True, lets_end_s=1.5))
    found = scene.look()
    assert (found.own_only, found.lets_end_ms) == (True, 1_500)


def somebody_types_in_a_terminal(scene: Scene) -> None:
    scene.touch(where="pts/3")


def somebody_touches_the_locked_screen(scene: Scene) -> None:
    scene.see(sessions=Seen(Sessions(locked=True)))
    scene.look()
    scene.pass_s(60)
    scene.touch(pointer=(700, 100))


def ana_uses_another_screen(scene: Scene) -> None:
    scene.see(sessions=Seen(Sessions(others=("ana",))))


def it_runs_on_battery(scene: Scene) -> None:
    scene.see(on_mains=Seen(value=False))


def the_processor_cannot_be_seen(scene: Scene) -> None:
    scene.see(others_cpu_percent=BLIND)


@pytest.mark.parametrize(
    ("happens", "kinds"),
    [
        (somebody_types_in_a_terminal, {Kind.INPUT}),
        (somebody_touches_the_locked_screen, {Kind.INPUT}),
        (ana_uses_another_screen, {Kind.SESSION}),
        (it_runs_on_battery, {Kind.MAINS}),
        (the_processor_cannot_be_seen, {Kind.PROCESSOR}),
    ],
)
def test_what_holds_a_machine_back_is_told_by_its_kind(
    happens: Callable[[Scene], object], kinds: set[Kind]
) -> None:
    scene = Scene()
    assert scene.look().volunteering
    assert held_back_by(scene.rules, scene.readings, scene.memory, scene.now) == set()
    happens(scene)
    assert not scene.look().volunteering
    assert held_back_by(scene.rules, scene.readings, scene.memory, scene.now) == kinds
