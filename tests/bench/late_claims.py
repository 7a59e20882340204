"""Late claims (004): its own evaluation by its rule, by its rule in our protocol, and by ours.

Four devices of which one submits 128 tasks, and eight of which four submit 32 each; tasks of 10 s and of 60 s,
without loss and with one of ten packets lost. The source's devices speak in broadcasts, and what is lost
is lost. Our nodes are linked by TCP: what is lost is sent again, after 0.2 s at first and twice as late
each time, and what comes behind it waits; the source has no figures, so nothing is held against it.

The optimum is that all devices work from the beginning to the end, with 50 ms for each start of a program.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from agent.protocol.events import Event, Received
from agent.protocol.messages import Heartbeat
from agent.protocol.policy.late_claims import STRATEGIES, WINDOW_S
from tests.bench.report import Figures, Sheet, Verdict
from tests.bench.source_late_claims import devices
from tests.bench.source_rules import SourceWatch
from tests.sim.lan import Flock, Step
from tests.sim.network import Channel

WHAT: Final = "late claims: four and eight devices, by the document's rule and by ours"
TASKS: Final = 128
DEVICES: Final = ((4, 1), (8, 4))
"""How many there are, and how many of them submit."""
LENGTHS_S: Final = (10.0, 60.0)
LOSSES: Final = (0.0, 0.1)
START_S: Final = 0.05
SHORT_WINDOW_S: Final = 1.0
SENT_AGAIN_S: Final = 0.2
LIMIT_S: Final = 40_000.0
SOURCE: Final = {
    **{f"source, {strategy}": (strategy, WINDOW_S) for strategy in STRATEGIES},
    f"source, Always, T = {SHORT_WINDOW_S:g} s": ("Always", SHORT_WINDOW_S),
}
OURS: Final = ("late-claims", "late-claims-among-3", "late-claims-unasked", "look-ahead")
QUICK_TASKS: Final = 8


class Lossy:
    """Counts what is sent but for heartbeats, and loses some of it: for ever, or until it has been sent
    again."""

    def __init__(self, flock: Flock, loss: float, *, again: bool) -> None:
        self._loss, self._again, self._random = loss, again, Random("losses")
        self.messages = 0
        network = flock.simulation.network
        self._send = network.send
        network.send = self.send  # type: ignore[method-assign]

    def send(self, channel: Channel, event: Event) -> None:
        """Put a word on the wire; late, or not at all, where it is lost."""
        if not isinstance(event, Received) or not isinstance(event.message, Heartbeat):
            self.messages += 1
        late_s = 0.0
        while self._random.random() < self._loss:
            late_s = 2 * late_s + SENT_AGAIN_S
        if late_s and not self._again:
            return
        channel.delay += late_s
        self._send(channel, event)
        channel.delay -= late_s


def measure(*, quick: bool = False) -> Figures:
    """Return what each comes to; a quick run has few tasks, none of them long, and loses nothing."""
    rows = [
        _cell(name, count, submit, length_s, loss, QUICK_TASKS if quick else TASKS)
        for count, submit in DEVICES
        for length_s in (LENGTHS_S[:1] if quick else LENGTHS_S)
        for loss in (LOSSES[:1] if quick else LOSSES)
        for name in (*SOURCE, *OURS)
    ]
    return {"rows": rows}


def _cell(name: str, count: int, submit: int, length_s: float, loss: float, tasks: int) -> Figures:
    if name in SOURCE:
        flock = Flock(
            count, start_s=START_S, node_class=devices(*SOURCE[name]), watch_class=SourceWatch
        )
    else:
        flock = Flock(count, start_s=START_S, policy=name)
    meter = Lossy(flock, loss, again=name not in SOURCE)
    since_s = flock.world.now
    names = [
        task
        for number in range(submit)
        for task in flock.submit(f"w{number}", [Step(length_s)] * (tasks // submit), node=number)
    ]
    ended = flock.run(LIMIT_S)
    until_s = max(flock.times[each].ended_s or flock.world.now for each in names)
    begun = sum(len(flock.times[each].started) for each in names)
    return {
        "rule": name,
        "tasks": tasks,
        "devices": count,
        "length_s": length_s,
        "loss": loss,
        "open": 0 if ended else flock.open_tasks,
        "makespan_s": until_s - since_s,
        "optimum_s": tasks / count * (length_s + START_S),
        "messages": meter.messages,
        "twice": begun - tasks,
        "wasted_s": _worked_s(flock) - tasks * (length_s + START_S),
    }


def _worked_s(flock: Flock) -> float:
    """How long programs ran, all together; what still runs is for nothing."""
    for machine in flock.simulation.machines:
        machine.children.end_all()
    return sum(machine.children.ran_s for machine in flock.simulation.machines)


# -- how it is judged and shown ------------------------------------------------------------


def judge(figures: Figures) -> list[Verdict]:
    """Return whether ours begins nothing twice and ends as early as can be."""
    rows = [each for each in figures["rows"] if each["rule"] == OURS[-1]]
    found = [Verdict("late claims, ours: started twice", sum(each["twice"] for each in rows), 0)]
    for each in rows:
        ratio = each["makespan_s"] / each["optimum_s"]
        found.append(Verdict(f"late claims, ours to the optimum, {_where(each)}", ratio, 1.01))
    return found


def _where(row: dict[str, Any]) -> str:
    lost = f", {100 * row['loss']:.0f} % lost" if row["loss"] else ""
    return f"{row['devices']} devices, tasks of {row['length_s']:.0f} s{lost}"


def sheets(figures: Figures) -> list[Sheet]:
    """Return one table: for each place the makespan to the optimum, and in brackets what was begun twice
    and thrown away."""
    places = list(dict.fromkeys(map(_where, figures["rows"])))
    lines: list[list[Any]] = []
    for name in dict.fromkeys(each["rule"] for each in figures["rows"]):
        those = {_where(each): each for each in figures["rows"] if each["rule"] == name}
        lines.append([name, *(_told(those[place]) for place in places)])
    note = (
        "Makespan to the optimum; messages for each task / starts too many / seconds of work thrown away. The "
        f"source's T is {WINDOW_S:.0f} s where nothing else is said; ours is look-ahead."
    )
    return [Sheet(f"Late claims: {TASKS} tasks", ["rule", *places], lines, note)]


def _told(row: dict[str, Any]) -> str:
    if row["open"]:
        return f"{row['open']} of {row['tasks']} did not end"
    ratio = row["makespan_s"] / row["optimum_s"]
    return f"{ratio:.3f} ({row['messages'] / row['tasks']:.0f} / {row['twice']} / {abs(row['wasted_s']):.0f})"
