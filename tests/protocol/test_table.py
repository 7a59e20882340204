"""What the table keeps of its records: who has what, what was removed, and what is not known yet."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from msgspec import Raw, msgpack
from msgspec.structs import replace

from agent.protocol.identity import CONTENT
from agent.protocol.reasons import NO_REASON, HelpsNotNow, OwnWorkOnly, Reason, SetToAlways
from agent.protocol.records import (
    COUNTER_SANE_MAX,
    NO_LIFE,
    Claim,
    Dataset,
    Life,
    Phase,
    PriorityWish,
    Pruning,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    TaskState,
    Terminated,
    Workflow,
    WorkflowSpec,
    run_name,
)
from agent.protocol.settings import Settings
from agent.protocol.sharing_reasons import OwnerTakesNoWork, for_colleagues
from agent.protocol.table import Table
from agent.protocol.unsaved import Unsaved
from tests.protocol.stage import task

RUNNING = Running()
PRUNED = Pruning("w", 1, (9, 0))


def workflow(
    *tasks: TaskSpec, name: str = "w", at_ms: int = 5, priority: int = 50, generation: int = 1
) -> Workflow:
    spec = WorkflowSpec(name, name, (at_ms, 0), "ant", "ana", tasks)
    return Workflow(spec, PriorityWish(1, "ant", priority), generation)


def run(host: str, phase: Phase = RUNNING, attempt: int = 1, revision: int = 1) -> Run:
    return Run(1, attempt, host, 1, Claim(1, (1, 0), host), 1, (), revision, phase, (7, 0))


def life(name: str, *runs: Run) -> TaskLife:
    return TaskLife(name, Life(1, runs=runs))


def table(*workflows: Workflow, orphans_max: int = 9) -> Table:
    found = Table(Settings(orphans_max=orphans_max))
    found.join(workflows)
    return found


def test_who_has_how_many_tasks_is_counted_as_they_move() -> None:
    of = table(workflow(task("T1"), task("T2"), task("T3")))
    assert [*of.ready] == ["T1", "T2", "T3"]
    of.join(lives=[life("T1", run("ant")), life("T2", run("ant")), life("T3", run("bee"))])
    assert (of.owned_by, [*of.owned], [*of.ready]) == ({"ant": 2, "bee": 1}, ["T1", "T2", "T3"], [])
    of.join(
        lives=[life("T1", run("ant", Terminated(), revision=2)), life("T2", run("bee", attempt=2))]
    )
    assert (of.owned_by, sorted(of.owned)) == ({"bee": 2}, ["T2", "T3"])
    assert [*of.unfinished["w"]] == ["T2", "T3"]
    assert of.counts("w") == {TaskState.RUNNING: 2, TaskState.TERMINATED: 1}
    of.join(lives=[life("T2", run("bee", Running(), 2, revision=2))])
    assert of.owned_by == {"bee": 2}
    of.let_go(["w"], {})
    assert (of.owned_by, of.owned, of.unfinished, of.specs, of.lives) == ({}, {}, {}, {}, {})
    assert of.hash == table().hash


def test_what_is_told_again_is_no_news_and_changes_nothing() -> None:
    of = table(workflow(task("T1")))
    before = of.changes
    assert not of.join([workflow(task("T1"))], [TaskLife("T1", NO_LIFE)])
    assert of.changes == before
    news = of.join(lives=[life("T1", run("ant"))])
    assert (of.changes, [part.task for part in news.lives]) == (before + 1, ["T1"])
    ended = of.join(lives=[life("T1", run("ant", Terminated(), revision=2))]).ended
    assert [(name, each.host) for name, each in ended] == [("T1", "ant")]
    assert not of.join(lives=[life("T1", run("ant", Terminated(), revision=2))]).ended


def test_what_could_not_be_kept_is_gone_without_a_word_to_the_disk() -> None:
    of, empty = table(workflow(task("T1"), task("T2"))), table()
    before = of.changes
    news = of.withdraw("w")
    assert (news.forgotten_tasks, news.forgotten_workflows, news.gone) == (["T1", "T2"], [], [])
    assert (of.hash, of.changes, of.holds_or_hides("w")) == (empty.hash, before + 1, False)
    for unknown in (of.withdraw, of.forget_pruning):
        with pytest.raises(KeyError):
            unknown("w")


def test_what_was_removed_stays_away_until_that_is_forgotten_or_it_was_tried_again() -> None:
    first = workflow(task("T1"))
    of = table(first)
    news = of.join(prunings=[PRUNED])
    assert (news.forgotten_workflows, news.forgotten_tasks) == (["w"], ["T1"])
    assert of.pruning_of_task("T1") == PRUNED
    assert not of.join([first])
    assert not of.join(lives=[life("T1", run("ant"))]), "nothing is kept of it either"
    assert of.holds_or_hides("w")
    before = of.changes
    of.forget_pruning("w")
    assert (of.hash, of.changes, of.holds_or_hides("w")) == (table().hash, before + 1, False)
    assert of.pruning_of_task("T1") is None
    assert of.join([first]).listed == ["w"]
    of.join(prunings=[PRUNED])
    assert of.join([workflow(task("T1"), generation=2)]).listed == ["w"]
    assert of.pruning_of_task("T1") is None, "it is here again"
    assert not of.join(prunings=[PRUNED]).forgotten_workflows


def test_what_is_told_of_unknown_tasks_is_kept_up_to_a_bound_and_counts_once_they_are_known() -> (
    None
):
    of = table(orphans_max=2)
    news = of.join(lives=[life(name, run("ant")) for name in ("T1", "T2", "T3")])
    assert news.unknown_tasks == ["T1", "T2", "T3"]
    assert [of.orphan(name) == NO_LIFE for name in ("T1", "T2", "T3")] == [True, False, False]
    assert sorted(part.task for part in of.all_lives()) == ["T2", "T3"]
    of.let_go([], {"T3": {run_name(run("ant"))}})
    of.join([workflow(task("T1"), task("T2"), task("T3"))])
    assert [*of.owned] == ["T2"]
    assert of.orphan("T2") == NO_LIFE
    of.join(prunings=[PRUNED])
    assert [of.pruning_of_task(f"T{n}") for n in (1, 2, 3)] == [None, PRUNED, PRUNED]


def test_runs_that_are_let_go_leave_no_trace() -> None:
    of = table(workflow(task("T1"), task("T2", "T1")))
    before = of.hash
    of.join(lives=[life("T1", run("ant", Terminated()), run("bee"))])
    both = of.hash
    news = of.let_go([], {"T1": {run_name(run("ant"))}, "T2": {run_name(run("ant"))}})
    assert [part.task for part in news.lives] == ["T1"]
    assert of.hash not in (both, before)
    assert (of.owned_by, [*of.ready]) == ({"bee": 1}, [])
    of.let_go([], {"T1": {run_name(run("bee"))}})
    assert [*of.ready] == ["T1"]
    bare = of.hash
    of.join(lives=[TaskLife("T2", Life(runs=(run("ant", Terminated()),)))])
    of.let_go([], {"T2": {run_name(run("ant"))}})
    assert of.hash == bare


def test_what_depends_on_a_task_is_found_nearest_first() -> None:
    of = table(workflow(task("T3", "T2"), task("T2", "T1"), task("T4", "T1"), task("T1")))
    assert of.closure(["T1"]) == ["T1", "T2", "T4", "T3"]
    assert of.closure(["T2", "T4"]) == ["T2", "T4", "T3"]
    assert (of.dependants("T1"), of.dependants("T3")) == (["T2", "T4"], [])
    assert (of.is_needed("T2"), of.is_needed("T4")) == (True, False)


def test_an_end_moves_all_that_waits_for_it_however_it_was_told() -> None:
    names = ["T5", "T3", "T1", "T4", "T2"]
    of = table(
        *(
            workflow(task(name, *([f"T{int(name[1]) - 1}"] if name != "T1" else [])), name=name)
            for name in names
        )
    )
    assert [*of.ready] == ["T1"]
    made = Terminated((Dataset("made"),))
    for number in range(1, 6):
        of.join(lives=[life(f"T{number}", run("ant", made))])
        assert [*of.ready] == ([f"T{number + 1}"] if number < 5 else [])
    news = of.let_go([], {f"T{number}": {run_name(run("ant"))} for number in range(1, 6)})
    assert sorted(name for name, _, _ in news.moved) == sorted(names)
    assert [*of.ready] == ["T1"]


def test_tasks_of_two_workflows_that_need_each_other_wait_and_hang_nothing() -> None:
    of = table(workflow(task("T1", "T2"), name="v"), workflow(task("T2", "T1"), task("T3")))
    assert [*of.ready] == ["T3"]
    of.join(lives=[life("T3", run("ant"))])
    assert [*of.owned] == ["T3"]


def test_a_task_that_two_workflows_name_is_of_the_one_submitted_first() -> None:
    of = table(workflow(task("T1"), name="late", at_ms=9))
    of.join(lives=[life("T1", run("ant"))])
    news = of.join([workflow(task("T1"), task("T2"), name="early", at_ms=5)])
    assert (of.workflow_of["T1"], news.contradictions) == ("early", 0)
    news = of.join([workflow(task("T1"), name="later", at_ms=10)])
    assert (of.workflow_of["T1"], news.contradictions) == ("early", 1)


def test_of_two_submissions_of_one_name_the_first_stands_and_what_happened_still_counts() -> None:
    of = table(workflow(task("T1"), task("T2"), task("T4"), at_ms=9))
    of.join(lives=[life("T1", run("ant")), life("T2", run("bee"))])
    news = of.join([workflow(task("T1"), task("T3"), at_ms=5)])
    assert (news.replaced, news.listed) == (["w"], [])
    assert sorted(of.specs) == ["T1", "T3"]
    assert of.owned_by == {"ant": 1}
    assert (of.orphan("T2") != NO_LIFE, of.orphan("T4")) == (True, NO_LIFE)
    assert not of.join([workflow(task("T1"), task("T2"), at_ms=9)])


def test_interactive_work_is_that_of_a_priority_of_100() -> None:
    of = table(workflow(task("T1"), priority=99), workflow(task("T2"), name="v", priority=100))
    assert [of.interactive(name) for name in ("T1", "T2", "unknown")] == [False, True, False]
    assert [of.priority(name) for name in ("T1", "T2", "unknown")] == [99, 100, 0]


def test_the_newest_that_was_asked_for_before_is_known_as_long_as_it_is_here() -> None:
    def asked(name: str, at_ms: int, content: str = "bread") -> Workflow:
        told = workflow(task(f"T {name}"), name=name, at_ms=at_ms)
        more = {CONTENT: Raw(msgpack.encode(content))}
        return replace(told, spec=replace(told.spec, more=more))

    of, same = table(asked("w", 5), asked("v", 9), asked("u", 7)), ("bread", "ana", "ant")
    assert of.asked_before(same) == "v"
    of.let_go(["v"], {})
    assert of.asked_before(same) == "u"
    of.join([asked("u", 6, "cake")])
    assert (of.asked_before(same), of.asked_before(("cake", "ana", "ant"))) == ("w", "u")
    of.let_go(["w"], {})
    assert (of.asked_before(same), of.asked_before(("bread", "bia", "ant"))) == ("", "")


def test_programs_that_come_with_tasks_are_told_with_their_submitter() -> None:
    brought = task("T2", published=Dataset("tree:1"))
    of = table(workflow(task("T1"), brought))
    assert [(spec.task, whose) for spec, _, whose in of.bringing()] == [("T2", "ana")]


@pytest.mark.parametrize(
    "told",
    [
        workflow(task("T1", "T2"), task("T2", "T1")),
        workflow(task("T1"), task("T1")),
        workflow(task("T1"), generation=COUNTER_SANE_MAX + 1),
        workflow(task("T1"), at_ms=2**53 + 1),
    ],
    ids=["circle", "twice", "beyond measure", "never"],
)
def test_what_contradicts_itself_is_counted_and_not_kept(told: Workflow) -> None:
    of = table()
    assert of.join([told]).contradictions == 1
    assert (of.workflows, of.specs, of.hash) == ({}, {}, table().hash)


def test_a_life_beyond_measure_is_counted_and_not_kept() -> None:
    of = table(workflow(task("T1")))
    most = COUNTER_SANE_MAX
    assert of.join(lives=[life("T1", run("ant", attempt=most + 1))]).contradictions == 1
    assert not of.lives
    assert of.join(lives=[life("T1", run("ant", attempt=most))]).contradictions == 0
    assert of.owned_by == {"ant": 1}


@pytest.mark.parametrize("what", [each.name for each in fields(Unsaved)])
def test_whatever_is_not_on_the_disk_yet_is_to_be_saved(what: str) -> None:
    assert not Unsaved()
    told: Any = {what: True if what == "identity" else {"T1": None}}
    assert Unsaved(**told)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (NO_REASON, NO_REASON),
        (OwnWorkOnly(), OwnWorkOnly()),
        (SetToAlways(), SetToAlways()),
        (OwnerTakesNoWork("ana"), HelpsNotNow()),
    ],
)
def test_colleagues_are_told_how_a_machine_is_set_up_and_nothing_of_its_owner(
    reason: Reason, told: Reason
) -> None:
    assert for_colleagues(reason) == told
