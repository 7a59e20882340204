"""Each verb of the client protocol: what it answers, and what it makes the node do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from msgspec import structs

from agent.api.flock import ConfinementView
from agent.api.rpc import ErrorCode
from agent.api.session import FlockChanged, PeerChanged
from agent.api.values import PRIORITY_NAMES, Capabilities
from agent.control.naming import task_id
from agent.protocol.capabilities import NeededBy
from agent.protocol.effects import WorkflowSafe
from agent.protocol.needs import Seat, seats_of
from agent.protocol.records import Claim, Life, Run, Running, TaskLife
from agent.protocol.second_runs import FIRST_COPY
from tests.control.serving import SURVEY, LineClient, Serving, greeted, workflow
from tests.control.surface import ALDER, INVITATION, NODE

ALL_RIGHTS = (
    "programs have all rights of this account here: remove `confinement` from settings.toml"
)
COPY, CHECK, MERGE = (task_id(SURVEY, name) for name in ("copy", "check", "merge"))


async def test_a_submission_is_kept_and_known_the_second_time(
    there: Serving, client: LineClient
) -> None:
    kept = {"workflow": SURVEY, "disks": 1, "waits": [], "whys": [], "meant": [], "there": None}
    for text in ("here only", ""):  # one request, that is told twice
        told = {"known": False, "text": text}
        assert await client.result("submit", workflow()) == kept | told
    again = await client.result("submit", workflow(key="of another click"))
    assert (again["workflow"], again["known"]) == (SURVEY, True)
    assert (again["there"]["name"], again["there"]["state"]) == ("survey", "waiting")


async def test_tasks_of_earlier_workflows_can_be_inputs(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow())
    inputs = [{"task": "merge", "workflow": "survey", "output": 1}]
    task = {"id": "later", "program": "copy", "inputs": inputs}
    await client.result("submit", {"name": "second", "tasks": [task], "priority": 7})
    shown = await client.result("show", {"workflow": "second"})
    (later,) = shown["tasks"]
    assert (later["needs"], later["reason"]) == ([MERGE], "waits for merge")
    assert shown["workflow"]["priority"] == 7


@pytest.mark.parametrize("there", [{"flock": True}, {"flock": False}], indirect=True)
async def test_why_tells_how_a_task_came_to_where_it_is(there: Serving, client: LineClient) -> None:
    """A machine is called by its name, also one of no flock."""
    await client.result("submit", workflow())
    there.node.volunteer()
    running = await client.result("why", {"task": COPY[:12]})
    assert (running["task"]["task"], running["now"]) == (COPY, "copy runs on birch")
    assert [move["what"] for move in running["moves"]] == [
        *("ready", "claimed by birch", "fetching inputs on birch", "running on birch")
    ]
    assert running["moves"][0]["cause"] == "submitted"


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
    assert done == {
        "workflow": SURVEY,
        "verdict": "done",
        "text": "",
        "name": "survey",
    }
    for _ in range(2):
        there.node.succeed(next(iter(there.node.runs)))
    state = (await client.result("status"))["workflows"][0]
    assert (state["state"], state["counts"]) == ("finished", {"Terminated": 4})
    shown = await client.result("show", {"workflow": "survey", "first": 2, "limit": 1})
    assert [task["name"] for task in shown["tasks"]] == ["merge"]
    assert shown["tasks"][0]["host"] == "birch"
    assert shown["tasks"][0]["outputs"] == [{"dataset": f"made-by-{MERGE}", "size_bytes": 5}]


async def test_a_page_of_tasks_is_full_though_others_named_some_of_them_first(
    there: Serving, client: LineClient
) -> None:
    """Two machines told of workflows that have a task in common; it is of the earlier."""
    await client.result("submit", workflow())
    survey = there.node.node.table.workflows[SURVEY]
    first, *others = survey.spec.tasks
    own = structs.replace(others[0], task="own", inputs=(), after=())
    after = (survey.spec.submitted[0] + 1, 0)
    spec = structs.replace(survey.spec, workflow="later", submitted=after, tasks=(first, own))
    there.node.node.table.join([structs.replace(survey, spec=spec)])
    shown = await client.result("show", {"workflow": "later", "limit": 1})
    assert [task["task"] for task in shown["tasks"]] == ["own"]


async def test_failed_work_is_retried_and_cancelled_work_is_over(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    for _ in range(3):
        there.node.fail(COPY)
    given_up = await client.result("why", {"task": "copy"})
    assert given_up["now"] == ("copy has failed 3 times, last: no film in the camera")
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


async def test_status_gives_the_newest_first_a_page_at_a_time(
    there: Serving, client: LineClient
) -> None:
    for name in ("one", "two", "three"):
        await client.result("submit", workflow(name))
    page = await client.result("status", {"first": 1, "limit": 1})
    names = [each["name"] for each in page["workflows"]]
    assert (names, page["total"], page["node"]["name"]) == (["two"], 3, "birch")


async def test_peers_and_members_are_told_with_names(there: Serving, client: LineClient) -> None:
    peers = (await client.result("peers"))["peers"]
    assert [(peer["name"], peer["state"]) for peer in peers] == [
        *(("alder", "linked"), ("cedar", "away"), ("cedar", "away"))
    ]
    assert peers[0]["round_trip_ms"] == 1.0
    assert peers[1]["reason"].startswith("nothing answers")
    assert peers[1]["why"] == {"reason": "NoLink", "kind": "NobodyAnswers"}
    members = await client.result("members")
    assert [each["name"] for each in members["members"]] == ["alder", "birch", "cedar", "cedar"]
    assert members["departures"][0]["expelled"] is True
    told = await client.result("doctor")
    assert (told["seen"], told["missing"]) == (1, 2)


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


async def test_rules_are_for_a_flock_and_stand_in_no_file(
    there: Serving, client: LineClient
) -> None:
    assert (await client.result("settings"))["rules"] == "look-ahead"
    told = await client.result("change_settings", {"rules": "BFC", "slots": 2})
    assert (told["rules"], told["slots"]) == ("BFC", 2)
    assert (await client.result("change_settings", {"rules": "FCFS"}))["rules"] == "FCFS"
    code, _ = await client.refusal("change_settings", {"rules": "the best"})
    assert code == ErrorCode.WRONG_PARAMETERS
    there.node.known = replace(there.node.known, flock=None)
    code, _ = await client.refusal("change_settings", {"rules": "EC"})
    assert code == ErrorCode.NO_FLOCK


async def test_expelling_needs_an_unmistakable_name(there: Serving, client: LineClient) -> None:
    assert await client.refusal("expel", {"member": "cedar"}) == (
        ErrorCode.AMBIGUOUS,
        '"cedar" may mean the members cedar (cedarnode), cedar (cedarother): write more of it',
    )
    gone = await client.result("expel", {"member": "cedaro"})
    assert (gone["node"], gone["warning"]) == ("cedarother", "")
    assert (await client.result("expel", {"member": "ald"}))["warning"] != ""


async def test_stop_is_answered_before_it_is_done(there: Serving, client: LineClient) -> None:
    assert await client.result("stop", {"reason": "update"}) == {"node": "birchnode"}
    await client.result("stop")
    assert there.node.stopped == ["update", "a client asked for it"]


async def test_events_tell_all_that_happens_in_order(there: Serving, client: LineClient) -> None:
    start = (await client.result("events"))["position"]["sequence"]
    async with greeted(there) as other:
        await other.result("submit", workflow())
    changes = (PeerChanged("aldernode"), PeerChanged(NODE), FlockChanged("meadow"))
    for each in (WorkflowSafe(SURVEY), *changes):
        there.node.tell(each)
    events = [(await client.heard())["params"] for _ in range(8)]
    assert [each["sequence"] for each in events] == list(range(start + 1, start + 9))
    told = [each["happening"] for each in events]
    shown, peers = await client.result("show", {"workflow": "survey"}), await client.result("peers")
    (moved,) = (each for each in told[:4] if each["task"] == COPY)
    assert moved == {
        "type": "task moved",
        "task": COPY,
        "name": "copy",
        "workflow": SURVEY,
        "workflow_name": "survey",
        "before": None,
        "after": "Ready",
        "host": "",
        "cause": "submitted",
        "reason": "",
        "why": None,
        "more": False,
        "rows": shown["tasks"][:1],
    }
    assert [each["type"] for each in told] == [
        *["task moved"] * 4,
        *("workflow safe", "peer changed", "peer changed", "flock changed"),
    ]
    assert (told[5]["peer"], told[6]["own"]) == (peers["peers"][0], peers["node"])


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


@pytest.mark.parametrize(
    ("found", "sentences"),
    [
        (ConfinementView(holds=True), []),
        (ConfinementView("off", holds=True), [ALL_RIGHTS]),
        (ConfinementView("off"), [ALL_RIGHTS]),
        (
            ConfinementView(error="no Landlock"),
            ["programs cannot be confined here, so nothing of others runs: no Landlock"],
        ),
    ],
)
async def test_what_does_not_hold_programs_back_is_told_first(
    there: Serving, client: LineClient, found: ConfinementView, sentences: list[str]
) -> None:
    there.node.confined = AsyncMock(return_value=found)  # type: ignore[method-assign]
    told = (await client.result("doctor"))["findings"]
    kinds = [each["kind"] for each in told]
    assert [each["text"] for each in told[: kinds.count("confinement")]] == sentences


async def test_a_word_for_a_workflow_means_it(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow())
    told = await client.result("meant", {"reference": "surv"})
    assert (told["id"], told["name"], told["text"]) == (SURVEY, "survey", "")


async def test_results_go_where_the_submission_says(there: Serving, client: LineClient) -> None:
    for folder, sentence in (
        ("results", "deliver: results is no whole path of a folder"),
        ("/srv/../etc", "deliver: /srv/../etc is no whole path of a folder"),
        ("/srv/.ssh/x", "deliver: /srv/.ssh/x is hidden, or lies in a hidden folder"),
    ):
        told = await client.refusal("submit", workflow(deliver=folder))
        assert told == (ErrorCode.REFUSED, sentence)
    assert there.node.datasets.delivered == {}
    await client.result("submit", workflow(deliver="/srv/results"))
    assert there.node.datasets.delivered == {SURVEY: Path("/srv/results")}


async def test_another_version_of_a_workflow_runs_with_what_is_kept(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    there.node.succeed_all()
    wanted = workflow("survey-2", priority="low")
    wanted["tasks"][3]["parameters"] = "9"
    told = await client.result("again", {"workflow": "survey", "wanted": wanted})
    steps = {each["name"]: (each["differs"], each["kept"]) for each in told["steps"]}
    assert (steps["copy"], steps["spare"]) == (([], True), (["parameters"], False))
    view = (await client.result("show", {"workflow": told["workflow"]}))["workflow"]
    assert (view["name"], view["priority"]) == ("survey-2", PRIORITY_NAMES["low"])
    wanted["deliver"] = "results"
    refused = await client.refusal("again", {"workflow": "survey", "wanted": wanted})
    assert refused[1] == "deliver: results is no whole path of a folder"


async def test_only_whoever_wanted_results_removes_them_while_that_machine_belongs(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    await client.result("cancel", {"workflow": "survey"})
    table = there.node.table
    known = table.workflows[SURVEY]
    spec = structs.replace(known.spec, host="aldernode")
    table.workflows[SURVEY] = structs.replace(known, spec=spec)
    told = await client.refusal("remove", {"workflows": ["survey"]})
    assert told == (ErrorCode.REFUSED, "survey was submitted on alder: remove it there")
    there.node.known = replace(there.node.known, members=there.node.known.members[1:])
    assert (await client.result("remove", {"workflows": ["survey"]}))["workflows"]


@pytest.mark.parametrize(
    ("room", "verb", "sentence", "stays"),
    [
        ("copies", "size_of", "what they printed cannot be looked at: no room", True),
        ("copies", "let_go", "not all of what they left could be deleted: no room", False),
        ("datasets", "let_go", "not all of what they left could be deleted: no room", False),
    ],
)
async def test_what_cannot_be_removed_is_told(
    there: Serving, client: LineClient, room: str, verb: str, sentence: str, stays: bool
) -> None:
    await client.result("submit", workflow())
    await client.result("cancel", {"workflow": "survey"})
    setattr(getattr(there.node, room), verb, AsyncMock(side_effect=OSError("no room")))
    assert (await client.refusal("remove", {"workflows": ["survey"]}))[1] == sentence
    assert (await client.result("status"))["total"] == stays


async def test_what_machines_say_that_a_program_needs_goes_with_its_tasks(
    there: Serving, client: LineClient
) -> None:
    needs = NeededBy("copy", ("acme >= 3",), (Seat("licence", 1),))
    able = Capabilities(programs=("copy",), needs=(needs,))
    there.node.known = replace(there.node.known, peers=(structs.replace(ALDER, capabilities=able),))
    await client.result("submit", workflow())
    for spec in there.node.table.specs.values():
        assert seats_of(spec) == (() if spec.gate else (Seat("licence", 1),))


async def test_programs_that_work_brings_are_listed_with_the_word_on_them(
    there: Serving, client: LineClient
) -> None:
    folder = {"dataset": "tree:" + "1" * 64}
    said = {"asked@1": "waiting", "free@1": "accepted", "never@1": "refused", "done@1": None}
    tasks = [{"id": name[:4], "program": name, "published": folder} for name in said]
    await client.result("submit", {"name": "w", "tasks": tasks})
    there.node.published.decided = {
        "asked@1": "waiting",
        "free@1": "accepted",
        "never@1": "refused",
    }
    told = (await client.result("programs"))["programs"]
    assert {each["name"]: each["here"] for each in told if "@" in each["name"]} == said
    assert [each["nodes"] for each in told] == [[], ["birch"], [], [], []]


async def test_a_second_run_is_told_while_it_goes_on_and_while_it_is_stopped(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.table.join(
        lives=[
            TaskLife(
                COPY,
                Life(
                    runs=tuple(
                        Run(1, 1, host, 1, Claim(1, (1, 0), host), 1, phase=Running(), more=more)
                        for host, more in (("aldernode", {}), ("elmnode", FIRST_COPY))
                    )
                ),
            )
        ]
    )
    told = await client.result("why", {"task": "survey/copy"})
    beside = "what speaks for that machine: a second run of it goes on on elmnode"
    assert told["now"] == f"copy runs on alder; {beside}"
    assert told["task"]["copies"] == ["elmnode"]
    await client.result("cancel", {"workflow": "survey", "tasks": [COPY]})
    told = await client.result("why", {"task": "survey/copy"})
    assert told["now"] == "copy is cancelled, still being stopped on alder and elmnode"


@pytest.mark.parametrize(
    ("usual", "said", "told"),
    [
        ((), (), []),
        (("alder",), (), ["alder"]),
        (("alder",), ("nobody",), []),
        (("alder",), ("operators", "alder"), ["operators", "alder"]),
        ((), ("everybody",), ["everybody"]),
    ],
)
async def test_work_is_shared_as_its_person_says_or_else_as_usual(
    there: Serving,
    client: LineClient,
    usual: tuple[str, ...],
    said: tuple[str, ...],
    told: list[str],
) -> None:
    there.node.known = replace(there.node.known, shared_with=usual)
    await client.result("submit", workflow(shared_with=said))
    shown = await client.result("show", {"workflow": "survey"})
    assert shown["workflow"]["shared_with"] == told
