"""A service does for each person of its machine what is theirs, and in their name; for administrators
anything; for nobody what they do not own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.api.again import Again
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.work import Cancel, Gate, Meant, Submit
from agent.control.doorkeeping import Neighbour, Person
from agent.control.request_context import RequestContext
from agent.control.rights import within_rights
from agent.host.private_windows import Caller
from tests.control.serving import SURVEY, workflow
from tests.control.surface import FakeNode


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """It has a workflow that birch has submitted on it."""
    node = FakeNode(tmp_path)
    node.handle_submission(workflow())
    return node


def call(node: FakeNode, name: str, *, administers: bool = False) -> Any:
    person = Person(Caller("S-1-5-21", name, administers), ())
    return SimpleNamespace(neighbour=person, now=node.now(), rooms=node.rooms, member="")


def test_what_is_submitted_or_meant_is_in_the_name_of_who_asks(node: FakeNode) -> None:
    asked: tuple[Submit | Meant, ...] = (
        Submit("w", (), submitter="somebody else"),
        Meant("w", submitter="somebody else"),
    )
    for each in asked:
        assert within_rights(call(node, "ana"), "submit", each).submitter == "ana"
        assert within_rights(call(node, "root", administers=True), "x", each).submitter == "root"


def test_who_is_at_their_own_agent_is_not_looked_at(node: FakeNode) -> None:
    own: RequestContext = call(node, "ana")
    own.neighbour = Neighbour("token")  # type: ignore[misc]
    asked = Submit("w", (), submitter="somebody else", deliver="/home/ana/results")
    assert within_rights(own, "submit", asked) is asked


def test_nothing_is_written_into_folders_of_people(node: FakeNode) -> None:
    for administers in (False, True):
        asking = call(node, "ana", administers=administers)
        with pytest.raises(RefusedError, match="writes into no folders of people") as refused:
            within_rights(asking, "submit", Submit("w", (), deliver="/home"))
        assert refused.value.problem.code == ErrorCode.UNAUTHORISED


@pytest.mark.parametrize(
    ("method", "asked"),
    [("cancel", Cancel("survey")), ("gate", Gate("survey/check")), ("again", Again("survey"))],
)
def test_only_its_submitter_and_administrators_act_on_work(
    node: FakeNode, method: str, asked: Cancel | Gate | Again
) -> None:
    with pytest.raises(
        RefusedError, match="survey is work of birch: they decide, or an"
    ) as refused:
        within_rights(call(node, "ana"), method, asked)
    assert refused.value.problem.code == ErrorCode.UNAUTHORISED
    own = within_rights(call(node, "birch"), method, asked)
    assert reference(own) == (task_of(node, "check") if method == "gate" else SURVEY)
    for_root = within_rights(call(node, "root", administers=True), method, asked)
    assert reference(for_root) == reference(asked)


def test_what_is_only_looked_at_is_left_as_it_was_asked(node: FakeNode) -> None:
    asked = Cancel("survey")
    assert within_rights(call(node, "ana"), "show", asked) is asked


def test_of_the_past_anybody_begins_their_own_anew(node: FakeNode) -> None:
    assert within_rights(call(node, "ana"), "again", Again("gone")) == Again(
        "gone", submitter="ana"
    )
    with pytest.raises(RefusedError) as refused:
        within_rights(call(node, "ana"), "cancel", Cancel("gone"))
    assert refused.value.problem.code == ErrorCode.UNKNOWN


def reference(params: Cancel | Gate | Again) -> str:
    return params.task if isinstance(params, Gate) else params.workflow


def task_of(node: FakeNode, name: str) -> str:
    specs = node.table.workflows[SURVEY].spec.tasks
    return next(each.task for each in specs if each.name == name)
