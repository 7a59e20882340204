"""Machines that sleep are woken for work that waited long and that only they can take."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.capabilities import WakeAddress
from agent.protocol.news import News
from agent.protocol.records import Requirements
from agent.protocol.sharing_reasons import MachineWoken
from agent.protocol.sleepers import Sleepers
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import NAMES

WAITS_S, LOOKS_EVERY_S, ROUNDS = 600.0, 15.0, 3
"""What people are told of it."""
AT = (WakeAddress("02:00:00:00:00:07", "192.168.1.255"),)
OVEN: dict[str, Any] = {"requirements": Requirements(tags=("oven",))}


def flock(wakes: tuple[WakeAddress, ...] = AT) -> Stage:
    """Grifo alone has an oven, and can be woken."""
    stage = Stage(*NAMES)
    stage.tags["grifo"] = ("oven",)
    stage.flock()
    node = stage.living()["grifo"]
    able = replace(node._core.capabilities, wakes=wakes)
    stage.ask("grifo", "can be woken", ev.CapabilitiesChanged(able)).play(2)
    return stage


def asleep(stage: Stage) -> Stage:
    """Nobody hears of it any more."""
    return stage.crash("grifo", power=True).play(20)


def calls(stage: Stage) -> list[tuple[str, fx.WakeMachine]]:
    return [
        (each.who, each.what) for each in stage.entries if isinstance(each.what, fx.WakeMachine)
    ]


def test_it_is_called_after_ten_minutes_by_one_peer_after_the_other() -> None:
    stage = asleep(flock())
    stage.submit("acor", "bread", task("T1", **OVEN)).play(WAITS_S - 5)
    assert calls(stage) == []
    for _ in range(10 + int(LOOKS_EVERY_S)):
        if not calls(stage):
            stage.play(1)
    assert calls(stage) == [("acor", fx.WakeMachine("grifo", AT))]
    stage.play(LOOKS_EVERY_S + 5)
    assert [who for who, _ in calls(stage)] == ["acor", "pato"]
    stage.play(10 * LOOKS_EVERY_S)
    assert len(calls(stage)) == ROUNDS * 2, "then it is left asleep for as long as work waits first"
    assert any(each.what == MachineWoken("grifo") for each in stage.living()["acor"].story("T1"))
    stage.play(WAITS_S)
    assert len(calls(stage)) > ROUNDS * 2


def test_it_is_told_that_it_was_woken_and_does_the_work() -> None:
    stage = asleep(flock())
    stage.submit("acor", "bread", task("T1", **OVEN)).play(WAITS_S + 2 * LOOKS_EVERY_S)
    assert calls(stage)
    stage.boot("grifo")
    stage.link("grifo", "acor", "pato").play(10)
    assert {each.by for each in stage.effects(fx.WasWoken)} == {"acor", "pato"}
    assert stage.outcome("T1") == "grifo"
    before = len(calls(stage))
    stage.play(WAITS_S)
    assert len(calls(stage)) == before


@pytest.mark.parametrize(("after_s", "woken"), [(295.0, True), (310.0, False)])
def test_who_comes_long_after_it_was_called_comes_by_himself(after_s: float, woken: bool) -> None:
    stage = asleep(flock())
    stage.submit("acor", "bread", task("T1", **OVEN)).play(WAITS_S + 10 * LOOKS_EVERY_S)
    called = calls(stage)
    last_s = max(each.at_s for each in stage.entries if isinstance(each.what, fx.WakeMachine))
    stage.play(last_s + after_s - (stage.now_s - stage.origin_s))
    assert calls(stage) == called
    stage.boot("grifo")
    stage.link("grifo", "acor").play(2)
    assert bool(stage.effects(fx.WasWoken)) is woken


def test_who_said_goodbye_once_is_woken_when_it_fell_asleep_later() -> None:
    stage = flock()
    stage.ask("grifo", "stops", ev.Shutdown()).play(1)
    stage.crash("grifo")
    stage.boot("grifo")
    stage.link("grifo", "acor", "pato").play(5)
    able = replace(stage.living()["grifo"]._core.capabilities, wakes=AT)
    stage.ask("grifo", "can be woken", ev.CapabilitiesChanged(able)).play(2)
    asleep(stage)
    stage.submit("acor", "bread", task("T1", **OVEN)).play(WAITS_S + 2 * LOOKS_EVERY_S)
    assert calls(stage)


def test_of_two_that_could_the_one_is_woken_that_fell_asleep_last() -> None:
    stage = Stage(*NAMES, "tordo")
    for name in ("grifo", "tordo"):
        stage.tags[name] = ("oven",)
    stage.flock()
    for name in ("grifo", "tordo"):
        able = replace(stage.living()[name]._core.capabilities, wakes=AT)
        stage.ask(name, "can be woken", ev.CapabilitiesChanged(able)).play(2)
    stage.crash("tordo", power=True).play(20)
    asleep(stage)
    stage.submit("acor", "bread", task("T1", **OVEN)).play(WAITS_S + 2 * LOOKS_EVERY_S)
    assert {each.node for _, each in calls(stage)} == {"grifo"}


def test_who_comes_by_himself_is_told_nothing() -> None:
    stage = asleep(flock())
    stage.boot("grifo")
    stage.link("grifo", "acor", "pato").play(10)
    assert stage.effects(fx.WasWoken) == []


@pytest.mark.parametrize("why", ["nobody may", "goodbye", "another can", "the owner is there"])
def test_it_is_left_asleep(why: str) -> None:
    stage = flock(() if why == "nobody may" else AT)
    if why == "goodbye":
        stage.ask("grifo", "stops", ev.Shutdown()).play(1)
    if why == "the owner is there":
        stage.owner("grifo", here=True).play(1)
    asleep(stage)
    spec = task("T1") if why == "another can" else task("T1", **OVEN)
    if why == "another can":
        for name in ("acor", "pato"):
            stage.submit("acor", f"before {name}", task(f"B {name}", expected_ms=10_000_000))
    stage.submit("acor", "bread", spec).play(WAITS_S + 3 * LOOKS_EVERY_S)
    assert calls(stage) == []


def test_what_it_says_is_read_back() -> None:
    assert msg.decode(msg.encode(msg.WokenForWork())) == msg.WokenForWork()
    able = msg.Capabilities(wakes=AT)
    status = msg.Status(1, 1, "a", "1", 1, True, False, "", 0, 0, able, {})
    told = msg.decode(msg.encode(status))
    assert isinstance(told, msg.Status)
    assert told.capabilities.wakes == AT


def woken_at(
    *,
    ready: int = 1,
    open_task: int = 0,
    me: str = "acor",
    helps: bool = True,
    joined: bool = True,
    gate: bool = False,
    moves_at_s: float = -1.0,
    until_s: float = 640.0,
) -> list[float]:
    """When one of two nodes calls a machine that fell asleep at 0, for the one task that can be claimed."""
    specs = {f"T{n}": task(f"T{n}", gate=gate) for n in range(ready)}
    called: list[float] = []
    core: Any = SimpleNamespace(
        me=me,
        now_s=0.0,
        joined=joined,
        table=SimpleNamespace(ready=[*specs], specs=specs),
        voters=lambda: ["pato" if me == "acor" else "acor"],
        emit=lambda _: called.append(core.now_s),
        note=lambda *_: None,
    )
    planning: Any = SimpleNamespace(seat_plan=lambda: SimpleNamespace(fitting=lambda _: []))
    part = Sleepers(core, planning, lambda name: open_task < 0 or name == f"T{open_task}")
    able = msg.Capabilities(wakes=AT, programs=("mill",))
    gone: Any = SimpleNamespace(
        node="grifo", status=SimpleNamespace(capabilities=able, helps=helps)
    )
    part.on_gone(gone)
    while core.now_s <= until_s:
        part.on_tick()
        core.now_s += 1.0
        if core.now_s == moves_at_s:
            moved: Any = [("T0", None, None)]
            part.on_news(News(moved=moved))
    return called


@pytest.mark.parametrize(
    ("told", "at_s"),
    [
        ({}, [600.0, 630.0]),
        ({"me": "pato"}, [615.0]),
        ({"moves_at_s": 300.0}, []),
        ({"moves_at_s": 300.0, "until_s": 910.0}, [900.0]),
        ({"helps": False}, []),
        ({"joined": False}, []),
        ({"gate": True}, []),
        ({"open_task": 1}, []),
        ({"ready": 100, "open_task": 99}, [600.0, 630.0]),
        ({"ready": 101, "open_task": 100}, []),
        ({"ready": 2, "open_task": -1}, [600.0, 630.0]),
        ({"until_s": 1_300.0}, [600.0, 630.0, 660.0, 1_275.0]),
    ],
    ids=str,
)
def test_it_is_called_for_what_waited_ten_minutes_since_it_moved(
    told: dict[str, Any], at_s: list[float]
) -> None:
    assert woken_at(**told) == at_s
