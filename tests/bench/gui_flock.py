"""A large flock behind a real socket: the contract's answers made by numbers, for the window to eat.

2,000 workflows with 20,000 tasks on 30 machines and 200 events a second are more than real agents on
this machine could be made to have, so their words are generated: the types, the framing and the
order of things are the real ones. `python -m tests.bench.gui_flock HOME [WORKFLOWS] [EVENTS/S]`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from agent.api import rpc, session
from agent.api.flock import MembersReply, MemberView, PeersReply, PeerView
from agent.api.methods import METHODS
from agent.api.session import CONTROL_FILE, ControlFile
from agent.api.values import Position, TaskState
from agent.api.volunteering import VolunteeringView, VolunteerRules
from agent.api.work import (
    NodeView,
    Show,
    ShowReply,
    Status,
    StatusReply,
    TaskView,
    WorkflowView,
)

TASKS = 10
MACHINES = 30
TOKEN = "a token of sixteen letters"
LOG = "generated"
STATES = (TaskState.READY, TaskState.SCHEDULED, TaskState.RUNNING, TaskState.TERMINATED)


class Flock:
    """Workflows of ten tasks each; events walk every task through its life, again and again."""

    def __init__(self, workflows: int) -> None:
        self.now_ms = int(time.time() * 1000)
        self.sequence = 0
        self.states = [[TaskState.SUBMITTED] * TASKS for _ in range(workflows)]
        for own in self.states:
            own[0] = TaskState.READY
        self._walk = self._steps()

    def node(self) -> NodeView:
        return NodeView("n0", "machine 0", "1", "large", volunteering=True, slots=4)

    def workflow(self, number: int) -> WorkflowView:
        own = self.states[number]
        counts = {state: own.count(state) for state in dict.fromkeys(own)}
        busy = any(state in counts for state in (TaskState.RUNNING, TaskState.SCHEDULED))
        name = f"line {number}"
        return WorkflowView(
            name, name, "running" if busy else "waiting", number % 100, "ana", "machine 0",
            self.now_ms - number * 1000, TASKS, counts,
        )  # fmt: skip

    def task(self, number: int, place: int) -> TaskView:
        needs = () if place == 0 else (f"{number}/{place - 1}",)
        state = self.states[number][place]
        host = f"machine {number % MACHINES}" if state in STATES[1:] else ""
        return TaskView(
            f"{number}/{place}", f"step {place}", f"line {number}", f"program {place % 4}", state,
            host=host, needs=needs, expected_s=60,
        )  # fmt: skip

    def status(self, asked: Status) -> StatusReply:
        last = min(len(self.states), asked.first + asked.limit)
        views = tuple(self.workflow(number) for number in range(asked.first, last))
        return StatusReply(self.node(), views, len(self.states), self.position)

    def show(self, asked: Show) -> ShowReply:
        number = int(asked.workflow.rpartition(" ")[2])
        tasks = tuple(self.task(number, place) for place in range(TASKS))
        return ShowReply(self.workflow(number), tasks, 0, self.position)

    def peers(self) -> PeersReply:
        others = tuple(
            PeerView(f"n{number}", f"machine {number}", "linked", version="1", volunteering=True)
            for number in range(1, MACHINES)
        )
        return PeersReply(self.node(), others)

    def members(self) -> MembersReply:
        views = tuple(
            MemberView(f"n{number}", f"machine {number}", number < 2, number == 0, self.now_ms * 2)
            for number in range(MACHINES)
        )
        return MembersReply("large", views, ())

    @property
    def position(self) -> Position:
        return Position(LOG, self.sequence)

    def event(self) -> session.Event:
        number, place, before, after = next(self._walk)
        self.states[number][place] = after
        self.sequence += 1
        moved = session.TaskMoved(
            f"{number}/{place}", f"step {place}", f"line {number}", before, after,
            f"machine {number % MACHINES}", "generated",
        )  # fmt: skip
        return session.Event(self.sequence, int(time.time() * 1000), moved)

    def _steps(self) -> Any:
        for turn in itertools.count():
            for number in range(len(self.states)):
                place, step = (turn // len(STATES)) % TASKS, turn % len(STATES)
                before = self.states[number][place]
                yield number, place, before, STATES[step]


class Serving:
    """One process for all connections of the window."""

    def __init__(self, flock: Flock, rate: float) -> None:
        self._flock, self._rate = flock, rate

    async def arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Line by line."""
        decode = msgspec.json.Decoder(rpc.Request).decode
        try:
            while line := await reader.readline():
                request = decode(line)
                writer.write(msgspec.json.encode(self._answer(request)) + b"\n")
                if request.method == "events":
                    await self._send_events(writer)
        except ConnectionError:
            return
        finally:
            writer.close()

    async def _send_events(self, writer: asyncio.StreamWriter) -> None:
        begin_s, sent = time.monotonic(), 0
        while self._rate:
            due = int((time.monotonic() - begin_s) * self._rate)
            for _ in range(due - sent):
                raw = msgspec.Raw(msgspec.json.encode(self._flock.event()))
                writer.write(msgspec.json.encode(rpc.Notification("event", raw)) + b"\n")
            sent = due
            await writer.drain()
            await asyncio.sleep(0.02)
        await asyncio.Event().wait()

    def _answer(self, request: rpc.Request) -> object:
        flock = self._flock
        match request.method:
            case "hello":
                result: object = session.Welcome(1, "1", "n0", "machine 0", flock.position)
            case "status":
                result = flock.status(msgspec.json.decode(request.params, type=Status))
            case "show":
                result = flock.show(msgspec.json.decode(request.params, type=Show))
            case "peers":
                result = flock.peers()
            case "members":
                result = flock.members()
            case "events":
                result = session.Subscribed(flock.position)
            case "volunteering":
                result = VolunteeringView(True, False, "nobody uses it", VolunteerRules())
            case _:
                problem = rpc.Problem(rpc.ErrorCode.NO_SUCH_METHOD, f"no {request.method} here")
                return rpc.Failure(request.id, problem)
        assert request.method in METHODS
        return rpc.Answer(request.id, msgspec.Raw(msgspec.json.encode(result)))


async def main(home: Path, workflows: int, rate: float) -> None:
    """Serve until killed."""
    serving = Serving(Flock(workflows), rate)
    server = await asyncio.start_server(serving.arrived, "127.0.0.1", 0, limit=2**20)
    port = server.sockets[0].getsockname()[1]
    folder = home / "data"
    folder.mkdir(parents=True, exist_ok=True)
    control = ControlFile(port, TOKEN, os.getpid())
    (folder / CONTROL_FILE).write_bytes(msgspec.json.encode(control))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    told = sys.argv[1:]
    number, per_second = (int(told[1]), float(told[2])) if len(told) > 2 else (2_000, 200.0)
    asyncio.run(main(Path(told[0]), number, per_second))
