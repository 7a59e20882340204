"""What is still taken and what is not any more, each at its edge: of peers, of members, of clients."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol import admission, quotas
from agent.protocol.admission import fault_of
from agent.protocol.allowance import Allowance
from agent.protocol.clock import Instant
from agent.protocol.core import Core, Peer
from agent.protocol.events import Submit
from agent.protocol.incarnations import RAISED_AGAIN_S, SEEN_MAX, Incarnations
from agent.protocol.messages import Capabilities, Status
from agent.protocol.names import fault_of_name, visible
from agent.protocol.obstructors import FORGIVEN_AFTER_S, PATIENCE_S, Obstructors
from agent.protocol.output_names import output_names, with_output_names
from agent.protocol.quotas import COUNTED_ANEW_S, Quotas, Told
from agent.protocol.reasons import Opaque
from agent.protocol.records import (
    COUNTER_SANE_MAX,
    PRIORITY_INTERACTIVE,
    SUBMITTED_FAR,
    Claim,
    Dataset,
    Life,
    PriorityWish,
    Pruning,
    Requirements,
    Run,
    TaskLife,
    TaskPriority,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
    run_name,
)
from agent.protocol.sanity import INCARNATION_SANE_MAX, sane_workflow, with_last_words
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from tests.certain import certain
from tests.protocol.stage import Stage, task

CLAIM = Claim(1, (1, 0), "ant")
RUN = Run(1, 1, "ant", 1, CLAIM, 1)
SPEC = WorkflowSpec("w", "w", (1, 0), "ant", "ana", (task("T1"),))
WORK = Workflow(SPEC, PriorityWish(1, "ant", 50))
MOST = COUNTER_SANE_MAX


def test_a_wish_on_one_task_counts_up_to_where_a_later_one_can_be_told() -> None:
    for revision, sane in ((MOST, True), (MOST + 1, False)):
        wish = TaskPriority("T1", PriorityWish(revision, "ant", 50))
        assert sane_workflow(replace(WORK, tasks=(wish,))) is sane


def test_of_what_leaves_the_table_the_last_words_count_that_an_honest_node_may_say() -> None:
    ended = TaskLife("T1", Life(runs=(replace(RUN, revision=2, phase=Terminated()),)))
    before = [TaskLife("T1", Life(runs=(RUN,)))]
    assert with_last_words(WORK, before, (ended, replace(ended, task="other"))) == [ended]
    assert with_last_words(WORK, before, ()) == before
    assert with_last_words(WORK, [], (TaskLife("T1", Life(MOST + 1)),)) == []


# -- what is submitted -------------------------------------------------------------------


def submitted(
    *tasks: TaskSpec, workflow: str = "new", priority: int = 50, name: str = "n"
) -> Submit:
    return Submit("r", workflow, name, "ana", priority, tasks)


REFUSED = {
    "name": (submitted(task("a"), name="a\u202eb"), "cannot be seen"),
    "tag": (submitted(task("a", requirements=Requirements(tags=("\u200b",)))), "cannot be seen"),
    "gate": (submitted(task("g", gate=True)), "is a gate"),
    "nothing": (submitted(task("a", program="")), "names no program"),
    "no tasks": (submitted(), "has no tasks"),
    "priority": (submitted(task("a"), priority=-1), "is not between"),
    "too urgent": (submitted(task("a"), priority=PRIORITY_INTERACTIVE + 1), "is not between"),
    "there": (submitted(task("T1")), "is already in"),
    "unknown": (submitted(task("a", "T1", "x")), "is not known here"),
    "pruned": (submitted(task("a"), workflow="gone"), "cleaned up"),
    "unreadable": (submitted(task("a", parameters="\ud800")), "cannot be kept"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_submitted_is_refused_in_words(what: str) -> None:
    event, words = REFUSED[what]
    assert words in certain(fault_of(event, known())).template


def test_a_gate_needs_no_program_and_a_large_workflow_is_told_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert fault_of(submitted(task("g", gate=True, program="")), known()) is None
    for priority in (0, PRIORITY_INTERACTIVE):
        event = submitted(task("a", "T1"), task("b", "a"), priority=priority)
        assert fault_of(event, known()) is None
    assert admission.WORKFLOW_BYTES_MAX == 2**24
    event = submitted(task("a", parameters="x" * 500))
    monkeypatch.setattr(admission, "WORKFLOW_BYTES_MAX", 100)
    size = cast("int", certain(fault_of(event, known())).values["bytes"])
    for most, fits in ((size, True), (size - 1, False)):
        monkeypatch.setattr(admission, "WORKFLOW_BYTES_MAX", most)
        assert (fault_of(event, known()) is None) is fits


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x" * 201, "more than"),
        ("a\x07", "U+{code}"),
        ("ad\u3164min", "U+{code}"),
        ("e\u0301", "parts"),
    ],
)
def test_no_new_name_says_something_else_than_it_is(name: str, shown: str) -> None:
    assert shown in certain(fault_of_name(name)).template


def test_names_are_long_enough_and_shown_with_what_they_hide() -> None:
    assert [fault_of_name(name) for name in ("x" * 200, "é" * 200, "")] == [None] * 3
    assert visible("a\u202eb é") == "a<U+202E>b é"
    assert len(str(certain(fault_of_name("x" * 999)).values["name"])) == 62


def test_outputs_are_called_as_their_program_calls_them() -> None:
    assert output_names(with_output_names(RUN, ("a", ""))) == ("a", "")
    for names in (("", ""), ("a",) * 201):
        assert with_output_names(RUN, names) is RUN
    assert len(output_names(with_output_names(RUN, ("a",) * 200))) == 200
    assert output_names(RUN) == output_names(replace(RUN, more={"names": Raw(b"\x01")})) == ()


# -- how much of one member -----------------------------------------------------------------


def known() -> Table:
    table = Table(Settings())
    table.join([WORK], prunings=[Pruning("gone", 1, (9, 0))])
    return table


class Full:
    """A table, and what members tell to it."""

    def __init__(self, table: Table) -> None:
        self.table, self.now_s = table, 100.0
        self.let_go: list[object] = []
        self.quotas = Quotas(
            table, lambda *gone: self.let_go.append(gone), self.let_go.append, lambda: self.now_s
        )

    def left_out(self, **told: Any) -> list[str]:
        return self.quotas.within(Told(**{"workflows": [], "lives": [], "prunings": [], **told}))[1]


def of_bee(name: str, at_ms: int = 5, **more: Any) -> WorkflowSpec:
    return WorkflowSpec(name, name, (at_ms, 0), "bee", "bia", (task(f"{name} 1"),), **more)


def test_members_have_so_much_room() -> None:
    assert (quotas.WORKFLOWS_BYTES_MAX, quotas.RUNS_BYTES_MAX) == (2**28, 2**28)
    assert (quotas.PRUNINGS_BYTES_MAX, quotas.RUNS_OF_A_WORKFLOW_BYTES) == (2**26, 2**20)
    assert (quotas.RUNS_OF_A_TASK_BYTES, quotas.RUNS_OF_AN_INPUT_BYTES) == (4_096, 256)
    assert (quotas.TASK_BYTES, quotas.RUN_BYTES, quotas.COUNTED_ANEW_S) == (1_024, 256, 10.0)


@pytest.mark.parametrize("far", [False, True])
def test_who_submits_too_much_is_told_how_much_there_is(
    far: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its room a machine gives half to what comes from other machines."""
    monkeypatch.setattr(quotas, "TASK_BYTES", 2**20)
    monkeypatch.setattr(quotas, "WORKFLOWS_BYTES_MAX", 5 * 2**20)
    full = Full(Table(Settings()))
    more = SUBMITTED_FAR if far else {}
    fits = 2 if far else 4
    for number in range(fits):
        assert full.quotas.fault_of(of_bee(str(number), more=more), "bee's") is None
        full.table.join([replace(WORK, spec=of_bee(str(number), more=more))])
    refused = certain(full.quotas.fault_of(of_bee("last", more=more), "bee's"))
    assert refused.values == {"host": "bee's", "taken": fits, "most": 2 if far else 5}
    assert (full.quotas.fault_of(of_bee("own"), "bee's") is None) is far
    assert full.quotas.fault_of(SPEC, "ant's") is None, "each has room of its own"


def test_the_earliest_work_has_room_and_what_has_none_is_not_asked_for_in_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quotas, "WORKFLOWS_BYTES_MAX", 2_500)
    full = Full(known())
    first, early, late, last = (replace(WORK, spec=of_bee(f"w{at}", at)) for at in (1, 2, 3, 4))
    assert full.left_out(workflows=[early, late]) == []
    full.table.join([early, late])
    assert full.left_out(workflows=[last]) == ["bee"]
    assert [full.quotas.is_held_back(f"w{each}") for each in ("w4", "w3")] == [True, False]
    assert full.left_out(workflows=[first]) == ["bee"], "it is counted anew in a while"
    assert full.left_out(workflows=[replace(WORK, spec=replace(SPEC, workflow="of ant"))]) == []
    full.now_s += COUNTED_ANEW_S
    assert not full.quotas.is_held_back("ww4")
    assert full.let_go == []
    assert full.left_out(workflows=[first]) == []
    assert full.let_go == [(["w3"], {})], "later work gives way, of the same member"


def test_the_latest_removals_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "PRUNINGS_BYTES_MAX", 2 * 258)
    table = Table(Settings())
    one, two, three = (Pruning(f"p{at_ms}", 1, (at_ms, 0), "bee") for at_ms in (1, 2, 3))
    table.join(prunings=[one, two])
    full = Full(table)
    assert full.left_out(prunings=[three]) == []
    assert full.let_go == ["p1"]
    full.now_s += COUNTED_ANEW_S
    assert full.left_out(prunings=[Pruning("p0", 1, (0, 0), "bee")]) == ["bee"]
    assert full.left_out(prunings=[replace(one, by="ant")]) == []


def test_of_runs_those_that_succeeded_have_room_then_the_latest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quotas, "RUNS_OF_A_WORKFLOW_BYTES", 0)
    monkeypatch.setattr(quotas, "RUNS_OF_A_TASK_BYTES", 350)
    two = replace(WORK, spec=replace(SPEC, tasks=(task("T1"), task("T2"))))
    table = Table(Settings())
    table.join([two], [TaskLife("T2", Life(runs=(replace(RUN, host="bee"),)))])
    full, ended = Full(table), replace(RUN, phase=Terminated())
    old, new, latest = (
        replace(RUN, attempt=at_ms, claim=Claim(1, (at_ms, 0), "ant")) for at_ms in (2, 3, 4)
    )
    full.table.join([], [TaskLife("T1", Life(runs=(ended, old)))])
    assert full.left_out(lives=[TaskLife("T1", Life(runs=(new,)))]) == []
    assert full.let_go == [([], {"T1": {run_name(old)}})]
    assert full.left_out(lives=[TaskLife("T1", Life(runs=(latest,)))]) == ["ant"], (
        "counted anew later"
    )
    full.now_s += COUNTED_ANEW_S
    assert full.left_out(lives=[TaskLife("T1", Life(runs=(latest,)))]) == []


# -- who stands in the way, and who started when --------------------------------------------


def a_core() -> Core:
    core = Stage("ant", "bee").flock("ant").living()["ant"]._core
    core.set_now(Instant(100.0, 0), "")
    return core


def later(core: Core, seconds: float) -> None:
    core.set_now(Instant(core.now_s + seconds, 0), "")


def test_who_is_passed_by_twice_is_in_the_way_for_half_an_hour() -> None:
    core = a_core()
    found = Obstructors(core)
    found.passed_by("bee")
    assert (found.all(), found.patience_s("bee")) == ((), PATIENCE_S)
    later(core, FORGIVEN_AFTER_S)
    found.passed_by("bee")
    assert found.all() == (), "once is long ago"
    later(core, FORGIVEN_AFTER_S - 1)
    found.passed_by("bee")
    assert (found.all(), found.patience_s("bee"), found.patience_s("ant")) == (("bee",), 0.25, 5.0)
    assert core.counters["in the way"] == 3
    later(core, FORGIVEN_AFTER_S - 1)
    assert "bee" in found
    later(core, 1)
    assert (found.all(), FORGIVEN_AFTER_S) == ((), 1_800)


@pytest.mark.parametrize(("waits", "after_s"), [(False, 6.0), (True, 60.0)])
def test_who_claims_and_never_begins_is_in_the_way(waits: bool, after_s: float) -> None:
    core = a_core()
    found = Obstructors(core)
    for _ in range(3):
        found.left_to("T1", "bee", waits=waits)
    later(core, after_s)
    found.left_to("T2", "bee", waits=waits)
    found.went_on("T2")
    assert "bee" not in found
    later(core, -0.5)
    found.left_to("T1", "bee", waits=waits)
    assert "bee" not in found, "not for long enough"
    later(core, 0.5)
    found.left_to("T1", "bee", waits=waits)
    assert "bee" in found


def test_for_three_times_a_task_is_left_to_anybody() -> None:
    core = a_core()
    found = Obstructors(core)
    found.left_to("T1", "bee")
    later(core, 60)
    for _ in range(2):
        found.left_to("T1", "bee")
    assert "bee" not in found
    found.went_on("T1")
    found.left_to("T1", "bee")
    assert "bee" not in found, "what goes on is left anew"
    later(core, 60)
    for _ in range(3):
        found.left_to("T1", "bee")
    assert "bee" in found


@pytest.mark.parametrize("rivals", [1, 2])
def test_who_names_claims_that_nobody_made_is_not_heeded(rivals: int) -> None:
    """Of one rival alone it may be that one, so neither is in the way."""
    core = a_core()
    found = Obstructors(core)
    for number in range(3):
        assert not found.named("T1", "bee", Claim(1, (number, 0), f"cat{number % rivals}"))
    later(core, 6)
    assert found.named("T1", "bee", Claim(1, (9, 0), "cat0"))
    assert found.all() == (("bee",) if rivals > 1 else ())
    later(core, 1_799)
    assert found.named("T2", "bee", Claim(1, (10, 0), "cat0"))
    later(core, 1_800)
    assert not found.named("T3", "bee", Claim(1, (11, 0), "cat0"))


def test_who_names_claims_that_were_made_is_heeded() -> None:
    core = a_core()
    found = Obstructors(core)
    claims = [Claim(1, (number, 0), "cat") for number in range(4)]
    for claim in claims[:3]:
        found.named("T1", "bee", claim)
        found.asked("T1", claim)
    later(core, 6)
    assert not found.named("T1", "bee", claims[3])
    found.asked("T1", claims[3])
    for claim in claims:
        found.named("T1", "bee", replace(claim, host="dog"))
    later(core, 6)
    assert found.named("T1", "bee", replace(CLAIM, host="dog"))
    assert found.all() == (), "of one rival alone"


def status(**told: Any) -> Status:
    able = Capabilities()
    return Status(
        1, 1, "b", "1", 1, True, False, "", 0, 0, able, told.pop("neighbours", {}), **told
    )


def test_of_starts_the_host_itself_counts_then_the_latest_that_peers_tell_of_members() -> None:
    core = a_core()
    found = Incarnations(core, lambda: False)
    assert (found.newest("bee"), found.told_by("bee", 5), found.told_by("bee", 5)) == (
        0,
        True,
        False,
    )
    assert not found.told_by("bee", INCARNATION_SANE_MAX + 1)
    found.told(status(neighbours={"bee": 7, "dog": 9, "ant": 9}))
    found.told(status(reached={"bee": 8}))
    found.told(status(neighbours={"bee": 6}))
    assert [found.newest(each) for each in ("bee", "dog", "ant")] == [8, 0, 0]
    assert (found.told_by("bee", 4), found.newest("bee")) == (True, 5)


def test_a_later_start_that_peers_saw_is_taken_while_nothing_runs_and_not_over_and_over() -> None:
    core, at_work = a_core(), SimpleNamespace(now=True)
    found = Incarnations(core, lambda: at_work.now)
    found.seen_of_me(SEEN_MAX + 1)
    found.seen_of_me(core.incarnation)
    at_work.now = False
    assert found.to_take() == 0
    found.seen_of_me(core.incarnation + 5)
    found.seen_of_me(core.incarnation + 3)
    at_work.now = True
    assert found.to_take() == 0
    at_work.now = False
    assert found.to_take() == core.incarnation + 6
    assert found.to_take() == 0
    later(core, RAISED_AGAIN_S)
    assert found.to_take() == core.incarnation + 6
    assert (SEEN_MAX, RAISED_AGAIN_S) == (2**51, 60.0)


def test_who_is_linked_tells_itself_when_it_started() -> None:
    core = Stage("ant", "bee").flock().living()["ant"]._core
    found = Incarnations(core, lambda: False)
    known = found.newest("bee")
    found.told(status(neighbours={"bee": known + 5}))
    assert found.newest("bee") == known > 0
    del core.peers["bee"]
    found.told(status(neighbours={"bee": known + 5}))
    assert found.newest("bee") == known + 5
    core.peers["bee"] = cast("Peer", None)
    assert found.newest("bee") == known


def test_of_each_task_the_last_moves_are_kept() -> None:
    core = a_core()
    core.table.join([WORK])
    for number in range(40):
        core.note("T1", Opaque(str(number)))
    assert [each.what for each in core.story("T1")] == [Opaque(str(n)) for n in range(16, 40)]
    assert core.settings.story_entries_max == 24


def test_the_stories_of_so_many_tasks_are_kept() -> None:
    core = a_core()
    for number in range(20_001):
        core.note(f"T{number}", Opaque(""))
    assert [len(core.story(each)) for each in ("T0", "T1", "T20000")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("ahead_ms", "median_ms"),
    [((), None), ((7,), None), ((7, 3), 3), ((-7, 3), 0), ((7, 3, 5), 3), ((9, 7, 3, 5), 5)],
)
def test_the_clock_of_the_flock_is_the_one_in_the_middle_where_half_are_heard(
    ahead_ms: tuple[int, ...], median_ms: int | None
) -> None:
    core = a_core()
    core.set_now(Instant(100.0, 1_000), "")
    core.members = dict.fromkeys(["ant", "bee", "cat", "dog", "elk"])
    for node, ahead in zip(("bee", "cat", "dog", "elk"), ahead_ms, strict=False):
        core.peers[node] = Peer(node, 0.0, 0.0, 0.5, wall_ahead_ms=ahead, greeted=True)
    core.peers["fox"] = Peer("fox", 0.0, 0.0, 0.5, wall_ahead_ms=99)
    assert core.flock_wall_ms() == (None if median_ms is None else 1_000 + median_ms)


def test_of_unfinished_work_is_told_which_programs_come_with_it() -> None:
    table = Table(Settings())
    brings, folder = task("T2", published=Dataset("folder", 1)), Dataset("folder", 1)
    table.join([replace(WORK, spec=replace(SPEC, tasks=(task("T1"), brings)))])
    assert list(table.bringing()) == [(brings, folder, "ana")]


def test_one_member_is_told_a_million_records_at_once_and_fifty_thousand_a_second() -> None:
    counted: list[str] = []
    core = SimpleNamespace(now_s=100.0, count=counted.append)
    allowance = Allowance(cast("Any", core))
    asked = [allowance.takes("pato", each) for each in (400_000, 600_000, 1)]
    assert (asked, counted) == ([True, True, False], ["asks for more records than one member may"])
    assert allowance.takes("grifo", 3_000_000), "who has asked for nothing yet is told all"
    core.now_s += 10.0
    asked = [allowance.takes("pato", each) for each in (500_001, 500_000, 1)]
    assert asked == [False, True, False]
    assert not allowance.takes("grifo", 1)
    core.now_s += 1_000.0
    asked = [allowance.takes("pato", each) for each in (600_000, 400_000, 1)]
    assert asked == [True, True, False], "it is not saved up"
