"""What and whom people mean: exact ids and names, beginnings, codes; and what is said when it is unclear."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from agent.api.admission import JoinRequestView
from agent.api.errors import RefusedError
from agent.api.reasons import AsksToBeLetIn, NewestOf
from agent.api.rpc import ErrorCode
from agent.api.work import Submit
from agent.control.membership import (
    check_compared,
    find_request,
    open_requests,
)
from agent.control.naming import (
    TASK_NAMES,
    find_member,
    find_task,
    find_workflow,
    newest_of,
    task_id,
)
from agent.control.program_views import find_published, published_programs
from agent.control.verbs.submitting import submission
from agent.wording.speech import english
from tests.control.serving import LineClient, Serving
from tests.control.surface import MEMBERS, NODE, FakeNode

ID = task_id("survey", "copy")


@pytest.mark.parametrize(
    ("reference", "code", "sentence"),
    [
        (
            "sur",
            ErrorCode.AMBIGUOUS,
            '"sur" may mean the workflows survey, survey-2: write more of it',
        ),
        ("survye", ErrorCode.UNKNOWN, 'no workflow is called "survye"; did you mean survey?'),
    ],
)
def test_which_workflow_is_not_clear_is_said(
    node: FakeNode, reference: str, code: ErrorCode, sentence: str
) -> None:
    with pytest.raises(RefusedError) as found:
        find_workflow(node.table, reference)
    assert (found.value.problem.code, found.value.problem.message) == (code, sentence)


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """Workflows of which names begin alike."""
    made = FakeNode(tmp_path)
    for name, tasks in (
        ("survey", ("copy", "copies", "merge")),
        ("survey-2", ("copy", "last")),
        ("alone", ("one",)),
        ("merge", ("x",)),
    ):
        told = [{"id": task, "program": "p"} for task in tasks]
        made.handle_submission({"name": name, "tasks": told})
    return made


@pytest.mark.parametrize(
    ("reference", "found"), [("survey", "survey"), ("survey-", "survey-2"), ("al", "alone")]
)
def test_the_workflow_that_is_meant(node: FakeNode, reference: str, found: str) -> None:
    assert find_workflow(node.table, reference).spec.name == found


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        (ID, "survey/copy"),
        (ID[:20], "survey/copy"),
        ("survey/copy", "survey/copy"),
        ("survey/copi", "survey/copies"),
        ("survey-/co", "survey-2/copy"),
        ("last", "survey-2/last"),
        ("la", "survey-2/last"),
        ("on", "alone/one"),
        ("merge", "survey/merge"),
    ],
)
def test_the_task_that_is_meant(node: FakeNode, reference: str, found: str) -> None:
    spec = find_task(node.table, reference)
    assert f"{node.table.workflow_of[spec.task]}/{spec.name}" == found


@pytest.mark.parametrize(
    ("reference", "code", "sentence"),
    [
        (
            "cop",
            ErrorCode.AMBIGUOUS,
            '"cop" may mean the tasks survey-2/copy, survey/copies, survey/copy: write more of it',
        ),
        (
            "",
            ErrorCode.AMBIGUOUS,
            (
                '"" may mean the tasks alone/one, merge/x, survey-2/copy, survey-2/last or others: '
                "write more of it"
            ),
        ),
        ("survey/nothing", ErrorCode.UNKNOWN, 'no task of survey is called "nothing"'),
        (
            "survey/mergee",
            ErrorCode.UNKNOWN,
            'no task of survey is called "mergee"; did you mean merge?',
        ),
        ("nowhere/copy", ErrorCode.UNKNOWN, 'no workflow is called "nowhere"'),
        (
            "alone",
            ErrorCode.UNKNOWN,
            "alone is a workflow: name one of its tasks, like alone/one",
        ),
        (
            "survey/cop",
            ErrorCode.AMBIGUOUS,
            '"cop" may mean the tasks survey/copies, survey/copy: write more of it',
        ),
    ],
)
def test_what_is_not_clear_is_said(
    node: FakeNode, reference: str, code: ErrorCode, sentence: str
) -> None:
    with pytest.raises(RefusedError) as found:
        find_task(node.table, reference)
    assert (found.value.problem.code, found.value.problem.message) == (code, sentence)


def test_a_task_of_another_workflow_is_not_meant(node: FakeNode) -> None:
    within = find_workflow(node.table, "survey-2")
    assert find_task(node.table, "copy", within).task == task_id("survey-2", "copy")
    for reference in (ID, "copies", "survey/copy"):
        with pytest.raises(RefusedError, match="no task of survey-2"):
            find_task(node.table, reference, within)


@pytest.mark.parametrize(
    ("reference", "node"),
    [
        ("alder", "aldernode"),
        ("aldern", "aldernode"),
        ("bir", "birchnode"),
        ("cedarn", "cedarnode"),
    ],
)
def test_the_member_that_is_meant(reference: str, node: str) -> None:
    assert find_member(MEMBERS, reference).node == node


def test_published_programs_are_meant_by_their_beginning(node: FakeNode) -> None:
    folder = {"dataset": "tree:" + "1" * 64, "size_bytes": 9}
    programs = ("own@1", "own@2", "sum@1", "sum@12")
    tasks = [{"id": name, "program": name, "published": folder} for name in programs]
    node.handle_submission({"name": "w", "tasks": tasks, "submitter": "ada"})
    assert tuple(sorted(published_programs(node.table))) == programs
    node.published.decided = {"tell@1": "waiting"}
    meant = {"own@1": "own@1", "sum@1": "sum@1", "te": "tell@1", "nothing": "nothing"}
    for reference, found in meant.items():
        assert find_published(node.table, node.published, reference) == found
    with pytest.raises(RefusedError) as refused:
        find_published(node.table, node.published, "own")
    assert (refused.value.problem.code, refused.value.problem.message) == (
        ErrorCode.AMBIGUOUS,
        '"own" may mean the programs own@1, own@2: write more of it',
    )


def test_only_unfinished_work_brings_programs(node: FakeNode) -> None:
    folder = {"dataset": "tree:" + "1" * 64, "size_bytes": 9}
    node.known = replace(node.known, programs=("own@1",))
    task = {"id": "a", "program": "own@1", "published": folder}
    node.handle_submission({"name": "w", "tasks": [task]})
    found = published_programs(node.table)
    assert [(name, each[0].size_bytes) for name, each in found.items()] == [("own@1", 9)]


def asking(name: str, code: str, request: str) -> JoinRequestView:
    return JoinRequestView(request, name, "ada", "192.0.2.7", code, "first", 0, 600_000)


MEANT = asking("laptop", "418 230", "a" * 16)
SAME_NAME = asking("LAPTOP", "000 111", "b" * 16)
CALLED_AS_THE_CODE = asking("418 230", "222 333", "c" * 16)
ALL = [SAME_NAME, MEANT, CALLED_AS_THE_CODE]


@pytest.mark.parametrize("reference", ["418 230", "418-230", "418230", "a" * 16])
def test_a_code_means_who_shows_it_and_not_who_calls_itself_so(reference: str) -> None:
    assert find_request(ALL, reference) is MEANT
    check_compared(MEANT, reference)


def test_a_name_that_two_use_is_told_by_the_codes() -> None:
    with pytest.raises(RefusedError) as caught:
        find_request(ALL, "laptop")
    assert caught.value.problem.code == ErrorCode.AMBIGUOUS
    assert "give the code (000 111, 418 230)" in str(caught.value)


def test_nobody_is_let_in_by_its_name_alone() -> None:
    assert find_request([MEANT], "Laptop") is MEANT
    with pytest.raises(RefusedError, match="give the code that Laptop shows"):
        check_compared(MEANT, "Laptop")


def test_who_does_not_ask_is_told_with_those_who_do() -> None:
    with pytest.raises(RefusedError, match=r"these ask: laptop \(418 230\)"):
        find_request([MEANT], "999 999")
    with pytest.raises(RefusedError, match="none asks at present"):
        find_request([], "999 999")


def test_who_waits_is_told_in_a_sentence_until_somebody_has_answered() -> None:
    answered = structs.replace(SAME_NAME, admitted=True)
    assert open_requests([answered, MEANT]) == [MEANT]
    told = english(AsksToBeLetIn(MEANT.name, MEANT.user))
    assert told == "laptop (user ada) asks to be let in: `wingbeat flock requests` tells more"
    assert english(AsksToBeLetIn(MEANT.name, "")).startswith("laptop asks to be let in")


async def test_who_cannot_answer_requests_is_told_who_can(
    there: Serving, client: LineClient
) -> None:
    told = await client.result("requests", {})
    assert told["keepers"] == ["alder", "birch"]
    assert told["may_admit"] is True


# -- several of one name -----------------------------------------------------------------------


@pytest.fixture
def words(tmp_path: Path) -> tuple[FakeNode, dict[str, str]]:
    """Three of one name: of a version before, which took the name for the id, then ada's and bo's;
    and their ids."""
    made = FakeNode(tmp_path)
    tasks = [{"id": "top", "program": "p"}]
    ids = {"before": "words"}
    made.handle_submission({"name": "words", "tasks": tasks})
    for who in ("ada", "bo"):
        told = {"name": "words", "tasks": tasks, "key": "k"}
        event = submission(msgspec.convert(told, Submit), who, NODE, {})
        made.handle(replace(event, request="1"))
        ids[who] = event.workflow
    return made, ids


@pytest.mark.parametrize(
    ("reference", "submitter", "typed", "found"),
    [
        ("words", "ada", True, "ada"),
        ("words", "bo", True, "bo"),
        ("words", "", True, "bo"),
        ("words", "somebody", True, "bo"),
        ("wor", "ada", True, "ada"),
        ("words", "ada", False, "before"),  # a program means the id
        ("ID of ada", "bo", True, "ada"),
        ("beginning of ada", "bo", True, "ada"),
    ],
)
def test_which_of_several_of_one_name_is_meant(
    words: tuple[FakeNode, dict[str, str]], reference: str, submitter: str, typed: bool, found: str
) -> None:
    node, ids = words
    reference = reference.replace("ID of ada", ids["ada"])
    reference = reference.replace("beginning of ada", ids["ada"][:10])
    meant = find_workflow(node.table, reference, submitter, typed=typed).spec.workflow
    assert meant == ids[found]
    task = find_task(node.table, f"{reference}/top", submitter=submitter, typed=typed)
    assert node.table.workflow_of[task.task] == ids[found]
    by_id, told = reference.startswith(ids["ada"][:10]), node.table.workflows[meant].spec
    newest = NewestOf("words", 3, meant, told.submitter, told.submitted[0])
    assert newest_of(node.table, reference, meant) == (None if by_id else newest)


def test_the_tasks_of_the_newest_are_meant_without_its_name(
    words: tuple[FakeNode, dict[str, str]],
) -> None:
    node, ids = words
    for submitter in ("ada", "bo"):
        found = find_task(node.table, "top", submitter=submitter)
        assert node.table.workflow_of[found.task] == ids[submitter]


def test_the_id_of_a_task_is_that_of_the_standard() -> None:
    for name in ("", "a", "é", "a/b", "x" * 300):
        assert task_id("w", name) == str(uuid.uuid5(TASK_NAMES, f"w/{name}"))
