"""Keeps the screen's knowledge up to date, in the bridge's loop: greet, read, follow, begin anew.

What is told is complete and in order: the list of workflows, then events from where the list was
read, then tasks workflow by workflow in the background. A conversation that ends is begun anew by
itself. An agent that is there and says nothing (it hangs, or its machine sleeps) is noticed by a
question that it can answer without effort, asked where nothing was heard for a while.

What an event tells whole is not asked for: rows of tasks and machines come with what happened to
them. Agents of before told less; what those leave out is read again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from agent.api.admission import (
    ASKED,
    REQUESTS,
    AskChanged,
    Asked,
    AskView,
    JoinRequested,
    JoinRequestEnded,
    Requests,
    RequestsReply,
)
from agent.api.flock import MEMBERS, PEERS, Members, MembersReply, Peers
from agent.api.permissions import PERMISSIONS, Permissions
from agent.api.programs import PROGRAMS, Programs, ProgramsReply
from agent.api.reasons import NO_WHY
from agent.api.rpc import ErrorCode, Method, P, R
from agent.api.session import (
    CancelFinished,
    FlockChanged,
    Happening,
    PeerChanged,
    ProgramWaiting,
    TaskMoved,
    VolunteeringChanged,
    WorkflowEnded,
)
from agent.api.settings import SETTINGS, Settings, SettingsView
from agent.api.values import Position, TaskState
from agent.api.volunteering import VOLUNTEERING, Volunteering, VolunteeringView
from agent.api.work import SHOW, STATUS, Show, ShowReply, Status, WorkflowView
from agent.client import (
    Client,
    ClientError,
    DisconnectedError,
    EventsLostError,
    Home,
    NoAgentError,
    RequestError,
)
from gui.model import notices
from gui.model.folding import is_open
from gui.model.notices import ALL_PARTS, Absence, FlockPart, Notice

PING_S, PING_UNSEEN_S = 1.05, 5.0
"""A running task tells once a second how far it is: then nobody has to ask."""
ALIVE_S_MAX = 0.9
"""With the pause before it less than the two seconds within which a person is to be told."""
ANSWER_S_MAX = 1.2
LOOK_S, LOOK_UNSEEN_S = 0.7, 5.0
AGAIN_S, AGAIN_S_MAX = 0.1, 0.4
STATUS_PAGE, TASKS_PAGE = 400, 1_000
FLOCK_PAUSE_S, LINKS_EVERY_S = 1.0, 30.0
READ_S_MAX = 30.0
READ_AT_ONCE = 8
BREATH_S = 0.004
"""Between two reads in the background, so that agent and window come to their other work."""

Told = TypeVar("Told", MembersReply, ProgramsReply, SettingsView, RequestsReply, AskView, ShowReply)


@dataclass(slots=True)
class Attention:
    """Written by the window's thread, read here."""

    seen: bool = False
    """Whether anybody looks."""
    sources: bool = False
    """Whether what is looked at is what each source of presence sees."""
    awaited: bool = False
    """Whether an agent is being started: that it is not there yet is no trouble then."""


class Follower:
    """One conversation after the other, until cancelled."""

    def __init__(self, home: Home, tell: Callable[[Notice], None], attention: Attention) -> None:
        self._home, self._tell, self._attention = home, tell, attention
        self._client: Client | None = None
        self._wanted: dict[str, None] = {}
        self._outlooks: dict[str, None] = {}
        self._wanting = asyncio.Event()
        self._flock_news = asyncio.Event()
        self._flock_wanted: set[FlockPart] = set()
        self._joining_news = asyncio.Event()
        self._unserved: set[str] = set()
        self._asked = False
        """Work of others waited for the owner's leave when that was read last."""
        self._silent = False
        self._heard_s = 0.0
        self._presence: VolunteeringView | None = None
        self._hurry = False
        """Something was told of which the rest, such as until when, has to be asked."""

    async def run(self) -> None:
        """Follow the agent, and connect again after each end, ever later while none answers, until
        this is cancelled; never returns. Why there is no conversation is told as ``Absent``, at
        each try."""
        wait_s = AGAIN_S
        while True:
            try:
                async with asyncio.timeout(ANSWER_S_MAX):
                    client = await Client.connect(self._home, "window")
                wait_s = AGAIN_S
                async with client:
                    await self._converse(client)
            except TimeoutError:
                self._tell(notices.Absent(self._or_starting(Absence.SILENT)))
            except (NoAgentError, DisconnectedError):
                self._tell(notices.Absent(self._or_starting(Absence.NO_AGENT)))
            except EventsLostError:
                continue
            except ClientError as error:
                self._tell(notices.Absent(Absence.REFUSED, str(error)))
            await asyncio.sleep(wait_s)
            wait_s = AGAIN_S if self._attention.awaited else min(2 * wait_s, AGAIN_S_MAX)

    def _or_starting(self, why: Absence) -> Absence:
        return Absence.STARTING if self._attention.awaited else why

    def want(self, workflow: str) -> None:
        """Have the tasks of this workflow read, before those of others; returns at once."""
        self._wanted = {workflow: None, **self._wanted}
        self._wanting.set()

    def want_outlook(self, workflow: str) -> None:
        """Ask soon how far this workflow is as a whole, and when it may end, not for its tasks;
        returns at once."""
        self._outlooks[workflow] = None
        self._wanting.set()

    def want_flock(self) -> None:
        """Have all parts of the flock read again, and who asks to join it; returns at once."""
        self.want_parts(ALL_PARTS)
        self._joining_news.set()

    def want_parts(self, parts: Iterable[FlockPart]) -> None:
        """Have these parts of the flock read again soon; returns at once."""
        self._flock_wanted.update(parts)
        self._flock_news.set()

    async def ask(self, method: Method[P, R], params: P, within_s: float) -> R:
        """Ask over the connection that follows, and return the reply. Raises ``ClientError``: at
        once while there is no agent, when it refuses, or when it has not answered in time, and then
        nobody knows whether it did what was asked."""
        client = self._client
        if client is None:
            raise NoAgentError("the agent is not there at the moment: try again when it is")
        try:
            async with asyncio.timeout(within_s):
                return await client.call(method, params)
        except TimeoutError:
            raise DisconnectedError(
                f"the agent has not answered for {within_s:.0f} s; whether it did what you asked "
                f"is not known, so look before you ask again"
            ) from None

    # -- one conversation ------------------------------------------------------------------

    async def _converse(self, client: Client) -> None:
        welcome = client.welcome
        assert welcome is not None
        self._client, self._silent = client, False
        self._attention.awaited = False
        self._unserved.clear()
        trouble: ClientError | None = None
        self._tell(welcome)
        self._heard()
        self.want_flock()
        try:
            position, unfinished = await self._read_status(client)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._follow(client, position))
                group.create_task(self._ping(client))
                group.create_task(self._read_presence(client))
                group.create_task(self._read_flock(client))
                group.create_task(self._read_links())
                group.create_task(self._read_joining(client))
                group.create_task(self._read_rest(client, unfinished))
        except* ClientError as errors:
            trouble = _weightiest(errors)
        finally:
            self._client = None
        if trouble is not None:  # raised here, because what is raised above comes in a group
            raise trouble

    async def _read_status(self, client: Client) -> tuple[Position, list[WorkflowView]]:
        """The first page at once, so that a window has something to show."""
        async with asyncio.timeout(READ_S_MAX):
            reply = await client.call(STATUS, Status(limit=STATUS_PAGE))
        self._tell(notices.StatusPage(0, reply))
        workflows = list(reply.workflows)
        position, first = reply.position, len(reply.workflows)
        while first < reply.total and reply.workflows:
            reply = await client.call(STATUS, Status(first, STATUS_PAGE))
            self._tell(notices.StatusPage(first, reply))
            workflows += reply.workflows
            first += len(reply.workflows)
            await asyncio.sleep(BREATH_S)
        return position, [each for each in workflows if is_open(each)]

    async def _follow(self, client: Client, position: Position) -> None:
        events = client.events(position, patience_s=0.0)
        async with contextlib.aclosing(events):
            async for event in events:
                self._heard()
                self._tell(event)
                self._read_what_it_lacks(event.happening)

    def _read_what_it_lacks(self, happening: Happening) -> None:
        """What an event tells whole is not read again. Agents of before told no rows."""
        match happening:
            case PeerChanged(peer=None, own=None) | FlockChanged():
                self.want_parts(ALL_PARTS)
            case ProgramWaiting():
                self.want_parts((FlockPart.PROGRAMS,))
            case WorkflowEnded() | CancelFinished() if self._asked:
                self.want_parts((FlockPart.PROGRAMS,))  # what has ended asks nobody
            case VolunteeringChanged(view=view):
                self._presence = view or self._presence
                self._hurry = self._hurry or view is None
            case JoinRequested() | JoinRequestEnded() | AskChanged():
                self._joining_news.set()
            case TaskMoved(before=before, after=after, rows=()):
                if TaskState.RUNNING in (before, after):
                    self.want_parts((FlockPart.PEERS,))
            case _:
                pass

    def _heard(self) -> None:
        """The agent is there, whatever it said."""
        self._heard_s = asyncio.get_running_loop().time()
        if self._silent:
            self._silent = False
            self._tell(notices.Answering())

    async def _ping(self, client: Client) -> None:
        """Ask for a sign of life where nothing was heard for a while."""
        loop = asyncio.get_running_loop()
        while True:
            pause_s = PING_S if self._attention.seen else PING_UNSEEN_S
            left_s = self._heard_s + pause_s - loop.time()
            if left_s > 0:
                await asyncio.sleep(min(left_s, PING_S))
                continue
            heard_s = self._heard_s
            try:
                async with asyncio.timeout(ALIVE_S_MAX):
                    await client.greet_again()
            except TimeoutError:
                if self._heard_s == heard_s:
                    self._silent = True
                    self._tell(notices.Absent(Absence.SILENT))
            else:
                self._heard()

    async def _read_presence(self, client: Client) -> None:
        """Read it where an event told less, and on and on while it changes with time alone."""
        while True:
            self._hurry = False
            self._presence = await self._optional(client, VOLUNTEERING, Volunteering())
            if self._presence is not None:
                self._tell(self._presence)
            rested_s = 0.0
            while not self._hurry and not (self._presence_ages() and rested_s >= self._look_s()):
                await asyncio.sleep(LOOK_S)
                rested_s += LOOK_S

    def _look_s(self) -> float:
        return LOOK_S if self._attention.seen else LOOK_UNSEEN_S

    def _presence_ages(self) -> bool:
        """Whether a person looks at what each source sees: those that no rule asks are looked at
        only when somebody wants to know. An agent of before tells no moments, of which ages are
        counted, so it is asked again while somebody is at its machine."""
        view, attention = self._presence, self._attention
        if view is None:
            return False
        looked_at = attention.seen and attention.sources
        return looked_at or (view.owner_present and not view.paused and view.why == NO_WHY)

    async def _read_flock(self, client: Client) -> None:
        """Read what is wanted of the flock, at most once a second, however much machines have to
        say."""
        while True:
            await self._flock_news.wait()
            self._flock_news.clear()
            wanted, self._flock_wanted = self._flock_wanted, set()
            if FlockPart.PEERS in wanted:
                self._tell(await client.call(PEERS, Peers()))
            if FlockPart.MEMBERS in wanted:
                await self._read(client, MEMBERS, Members())
            if FlockPart.PROGRAMS in wanted:
                await self._read(client, PROGRAMS, Programs())
                reply = await self._optional(client, PERMISSIONS, Permissions())
                self._asked = reply is not None and bool(reply.asked)
                if reply is not None:
                    self._tell(reply)
            if FlockPart.SETTINGS in wanted:
                await self._read(client, SETTINGS, Settings())
            await asyncio.sleep(FLOCK_PAUSE_S)

    async def _read_links(self) -> None:
        """How links fare (their delay, what they carried, why there is none) is told by nobody."""
        while True:
            await asyncio.sleep(LINKS_EVERY_S)
            if self._attention.seen:
                self.want_parts((FlockPart.PEERS,))

    async def _read_joining(self, client: Client) -> None:
        """Who asks to be let in, and what became of our own request; read when either moved."""
        while True:
            await self._joining_news.wait()
            self._joining_news.clear()
            await self._read(client, REQUESTS, Requests())
            await self._read(client, ASKED, Asked())
            await asyncio.sleep(FLOCK_PAUSE_S)

    async def _read_rest(self, client: Client, unfinished: list[WorkflowView]) -> None:
        """Read the tasks of unfinished workflows, then of those that are wanted; whatever somebody
        wants to see goes first. Never returns."""
        rest = [each.workflow for each in unfinished]
        rest.reverse()
        while True:
            if self._wanted:
                names = [next(iter(self._wanted))]
                del self._wanted[names[0]]
            elif self._outlooks:
                name, _ = self._outlooks.popitem()
                await self._read(client, SHOW, Show(name, limit=1))  # with a task at the least
                continue
            elif rest:
                names = [rest.pop() for _ in range(min(READ_AT_ONCE, len(rest)))]
            else:
                self._wanting.clear()
                await self._wanting.wait()
                continue
            async with asyncio.TaskGroup() as group:  # which leaves nobody behind when one fails
                for name in names:
                    group.create_task(self._read_tasks(client, name))
            await asyncio.sleep(BREATH_S)

    async def _read_tasks(self, client: Client, name: str) -> None:
        """Read all pages of a workflow's tasks; one that was cleaned up meanwhile has none."""
        try:
            reply = await client.call(SHOW, Show(name, limit=TASKS_PAGE))
            self._tell(reply)
            for first in range(TASKS_PAGE, reply.workflow.tasks, TASKS_PAGE):
                more = Show(reply.workflow.workflow, first, TASKS_PAGE)
                self._tell(await client.call(SHOW, more))
        except RequestError as error:
            if error.code not in (ErrorCode.UNKNOWN, ErrorCode.AMBIGUOUS):
                raise

    async def _read(self, client: Client, method: Method[P, Told], params: P) -> None:
        """Tell what is answered, if anything is."""
        reply = await self._optional(client, method, params)
        if reply is not None:
            self._tell(reply)

    async def _optional(self, client: Client, method: Method[P, R], params: P) -> R | None:
        """None where this agent does not serve it, or has nothing to say of it now."""
        if method.name in self._unserved:
            return None
        try:
            return await client.call(method, params)
        except RequestError as error:
            if error.code == ErrorCode.NO_SUCH_METHOD:
                self._unserved.add(method.name)
            return None


def _weightiest(errors: BaseExceptionGroup[ClientError]) -> ClientError:
    """Return, of several errors that end a conversation, the one that tells best how to go on."""
    found = list(_single(errors))
    for kind in (EventsLostError, NoAgentError):
        for error in found:
            if isinstance(error, kind):
                return error
    return found[0]


def _single(error: BaseException) -> Iterator[ClientError]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _single(inner)
    elif isinstance(error, ClientError):
        yield error
