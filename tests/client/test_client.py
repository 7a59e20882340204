"""The client library against a real server: what it finds, asks, follows, and how it comes back."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from agent.api.flock import INVITE, PEERS, Invite, Peers
from agent.api.rpc import ErrorCode, Problem
from agent.api.session import STOP, Stop, WorkflowGone
from agent.api.session import WorkflowSafe as SafeEvent
from agent.api.values import Position, TaskState
from agent.api.work import CANCEL, SHOW, STATUS, SUBMIT, Cancel, Show, Status, Submit, Task
from agent.client import (
    BlockingClient,
    Client,
    DisconnectedError,
    EventsLostError,
    NoAgentError,
    NotUnderstoodError,
    RequestError,
    link,
)
from agent.client import submit as send
from agent.client.link import Link
from agent.paths import Home
from agent.protocol.effects import WorkflowSafe
from agent.protocol.identity import ID_LETTERS
from tests.control.serving import WITHIN_S, Serving, serving

SURVEY = Submit("survey", (Task("copy", "copy"),), key="of this click")
SAFE = WorkflowSafe("survey")


@pytest.fixture
async def there(home: Home) -> AsyncIterator[Serving]:
    async with agent_at(home) as there:
        yield there


@pytest.fixture
async def client(home: Home, there: Serving) -> AsyncIterator[Client]:
    async with await Client.connect(home) as client:
        yield client


@asynccontextmanager
async def agent_at(home: Home) -> AsyncIterator[Serving]:
    """What a client takes for an agent."""
    await asyncio.to_thread(home.prepare)
    async with serving(home.data) as there:
        yield there


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.at(tmp_path)


def cut(there: Serving) -> None:
    """All connections end, the server goes on."""
    for connection in there.server._connections:
        connection.end("the cable was pulled")


async def test_without_an_agent_it_says_how_to_start_one(home: Home) -> None:
    with pytest.raises(
        NoAgentError, match=r"^no agent runs here: start one with `wingbeat agent`$"
    ):
        await Client.connect(home)


async def test_the_control_file_of_a_killed_agent_misleads_nobody(home: Home) -> None:
    async with agent_at(home) as there:
        written = json.dumps(there.control)
    (home.data / "control.json").write_text(written)
    with pytest.raises(NoAgentError, match="no agent runs here"):
        await Client.connect(home)


@asynccontextmanager
async def somebody_else(home: Home, said: bytes) -> AsyncIterator[None]:
    """What listens where the control file says that an agent does, and says this to each client: at
    once, or several lines after it was greeted."""

    async def stranger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if said.count(b"\n") > 1:
            await reader.readline()
        writer.write(said)
        await reader.read(-1)
        writer.close()

    home.prepare()
    place = str(home.data / "other.socket")
    async with await asyncio.start_unix_server(stranger, place):
        control = {"place": place, "token": "x" * 16, "process": 1}
        (home.data / "control.json").write_text(json.dumps(control))
        yield


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{}", b'{"port":0,"token":"x"}', b"\xff", b'{"place":"\xff"}'),
        pytest.param(b'{"x":' + b"[" * 50_000, id="nested too deeply"),
    ],
)
async def test_a_control_file_of_another_kind_is_not_understood(home: Home, content: bytes) -> None:
    home.prepare()
    (home.data / "control.json").write_bytes(content)
    with pytest.raises(NotUnderstoodError, match="is not what an agent of this version writes"):
        await Client.connect(home)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows only says that it is not there")
async def test_a_home_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("this is no folder")
    with pytest.raises(NoAgentError, match="WINGBEAT_HOME has to name a folder"):
        await Client.connect(Home.at(tmp_path / "file"))


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"220 mail\r\n",
        b'{"id":1,"result":{"protocol":"?"}}\n',
        2 * b"220 mail\r\n",
        2 * b'{"jsonrpc":"2.0","id":1,"result":{"protocol":"?"}}\n',
        2 * b"\0\n{}\n",
    ],
)
async def test_something_else_on_the_port_is_no_agent(
    home: Home, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does anything stay behind of who is not understood, however often."""
    monkeypatch.setattr(link, "GREETING_S_MAX", 0.1)
    abandoned: list[object] = []
    sys.set_asyncgen_hooks(finalizer=abandoned.append)
    async with somebody_else(home, said):
        for _ in range(20 if said else 1):
            with pytest.raises((NotUnderstoodError, DisconnectedError)):
                await Client.connect(home)
        gc.collect()
        assert [each for each in asyncio.all_tasks() if "_read_all" in repr(each)] == []
    assert abandoned == []


async def test_questions_and_answers_are_typed(there: Serving, client: Client) -> None:
    submitted = await client.call(SUBMIT, SURVEY)
    assert (len(submitted.workflow), submitted.known) == (ID_LETTERS, False)
    shown = await client.call(SHOW, Show("survey"))
    assert shown.tasks[0].state is TaskState.READY
    status = await client.call(STATUS, Status())
    assert status.workflows[0].counts == {TaskState.READY: 1}
    assert client.welcome is not None
    assert client.welcome.name == "birch"


async def test_what_the_agent_refuses_is_an_error_with_its_code(
    there: Serving, client: Client
) -> None:
    with pytest.raises(RequestError, match=r'^no workflow is called "x"$') as refused:
        await client.call(SHOW, Show("x"))
    assert refused.value.code == ErrorCode.UNKNOWN
    with pytest.raises(RequestError, match=r"^invite: uses must be a whole number of at most"):
        await client.call(INVITE, Invite(uses=5_000))


async def test_many_questions_at_once_get_their_own_answers(there: Serving, client: Client) -> None:
    names = [f"survey-{number}" for number in range(200)]
    asked = [client.call(SUBMIT, Submit(name, SURVEY.tasks)) for name in names]
    made = [each.workflow for each in await asyncio.gather(*asked)]
    assert [there.node.table.workflows[each].spec.name for each in made] == names


async def test_a_question_without_harm_is_asked_again_after_a_cut(
    there: Serving, client: Client
) -> None:
    there.node.held.clear()
    submitting = asyncio.create_task(client.call(SUBMIT, SURVEY))
    await there.node.wished.wait()
    there.node.held.set()
    cut(there)
    submitted = await submitting
    assert list(there.node.table.workflows) == [submitted.workflow]
    assert submitted.known is False  # it is the answer to the one click
    cut(there)
    assert (await client.call(PEERS, Peers())).node.name == "birch"


async def test_a_wish_that_may_have_been_done_is_not_repeated(
    there: Serving, client: Client
) -> None:
    await client.call(SUBMIT, SURVEY)
    there.node.held.clear()
    there.node.wished.clear()
    cancelling = asyncio.create_task(client.call(CANCEL, Cancel("survey")))
    await there.node.wished.wait()
    cut(there)
    with pytest.raises(DisconnectedError) as lost:
        await cancelling
    assert str(lost.value) == (
        "the agent ended the connection (the cable was pulled); whether cancel was done is "
        "not known, so look before you ask again"
    )


async def test_events_go_on_after_a_cut_without_gap_or_repetition(
    there: Serving, client: Client
) -> None:
    start = (await client.call(STATUS, Status())).position
    seen: list[int] = []
    async with aclosing(client.events(start)) as events:
        for turn in range(5):
            for _ in range(30):
                there.node.tell(SAFE)
            while len(seen) < 30 * turn + 15:
                seen.append((await anext(events)).sequence)
            cut(there)
        while len(seen) < 150:
            seen.append((await anext(events)).sequence)
    assert seen == list(range(start.sequence + 1, start.sequence + 151))


async def test_events_from_now_on_begin_with_the_next_one(there: Serving, client: Client) -> None:
    there.node.tell(SAFE)
    async with aclosing(client.events()) as events:
        first = asyncio.ensure_future(anext(events))
        while not any(each._telling for each in there.server._connections):
            await client.call(STATUS, Status())
        there.node.tell(SAFE)
        event = await first
        assert event.sequence == 2
        assert event.happening == SafeEvent("survey")


class MoonRose(Struct, frozen=True, tag="moon rose"):
    """What an agent of a later version may tell."""

    phase: str


async def test_events_of_kinds_that_it_does_not_know_are_left_out(
    there: Serving, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    start = (await client.call(STATUS, Status())).position
    for happening in (MoonRose("full"), MoonRose("half"), SafeEvent("survey")):
        there.server._events.record(happening)  # type: ignore[arg-type]
    async with aclosing(client.events(start)) as events:
        event = await anext(events)
        assert (event.sequence, event.happening) == (start.sequence + 3, SafeEvent("survey"))
        assert caplog.text.count("moon rose") == 1
        there.node.tell(SAFE)
        assert (await anext(events)).sequence == start.sequence + 4


async def test_an_event_that_is_wrong_in_itself_ends_the_connection(
    home: Home, there: Serving, client: Client
) -> None:
    start = (await client.call(STATUS, Status())).position
    there.server._events.record(SafeEvent(7))  # type: ignore[arg-type]
    following = await Link.open(home, "test")
    await following.follow(start)
    with pytest.raises(DisconnectedError, match="what it said is not understood"):
        await following.next_event()
    await following.close()


async def test_it_is_told_of_later_kinds_too(there: Serving, client: Client) -> None:
    start = (await client.call(STATUS, Status())).position
    there.server._events.record(WorkflowGone("survey"))
    async with aclosing(client.events(start)) as events:
        assert (await anext(events)).happening == WorkflowGone("survey")


async def test_who_does_not_take_its_events_can_still_ask(there: Serving, client: Client) -> None:
    start = (await client.call(STATUS, Status())).position
    async with aclosing(client.events(start)) as events:
        for _ in range(5_000):
            there.node.tell(SAFE)
        assert (await anext(events)).sequence == start.sequence + 1
        for _ in range(10):
            await client.call(STATUS, Status())
        for number in range(2, 5_001):
            assert (await anext(events)).sequence == start.sequence + number


async def test_after_a_restart_of_the_agent_events_are_said_to_be_lost(home: Home) -> None:
    async with agent_at(home) as there:
        client = await Client.connect(home)
        start = (await client.call(STATUS, Status())).position
        events = client.events(start)
        there.node.tell(SAFE)
        assert (await anext(events)).sequence == 1
    async with agent_at(home):
        with pytest.raises(EventsLostError, match="started anew"):
            await anext(events)
        assert (await client.call(PEERS, Peers())).node.name == "birch"
        await client.close()


async def test_events_end_when_the_agent_stays_away(home: Home) -> None:
    async with agent_at(home) as there:
        client = await Client.connect(home)
        start = (await client.call(STATUS, Status())).position
        there.node.tell(SAFE)
        events = client.events(start, patience_s=0.1)
        assert (await anext(events)).sequence == 1
    with pytest.raises(NoAgentError, match="did not come back"):
        await anext(events)
    await client.close()


async def test_events_of_a_position_that_never_was(there: Serving, client: Client) -> None:
    with pytest.raises(EventsLostError):
        await anext(client.events(Position("elsewhere", 7)))


async def test_programs_without_a_loop_have_the_same(home: Home) -> None:
    ready = threading.Event()

    def use() -> None:
        with BlockingClient(home) as client:
            start = client.call(STATUS, Status()).position
            client.call(SUBMIT, SURVEY)
            events = client.events(start)
            assert next(events).sequence == start.sequence + 1
            events.close()
            assert not client.wait_ended(0.01)
            assert client.call(STOP, Stop("enough")).node == "birchnode"
            ready.set()
            assert client.wait_ended(WITHIN_S)

    async with agent_at(home) as there:
        using = asyncio.create_task(asyncio.to_thread(use))
        assert await asyncio.to_thread(ready.wait, WITHIN_S)
        assert there.node.stopped == ["enough"]
        await there.server.stop()
        await using


def test_without_a_loop_there_is_no_agent_either(home: Home) -> None:
    with pytest.raises(NoAgentError):
        BlockingClient(home)


async def test_an_agent_of_before_is_asked_in_its_own_words(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses fields that it does not know."""
    asked: list[Submit] = []
    call = client.call

    async def before(method: Any, params: Any) -> Any:
        asked.append(params)
        if params.key:
            raise RequestError(Problem(ErrorCode.WRONG_PARAMETERS, "submit has no field key"))
        return await call(method, params)

    monkeypatch.setattr(client, "call", before)
    await send(client, SURVEY)
    assert [each.key for each in asked] == ["of this click", ""]
    with pytest.raises(RequestError, match="no field key"):
        await send(client, replace(SURVEY, again=True))
