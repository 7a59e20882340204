"""What a submission is: its id, what of it is content, how the same is found again, what is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw, msgpack
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.effects import Verdict
from agent.protocol.identity import (
    BY,
    PROGRAM,
    SHARED,
    TOLD,
    asked_in,
    called,
    carried,
    content_of,
    is_shared_with,
    submitted_by,
    with_programs,
    workflow_id,
)
from agent.protocol.records import (
    Dataset,
    InputRef,
    More,
    Pruning,
    TaskSpec,
    TaskState,
    WorkflowSpec,
)
from tests.certain import certain
from tests.protocol.stage import Stage

TASK = TaskSpec("a", "a", "mill", raw=(Dataset("words", external=True),), parameters="once")
OTHER = TaskSpec("b", "b", "sum", (InputRef("a", 0),))
DIFFERS: dict[str, dict[str, Any]] = {
    "program": {"program": "mill@1"},
    "published": {"published": Dataset("tree:1", 9)},
    "input": {"raw": (Dataset("sha256:2", 1),)},
    "parameters": {"parameters": "twice"},
    "needs": {"inputs": (InputRef("of another workflow", 0),)},
}
THE_SAME: dict[str, dict[str, Any]] = {
    "expected length": {"expected_ms": 5},
    "that it was told": {"more": {TOLD: Raw(msgpack.encode(60_000))}},
}


@pytest.mark.parametrize("what", DIFFERS)
def test_what_could_change_the_result_is_content(what: str) -> None:
    changed = (replace(TASK, **DIFFERS[what]), OTHER)
    assert content_of("words", changed) != content_of("words", (TASK, OTHER))


@pytest.mark.parametrize("what", THE_SAME)
def test_a_guess_is_no_content(what: str) -> None:
    changed = (replace(TASK, **THE_SAME[what]), OTHER)
    assert content_of("words", changed) == content_of("words", (TASK, OTHER))


def test_an_id_binds_who_asks_with_which_key_for_what() -> None:
    content = content_of("words", (TASK,))
    ids = {
        workflow_id(*each)
        for each in (
            ("ana", "k", content, "n1"),
            ("ben", "k", content, "n1"),
            ("ana", "l", content, "n1"),
            ("ana", "k", content_of("words 2", (TASK,)), "n1"),
            ("an", "ak", content, "n1"),
            ("ana", "k", content, "n2"),
        )
    }
    assert len(ids) == 6
    assert workflow_id("ana", "k", content, "n1") in ids


def asked(request: str, key: str, submitter: str = "ana", *, again: bool = False) -> ev.Submit:
    content = content_of("words", (TASK,))
    workflow = workflow_id(submitter, key, content, "acor")
    tasks = (replace(TASK, task=f"{workflow}/a"),)
    more = carried(key, content)
    return ev.Submit(request, workflow, "words", submitter, 50, tasks, more=more, again=again)


def answers(stage: Stage) -> list[tuple[str, Verdict, str]]:
    return [(each.request, each.verdict, each.workflow) for each in stage.effects(fx.Answer)]


FIRST, AGAIN, BENS = (
    asked("", *each).workflow for each in (("k1", "ana"), ("k2", "ana"), ("k1", "ben"))
)
ASKED: dict[str, tuple[Callable[[], ev.Submit], str, tuple[Verdict, str]]] = {
    "the same request": (lambda: asked("2", "k1"), "acor", (Verdict.ALREADY_KNOWN, FIRST)),
    "the same content": (lambda: asked("2", "k2"), "acor", (Verdict.ALREADY_KNOWN, FIRST)),
    "on purpose": (lambda: asked("2", "k2", again=True), "acor", (Verdict.ACCEPTED, AGAIN)),
    "somebody else": (lambda: asked("2", "k1", "ben"), "acor", (Verdict.ACCEPTED, BENS)),
    "the same request elsewhere": (
        lambda: asked("2", "k1"),
        "pato",
        (Verdict.ALREADY_KNOWN, FIRST),
    ),
    "one of that name elsewhere": (lambda: asked("2", "k2"), "pato", (Verdict.ACCEPTED, AGAIN)),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_asked_a_second_time(what: str) -> None:
    event, node, wanted = ASKED[what]
    stage = Stage("acor", "pato").flock()
    for name in stage.actors:
        stage.owner(name, here=True)
    stage.play(0.1)
    stage.ask("acor", "words", asked("1", "k1")).play(0.2)
    stage.ask(node, "words again", event()).play(0.2)
    assert answers(stage) == [("1", Verdict.ACCEPTED, FIRST), ("2", *wanted)]


def test_two_at_once_are_answered_with_one_and_what_was_cleaned_up_is_work_again() -> None:
    stage = Stage("acor", "pato").flock()
    for name in stage.actors:
        stage.owner(name, here=True)
    stage.play(0.1)
    stage.ask("acor", "words", asked("1", "k1"))
    stage.ask("acor", "words", asked("2", "k2")).play(0.2)
    assert [each[1:] for each in answers(stage)] == [(Verdict.ACCEPTED, FIRST)] * 2
    table = stage.living()["acor"].table
    assert table.asked_before(
        (content_of("words", (TASK,)), "ana", table.workflows[FIRST].spec.home)
    )
    table.join(prunings=[Pruning(FIRST, 1, (1, 0))])
    assert not table.asked_before((content_of("words", (TASK,)), "ana", "acor"))
    stage.ask("acor", "words", asked("3", "k3")).play(0.2)
    assert answers(stage)[-1][1] is Verdict.ACCEPTED


def test_two_machines_that_meet_keep_what_each_has_under_one_name() -> None:
    stage = Stage("acor", "pato").flock("acor")
    stage.boot("pato")
    for name, submitter in (("acor", "ana"), ("pato", "ben")):
        stage.owner(name, here=True)
        stage.ask(name, "words", asked(name, "k1", submitter))
    stage.play(1)
    stage.link("acor", "pato").play(2)
    assert stage.same_tables()
    for node in stage.living().values():
        assert sorted(node.table.workflows) == sorted((FIRST, BENS))
        assert {each.spec.submitter for each in node.table.workflows.values()} == {"ana", "ben"}


def test_what_is_kept_is_done_everywhere_without_a_start() -> None:
    stage = Stage("acor", "pato").flock()
    stage.play(0.1)
    stage.ask("acor", "words", asked("1", "k1")).play(5)
    assert len(stage.starters(f"{FIRST}/a")) == 1
    again = asked("2", "k2", again=True)
    after = replace(TASK, task="after", name="b", raw=(), inputs=(InputRef(f"{AGAIN}/a", 0),))
    keeps = ((f"{AGAIN}/a", f"{FIRST}/a"), ("after", "cleaned up"))
    event = dataclasses.replace(again, tasks=(*again.tasks, after), keeps=keeps)
    stage.ask("pato", "words again", event).play(5)
    assert stage.same_tables()
    assert (stage.starters(f"{AGAIN}/a"), len(stage.starters("after"))) == ([], 1)
    for node in stage.living().values():
        old, kept = (certain(node.table.reading(f"{each}/a")) for each in (FIRST, AGAIN))
        assert (kept.state, kept.outputs) == (TaskState.TERMINATED, old.outputs)


def text(words: str) -> Raw:
    return Raw(msgpack.encode(words))


def spec_with(more: More) -> WorkflowSpec:
    return WorkflowSpec("w", "w", (1, 0), "acor", "ana", (TASK,), more)


@pytest.mark.parametrize(
    ("shared", "node", "role", "may"),
    [
        ("", "pato", "operator", False),
        ("everybody", "pato", "helper", True),
        ("operators", "pato", "operator", True),
        ("operators", "pato", "helper", False),
        ("grifo", "pato", "helper", True),  # another machine of hers
        ("grifo", "zebra", "operator", False),
        ("nobody", "pato", "operator", False),
        ("zebra,operators", "pato", "operator", True),
    ],
)
def test_only_whom_it_is_shared_with_may_act_on_a_workflow(
    shared: str, node: str, role: str, may: bool
) -> None:
    owners = {"pato": "bia", "grifo": "bia"}
    people: Any = SimpleNamespace(
        of=lambda each: owners.get(each, each), owner=lambda each: owners.get(each, each)
    )
    spec = spec_with({SHARED: text(shared)} if shared else {})
    assert is_shared_with(spec, node, role, people) is may


def test_whose_work_it_is_and_what_was_asked_is_read_from_the_workflow() -> None:
    plain, told = spec_with({}), spec_with({BY: text("pato"), **carried("k", "abc")})
    assert (submitted_by(plain), submitted_by(told)) == ("acor", "pato")
    assert (asked_in(plain), asked_in(told)) == (None, ("abc", "ana", "acor"))
    assert submitted_by(spec_with({BY: Raw(b"\x01")})) == "acor"


def test_tasks_are_called_anew_in_what_they_name_of_each_other_alone() -> None:
    other = replace(OTHER, inputs=(InputRef("a", 1), InputRef("far", 0)), after=("a", "far"))
    new = called((TASK, other), lambda name: f"new {name}")
    assert [each.task for each in new] == ["new a", "new b"]
    assert new[1].inputs == (InputRef("new a", 1), InputRef("far", 0))
    assert new[1].after == ("new a", "far")


def test_what_is_told_of_an_installed_program_is_carried_beside_what_the_task_says() -> None:
    told = {"mill": {PROGRAM: text("digest"), "versions": text("told"), "x": text("told")}}
    own = replace(TASK, more={"versions": text("own"), PROGRAM: text("forged")})
    brought = replace(own, published=Dataset("tree", 1))
    (new, same, unknown) = with_programs((own, brought, OTHER), told)
    wanted = {PROGRAM: text("digest"), "versions": text("own"), "x": text("told")}
    assert new.more == wanted
    assert (same, unknown) == (brought, OTHER)
    (without,) = with_programs((own,), {"mill": {"x": text("told")}})
    assert without.more == {"x": text("told"), **own.more}
