"""The bounds of every agent's client protocol, as they are, at their boundary."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from agent.api.rpc import ErrorCode
from agent.control.text_words import TextError, read_line
from tests.control.serving import LineClient, Serving, greeted, serving, stranger


@asynccontextmanager
async def many(
    there: Serving, count: int, client: Callable[[Serving], object]
) -> AsyncIterator[list[LineClient]]:
    """So many clients at once."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(client(there)) for _ in range(count)]  # type: ignore[arg-type]


def run(folder: Path, scene: Callable[[Serving], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with serving(folder) as there:
            await scene(there)

    asyncio.run(scenario())


@pytest.mark.parametrize(("length", "code"), [(4_096, None), (4_097, ErrorCode.TOO_LONG)])
async def test_how_much_a_stranger_may_say(there: Serving, length: int, code: int | None) -> None:
    token = there.control["token"]
    line = f'{{"jsonrpc": "2.0", "id": 1, "method": "hello", "params": {{"token": "{token}"}}}}'
    async with stranger(there) as client:
        client.send(line.ljust(length))
        answer = await client.heard()
        assert answer.get("error", {}).get("code") == code


async def test_how_many_clients_there_may_be(there: Serving) -> None:
    async with many(there, 32, greeted):
        assert there.server.clients == 32
        async with stranger(there) as late:
            told = (await late.heard())["error"]
            assert told["code"] == ErrorCode.TOO_MANY
            assert told["message"] == "32 clients are connected, which is all there may be"


async def test_how_many_may_say_nothing(there: Serving) -> None:
    async with many(there, 16, stranger) as waiting, greeted(there) as client:
        assert (await waiting[0].heard())["params"]["reason"] == (
            "too many others connect at this moment"
        )
        await waiting[1].refusal("status")
        await client.result("status")


async def test_how_many_questions_are_worked_on_at_once(there: Serving) -> None:
    """A client with as many open that wait is heard again when one has its answer."""

    async def send(client: LineClient, method: str, params: object, request_id: object) -> None:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        client.send(json.dumps(message))

    async with greeted(there) as client, greeted(there) as other:
        there.node.held.clear()
        task = [{"id": "a", "program": "copy"}]
        for number in range(31):
            params = {"name": f"w{number}", "tasks": task}
            await send(client, "submit", params, number)
        assert "result" in await client.ask("status", request_id="last but one")
        await send(client, "submit", {"name": "w31", "tasks": task}, 31)
        await send(client, "status", {}, "waits")
        await other.result("status")
        there.node.held.set()
        answers = [(await client.heard())["id"] for _ in range(33)]
        assert set(answers) == {*range(32), "waits"}


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
        ("SING", "there is no SING: say one of TOKEN, "),
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
        read_line(line.encode())
    except TextError as error:
        return str(error)
    return ""


async def test_who_says_no_more_still_gets_the_answer(there: Serving) -> None:
    """A script that was piped in."""
    async with greeted(there) as client:
        there.node.held.clear()
        task = {"id": "a", "program": "copy"}
        params = {"name": "w", "tasks": [task]}
        message = {"jsonrpc": "2.0", "id": 7, "method": "submit", "params": params}
        client.send(json.dumps(message))
        client.writer.write_eof()
        await there.node.wished.wait()
        async with greeted(there) as other:
            for _ in range(20):
                await other.result("status")
            assert there.server.clients == 2
        there.node.held.set()
        assert (await client.heard())["id"] == 7
        assert await client.line() == b""
