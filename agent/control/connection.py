"""One client: its lines in, answers and events out.

Questions are worked on at once and answered when they are done, so that a submission that waits
for a second disk holds nothing up; ids tell answers apart. Nothing is queued for a client: while
much is unread, no further question is taken from it and no event told to it. Who then reads
nothing for long, or lags so far behind that events are forgotten, is cut off with a last word that
says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Callable, Coroutine

from msgspec import Struct

from agent.api.errors import RefusedError, ServiceError, WantsPhraseError
from agent.api.methods import METHODS
from agent.api.rpc import ErrorCode, Problem, Request, RequestId
from agent.api.session import HELLO, PROVE, Closing, Hello, Welcome
from agent.api.values import Position
from agent.control.auditing import note, note_line
from agent.control.doorkeeping import Person
from agent.control.envelope import (
    Lines,
    Malformed,
    TooLong,
    answer_line,
    failure_line,
    notification_line,
    read_request,
)
from agent.control.limits import Limits, Pace
from agent.control.members import Relay, hello_for
from agent.control.membership import other_member
from agent.control.request_context import RequestContext, Verb
from agent.control.rights import within_rights
from agent.control.text_session import TextError, TextSession, read_line
from agent.control.verbs import VERBS
from agent.protocol.phrases import said

READ_BYTES = 256 * 1024

log = logging.getLogger(__name__)


class Connection:
    """From the first byte to the last, which ``end`` brings about from wherever it is called."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        context: Callable[..., RequestContext],
        limits: Limits,
        pace: Pace | None = None,
    ) -> None:
        """``pace``: how fast the member asks whose client this is; None where it is the own one."""
        self._pace = pace
        self._reader, self._writer, self._limits = reader, writer, limits
        self._call = context(follow=self._follow, pass_on=self._pass_on)
        self._late: asyncio.TimerHandle
        self._relay: Relay | None = None
        self._text: TextSession | None = None
        self.greeted = False
        """It has shown the token."""
        self._lines = Lines(limits.greeting_bytes_max)
        self._slots = asyncio.Semaphore(limits.pending_max)
        self._tasks: set[asyncio.Task[None]] = set()
        self._telling: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        writer.transport.set_write_buffer_limits(high=limits.output_bytes_high)

    async def run(self) -> None:
        """Serve the client until either side ends the connection, or it has not greeted in time;
        then end what still works for it, delete its unfinished uploads, tell it the last word and
        close."""
        self._late = self._end_after(self._limits.greeting_s_max)
        self._begin(self._hear_all())
        try:
            reason = await self._ended
        finally:
            self._late.cancel()
            if self._relay is not None:
                self._relay.close()
            if self._text is not None:
                self._text.end()
            await asyncio.to_thread(self._call.uploads.forget_all)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close(reason)

    @property
    def over(self) -> bool:
        """Only its last words are still on their way."""
        return self._ended.done()

    def end(self, reason: str = "") -> None:
        """Have ``run`` end the connection, with ``reason``, if it is not empty, told as a last
        word; returns at once. Only the first call counts."""
        if not self._ended.done():
            self._ended.set_result(reason)

    # -- what the client says --------------------------------------------------------------

    async def _hear_all(self) -> None:
        while data := await self._reader.read(READ_BYTES):
            self._lines.feed(data)
            for line in self._lines.take():
                if self.over:
                    return
                if self._pace is not None:
                    await self._pace.keep()
                await self._hear(line)
        # Who says no more may still wait for answers: a script that was piped in.
        for _ in range(self._limits.pending_max):
            await self._slots.acquire()
        self.end()

    async def _hear(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            sentence = f"the line is longer than {line.limit_bytes} bytes"
            await self._refuse(None, Problem(ErrorCode.TOO_LONG, sentence))
        elif self._relay is not None:
            await self._relay.say(line)
        elif line.startswith(b"{"):
            request = read_request(line)
            problem = self._problem_with(request)
            if problem is not None and self.greeted and isinstance(request, Request):
                note(self._call, request.method, None, RefusedError(ErrorCode(problem.code), ""))
            if problem is not None:
                await self._refuse(request.id, problem)
            elif isinstance(request, Request):
                await self._slots.acquire()
                answering = self._begin(self._answer(request))
                if not self.greeted:
                    await answering
        elif line.startswith(b"["):
            sentence = "a list of requests is not taken: send each of them in a line of its own"
            await self._refuse(None, Problem(ErrorCode.NOT_A_REQUEST, sentence))
        elif line:
            await self._take_text(line)

    def _problem_with(self, request: Request | Malformed) -> Problem | None:
        """Why it is not answered: nobody who did not greet asks, nor a member what is the owner's."""
        if isinstance(request, Malformed):
            return request.problem
        if not self.greeted and request.method not in (HELLO.name, PROVE.name):
            sentence = "say hello first, with the token from control.json"
            return Problem(ErrorCode.UNAUTHORISED, sentence)
        neighbour = self._call.neighbour
        if isinstance(neighbour, Person) and not neighbour.may(request.method):
            whose = f"for administrators of {self._call.now.name}, whose agent is a service"
            return Problem(ErrorCode.UNAUTHORISED, f"{request.method} is {whose}")
        if self._call.member and not METHODS[request.method].by_members:
            whose = f"for the account that runs the agent of {self._call.now.name}, on that machine"
            return Problem(ErrorCode.UNAUTHORISED, f"{request.method} is {whose}")
        return None

    async def _take_text(self, line: bytes) -> None:
        """Lines that people type, from the one with the token on."""
        if self._call.member or isinstance(self._call.neighbour, Person):
            await self._write(
                b"ERROR lines of text are for clients of the same account: send JSON-RPC\n"
            )
            self._end_stranger()
        elif not self.greeted and (nonce := self._word(line, "PROVE")):
            self._late.cancel()  # a person has to look at the answer first
            self._late = self._end_after(self._limits.proof_s_max)
            answered, proof = self._call.neighbour.prove(nonce)
            await self._write(f"PROOF {nonce} {answered} {proof}\n".encode())
        elif not self.greeted and not self._call.neighbour.may_enter(self._word(line, "TOKEN")):
            await self._write(b"ERROR say TOKEN first, with what `wingbeat telnet` tells\n")
            self.end()
        else:
            self._greet()
            if self._text is None:
                self._text = TextSession(self._call, self._write)
                self._begin(self._text.tell_progress())
            note_line(self._call, line)
            if not await self._text.answer(line):
                self.end()

    @staticmethod
    def _word(line: bytes, verb: str) -> str:
        """What stands behind this verb; empty where the line is another one."""
        try:
            said, told = read_line(line)
        except TextError:
            return ""
        return told[0] if said == verb else ""

    def _greet(self) -> None:
        self.greeted = True
        self._lines.limit_bytes = self._limits.line_bytes_max

    async def _refuse(self, request_id: RequestId | None, problem: Problem) -> None:
        await self._write(failure_line(request_id, problem))
        self._end_stranger()

    def _end_stranger(self) -> None:
        """Who has not shown the token gets one answer, if it is not a welcome."""
        if not self.greeted:
            self.end()

    def _end_after(self, limit_s: float) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        return loop.call_later(limit_s, self._not_greeted, limit_s)

    def _not_greeted(self, limit_s: float) -> None:
        if not self.greeted:
            self.end(f"no hello came within {limit_s:g} seconds")

    # -- what it is told -------------------------------------------------------------------

    async def _answer(self, request: Request) -> None:
        """Write a line for whatever becomes of a request; nothing that a verb raises gets further."""
        try:
            result = await self._serve(VERBS[request.method], request)
            line = answer_line(request.id, result)
        except RefusedError as error:
            await self._refuse(request.id, error.problem)
        except ServiceError as error:
            wanted = isinstance(error, WantsPhraseError)
            code = ErrorCode.PHRASE_WANTED if wanted else ErrorCode.REFUSED
            await self._refuse(request.id, Problem(code, str(error)))
        except (sqlite3.Error, OSError) as error:
            log.warning("%s failed", request.method, exc_info=error)
            await self._refuse(request.id, _refused_here(request.method, error).problem)
        except Exception:
            log.exception("%s failed", request.method)
            sentence = f"the agent failed at {request.method}; its log says more"
            await self._refuse(request.id, Problem(ErrorCode.AGENT_FAILED, sentence))
        else:
            if request.method == HELLO.name:
                self._greet()
            await self._write(line)
        finally:
            self._slots.release()

    async def _serve(self, verb: Verb, request: Request) -> Struct:
        """With a note of it in the audit, where it is an act, however it ends."""
        params: Struct | None = None
        try:
            params = verb.read(request.params)
            result = await verb.serve(self._call, within_rights(self._call, verb.name, params))
        except Exception as error:
            note(self._call, verb.name, params, error)
            raise
        note(self._call, verb.name, params)
        return result

    def _follow(self, position: Position, also: tuple[str, ...]) -> None:
        """The answer to the question for events is written before this task has its first turn."""
        if self._telling is not None:
            self._telling.cancel()
        self._telling = self._begin(self._tell_events(position.sequence, also))

    async def _pass_on(self, hello: Hello) -> Welcome | None:
        """Another member answers from now on, unless this node is meant."""
        call = self._call
        if call.member or (isinstance(call.neighbour, Person) and not call.neighbour.administers):
            raise RefusedError(
                ErrorCode.UNAUTHORISED,
                said("a machine passes on what its own clients say, and nobody else's"),
            )
        if hello.node in (call.now.name, call.now.node):
            return None
        member = other_member(call, hello.node)
        if member.own:
            return None
        relay = Relay(member.name, *await call.node.reach(member.node))
        welcome = await relay.greet(hello_for(hello.client, call.now.name))
        self._relay = relay
        self._begin(self._hear_relay(relay))
        return welcome

    async def _hear_relay(self, relay: Relay) -> None:
        await relay.hear(self._write)
        self.end(f"{relay.name} ended the connection")

    async def _tell_events(self, sequence: int, also: tuple[str, ...]) -> None:
        events = self._call.events
        with events.following():
            while True:
                await events.wait_after(sequence)
                try:
                    lines = events.lines_after(sequence, also, far=bool(self._call.member))
                except RefusedError:
                    self.end(f"you read too slowly: the events after {sequence} are forgotten")
                    return
                sequence += len(lines)
                await self._write(b"".join(lines))

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        try:
            async with asyncio.timeout(self._limits.unread_s_max):
                await self._writer.drain()
        except TimeoutError:
            self.end(f"you read nothing for {self._limits.unread_s_max:g} seconds")

    # -- its end ---------------------------------------------------------------------------

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, OSError):
            self.end()
        elif error is not None:
            log.error("a client's connection failed", exc_info=error)
            self.end("the agent failed; its log says more")

    async def _close(self, reason: str) -> None:
        """What is still unread is waited for a little: closing at once could lose the answer."""
        with contextlib.suppress(OSError, RuntimeError):
            if reason:
                text = self._text is not None
                last = (
                    f"ERROR {reason}\n".encode()
                    if text
                    else notification_line("closing", Closing(reason))
                )
                self._writer.write(last)
            if not self._writer.can_write_eof():
                self._writer.close()
                return
            async with asyncio.timeout(self._limits.closing_s_max):
                self._writer.write_eof()
                while await self._reader.read(READ_BYTES):
                    pass
        self._writer.transport.abort()


def _refused_here(method: str, error: sqlite3.Error | OSError) -> RefusedError:
    """No fault of ours: verbs need not put it into words, each for itself."""
    if isinstance(error, sqlite3.Error):
        told = said("the history on this disk cannot be read: {error}", error=str(error))
        return RefusedError(ErrorCode.REFUSED, told)
    why = f"{error.strerror}: {error.filename}" if error.filename else str(error)
    told = said("the system refuses what {name} needs here: {error}", name=method, error=why)
    return RefusedError(ErrorCode.REFUSED, told)
