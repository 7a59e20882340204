"""`wingbeat status`: this machine and its workflows, or the tasks of one; `show`: one task with all that
is known of it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import chain, repeat

from msgspec import Struct

from agent.api.history import RUNS, Runs, RunsReply, RunView
from agent.api.phrases import NOT_ATTACHED
from agent.api.update import standing_of
from agent.api.values import PRIORITY_NAMES, Dataset, TaskState
from agent.api.work import (
    MEANT,
    STATUS,
    WHY,
    NodeView,
    ShowReply,
    Status,
    StatusReply,
    Story,
    TaskView,
    Why,
)
from agent.client import BlockingClient, Client
from agent.client.connected import whole_workflow
from agent.commands import exits
from agent.commands.asking import ask, with_client, with_loop
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import (
    ago,
    clock,
    counts_told,
    going,
    helping,
    moment,
    plain,
    show_json,
    show_lines,
    show_rows,
    size,
    state_of,
)
from agent.wording.speech import Speech, english, state_word

LATEST = 20
ID_LETTERS = 8
"""So much of a workflow's id tells it from others of its name, and is enough to type."""
LATEST_MAX = 2_000
PRIORITIES = {number: name for name, number in PRIORITY_NAMES.items()}


@command(
    "status",
    "Show this machine and the workflows that it knows, or the tasks of one workflow.",
    "wingbeat status",
    "wingbeat status survey-2026   (the beginning of a name is enough where it is unique)",
    argument("workflow", nargs="?", metavar="WORKFLOW", help="show its tasks"),
    argument("--all", action="store_true", help="all workflows, not only the latest"),
)
def run(options: Options) -> int:
    """Show this machine and its ``LATEST`` workflows, or with ``--all`` up to ``LATEST_MAX``, or of
    the one that is named all tasks; return the exit code."""
    if options.workflow:
        return _workflow(options)
    return ask(options, STATUS, Status(limit=LATEST_MAX if options.all else LATEST), _show_node)


def node_line(node: NodeView) -> str:
    """Return a machine in a line: its name, its flock, whether it helps and why."""
    flock = f"in flock {node.flock}" if node.flock else "in no flock"
    return f"{node.name} {flock}, {helping(node, helps=node.volunteering)}"


def _show_node(reply: StatusReply) -> None:
    show_lines([node_line(reply.node)])
    if reply.node.update is not None:
        show_lines([english(standing_of(reply.node.update))])
    if not reply.workflows:
        show_lines(["No workflows are known here; `wingbeat submit FILE` submits one."])
        return
    show_rows(
        reply.workflows,
        WORKFLOW=lambda each: each.name,
        ID=lambda each: each.workflow[:ID_LETTERS] if each.workflow != each.name else "",
        STATE=lambda each: state_word(each.state),
        DONE=lambda each: f"{each.counts.get(TaskState.TERMINATED, 0)}/{each.tasks}",
        PRIORITY=lambda each: PRIORITIES.get(each.priority, str(each.priority)),
        SUBMITTED=lambda each: ago(each.submitted_ms),
        BY=lambda each: each.submitter,
        ON=lambda each: each.host,
    )
    hidden = reply.total - len(reply.workflows)
    if hidden:
        show_lines([f"{hidden} earlier ones are not shown; `wingbeat status --all` shows them."])


@with_loop
async def _workflow(options: Options, client: Client) -> int:
    """All tasks, however many pages they are."""
    reply = await whole_workflow(client, options.workflow)
    if options.json:
        show_json(reply, options)
        return exits.DONE
    show_lines([counts_told(reply.workflow)])
    show_rows(
        reply.tasks,
        TASK=lambda task: task.name,
        STATE=state_of,
        ON=lambda task: task.host,
        SINCE=lambda task: ago(task.changed_ms),
        PROGRAM=lambda task: "(gate)" if task.gate else task.program,
        REASON=_reason,
    )
    for gate in reply.tasks:
        if gate.gate and gate.state is TaskState.WAITING:
            show_lines(to_look_at(options, reply, gate))
    return exits.DONE


def to_look_at(options: Options, reply: ShowReply, gate: TaskView) -> list[str]:
    """Return a line for each step before a gate that has made something: what that is, and the
    command that fetches it; the workflow is called by its id there where several have its name."""
    several = hasattr(options, MEANT.name)
    workflow = reply.workflow.workflow if several else reply.workflow.name
    return [
        f"{gate.name} asks about {', '.join(map(plain, made))}: "
        f"`wingbeat fetch {shlex.quote(f'{workflow}/{task.name}')}`"
        for task in reply.tasks
        if task.task in gate.needs and (made := _made(task))
    ]


def _made(task: TaskView) -> list[str]:
    """What people call the outputs of a task; those without a name by the task."""
    names = task.output_names or task.attach
    return [
        (names[place] if place < len(names) else "")
        or (each.dataset if each.external else task.name)
        for place, each in enumerate(task.outputs)
        if each.dataset != NOT_ATTACHED
    ]


def _reason(task: TaskView) -> str:
    reason = (
        task.reason
        or ("kept from before" if task.kept else "")
        or (task.asks if task.state is TaskState.WAITING else "")
    )
    return f"mixed inputs; {reason}".rstrip("; ") if task.mixed_inputs else reason


def _percent(task: TaskView) -> str:
    return f"{task.permille / 10:.0f} %" if task.permille else ""


def _expected(task: TaskView) -> str:
    """How long it takes as a whole, and what says so; how long it still takes stands elsewhere."""
    if not task.expected_s or task.begun_ms:
        return ""
    return ", ".join(filter(None, (clock(task.expected_s), Speech().basis(task.basis))))


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
def show(options: Options, client: BlockingClient) -> int:
    """Show one task with all that is known of it: where it is, what it makes, and every run of it;
    return the exit code."""
    story = client.call(WHY, Why(options.task))
    runs = client.call(RUNS, Runs(task=story.task.task))
    if options.json:
        show_json(Shown(story, runs), options)
        return exits.DONE
    task = story.task
    show_lines([f"{story.workflow_name or task.workflow}/{task.name}  {task.task}", story.now])
    facts = {
        "program": task.program,
        "progress": "  ".join(filter(None, (_percent(task), going(task)))) if task.begun_ms else "",
        "expected": _expected(task),
        "attach": ", ".join(task.attach),
        "outputs": ", ".join(map(_output, task.outputs, chain(task.output_names, repeat("")))),
    }
    show_lines(f"  {name:<10}{value}".rstrip() for name, value in facts.items() if value)
    if runs.tasks[0].runs:
        _show_runs(runs.tasks[0].runs)
    return exits.DONE


def _output(made: Dataset, name: str) -> str:
    """By its name; by its identifier where it has none, or lies in somebody's database."""
    if made.external:
        return made.dataset
    return f"{name or made.dataset} ({size(made.size_bytes)})"


def _show_runs(runs: Sequence[RunView]) -> None:
    show_rows(
        runs,
        RUN=lambda run: run.run,
        ON=lambda run: f"{run.host} (copy)" if run.copy else run.host,
        BEGAN=lambda run: moment(run.begun_ms),
        LASTED=lambda run: clock((run.ended_ms - run.begun_ms) / 1000) if run.ended_ms else "",
        END=lambda run: state_word(run.phase) + (" (counts)" if run.counts else ""),
        WHY=lambda run: run.text,
    )
