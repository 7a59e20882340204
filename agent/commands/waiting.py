"""Until a workflow has ended: a bar on a terminal, a line for each step that counts elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing

from agent.api.methods import SHOW
from agent.api.reasons import Cancelled, reason_of
from agent.api.session import Event, GateWaiting, Happening, TaskMoved
from agent.api.values import Position, TaskState, WorkflowState
from agent.api.work import Show, WorkflowView
from agent.client import Client, DisconnectedError, NoAgentError
from agent.commands import exits
from agent.commands.drawing import on_terminal, work_bar
from agent.commands.following import lasting_bundles
from agent.commands.showing import counts_told, left, plain, show_json, show_lines

OVER = ("finished", "failed", "cancelled")
TOLD = (TaskState.TERMINATED, TaskState.ABORTED, TaskState.CANCELLED)


async def wait_for(client: Client, name: str, position: Position, *, as_json: bool = False) -> int:
    """Wait until the workflow has ended and show how far it is meanwhile; return the exit code,
    which tells whether it finished."""
    followed = Followed(client, await _read(client, name))
    if on_terminal() and not as_json:
        await _with_bar(followed, position)
    else:
        await _with_lines(followed, position, quiet=as_json)
    show_json(followed.now) if as_json else show_lines([counts_told(followed.now)])
    return exit_code(followed.now.state)


def exit_code(state: WorkflowState) -> int:
    """Return the exit code that scripts are told of a workflow that is over."""
    return exits.DONE if state == "finished" else exits.WORK_FAILED


class Followed:
    """A workflow that is read again whenever something has happened.

    An agent that is being started anew cannot be asked; its events tell when it is back.
    """

    def __init__(self, client: Client, workflow: WorkflowView) -> None:
        self.client, self.now = client, workflow
        self._stale = False

    @property
    def over(self) -> bool:
        """Whether nothing of the workflow goes on any more."""
        return self.now.state in OVER

    async def look(self, bundle: list[Event] | None) -> None:
        """Read the workflow anew after any event (None: some were lost), and after a read that
        failed. That no agent answers is only noted; other ``ClientError`` come through."""
        if bundle == [] and not self._stale:
            return
        try:
            self.now = await _read(self.client, self.now.workflow)
            self._stale = False
        except (NoAgentError, DisconnectedError):
            self._stale = True


async def _with_bar(followed: Followed, position: Position) -> None:
    workflow = followed.now
    with work_bar() as progress:
        line = progress.add_task(workflow.name, total=1_000)
        async with aclosing(lasting_bundles(followed.client, position)) as coming:
            while not followed.over:
                bundle = await anext(coming)
                for told in filter(None, map(_worth_telling, _of(bundle, workflow.workflow))):
                    progress.console.print(plain(told))
                await followed.look(bundle)
                waits = " waits for a person" if followed.now.gates else ""
                progress.update(
                    line,
                    completed=followed.now.permille,
                    description=f"{workflow.name}{waits}",
                    left=left(followed.now.left_ms),
                )


async def _with_lines(followed: Followed, position: Position, *, quiet: bool) -> None:
    name = followed.now.workflow
    async with aclosing(lasting_bundles(followed.client, position)) as coming:
        while not followed.over:
            bundle = await anext(coming)
            if not quiet:
                show_lines(filter(None, map(_step, _of(bundle, name))))
            await followed.look(bundle)


def _of(bundle: list[Event] | None, name: str) -> Iterator[Happening]:
    """What happened to this workflow, as far as that is known."""
    for each in bundle or ():
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
    """Return what has become of a task, where, and why if nothing came of it."""
    where = f" on {moved.host}" if moved.host else ""
    plainly = isinstance(reason_of(moved.why, moved.reason), Cancelled)  # as the state says
    why = f": {moved.reason}" if moved.reason and not plainly else ""
    return f"{moved.name} {moved.after.value}{where}{why}"


async def _read(client: Client, name: str) -> WorkflowView:
    return (await client.call(SHOW, Show(name, limit=1))).workflow
