"""`wingbeat status`: this machine and its workflows, or the tasks of one."""

from __future__ import annotations

import argparse

import msgspec

from agent.api.methods import SHOW, STATUS
from agent.api.values import PRIORITY_NAMES, TaskState
from agent.api.work import NodeView, Show, ShowReply, Status, StatusReply, TaskView, WorkflowView
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import ask, with_client
from agent.commands.parsing import client_parser
from agent.commands.showing import ago, helping, show_json, show_lines, show_table, standing

PAGE = 1_000
LATEST = 20
LATEST_MAX = 2_000


def run(arguments: list[str]) -> int:
    """Show this machine and its workflows, or the tasks of one; return the exit code."""
    parser = client_parser(
        "status",
        "Show this machine and the workflows that it knows, or the tasks of one workflow.",
        "wingbeat status",
        "wingbeat status survey-2026   (the beginning of a name is enough where it is unique)",
    )
    parser.add_argument("workflow", nargs="?", metavar="WORKFLOW", help="show its tasks")
    parser.add_argument("--all", action="store_true", help="all workflows, not only the latest")
    options = parser.parse_args(arguments)
    if options.workflow:
        return with_client(options, lambda client: _workflow(options, client))
    return ask(options, STATUS, Status(limit=LATEST_MAX if options.all else LATEST), _show_node)


def node_line(node: NodeView) -> str:
    """Return a machine in a line: its name, its flock, whether it helps and why."""
    flock = f"in flock {node.flock}" if node.flock else "in no flock"
    return f"{node.name} {flock}, {helping(node, helps=node.volunteering)}"


def _show_node(reply: StatusReply) -> None:
    show_lines([node_line(reply.node)])
    if not reply.workflows:
        show_lines(["No workflows are known here; `wingbeat submit FILE` submits one."])
        return
    header = ("WORKFLOW", "STATE", "DONE", "PRIORITY", "SUBMITTED", "BY", "ON")
    show_table(header, [_row(workflow) for workflow in reply.workflows])
    hidden = reply.total - len(reply.workflows)
    if hidden:
        show_lines([f"{hidden} earlier ones are not shown; `wingbeat status --all` shows them."])


def _row(workflow: WorkflowView) -> tuple[str, ...]:
    done = workflow.counts.get(TaskState.TERMINATED, 0)
    return (
        *(workflow.name, workflow.state, f"{done}/{workflow.tasks}", _priority(workflow.priority)),
        *(ago(workflow.submitted_ms), workflow.submitter, workflow.host),
    )


def _priority(value: int) -> str:
    names = {number: name for name, number in PRIORITY_NAMES.items()}
    return names.get(value, str(value))


def _workflow(options: argparse.Namespace, client: BlockingClient) -> int:
    """All tasks, however many pages they are."""
    reply = client.call(SHOW, Show(options.workflow, limit=PAGE))
    tasks = list(reply.tasks)
    for first in range(PAGE, reply.workflow.tasks, PAGE):
        tasks += client.call(SHOW, Show(reply.workflow.workflow, first, PAGE)).tasks
    whole = msgspec.structs.replace(reply, tasks=tuple(tasks))
    if options.json:
        show_json(whole)
    else:
        _show_workflow(whole)
    return exits.DONE


def _show_workflow(reply: ShowReply) -> None:
    workflow = reply.workflow
    counts = ", ".join(f"{count} {state.value}" for state, count in workflow.counts.items())
    show_lines([f"{workflow.name} {standing(workflow.state)}: {counts}"])
    header = ("TASK", "STATE", "ON", "SINCE", "PROGRAM", "REASON")
    show_table(header, [_task_row(task) for task in reply.tasks])


def _task_row(task: TaskView) -> tuple[str, ...]:
    program = "(gate)" if task.gate else task.program
    reason = task.reason or (task.asks if task.state is TaskState.WAITING else "")
    if task.mixed_inputs:
        reason = f"mixed inputs; {reason}".rstrip("; ")
    return (task.name, task.state.value, task.host, ago(task.changed_ms), program, reason)
