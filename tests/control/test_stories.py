"""Why a task waits, what happens and what nothing comes of, in words: each state, machine and event."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw, structs

from agent.api import session
from agent.api.reasons import NO_WHY, Opaque, as_why
from agent.api.values import Capabilities
from agent.control.estimates import TaskProgress
from agent.control.happenings import WAITING_ROWS_MAX, happenings_of, with_rows
from agent.control.naming import cause_of, task_id
from agent.control.views import Views
from agent.node.workflow_ends import WorkflowEnds
from agent.protocol.capabilities import Withheld
from agent.protocol.effects import CancelFinished, OutcomeChanged, TaskMoved, TaskProgressed
from agent.protocol.events import Cancel
from agent.protocol.evidence import standing_on
from agent.protocol.policy import Evidence
from agent.protocol.reasons import LikelyFreeForLong, LikelyFreeUntil
from agent.protocol.records import (
    Claim,
    Failed,
    Life,
    Run,
    Running,
    Scheduled,
    Suspended,
    TaskLife,
    TaskState,
)
from agent.wording.speech import Speech, english
from tests.control.serving import SURVEY, LineClient, Serving, greeted, id_of, workflow
from tests.control.surface import ALDER, KNOWN, NODE, FakeNode

COPY, CHECK = (task_id(SURVEY, name) for name in ("copy", "check"))
PROGRAMS = Capabilities(programs=("copy",))
UNTIL_MS = 4_102_444_800_000
UNTIL = as_why(LikelyFreeUntil(UNTIL_MS))


async def now(client: LineClient, task: str = "copy") -> str:
    return str((await client.result("why", {"task": f"survey/{task}"}))["now"])


async def copy_is(client: LineClient, now_is: str, reason: str) -> None:
    """Hold what is told of the task ``copy`` against these, wherever a person looks."""
    tasks = (await client.result("show", {"workflow": "survey"}))["tasks"]
    reasons = [task["reason"] for task in tasks if task["name"] == "copy"]
    assert (await now(client), reasons) == (now_is, [reason])


def seen(there: Serving, *peers: dict[str, Any], **own: Any) -> None:
    """Machines that have the program, each with what is different of it."""
    made = tuple(
        structs.replace(ALDER, **{"node": f"{each['name']}node", "capabilities": PROGRAMS, **each})
        for each in peers
    )
    there.node.known = replace(there.node.known, peers=made, **own)


CLOSED = Capabilities(programs=("copy",), withheld=(Withheld("copy", "AllowsNoNetwork"),))
BARE = {"name": "bare", "capabilities": Capabilities()}


@pytest.mark.parametrize(
    ("peers", "own", "now", "machines"),
    [
        (
            [{"name": "elm"}],
            {},
            "2 of 2 machines help now, none has taken it yet",
            ["birch could run it", "elm could run it"],
        ),
        ([], {}, "1 of 1 machine helps now, none has taken it yet", ["birch could run it"]),
        (
            [],
            {"volunteering": False},
            "no machine helps now (this one: nobody uses it)",
            ["birch could run it and does not help: nobody uses it"],
        ),
        (
            [{"name": "elm", "volunteering": False, "why": NO_WHY, "reason": "its owner is there"}],
            {},
            "1 of 2 machines help now, none has taken it yet",
            ["birch could run it", "elm could run it and does not help: its owner is there"],
        ),
        (
            [{"name": "elm", "volunteering": False, "why": NO_WHY, "reason": ""}],
            {"volunteering": False, "presence_reason": Opaque("")},
            "no machine helps now (this one: paused)",
            [
                "birch could run it and does not help: it says no reason",
                "elm could run it and does not help: it says no reason",
            ],
        ),
        (
            [BARE],
            {"volunteering": False, "presence_reason": Opaque("on battery")},
            "no machine that helps now can run it",
            [
                "birch could run it and does not help: on battery",
                "bare has no program copy",
            ],
        ),
        (
            [BARE],
            {},
            "none of the machines that could run it has taken it yet",
            ["birch could run it", "bare has no program copy"],
        ),
        (
            [{"name": "elm", "bans": ("BIRCH",)}, {"name": "oak", "bans": ("copy",)}],
            {},
            "1 of 3 machines help now, none has taken it yet",
            ["birch could run it", "elm takes no work of BIRCH", "oak takes no work of copy"],
        ),
        (
            [{"name": "elm", "people": ("rui",)}, {"name": "oak", "why": UNTIL}],
            {},
            "2 of 3 machines help now, none has taken it yet",
            [
                "birch could run it",
                "elm helps only rui",
                f"oak could run it, and is likely free until {Speech().moment(UNTIL_MS)}",
            ],
        ),
        (
            [{"name": "elm", "people": ("rui",)}],
            {"volunteering": False},
            "owners say whom they help, and on elm birch is not among them",
            ["birch could run it and does not help: nobody uses it", "elm helps only rui"],
        ),
        (
            [{"name": "elm", "capabilities": CLOSED}],
            {"volunteering": False, "programs": ()},
            "no machine allows network to copy",
            ["birch has no program copy", "elm does not allow network to copy"],
        ),
    ],
)
async def test_which_machines_could_run_it(
    there: Serving,
    client: LineClient,
    peers: list[dict[str, Any]],
    own: dict[str, Any],
    now: str,
    machines: list[str],
) -> None:
    seen(there, *peers, **own)
    await client.result("submit", workflow())
    story = await client.result("why", {"task": "survey/copy"})
    assert story["now"] == f"copy has all that it needs; {now}"
    assert story["machines"] == machines


async def test_a_program_that_nobody_has_accepted_is_waited_for(
    there: Serving, client: LineClient
) -> None:
    seen(there, {"name": "elm"}, volunteering=False)
    folder = {"dataset": "tree:" + "1" * 64}
    task = {"id": "own", "program": "copy@1", "published": folder}
    await client.result("submit", {"name": "w", "tasks": [task]})
    told = (await client.result("why", {"task": "own"}))["now"]
    assert told.endswith("elm could run it, but nobody there has allowed copy yet")


@pytest.mark.parametrize(
    ("own", "busy", "elm", "now", "machine"),
    [
        (
            ("copy@1",),
            True,
            Capabilities(),
            "birch may run copy and has other work, and on elm nobody has allowed it yet",
            (
                "elm does not take the published program copy@1: `wingbeat permissions` there tells "
                "who asks, and lets it"
            ),
        ),
        (
            (),
            False,
            Capabilities(refused=("copy@1",)),
            "no machine that helps now can run it",
            "the owner of elm lets copy@1 never run there",
        ),
        (
            ("copy@1",),
            True,
            Capabilities(refused=("copy@1",)),
            "none of the machines that could run it has taken it yet",
            "the owner of elm lets copy@1 never run there",
        ),
    ],
)
async def test_who_may_run_it_is_busy_or_refuses_it_for_good(
    there: Serving,
    client: LineClient,
    own: tuple[str, ...],
    busy: bool,
    elm: Capabilities,
    now: str,
    machine: str,
) -> None:
    seen(there, {"name": "elm", "capabilities": elm}, slots=1, volunteering=bool(own), programs=own)
    folder = {"dataset": "tree:" + "1" * 64}
    tasks = [{"id": name, "program": "copy@1", "published": folder} for name in ("one", "two")]
    await client.result("submit", {"name": "w", "tasks": tasks})
    ids = {spec.name: task for task, spec in there.node.table.specs.items()}
    if busy:
        run = Run(1, 1, NODE, 1, Claim(1, (1, 0), NODE), 2_000, phase=Running(), revision=2)
        there.node.table.join(lives=[TaskLife(ids["one"], Life(runs=(run,)))])
    story = await client.result("why", {"task": ids["two"]})
    assert story["now"].partition("; ")[2] == now
    assert machine in story["machines"]


@pytest.mark.parametrize(
    ("slots", "sentence"),
    [(1, "birch could run it, and its slot is taken"), (2, "birch could run it")],
)
async def test_a_machine_with_its_hands_full(
    there: Serving, client: LineClient, slots: int, sentence: str
) -> None:
    seen(there, slots=slots)
    there.node.volunteer()
    await client.result("submit", workflow())
    other = "spare" if COPY in there.node.table.owned else "copy"
    story = await client.result("why", {"task": f"survey/{other}"})
    assert story["machines"] == [sentence]


LONG = as_why(LikelyFreeForLong())
SPEAKS = "copy runs on alder; what speaks for that machine: "


@pytest.mark.parametrize(
    ("stood", "alder", "elm", "now"),
    [
        (Evidence(60_000, 33_000), NO_WHY, NO_WHY, SPEAKS + "1.8 times as fast as usual"),
        (Evidence(60_000, 33_000), LONG, LONG, SPEAKS + "1.8 times as fast as usual, likely free "
         "for two hours or more"),
        (Evidence(60_000, 120_000), NO_WHY, NO_WHY, "copy runs on alder"),
        (Evidence(60_000, 58_000), NO_WHY, NO_WHY, "copy runs on alder"),
        (Evidence(60_000, 0), NO_WHY, NO_WHY, "copy runs on alder"),
        (None, LONG, UNTIL, SPEAKS + "likely free for two hours or more"),
        (None, UNTIL, LONG, SPEAKS + f"likely free until {Speech().moment(UNTIL_MS)}"),
        (None, LONG, LONG, "copy runs on alder"),
        (None, NO_WHY, LONG, "copy runs on alder"),
    ],
)  # fmt: skip
async def test_what_speaks_for_the_machine_that_has_it(
    there: Serving, client: LineClient, stood: Evidence | None, alder: Raw, elm: Raw, now: str
) -> None:
    """As far as it is known, and nothing where machines are alike."""
    seen(there, {"name": "alder", "why": alder}, {"name": "elm", "why": elm})
    await client.result("submit", workflow())
    for phase, said in (
        (Scheduled(), "alder has taken copy and fetches its inputs"),
        (Running(), ""),
    ):
        run = Run(1, 1, "aldernode", 1, Claim(1, (1, 0), "aldernode"), 2_000, phase=phase)
        run = structs.replace(run, revision=1 + bool(not said), more=standing_on(stood))
        there.node.table.join(lives=[TaskLife(COPY, Life(runs=(run,)))])
        story = await client.result("why", {"task": "survey/copy"})
        assert story["now"] == (now.replace("copy runs on alder", said) if said else now)


async def test_what_is_left_for_a_machine_waits_for_it(there: Serving, client: LineClient) -> None:
    seen(there, {"name": "elm"})
    await client.result("submit", workflow())
    there.node.known = replace(there.node.known, left_for=lambda _: "elmnode")
    waits = "it waits for elm, where it ends sooner than on a machine that is free now"
    assert await now(client) == f"copy has all that it needs; {waits}"
    seen(there, {"name": "elm", "volunteering": False, "why": NO_WHY, "reason": "paused"})
    assert "2 machines help now, none has taken it yet" in await now(client)


async def test_where_it_failed_before(there: Serving, client: LineClient) -> None:
    seen(there)
    await client.result("submit", workflow())
    claim = Claim(1, (1, 0), NODE)
    run = Run(1, 1, NODE, 1, claim, 2_000, phase=Failed("no film"), revision=9)
    there.node.table.join([], [TaskLife(COPY, Life(runs=(run,)))], [])
    story = await client.result("why", {"task": "survey/copy"})
    assert story["machines"] == ["birch could run it, and failed at it before"]


@pytest.mark.parametrize(
    ("offered", "now"),
    [
        (False, "others may take it if that lasts"),
        (True, "and others may take it; elm could run it, but nobody there has allowed copy yet"),
    ],
)
async def test_one_that_is_suspended_says_who_else_may_take_it(
    there: Serving, client: LineClient, offered: bool, now: str
) -> None:
    seen(there, {"name": "elm"}, volunteering=False)
    folder = {"dataset": "tree:" + "1" * 64}
    held = {"id": "held", "program": "copy@1", "published": folder}
    await client.result("submit", {"name": "w", "tasks": [held]})
    (task,) = (task for task, spec in there.node.table.specs.items() if spec.name == "held")
    phase = Suspended(offered)
    run = Run(1, 1, NODE, 1, Claim(1, (1, 0), NODE), 2_000, phase=phase, revision=2)
    there.node.table.join(lives=[TaskLife(task, Life(runs=(run,)))])
    story = await client.result("why", {"task": task})
    assert story["now"].startswith("held is suspended on birch, whose owner needs the machine")
    assert story["now"].endswith(now)
    said = [each.partition(" ")[0] for each in story["machines"]]
    assert said == (["elm"] if offered else [])


async def test_each_state_has_its_sentence(there: Serving, client: LineClient) -> None:
    told = workflow()
    told["tasks"][1]["asks"] = ""
    await client.result("submit", told)
    copy = task_id(id_of(told), "copy")
    there.node.volunteer()
    assert await now(client, "merge") == "merge waits for copy and check"
    while copy in there.node.runs or not there.node.table.reading(copy).outcome:  # type: ignore[union-attr]
        there.node.succeed(next(iter(there.node.runs)))
    assert await now(client) == "copy finished on birch"
    waits = "check waits until a person marks it done: no reason given"
    assert await now(client, "check") == waits
    await client.result("cancel", {"workflow": "survey"})
    assert await now(client, "check") == "check is cancelled"


@pytest.mark.parametrize(
    ("cause", "after", "said"),
    [
        ("ChildFailed", "Aborted", "the program failed"),
        ("ChildFailed", "Ready", "the program failed"),
        ("ChildFailed", "Running", ""),
        ("ChildFailed", "", ""),
        ("OutputsCopied", "Terminated", "the outputs are kept safe"),
        ("OutputsCopied", "Ready", "what it needs is there"),
        ("OutputsCopied", "", "what it needs is there"),
        ("OutputsCopied", "Aborted", ""),
        ("MarkGate", "Ready", "what it needs is there"),
        ("Cancel", "Cancelled", "a person cancelled"),
        ("Cancel", "Scheduled", ""),
        ("Prioritise", "", ""),
        ("PresenceChanged", "", "a machine began or stopped to help"),
        ("State from aldernode", "Running", "told by alder"),
        ("of a later version", "Ready", "of a later version"),
    ],
)
def test_what_happens_to_one_task_is_no_cause_for_another(
    cause: str, after: str, said: str
) -> None:
    """When a program fails, its place is free at once, and another task is claimed for it."""
    assert english(cause_of(cause, after, KNOWN.name_of)) == said


async def test_what_falls_with_another_tells_no_cause_of_that_one(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    for _ in range(3):
        there.node.fail(COPY)
    *_, last = (await client.result("why", {"task": "survey/merge"}))["moves"]
    assert (last["what"], last["cause"]) == ("failed: needs copy, which was given up", "")


# -- events ------------------------------------------------------------------------------------


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    made = FakeNode(tmp_path)
    made.handle_submission(workflow())
    return made


def told(node: FakeNode, notice: Any) -> dict[str, Any]:
    """The first event, by its fields."""
    first = next(happenings_of(notice, node.now()))
    return {name: getattr(first, name) for name in first.__struct_fields__}


def test_progress_has_names_and_is_never_more_than_all(node: FakeNode) -> None:
    assert told(node, TaskProgressed(COPY, "aldernode", 1_500, 20)) == {
        "task": COPY,
        "name": "copy",
        "workflow": SURVEY,
        "host": "alder",
        "permille": 1_000,
        "left_ms": 20,
    }


def test_another_outcome_tells_of_both_machines(node: FakeNode) -> None:
    before, after = (1, 1, "aldernode", 1), (1, 2, NODE, 1)
    found = told(node, OutcomeChanged(COPY, before, after, "TaskUpdate from cedarnode"))
    assert [*found.values()][:5] == [COPY, "copy", SURVEY, "alder", "birch"]
    gone = told(node, CancelFinished("cleaned up"))
    assert (gone["name"], gone["workflow"]) == ("cleaned up", "?")


def test_a_move_tells_who_has_it_and_why_nothing_came_of_it(node: FakeNode) -> None:
    def moved(task: str, before: TaskState | None, after: TaskState) -> tuple[str, str]:
        found = told(node, TaskMoved(task, before, after, ""))
        return found["host"], found["reason"]

    assert moved(COPY, None, TaskState.READY) == ("", "")
    node.volunteer()
    owned = next(iter(node.table.owned))
    assert moved(owned, TaskState.READY, TaskState.RUNNING) == ("birch", "")
    node.succeed(owned)
    assert moved(owned, TaskState.RUNNING, TaskState.TERMINATED) == ("birch", "")


def moves(node: FakeNode, ends: WorkflowEnds, *moved: TaskMoved) -> list[str]:
    """What is told of these moves, in one word each."""
    told: list[object] = []
    for one in moved:
        told += happenings_of(one, node.now())
        told += filter(None, [ends.after(one, node.table)])
    return [type(each).__name__ for each in told]


def test_the_end_of_a_workflow_is_told_once_until_it_goes_on(node: FakeNode) -> None:
    ends = WorkflowEnds()
    ended = TaskMoved(COPY, TaskState.RUNNING, TaskState.TERMINATED, "")
    assert moves(node, ends, ended) == ["TaskMoved"]
    waiting = TaskMoved(CHECK, TaskState.SUBMITTED, TaskState.WAITING, "")
    assert moves(node, ends, waiting) == ["TaskMoved", "GateWaiting"]
    node.handle(Cancel("1", SURVEY, ()))
    learnt = TaskMoved(COPY, None, TaskState.TERMINATED, "")
    ready = TaskMoved(COPY, TaskState.SUBMITTED, TaskState.READY, "")
    assert moves(node, ends, learnt, ready) == ["TaskMoved"] * 2
    assert moves(node, ends, ended, ended) == ["TaskMoved", "WorkflowEnded", "TaskMoved"]
    gone = TaskMoved("gone", TaskState.RUNNING, TaskState.TERMINATED, "")
    assert moves(node, ends, gone, ended) == ["TaskMoved"] * 2
    told_of = WorkflowEnds().after(ended, node.table)
    assert told_of is not None
    assert (told_of.state, told_of.counts) == ("cancelled", {TaskState.CANCELLED: 4})


async def test_the_event_says_why_a_task_was_given_up(there: Serving, client: LineClient) -> None:
    told = workflow()
    told["tasks"][0]["failures_max"] = 1
    await client.result("submit", told)
    await client.result("events")
    there.node.volunteer()
    there.node.fail(task_id(id_of(told), "copy"))
    moved: dict[str, Any] = {}
    while (moved.get("after"), moved.get("name")) != ("Aborted", "copy"):
        moved = (await client.heard())["params"]["happening"]
    assert moved["reason"] == "failed: no film in the camera"
    async with greeted(there) as other:
        assert await now(other) == "copy failed: no film in the camera"


async def test_what_does_not_stop_yet_is_told_until_it_has(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    assert (await client.result("cancel", {"workflow": "survey"}))["verdict"] == "cancelling"
    still = "still being stopped on birch"
    await copy_is(client, f"copy is cancelled, {still}", f"cancelled; {still}")
    there.node.stop_program(COPY)
    await copy_is(client, "copy is cancelled", "cancelled")


@pytest.mark.parametrize(
    ("waiting", "more"), [(WAITING_ROWS_MAX, False), (WAITING_ROWS_MAX + 1, True)]
)
def test_that_more_wait_than_there_are_rows_is_told(
    tmp_path: Path, waiting: int, more: bool
) -> None:
    node = FakeNode(tmp_path)
    first = task_id("survey", "first")
    tasks = [{"id": "first", "program": "copy"}, {"id": "look", "gate": True}]
    tasks += [
        {"id": f"after {number}", "program": "copy", "after": ["first", "look"]}
        for number in range(waiting)
    ]
    node.handle_submission({"name": "survey", "tasks": tasks})
    node.volunteer()
    node.succeed(first)
    views = Views(node.now(), TaskProgress(lambda: 0.0))
    ended = (TaskState.RUNNING, TaskState.TERMINATED, "birch", "")
    told = with_rows(session.TaskMoved(first, "first", "survey", *ended), node, views)
    assert isinstance(told, session.TaskMoved)
    assert (len(told.rows), told.more) == (1 + WAITING_ROWS_MAX, more)
