"""The bounds of every agent's client protocol, as they are, at their boundary."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import pytest

from agent.api.rpc import ErrorCode
from agent.control.text_session import TextError, read_line, read_schedule
from tests.control.serving import LineClient, Serving, greeted, id_of, stranger
from tests.hosts.waiting import eventually


def asked(method: str, request_id: object, params: object) -> str:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message)


@pytest.mark.parametrize(("length", "code"), [(4_096, None), (4_097, ErrorCode.TOO_LONG)])
async def test_how_much_a_stranger_may_say(there: Serving, length: int, code: int | None) -> None:
    line = asked("hello", 1, {"token": there.control["token"]})
    async with stranger(there) as client:
        client.send(line.ljust(length))
        assert (await client.heard()).get("error", {}).get("code") == code


async def test_how_many_clients_there_may_be(there: Serving) -> None:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(greeted(there)) for _ in range(32)]
        async with stranger(there) as late:
            assert (await late.heard())["error"] == {
                "code": ErrorCode.TOO_MANY,
                "message": "32 clients are connected, which is all there may be",
            }
            assert await late.line() == b""
        for each in clients:
            await each.result("status")


async def test_one_account_takes_no_place_of_another(
    there: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a service takes all of a machine: neither those of clients nor of who has not greeted."""
    account = [1]
    monkeypatch.setattr("agent.control.server.account_of", lambda _: account[0])
    async with AsyncExitStack() as stack:
        quiet = await stack.enter_async_context(stranger(there))
        await _arrived(there, 1)
        account[0] = 2
        loud = [await stack.enter_async_context(stranger(there)) for _ in range(16)]
        told = await loud[0].heard()
        assert told["params"] == {"reason": "too many others connect at this moment"}
        await quiet.result("hello", {"token": there.control["token"]})
        for _ in range(32):
            await stack.enter_async_context(greeted(there))
        async with stranger(there) as late:
            assert (await late.heard())["error"]["code"] == ErrorCode.TOO_MANY
        account[0] = 1
        async with greeted(there) as client:
            await client.result("status")
        for account[0] in (3, 4, 5):
            for _ in range(32 if account[0] < 5 else 31):
                await stack.enter_async_context(greeted(there))
        account[0] = 6
        async with stranger(there) as late:
            assert "128 clients" in (await late.heard())["error"]["message"]


async def _arrived(there: Serving, strangers: int) -> None:
    await eventually(lambda: len(there.server._connections) == strangers)


async def test_how_many_may_say_nothing(there: Serving) -> None:
    async with AsyncExitStack() as stack:
        waiting = [await stack.enter_async_context(stranger(there)) for _ in range(16)]
        client = await stack.enter_async_context(greeted(there))
        told = await waiting[0].heard()
        assert told["params"] == {"reason": "too many others connect at this moment"}
        await waiting[1].refusal("status")
        await client.result("status")


async def test_how_many_questions_are_worked_on_at_once(there: Serving, client: LineClient) -> None:
    """A client with as many open that wait is heard again when one has its answer."""
    there.node.held.clear()
    task = [{"id": "a", "program": "copy"}]
    for number in range(31):
        client.send(asked("submit", number, {"name": f"w{number}", "tasks": task}))
    assert "result" in await client.ask("status", request_id="last but one")
    client.send(asked("submit", 31, {"name": "w31", "tasks": task}))
    client.send(asked("status", "waits", {}))
    async with greeted(there) as other:
        await other.result("status")
    there.node.held.set()
    assert [(await client.heard())["id"] for _ in range(33)] == [*range(32), "waits"]


# -- lines of text -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("SUBSCRIBE" + " a" * 4_095, ""),
        ("SUBSCRIBE" + " a" * 4_096, "the line has more than 4096 words"),
        ("SCHEDULE p low -a t 1", ""),
        ("SCHEDULE p low -a t 10000", ""),
        ("SCHEDULE p low -a t 10001", "the output of -a is a number from 1 to 10000, not 10001"),
        ("SCHEDULE p low -a t 0", "the output of -a is a number from 1 to 10000, not 0"),
        ("SCHEDULE p low -a t 000001", 'the output of -a is a number from 1, not "000001"'),
        ("SCHEDULE p low -a t", "-a needs a task and the number of its output: "),
        ("SCHEDULE p low -a '' 1", "-a needs a task and the number of its output: "),
        ("SCHEDULE p", "SCHEDULE needs a program and a priority: "),
        ("SCHEDULE '' low", "SCHEDULE needs a program and a priority: "),
        ("SCHEDULE -p low", "SCHEDULE needs a program and a priority: "),
        ("SCHEDULE p high", 'the priority is low or interactive, not "high": '),
        ("SCHEDULE p low -p", "-p needs a word behind it: "),
        ("SCHEDULE p low -p ''", "-p needs a word behind it: "),
        ("SCHEDULE p low -p a -p b", "-p stands twice: "),
        ("SCHEDULE p low -x a -x b", "-x stands twice: "),
        ("SCHEDULE p low -z", 'SCHEDULE knows no "-z": '),
        ("TOKEN", "TOKEN takes one word behind it: "),
        ("TOKEN a b", "TOKEN takes one word behind it: "),
        ("CANCEL ''", "CANCEL takes one word behind it: "),
        ("SUBSCRIBE", "SUBSCRIBE names no task: "),
        ("QUIT now", "QUIT takes nothing behind it: "),
        ("help", ""),
        ("HELP me", "HELP takes nothing behind it: "),
        ("SING", "there is no SING: say one of PROVE, TOKEN, "),
        ("SUBSCRIBE 'a", "a quotation mark is not closed"),
        ("CANCEL a\tb", "CANCEL takes one word behind it: "),
        ("CANCEL a\x07", "the line has a character that cannot be seen (code 7)"),
        ("''", "the line says nothing: "),
        ("CANCEL it\\s", ""),
        ("CANCEL #1", ""),
    ],
)
def test_what_a_line_may_say(line: str, fault: str) -> None:
    assert said(line).startswith(fault)
    assert bool(said(line)) is bool(fault)


def said(line: str) -> str:
    try:
        verb, told = read_line(line.encode())
        if verb == "SCHEDULE":
            read_schedule(told)
    except TextError as error:
        return str(error)
    return ""


async def test_who_says_no_more_still_gets_the_answer(there: Serving, client: LineClient) -> None:
    """A script that was piped in."""
    there.node.held.clear()
    told = {"name": "w", "key": "k", "tasks": [{"id": "a", "program": "copy"}]}
    client.send(asked("submit", 7, told))
    client.writer.write_eof()
    await there.node.wished.wait()
    async with greeted(there) as other:
        for _ in range(20):
            await other.result("status")
        assert there.server.clients == 2
    there.node.held.set()
    answer = await client.heard()
    assert (answer["id"], answer["result"]["workflow"]) == (7, id_of(told))
    assert await client.line() == b""
