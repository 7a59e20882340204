"""A large flock behind a real socket, for the window to follow; see ``tests.bench.gui_answers``.

`python -m tests.bench.gui_flock HOME [WORKFLOWS] [EVENTS/S] [DELAY_MS]`. With a delay every answer
takes so long, as from an agent that is far away. SIGUSR1 cuts all connections, as a restart does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from agent.api import rpc, session
from agent.api.datasets import Datasets
from agent.api.history import Runs
from agent.api.logs import AgentLog
from agent.api.methods import METHODS
from agent.api.session import CONTROL_FILE, ControlFile
from agent.api.work import Plan, Show, Status, Why
from tests.bench.gui_answers import Flock

SOCKET = "control.socket"
TOKEN = "a token of sixteen letters"
SILENT_S = 0.5
"""Who follows the log gets what is new so often."""


class Serving:
    """One process for all connections of the window."""

    def __init__(self, flock: Flock, rate: float, delay_s: float) -> None:
        self._flock, self._rate, self._delay_s = flock, rate, delay_s
        self._writers: set[asyncio.StreamWriter] = set()
        self._answers: dict[str, Callable[[], Any]] = {
            "hello": lambda: session.Welcome(1, "1", "n0", "machine 0", flock.position),
            "peers": flock.peers,
            "members": flock.members,
            "programs": flock.programs,
            "settings": flock.settings,
            "volunteering": flock.volunteering,
            "statistics": flock.statistics,
            "events": lambda: session.Subscribed(flock.position),
        }
        self._told: dict[str, tuple[type, Callable[[Any], Any]]] = {
            "status": (Status, flock.status),
            "show": (Show, flock.show),
            "why": (Why, flock.why),
            "datasets": (Datasets, flock.datasets),
            "plan": (Plan, flock.plan),
            "runs": (Runs, flock.runs),
            "agent_log": (AgentLog, flock.log),
        }

    def cut(self) -> None:
        """All connections end; new ones are welcome."""
        for writer in self._writers:
            writer.close()

    async def arrived(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Line by line; answers are late one by one, not one after the other."""
        decode = msgspec.json.Decoder(rpc.Request).decode
        self._writers.add(writer)
        try:
            async with asyncio.TaskGroup() as group:
                while line := await reader.readline():
                    group.create_task(self._answer(decode(line), writer))
        except* ConnectionError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, request: rpc.Request, writer: asyncio.StreamWriter) -> None:
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        if request.method == "agent_log" and b"wait_s" in bytes(request.params):
            await asyncio.sleep(SILENT_S)
        writer.write(msgspec.json.encode(self._said(request)) + b"\n")
        if request.method == "events":
            await self._send_events(writer)

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

    def _said(self, request: rpc.Request) -> object:
        if request.method in self._answers:
            result = self._answers[request.method]()
        elif request.method in self._told:
            kind, told = self._told[request.method]
            result = told(msgspec.json.decode(request.params, type=kind))
        else:
            problem = rpc.Problem(rpc.ErrorCode.NO_SUCH_METHOD, f"no {request.method} here")
            return rpc.Failure(request.id, problem)
        assert request.method in METHODS
        return rpc.Answer(request.id, msgspec.Raw(msgspec.json.encode(result)))


async def main(home: Path, workflows: int, rate: float, delay_s: float) -> None:
    serving = Serving(Flock(workflows), rate, delay_s)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, serving.cut)
    folder = home / "data"
    folder.mkdir(parents=True, exist_ok=True)
    place = str(folder / SOCKET)
    server = await asyncio.start_unix_server(serving.arrived, place, limit=2**24)
    control = ControlFile(place, TOKEN, os.getpid())
    (folder / CONTROL_FILE).write_bytes(msgspec.json.encode(control))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    told = [*sys.argv[1:], *("2000", "200", "0")[len(sys.argv) - 2 :]]
    asyncio.run(main(Path(told[0]), int(told[1]), float(told[2]), float(told[3]) / 1000))
