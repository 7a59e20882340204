"""What can be asked wrongly of each verb, with the code and the one sentence that answer it.

Beside ``test_malformed``, which has what the envelope and the first verbs can be told wrongly.
"""

from __future__ import annotations

from typing import Any

import pytest

from agent.api.methods import METHODS
from tests.control.serving import LineClient, Serving
from tests.control.test_malformed import CASES as ENVELOPES
from tests.control.test_malformed import LINES

PARAMS, REFUSED, TOKEN, UNKNOWN = -32602, 1, 2, 3
WAYS_MIN = 200

CASES: list[tuple[str, dict[str, Any], int, str]] = [
    ("pause", {"for_s": "15m"}, PARAMS, "pause: for_s must be a number or null, not a text"),
    ("pause", {"for_s": 0}, PARAMS, "pause: for_s must be a number of at least 1"),
    ("pause", {"for_s": 1000000000.0}, PARAMS, "pause: for_s must be a number of at most 31536000"),
    (
        "pause",
        {"for_s": 60, "until_tomorrow": True},
        PARAMS,
        "pause: either for_s or until_tomorrow, not both",
    ),
    ("pause", {"minutes": 15}, PARAMS, "pause: there is no minutes"),
    ("hand_over", {"within_s": 61}, PARAMS, "hand_over: within_s must be a number of at most 60"),
    (
        "pause",
        {"finish_first": "yes"},
        PARAMS,
        "pause: finish_first must be true or false, not a text",
    ),
    ("resume", {"now": True}, PARAMS, "resume: there is no now"),
    ("running_programs", {"user": "root"}, PARAMS, "running_programs: there is no user"),
    ("volunteering", {"all": 1}, PARAMS, "volunteering: there is no all"),
    ("set_volunteering", {}, PARAMS, "set_volunteering: rules is missing"),
    (
        "set_volunteering",
        {"rules": "always"},
        PARAMS,
        "set_volunteering: rules must be an object, not a text",
    ),
    (
        "set_volunteering",
        {"rules": {"mode": "never"}},
        PARAMS,
        "set_volunteering: rules.mode cannot be 'never': choose always, when idle, by schedule, not now or not yet",
    ),
    (
        "set_volunteering",
        {"rules": {"idle": 5}},
        PARAMS,
        "set_volunteering: there is no idle in rules",
    ),
    (
        "set_volunteering",
        {"rules": {"idle_s": -1}},
        PARAMS,
        "set_volunteering: rules.idle_s must be a number of at least 0",
    ),
    (
        "set_volunteering",
        {"rules": {"others_cpu_percent": 101}},
        PARAMS,
        "set_volunteering: rules.others_cpu_percent must be a whole number of at most 100",
    ),
    (
        "set_volunteering",
        {"rules": {"hours": [{"day": "mon", "begins": "08:00", "ends": "09:00"}]}},
        PARAMS,
        "set_volunteering: rules.hours[0].day cannot be 'mon': choose monday, tuesday, wednesday, thursday, friday, saturday or sunday",
    ),
    (
        "set_volunteering",
        {"rules": {"hours": [{"day": "monday", "begins": "8", "ends": "09:00"}]}},
        PARAMS,
        "set_volunteering: rules.hours[0].begins must be a time of a day like 18:30",
    ),
    (
        "set_volunteering",
        {"rules": {"hours": [{"day": "monday", "begins": "08:00"}]}},
        PARAMS,
        "set_volunteering: rules.hours[0].ends is missing",
    ),
    (
        "set_volunteering",
        {"rules": {"hours": [{"day": "monday", "begins": "24:00", "ends": "09:00"}]}},
        REFUSED,
        "one of the hours is no time of a day: write from 00:00 to 24:00.",
    ),
    (
        "set_volunteering",
        {"rules": {"mode": "by schedule"}},
        REFUSED,
        "These rules cannot be kept: by schedule without hours never helps: add hours like 'mon-fri 18:00-07:00', or choose when idle.",
    ),
    ("settings", {"file": "x"}, PARAMS, "settings: there is no file"),
    ("change_settings", {}, PARAMS, "change_settings: name at least one setting to change"),
    (
        "change_settings",
        {"slots": 0},
        PARAMS,
        "change_settings: slots must be a whole number of at least 1",
    ),
    (
        "change_settings",
        {"slots": "4"},
        PARAMS,
        "change_settings: slots must be a whole number, not a text",
    ),
    (
        "change_settings",
        {"name": ""},
        REFUSED,
        "name has to be a text, like 'workshop 3'.",
    ),
    (
        "change_settings",
        {"slot": 2},
        PARAMS,
        "change_settings: there is no slot; did you mean slots?",
    ),
    (
        "change_settings",
        {"tags": "gpu"},
        PARAMS,
        "change_settings: tags must be a list, not a text",
    ),
    (
        "change_settings",
        {"tags": [""]},
        PARAMS,
        "change_settings: tags[0] must be a text of at least 1 character",
    ),
    (
        "change_settings",
        {"published_programs": "sometimes"},
        PARAMS,
        "change_settings: published_programs cannot be 'sometimes': choose always, ask or never",
    ),
    (
        "change_settings",
        {"processor": "all"},
        PARAMS,
        "change_settings: processor cannot be 'all': choose spare or share",
    ),
    (
        "change_settings",
        {"memory_gb": -1},
        PARAMS,
        "change_settings: memory_gb must be a number of at least 0",
    ),
    (
        "change_settings",
        {"datasets_gb": -1},
        PARAMS,
        "change_settings: datasets_gb must be a number of at least 0",
    ),
    ("programs", {"name": "x"}, PARAMS, "programs: there is no name"),
    ("publish", {}, PARAMS, "publish: folder is missing"),
    (
        "publish",
        {"folder": "count"},
        REFUSED,
        "publish: count is no whole path, and the agent is elsewhere",
    ),
    (
        "publish",
        {"folder": "/nowhere/at/all"},
        UNKNOWN,
        "publish: there is no folder /nowhere/at/all",
    ),
    (
        "accept_program",
        {"program": "count@1"},
        REFUSED,
        "No published program is called count@1: see which there are.",
    ),
    (
        "accept_program",
        {"program": ""},
        PARAMS,
        "accept_program: program must be a text of at least 1 character",
    ),
    ("refuse_program", {"name": "count"}, PARAMS, "refuse_program: there is no name"),
    ("scripts", {"workflow": "nothing"}, UNKNOWN, 'no workflow is called "nothing"'),
    (
        "permit",
        {"workflow": "survey", "answer": "yes"},
        PARAMS,
        "permit: answer cannot be 'yes': choose once, machine, programs or never",
    ),
    ("grant", {"program": ""}, PARAMS, "grant: program must be a text of at least 1 character"),
    ("revoke", {"name": "report"}, PARAMS, "revoke: there is no name"),
    ("set_secret", {"name": "db"}, PARAMS, "set_secret: value is missing"),
    (
        "set_secret",
        {"name": "db", "value": ""},
        PARAMS,
        "set_secret: value must be a text of at least 1 character",
    ),
    (
        "set_secret",
        {"name": "../up", "value": "x"},
        PARAMS,
        "set_secret: name must be a name of letters, digits, dots and dashes",
    ),
    ("forget_secret", {"name": "db"}, REFUSED, "The secret db is not here."),
    ("distrust", {"machine": "oak"}, UNKNOWN, 'no machine "oak" is trusted here'),
    ("ask_owners", {"workflow": "nothing"}, UNKNOWN, 'no workflow is called "nothing"'),
    (
        "remind_owner",
        {"workflow": ""},
        PARAMS,
        "remind_owner: workflow must be a text of at least 1 character",
    ),
    ("datasets", {"limit": 0}, PARAMS, "datasets: limit must be a whole number of at least 1"),
    ("datasets", {"workflow": "nothing"}, UNKNOWN, 'no workflow is called "nothing"'),
    (
        "add_dataset",
        {"path": "here.txt"},
        REFUSED,
        "here.txt is no whole path, and the agent is elsewhere",
    ),
    (
        "add_dataset",
        {"path": "/nowhere/at/all"},
        UNKNOWN,
        "there is no /nowhere/at/all",
    ),
    (
        "add_dataset",
        {"path": ""},
        PARAMS,
        "add_dataset: path must be a text of at least 1 character",
    ),
    ("begin_upload", {"name": ".."}, REFUSED, 'begin_upload: ".." is no name of a file'),
    ("begin_upload", {"name": ""}, REFUSED, 'begin_upload: "" is no name of a file'),
    ("begin_upload", {"folder": True}, PARAMS, "begin_upload: name is missing"),
    (
        "upload_chunk",
        {"upload": "none", "data": "AA=="},
        UNKNOWN,
        'no upload of this connection is called "none"',
    ),
    (
        "upload_chunk",
        {"upload": "none", "data": "??"},
        PARAMS,
        "upload_chunk: data must be a text in base64",
    ),
    (
        "upload_chunk",
        {"upload": "none", "data": 5},
        PARAMS,
        "upload_chunk: data must be a text in base64, not a whole number",
    ),
    ("upload_chunk", {"upload": "none"}, PARAMS, "upload_chunk: data is missing"),
    (
        "upload_chunk",
        {"upload": "none", "data": "AA==", "path": "a", "folder": True},
        REFUSED,
        "upload_chunk: a folder has no data of its own",
    ),
    ("end_upload", {"upload": "none"}, UNKNOWN, 'no upload of this connection is called "none"'),
    (
        "dataset_files",
        {"dataset": "sha256:abcdef"},
        UNKNOWN,
        'no dataset is called "sha256:abcdef"',
    ),
    ("dataset_files", {"dataset": "nothing"}, UNKNOWN, 'no task is called "nothing"'),
    (
        "dataset_files",
        {"dataset": "a", "limit": 0},
        PARAMS,
        "dataset_files: limit must be a whole number of at least 1",
    ),
    (
        "read_dataset",
        {"dataset": "sha256:0000000000000000000000000000000000000000000000000000000000000000"},
        REFUSED,
        "sha256:0000000000000 cannot be had: nobody who is seen has it",
    ),
    (
        "read_dataset",
        {"dataset": "a", "offset": -1},
        PARAMS,
        "read_dataset: offset must be a whole number of at least 0",
    ),
    (
        "read_dataset",
        {"dataset": "a", "limit": 2000000},
        PARAMS,
        "read_dataset: limit must be a whole number of at most 1048576",
    ),
    ("read_dataset", {"dataset": "nothing/2"}, UNKNOWN, 'no task is called "nothing"'),
    ("task_log", {}, PARAMS, "task_log: task is missing"),
    ("task_log", {"task": "nothing"}, UNKNOWN, 'no task is called "nothing"'),
    (
        "task_log",
        {"task": "a", "wait_s": 61},
        PARAMS,
        "task_log: wait_s must be a number of at most 60",
    ),
    (
        "task_log",
        {"task": "a", "limit": 0},
        PARAMS,
        "task_log: limit must be a whole number of at least 1",
    ),
    (
        "task_log",
        {"task": "a", "offset": "0"},
        PARAMS,
        "task_log: offset must be a whole number, not a text",
    ),
    (
        "agent_log",
        {"severity": "fatal"},
        PARAMS,
        "agent_log: severity cannot be 'fatal': choose debug, info, normal, warning or error",
    ),
    (
        "agent_log",
        {"limit": 2001},
        PARAMS,
        "agent_log: limit must be a whole number of at most 2000",
    ),
    (
        "agent_log",
        {"contains": "x"},
        PARAMS,
        "agent_log: there is no contains; did you mean containing?",
    ),
    ("agent_log", {"wait_s": -1}, PARAMS, "agent_log: wait_s must be a number of at least 0"),
    ("runs", {}, PARAMS, "runs: name a workflow or a task"),
    ("runs", {"workflow": "nothing"}, UNKNOWN, 'no workflow is called "nothing"'),
    ("runs", {"task": "nothing"}, UNKNOWN, 'no task is called "nothing"'),
    (
        "history",
        {"state": "Done"},
        PARAMS,
        "history: state cannot be 'Done': choose Submitted, Ready, Waiting, Scheduled, Running, Suspended, Terminated, Cancelled or Aborted",
    ),
    (
        "past",
        {"state": "done"},
        PARAMS,
        "past: state cannot be 'done': choose finished, failed or cancelled",
    ),
    ("remove", {"workflows": []}, PARAMS, "remove: workflows must be a list of at least 1 entry"),
    ("remove", {"workflows": ["nothing"]}, UNKNOWN, 'no workflow is called "nothing"'),
    (
        "remove",
        {"workflows": ["nothing"], "past": True},
        UNKNOWN,
        'no workflow is called "nothing"',
    ),
    (
        "forget_program",
        {"program": "nothing"},
        1,
        "No published program is called nothing: see which there are.",
    ),
    ("past", {"until_ms": -1}, PARAMS, "past: until_ms must be a whole number of at least 0"),
    ("history", {"limit": 0}, PARAMS, "history: limit must be a whole number of at least 1"),
    ("history", {"since_ms": -1}, PARAMS, "history: since_ms must be a whole number of at least 0"),
    ("history", {"flow": "x"}, PARAMS, "history: there is no flow; did you mean workflow?"),
    ("statistics", {"weeks": 0}, PARAMS, "statistics: weeks must be a whole number of at least 1"),
    (
        "statistics",
        {"weeks": 521},
        PARAMS,
        "statistics: weeks must be a whole number of at most 520",
    ),
    ("plan", {}, PARAMS, "plan: workflow is missing"),
    (
        "plan",
        {"workflow": {"name": "w", "tasks": []}},
        PARAMS,
        "plan: workflow.tasks must be a list of at least 1 entry",
    ),
    ("plan", {"workflow": "w"}, PARAMS, "plan: workflow must be an object, not a text"),
    (
        "prove",
        {"nonce": "x"},
        PARAMS,
        "prove: nonce must be a text of at least 16 characters",
    ),
    ("hello", {"token": "x", "node": 5}, PARAMS, "hello: node must be a text, not a whole number"),
    (
        "hello",
        {"token": "wrong"},
        TOKEN,
        "the token is not the one of this start of the agent: read control.json again",
    ),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "program": "copy", "limits": {"wall": 5}}]},
        PARAMS,
        "submit: there is no wall in tasks[0].limits",
    ),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "program": "copy", "limits": {"wall_s": -5}}]},
        PARAMS,
        "submit: tasks[0].limits.wall_s must be a number of at least 0",
    ),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "program": "copy", "published": "x"}]},
        PARAMS,
        "submit: tasks[0].published must be an object or null, not a text",
    ),
    ("submit", {"name": "w", "tasks": [{"id": "a"}]}, REFUSED, 'task "a" names no program'),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "program": "copy"}, {"id": "a", "program": "copy"}]},
        REFUSED,
        'two tasks are called "a"',
    ),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "program": "copy", "after": ["b"]}]},
        REFUSED,
        'task "a" needs "b", which this workflow does not have',
    ),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "program": "copy", "after": ["a"]}]},
        REFUSED,
        "tasks need each other in a circle: a → a",
    ),
    (
        "submit",
        {"name": "w", "tasks": [{"id": "a", "gate": True, "program": "copy"}]},
        REFUSED,
        'task "a" is a gate and cannot have a program',
    ),
    (
        "submit",
        {
            "name": "w",
            "tasks": [
                {"id": "a", "program": "copy", "inputs": [{"task": "b", "workflow": "elsewhere"}]}
            ],
        },
        REFUSED,
        'task "a" needs "b" of "elsewhere", which is not known here',
    ),
]


@pytest.mark.parametrize(("method", "params", "code", "sentence"), CASES)
async def test_what_is_asked_wrongly_is_answered_with_one_sentence(
    there: Serving,
    client: LineClient,
    method: str,
    params: dict[str, Any],
    code: int,
    sentence: str,
) -> None:
    assert await client.refusal(method, params) == (code, sentence)
    await client.result("status")


def test_every_verb_that_can_be_told_something_is_told_it_wrongly() -> None:
    wrong = {method for method, *_ in CASES}
    told = {name for name, method in METHODS.items() if method.params.__struct_fields__}
    earlier = {
        "status",
        "show",
        "meant",
        "again",
        "why",
        "cancel",
        "retry",
        "priority",
        "gate",
        "flock_create",
    }
    assert told - wrong - earlier <= {
        *("invite", "join", "expel", "leave", "events", "stop", "start_anew", "at_hand"),
        *("ask", "confirm_ask", "admit", "refuse", "appoint", "set_role", "recover", "new_phrase"),
        *("audit", "check_audit", "pair", "unpair", "meet"),
    }


def test_enough_ways_to_be_wrong_are_known() -> None:
    assert len(CASES) + len(ENVELOPES) + len(LINES) >= WAYS_MIN
