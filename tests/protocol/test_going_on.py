"""Whether a run goes on beside others of its task, and how far it says that it has come."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from agent.protocol import going_on
from agent.protocol.own_run import OwnRun, Stage
from agent.protocol.reasons import Became, EndCause, Opaque
from agent.protocol.records import Claim, Run, Running, Suspended, TaskState, run_name
from agent.protocol.second_runs import FIRST_COPY, NOT_TOLD, how_far, leads, with_how_far
from agent.protocol.settings import Settings
from tests.protocol.stage import task

SPEC, STARTED_MS = task("T1"), 1_000


def run(host: str, attempt: int = 1, **more: Any) -> Run:
    claim = Claim(0, (STARTED_MS, 0), host)
    return replace(Run(0, attempt, host, 7, claim, 0, (), phase=Running()), **more)


ORIGINAL, MINE = run("pato"), run("acor")
COPY, RIVAL = run("acor", more=FIRST_COPY), run("pato", attempt=2)


class Here:
    """Acor, which has a run of T1; what is read of T1 is given."""

    def __init__(self, own: Run, owner: Run | None = None, *runs: Run) -> None:
        self.own = OwnRun("T1", SPEC, own, Stage.RUNNING)
        self.reading: Any = SimpleNamespace(
            owner=owner, outcome=None, reason=None, state=TaskState.RUNNING
        )
        table = SimpleNamespace(
            reading=lambda _: self.reading,
            life=lambda _: SimpleNamespace(runs=runs or (own, *([owner] if owner else []))),
            owned={} if owner is None else {"T1": owner},
        )
        self.core: Any = SimpleNamespace(
            me="acor",
            incarnation=7,
            now_s=0.0,
            wall_ms=STARTED_MS + 9_000,
            table=table,
            settings=Settings(),
            rule=SimpleNamespace(copies=SimpleNamespace(most=1)),
            lengths=SimpleNamespace(host_factor=lambda *_: 0.5),
        )

    def superseded(self) -> Any:
        return going_on.superseded(self.core, self.own)


def test_a_run_ends_for_what_the_table_says() -> None:
    assert Here(MINE, MINE).superseded() is None
    assert Here(MINE, RIVAL).superseded() == EndCause("SupersededBy", host="pato")
    assert Here(replace(MINE, incarnation=6), MINE).superseded() == EndCause("NewIncarnation")
    here = Here(MINE)
    assert here.superseded() == Became("Running")
    here.reading.reason = Opaque("somebody said so")
    assert here.superseded() == Opaque("somebody said so")
    here.reading.outcome = ORIGINAL
    assert here.superseded() == EndCause("FinishedBy", host="pato")
    here.reading = None
    assert here.superseded() == EndCause("Pruned")


@pytest.mark.parametrize(("left_ms", "goes_on"), [(0, True), (2_000, True), (2_001, False)])
def test_what_is_nearly_done_goes_on_beside_the_owner(left_ms: int, goes_on: bool) -> None:
    here = Here(MINE, RIVAL)
    here.core.settings = Settings(nearly_done_ms=2_000)
    here.own.left_ms = left_ms
    assert (here.superseded() is None) is goes_on


def test_a_copy_and_its_original_both_go_on() -> None:
    assert Here(COPY, ORIGINAL).superseded() is None
    assert Here(MINE, run("pato", more=FIRST_COPY)).superseded() is None


def copy(host: str, at: int, leading: bool = False) -> Run:
    made = run(host, claim=Claim(0, (at, 0), host), more=FIRST_COPY)
    own = OwnRun("T1", SPEC, made, Stage.RUNNING)
    return going_on.leading(own) if leading else made


@pytest.mark.parametrize(
    ("mine", "other", "goes_on"),
    [
        (copy("acor", 5), copy("bora", 6), True),
        (copy("acor", 5), copy("bora", 4), False),
        (copy("acor", 5, leading=True), copy("bora", 4), True),
        (copy("acor", 5), copy("bora", 6, leading=True), False),
        (copy("acor", 5), replace(copy("bora", 4), attempt=2), True),
        (copy("acor", 5), run("bora", claim=Claim(0, (4, 0), "bora")), True),
    ],
)
def test_of_two_copies_the_better_one_goes_on(mine: Run, other: Run, goes_on: bool) -> None:
    here = Here(mine, ORIGINAL, mine, other, ORIGINAL)
    assert (here.superseded() is None) is goes_on
    here.core.rule.copies.most = 2
    assert here.superseded() is None


def test_rules_may_want_more_copies_and_settings_none() -> None:
    here = Here(MINE)
    here.core.rule.copies.most = 3
    assert going_on.copies_max(here.core) == 3
    here.core.settings = Settings(copies_max=5)
    assert going_on.copies_max(here.core) == 5
    here.core.settings = Settings(copies_max=0)
    assert going_on.copies_max(here.core) == 0


def test_a_rival_is_met_once_and_only_one_of_another_machine_and_attempt() -> None:
    here = Here(MINE, RIVAL)
    assert [going_on.met(here.core, here.own) for _ in range(2)] == [True, False]
    assert [*here.own.rivals] == [run_name(RIVAL)]
    offered, kept = (replace(MINE, phase=Suspended(offered=each)) for each in (True, False))
    for mine, owner, met in (
        (MINE, None, False),
        (MINE, replace(RIVAL, generation=1), False),
        (COPY, ORIGINAL, False),
        (MINE, MINE, False),
        (offered, RIVAL, False),
        (kept, RIVAL, True),
    ):
        other = Here(mine, owner)
        assert going_on.met(other.core, other.own) is met
        assert bool(other.own.rivals) is met
    here.reading = None
    assert not going_on.met(here.core, here.own)


@pytest.mark.parametrize(
    ("stage", "permille", "told", "says"),
    [
        (Stage.RUNNING, 300, NOT_TOLD, (2, 1, 300, 18_000)),
        (Stage.SUSPENDED, 300, NOT_TOLD, (2, 0, 300, 18_000)),
        (Stage.QUEUED, 0, NOT_TOLD, (2, 1, 0, 0)),
        (Stage.FETCHING, 0, NOT_TOLD, (2, 1, 0, 0)),
        (Stage.STARTING, 0, NOT_TOLD, (2, 1, 0, 18_000)),
        (Stage.SUSPENDED, 300, (3, 1, 200, 20_000), (3, 1, 200, 20_000)),
        (Stage.RUNNING, 300, (1, 1, 300, 17_999), (2, 1, 300, 18_000)),
    ],
)
def test_how_far_it_has_come_is_never_less_than_it_said_before(
    stage: Stage, permille: int, told: Any, says: Any
) -> None:
    before = replace(MINE, more=with_how_far({}, told))
    here = Here(before, RIVAL)
    here.own.stage, here.own.permille = stage, permille
    assert going_on.met(here.core, here.own)
    assert how_far(going_on.told_how_far(here.core, here.own)) == says
    assert here.own.run is before


def test_a_clock_that_went_back_makes_no_run_shorter_than_nothing() -> None:
    here = Here(MINE)
    here.core.wall_ms = 0
    assert how_far(going_on.told_how_far(here.core, here.own)) == (0, 1, 0, 0)


def test_only_a_copy_that_owns_nothing_is_beside() -> None:
    for own, owner, beside in (
        (COPY, ORIGINAL, True),
        (COPY, COPY, False),
        (COPY, None, False),
        (MINE, ORIGINAL, False),
    ):
        here = Here(own, owner)
        assert going_on.is_beside(here.core, here.own) is beside
        assert going_on.plain(here.core, [here.own]) == [here.own][beside:]


def test_a_copy_leads_once_its_original_stands_still_or_is_gone() -> None:
    held = replace(ORIGINAL, phase=Suspended())
    for owner, gone, stage, leads_now in (
        (ORIGINAL, False, Stage.RUNNING, False),
        (ORIGINAL, True, Stage.RUNNING, True),
        (held, False, Stage.RUNNING, True),
        (held, False, Stage.QUEUED, True),
        (held, False, Stage.SUSPENDED, False),
        (None, False, Stage.RUNNING, False),
    ):
        here = Here(COPY, owner)
        here.own.stage = stage
        assert going_on.has_to_lead(here.core, here.own, gone) is leads_now
    here = Here(COPY, ORIGINAL)
    here.own.run = going_on.leading(here.own)
    assert leads(here.own.run)
    assert not going_on.has_to_lead(here.core, here.own, True), "it does so already"


def test_who_ended_the_same_attempt_before_is_named() -> None:
    for own, outcome, host in (
        (COPY, ORIGINAL, "pato"),
        (COPY, None, ""),
        (MINE, RIVAL, ""),
        (COPY, COPY, ""),
    ):
        here = Here(own)
        here.reading.outcome = outcome
        assert going_on.ended_before(here.core, here.own) == host
    here = Here(COPY)
    here.reading = None
    assert going_on.ended_before(here.core, here.own) == ""
