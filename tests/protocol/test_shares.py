"""What submitters have had of the flock lately, and that who had less goes first."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from msgspec import Raw, structs

from agent.protocol import events as ev
from agent.protocol.clock import Instant
from agent.protocol.core import Core, NodeSetup
from agent.protocol.effects import Identity
from agent.protocol.identity import KEPT
from agent.protocol.messages import Capabilities
from agent.protocol.people import People
from agent.protocol.records import (
    Claim,
    Life,
    PriorityWish,
    Run,
    Running,
    TaskLife,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.second_runs import FIRST_COPY
from agent.protocol.shares import Shares
from agent.protocol.signing import Trust
from agent.protocol.times import HELD
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import Course

NOW_MS = 1_750_000_000_000
HOUR_S = 3600.0


def flock(**ran_s: tuple[float, ...]) -> Core:
    """A table in which these people had tasks that ended now, of such lengths."""
    workflows, lives = [], []
    for person, lengths in ran_s.items():
        specs = tuple(task(f"{person}{number}") for number in range(len(lengths)))
        spec = WorkflowSpec(person, person, (NOW_MS, 0), "n0", person, specs)
        workflows.append(Workflow(spec, PriorityWish(1, "n0", 50)))
        for each, length_s in zip(specs, lengths, strict=True):
            claim = Claim(1, (NOW_MS - round(1000 * length_s), 0), "n0")
            run = Run(1, 1, "n0", 1, claim, 1000, (), 3, Terminated(), (NOW_MS, 0))
            lives.append(TaskLife(each.task, Life(runs=(run,))))
    identity = Identity(1, 10, (NOW_MS, 0), notes=True)
    setup = NodeSetup("n0", "acor", 1, Capabilities(), identity=identity)
    core = Core(replace(setup, workflows=tuple(workflows), lives=tuple(lives)))
    core.set_now(Instant(0.0, NOW_MS), "")
    return core


def test_who_had_more_is_put_back_by_what_all_places_worked_for_him() -> None:
    shares = Shares(flock(ana=(600.0, 600.0), bia=(120.0,)))
    assert shares.behind_s(("ana", "bia"), 2) == {"ana": 540.0, "bia": 0.0}
    assert shares.behind_s(("bia", "caio"), 1) == {"bia": 120.0, "caio": 0.0}


def test_a_single_submitter_is_never_put_back() -> None:
    shares = Shares(flock(ana=(9_000.0,), bia=(1.0,)))
    assert shares.behind_s(("ana", "ana"), 1) == {}


def test_what_was_taken_fades_and_nobody_is_put_back_for_ever() -> None:
    core = flock(ana=(1_000_000.0,), bia=(1.0,))
    shares = Shares(core)
    assert shares.behind_s(("ana", "bia"), 1)["ana"] == HOUR_S
    core.set_now(Instant(0.0, NOW_MS + round(20 * 4 * HOUR_S * 1000)), "")
    assert shares.behind_s(("ana", "bia"), 1)["ana"] < 60.0


def test_counting_anew_after_years_changes_nothing_that_is_seen() -> None:
    core = flock(ana=(1_200.0,), bia=(60.0,))
    shares = Shares(core)
    before = shares.behind_s(("ana", "bia"), 1)
    core.set_now(Instant(0.0, NOW_MS + round(400 * 4 * HOUR_S * 1000)), "")
    shares.on_tick()
    core.set_now(Instant(0.0, NOW_MS), "")
    assert shares.behind_s(("ana", "bia"), 1) == before


def test_the_flock_turns_to_who_has_had_nothing_yet() -> None:
    """Ana has had the only machine for minutes; bia, who asks after her, is next."""
    stage = Stage("acor").flock()
    stage.courses["A0"] = Course(length_s=200.0)
    stage.submit("acor", "first", task("A0")).play(210).owner("acor", here=True).play(0.1)
    stage.submit("acor", "second", task("A1")).play(1)
    asked = ev.Submit("r", "third", "third", "bia", 50, (task("B1"),))
    stage.ask("acor", "bia submits", asked).play(1).owner("acor", here=False).play(0.5)
    assert (stage.starters("B1"), stage.starters("A1")) == (["acor"], [])
    stage.play(10)
    assert stage.starters("A1") == ["acor"]


def test_a_person_with_several_machines_is_one_whatever_he_calls_himself() -> None:
    core = flock(ana=(600.0,), anna=(600.0,), bia=(120.0,))
    shares = Shares(core)
    people = People({"n0": "n0", "n1": "n0"}, {"n0": "n0", "n1": "n0"})
    core.follow_trust(Trust(people=people))
    spec = core.table.workflows["ana"].spec
    assert shares.behind_s(("n0", "bia"), 1) == {"n0": 1320.0, "bia": 0.0}
    assert shares.submitter(spec) == shares.submitter(structs.replace(spec, host="n1")) == "n0"
    assert shares.submitter(structs.replace(spec, host="n2")) == "ana"


def ended(ran_s: float, after_s: float = 0.0, number: int = 1) -> Run:
    """A run of a task of the table that ended so long after the others."""
    at_ms = NOW_MS + round(1000 * after_s)
    claim = Claim(1, (at_ms - round(1000 * ran_s), 0), "n0")
    return Run(1, number, "n0", number, claim, 1000, (), 3, Terminated(), (at_ms, 0))


def hear(core: Core, shares: Shares, task_id: str, *runs: Run) -> None:
    shares.on_news(core.table.join(lives=[TaskLife(task_id, Life(runs=runs))]))


def test_of_what_is_heard_each_run_counts_once_and_what_was_removed_no_more() -> None:
    core = flock(ana=(600.0,), bia=())
    shares = Shares(core)
    first = ended(600.0)
    hear(core, shares, "ana0", first, ended(300.0, number=2))
    hear(core, shares, "ana0", first, ended(120.0, number=3))
    assert shares.behind_s(("ana", "bia"), 1) == {"ana": 1020.0, "bia": 0.0}
    shares.on_news(core.table.let_go(["ana"], {}))
    assert shares.behind_s(("ana", "bia"), 1) == {"ana": 0.0, "bia": 0.0}


@pytest.mark.parametrize("ran_s", [119.5, 120.5])
def test_only_whole_minutes_count(ran_s: float) -> None:
    shares = Shares(flock(ana=(ran_s,)))
    assert shares.behind_s(("ana", "bia"), 1)["ana"] == (60.0 if ran_s < 120 else 120.0)


@pytest.mark.parametrize(
    ("behind_s", "told"),
    [
        (600.0, {}),
        (0.0, {"phase": Running()}),
        (0.0, {"more": FIRST_COPY}),
        (0.0, {"more": {KEPT: Raw(msgspec.msgpack.encode("w"))}}),
        (540.0, {"more": {HELD: Raw(msgspec.msgpack.encode(60_000))}}),
        (0.0, {"claim": Claim(1, (NOW_MS + 900_000, 0), "n0")}),
    ],
    ids=["usual", "runs", "copy", "kept from before", "held", "a clock set back"],
)
def test_what_counts_is_what_a_run_of_ones_own_took_until_its_end(
    behind_s: float, told: dict[str, object]
) -> None:
    core = flock(ana=(60.0,), bia=(60.0,))
    shares = Shares(core)
    run = structs.replace(ended(600.0, number=2), **told)
    hear(core, shares, "ana0", ended(60.0), run)
    assert shares.behind_s(("ana", "bia"), 1)["ana"] == behind_s


def test_what_ended_four_hours_earlier_counts_half() -> None:
    core = flock(ana=(2_400.0,), bia=())
    shares = Shares(core)
    core.set_now(Instant(0.0, NOW_MS + round(4 * HOUR_S * 1000)), "")
    assert shares.behind_s(("ana", "bia"), 1)["ana"] == pytest.approx(1_200.0, abs=60.0)
    hear(core, shares, "ana0", *core.table.life("ana0").runs, ended(600.0, 4 * HOUR_S, 2))
    assert shares.behind_s(("ana", "bia"), 1)["ana"] == pytest.approx(1_800.0, abs=60.0)


def test_an_agent_that_is_up_for_months_still_tells_who_had_more() -> None:
    core = flock(ana=(1_200.0,), bia=(60.0,))
    shares = Shares(core)
    later_s = 600 * 4 * HOUR_S
    core.set_now(Instant(0.0, NOW_MS + round(1000 * later_s)), "")
    shares.on_tick()
    assert shares.behind_s(("ana", "bia"), 1)["ana"] == 0.0
    hear(core, shares, "bia0", ended(900.0, later_s, 2))
    assert shares.behind_s(("ana", "bia"), 1) == {"ana": 0.0, "bia": 900.0}
