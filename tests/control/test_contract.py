"""The published contract against what is served: every method, every reply, every event."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.api import session
from agent.api.__main__ import document
from agent.api.admission import AskChanged, JoinRequested, JoinRequestEnded
from agent.api.methods import METHODS
from agent.api.presence_reasons import HeldByMouse
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode
from agent.control import verbs
from agent.control.request_context import Verb
from agent.control.verbs import VERBS
from agent.protocol.effects import (
    CancelFinished,
    OutcomeChanged,
    TaskProgressed,
    WorkflowGone,
    WorkflowSafe,
)
from agent.protocol.events import Cancel
from tests.control.schema_check import faults, resolved
from tests.control.serving import SURVEY, greeted, serving, stranger, workflow
from tests.control.surface import INVITATION
from tests.style.source import REPOSITORY

CONTRACT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document()))
SCHEMAS = CONTRACT["components"]["schemas"]

# In this order: each leaves behind what the next one needs.
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("events", {}),
    ("submit", workflow()),
    ("status", {"first": 0, "limit": 5}),
    ("show", {"workflow": "survey"}),
    ("meant", {"reference": "survey/copy", "task": True, "submitter": "ada"}),
    ("why", {"task": "merge"}),
    ("priority", {"workflow": "survey", "priority": 10}),
    ("gate", {"task": "check"}),
    ("cancel", {"workflow": "survey", "tasks": ["merge"]}),
    ("retry", {"workflow": "survey"}),
    ("again", {"workflow": "survey", "submitter": "ada"}),
    ("runs", {"workflow": "survey"}),
    ("task_log", {"task": "copy", "wait_s": 0.01}),
    ("history", {"workflow": "survey", "state": "Terminated"}),
    ("past", {"words": "survey", "state": "failed", "summed": True}),
    ("submit", {"name": "note", "tasks": [{"id": "look", "gate": True, "asks": "look"}]}),
    ("cancel", {"workflow": "note"}),
    ("remove", {"workflows": ["note"], "past": True, "trial": True}),
    ("remove", {"workflows": ["note"], "past": True}),
    ("statistics", {"weeks": 2}),
    ("agent_log", {"severity": "debug", "containing": "x"}),
    ("plan", {"workflow": workflow("plan")}),
    ("begin_upload", {"name": "notes.txt"}),
    ("upload_chunk", {"upload": "$upload", "data": "aGVsbG8="}),
    ("end_upload", {"upload": "$upload"}),
    ("datasets", {}),
    ("dataset_files", {"dataset": "$dataset"}),
    ("read_dataset", {"dataset": "$dataset", "limit": 3}),
    ("add_dataset", {"path": str(REPOSITORY / "README.md")}),
    ("running_programs", {}),
    ("volunteering", {}),
    ("set_volunteering", {"rules": {"mode": "when idle", "idle_s": 60}}),
    ("pause", {"for_s": 900, "finish_first": True}),
    ("resume", {}),
    ("settings", {}),
    ("programs", {}),
    ("publish", {"folder": str(REPOSITORY / "tasks")}),
    ("refuse_program", {"program": "$program"}),
    ("accept_program", {"program": "$program"}),
    ("forget_program", {"program": "$program", "trial": True}),
    ("permissions", {}),
    ("scripts", {"workflow": "survey"}),
    ("remind_owner", {"workflow": "survey"}),
    ("ask_owners", {"workflow": "survey"}),
    ("permit", {"workflow": "survey", "answer": "machine"}),
    ("grant", {"program": "report"}),
    ("revoke", {"program": "report"}),
    ("set_secret", {"name": "survey-db", "value": "x"}),
    ("secrets", {}),
    ("forget_secret", {"name": "survey-db"}),
    ("distrust", {"machine": "birchnode"}),
    ("change_settings", {"slots": 2, "tags": ["gpu"]}),
    ("peers", {}),
    ("members", {}),
    ("doctor", {}),
    ("invite", {"uses": 2, "hours": 1.5}),
    ("requests", {}),
    ("admit", {"request": "418-230", "code": "418 230"}),
    ("refuse", {"request": "elder"}),
    ("nearby", {}),
    ("ask", {"flock": "moor"}),
    ("confirm_ask", {"code": "418 230"}),
    ("asked", {}),
    ("withdraw_ask", {}),
    ("me", {}),
    ("pair", {}),
    ("unpair", {"member": "aldernode"}),
    ("meet", {"tag": ""}),
    ("audit", {"first": 1, "limit": 5}),
    ("check_audit", {"member": "birchnode"}),
    ("appoint", {"member": "aldernode", "what": "keeper", "withdraw": True}),
    ("set_role", {"member": "aldernode", "role": "helper"}),
    ("recover", {"phrase": "of nine words", "check": True}),
    ("upgrade_flock", {}),
    ("new_phrase", {"phrase": "of nine words"}),
    ("expel", {"member": "aldernode"}),
    ("hand_over", {"within_s": 0.0}),
    ("leave", {"even_as_last_keeper": True}),
    ("flock_create", {"name": "heath"}),
    ("leave", {"even_as_last_keeper": True}),
    ("join", {"invitation": INVITATION}),
    ("at_hand", {"idle_ms": 5}),
    ("start_anew", {"now": True}),
    ("stop", {"reason": "the end"}),
]


def reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_every_method_of_the_contract_is_asked_here() -> None:
    assert {"prove", "hello", *(method for method, _ in QUESTIONS)} == set(METHODS)


def test_every_method_is_served_and_no_other() -> None:
    assert list(METHODS) == [method["name"] for method in CONTRACT["methods"]]
    assert set(VERBS) == set(METHODS)
    nouns = [each for each in vars(verbs).values() if inspect.ismodule(each)]
    found = [item for noun in nouns for item in vars(noun).items() if isinstance(item[1], Verb)]
    assert sorted(found) == sorted((each.name, each) for each in VERBS.values())


async def test_every_question_and_reply_is_as_the_contract_has_it(tmp_path: Path) -> None:
    asked = {method["name"]: method for method in CONTRACT["methods"]}

    found: list[str] = []
    async with serving(tmp_path) as there, stranger(there, 2**20) as client:
        hello = ("hello", {"token": there.control["token"]})
        seen: dict[str, Any] = {}
        prove = ("prove", {"nonce": "0123456789abcdef"})
        for name, told in [prove, hello, *QUESTIONS]:
            params = {
                key: seen[value[1:]] if str(value).startswith("$") else value
                for key, value in told.items()
            }
            if name == "gate":
                there.node.volunteer()
                there.node.succeed(next(iter(there.node.runs)))
            answer = await client.ask(name, params)
            while "method" in answer:
                answer = await client.heard()
            found += faults(params, asked[name]["x-params"], CONTRACT)
            found += faults(answer, reference("Answer"), CONTRACT)
            assert "result" in answer, answer
            found += faults(answer["result"], asked[name]["result"]["schema"], CONTRACT)
            seen.update(answer["result"])
            if isinstance(seen.get("dataset"), dict):
                seen["dataset"] = seen["dataset"]["dataset"]
    assert found == []


async def test_every_event_is_as_the_contract_has_it(tmp_path: Path) -> None:
    kinds = {kind.__struct_config__.tag for kind in session.Happening.__args__}
    schema = CONTRACT["x-notifications"]["event"]["schema"]

    found, told = list[str](), set[str]()
    async with serving(tmp_path) as there, greeted(there) as client:
        await client.result("submit", workflow())
        start = (await client.result("status"))["position"]
        also = [session.kind_of(kind) for kind in session.LATER]
        await client.result("events", {"after": {**start, "sequence": 0}, "also": also})
        there.node.volunteer()
        task = there.node.table.workflows[SURVEY].spec.tasks[0].task
        there.node.succeed(task)
        there.node.handle(Cancel("1", SURVEY))
        run = (1, 1, "aldernode", 5)
        for notice in (
            OutcomeChanged(task, run, run, "merged"),
            WorkflowSafe(SURVEY),
            WorkflowGone(there.node.table.workflows[SURVEY], (), "aldernode"),
            CancelFinished(task),
            CancelFinished("a task that was cleaned up"),
            session.PeerChanged("aldernode"),
            session.FlockChanged("meadow"),
            TaskProgressed(task, "aldernode", 250, 4_000),
            session.VolunteeringChanged(False, True, "", False, why=as_why(HeldByMouse(1))),
            session.ProgramWaiting("count@0123456789ab", "alder"),
            JoinRequested("0123456789abcdef", "elder", "ada", "418 230", "alder"),
            JoinRequestEnded("0123456789abcdef", "elder", "refused"),
            AskChanged("waiting", "workshop"),
        ):
            there.node.tell(notice)
        while "ask changed" not in told:
            event = await client.heard()
            found += faults(event, reference("Notification"), CONTRACT)
            found += faults(event["params"], schema, CONTRACT)
            told.add(event["params"]["happening"]["type"])
    assert (found, told) == ([], kinds)


async def test_every_refusal_is_as_the_contract_has_it(tmp_path: Path) -> None:
    found: list[str] = []
    async with serving(tmp_path) as there, greeted(there) as client:
        for line in ("{", '{"id":3}', '{"jsonrpc":"2.0","id":"a","method":"show","params":{}}'):
            client.send(line)
            found += faults(await client.heard(), reference("Failure"), CONTRACT)
    assert found == []


def test_the_check_sees_what_is_wrong() -> None:
    assert list(faults({"limit": 0}, reference("Status"), CONTRACT))
    assert list(faults({"limits": 1}, reference("Status"), CONTRACT))
    assert list(faults({"limit": "1"}, reference("Status"), CONTRACT))
    assert list(faults({}, reference("Submit"), CONTRACT))
    assert list(faults({"name": "w", "tasks": []}, reference("Submit"), CONTRACT))
    assert not list(faults(workflow(), reference("Submit"), CONTRACT))


def test_every_reference_of_the_contract_leads_somewhere() -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [found for each in part.values() for found in references(each)]
        if isinstance(part, list):
            return [found for each in part for found in references(each)]
        return []

    for each in references(CONTRACT):
        assert resolved(each, CONTRACT)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_is_published(code: ErrorCode) -> None:
    assert CONTRACT["components"]["errors"][code.name]["code"] == code.value


def test_every_message_says_what_it_means() -> None:
    assert [name for name, schema in SCHEMAS.items() if not schema.get("description")] == []


def test_the_contract_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent.api"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == CONTRACT
