"""A client of an agent in its own process: the same requests, events and ends, and no port."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from pathlib import Path

import pytest

from agent.api.methods import SHOW, STATUS, SUBMIT
from agent.api.session import TaskMoved
from agent.api.work import Show, Status, Submit, Task
from agent.client import Client, NoAgentError
from agent.control.server import ControlServer
from tests.control.serving import WITHIN_S, serving

SURVEY = Submit("survey", (Task("copy", "copy"),))


def test_the_same_is_asked_and_told_without_a_port(tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving(tmp_path) as there, await Client.inside(there.server.dial) as client:
            start = (await client.call(STATUS, Status())).position
            await client.call(SUBMIT, SURVEY)
            async with aclosing(client.events(start)) as events:
                event = await anext(events)
            assert isinstance(event.happening, TaskMoved)
            assert (await client.call(SHOW, Show("survey"))).tasks[0].name == "copy"

    asyncio.run(scene())


def test_another_threads_loop_asks_as_well_and_hears_of_the_end(tmp_path: Path) -> None:
    heard: list[str] = []

    def window(server: ControlServer, asked: threading.Event) -> None:
        async def ask() -> None:
            client = await Client.inside(server.dial, "window")
            heard.append((await client.call(STATUS, Status())).node.name)
            asked.set()
            heard.append(str(await client.wait_ended(WITHIN_S)))
            await client.close()
            with pytest.raises(NoAgentError, match="in this process has ended"):
                await Client.inside(server.dial)

        asyncio.run(ask())

    async def scene(asked: threading.Event) -> None:
        async with serving(tmp_path) as there:
            thread = threading.Thread(target=window, args=(there.server, asked))
            thread.start()
            assert await asyncio.to_thread(asked.wait, WITHIN_S)
        return_to.append(thread)

    return_to: list[threading.Thread] = []
    asyncio.run(scene(threading.Event()))
    return_to[0].join(WITHIN_S)
    assert heard == ["birch", "True"]
