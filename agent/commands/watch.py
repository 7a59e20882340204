"""`wingbeat watch`: what goes on, redrawn when something has happened."""

from __future__ import annotations

from contextlib import aclosing

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from agent.api.admission import JoinRequested
from agent.api.flock import PEERS, Peers, PeersReply
from agent.api.session import (
    Event,
    FlockChanged,
    GateWaiting,
    TaskMoved,
    WorkflowEnded,
)
from agent.api.values import Position
from agent.api.work import SHOW, STATUS, Show, ShowReply, Status, StatusReply, WorkflowView
from agent.client import Client, DisconnectedError, NoAgentError
from agent.commands import exits
from agent.commands.asking import with_loop
from agent.commands.drawing import console, on_terminal, task_table, workflow_lines
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import counted, moment, plain, show_json, show_lines, standing
from agent.commands.status import node_line
from agent.commands.waiting import OVER, ending, exit_code, lasting_bundles, show_ended

WORKFLOWS_MAX = 12
TASKS_READ_MAX = 2_000
REDRAWN_PER_S = 4


@command(
    "watch",
    "Show what goes on, until Ctrl-C; of one workflow with its tasks, until it has ended.\n"
    "Without a terminal, a line for each thing that happens. --json: each event as JSON.",
    "wingbeat watch",
    "wingbeat watch survey",
    "wingbeat watch --json | jq .happening",
    argument("workflow", nargs="?", default="", metavar="WORKFLOW", help="only this one"),
)
@with_loop
async def run(options: Options, client: Client) -> int:
    """Show what goes on, redrawn on a terminal, else line by line, with ``--json`` each event,
    until Ctrl-C or until the one workflow has ended; return the exit code, which then tells how it
    ended."""
    first = await client.call(STATUS, Status(limit=WORKFLOWS_MAX))
    name, as_lines = "", options.json or not on_terminal()
    if options.workflow:
        workflow = (await client.call(SHOW, Show(options.workflow, limit=1))).workflow
        name = workflow.workflow
        if workflow.state in OVER and as_lines:  # nothing more will happen
            return await _tell_end(client, workflow, options)
    if as_lines:
        return await _lines(client, first.position, name, options)
    return await _screen(client, first, name)


async def _screen(client: Client, first: StatusReply, name: str) -> int:
    view = _View(client, name)
    with Live(
        await view.drawn_again(),
        console=console(),
        refresh_per_second=REDRAWN_PER_S,
        transient=False,
    ) as live:
        async with aclosing(lasting_bundles(client, first.position)) as coming:
            async for bundle in coming:
                if bundle is None or bundle or view.stale:
                    live.update(await view.drawn_again())
                if view.over:
                    break
    return view.code


class _View:
    """Reads what is shown, and draws it."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self.over, self.code = False, exits.DONE
        self.stale = False
        self._last: RenderableType = Text()

    async def drawn_again(self) -> RenderableType:
        """Ask the agent and return the view as it is now; while the agent is away, the last view,
        with ``stale`` set. Raise any other ``ClientError``."""
        try:
            self._last = await self.drawn()
            self.stale = False
        except (NoAgentError, DisconnectedError):
            self.stale = True
        return self._last

    async def drawn(self) -> RenderableType:
        """Ask the agent and return the view as it is now; of one workflow, note whether it is over
        and the exit code. Raise ``ClientError`` when the agent refuses or does not answer."""
        if self._name:
            return self._tasks(
                await self._client.call(SHOW, Show(self._name, limit=TASKS_READ_MAX))
            )
        status = await self._client.call(STATUS, Status(limit=WORKFLOWS_MAX))
        return self._all(status, await self._client.call(PEERS, Peers()))

    def _tasks(self, reply: ShowReply) -> RenderableType:
        workflow = reply.workflow
        self.over = workflow.state in OVER
        self.code = exit_code(workflow.state)
        return Group(workflow_lines([workflow]), Text(), task_table(reply.tasks))

    def _all(self, status: StatusReply, peers: PeersReply) -> RenderableType:
        helping = [peer for peer in peers.peers if peer.volunteering and peer.state == "linked"]
        running = sum(peer.running for peer in peers.peers) + status.node.running
        help_now = len(helping) + status.node.volunteering
        machines = Text(
            f"{help_now} of {counted(1 + len(peers.peers), 'machine')} "
            f"{'helps' if help_now == 1 else 'help'}, "
            f"{counted(running, 'task')} {'runs' if running == 1 else 'run'}",
            "dim",
        )
        nothing = Text("no workflows are known here", "dim")
        lines = workflow_lines(status.workflows) if status.workflows else nothing
        return Group(Text(plain(node_line(status.node))), machines, Text(), lines)


async def _lines(client: Client, position: Position, name: str, options: Options) -> int:
    async with aclosing(lasting_bundles(client, position)) as coming:
        async for bundle in coming:
            if bundle is None:
                code = await _lost(client, name, options)
            else:
                code = _tell(bundle, name, options)
            if code is not None:
                return code
    return exits.DONE


async def _lost(client: Client, name: str, options: Options) -> int | None:
    """Events are missing here; the exit code if the workflow has ended meanwhile."""
    if not options.json:
        show_lines(
            ["(what happened meanwhile is not told: too much, or before the agent's new start)"]
        )
    if not name:
        return None
    workflow = (await client.call(SHOW, Show(name, limit=1))).workflow
    if workflow.state not in OVER:
        return None
    return await _tell_end(client, workflow, options)


async def _tell_end(client: Client, workflow: WorkflowView, options: Options) -> int:
    if options.json:
        await show_ended(client, workflow, options)
    else:
        show_lines([f"{workflow.name} {standing(workflow.state)}"])
    return exit_code(workflow.state)


def _tell(bundle: list[Event], name: str, options: Options) -> int | None:
    """The exit code as soon as the workflow has ended."""
    for event in bundle:
        happening = event.happening
        if name and getattr(happening, "workflow", "") != name:
            continue
        if options.json:
            show_json(event, options)
        elif told := _told(event):
            show_lines([f"{moment(event.at_ms)}  {told}"])
        if name and isinstance(happening, WorkflowEnded):
            return exit_code(happening.state)
    return None


def called(happening: TaskMoved | GateWaiting | WorkflowEnded) -> str:
    """Return what people call the workflow; an agent of before took that for its id."""
    return happening.workflow_name or happening.workflow


def _told(event: Event) -> str:
    match event.happening:
        case TaskMoved() as moved:
            cause = f" ({moved.cause})" if moved.cause else ""
            return f"{called(moved)}/{ending(moved)}{cause}"
        case GateWaiting() as gate:
            return f"{called(gate)}/{gate.name} waits for a person: {gate.asks}"
        case WorkflowEnded() as ended:
            return f"{called(ended)} {standing(ended.state)}"
        case FlockChanged(flock, expelled) if expelled:
            return f"this machine was sent away from {flock}: it hears of no work any more"
        case JoinRequested() as asks:
            return f"{asks.name} asks to be let in, code {asks.code} (`wingbeat flock requests`)"
        case _:
            return ""
