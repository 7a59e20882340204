"""Everything that a client can say wrongly, in requests and in lines of text, with the one sentence that it gets for it.

All of it on one connection that shows after each that it goes on: nothing that is said wrongly
costs more than its own line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.api.rpc import ErrorCode
from tests.control.serving import LineClient, Serving, workflow

JSON, REQUEST = ErrorCode.NOT_JSON, ErrorCode.NOT_A_REQUEST
METHOD, PARAMS = ErrorCode.NO_SUCH_METHOD, ErrorCode.WRONG_PARAMETERS


def asked(method: str, params: object) -> bytes:
    """A request that is right but for its parameters."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    return json.dumps(message).encode()


def task(**fields: object) -> bytes:
    """A submission with one task."""
    return asked("submit", {"name": "w", "tasks": [{"id": "a", **fields}]})


NO_ID = 'a request needs an "id", a whole number or a short text'
NO_VERSION = 'a request needs "jsonrpc": "2.0"'
NO_LIST = "a list of requests is not taken: send each of them in a line of its own"
NO_METHOD = 'a request needs a "method", the name of what is asked'

ENVELOPES: list[tuple[bytes, int | str | None, int, str]] = [
    (b"{", None, JSON, "the line is not JSON: input data was truncated"),
    (b'{"id":1', None, JSON, "the line is not JSON: input data was truncated"),
    (b"{}}", None, JSON, "the line is not JSON: trailing characters (byte 3)"),
    (b'{"id":1}{"id":2}', None, JSON, "the line is not JSON: trailing characters (byte 9)"),
    (b'{"id"}', None, JSON, "the line is not JSON: expected ':' (byte 5)"),
    (b"{'id':1}", None, JSON, "the line is not JSON: object keys must be strings (byte 1)"),
    (b'{"id":1,}', None, JSON, "the line is not JSON: trailing comma in object (byte 8)"),
    (b'{"id":01}', None, JSON, "the line is not JSON: invalid number (byte 7)"),
    (b'{"id":NaN}', None, JSON, "the line is not JSON: invalid character (byte 6)"),
    (b'{"id":"\x01"}', None, JSON, "the line is not JSON: invalid character (byte 7)"),
    (b'{"id":"\\x"}', None, JSON, "the line is not JSON: invalid escaped character (byte 8)"),
    (b'{"id":"\xff"}', None, JSON, "the line is not UTF-8 (byte 7)"),
    (b"{\xc3\x28}", None, JSON, "the line is not UTF-8 (byte 1)"),
    (b'{"a":' + b"[" * 50_000, None, JSON, "the line is nested too deeply"),
    (b"[]", None, REQUEST, NO_LIST),
    (b'[{"jsonrpc":"2.0","id":1,"method":"status"}]', None, REQUEST, NO_LIST),
    (b"{}", None, REQUEST, NO_VERSION),
    (b'{"id":1,"method":"status"}', 1, REQUEST, NO_VERSION),
    (b'{"jsonrpc":"1.0","id":1,"method":"status"}', 1, REQUEST, NO_VERSION),
    (b'{"jsonrpc":2.0,"id":1,"method":"status"}', 1, REQUEST, NO_VERSION),
    (b'{"jsonrpc":null,"id":"x","method":"status"}', "x", REQUEST, NO_VERSION),
    (b'{"jsonrpc":"2.0","method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":null,"method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":true,"method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":[1],"method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":1e300,"method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":"' + b"x" * 65 + b'","method":"status"}', None, REQUEST, NO_ID),
    (b'{"jsonrpc":"2.0","id":1}', 1, REQUEST, NO_METHOD),
    (b'{"jsonrpc":"2.0","id":1,"method":""}', 1, REQUEST, NO_METHOD),
    (b'{"jsonrpc":"2.0","id":1,"method":3}', 1, REQUEST, NO_METHOD),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"status","parms":{}}',
        *(1, REQUEST, 'a request has no field "parms"; did you mean params?'),
    ),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"statsu"}',
        *(1, METHOD, 'there is no method "statsu"; did you mean status?'),
    ),
    (b'{"jsonrpc":"2.0","id":1,"method":"x"}', 1, METHOD, 'there is no method "x"'),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"Status"}',
        1,
        METHOD,
        'there is no method "Status"; did you mean status?',
    ),
    (b'{"jsonrpc":"2.0","id":1,"method":"__init__"}', 1, METHOD, 'there is no method "__init__"'),
    (asked("status", []), 7, PARAMS, 'status: "params" must be an object'),
    (asked("status", None), 7, PARAMS, 'status: "params" must be an object'),
    (asked("status", "all"), 7, PARAMS, 'status: "params" must be an object'),
]

PARAMETERS: list[tuple[bytes, str]] = [
    (asked("hello", {}), "hello: token is missing"),
    (asked("hello", {"token": 5}), "hello: token must be a text, not a whole number"),
    (asked("hello", {"token": "x" * 257}), "hello: token must be a text of at most 256 characters"),
    (asked("peers", {"all": True}), "peers: there is no all"),
    (asked("status", {"frist": 1}), "status: there is no frist; did you mean first?"),
    (asked("status", {"first": -1}), "status: first must be a whole number of at least 0"),
    (asked("status", {"limit": 0}), "status: limit must be a whole number of at least 1"),
    (asked("status", {"limit": 2_001}), "status: limit must be a whole number of at most 2000"),
    (asked("status", {"limit": "9"}), "status: limit must be a whole number, not a text"),
    (asked("status", {"limit": None}), "status: limit must be a whole number, not null"),
    (asked("show", {}), "show: workflow is missing"),
    (asked("show", {"workflow": ""}), "show: workflow must be a text of at least 1 character"),
    (asked("show", {"workflow": ["w"]}), "show: workflow must be a text, not a list"),
    (asked("why", {"task": {}}), "why: task must be a text, not an object"),
    (asked("submit", {}), "submit: name is missing"),
    (asked("submit", {"name": "w"}), "submit: tasks is missing"),
    (
        asked("submit", {"name": "", "tasks": []}),
        "submit: name must be a text of at least 1 character",
    ),
    (
        asked("submit", {"name": "w", "tasks": []}),
        "submit: tasks must be a list of at least 1 entry",
    ),
    (asked("submit", {"name": "w", "tasks": {}}), "submit: tasks must be a list, not an object"),
    (
        asked("submit", {"name": "w", "tasks": ["a"]}),
        "submit: tasks[0] must be an object, not a text",
    ),
    (asked("submit", {"name": "w", "tasks": [{}]}), "submit: tasks[0].id is missing"),
    (asked("submit", {"name": "w", "task": []}), "submit: there is no task; did you mean tasks?"),
    (
        asked("submit", {"name": "w" * 129, "tasks": []}),
        "submit: name must be a text of at most 128 characters",
    ),
    (
        asked("submit", {"name": "w", "priority": "high", "tasks": []}),
        "submit: priority cannot be 'high': choose low or interactive",
    ),
    (
        asked("submit", {"name": "w", "priority": 101, "tasks": []}),
        "submit: priority must be a whole number of at most 100",
    ),
    (
        asked("submit", {"name": "w", "priority": 1.5, "tasks": []}),
        "submit: priority must be a whole number or a text, not a number",
    ),
    (task(id="a/b"), "submit: tasks[0].id must be a text without a slash, and not empty"),
    (task(id="a\nb", x=1), "submit: there is no x in tasks[0]"),
    (task(program=1), "submit: tasks[0].program must be a text, not a whole number"),
    (task(expected_s=-1), "submit: tasks[0].expected_s must be a number of at least 0"),
    (task(expected_s="1h"), "submit: tasks[0].expected_s must be a number, not a text"),
    (task(failures_max=0), "submit: tasks[0].failures_max must be a whole number of at least 1"),
    (
        task(failures_max=True),
        "submit: tasks[0].failures_max must be a whole number, not true or false",
    ),
    (task(gate="yes"), "submit: tasks[0].gate must be true or false, not a text"),
    (task(inputs=["b"]), "submit: tasks[0].inputs[0] must be an object, not a text"),
    (task(inputs=[{}]), "submit: tasks[0].inputs[0].task is missing"),
    (
        task(inputs=[{"task": "b", "output": 10_000}]),
        "submit: tasks[0].inputs[0].output must be a whole number of at most 9999",
    ),
    (
        task(raw=[{"dataset": ""}]),
        "submit: tasks[0].raw[0].dataset must be a text of at least 1 character",
    ),
    (task(requirements={"gpu": 1}), "submit: there is no gpu in tasks[0].requirements"),
    (
        task(requirements={"cores": 0.5}),
        "submit: tasks[0].requirements.cores must be a whole number, not a number",
    ),
    (
        task(parameters="x" * 65_537),
        "submit: tasks[0].parameters must be a text of at most 65536 characters",
    ),
    (task(parameters=[]), "submit: tasks[0].parameters must be a text, not a list"),
    (asked("cancel", {"tasks": []}), "cancel: workflow is missing"),
    (asked("cancel", {"workflow": "w", "tasks": "a"}), "cancel: tasks must be a list, not a text"),
    (
        asked("retry", {"workflow": "w", "tasks": [1]}),
        "retry: tasks[0] must be a text, not a whole number",
    ),
    (asked("priority", {"workflow": "w"}), "priority: priority is missing"),
    (
        asked("priority", {"workflow": "w", "priority": -1}),
        "priority: priority must be a whole number of at least 0",
    ),
    (asked("gate", {}), "gate: task is missing"),
    (
        asked("gate", {"task": "a", "outputs": ["x"]}),
        "gate: outputs[0] must be an object, not a text",
    ),
    (
        asked("flock_create", {"name": ""}),
        "flock_create: name must be a text of at least 1 character",
    ),
    (asked("invite", {"uses": 0}), "invite: uses must be a whole number of at least 1"),
    (asked("invite", {"uses": 1_001}), "invite: uses must be a whole number of at most 1000"),
    (asked("invite", {"hours": 0}), "invite: hours must be a number greater than 0"),
    (asked("invite", {"hours": 9_000}), "invite: hours must be a number of at most 8760"),
    (asked("join", {"text": "wingbeat-"}), "join: there is no text"),
    (asked("ask", {"name": "moor"}), "ask: there is no name"),
    (asked("ask", {"flock": ""}), "ask: flock must be a text of at least 1 character"),
    (
        asked("confirm_ask", {"code": 418230}),
        "confirm_ask: code must be a text, not a whole number",
    ),
    (asked("admit", {"code": "418 230"}), "admit: request is missing"),
    (asked("refuse", {"request": 7}), "refuse: request must be a text, not a whole number"),
    (
        asked("appoint", {"member": "alder", "what": "founder"}),
        "appoint: what cannot be 'founder': choose administrator or keeper",
    ),
    (asked("pair", {"code": 7}), "pair: code must be a text, not a whole number"),
    (asked("unpair", {}), "unpair: member is missing"),
    (asked("meet", {}), "meet: tag is missing"),
    (asked("audit", {"limit": 0}), "audit: limit must be a whole number of at least 1"),
    (asked("check_audit", {"node": ""}), "check_audit: there is no node"),
    (asked("set_role", {"member": "alder"}), "set_role: role is missing"),
    (asked("recover", {"phrase": 9}), "recover: phrase must be a text, not a whole number"),
    (asked("new_phrase", {"old": ""}), "new_phrase: there is no old"),
    (asked("expel", {"member": 1}), "expel: member must be a text, not a whole number"),
    (
        asked("leave", {"even_as_last_keeper": 1}),
        "leave: even_as_last_keeper must be true or false, not a whole number",
    ),
    (asked("events", {"after": 5}), "events: after must be an object or null, not a whole number"),
    (asked("events", {"after": {"log": "x"}}), "events: after.sequence is missing"),
    (
        asked("events", {"after": {"log": "x", "sequence": -1}}),
        "events: after.sequence must be a whole number of at least 0",
    ),
    (asked("stop", {"reason": None}), "stop: reason must be a text, not null"),
    (asked("stop", {"when": "now"}), "stop: there is no when"),
]

CASES = [*ENVELOPES, *((line, 7, PARAMS, sentence) for line, sentence in PARAMETERS)]


@pytest.mark.parametrize(("line", "request_id", "code", "sentence"), CASES)
async def test_what_is_said_wrongly_is_answered_with_one_sentence(
    there: Serving, client: LineClient, line: bytes, request_id: object, code: int, sentence: str
) -> None:
    client.send(line)
    told = await client.heard()
    assert told["error"] == {"code": code, "message": sentence}
    assert told["id"] == request_id
    await client.result("status")


def test_enough_ways_to_be_wrong_are_known() -> None:
    assert len({line for line, *_ in CASES}) >= 60
    assert len(LINES) >= 80


async def test_blank_lines_and_spaces_around_a_line_mean_nothing(client: LineClient) -> None:
    for line in ("", "\r", '  {"jsonrpc":"2.0","id":"tab","method":"status"}\t\r'):
        client.send(line)
    assert (await client.heard())["id"] == "tab"


SCHEDULE = "SCHEDULE program low|interactive [-p path] [-a task output]... [-x file]"
ONE_OF = "say one of PROVE, TOKEN, SCHEDULE, SUBSCRIBE, CANCEL, HELP, QUIT"
NEEDED = f"SCHEDULE needs a program and a priority: {SCHEDULE}"
NUMBER = "the output of -a is a number from 1"
ABSENT = "no machine that is seen has the program"
COPY = "SCHEDULE copy low"

LINES: list[tuple[str | bytes, str]] = [
    ("hello", f"there is no hello: {ONE_OF}"),
    ("status", f"there is no status: {ONE_OF}"),
    ("SHEDULE copy low", f"there is no SHEDULE: {ONE_OF}"),
    ("SCHEDULED copy", f"there is no SCHEDULED: {ONE_OF}"),
    ("PROGRESS 4", f"there is no PROGRESS: {ONE_OF}"),
    ("ERROR no", f"there is no ERROR: {ONE_OF}"),
    ("GET / HTTP/1.1", f"there is no GET: {ONE_OF}"),
    ("x" * 60, f"there is no {'x' * 40}: {ONE_OF}"),
    ("é", f"there is no é: {ONE_OF}"),
    ('""', f"the line says nothing: {ONE_OF}"),
    ("''", f"the line says nothing: {ONE_OF}"),
    ('"" SCHEDULE', f"the line says nothing: {ONE_OF}"),
    (b"SCHEDULE \xff low", "the line is not UTF-8 (byte 9)"),
    (b"\xc3\x28", "the line is not UTF-8 (byte 0)"),
    (b"\xff\xfb\x1f", "the line is not UTF-8 (byte 0)"),
    ("\x00\x01", "the line has a character that cannot be seen (code 0)"),
    ("CANCEL \x1b[2J", "the line has a character that cannot be seen (code 27)"),
    ("CANCEL a\u202eb", "the line has a character that cannot be seen (code 8238)"),
    ("SUBSCRIBE a\x7f", "the line has a character that cannot be seen (code 127)"),
    ('CANCEL "a', "a quotation mark is not closed"),
    ("SCHEDULE 'copy low", "a quotation mark is not closed"),
    ("a " * 4_097, "the line has more than 4096 words"),
    ("TOKEN", "TOKEN takes one word behind it: TOKEN token"),
    ("TOKEN a b", "TOKEN takes one word behind it: TOKEN token"),
    ('TOKEN ""', "TOKEN takes one word behind it: TOKEN token"),
    ("HELP me", "HELP takes nothing behind it: HELP"),
    ("HELP SCHEDULE", "HELP takes nothing behind it: HELP"),
    ("QUIT now", "QUIT takes nothing behind it: QUIT"),
    ("SUBSCRIBE", "SUBSCRIBE names no task: SUBSCRIBE task..."),
    ("subscribe", "SUBSCRIBE names no task: SUBSCRIBE task..."),
    ("SUBSCRIBE nothing", 'no task is called "nothing"'),
    ("SUBSCRIBE mergee", 'no task is called "mergee"; did you mean merge?'),
    ("SUBSCRIBE survey/nothing", 'no task of survey is called "nothing"'),
    ("SUBSCRIBE nowhere/copy", 'no workflow is called "nowhere"'),
    ("SUBSCRIBE copy nothing", 'no task is called "nothing"'),
    (
        "SUBSCRIBE twin",
        '"twin" may mean the tasks survey/twin-one, survey/twin-two: write more of it',
    ),
    ("CANCEL", "CANCEL takes one word behind it: CANCEL task"),
    ("CANCEL a b", "CANCEL takes one word behind it: CANCEL task"),
    ('CANCEL ""', "CANCEL takes one word behind it: CANCEL task"),
    ("CANCEL nothing", 'no task is called "nothing"'),
    ("CANCEL 00000000-0000-0000-0000-000000000000", 'no task is called "00000000-0000-0000-0000-000000000000"'),
    ("CANCEL survey/", '"" may mean the tasks survey/check, survey/copy, survey/merge, survey/spare or others: write more of it'),
    ("SCHEDULE", NEEDED),
    ("SCHEDULE copy", NEEDED),
    ('SCHEDULE "" low', NEEDED),
    ("SCHEDULE -p /tmp low", NEEDED),
    ("SCHEDULE -x low", NEEDED),
    ("SCHEDULE copy high", f'the priority is low or interactive, not "high": {SCHEDULE}'),
    ("SCHEDULE copy LOW", f'the priority is low or interactive, not "LOW": {SCHEDULE}'),
    ("SCHEDULE copy 50", f'the priority is low or interactive, not "50": {SCHEDULE}'),
    ("SCHEDULE copy -p low", f'the priority is low or interactive, not "-p": {SCHEDULE}'),
    ('SCHEDULE copy ""', f'the priority is low or interactive, not "": {SCHEDULE}'),
    ("SCHEDULE low copy", f'the priority is low or interactive, not "copy": {SCHEDULE}'),
    (f"{COPY} now", f'SCHEDULE knows no "now": {SCHEDULE}'),
    (f"{COPY} -i 4", f'SCHEDULE knows no "-i": {SCHEDULE}'),
    (f"{COPY} -P /tmp", f'SCHEDULE knows no "-P": {SCHEDULE}'),
    (f"{COPY} --help", f'SCHEDULE knows no "--help": {SCHEDULE}'),
    (f'{COPY} ""', f'SCHEDULE knows no "": {SCHEDULE}'),
    (f"{COPY} -p", f"-p needs a word behind it: {SCHEDULE}"),
    (f'{COPY} -p ""', f"-p needs a word behind it: {SCHEDULE}"),
    (f"{COPY} -p a -p b", f"-p stands twice: {SCHEDULE}"),
    (f"{COPY} -p {'x' * 257}", "-p is longer than 256 characters"),
    (f"{COPY} -x", f"-x needs a word behind it: {SCHEDULE}"),
    (f"{COPY} -x /nowhere/a -x /nowhere/b", f"-x stands twice: {SCHEDULE}"),
    (f"{COPY} -x parameters.xml", '-x takes a whole path, not "parameters.xml": the agent is in another folder'),
    (f"{COPY} -x /nowhere/p.xml", "/nowhere/p.xml cannot be read: No such file or directory"),
    (f"{COPY} -a", f"-a needs a task and the number of its output: {SCHEDULE}"),
    (f"{COPY} -a copy", f"-a needs a task and the number of its output: {SCHEDULE}"),
    (f'{COPY} -a "" 1', f"-a needs a task and the number of its output: {SCHEDULE}"),
    (f"{COPY} -a copy one", f'{NUMBER}, not "one"'),
    (f"{COPY} -a copy -1", f'{NUMBER}, not "-1"'),
    (f"{COPY} -a copy 1.5", f'{NUMBER}, not "1.5"'),
    (f"{COPY} -a copy ²", f'{NUMBER}, not "²"'),
    (f"{COPY} -a copy 0", f"{NUMBER} to 10000, not 0"),
    (f"{COPY} -a copy 10001", f"{NUMBER} to 10000, not 10001"),
    (f"{COPY} -a copy 123456789", f'{NUMBER}, not "123456789"'),
    (f"{COPY} -a nothing 1", 'no task is called "nothing"'),
    (f"{COPY} -a copy 1 -a nothing 1", 'no task is called "nothing"'),
    (f"{COPY} -a survey/no 1", 'no task of survey is called "no"'),
    ("SCHEDULE cpy low", f'{ABSENT} "cpy"; did you mean copy?'),
    ("SCHEDULE import low", f'{ABSENT} "import"'),
    ("SCHEDULE ../copy low", f'{ABSENT} "../copy"; did you mean copy?'),
    ("schedule Copy interactive", f'{ABSENT} "Copy"; did you mean copy?'),
    ('SCHEDULE "copy low"', NEEDED),
]  # fmt: skip


@pytest.mark.parametrize(("line", "sentence"), LINES)
async def test_a_line_typed_wrongly_is_answered_with_one_sentence(
    there: Serving, client: LineClient, line: str | bytes, sentence: str
) -> None:
    told = workflow()
    told["tasks"] += [{"id": name, "program": "copy"} for name in ("twin-one", "twin-two")]
    await client.result("submit", told)
    client.send(line)
    assert (await client.line()).decode() == f"ERROR {sentence}"
    await client.result("status")
    assert [each.spec.name for each in there.node.table.workflows.values()] == ["survey"]


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"<a>\xff</a>", "is not UTF-8 (byte 3)"), (b" " * 65_537, "is larger than 65536 bytes")],
)
async def test_parameters_that_are_no_text_or_too_many_are_refused(
    client: LineClient, tmp_path: Path, content: bytes, told: str
) -> None:
    file = tmp_path / "parameters.xml"
    file.write_bytes(content)
    client.send(f"{COPY} -x {file}")
    assert await client.line() == f"ERROR {file} {told}".encode()
