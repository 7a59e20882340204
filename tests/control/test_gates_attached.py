"""Gates: what a person may attach is known wherever the gate is, and held against what comes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agent.api.phrases import NOT_ATTACHED
from agent.api.rpc import ErrorCode
from agent.api.values import TaskState
from agent.api.work import TaskView
from agent.commands.done import Attachment, in_order
from agent.control.gates import ATTACH, attach_names
from agent.control.naming import find_workflow
from agent.protocol.messages import Enqueue, decode, encode
from agent.protocol.records import TaskSpec
from tests.control.serving import LineClient, Serving

REVIEWED: dict[str, Any] = {
    "name": "reviewed",
    "tasks": [
        {"id": "look", "gate": True, "asks": "look", "attach": ["fixed", "note"]},
        {"id": "use", "program": "copy", "inputs": [{"task": "look", "output": 0}]},
    ],
}


async def waiting(client: LineClient) -> None:
    await client.result("submit", REVIEWED)
    story = await client.result("why", {"task": "look"})
    assert story["task"]["state"] == "Waiting"
    assert story["task"]["attach"] == ["fixed", "note"]


def outputs(count: int) -> list[dict[str, Any]]:
    return [{"dataset": f"d{number}", "external": True} for number in range(count)]


@pytest.mark.parametrize(
    ("count", "code", "sentence"),
    [
        (0, ErrorCode.ATTACH_FIRST, "use needs fixed of look: attach it"),
        (3, ErrorCode.REFUSED, "look takes 2 things (fixed, note), and 3 are attached"),
    ],
)
async def test_what_does_not_fit_a_gate_is_refused(
    there: Serving, client: LineClient, count: int, code: ErrorCode, sentence: str
) -> None:
    await waiting(client)
    asked = {"task": "look", "outputs": outputs(count)}
    assert await client.refusal("gate", asked) == (code, sentence)


@pytest.mark.parametrize("count", [1, 2])
async def test_what_may_be_left_out_may_be_left_out(
    there: Serving, client: LineClient, count: int
) -> None:
    await waiting(client)
    done = await client.result("gate", {"task": "look", "outputs": outputs(count)})
    assert done["verdict"] == "done"
    _travels(there)


async def test_a_name_with_a_question_mark_may_be_left_open(
    there: Serving, client: LineClient
) -> None:
    """What needs it goes on, and what stands for it is no file that anybody could fetch."""
    look = {"id": "look", "gate": True, "asks": "look", "attach": ["fixed?", "note", "more?"]}
    use = {"id": "use", "program": "copy", "inputs": [{"task": "look", "output": 2}]}
    await client.result("submit", {"name": "open", "tasks": [look, use]})
    done = await client.result("gate", {"task": "look", "outputs": outputs(1)})
    assert done["verdict"] == "done"
    (shown,) = [
        each
        for each in (await client.result("show", {"workflow": "open"}))["tasks"]
        if each["name"] == "look"
    ]
    names = [each["dataset"] for each in shown["outputs"]]
    assert names == ["d0", NOT_ATTACHED, NOT_ATTACHED]


async def test_a_gate_that_is_done_says_so_and_a_task_is_no_gate(
    there: Serving, client: LineClient
) -> None:
    await waiting(client)
    await client.result("gate", {"task": "look", "outputs": outputs(1)})
    sentence = "look is marked done already"
    refused = (ErrorCode.REFUSED, sentence)
    assert await client.refusal("gate", {"task": "look"}) == refused
    assert await client.refusal("gate", {"task": "use"}) == (
        ErrorCode.REFUSED,
        "use is no gate: a program does it, and says itself when it is done",
    )


def _travels(there: Serving) -> None:
    """Another machine reads the same names off what it is sent."""
    workflow = find_workflow(there.node.table, "reviewed")
    message = decode(encode(Enqueue((workflow,), (), False)))
    assert isinstance(message, Enqueue)
    look = message.workflows[0].spec.tasks[0]
    assert attach_names(look) == ("fixed", "note")
    assert look == workflow.spec.tasks[0]


async def test_only_gates_take_what_is_attached(there: Serving, client: LineClient) -> None:
    tasks = [{"id": "a", "program": "copy", "attach": ["x"]}]
    sentence = 'task "a" is no gate, and nobody can attach anything to it'
    asked = {"name": "w", "tasks": tasks}
    assert await client.refusal("submit", asked) == (ErrorCode.REFUSED, sentence)


@pytest.mark.parametrize("raw", [b"", b"\xc1", b"\xa1x", b"\x91\x01"])
def test_names_that_cannot_be_read_are_none(raw: bytes) -> None:
    assert attach_names(TaskSpec("t", "t", "", more={ATTACH: msgspec.Raw(raw)})) == ()


def gate(*names: str) -> TaskView:
    return TaskView("id", "look", "w", "", TaskState.WAITING, gate=True, attach=names)


def test_what_is_typed_comes_in_the_order_of_the_names() -> None:
    plain, note = Attachment("", "a.csv"), Attachment("note", "n.txt")
    fixed = Attachment("fixed", "f.csv")
    two = gate("fixed", "note")
    assert in_order(two, [note, plain]) == ["a.csv", "n.txt"]
    assert in_order(two, [note, fixed]) == ["f.csv", "n.txt"]
    assert in_order(gate("fixed?", "note"), [note]) == [f"id:{NOT_ATTACHED}", "n.txt"]
    assert in_order(two, [plain]) == ["a.csv"]
    assert in_order(two, []) == []
    assert in_order(gate(), [plain, plain]) == ["a.csv", "a.csv"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([Attachment("note", "n")] * 2, "note is attached twice: choose one"),
        ([Attachment("note", "n")], "fixed comes before what is attached: attach it too"),
        (
            [Attachment("", each) for each in "abc"],
            "look takes fixed, note, and 3 things are attached",
        ),
    ],
)
def test_what_cannot_be_attached_so_is_told(given: list[Attachment], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        in_order(gate("fixed", "note"), given)
