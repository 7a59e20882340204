"""Another member answers: a whole conversation passed on, single questions, and logs from there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs, to_builtins

from agent.api.rpc import ErrorCode
from agent.api.session import Welcome
from agent.api.values import Capabilities, Position
from agent.control import members
from agent.control.naming import task_id
from agent.paths import TASK_LOGS, task_log
from agent.protocol.records import Claim, Life, Run, Running, TaskLife
from agent.storage.kept_logs import Kept
from tests.control.serving import (
    SURVEY,
    WITHIN_S,
    LineClient,
    Serving,
    greeted,
    serving,
    stranger,
    workflow,
)
from tests.control.surface import ALDER, NODE

COPY = task_id(SURVEY, "copy")
Arrived = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Two]:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    async with (
        serving(tmp_path / "there") as there,
        serving(tmp_path / "here") as here,
        listening(here, taking(there)),
        stranger(here, 2**20) as client,
    ):
        yield Two(here, there, client)


def taking(there: Serving) -> Arrived:
    """A member that takes birch for one."""
    return lambda *streams: there.server.serve_member("birch", NODE, *streams)


@pytest.mark.parametrize("name", ["birch", NODE, "bir"])
async def test_this_node_answers_itself(two: Two, name: str) -> None:
    await two.client.result("hello", greeting(two.here, name))
    two.here.node.handle_submission(workflow("own"))
    status = await two.client.result("status")
    assert [each["name"] for each in status["workflows"]] == ["own"]


@dataclass
class Two:
    """The node of the client, and another that takes it for a member."""

    here: Serving
    there: Serving
    client: LineClient


@asynccontextmanager
async def listening(here: Serving, arrived: Arrived) -> AsyncIterator[list[asyncio.StreamWriter]]:
    """Alder is whoever answers so."""
    writers: list[asyncio.StreamWriter] = []

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await arrived(reader, writer)

    server = await asyncio.start_server(taken, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    here.node.elsewhere["aldernode"] = port
    try:
        yield writers
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await server.wait_closed()


def greeting(serving: Serving, node: str) -> dict[str, str]:
    return {"token": serving.control["token"], "client": "test", "node": node}


async def test_owners_are_asked_again_where_what_waits_is_not_allowed(two: Two) -> None:
    """Cedar is off, and elm's owner has allowed it."""
    await two.client.result("hello", greeting(two.here, "birch"))
    folder = {"dataset": "tree:" + "1" * 64}
    task = {"id": "count", "program": "count@1", "published": folder}
    await two.client.result("submit", {"name": "w", "tasks": [task]})
    bare, able = Capabilities(), Capabilities(programs=("count@1",))
    two.here.node.known = replace(
        two.here.node.known,
        peers=tuple(
            structs.replace(ALDER, node=f"{name}node", name=name, capabilities=each)
            for name, each in (("alder", bare), ("cedar", bare), ("elm", able))
        ),
    )
    asked = await two.client.result("ask_owners", {"workflow": "w"})
    assert asked == {"asked": ["alder"], "silent": ["cedar"]}
    two.there.node.published.asked = None
    asked = await two.client.result("ask_owners", {"workflow": "w"})
    assert asked == {"asked": [], "silent": ["alder", "cedar"]}


@pytest.mark.parametrize("name", ["alder", "aldernode", "ald"])
async def test_a_conversation_is_passed_on_until_it_ends(two: Two, name: str) -> None:
    two.there.node.handle_submission(workflow("elsewhere"))
    welcome = await two.client.result("hello", greeting(two.here, name))
    assert welcome["position"] == await position(two.there)
    status = await two.client.result("status")
    assert [each["name"] for each in status["workflows"]] == ["elsewhere"]
    assert await two.client.refusal("stop") == (
        ErrorCode.UNAUTHORISED,
        "stop is for the account that runs the agent of birch, on that machine",
    )
    await two.client.result("events")
    two.there.node.handle_submission(workflow("later"))
    told = await two.client.heard()
    assert told["params"]["happening"]["workflow_name"] == "later"
    await two.there.server.stop("the machine is switched off")
    assert await last_words(two.client) == [
        "the machine is switched off",
        "alder ended the connection",
    ]


async def last_words(client: LineClient) -> list[str]:
    """Why it ends; events that are still on their way are passed over."""
    reasons: list[str] = []
    while line := await client.line():
        params = json.loads(line)["params"]
        reasons += [params["reason"]] if "reason" in params else []
    return reasons


async def position(serving: Serving) -> dict[str, Any]:
    async with greeted(serving) as other:
        return dict((await other.result("events"))["position"])


@pytest.mark.parametrize(
    ("name", "code", "sentence"),
    [
        ("elm", ErrorCode.UNKNOWN, "elm was sent away from the flock on "),
        ("elmnode", ErrorCode.UNKNOWN, "elm was sent away from the flock on "),
        ("oak", ErrorCode.UNKNOWN, "oaknode left the flock on "),
        ("nobody", ErrorCode.UNKNOWN, 'no member is called "nobody"'),
        ("cedarnode", ErrorCode.REFUSED, "cedarnode cannot be asked: it is switched off"),
    ],
)
async def test_who_cannot_be_asked(two: Two, name: str, code: int, sentence: str) -> None:
    known = two.here.node.known
    left = structs.replace(known.departures[0], node="oak", name="oaknode", expelled=False)
    two.here.node.known = replace(known, departures=(*known.departures, left))
    told = await two.client.refusal("hello", greeting(two.here, name))
    assert (told[0], told[1][: len(sentence)]) == (code, sentence)


async def test_a_member_that_left_and_came_back_is_asked(two: Two) -> None:
    known = two.here.node.known
    left = structs.replace(known.departures[0], node="aldernode", name="alder")
    two.here.node.known = replace(known, departures=(left,))
    await two.client.result("hello", greeting(two.here, "alder"))


async def test_whoever_was_sent_away_asks_nobody(two: Two) -> None:
    flock = two.here.node.known.flock
    assert flock is not None
    away = replace(flock, expelled=True)
    two.here.node.known = replace(two.here.node.known, flock=away)
    code, sentence = await two.client.refusal("hello", greeting(two.here, "alder"))
    assert (code, sentence.partition(":")[0]) == (
        ErrorCode.NO_FLOCK,
        "this machine was sent away from meadow",
    )


async def test_what_a_member_says_is_passed_on_no_further(two: Two) -> None:
    streams = await two.here.node.reach("aldernode")
    client = LineClient(*streams)
    told = await client.refusal("hello", {"token": "", "node": "cedar"})
    assert told == (
        ErrorCode.UNAUTHORISED,
        "a machine passes on what its own clients say, and nobody else's",
    )
    client.writer.close()
    text = LineClient(*await two.here.node.reach("aldernode"))
    text.send("TOKEN x")
    assert await text.line() == (
        b"ERROR lines of text are for clients of the same account: send JSON-RPC"
    )
    assert await text.line() == b""
    text.writer.close()


def saying(*answer: str) -> Arrived:
    """Hears a line, answers so and ends."""

    async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        for line in answer:
            writer.write(line.encode() + b"\n")
        writer.close()

    return arrived


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


ENDED = (
    "ended the conversation before it began: its agent is stopping, or does not take this "
    "machine for a member; its log says which"
)
STRANGE = "answers in a way that this version does not understand: update both"
NO = {"jsonrpc": "2.0", "id": 0, "error": {"code": 2, "message": "not today"}}


@pytest.mark.parametrize(
    ("arrived", "sentence"),
    [
        (saying(), f"alder {ENDED}"),
        (saying("nonsense"), f"alder {STRANGE}"),
        (saying('{"jsonrpc": "2.0", "id": 0, "result": {}}'), f"alder {STRANGE}"),
        (saying(json.dumps(NO)), "alder: not today"),
        (silent, "alder took the call and said nothing for 0 s: look at its load"),
    ],
)
async def test_why_no_conversation_begins(
    tmp_path: Path, arrived: Arrived, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if arrived is silent:
        monkeypatch.setattr(members, "GREETING_S_MAX", 0.05)

    async with serving(tmp_path) as here, listening(here, arrived), stranger(here) as client:
        told = await client.refusal("hello", greeting(here, "alder"))
        assert told == (ErrorCode.REFUSED, sentence)
        assert await client.line() == b""


# -- the output of tasks -----------------------------------------------------------------------


def log_of(serving: Serving, text: bytes, attempt: int = 1) -> None:
    path = task_log(Path(serving.node.known.log_folder) / TASK_LOGS, COPY, 1, attempt)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


@pytest.mark.parametrize(
    ("text", "params", "shown", "next_offset"),
    [
        (b"hello", {}, "hello", 5),
        (b"hello", {"offset": 2}, "llo", 5),
        (b"hello", {"offset": 5}, "", 5),
        (b"hello", {"offset": 9}, "", 5),
        (b"hello", {"limit": 2}, "he", 2),
        ("aä".encode(), {"limit": 2}, "a", 1),
        ("aä".encode(), {"limit": 3}, "aä", 3),
        ("a€".encode(), {"limit": 3}, "a", 1),
        ("a😀".encode(), {"limit": 4}, "a", 1),
        ("a😀".encode(), {"limit": 5}, "a😀", 5),
        (b"\xffb", {}, "\ufffdb", 2),
        ("ä".encode(), {"limit": 1}, "\ufffd", 1),
        (b"a\x80\x80\x80\x80", {}, "a" + "\ufffd" * 4, 5),
    ],
)
async def test_what_a_running_task_has_said(
    there: Serving,
    client: LineClient,
    text: bytes,
    params: dict[str, int],
    shown: str,
    next_offset: int,
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    log_of(there, text)
    part = await client.result("task_log", {"task": "survey/copy", **params})
    assert (part["text"], part["next_offset"]) == (shown, next_offset)
    offset = min(params.get("offset", 0), len(text))
    assert (part["offset"], part["size_bytes"], part["over"]) == (offset, len(text), False)
    assert (part["host"], part["task"]) == ("birch", COPY)


async def test_the_log_of_a_run_that_ended_is_over_at_its_end(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    nothing = await client.result("task_log", {"task": "survey/copy"})
    assert (nothing["run"], nothing["text"], nothing["over"]) == ("", "", False)
    there.node.volunteer()
    there.node.fail(COPY)
    there.node.succeed(COPY)
    log_of(there, "old ä".encode()[:5], attempt=1)
    log_of(there, b"new", attempt=2)
    runs = (await client.result("runs", {"task": "survey/copy"}))["tasks"][0]["runs"]
    for run, text in ((runs[0]["run"], "old \ufffd"), (runs[1]["run"], "new"), ("", "new")):
        part = await client.result("task_log", {"task": "survey/copy", "run": run})
        assert (part["text"], part["over"]) == (text, True)
    some = await client.result("task_log", {"task": "survey/copy", "limit": 2})
    assert (some["text"], some["over"]) == ("ne", False)
    told = await client.refusal("task_log", {"task": "survey/copy", "run": "9.9"})
    known = ", ".join(each["run"] for each in runs)
    assert told == (ErrorCode.UNKNOWN, f'copy has no run "9.9"; its runs: {known}')


async def test_of_what_was_cancelled_before_it_ran_nothing_more_comes(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    await client.result("cancel", {"workflow": "survey"})
    part = await client.result("task_log", {"task": "survey/copy"})
    assert (part["run"], part["size_bytes"], part["over"]) == ("", 0, True)
    told = await client.refusal("task_log", {"task": "survey/copy", "run": "1"})
    assert told[1].endswith('has no run "1"; its runs: none')


async def test_who_waits_hears_of_the_first_run(there: Serving, client: LineClient) -> None:
    await client.result("submit", workflow())
    log_of(there, b"hello")
    async with greeted(there) as other:
        asked = asyncio.create_task(
            other.result("task_log", {"task": "survey/copy", "wait_s": 60.0})
        )
        await client.result("status")
        there.node.volunteer()
        assert (await asked)["text"] == "hello"
    short = {"task": "survey/copy", "offset": 5, "wait_s": 0.01}
    assert (await client.result("task_log", short))["text"] == ""


def ran_at(serving: Serving, host: str) -> None:
    """The task has a run at another node, in the table of this one."""
    serving.node.handle_submission(workflow())
    claim = Claim(100, (1_700_000_000_500, 0), host)
    run = Run(1, 1, host, 1, claim, 2_000, phase=Running(), stamp=claim.stamp)
    serving.node.table.join([], [TaskLife(COPY, Life(runs=(run,)))], [])


async def test_one_connection_serves_several_questions_and_is_made_anew(
    there: Serving, client: LineClient
) -> None:
    ran_at(there, "aldernode")
    params = {"task": "survey/copy"}
    async with listening(there, taking(there)) as opened:
        for _ in range(2):
            told = await client.refusal("task_log", params)
            assert told == (ErrorCode.REFUSED, "copy ran on alder, not on birch")
            assert len(opened) == 1
        opened[0].transport.abort()
        await client.refusal("task_log", params)
        assert len(opened) == 2


GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": to_builtins(Welcome(1, "1", "aldernode", "alder", Position("log", 0))),
}


@pytest.mark.parametrize(
    ("answer", "calls"),
    [([], 1), (["nonsense"], 1), ([json.dumps(NO)], 1), ([json.dumps(GREETING)], 2)],
    ids=["silent", "nonsense", "not today", "gone after each greeting"],
)
async def test_who_does_not_greet_or_stay_is_told_of(
    there: Serving, client: LineClient, answer: list[str], calls: int
) -> None:
    ran_at(there, "aldernode")
    async with listening(there, saying(*answer)) as opened:
        code, sentence = await client.refusal("task_log", {"task": "survey/copy"})
    assert (code, sentence[:23]) == (ErrorCode.REFUSED, "alder cannot be asked: ")
    assert len(opened) == calls


async def test_a_connection_that_nobody_uses_is_closed(
    there: Serving, client: LineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "KEPT_S", 0.0)
    ran_at(there, "aldernode")
    async with listening(there, taking(there)) as opened:
        await client.refusal("task_log", {"task": "survey/copy"})
        async with asyncio.timeout(WITHIN_S):
            await opened[0].wait_closed()


async def test_the_output_is_asked_where_the_task_runs(two: Two) -> None:
    ran_at(two.here, "aldernode")
    ran_at(two.there, "aldernode")
    two.there.node.known = replace(two.there.node.known, node="aldernode")
    log_of(two.there, b"hello from there")
    log_of(two.here, b"nothing of it is here")
    await two.client.result("hello", {"token": two.here.control["token"]})
    for offset, text in ((0, "hello from there"), (11, "there")):
        params = {"task": "survey/copy", "offset": offset}
        assert (await two.client.result("task_log", params))["text"] == text
    told = await two.client.refusal("task_log", {"task": "survey/copy", "here_only": True})
    assert told == (ErrorCode.REFUSED, "copy ran on alder, not on birch")
    two.there.node.broken = True
    told = await two.client.refusal("task_log", {"task": "survey/copy"})
    assert told == (ErrorCode.AGENT_FAILED, "the agent failed at task_log; its log says more")


async def test_where_the_machine_is_off_a_copy_is_told_of_from_wherever_it_is(two: Two) -> None:
    for each in (two.here, two.there):
        ran_at(each, "cedarnode")
    await two.client.result("hello", {"token": two.here.control["token"]})
    params = {"task": "survey/copy"}
    told = await two.client.refusal("task_log", params)
    assert told == (ErrorCode.REFUSED, "cedarnode cannot be asked: it is switched off")
    kept = Kept("defä".encode()[:-1], 3, 3, 8, 1_700_000_000_000)
    two.there.node.copies.logs[COPY, "1.1.cedarnode"] = kept
    part = await two.client.result("task_log", params)
    assert (part["text"], part["offset"], part["next_offset"]) == ("def", 3, 6), "ä is to come"
    copied = {"copy_on": two.there.node.known.name, "copied_ms": kept.at_ms, "begins": 3}
    assert {name: part[name] for name in copied} == copied
    assert (part["host"], part["run"], part["over"]) == ("cedar", "1.1.cedarnode", False)
    two.here.node.copies.logs[COPY, "1.1.cedarnode"] = kept._replace(data=b"here")
    assert (await two.client.result("task_log", params))["text"] == "here", "nobody is asked"
    ended = asyncio.create_task(
        two.client.result("task_log", {**params, "offset": 8, "wait_s": 0.01})
    )
    assert (await ended)["text"] == ""


def test_a_client_that_is_passed_on_is_named_with_its_machine() -> None:
    told = [members.hello_for(client, "acor").client for client in ("telnet", "", "x" * 300)]
    assert told == ["telnet on acor", "client on acor", "x" * 256]
