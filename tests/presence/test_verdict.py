"""Verdicts from readings: who is there, what holds the machine back, and in which words.

A story is a list of looks at a scene: what has happened until then, and what the verdict has to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.api.presence_reasons import CameraUsed, MicrophoneUsed, NamedFills, SystemSays
from agent.api.volunteering import VolunteerMode, VolunteerRules
from agent.presence.conditions import required
from agent.presence.judgement import Cause, Finishing, Paused, Unpaused
from agent.presence.readings import Kind, LastInput, Readings, Seen, Sessions, Unseen
from agent.presence.rules import read_hours
from agent.presence.verdict import held_back_by, needed
from agent.protocol.reasons import OwnerUsesIt, OwnerWarned, SomebodyElseUsesIt
from tests.presence.scenes import NOON_S, Look, Scene, at, look

BLIND = Unseen(SystemSays("a test has covered it"))
FIELD = {
    Kind.INPUT: "input",
    Kind.MAINS: "on_mains",
    Kind.FULL_SCREEN: "full_screen",
    Kind.MEETING: "meeting",
    Kind.PROCESSOR: "others_cpu_percent",
    Kind.MEMORY: "free_memory_mb",
    Kind.PROGRAMS: "exclusive",
}
NOTHING: frozenset[Kind] = frozenset()
HELPS, HELD = {"volunteering": True}, {"volunteering": False}
LOCKED, OPEN = {"sessions": Seen(Sessions(locked=True))}, {"sessions": Seen(Sessions())}
NOBODY = {"sessions": Seen(Sessions(nobody=True))}
MOUSE: dict[str, object] = {}
KEY = {"pointer": (100, 100)}
ALWAYS = VolunteerRules(mode="always")
NIGHTS = VolunteerRules("by schedule", read_hours("mon-fri 18:00-07:00"))
WARNS = VolunteerRules(mode="when idle", warn_s=30)
PICKY = VolunteerRules(mode="when idle", exclusive_programs=("zoom", "obs"))


def typed_in(terminal: str) -> dict[str, object]:
    return {"pointer": None, "where": terminal}


def pointer(x: int, y: int) -> dict[str, object]:
    return {"pointer": (x, y)}


def load(percent: float) -> dict[str, object]:
    return {"others_cpu_percent": Seen(percent)}


def memory(free_mb: float) -> dict[str, object]:
    return {"free_memory_mb": Seen(free_mb)}


OWN: tuple[tuple[VolunteerMode, str], ...] = (
    ("not yet", "Not helping: nobody has said yet when this machine may"),
    ("not now", "Not helping: its owner said not now"),
    ("always", "Not helping: only what is submitted on this machine runs"),
)
Stories = dict[str, Sequence[Look]]
SOMEBODY: Stories = {
    "an unused machine helps and says so": [
        look(
            **HELPS,
            owner_present=False,
            said="Helping: no input for 60 min, other programs use 3 % of the processor",
        )
    ],
    "whoever comes back is given way at once, with the time since": [
        look(),
        look(touch=MOUSE, **HELD),
        look(
            12,
            owner_present=True,
            cause=Kind.INPUT,
            said="Paused: you moved the mouse 12 s ago",
            told=OwnerUsesIt(),
        ),
    ],
    "a key is told apart from the mouse": [
        look(),
        look(touch=KEY, said="Paused: you used the keyboard or mouse 0 s ago"),
    ],
    "somebody in a terminal counts": [
        look(),
        look(touch=typed_in("pts/3"), said="Paused: somebody typed in pts/3 0 s ago"),
    ],
    "it helps again after the idle time and looks then": [
        look(),
        look(touch=MOUSE),
        look(299, **HELD),
        look(look_again_s=1.0),
        look(1, **HELPS),
    ],
    "it looks often only while something runs": [
        look(look_again_s=2.0),
        look(sees={"running": 1}, look_again_s=0.25),
        look(rules=ALWAYS, look_again_s=60.0),
    ],
    "a lock counts at once": [
        look(touch=MOUSE),
        look(0.5, sees=LOCKED, **HELPS, said="Helping: the screen is locked*"),
    ],
    "the hand that leaves the mouse after locking does not count": [
        look(touch=MOUSE),
        look(sees=LOCKED),
        look(2),
        look(touch=MOUSE, **HELPS),
    ],
    "whoever touches a locked screen is given way for a short time": [
        look(touch=MOUSE),
        look(sees=LOCKED),
        look(60),
        look(touch=pointer(700, 100), said="Paused: somebody touched the locked screen 0 s ago"),
        look(29, **HELD),
        look(1, **HELPS),
    ],
    "unlocking makes what came before count again": [
        look(touch=MOUSE),
        look(10, sees=LOCKED, **HELPS),
        look(1, sees=OPEN, **HELD),
    ],
    "another person's screen counts as somebody there": [
        look(
            sees={"sessions": Seen(Sessions(others=("anna",)))},
            said="Paused: anna uses this machine",
            told=SomebodyElseUsesIt(),
        )
    ],
    "where nobody is logged in terminals alone are looked at": [
        look(
            sees={**NOBODY, "input": Seen(LastInput(float("-inf"))), "full_screen": BLIND},
            said="*nobody is logged in*",
        ),
        look(touch=typed_in("pts/0"), **HELD),
    ],
    "a locked screen needs an eye neither on the keyboard nor on films": [
        look(sees={"input": BLIND, "full_screen": BLIND}, cause=Cause.UNSEEN),
        look(sees=LOCKED, **HELPS),
    ],
}
TOUCHES: Stories = {
    "a nudged desk is not a person": [
        look(),
        look(touch=pointer(106, 104), **HELPS, look_again_s=0.25),  # whether it goes on
        *[look(0.25, **HELPS)] * 60,
    ],
    "each of several nudges far apart is none": [
        look(),
        *(
            look(120, touch=pointer(*each), **HELPS)
            for each in ((104, 100), (108, 100), (104, 104))
        ),
    ],
    "a second input makes it a person": [
        look(),
        look(touch=pointer(104, 100)),
        look(1),
        look(touch=pointer(104, 100), **HELD),
    ],
    "a pointer that has gone far counts at once": [look(), look(touch=pointer(130, 100), **HELD)],
    "a key or button counts at once": [look(), look(touch=KEY, **HELD)],
    "an input whose place is unknown counts at once": [look(), look(touch=typed_in(""), **HELD)],
    "shortly after somebody was there the smallest movement counts": [
        look(),
        look(touch=pointer(300, 300)),
        look(400, **HELPS),
        look(touch=pointer(301, 300), **HELD),
    ],
    "a program that moves the pointer is nobody": [
        look(),
        look(1, touch={**pointer(500, 500), "ago_s": 3_601}, **HELPS),
    ],
}
HOLDS: Stories = {
    f"it says that {said}": [
        look(
            rules=PICKY,
            sees=sees,
            **HELD,
            owner_present=True,
            said=f"Paused: {said}",
            cause=cause,
        )
    ]
    for sees, said, cause in (
        ({"on_mains": Seen(value=False)}, "this machine runs on battery", Kind.MAINS),
        ({"full_screen": Seen(NamedFills("mpv"))}, "mpv fills the screen", Kind.FULL_SCREEN),
        ({"meeting": Seen(MicrophoneUsed("Zoom"))}, "Zoom uses the microphone", Kind.MEETING),
        (
            load(41.4),
            "other programs use 41 % of the processor, more than 10 %",
            Kind.PROCESSOR,
        ),
        (memory(100.0), "only 100 MB of memory are free, 512 MB are kept for you", Kind.MEMORY),
        ({"exclusive": Seen(("zoom", "obs"))}, "zoom and obs runs", Kind.PROGRAMS),
    )
}
SETTLES: Stories = {
    f"that {name} has ended has to stay so for {settles_s} s": [
        look(rules=PICKY, sees={name: held}),
        look(4, sees={name: free}, **HELD, said="*4 s ago*", look_again_s=min(5.0, settles_s - 4)),
        look(settles_s - 4, **HELPS),
    ]
    for name, held, free, settles_s in (
        ("on_mains", Seen(value=False), Seen(value=True), 10),
        ("full_screen", Seen(NamedFills("mpv")), Seen(None), 10),
        ("meeting", Seen(CameraUsed("")), Seen(None), 30),
        ("free_memory_mb", Seen(100.0), Seen(4_000.0), 30),
        ("exclusive", Seen(("zoom",)), Seen(()), 10),
    )
}
UNSEEN: Stories = {
    f"{kind.value} that cannot be seen holds it back unless its rule is off": [
        look(
            rules=PICKY,
            sees={field: BLIND},
            cause=Cause.UNSEEN,
            said="Paused: cannot see *, because a test has covered it",
        ),
        look(
            rules=VolunteerRules(
                mode="when idle",
                idle_s=0,
                on_mains_only=False,
                full_screen_counts=False,
                calls_count=False,
                others_cpu_percent=100,
                free_memory_mb=0,
            ),
            **HELPS,
        ),
    ]
    for kind, field in FIELD.items()
}
AMOUNTS: Stories = {
    "memory has to be freer than the floor before it counts as enough": [
        look(sees=memory(500.0)),
        look(sees=memory(520.0)),
        *[look(10, **HELD)] * 10,
        look(30, sees=memory(700.0), **HELPS),
    ],
    "a short burst of others does not stop it and a lasting one does": [
        look(),
        look(1, sees=load(90.0), **HELPS),
        look(3, sees=load(4.0), **HELPS),
        look(sees=load(30.0)),
        look(5, **HELD),
        look(100, sees=load(12.0), **HELD),  # between the two limits it stays as it is
        look(sees=load(5.0)),
        look(20, said="*a moment ago*"),
        look(10, **HELPS),
    ],
    "nothing that was never read counts as seen": [look(readings=Readings(), cause=Cause.UNSEEN)],
}
WISHES: Stories = {
    "a pause beats everything until its time": [
        look(
            rules=ALWAYS,
            wish=Paused(NOON_S + 900),
            **HELD,
            owner_present=True,
            lets_end_ms=0,
            said="Paused until 12:15",
            needs=NOTHING,
        ),
        look(899, **HELD),
        look(1, **HELPS),
    ],
    "the hours do not end a pause": [
        look(
            rules=VolunteerRules("by schedule", read_hours("mon-sun 13:00-14:00")),
            wish=Paused(),
            said="Paused until you resume",
        ),
        look(3_700, said="Paused until you resume"),
    ],
    "a pause into another day says which": [
        look(wish=Paused(NOON_S + 20 * 3600), said="Paused until Wednesday 08:00")
    ],
    "what runs is finished even though somebody is there, and then it pauses": [
        look(touch=MOUSE),
        look(
            wish=Finishing(Paused()),
            sees={"running": 2},
            **HELD,
            owner_present=False,
            said="Finishing 2 tasks, then paused until you resume",
        ),
        look(sees={"running": 0}, owner_present=True, pause_begins=True),
    ],
    "an exclusive program stops even always": [
        look(
            rules=VolunteerRules(mode="always", exclusive_programs=("zoom",)),
            sees={"exclusive": Seen(("zoom",))},
            needs={Kind.PROGRAMS},
            said="Paused: zoom runs",
        )
    ],
    "always looks at nothing and helps whoever is there": [
        look(
            rules=VolunteerRules(mode="always", lets_end_s=90),
            readings=Readings(),
            **HELPS,
            said="Helping: set to always",
            lets_end_ms=90_000,
            needs=NOTHING,
        )
    ],
    **{
        f"only its own work, whoever is there: {mode}": [
            look(
                rules=VolunteerRules(mode, own_only=mode == "always"),
                readings=Readings(),
                volunteering=True,
                owner_present=False,
                own_only=True,
                paused=False,
                said=said,
                cause=Cause.ALWAYS if mode == "always" else Cause.OWN,
                look_again_s=60.0,
                needs=NOTHING,
            ),
            look(wish=Paused(), volunteering=False, owner_present=True, paused=True),
            look(
                wish=Unpaused(),
                rules=VolunteerRules(mode, exclusive_programs=("zoom",)),
                sees={"exclusive": Seen(("zoom",))},
                needs={Kind.PROGRAMS},
                said="Paused: zoom runs",
            ),
        ]
        for mode, said in OWN
    },
    "own only and how long it lets end come from the rules": [
        look(
            rules=VolunteerRules("when idle", own_only=True, lets_end_s=1.5),
            own_only=True,
            lets_end_ms=1_500,
        )
    ],
    "outside its hours nothing is looked at and the next ones are named": [
        look(
            rules=NIGHTS,
            cause=Cause.HOURS,
            said="Paused: outside its hours until 18:00",
            needs=NOTHING,
        )
    ],
    "inside its hours it helps only when idle, and looks again at their end": [
        look(rules=NIGHTS, wall_s=at("2026-03-11 06:59:59"), **HELPS, look_again_s=1.0),
        look(touch=MOUSE, **HELD),
        look(1, cause=Cause.HOURS),
    ],
}
WARNINGS: Stories = {
    "it says so before it takes a machine that was in use": [
        look(rules=WARNS),
        look(touch=MOUSE, **HELD),
        look(299, **HELD),
        look(
            1,
            **HELD,
            cause=Cause.WARNED,
            said="Not helping yet: in 30 s this machine works for others; `wingbeat pause 1h` says not now",
            told=OwnerWarned(),
        ),
        look(29, **HELD, said="*in 1 s*", look_again_s=1.0),
        look(1, **HELPS),
        look(60, **HELPS),
    ],
    "after its start, too": [
        look(rules=WARNS, cause=Cause.WARNED),
        look(30, **HELPS),
    ],
    "whoever comes back meanwhile is warned anew later": [
        look(rules=WARNS),
        look(29, touch=MOUSE, cause=Kind.INPUT),
        look(300, cause=Cause.WARNED),
        look(29, **HELD),
        look(1, **HELPS),
    ],
    "after a pause it warns again": [
        look(rules=WARNS),
        look(30, **HELPS),
        look(wish=Paused(), cause=Cause.PAUSED),
        look(wish=Unpaused(), cause=Cause.WARNED),
    ],
    "nobody is warned at a locked screen, nor where only own work runs, nor in other modes": [
        look(rules=WARNS, sees=LOCKED, **HELPS),
        look(rules=replace(WARNS, own_only=True), sees=OPEN, **HELPS),
        look(rules=replace(WARNS, mode="always"), **HELPS),
    ],
}
STORIES = WARNINGS | SOMEBODY | TOUCHES | HOLDS | SETTLES | UNSEEN | AMOUNTS | WISHES


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_the_verdict(story: Sequence[Look]) -> None:
    scene = Scene()
    for each in story:
        scene.play(**each)


# -- whatever happens ----------------------------------------------------------------------------

rules = st.builds(
    VolunteerRules,
    mode=st.just("when idle"),
    idle_s=st.sampled_from([0.0, 300.0]),
    others_cpu_percent=st.sampled_from([10, 100]),
    on_mains_only=st.booleans(),
    free_memory_mb=st.sampled_from([0, 512]),
    full_screen_counts=st.booleans(),
    calls_count=st.booleans(),
    exclusive_programs=st.sampled_from([(), ("zoom",)]),
)


@given(
    rules,
    st.sets(st.sampled_from(list(FIELD))),
    st.sampled_from([Sessions(), Sessions(locked=True), Sessions(nobody=True)]),
    st.integers(0, 3),
)
def test_it_never_helps_while_something_required_is_unseen(
    rules: VolunteerRules, covered: set[Kind], sessions: Sessions, running: int
) -> None:
    scene = Scene(rules)
    scene.look()
    scene.see(sessions=Seen(sessions), running=running, **{FIELD[kind]: BLIND for kind in covered})
    wanted = required(rules, scene.readings)
    assert scene.look().volunteering == (not wanted & covered)
    assert wanted <= needed(rules, Unpaused(), scene.now)


@given(st.lists(st.floats(0, 100), min_size=100, max_size=240), st.floats(0.25, 5))
def test_however_the_load_swings_it_changes_its_mind_few_times_a_minute(
    loads: list[float], step_s: float
) -> None:
    scene = Scene()
    answers = []
    for percent in loads:
        scene.see(**load(percent))
        answers.append((scene.steady_s, scene.pass_s(step_s).volunteering))
    changes = [at_s for (at_s, was), (_, now) in pairwise(answers) if was != now]
    for at_s in changes:
        assert sum(at_s <= each < at_s + 60 for each in changes) <= 4


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=20, max_size=20))
def test_a_hand_that_goes_on_moving_is_given_way_within_seven_tenths_of_a_second(
    steps: list[tuple[int, int]],
) -> None:
    """However slowly it begins; looked at as often as while tasks run."""
    scene = Scene()
    scene.see(running=1)
    scene.look()
    began_s, place = scene.steady_s, (101, 100)
    scene.touch(pointer=place)
    for step in steps:
        scene.steady_s += 0.25
        place = (place[0] + step[0], place[1] + step[1])
        if not scene.touch(pointer=place).volunteering:
            break
    assert not scene.look().volunteering
    assert scene.steady_s - began_s <= 0.7


@pytest.mark.parametrize(
    ("happens", "kind"),
    [
        ([look(touch={"where": "pts/3"})], Kind.INPUT),
        ([look(sees=LOCKED), look(60), look(touch=pointer(700, 100))], Kind.INPUT),
        ([look(sees={"sessions": Seen(Sessions(others=("ana",)))})], Kind.SESSION),
        ([look(sees={"on_mains": Seen(value=False)})], Kind.MAINS),
        ([look(sees={"others_cpu_percent": BLIND})], Kind.PROCESSOR),
    ],
    ids=["terminal", "locked screen", "another screen", "battery", "unseen"],
)
def test_what_holds_a_machine_back_is_told_by_its_kind(happens: list[Look], kind: Kind) -> None:
    scene = Scene()
    assert scene.look().volunteering
    assert held_back_by(scene.rules, scene.readings, scene.memory, scene.now) == set()
    for each in happens:
        scene.play(**each)
    assert not scene.look().volunteering
    assert held_back_by(scene.rules, scene.readings, scene.memory, scene.now) == {kind}
