"""How much nodes talk: per task and while idle, and what that would come to with 1,000 nodes.

A protocol without a server pays in messages, so the question is which of them grow. Each size of
flock idles first, then works off two chained tasks of two seconds per node, all submitted at once
at drawn nodes: more work than places, so that nodes race. Every copy of a message counts; bytes
are the codec's. Heartbeats belong to idling and are left out of the figures per task.

What 1,000 nodes would cost is not measured but continued from the two largest flocks. ``power`` is
the exponent between those two: 0 does not grow with the number of peers, 1 grows like it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from random import Random
from typing import Final

from agent.protocol import messages
from agent.protocol.events import Event, Received
from agent.protocol.messages import Heartbeat
from tests.bench.report import Cell, Figures, Sheet, Verdict
from tests.sim.lan import Flock, chain
from tests.sim.network import Channel


class Meter:
    """Sits between the machines of a flock and its network."""

    def __init__(self, flock: Flock) -> None:
        network = flock.simulation.network
        self.messages: dict[str, int] = {}
        self.bytes: dict[str, int] = {}
        self._last: Event | None = None
        self._last_bytes = 0
        self._send = network.send
        network.send = self.send  # type: ignore[method-assign]

    def send(self, channel: Channel, event: Event) -> None:
        """Count a word and put it on the wire."""
        if isinstance(event, Received):
            if event is not self._last:
                self._last, self._last_bytes = event, len(messages.encode(event.message))
            kind = type(event.message).__name__
            self.messages[kind] = self.messages.get(kind, 0) + 1
            self.bytes[kind] = self.bytes.get(kind, 0) + self._last_bytes
        self._send(channel, event)

    def restart(self) -> None:
        self.messages, self.bytes = {}, {}


WHAT: Final = "messages and bytes per task and per idle node-second, 3 to 100 nodes, and for 1,000"

SIZES: Final = (3, 9, 30, 100)
SIZES_QUICK: Final = (2, 3)
FAR_NODES: Final = 1_000
IDLE_S: Final = 10.0
CHAIN_TASKS: Final = 2
TASK_S: Final = 2.0
BEAT: Final = Heartbeat.__name__
SMALL_SHARE: Final = 0.002

IDLE_PER_PEER_MAX: Final = 2.5
"""A heartbeat each half second and little else; more would be chatter without a cause."""
TASK_PER_PEER_MAX: Final = 15.0
"""Enqueued, asked, answered, four states, progress, holdings: each at most about once per peer."""


@dataclass(frozen=True, slots=True)
class Talk:
    """Messages and bytes of one kind, per task or per idle node-second."""

    messages: dict[str, float]
    bytes: dict[str, float]


def measure(*, quick: bool) -> Figures:
    sizes = SIZES_QUICK if quick else SIZES
    rows = [_flock(nodes) for nodes in sizes]
    return {
        "sizes": list(sizes),
        "rows": rows,
        "far": {name: _far(rows, name) for name in ("idle", "task", "idle_bytes", "task_bytes")},
    }


def _flock(nodes: int) -> Figures:
    flock = Flock(nodes, names=[f"host{number:03}" for number in range(nodes)])
    meter = Meter(flock)
    flock.run_until(flock.world.now + IDLE_S)
    idle = _per(meter, nodes * IDLE_S)
    meter.restart()
    draw = Random(f"messages {nodes}")
    for number in range(nodes):
        flock.submit(f"w{number:03}", chain(CHAIN_TASKS, TASK_S), node=draw.randrange(nodes))
    if not flock.run():
        raise RuntimeError(f"{flock.open_tasks} tasks have not ended")
    meter.messages.pop(BEAT, None)
    meter.bytes.pop(BEAT, None)
    task = _per(meter, nodes * CHAIN_TASKS)
    return {
        "nodes": nodes,
        "idle": idle.messages,
        "idle_bytes": idle.bytes,
        "task": task.messages,
        "task_bytes": task.bytes,
    }


def _per(meter: Meter, share: float) -> Talk:
    return Talk(
        {kind: count / share for kind, count in sorted(meter.messages.items())},
        {kind: count / share for kind, count in sorted(meter.bytes.items())},
    )


def _far(rows: list[Figures], name: str) -> Figures:
    """Each kind continued on the straight line through the two largest flocks."""
    before, last = rows[-2], rows[-1]
    far: Figures = {}
    for kind in last[name]:
        known, least = last[name][kind], before[name].get(kind, 0.0)
        slope = (known - least) / (last["nodes"] - before["nodes"])
        peers = (last["nodes"] - 1) / (before["nodes"] - 1)
        power = log(known / least) / log(peers) if least and known else None
        value = max(0.0, known + slope * (FAR_NODES - last["nodes"]))
        far[kind] = {"value": value, "power": power}
    return far


def judge(figures: Figures) -> list[Verdict]:
    """What there is per peer must not grow with the flock."""
    verdicts = []
    for name, what, limit in (
        ("idle", "messages per idle node-second and peer, largest flock", IDLE_PER_PEER_MAX),
        ("task", "messages per task and peer, largest flock", TASK_PER_PEER_MAX),
    ):
        last = figures["rows"][-1]
        peers = last["nodes"] - 1
        verdicts.append(Verdict(what, sum(last[name].values()) / peers, limit))
    return verdicts


def sheets(figures: Figures) -> list[Sheet]:
    return [
        _sheet(figures, "task", "Messages per task"),
        _sheet(figures, "task_bytes", "Bytes per task"),
        _sheet(figures, "idle", "Messages per idle node-second"),
        _sheet(figures, "idle_bytes", "Bytes per idle node-second"),
    ]


def _sheet(figures: Figures, name: str, title: str) -> Sheet:
    columns = ["kind", *(f"{n} nodes" for n in figures["sizes"]), f"{FAR_NODES:,} nodes", "power"]
    far = figures["far"][name]
    total = sum(each["value"] for each in far.values()) or 1.0
    rows: list[list[Cell]] = []
    for kind in sorted(far, key=lambda each: -float(far[each]["value"])):
        if far[kind]["value"] >= SMALL_SHARE * total:
            known: list[Cell] = [row[name].get(kind, 0.0) for row in figures["rows"]]
            rows.append([kind, *known, far[kind]["value"], far[kind]["power"]])
    sums: list[Cell] = [sum(row[name].values()) for row in figures["rows"]]
    rows.append(["all", *sums, total, None])
    return Sheet(title, columns, rows, "Kinds below 0.2 % of the last column are only in the sum.")
