"""How urgent a task is: by its own word, by a person's later one, or by its workflow's."""

from msgspec import Raw
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.digest import workflow_version
from agent.protocol.identity import content_of
from agent.protocol.priorities import submitted_priority, wished, with_priority
from agent.protocol.reasons import Became
from agent.protocol.records import (
    PriorityWish,
    Workflow,
    WorkflowSpec,
    join_workflows,
)
from agent.protocol.settings import Settings
from agent.protocol.sharing_reasons import Prioritised
from agent.protocol.table import Table
from tests.protocol.stage import Stage, task

SPEC = WorkflowSpec("w", "w", (1, 0), "ant", "ana", (task("T1"), task("T2")))
WORKFLOW = Workflow(SPEC, PriorityWish(1, "ant", 50))


def test_what_is_submitted_with_a_task_is_read_back() -> None:
    assert submitted_priority(task("T1", more=with_priority(100))) == 100
    assert with_priority(None) == {}
    assert submitted_priority(task("T1")) is None
    for wrong in (b"\xa3low", b"\xcd\x01\x00"):
        assert submitted_priority(task("T1", more={"priority": Raw(wrong)})) is None


def test_it_is_no_part_of_the_content() -> None:
    urgent = task("T1", more=with_priority(100))
    assert content_of("w", [urgent]) == content_of("w", [task("T1")])


def test_wishes_join_whatever_comes_first() -> None:
    one = wished(WORKFLOW, ["T1"], "ant", 100)
    two = wished(WORKFLOW, ["T1", "T2"], "bee", 20)
    three = wished(two, ["T2"], "ant", 80)
    joined = join_workflows(join_workflows(one, two), three)
    assert joined == join_workflows(three, join_workflows(two, one))
    assert joined == join_workflows(joined, one)
    assert join_workflows(joined, two) is joined
    assert [(each.task, each.wish.value) for each in joined.tasks] == [("T1", 20), ("T2", 80)]


def test_nodes_compare_them_and_agree_with_those_of_before_without_any() -> None:
    changed = wished(WORKFLOW, ["T1"], "ant", 100)
    assert workflow_version("w", changed) != workflow_version("w", WORKFLOW)
    # as the version before counted it
    assert workflow_version("ww", WORKFLOW) == 3401790761778544133


def test_own_words_go_before_the_workflows() -> None:
    table = Table(Settings())
    spec = replace(SPEC, tasks=(task("T1", more=with_priority(100)), task("T2")))
    workflow = replace(WORKFLOW, spec=spec)
    table.join([workflow])
    assert [table.priority(each) for each in ("T1", "T2", "T3")] == [100, 50, 0]
    assert table.interactive("T1")
    assert not table.interactive("T2")
    assert table.priorities.any_interactive(table.unfinished)
    table.join([wished(workflow, ["T1"], "ant", 20)])
    assert (table.priority("T1"), table.priorities.own("T2")) == (20, None)
    assert not table.priorities.any_interactive(table.unfinished)
    urgent = replace(workflow, priority=PriorityWish(2, "ant", 100))
    table.join([wished(urgent, ["T2"], "ant", 10)])
    assert [table.priority(each) for each in ("T1", "T2")] == [20, 10]
    assert not table.priorities.any_interactive(table.unfinished)


def test_an_urgent_step_of_a_low_workflow_starts_before_what_came_first() -> None:
    stage = Stage("acor", "pato").flock()
    stage.submit("acor", "bread", *[task(f"B{n}") for n in range(6)])
    urgent = task("U1", more=with_priority(99))
    stage.submit("acor", "cake", task("C1"), urgent).play(30)
    started = [effect.task for effect in stage.effects(fx.StartChild)]
    assert started.index("U1") < min(started.index(f"B{n}") for n in range(3, 6))


def test_no_low_step_starts_before_an_interactive_one_of_the_same_workflow() -> None:
    stage = Stage("acor").flock()
    steps = [task(f"L{n}") for n in range(4)]
    stage.submit("acor", "bread", *steps, task("U1", more=with_priority(100)))
    stage.play(20)
    assert stage.starters("U1") == ["acor"]
    assert next(each.task for each in stage.effects(fx.StartChild)) == "U1"


def test_a_person_changes_the_priority_of_a_step() -> None:
    stage = Stage("acor", "pato").flock()
    stage.submit("acor", "bread", *[task(f"B{n}") for n in range(6)]).play(0.5)
    stage.ask("pato", "urgent", ev.Prioritise("urgent", "bread", 99, ("B5",))).play(30)
    started = [effect.task for effect in stage.effects(fx.StartChild)]
    assert started.index("B5") == 2
    (answer,) = [each for each in stage.effects(fx.Answer) if each.request == "urgent"]
    assert answer.verdict is fx.Verdict.DONE
    told = [entry.what for entry in stage.living()["pato"].story("B5")]
    assert Prioritised(99) in told
    assert any(isinstance(each, Became) for each in told)
    stage.ask("pato", "late", ev.Prioritise("late", "bread", 10, ("B5",)))
    (answer,) = [each for each in stage.effects(fx.Answer) if each.request == "late"]
    assert answer.verdict is fx.Verdict.REFUSED
    assert answer.fault is not None
    assert "has ended" in answer.fault.template
