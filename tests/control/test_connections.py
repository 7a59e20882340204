"""Who is let in, how much a client may take, and how it is told what it lost."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent.api.rpc import ErrorCode
from agent.control.event_log import EventLog
from agent.control.limits import Limits
from agent.protocol.effects import WorkflowSafe
from tests.control.serving import (
    WITHIN_S,
    LineClient,
    Serving,
    greeted,
    serving,
    stranger,
    workflow,
)

TIGHT = Limits(
    connections_max=2,
    strangers_max=2,
    greeting_bytes_max=200,
    greeting_s_max=WITHIN_S,
    line_bytes_max=2_000,
    pending_max=3,
    output_bytes_high=10_000,
    unread_s_max=WITHIN_S,
    closing_s_max=WITHIN_S,
    events_max=50,
    events_recent_s=0,
    events_bytes_max=100_000,
)
SAFE = WorkflowSafe("w" * 100)
EVENT_LINE = b"x" * 200
SOCKET_BYTES_MAX = 16 * 1024 * 1024
"""More than the system keeps for a connection that is not read, both its ends together."""
TURN = 40
tightly = pytest.mark.parametrize("there", [{"limits": TIGHT}], indirect=True)
"""Of a server with these limits."""


def status(request_id: int) -> bytes:
    """The smallest question."""
    return b'{"jsonrpc":"2.0","id":%d,"method":"status"}' % request_id


@pytest.mark.skipif(sys.platform == "win32", reason="Windows guards the folder")
async def test_the_control_file_is_its_owners_and_goes_with_the_server(tmp_path: Path) -> None:
    path = tmp_path / "control.json"
    async with serving(tmp_path) as there:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert there.control["place"] == there.server.place
        assert there.control["port"] == there.server.port == 0
        assert there.control["process"] == os.getpid()
    assert not path.exists()


async def test_a_later_agents_control_file_is_left_alone(tmp_path: Path) -> None:
    async with serving(tmp_path), serving(tmp_path) as later:
        token = later.control["token"]
        written = (tmp_path / "control.json").read_bytes()
    assert token.encode() in written


def refusal(request_id: str, code: int, message: str) -> bytes:
    """A refusal as it is on the wire."""
    error = b'{"code":%d,"message":"%s"}' % (code, message.encode())
    return b'{"id":%s,"error":%s,"jsonrpc":"2.0"}' % (request_id.encode(), error)


def hello(params: str) -> bytes:
    """A greeting as it is on the wire."""
    return b'{"jsonrpc":"2.0","id":1,"method":"hello","params":%s}' % params.encode()


HELLO_FIRST = "say hello first, with the token from control.json"
WRONG_TOKEN = "the token is not the one of this start of the agent: read control.json again"
CUT_SHORT = "the line is not JSON: input data was truncated"


@tightly
@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"GET / HTTP/1.1", b"ERROR say TOKEN first, with what `wingbeat telnet` tells"),
        (status(1), refusal("1", ErrorCode.UNAUTHORISED, HELLO_FIRST)),
        (hello('{"token":"wrong"}'), refusal("1", ErrorCode.UNAUTHORISED, WRONG_TOKEN)),
        (hello('{"token":"ü"}'), refusal("1", ErrorCode.UNAUTHORISED, WRONG_TOKEN)),
        (hello("{}"), refusal("1", ErrorCode.WRONG_PARAMETERS, "hello: token is missing")),
        (b"{", refusal("null", ErrorCode.NOT_JSON, CUT_SHORT)),
        (b"{" * 300, refusal("null", ErrorCode.TOO_LONG, "the line is longer than 200 bytes")),
    ],
)
async def test_a_stranger_gets_one_answer_and_no_more(
    there: Serving, line: bytes, answer: bytes
) -> None:
    async with stranger(there) as client:
        client.send(line)
        client.send(status(2))
        assert [await client.line(), await client.line()] == [answer, b""]


@pytest.mark.parametrize("there", [{"limits": replace(TIGHT, greeting_s_max=0.2)}], indirect=True)
async def test_who_says_nothing_is_not_waited_for(there: Serving) -> None:
    async with stranger(there) as client:
        assert (await client.heard())["params"] == {"reason": "no hello came within 0.2 seconds"}
        assert await client.line() == b""


LASTING = replace(TIGHT, events_max=10_000, events_bytes_max=2**24)


@tightly
async def test_a_line_too_long_is_skipped_and_the_next_one_heard(
    there: Serving, client: LineClient
) -> None:
    for length in (2_001, 5_000, 300_000):
        client.send(b"{" + b" " * (length - 1))
        client.send(status(length))
        told = await client.heard()
        assert told["error"] == {
            "code": ErrorCode.TOO_LONG,
            "message": "the line is longer than 2000 bytes",
        }
        assert (await client.heard())["id"] == length
    client.send(status(1) + b" " * (2_000 - len(status(1))))
    assert "result" in await client.heard()


@asynccontextmanager
async def asleep(there: Serving) -> AsyncIterator[tuple[LineClient, int]]:
    """A client that follows events after this number and then does not read."""
    async with stranger(there, 1_000) as client:
        await client.result("hello", {"token": there.control["token"]})
        yield client, (await client.result("events"))["position"]["sequence"]


async def happen(there: Serving, count: int) -> None:
    """So many events, and a turn of the loop for those who tell them."""
    for _ in range(count):
        there.node.tell(SAFE)
    await asyncio.sleep(0)


async def rest_of(client: LineClient) -> list[bytes]:
    async with asyncio.timeout(WITHIN_S):
        return (await client.reader.read(-1)).splitlines()


@pytest.mark.parametrize("there", [{"limits": replace(TIGHT, unread_s_max=0.2)}], indirect=True)
async def test_who_reads_nothing_is_cut_off_and_told_why(there: Serving) -> None:
    async with asleep(there) as (client, _):
        async with asyncio.timeout(WITHIN_S):
            while there.server.clients:
                await happen(there, TURN)
        *_, last = await rest_of(client)
    assert json.loads(last)["params"] == {"reason": "you read nothing for 0.2 seconds"}


@tightly
async def test_who_reads_too_slowly_is_cut_off_and_told_why(there: Serving) -> None:
    async with asleep(there) as (client, start):
        for _ in range(SOCKET_BYTES_MAX // (TURN * len(EVENT_LINE))):
            await happen(there, TURN)
        *events, last = await rest_of(client)
    known = start + len(events)
    assert json.loads(events[-1])["params"]["sequence"] == known
    assert json.loads(last)["params"] == {
        "reason": f"you read too slowly: the events after {known} are forgotten"
    }


@pytest.mark.parametrize("there", [{"limits": LASTING}], indirect=True)
async def test_a_reader_that_wakes_up_gets_all_events_in_order(there: Serving) -> None:
    async with asleep(there) as (client, start):
        for _ in range(9_000):
            there.node.tell(SAFE)
        for number in range(start + 1, start + 9_001):
            assert (await client.heard())["params"]["sequence"] == number


@tightly
async def test_a_client_that_was_away_gets_what_it_missed(there: Serving) -> None:
    async with greeted(there) as client:
        position = (await client.result("status"))["position"]
        await client.result("submit", workflow())
    async with greeted(there) as client:
        await client.result("events", {"after": position})
        there.node.tell(SAFE)
        events = [(await client.heard())["params"] for _ in range(5)]
    first = position["sequence"] + 1
    assert [each["sequence"] for each in events] == list(range(first, first + 5))
    assert [each["happening"]["type"] for each in events] == [
        *["task moved"] * 4,
        "workflow safe",
    ]


@tightly
async def test_events_that_are_lost_are_said_to_be(there: Serving, client: LineClient) -> None:
    position = (await client.result("status"))["position"]
    for _ in range(60):
        there.node.tell(SAFE)
    start = position["sequence"]
    code, sentence = await client.refusal("events", {"after": position})
    assert code == ErrorCode.EVENTS_LOST
    assert sentence == (
        f"the events after {start} are remembered only from {start + 11} on: read what "
        f"you show again and subscribe from there"
    )
    kept = {**position, "sequence": start + 10}
    await client.result("events", {"after": kept})
    assert (await client.heard())["params"]["sequence"] == start + 11


async def test_a_client_is_told_that_no_more_events_come_as_the_agent_failed(
    there: Serving, client: LineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.result("events")
    monkeypatch.setattr(EventLog, "lines_after", lambda *_, **__: 1 // 0)
    there.node.tell(SAFE)
    assert (await client.heard())["params"] == {"reason": "the agent failed; its log says more"}
    assert await client.line() == b""


async def test_subscribing_again_tells_nothing_twice(there: Serving, client: LineClient) -> None:
    await client.result("events")
    there.node.tell(SAFE)
    first = await client.heard()
    await client.result("events")
    there.node.tell(SAFE)
    second = await client.heard()
    assert second["params"]["sequence"] == first["params"]["sequence"] + 1


async def test_everybody_is_told_when_the_agent_stops(there: Serving, client: LineClient) -> None:
    place = there.server.place
    stopping = asyncio.create_task(there.server.stop())
    assert (await client.heard())["params"] == {"reason": "the agent is stopping"}
    assert await client.line() == b""
    client.writer.close()
    await stopping
    with pytest.raises(FileNotFoundError):
        await asyncio.open_unix_connection(place)


async def test_everybody_is_told_also_where_the_control_file_stays(
    there: Serving, client: LineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as change:
        stays = Mock(side_effect=PermissionError("it stays"))
        change.setattr("agent.control.server.remove_control_file", stays)
        stopping = asyncio.create_task(there.server.stop())
        assert (await client.heard())["params"] == {"reason": "the agent is stopping"}
        assert await client.line() == b""
        client.writer.close()
        with pytest.raises(PermissionError):
            await stopping
