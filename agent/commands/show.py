"""`wingbeat show`: one task with all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agent.api.history import RUNS, Runs, RunsReply, RunView
from agent.api.work import WHY, Story, Why
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import with_client
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import clock, left, moment, show_json, show_lines, show_rows, size


class Shown(Struct, frozen=True):
    """The task with its story and its runs."""

    story: Story
    runs: RunsReply


@command(
    "show",
    "Show a task: where it is, what it makes, and every attempt at it.",
    "wingbeat show survey/merge",
    "wingbeat show merge --json",
    argument("task", metavar="TASK", help="its name, or workflow/name"),
)
@with_client
def run(options: Options, client: BlockingClient) -> int:
    """Show one task with all that is known of it."""
    story = client.call(WHY, Why(options.task))
    runs = client.call(RUNS, Runs(task=story.task.task))
    if options.json:
        show_json(Shown(story, runs))
        return exits.DONE
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
    if runs.tasks[0].runs:
        _show_runs(runs.tasks[0].runs)
    return exits.DONE


def _show_runs(runs: Sequence[RunView]) -> None:
    show_rows(
        runs,
        RUN=lambda run: run.run,
        ON=lambda run: run.host,
        BEGAN=lambda run: moment(run.begun_ms),
        LASTED=lambda run: clock((run.ended_ms - run.begun_ms) / 1000) if run.ended_ms else "",
        END=lambda run: f"{run.phase} (counts)" if run.counts else run.phase,
        WHY=lambda run: run.text,
    )
