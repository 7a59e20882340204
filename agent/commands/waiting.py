"""Until a workflow has ended: a bar on a terminal, a line for each step that counts elsewhere.

Commands that stay hear of events in bundles, not more often than somebody reads. A screen that is drawn for each event flickers; one that is drawn by the clock alone lags. So events
are gathered for a moment, and who shows something reads the node again only when something has
happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

from msgspec import structs

from agent.api.reasons import Cancelled, reason_of
from agent.api.rpc import Method, P, R
from agent.api.session import Event, GateWaiting, Happening, TaskMoved
from agent.api.values import Position, TaskState, WorkflowState
from agent.api.work import SHOW, STATUS, Show, Status, TaskView, WorkflowView
from agent.client import Client, DisconnectedError, EventsLostError, NoAgentError
from agent.client.connected import whole_workflow
from agent.commands import exits
from agent.commands.drawing import on_terminal, work_bar
from agent.commands.showing import counts_told, going, plain, show_json, show_lines
from agent.wording.speech import state_word

BUNDLE_S = 0.25
TICK_S = 1.0
"""Without any event, an empty bundle comes so often: times that are shown go on."""
OVER = ("finished", "failed", "cancelled")
TOLD = (TaskState.TERMINATED, TaskState.ABORTED, TaskState.CANCELLED)


async def bundles(
    client: Client, after: Position | None, tick_s: float = TICK_S
) -> AsyncGenerator[list[Event], None]:
    """Yield the events after a position (None: from now on) in bundles: what comes within
    ``BUNDLE_S`` of a first one, or an empty bundle when none has come for ``tick_s``. It goes on
    until it is closed, or raises what ``Client.events`` raises."""
    arrived: asyncio.Queue[Event | BaseException] = asyncio.Queue(10_000)
    reading = asyncio.create_task(_gather(client.events(after), arrived))
    try:
        while True:
            yield await _bundle(arrived, tick_s)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _bundle(arrived: asyncio.Queue[Event | BaseException], tick_s: float) -> list[Event]:
    found: list[Event] = []
    try:
        async with asyncio.timeout(tick_s):
            found.append(_event(await arrived.get()))
    except TimeoutError:
        return found
    await asyncio.sleep(BUNDLE_S)
    while not arrived.empty():
        found.append(_event(arrived.get_nowait()))
    return found


def _event(arrived: Event | BaseException) -> Event:
    if isinstance(arrived, BaseException):
        raise arrived
    return arrived


async def _gather(
    events: AsyncGenerator[Event, None], arrived: asyncio.Queue[Event | BaseException]
) -> None:
    try:
        async with aclosing(events) as coming:
            async for event in coming:
                await arrived.put(event)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - whoever waits for events is told
        await arrived.put(error)


async def lasting_bundles(
    client: Client, after: Position | None
) -> AsyncGenerator[list[Event] | None, None]:
    """Yield bundles of events as they come, also over restarts of the agent, for ever; None where
    some were lost, after which what is shown has to be read again. Raises ``ClientError``, but not
    for lost events."""
    while True:
        try:
            async with aclosing(bundles(client, after)) as coming:
                async for bundle in coming:
                    yield bundle
        except EventsLostError:
            after = (await client.call(STATUS, Status(limit=1))).position
            yield None


async def follow_until(
    client: Client, method: Method[P, R], params: P, over: Callable[[R], bool]
) -> R:
    """Ask a question, and again after each bundle of events, at least every ``TICK_S``, until
    ``over`` says that its answer is final; return that. Raises ``ClientError``, ``EventsLostError``
    among them; what was asked for goes on."""
    answer = await client.call(method, params)
    if over(answer):
        return answer
    async with aclosing(bundles(client, None)) as coming:
        async for _ in coming:
            answer = await client.call(method, params)
            if over(answer):
                break
    return answer


async def wait_for(client: Client, name: str, position: Position, *, as_json: bool = False) -> int:
    """Wait until the workflow has ended and show how far it is, from the events after ``position``
    on, and at last how it stands; with ``as_json`` only that, and why tasks did not end well.
    Return the exit code, which tells whether it finished. Raises ``ClientError``; the workflow goes
    on then, as when this is interrupted."""
    followed = Followed(client, await _read(client, name))
    await _follow(followed, position, as_json=as_json, bar=on_terminal() and not as_json)
    if as_json:
        await show_ended(client, followed.now)
    else:
        show_lines([counts_told(followed.now)])
    return exit_code(followed.now.state)


class Ended(WorkflowView, frozen=True):
    """What `--json` shows of a workflow that is over: how it stands, and its tasks that did not end
    well, in the order of its author. Each says by name, under ``why``, what became of it."""

    unfinished: tuple[TaskView, ...] = ()


async def show_ended(client: Client, workflow: WorkflowView, options: object = None) -> None:
    """Print an ended workflow as JSON, with its tasks that did not end well, which the agent is
    asked for; ``options`` may name it by a name that several have. Raises ``ClientError``."""
    tasks: tuple[TaskView, ...] = ()
    if workflow.state != "finished":
        tasks = (await whole_workflow(client, workflow.workflow)).tasks
    left = tuple(each for each in tasks if each.state is not TaskState.TERMINATED)
    show_json(Ended(**structs.asdict(workflow), unfinished=left), options)


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
        """Read the workflow anew into ``now`` after any event (None: some were lost), and after a
        read that failed. That no agent answers is only noted; other ``ClientError`` come
        through."""
        if bundle == [] and not self._stale:
            return
        try:
            self.now = await _read(self.client, self.now.workflow)
            self._stale = False
        except (NoAgentError, DisconnectedError):
            self._stale = True


async def _follow(followed: Followed, position: Position, *, as_json: bool, bar: bool) -> None:
    """Until it is over, with a bar, or a line for each step."""
    name = followed.now.workflow
    with work_bar(shown=bar) as progress:
        line = progress.add_task(followed.now.name, total=1_000)
        async with aclosing(lasting_bundles(followed.client, position)) as coming:
            while not followed.over:
                bundle = await anext(coming)
                if bar:
                    for told in filter(None, map(_worth_telling, _of(bundle, name))):
                        progress.console.print(plain(told))
                elif not as_json:
                    show_lines(filter(None, map(_step, _of(bundle, name))))
                await followed.look(bundle)
                waits = " waits for a person" if followed.now.gates else ""
                progress.update(
                    line,
                    completed=followed.now.permille,
                    description=f"{followed.now.name}{waits}",
                    left=going(followed.now),
                )


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
    """Return a sentence of what has become of a task, where, and why, where a reason is told and
    says more than that it was cancelled."""
    where = f" on {moved.host}" if moved.host else ""
    plainly = isinstance(reason_of(moved.why, moved.reason), Cancelled)  # as the state says
    why = f": {moved.reason}" if moved.reason and not plainly else ""
    return f"{moved.name} {state_word(moved.after.value)}{where}{why}"


async def _read(client: Client, name: str) -> WorkflowView:
    return (await client.call(SHOW, Show(name, limit=1))).workflow
