"""Each verb of the client protocol: what it answers, and what it makes the node do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.api.rpc import ErrorCode
from agent.api.session import FlockChanged, PeerChanged
from agent.control.naming import task_id
from agent.protocol.effects import WorkflowSafe
from tests.control.serving import LineClient, Serving, greeted, serving, workflow
from tests.control.surface import INVITATION, NODE

COPY, CHECK, MERGE = (task_id("survey", name) for name in ("copy", "check", "merge"))

Scene = Callable[[Serving, LineClient], Awaitable[None]]


def play(folder: Path, scene: Scene, *, flock: bool = True) -> None:
    """A scene with a server and a client that is let in."""

    async def run() -> None:
        async with serving(folder, flock=flock) as there, greeted(there) as client:
            await scene(there, client)

    asyncio.run(run())


async def test_a_submission_is_kept_and_known_the_second_time(
    there: Serving, client: LineClient
) -> None:
    first = await client.result("submit", workflow())
    kept = {"disks": 1, "text": "here only", "waits": [], "whys": []}
    assert first == {"workflow": "survey", "known": False, **kept}
    again = await client.result("submit", workflow())
    assert again["known"] is True


async def test_tasks_of_earlier_workflows_can_be_inputs(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow())
    task = {
        "id": "later",
        "program": "copy",
        "inputs": [{"task": "merge", "workflow": "survey", "output": 1}],
    }
    await client.result("submit", {"name": "second", "tasks": [task], "priority": 7})
    shown = await client.result("show", {"workflow": "second"})
    assert shown["tasks"][0]["needs"] == [MERGE]
    assert shown["tasks"][0]["reason"] == "waits for merge"
    assert shown["workflow"]["priority"] == 7


@pytest.mark.parametrize(
    ("tasks", "sentence"),
    [
        ([{"id": "a"}], 'task "a" names no program'),
        (
            [{"id": "a", "program": "p", "gate": True}],
            'task "a" is a gate and cannot have a program',
        ),
        ([{"id": "a", "program": "p"}] * 2, 'two tasks are called "a"'),
        (
            [{"id": "merge", "program": "p"}, {"id": "b", "program": "p", "after": ["merg"]}],
            'task "b" needs "merg", which this workflow does not have; did you mean merge?',
        ),
        (
            [{"id": "b", "program": "p", "inputs": [{"task": "x", "workflow": "w"}]}],
            'task "b" needs "x" of "w", which is not known here',
        ),
        (
            [
                {"id": "a", "program": "p", "after": ["b"]},
                {"id": "b", "program": "p", "after": ["a"]},
            ],
            "tasks need each other in a circle: a → b → a",
        ),
    ],
)
async def test_a_workflow_that_cannot_be_is_refused(
    there: Serving, client: LineClient, tasks: list[object], sentence: str
) -> None:
    told = await client.refusal("submit", {"name": "w2", "tasks": tasks})
    assert told == (ErrorCode.REFUSED, sentence)


async def test_what_is_wrong_is_a_value_that_a_dry_run_tells_too(
    there: Serving, client: LineClient
) -> None:
    task = {"id": "b", "program": "p", "inputs": [{"task": "x", "workflow": "w"}]}
    params = {"name": "w2", "tasks": [task]}
    refused = (await client.ask("submit", params))["error"]
    template = "task {task} needs {other}, which is not known here"
    wrong = {"template": template, "values": {"task": '"b"', "other": '"x" of "w"'}}
    assert refused["fault"] == wrong
    told = await client.result("plan", {"workflow": params})
    assert (told["faults"], told["wrong"]) == ([refused["message"]], [wrong])


async def test_a_workflow_runs_to_its_end(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    there.node.succeed(COPY)
    story = await client.result("why", {"task": "survey/check"})
    assert story["now"] == "check waits until a person marks it done: look at the pictures"
    done = await client.result("gate", {"task": "check", "outputs": [{"dataset": "ok"}]})
    assert done == {"workflow": "survey", "verdict": "done", "text": ""}
    for _ in range(2):
        there.node.succeed(next(iter(there.node.runs)))
    state = (await client.result("status"))["workflows"][0]
    assert (state["state"], state["counts"]) == ("finished", {"Terminated": 4})
    shown = await client.result("show", {"workflow": "survey", "first": 2, "limit": 1})
    assert [task["name"] for task in shown["tasks"]] == ["merge"]
    assert shown["tasks"][0]["host"] == "birch"
    assert shown["tasks"][0]["outputs"] == [{"dataset": f"made-by-{MERGE}", "size_bytes": 5}]


async def test_why_tells_what_a_task_waits_for_and_how_it_came_there(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    waiting = await client.result("why", {"task": MERGE})
    assert waiting["now"] == "merge waits for copy"
    ready = await client.result("why", {"task": "copy"})
    assert ready["now"] == (
        "copy has all that it needs; none of the machines that could run it has taken it yet"
    )
    there.node.known = replace(there.node.known, programs=())
    lacking = await client.result("why", {"task": "copy"})
    assert lacking["machines"] == ["birch has no program copy", "alder has no program copy"]
    brought = {"id": "own", "program": "copy@1", "published": {"dataset": f"tree:{'1' * 64}"}}
    await client.result("submit", {"name": "brought", "tasks": [brought]})
    waits = await client.result("why", {"task": "own"})
    assert waits["machines"][0] == (
        "birch does not take the published program copy@1: "
        "`wingbeat programs accept copy@1` there lets it"
    )
    there.node.known = replace(there.node.known, peers=(), volunteering=False)
    alone = await client.result("why", {"task": "copy"})
    assert (
        alone["now"]
        == "copy has all that it needs; no machine helps now (this one: nobody uses it)"
    )
    there.node.volunteer()
    running = await client.result("why", {"task": "copy"})
    assert running["now"] == "copy runs on birch"
    assert [move["what"] for move in running["moves"]] == [
        "Ready",
        "claimed by birch",
        "Scheduled on birch",
        "Running on birch",
    ]
    assert running["moves"][0]["cause"] == "submitted"


@pytest.mark.parametrize("there", [{"flock": False}], indirect=True)
async def test_a_machine_of_no_flock_is_called_by_its_name_too(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    moves = (await client.result("why", {"task": "copy"}))["moves"]
    assert moves[-1]["what"] == "Running on birch"


async def test_failed_work_is_retried_and_cancelled_work_is_over(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    for _ in range(3):
        there.node.fail(COPY)
    given_up = await client.result("why", {"task": "copy"})
    assert given_up["now"] == ("copy is aborted: it failed 3 times, last: no film in the camera")
    again = await client.result("retry", {"workflow": "survey", "tasks": ["copy"]})
    assert again["text"] == "3 tasks are tried again"
    cancelled = await client.result("cancel", {"workflow": "survey"})
    assert cancelled["verdict"] in {"done", "cancelling"}
    assert (await client.result("status"))["workflows"][0]["state"] == "cancelled"
    code, sentence = await client.refusal("cancel", {"workflow": "survey"})
    assert (code, sentence) == (
        ErrorCode.REFUSED,
        "nothing to cancel in survey: all of it has ended",
    )


async def test_priority_takes_names_and_numbers(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow())
    for told, kept in (("interactive", 100), (3, 3), ("low", 50)):
        await client.result("priority", {"workflow": "survey", "priority": told})
        assert (await client.result("status"))["workflows"][0]["priority"] == kept


async def test_names_may_be_abbreviated_where_unique(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow("survey"))
    await client.result("submit", workflow("survey-2"))
    assert (await client.result("show", {"workflow": "survey"}))["workflow"]["name"] == "survey"
    assert await client.refusal("show", {"workflow": "sur"}) == (
        ErrorCode.AMBIGUOUS,
        '"sur" may mean the workflows survey, survey-2: write more of it',
    )
    assert await client.refusal("show", {"workflow": "survye"}) == (
        ErrorCode.UNKNOWN,
        'no workflow is called "survye"; did you mean survey?',
    )
    assert await client.refusal("why", {"task": "copy"}) == (
        ErrorCode.AMBIGUOUS,
        '"copy" may mean the tasks survey-2/copy, survey/copy: write more of it',
    )
    assert (await client.result("why", {"task": "survey-/co"}))["task"]["workflow"] == "survey-2"
    assert (await client.result("why", {"task": COPY[:12]}))["task"]["task"] == COPY
    assert await client.refusal("cancel", {"workflow": "survey", "tasks": ["x"]}) == (
        ErrorCode.UNKNOWN,
        'no task of survey is called "x"',
    )


async def test_status_gives_the_newest_first_a_page_at_a_time(
    there: Serving, client: LineClient
) -> None:
    for name in ("one", "two", "three"):
        await client.result("submit", workflow(name))
    page = await client.result("status", {"first": 1, "limit": 1})
    assert [each["name"] for each in page["workflows"]] == ["two"]
    assert page["total"] == 3
    assert page["node"]["name"] == "birch"


async def test_peers_and_members_are_told_with_names(there: Serving, client: LineClient) -> None:
    peers = (await client.result("peers"))["peers"]
    assert [(peer["name"], peer["state"]) for peer in peers] == [
        ("alder", "linked"),
        ("cedar", "away"),
        ("cedar", "away"),
    ]
    assert peers[0]["round_trip_ms"] == 1.0
    assert peers[1]["reason"].startswith("Nothing answers")
    members = await client.result("members")
    assert [each["name"] for each in members["members"]] == ["alder", "birch", "cedar", "cedar"]
    assert members["departures"][0]["expelled"] is True


@pytest.mark.parametrize("there", [{"flock": False}], indirect=True)
async def test_a_flock_is_made_joined_and_left(there: Serving, client: LineClient) -> None:
    code, sentence = await client.refusal("invite")
    assert code == ErrorCode.NO_FLOCK
    assert sentence.startswith("this machine belongs to no flock: join one")
    assert (await client.result("flock_create", {"name": "heath"}))["flock"] == "heath"
    invited = await client.result("invite", {"uses": 30, "hours": 0.5})
    assert invited["expires_ms"] == 1_000_001_800_000
    assert invited["file"].endswith(f"{INVITATION}\n")
    assert (await client.refusal("leave"))[0] == ErrorCode.REFUSED
    left = await client.result("leave", {"even_as_last_keeper": True})
    assert left == {"flock": "heath", "warning": "nobody could be told"}
    assert (await client.refusal("join", {"invitation": "hello"}))[0] == ErrorCode.REFUSED
    assert (await client.result("join", {"invitation": INVITATION}))["flock"] == "meadow"


async def test_expelling_needs_an_unmistakable_name(there: Serving, client: LineClient) -> None:
    assert await client.refusal("expel", {"member": "cedar"}) == (
        ErrorCode.AMBIGUOUS,
        '"cedar" may mean the members cedar (cedarnode), cedar (cedarother): write more of it',
    )
    gone = await client.result("expel", {"member": "cedaro"})
    assert (gone["node"], gone["warning"]) == ("cedarother", "")
    assert (await client.result("expel", {"member": "ald"}))["warning"] != ""


async def test_doctor_counts_who_is_missing(there: Serving, client: LineClient) -> None:
    told = await client.result("doctor")
    assert (told["seen"], told["missing"]) == (1, 2)


async def test_stop_is_answered_before_it_is_done(there: Serving, client: LineClient) -> None:
    assert await client.result("stop", {"reason": "update"}) == {"node": "birchnode"}
    assert there.node.stopped == ["update"]
    await client.result("stop")
    assert there.node.stopped[1] == "a client asked for it"


async def test_events_tell_all_that_happens_in_order(there: Serving, client: LineClient) -> None:
    async def submit_beside(there: Serving) -> None:
        async with greeted(there) as other:
            await other.result("submit", workflow())

    start = (await client.result("events"))["position"]["sequence"]
    await asyncio.gather(submit_beside(there))
    there.node.tell(WorkflowSafe("survey"))
    there.node.tell(PeerChanged("aldernode"))
    there.node.tell(PeerChanged(NODE))
    there.node.tell(FlockChanged("meadow"))
    events = [(await client.heard())["params"] for _ in range(8)]
    assert [each["sequence"] for each in events] == list(range(start + 1, start + 9))
    rows = events[0]["happening"].pop("rows")
    assert rows == (await client.result("show", {"workflow": "survey"}))["tasks"][:1]
    (peers, own) = await client.result("peers"), events[6]["happening"].pop("own")
    assert (events[5]["happening"]["peer"], own) == (peers["peers"][0], peers["node"])
    assert events[0]["happening"] == {
        "type": "task moved",
        "task": COPY,
        "name": "copy",
        "workflow": "survey",
        "before": None,
        "after": "Ready",
        "host": "",
        "cause": "submitted",
        "reason": "",
        "why": None,
        "more": False,
    }
    assert [each["happening"]["type"] for each in events[4:]] == [
        "workflow safe",
        "peer changed",
        "peer changed",
        "flock changed",
    ]


async def test_rows_are_made_only_while_somebody_follows(
    there: Serving, client: LineClient
) -> None:
    start = (await client.result("status"))["position"]
    await client.result("submit", workflow())
    await client.result("events", {"after": start})
    events = [(await client.heard())["params"]["happening"] for _ in range(4)]
    assert [each["rows"] for each in events if each["type"] == "task moved"] == [[]] * 4


async def test_a_fault_of_ours_is_told_as_such_and_the_connection_goes_on(
    there: Serving, client: LineClient
) -> None:
    there.node.broken = True
    assert await client.refusal("status") == (
        ErrorCode.AGENT_FAILED,
        "the agent failed at status; its log says more",
    )
    there.node.broken = False
    await client.result("status")
