"""Until a workflow has ended: a bar on a terminal, a line for each step that counts elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from agent.api.methods import SHOW
from agent.api.session import Event, GateWaiting, Happening, TaskMoved
from agent.api.values import Position, TaskState
from agent.api.work import Show, WorkflowView
from agent.client import Client
from agent.commands import exits
from agent.commands.drawing import on_terminal, work_bar
from agent.commands.following import bundles
from agent.commands.showing import left, plain, show_json, show_lines, standing

OVER = ("finished", "failed", "cancelled")
TOLD = (TaskState.TERMINATED, TaskState.ABORTED, TaskState.CANCELLED)


async def wait_for(client: Client, name: str, position: Position, *, as_json: bool = False) -> int:
    """The exit code tells whether it finished."""
    workflow = await _read(client, name)
    if on_terminal() and not as_json:
        workflow = await _with_bar(client, workflow, position)
    elif workflow.state not in OVER:
        workflow = await _with_lines(client, workflow, position, quiet=as_json)
    if as_json:
        show_json(workflow)
    else:
        counts = ", ".join(f"{count} {state.value}" for state, count in workflow.counts.items())
        show_lines([f"{workflow.name} {standing(workflow.state)}: {counts}"])
    return exits.DONE if workflow.state == "finished" else exits.WORK_FAILED


async def _with_bar(client: Client, workflow: WorkflowView, position: Position) -> WorkflowView:
    name = workflow.workflow
    with work_bar() as progress:
        line = progress.add_task(workflow.name, total=1_000)
        events = bundles(client, position)
        try:
            while workflow.state not in OVER:
                bundle = await anext(events)
                for told in filter(None, map(_worth_telling, _of(bundle, name))):
                    progress.console.print(plain(told))
                if bundle:
                    workflow = await _read(client, name)
                waits = " waits for a person" if workflow.gates else ""
                progress.update(
                    line,
                    completed=workflow.permille,
                    description=f"{workflow.name}{waits}",
                    left=left(workflow.left_ms),
                )
        finally:
            await events.aclose()
    return workflow


async def _with_lines(
    client: Client, workflow: WorkflowView, position: Position, *, quiet: bool
) -> WorkflowView:
    name = workflow.workflow
    events = bundles(client, position)
    try:
        while workflow.state not in OVER:
            bundle = await anext(events)
            if not quiet:
                show_lines(filter(None, map(_step, _of(bundle, name))))
            if bundle:
                workflow = await _read(client, name)
    finally:
        await events.aclose()
    return workflow


def _of(bundle: list[Event], name: str) -> Iterator[Happening]:
    """What happened to this workflow."""
    for each in bundle:
        if getattr(each.happening, "workflow", "") == name:
            yield each.happening


def _step(happening: Happening) -> str:
    """A step that counts; empty for others."""
    if isinstance(happening, GateWaiting):
        return f"{happening.name} waits for a person: {happening.asks}"
    if isinstance(happening, TaskMoved) and happening.after in TOLD:
        return ending(happening)
    return ""


def _worth_telling(happening: Happening) -> str:
    """What a bar cannot show: something that a person has to know or to do."""
    well = isinstance(happening, TaskMoved) and happening.after is TaskState.TERMINATED
    return "" if well else _step(happening)


def ending(moved: TaskMoved) -> str:
    """What has become of a task, where, and why if nothing came of it."""
    where = f" on {moved.host}" if moved.host else ""
    why = "" if moved.reason in ("", moved.after.value.lower()) else f": {moved.reason}"
    return f"{moved.name} {moved.after.value}{where}{why}"


async def _read(client: Client, name: str) -> WorkflowView:
    return (await client.call(SHOW, Show(name, limit=1))).workflow
