"""A live agent with the shipped program ``javascript``, and a client that has workflows run."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.api.datasets import READ_DATASET, ReadDataset
from agent.api.session import WorkflowEnded
from agent.api.work import SHOW, STATUS, SUBMIT, Show, Status, TaskView
from agent.client import Client
from agent.workflow.model import Workflow
from agent.workflow.submission import Wanted, prepare
from tests.hosts.machine import Machine
from tests.style.source import REPOSITORY

JAVASCRIPT = REPOSITORY / "tasks" / "javascript"
WITHIN_S = 240.0
TASKS_MAX = 2_000

needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="Node.js is not installed on this machine"
)


@asynccontextmanager
async def agent_with_javascript(
    folder: Path, slots: int = 2, *, installed: bool = True
) -> AsyncIterator[Client]:
    """Started in a process of its own, and asked through its socket like any agent."""
    machine = Machine(folder / "ant")
    machine.settle(name="ant", port=0, listen=["127.0.0.1"], slots=slots, volunteer="always")
    if installed:
        await asyncio.to_thread(shutil.copytree, JAVASCRIPT, machine.home.programs / "javascript")
    with machine.agent():
        async with asyncio.timeout(WITHIN_S), await Client.connect(machine.home) as client:
            yield client


async def run_to_the_end(client: Client, workflow: Workflow) -> Mapping[str, TaskView]:
    """Send it, and wait for all of its tasks; the tasks by their names."""
    submit = await prepare(client, workflow, Wanted(submitter="me"))
    position = (await client.call(STATUS, Status())).position
    workflow_id = (await client.call(SUBMIT, submit)).workflow
    events = client.events(position)
    try:
        async for event in events:
            happening = event.happening
            if isinstance(happening, WorkflowEnded) and happening.workflow == workflow_id:
                break
    finally:
        await events.aclose()
    tasks = (await client.call(SHOW, Show(workflow_id, 0, TASKS_MAX))).tasks
    return {task.name: task for task in tasks}


async def content(client: Client, task: TaskView, output: int = 0) -> bytes:
    """What is in an output."""
    assert task.outputs, f"{task.name} is {task.state}: {task.reason}"
    piece = await client.call(READ_DATASET, ReadDataset(task.outputs[output].dataset))
    return piece.data
