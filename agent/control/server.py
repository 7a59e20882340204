"""The way in to a node: listens for the clients of its account, and keeps those that show the token.

Clients connect to a socket in the agent's folder, on Windows to a pipe; where its owner has switched it
on, on a port of loopback too, for telnet. A file tells where, and the token. It is written whole, for
the owner of the account alone, once the server listens, and removed when the server ends. What an
agent that was killed leaves behind opens nothing: the token is drawn anew at each start.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from agent.api.rpc import ErrorCode, Problem
from agent.api.session import CONTROL_FILE, ControlFile, read_control
from agent.control.connection import Connection
from agent.control.doorkeeping import Account, Neighbour, Person
from agent.control.envelope import failure_line
from agent.control.estimates import TaskProgress
from agent.control.event_log import EventLog
from agent.control.happenings import happenings_of, with_rows
from agent.control.limits import Limits, Pace
from agent.control.members import Members
from agent.control.port import NodePort, Notice
from agent.control.program_views import FlockPrograms
from agent.control.request_context import RequestContext
from agent.control.uploads import Uploads
from agent.control.views import Views
from agent.host.local_socket import Listening, account_of, caller_of, listen, listen_for_all
from agent.host.private_files import PrivateFolder
from agent.protocol.phrases import UNREADABLE
from agent.protocol.records import NodeId

TOKEN_BYTES = 32
LOOPBACK = "127.0.0.1"
UPLOADS = "uploads"
"""In the data folder: what clients send, until it is a dataset."""
SOCKET = "control.socket"
"""In the data folder while the agent runs."""

log = logging.getLogger(__name__)


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def write_control_file(folder: Path, place: str, token: str, port: int = 0) -> None:
    """Write place, token, port and the id of this process into the file where this account's clients
    look, readable by nobody else. Raises ``MembershipError`` when the disk refuses."""
    content = ControlFile(place, token, os.getpid(), port)
    data = msgspec.json.format(msgspec.json.encode(content)) + b"\n"
    PrivateFolder(folder).write(CONTROL_FILE, data)


def remove_control_file(folder: Path, token: str) -> None:
    """Remove the control file if it still has this token; do nothing where it is missing, cannot be
    read or is another server's. Raise ``OSError`` when it cannot be removed."""
    path = folder / CONTROL_FILE
    try:
        written = read_control(path.read_bytes())
    except (OSError, *UNREADABLE):
        return
    if written.token == token:
        path.unlink(missing_ok=True)


class Asking(NamedTuple):
    """A member whose client asks: what people call it, and its id."""

    name: str
    node: NodeId


HERE = Asking("", "")
"""A client of this machine."""


class ControlServer:
    """Serves the clients of one node, from ``start`` to ``stop``."""

    def __init__(
        self,
        node: NodePort,
        folder: Path,
        limits: Limits | None = None,
        *,
        telnet: bool = False,
        service: Path | None = None,
        administrators: Collection[str] = (),
    ) -> None:
        """``service``: where it listens for everybody on this machine too, and ``administrators``
        the groups that may do everything there."""
        self._service, self._administrators = service, administrators
        self._for_all: Listening | None = None
        self._node, self._folder, self._telnet = node, folder, telnet
        self._limits = limits or Limits()
        self._token = new_token()
        self._progress = TaskProgress()
        self._events = EventLog(self._limits)
        self._members = Members(node)
        self._context = partial(
            RequestContext,
            node=node,
            events=self._events,
            stop=self._stop_node,
            progress=self._progress,
            members=self._members,
            programs=FlockPrograms(node, self._members),
        )
        self._connections: dict[Connection, asyncio.Task[None]] = {}
        self._accounts: dict[Connection, Account | Asking | None] = {}
        """Whose they are: an account's of this machine, or another member's."""
        self._paces: dict[NodeId, Pace] = {}
        self._listening: Listening | None = None
        self._loopback: asyncio.Server | None = None
        self._elsewhere: Path | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._stopped_for = ""
        self._ending: asyncio.Task[None]

    async def start(self) -> None:
        """Begin to listen and to hear the node's notices, then write the control file; returns when
        that is done. Raises ``OSError`` or ``MembershipError`` when that fails; nothing is left
        then."""
        try:
            self._listening = await self._listen()
            if self._telnet:
                self._loopback = await asyncio.start_server(self._arrived, LOOPBACK, 0)
            if self._service is not None:
                self._for_all = await listen_for_all(self._service, self._person_arrived)
            self._unsubscribe = self._node.subscribe(self._noticed)
            told = (self._folder, self.place, self._token, self.port)
            await asyncio.to_thread(write_control_file, *told)
        except BaseException:
            await self.stop()
            raise

    @property
    def place(self) -> str:
        """The socket or pipe on which it listens; empty while it does not."""
        return "" if self._listening is None else self._listening.place

    @property
    def port(self) -> int:
        """The port of loopback on which it listens too; 0 where it does not."""
        listening = self._loopback.sockets if self._loopback is not None else ()
        return int(listening[0].getsockname()[1]) if listening else 0

    async def _listen(self) -> Listening:
        """Not every disk takes sockets: then in a folder of this account where the system has such."""
        try:
            return await listen(self._folder / SOCKET, self._arrived)
        except OSError as error:
            log.info("no socket can lie in %s (%s): it is elsewhere", self._folder, error.strerror)
        self._elsewhere = Path(tempfile.mkdtemp(dir=os.environ.get("XDG_RUNTIME_DIR") or None))
        return await listen(self._elsewhere / SOCKET, self._arrived)

    async def _arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = self.port if account_of(writer) is None and self._by_port(writer) else 0
        place = f"{LOOPBACK}:{port}" if port else self.place
        await self._serve(Neighbour(self._token, place, account_of(writer)), HERE, reader, writer)

    async def _person_arrived(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        caller = caller_of(writer)
        if caller is None:
            writer.close()
            return
        person = await asyncio.to_thread(Person, caller, self._administrators)
        await self._serve(person, HERE, reader, writer)

    @staticmethod
    def _by_port(writer: asyncio.StreamWriter) -> bool:
        return isinstance(writer.get_extra_info("sockname"), tuple)

    @property
    def clients(self) -> int:
        """How many have shown the token and are connected."""
        return sum(each.greeted and not each.over for each in self._connections)

    async def stop(self, reason: str = "the agent is stopping") -> None:
        """Let nobody in any more, end the connections to other members, remove the control file,
        and end every client's connection with this reason; returns when all have ended. Can be
        called again. Raises ``OSError``, when all that is done, where the file cannot be removed."""
        self._stopped_for = reason
        for each in (self._listening, self._loopback, self._for_all):
            if each is not None:
                each.close()
        if self._elsewhere is not None:
            shutil.rmtree(self._elsewhere, ignore_errors=True)
        self._unsubscribe()
        self._unsubscribe = lambda: None
        await self._members.close()
        try:
            remove_control_file(self._folder, self._token)
        finally:
            for connection in self._connections:
                connection.end(reason)
            await asyncio.gather(*self._connections.values(), return_exceptions=True)

    def _stop_node(self, why: str) -> None:
        self._ending = asyncio.create_task(self._node.stop(why))

    def _noticed(self, notice: Notice) -> None:
        self._progress.note(notice)
        now, events = self._node.now(), self._events
        views = Views(now, self._progress)
        for happening in happenings_of(notice, now):
            told = with_rows(happening, self._node, views) if events.followed else happening
            events.record(told)

    async def serve_member(
        self, name: str, node: NodeId, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve a client that another member, verified before, passes on, until its connection
        ends, as far as its role lets it; while the server stops or too many are connected, it is
        told so and sent away."""
        await self._serve(Neighbour(self._token), Asking(name, node), reader, writer)

    def _full_for(self, account: Account | Asking | None) -> int:
        """How many have taken all places of this account or member, or of all such; 0 while there is
        one. Members have places of their own, so that no client of this machine gives way to them."""
        there = [
            self._accounts[each] for each in self._connections if each.greeted and not each.over
        ]
        member = isinstance(account, Asking)
        of = Counter(each for each in there if isinstance(each, Asking) is member)
        if of[account] >= self._limits.connections_max:
            return of[account]
        return of.total() if of.total() >= self._limits.connections_of_all_max else 0

    async def _serve(
        self,
        neighbour: Neighbour,
        member: Asking,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """It is told why and sent away while the server stops or is full for its account; of too many
        that have not greeted, the first is ended for it, of the account that has most of them."""
        uploads = Uploads(self._folder / UPLOADS)
        context = partial(
            self._context,
            uploads=uploads,
            member=member.name,
            member_node=member.node,
            neighbour=neighbour,
        )
        pace = self._paces.setdefault(member.node, Pace(self._limits)) if member.node else None
        connection = Connection(reader, writer, context, self._limits, pace)
        whose = member if member.node else neighbour.account
        strangers = [each for each in self._connections if not (each.greeted or each.over)]
        crowd = Counter(self._accounts[each] for each in strangers)
        strangers.sort(key=lambda each: -crowd[self._accounts[each]])
        if self._stopped_for:
            connection.end(self._stopped_for)
        elif full := self._full_for(whose):
            sentence = f"{full} clients are connected, which is all there may be"
            writer.write(failure_line(None, Problem(ErrorCode.TOO_MANY, sentence)))
            connection.end()
        elif len(strangers) >= self._limits.strangers_max:
            strangers[0].end("too many others connect at this moment")
        task = asyncio.current_task()
        if task is None:
            return
        self._connections[connection] = task
        self._accounts[connection] = whose
        try:
            await connection.run()
        finally:
            del self._connections[connection], self._accounts[connection]
