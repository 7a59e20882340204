"""What nothing comes of: why, and where it still runs, told wherever a person looks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agent.control.naming import task_id
from tests.control.serving import LineClient, Serving, greeted, serving, workflow
from tests.hosts.waiting import EVENTUALLY_S_MAX

COPY = task_id("survey", "copy")

Scene = Callable[[Serving, LineClient], Awaitable[None]]


def play(folder: Path, scene: Scene) -> None:
    async def run() -> None:
        async with serving(folder) as there, greeted(there) as client:
            await scene(there, client)

    asyncio.run(run())


async def moved_to(client: LineClient, state: str, name: str) -> dict[str, Any]:
    """The event of this task's move to that state; others are passed over."""
    async with asyncio.timeout(EVENTUALLY_S_MAX):
        while True:
            happening: dict[str, Any] = (await client.heard())["params"]["happening"]
            if (happening.get("after"), happening.get("name")) == (state, name):
                return happening


async def reason_of(client: LineClient) -> str:
    shown = await client.result("show", {"workflow": "survey"})
    found: str = next(task["reason"] for task in shown["tasks"] if task["name"] == "copy")
    return found


async def test_the_event_says_why_a_task_was_given_up(there: Serving, client: LineClient) -> None:
    told = workflow()
    next(task for task in told["tasks"] if task["id"] == "copy")["failures_max"] = 1
    await client.result("submit", told)
    await client.result("events")
    there.node.volunteer()
    there.node.fail(COPY)
    aborted = await moved_to(client, "Aborted", "copy")
    assert aborted["reason"] == "failed: no film in the camera"
    async with greeted(there) as other:
        story = await other.result("why", {"task": "copy"})
    assert story["now"] == "copy is aborted: it failed: no film in the camera"


async def test_what_does_not_stop_yet_is_told_until_it_has(
    there: Serving, client: LineClient
) -> None:
    await client.result("submit", workflow())
    there.node.volunteer()
    assert (await client.result("cancel", {"workflow": "survey"}))["verdict"] == "cancelling"
    assert await reason_of(client) == "cancelled; still being stopped on birch"
    now = (await client.result("why", {"task": "copy"}))["now"]
    assert now == "copy is cancelled, still being stopped on birch"
    there.node.stop_program(COPY)
    assert await reason_of(client) == "cancelled"
    assert (await client.result("why", {"task": "copy"}))["now"] == "copy is cancelled"
