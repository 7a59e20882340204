"""`wingbeat show`: one task with all that is known of it."""

from __future__ import annotations

import argparse

from msgspec import Struct

from agent.api.history import Runs, RunsReply, RunView, TaskRuns
from agent.api.methods import RUNS, WHY
from agent.api.work import Story, Why
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import ask_with
from agent.commands.parsing import client_parser
from agent.commands.showing import clock, left, moment, show_json, show_lines, show_table, size


class Shown(Struct, frozen=True):
    """The task with its story and its runs."""

    story: Story
    runs: RunsReply


def run(arguments: list[str]) -> int:
    """Show one task with all that is known of it; return the exit code."""
    parser = client_parser(
        "show",
        "Show a task: where it is, what it makes, and every attempt at it.",
        "wingbeat show survey/merge",
        "wingbeat show merge --json",
    )
    parser.add_argument("task", metavar="TASK", help="its name, or workflow/name")
    options = parser.parse_args(arguments)
    return ask_with(options, lambda client: _show(options, client))


async def _show(options: argparse.Namespace, client: Client) -> int:
    story = await client.call(WHY, Why(options.task))
    runs = await client.call(RUNS, Runs(task=story.task.task))
    if options.json:
        show_json(Shown(story, runs))
    else:
        _lines(story, runs.tasks[0])
    return exits.DONE


def _lines(story: Story, runs: TaskRuns) -> None:
    task = story.task
    show_lines([f"{task.workflow}/{task.name}  {task.task}", story.now])
    facts = {
        "program": task.program,
        "progress": f"{task.permille / 10:.0f} %  {left(task.left_ms)}" if task.begun_ms else "",
        "expected": "" if task.gate else clock(task.expected_s),
        "attach": ", ".join(task.attach),
        "outputs": ", ".join(
            f"{each.dataset} ({size(each.size_bytes)})" if not each.external else each.dataset
            for each in task.outputs
        ),
    }
    show_lines(f"  {name:<10}{value}".rstrip() for name, value in facts.items() if value)
    if runs.runs:
        show_table(("RUN", "ON", "BEGAN", "LASTED", "END", "WHY"), [_row(run) for run in runs.runs])


def _row(run: RunView) -> tuple[str, ...]:
    lasted = clock((run.ended_ms - run.begun_ms) / 1000) if run.ended_ms else ""
    end = f"{run.phase} (counts)" if run.counts else run.phase
    return (run.run, run.host, moment(run.begun_ms), lasted, end, run.text)
