"""Workflows from files, run by a live agent in real processes, with right answers."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from pathlib import Path

import pytest

from agent.api.values import TaskState
from agent.api.work import PLAN, Plan
from agent.workflow.reading import Asked
from agent.workflow.submission import Wanted, dry, read_for
from tests.workflow.agents import agent_with_javascript, content, needs_node, run_to_the_end
from tests.workflow.whole import read_workflow_file

DOCUMENTS = Path(__file__).parent / "documents"


def result_of(document: str, folder: Path) -> tuple[object, dict[str, TaskState]]:
    """The final value of a document of the XML language, and the states of its tasks."""

    async def run() -> tuple[object, dict[str, TaskState]]:
        workflow = read_workflow_file(DOCUMENTS / document, Asked({}))
        async with agent_with_javascript(folder) as client:
            tasks = await run_to_the_end(client, workflow)
            states = {name: task.state for name, task in tasks.items()}
            return json.loads(await content(client, tasks[workflow.final])), states

    return asyncio.run(run())


@needs_node
@pytest.mark.parametrize(
    ("document", "answer", "tasks"),
    [
        ("figure_6_4.xml", 44 + 13 + 100, 2),
        ("figure_6_5.xml", 10 * (1_000 + 20_000 + 300_000 + 4_000_000), 5),
        ("computed.xml", sum(number**2 for number in range(1, 13)), 2),
    ],
)
def test_a_document_gives_its_answer(
    document: str, answer: float, tasks: int, tmp_path: Path
) -> None:
    result, states = result_of(document, tmp_path)
    assert result == answer
    assert list(states.values()) == [TaskState.TERMINATED] * tasks


@needs_node
def test_pi_is_approximated(tmp_path: Path) -> None:
    result, states = result_of("pi.xml", tmp_path)
    assert isinstance(result, float)
    # Ten standard deviations of four million points.
    assert math.isclose(result, math.pi, abs_tol=10 * 1.64 / math.sqrt(4_000_000))
    assert len(states) == 9


@pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for a shell of Unix")
async def test_three_scripts_of_ones_own(tmp_path: Path) -> None:
    async def run() -> bytes:
        async with agent_with_javascript(tmp_path) as client:
            file = DOCUMENTS / "words" / "words.wingbeat.yaml"
            workflow = await read_for(client, file, Wanted())
            tasks = await run_to_the_end(client, workflow)
            return await content(client, tasks["top"])

    words = [line.split() for line in (await run()).decode().splitlines()]
    assert words == [["6", "the"], ["3", "line"], ["2", "tower"]]


@needs_node
async def test_an_agent_without_the_program_for_javascript_is_given_it(tmp_path: Path) -> None:
    async def run() -> tuple[str, object]:
        async with agent_with_javascript(tmp_path, installed=False) as client:
            workflow = await read_for(client, DOCUMENTS / "figure_6_4.xml", Wanted())
            planned = await client.call(PLAN, Plan(dry(workflow, Wanted())))
            assert [task.fits for task in planned.tasks] == [("ant",)] * 2
            tasks = await run_to_the_end(client, workflow)
            final = tasks[workflow.final]
            return final.program, json.loads(await content(client, final))

    program, result = await run()
    assert program.startswith("javascript@")
    assert result == 157
