"""What a service offers of presence: verdicts handed on, pauses over restarts, rules kept."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import structs

from agent.api.errors import ServiceError
from agent.api.presence_reasons import (
    FinishingTask,
    FinishingTasks,
    HeldBlind,
    HeldByProgram,
    HelpsEmpty,
    NoScreen,
    PausedUntilResumed,
    SystemSays,
)
from agent.api.reasons import Reason
from agent.api.volunteering import VolunteerRules
from agent.presence import verdict, watching
from agent.presence.judgement import Cause, Paused, Unpaused, Wish
from agent.presence.looking import Looker
from agent.presence.pause import keep_wish, read_wish
from agent.presence.readings import LOOKS, Kind, Seen, Unseen
from agent.protocol.reasons import OwnerUsesIt
from agent.settings.layers import read_settings
from agent.wording.speech import english
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually
from tests.presence.watched import WATCHFUL, Machine, Told, presence

ASKED = 20
LIMIT_S = 60.0


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches looks again after a moment, and not after two or five seconds."""
    for name in ("LOOK_WHILE_HELD_S", "LOOK_WHILE_HELPING_S"):
        monkeypatch.setattr(verdict, name, 0.05)


async def test_whoever_comes_back_is_noticed_and_handed_on_in_the_loop(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(running=1)) as (found, machine):
        await eventually(lambda: machine.helps)
        machine.input_s = time.monotonic()
        await eventually(lambda: not machine.helps)
        assert machine.handed[-1].owner_present
        assert machine.reasons[-1].startswith("Paused: you used the keyboard or mouse")
        assert found.state().cause is Kind.INPUT
        looked = await found.look()
        standing = {each.kind: each.standing for each in looked.sources}
        assert (standing[Kind.INPUT], standing[Kind.FULL_SCREEN]) == ("holds", "free")
        assert standing[Kind.PROGRAMS] == "unasked"
        found.pause()
        await eventually(lambda: found.state().cause is Cause.PAUSED)
        assert standing == {each.kind: each.standing for each in found.state().sources}
    assert "presence" in machine.threads
    sources = [source for kind in Kind for source in machine.made[0].of[kind]]
    assert all(isinstance(each, Told) and each.closed for each in sources)


async def test_the_node_is_told_of_changes_and_not_of_seconds(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(running=1, input_s=time.monotonic())) as (found, machine):
        await eventually(lambda: found.state().cause is Kind.INPUT and bool(machine.handed))
        before = list(machine.handed)
        for _ in range(3):
            await found.look()
        assert machine.handed == before
        assert before[-1].reason == OwnerUsesIt()
        assert "ago" in english(found.state().reason)


async def test_a_later_moment_of_the_same_reason_is_told_and_not_to_the_node(
    tmp_path: Path, eager: None
) -> None:
    async with presence(tmp_path, Machine(running=1, input_s=time.monotonic() - 30)) as (
        found,
        machine,
    ):
        await eventually(lambda: found.state().cause is Kind.INPUT and bool(machine.handed))
        before, told = list(machine.handed), len(machine.why)
        machine.input_s += 20
        await eventually(lambda: len(machine.why) > told)
        first, last = cast("Any", machine.why[told - 1]), cast("Any", machine.why[-1])
        assert round((last.at_ms - first.at_ms) / 1000) == 20
        machine.input_s += 0.2
        for _ in range(3):
            await found.look()
        assert (len(machine.why), machine.handed) == (told + 1, before)


async def test_a_pause_that_ends_otherwise_is_told_again(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(), VolunteerRules()) as (found, machine):
        found.pause(time.time() + 600)
        await eventually(lambda: bool(machine.why) and not machine.helps)
        told = len(machine.why)
        found.pause(time.time() + 6_000)
        assert len(machine.why) == told + 1


async def test_always_makes_no_sources_until_somebody_wants_to_test_them(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(), VolunteerRules()) as (found, machine):
        await eventually(lambda: machine.helps)
        assert machine.made == []
        assert not any(source.sees for source in found.state().sources)
        state = await found.look()
        assert state.volunteering
        assert all(source.sees for source in state.sources)
        assert not any(source.needed for source in state.sources)
        texts = [english(source.why) for source in state.sources]
        assert "Other programs use 1 % of the processor" in texts


def all_told(machine: Machine, *kinds: Kind) -> list[Told[Any]]:
    """The sources of these kinds, or of all."""
    [made] = machine.made
    found = [source for kind in kinds or Kind for source in made.of[kind]]
    assert all(isinstance(each, Told) for each in found)
    return cast("list[Told[Any]]", found)


async def test_who_asks_on_and_on_has_dear_sources_looked_at_only_when_they_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_ANEW_AFTER_S", 0.0)

    async with presence(tmp_path, Machine(), VolunteerRules()) as (found, machine):
        for _ in range(ASKED):
            await found.look()
        cheap = all_told(machine, Kind.INPUT)
        assert {each.reads for each in cheap} == {ASKED}, "one for each who asks, none besides"
        dear = all_told(machine, Kind.MAINS, Kind.PROGRAMS, Kind.MEMORY)
        assert max(each.reads for each in dear) < ASKED / 2


async def test_what_was_seen_a_moment_ago_is_told_without_another_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_ANEW_AFTER_S", 600.0)
    monkeypatch.setattr(watching, "TEST_FOR_S", 600.0)

    async with presence(tmp_path, Machine(), VolunteerRules()) as (found, machine):
        for _ in range(ASKED):
            state = await found.look()
            assert all(source.sees for source in state.sources)
        assert {each.reads for each in all_told(machine)} == {1}


async def test_many_who_ask_at_once_are_answered_and_nobody_waits_for_one_that_ends(
    tmp_path: Path,
) -> None:
    async with presence(tmp_path, Machine(), VolunteerRules()) as (found, _):
        states = await asyncio.gather(*(found.look() for _ in range(50)))
        assert all(source.sees for state in states for source in state.sources)
        asking = [asyncio.create_task(found.look()) for _ in range(3)]
        await asyncio.sleep(0)
    assert all(state.volunteering for state in await asyncio.gather(*asking))
    assert (await found.look()).volunteering


async def test_a_source_that_breaks_counts_as_one_that_cannot_see(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with presence(tmp_path, Machine(mains=lambda: Seen(value=bool(1 // 0)))) as (
        found,
        machine,
    ):
        await eventually(lambda: found.state().cause is Cause.UNSEEN and bool(machine.made))
        await eventually(lambda: "its source failed" in english(found.state().reason))
        machine.mains = lambda: Unseen(SystemSays("it is dark"))
        await found.look()
        [mains] = [each for each in found.state().sources if each.kind is Kind.MAINS]
        assert english(mains.why) == "Mains: cannot be seen, because it is dark"
        assert mains.needed
        assert not mains.sees
    assert "a source of presence is at fault" in caplog.text


# -- pauses --------------------------------------------------------------------------------------


async def test_a_pause_holds_at_once_and_over_a_restart_until_somebody_resumes(
    tmp_path: Path,
) -> None:
    async with presence(tmp_path, Machine()) as (found, machine):
        await eventually(lambda: machine.helps)
        until_s = time.time() + 900
        found.pause(until_s)
        assert not machine.helps, "handed on before pause() returns"
        assert machine.handed[-1].owner_present
    async with presence(tmp_path, Machine()) as (found, again):
        state = found.state()
        assert (state.paused, state.paused_until_s) == (True, until_s)
        found.resume()
        await eventually(lambda: again.helps)
    async with presence(tmp_path, Machine()) as (found, _):
        assert not found.state().paused


async def test_an_owner_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, may_write = threading.Event(), threading.Event()

    def slow(folder: Path, wish: Wish) -> None:
        asked.set()
        assert may_write.wait(LIMIT_S)
        keep_wish(folder, wish)

    monkeypatch.setattr(watching, "keep_wish", slow)

    async with presence(tmp_path, Machine()) as (found, machine):
        await eventually(lambda: machine.helps)
        found.pause()
        assert machine.handed[-1].owner_present, "handed on before anything is written"
        kept = asyncio.create_task(found.kept())
        await asyncio.to_thread(asked.wait, LIMIT_S)
        found.resume()
        await eventually(lambda: machine.helps)
        assert not kept.done()
        may_write.set()
        await kept
        await found.kept()
    assert not (tmp_path / "pause.json").exists()


async def test_a_pause_is_written_also_where_it_is_nothing_new(tmp_path: Path) -> None:
    """Neither one of the settings nor one that a full disk refused is an owner's, kept."""

    async with presence(tmp_path, Machine(), starts_paused=True) as (found, _):
        found.pause()
    assert read_wish(tmp_path) == Paused()
    (tmp_path / "pause.json").unlink()
    (tmp_path / "pause.json.unfinished").mkdir()
    async with presence(tmp_path, Machine()) as (found, _):
        found.pause()
        await found.kept()
        assert read_wish(tmp_path) == Unpaused()
        (tmp_path / "pause.json.unfinished").rmdir()
        found.pause()
    assert read_wish(tmp_path) == Paused()


async def test_a_pause_ends_by_itself(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine()) as (found, machine):
        found.pause(time.time() + 1.0)
        assert found.state().paused
        await eventually(lambda: machine.helps)
        assert not found.state().paused
    assert not (tmp_path / "pause.json").exists()


async def test_what_runs_is_finished_and_then_it_is_paused_also_over_a_restart(
    tmp_path: Path, eager: None
) -> None:
    async with presence(tmp_path, Machine(running=1)) as (found, machine):
        await eventually(lambda: machine.helps)
        found.finish_then_pause()
        assert (machine.handed[-1].volunteering, machine.handed[-1].owner_present) == (
            False,
            False,
        )
        assert found.state().finishing
    async with presence(tmp_path, Machine(running=1)) as (found, machine):
        assert found.state().finishing
        machine.running = 0
        await eventually(lambda: bool(machine.handed) and machine.handed[-1].owner_present)
        state = found.state()
        assert (state.paused, state.finishing) == (True, False)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"until_s": "soon", "finishing": false}', "{}"])
async def test_a_pause_that_cannot_be_read_counts_as_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "pause.json").write_text(text)
    async with presence(tmp_path, Machine()) as (found, _):
        state = found.state()
        assert state.paused
        assert "cannot be read; resume to go on" in english(state.reason)
        found.resume()
        assert not found.state().paused
    assert not (tmp_path / "pause.json").exists()


async def test_a_pause_that_cannot_be_kept_holds_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "pause.json.unfinished").mkdir()
    async with presence(tmp_path, Machine()) as (found, _):
        found.pause()
        assert found.state().paused
    assert "not kept over a restart" in caplog.text


async def test_paused_in_the_settings_is_a_pause_that_resuming_ends(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(), VolunteerRules(), starts_paused=True) as (
        found,
        machine,
    ):
        assert found.state().reason == PausedUntilResumed()
        found.resume()
        assert machine.helps


async def test_until_tomorrow_is_some_hours_away(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine()) as (found, _):
        assert 7 * 3600 < found.tomorrow_s() - time.time() < 34 * 3600


async def test_what_was_seen_and_when_is_told_of_each_source(tmp_path: Path) -> None:
    began_s = time.time()
    async with presence(tmp_path, Machine(), VolunteerRules()) as (found, _):
        assert {each.read_s for each in found.state().sources} == {0.0}
        told = {each.kind: each for each in (await found.look()).sources}
        assert all(began_s - 1 <= each.read_s <= time.time() + 1 for each in told.values())
        assert all(each.sees for each in told.values())
        assert not any(each.needed for each in told.values()), "nothing is looked at"
        await found.set_rules(structs.replace(WATCHFUL, on_mains_only=False))
        needed = {each.kind for each in found.state().sources if each.needed}
        assert needed == set(Kind) - {Kind.MAINS, Kind.PROGRAMS, Kind.SESSION}


async def test_a_system_that_knows_no_other_zones_is_watched_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(time, "tzset", raising=False)

    machine = Machine()
    async with presence(tmp_path, machine):
        await eventually(lambda: machine.helps)


@pytest.mark.parametrize("running", [0, 1])
async def test_sources_are_looked_at_more_often_while_tasks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: int
) -> None:
    paces: set[bool] = set()
    look = Looker.look

    def noted(self: Looker, kinds: Collection[Kind], *, brisk: bool, now: bool = False) -> None:
        paces.add(brisk)
        look(self, kinds, brisk=brisk, now=now)

    monkeypatch.setattr(Looker, "look", noted)

    async with presence(tmp_path, Machine(running=running)):
        await eventually(lambda: bool(paces))
    assert paces == {bool(running)}


# -- rules ---------------------------------------------------------------------------------------


async def test_rules_take_effect_at_once_and_are_kept(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine(input_s=time.monotonic()), VolunteerRules()) as (
        found,
        machine,
    ):
        await eventually(lambda: machine.helps)
        rules = VolunteerRules("when idle", idle_s=600, exclusive_programs=("zoom",))
        await found.set_rules(rules)
        assert not machine.helps
        await eventually(lambda: found.state().cause is Kind.INPUT)
        assert machine.watched == ("zoom",)
        assert read_settings(tmp_path / "settings.toml").rules == rules
        await found.set_rules(structs.replace(rules, own_only=True))
        assert machine.handed[-1].own_only
        assert read_settings(tmp_path / "settings.toml").rules == structs.replace(
            rules, own_only=True
        )


async def test_other_rules_have_all_looked_at_anew_however_lately_it_was(tmp_path: Path) -> None:
    async with presence(
        tmp_path, Machine(), structs.replace(WATCHFUL, exclusive_programs=("a",))
    ) as (
        it,
        machine,
    ):
        await eventually(lambda: bool(machine.made) and machine.helps)
        [programs] = all_told(machine, Kind.PROGRAMS)
        programs.value = lambda: Seen(("b",))
        await it.set_rules(structs.replace(WATCHFUL, exclusive_programs=("b",)))
        async with asyncio.timeout(LOOKS[Kind.PROGRAMS].idle_s / 2):
            await eventually(lambda: it.state().cause is Kind.PROGRAMS)


async def test_rules_that_are_kept_hold_also_for_nobody_who_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = structs.replace(WATCHFUL, own_only=True)

    async with presence(tmp_path, Machine()) as (found, _):
        begun, may_end, keep = threading.Event(), threading.Event(), found._keep_rules

        def slowly(kept: VolunteerRules) -> None:
            begun.set()
            assert may_end.wait(EVENTUALLY_S_MAX)
            keep(kept)

        monkeypatch.setattr(found, "_keep_rules", slowly)
        asking = asyncio.create_task(found.set_rules(rules))
        await eventually(begun.is_set)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        may_end.set()
        await eventually(lambda: found.rules == rules)
    assert read_settings(tmp_path / "settings.toml").rules == rules


async def test_rules_that_cannot_be_kept_change_nothing(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine()) as (found, _):
        for rules in (
            VolunteerRules("by schedule"),
            VolunteerRules(free_memory_mb=16 * 1024 * 1024),
        ):
            with pytest.raises(ServiceError, match="These rules cannot be kept"):
                await found.set_rules(rules)
        assert found.rules == WATCHFUL
        (tmp_path / "settings.toml.unfinished").mkdir()
        with pytest.raises(ServiceError, match="nothing changed"):
            await found.set_rules(VolunteerRules())
        assert found.rules == WATCHFUL


# -- other reasons of one verdict: which are told to whoever sits here, and which are no news


async def test_how_many_tasks_are_left_is_told_and_not_to_the_node(
    tmp_path: Path, eager: None
) -> None:
    async with presence(tmp_path, Machine(running=3)) as (found, machine):
        found.finish_then_pause()
        before = list(machine.handed)
        assert machine.why[-1] == FinishingTasks(3, True)
        machine.running = 2
        await eventually(lambda: machine.why[-1] == FinishingTasks(2, True))
        machine.running = 1
        await eventually(lambda: machine.why[-1] == FinishingTask(True))
        assert machine.handed == before


BLIND = Unseen(NoScreen())


@pytest.mark.parametrize(
    ("first", "then", "reasons"),
    [
        (
            {"programs": Seen(("blender",))},
            {"programs": Seen(("obs",))},
            [HeldByProgram(("blender",)), HeldByProgram(("obs",))],
        ),
        (
            {"programs": BLIND},
            {"programs": Seen(()), "processor": BLIND},
            [HeldBlind(kind.value, BLIND.because) for kind in (Kind.PROGRAMS, Kind.PROCESSOR)],
        ),
    ],
)
async def test_another_reason_of_the_same_verdict_is_told(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], reasons: list[Reason]
) -> None:
    rules = structs.replace(WATCHFUL, exclusive_programs=("blender", "obs"))

    async with presence(tmp_path, Machine(**first), rules) as (found, machine):
        await found.look()
        await eventually(lambda: machine.why[-1:] == reasons[:1])
        before = list(machine.handed)
        vars(machine).update(then)
        await found.set_rules(rules)  # which looks at all of it
        await eventually(lambda: machine.why[-1] == reasons[1])
        assert machine.handed == before


async def test_an_amount_that_changes_all_the_time_is_not_told(tmp_path: Path) -> None:
    async with presence(tmp_path, Machine()) as (found, machine):
        await eventually(lambda: machine.helps)
        told = len(machine.why)
        machine.processor = Seen(7.0)
        await found.set_rules(WATCHFUL)
        await eventually(lambda: found.state().reason == HelpsEmpty(7))
        await found.look()
        assert len(machine.why) == told
