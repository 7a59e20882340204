"""The simulated flock on screen: nine machines, a killed one, an owner who comes back.

Somebody who has one machine wants to see what nine would do. This shows the real protocol on
virtual time, sixty times faster than the clock on the wall; it says so, for nothing of it runs on
other machines. The exit code is 0 only when every task has terminated.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agent.protocol.records import TaskState
from tests.sim.lan import Flock, Step, quick_settings
from tests.sim.machine import Machine
from tests.sim.plan import NAMES

MACHINES = NAMES[:9]
TITLE = "SIMULATED FLOCK: nine machines that exist only in this program, on virtual time"
SPEED = 60.0
FRAME_S = 0.1
REAL_S_MAX = 29.0
VIRTUAL_S_MAX = 3_600.0
WORKFLOWS = 10
KILL_AFTER_S = 150.0
OWNER_AFTER_S = 300.0
OWNER_STAYS_S = 100.0

Say = Callable[[str], None]


class Demo:
    """The run and what there is to tell of it."""

    def __init__(self, seed: int, say: Say) -> None:
        self.say = say
        self.flock = Flock(9, seed=seed, settings=quick_settings(), names=MACHINES)
        self.began_s = self.flock.world.now
        self.tasks: list[str] = []
        self.notes: list[str] = []
        self.killed = ""
        self.visited = ""
        self._told_ended = 0
        for number in range(WORKFLOWS):
            self.tasks += self.flock.submit(
                f"inspection-{number + 1:02}", _inspection(number), node=number % 9
            )
        self.flock.world.after(KILL_AFTER_S, self._kill)
        self.flock.world.after(OWNER_AFTER_S, self._owner_returns)

    @property
    def virtual_s(self) -> float:
        """Virtual seconds since the work was submitted."""
        return self.flock.world.now - self.began_s

    @property
    def terminated(self) -> int:
        """Tasks that ended well."""
        return sum(self.flock.times[task].state is TaskState.TERMINATED for task in self.tasks)

    @property
    def done(self) -> bool:
        """Nothing is left, or too much time has passed."""
        return not self.flock.open_tasks or self.virtual_s > VIRTUAL_S_MAX

    def advance(self, virtual_s: float) -> None:
        """Let so much virtual time pass."""
        self.flock.run_until(self.flock.world.now + virtual_s)
        if self.terminated >= self._told_ended + 10:
            self._told_ended = self.terminated
            self._note(f"{self.terminated} of {len(self.tasks)} tasks have terminated")

    def _note(self, text: str) -> None:
        line = f"{_clock(self.virtual_s)} {text}"
        self.notes.append(line)
        self.say(line)

    def _busy(self, *, but: str = "") -> Machine | None:
        machines = self.flock.simulation.machines
        busy = [m for m in machines if m.children.living and m.plan.name != but]
        return busy[len(busy) // 2] if busy else None

    def _kill(self, _: object, __: object) -> None:
        machine = self._busy()
        if machine is not None:
            self.killed = machine.plan.name
            self._note(f"{self.killed} is killed while it runs {_running(machine)}")
            self.flock.kill(machine.index)

    def _owner_returns(self, _: object, __: object) -> None:
        machine = self._busy(but=self.killed)
        if machine is None:
            return
        self.visited = machine.plan.name
        task = _running(machine)
        self.flock.simulation.faults.owner(machine.index, True)
        self._note(f"the owner of {self.visited} is back: {task} is suspended")
        self.flock.world.after(OWNER_STAYS_S, self._owner_leaves, machine)

    def _owner_leaves(self, machine: Machine, _: object) -> None:
        self._note(f"the owner of {machine.plan.name} leaves again")
        self.flock.simulation.faults.owner(machine.index, False)


def _inspection(number: int) -> list[Step]:
    """A tower is photographed: import, georeferencing, segmentation, anomaly detection."""
    longer = 1.0 + 0.05 * (number % 4)
    return [
        Step(50.0 * longer, (), "import", "import"),
        Step(110.0 * longer, (0,), "georeference", "georeferencing"),
        Step(140.0 * longer, (0,), "segment", "segmentation"),
        Step(70.0 * longer, (1, 2), "detect", "anomaly detection"),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Show the simulated flock; 0 when every task terminated."""
    parser = argparse.ArgumentParser(prog="demo", description="A simulated flock at work.")
    parser.add_argument("--json", action="store_true", help="only the summary, as JSON")
    parser.add_argument("--speed", type=float, help="virtual seconds per second; 0: no waiting")
    parser.add_argument("--seed", type=int, default=1, help="draws the delays of the network")
    options = parser.parse_args(argv)
    speed = (0.0 if options.json else SPEED) if options.speed is None else options.speed
    console = Console()
    if options.json:
        demo = Demo(options.seed, lambda _: None)
        _play(demo, speed, lambda: None)
        sys.stdout.write(json.dumps(_summary(demo), indent=2) + "\n")
    elif console.is_terminal:
        demo = Demo(options.seed, lambda _: None)
        with Live(_screen(demo), console=console, auto_refresh=False) as live:
            _play(demo, speed, lambda: live.update(_screen(demo), refresh=True))
        console.print(_summary_table(demo), Text(_verdict(demo)))
    else:
        sys.stdout.write(TITLE + "\n")
        demo = Demo(options.seed, _line)
        _play(demo, speed, lambda: None)
        _line("Who ran import, georeferencing, segmentation and detection of each workflow:")
        for name, ran, again, took in _rows(demo):
            _line(f"  {name}: {ran}; started again: {again}; took {took}")
        _line(_verdict(demo))
    return 0 if demo.terminated == len(demo.tasks) else 1


def _line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _play(demo: Demo, speed: float, show: Callable[[], None]) -> None:
    """Virtual time follows the clock on the wall, so much faster; late in a show it hurries."""
    began = time.monotonic()
    pause = threading.Event()
    while not demo.done:
        hurry = not speed or time.monotonic() - began > REAL_S_MAX - 4.0
        if not hurry:
            pause.wait(FRAME_S)
        behind_s = (time.monotonic() - began) * speed - demo.virtual_s
        demo.advance(5.0 if hurry else max(0.0, behind_s))
        show()


# What is shown


def _clock(virtual_s: float) -> str:
    return f"{int(virtual_s) // 60:02}:{int(virtual_s) % 60:02}"


def _running(machine: Machine) -> str:
    names = [f"{child.spec.task} ({child.spec.name})" for child in machine.children.living.values()]
    return ", ".join(names)


def _screen(demo: Demo) -> Group:
    table = Table(title=TITLE, expand=False)
    for column in ("machine", "state", "runs", "progress"):
        table.add_column(column, no_wrap=True, min_width=12)
    for machine in demo.flock.simulation.machines:
        table.add_row(machine.plan.name, *_cells(machine))
    bar = f"virtual time {_clock(demo.virtual_s)}, {demo.terminated}/{len(demo.tasks)} tasks"
    return Group(table, Text(bar), *(Text(line) for line in demo.notes[-6:]))


def _cells(machine: Machine) -> tuple[str, str, str]:
    if machine.node is None:
        return "[red]killed[/red]", "", ""
    if machine.owner_present:
        return "[yellow]owner is here[/yellow]", f"suspended: {_running(machine)}", ""
    for child in machine.children.living.values():
        done_s = child.done_s + (0.0 if child.pauses else machine.world.now - child.since)
        share = min(1.0, done_s / child.marks[-1][0])
        filled = int(share * 20)
        return "[green]working[/green]", _running(machine), "█" * filled + "░" * (20 - filled)
    return "waiting", "", ""


def _rows(demo: Demo) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for workflow in demo.flock.submitted_s:
        tasks = [task for task in demo.tasks if task.startswith(f"{workflow}/")]
        times = [demo.flock.times[task] for task in tasks]
        ran = [" then ".join(host for _, host in each.started) for each in times]
        again = sum(max(0, len(each.started) - 1) for each in times)
        makespan = _clock(demo.flock.makespan_s(workflow)) if not demo.flock.open_tasks else "-"
        rows.append((workflow, ", ".join(ran), str(again), makespan))
    return rows


def _summary_table(demo: Demo) -> Table:
    table = Table(title="Who ran what (simulated)")
    for column in ("workflow", "import, georeferencing, segmentation, detection", "again", "took"):
        table.add_column(column)
    for row in _rows(demo):
        table.add_row(*row)
    return table


def _verdict(demo: Demo) -> str:
    return (
        f"Simulated: {demo.terminated} of {len(demo.tasks)} tasks terminated in "
        f"{_clock(demo.virtual_s)} of virtual time; {demo.killed or 'nobody'} was killed, the owner "
        f"of {demo.visited or 'no machine'} came back."
    )


def _summary(demo: Demo) -> dict[str, object]:
    return {
        "simulated": True,
        "machines": list(MACHINES),
        "virtual_s": round(demo.virtual_s, 3),
        "tasks": len(demo.tasks),
        "terminated": demo.terminated,
        "killed": demo.killed,
        "owner_returned": demo.visited,
        "workflows": [
            {"workflow": name, "ran_on": ran, "started_again": int(again), "took": took}
            for name, ran, again, took in _rows(demo)
        ],
        "notes": demo.notes,
    }


if __name__ == "__main__":
    sys.exit(main())
