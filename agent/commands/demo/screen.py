"""The demo at a terminal: what each machine does now, how far all is, what happened last.

Redrawn calmly, and narrow enough for eighty columns. The end stays on the screen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agent.commands.demo.lines import (
    TO_COUNT,
    Checked,
    Ended,
    Happening,
    Joined,
    Killed,
    Moved,
    Progressed,
    Recovered,
    Starting,
    Submitted,
    Tell,
    sentences,
    verdict,
)
from agent.commands.drawing import bar, console
from agent.commands.showing import plain

TITLE = "Wingbeat demo: real agents inspect a power line in a made landscape"
TITLE_REAL = "Wingbeat demo: a temporary flock of real agents inspects a real scan"
TITLE_WITHOUT = f"Wingbeat demo: real agents, {TO_COUNT}"
REDRAWN_PER_S = 5
NOTES, NAME_CELLS, TASK_CELLS, BAR_CELLS = 6, 10, 26, 12


@dataclass
class Row:
    """A machine as it is shown."""

    state: str = "starting"
    tasks: dict[str, int] = field(default_factory=dict)
    """What it runs, each with how far it is."""
    finished: int = 0


class Picture:
    """Folds what is told into what is shown; knows nothing of terminals but how to be drawn."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.notes: deque[str] = deque(maxlen=NOTES)
        self.checks: list[Checked] = []
        self.tasks = self.finished = 0
        self.title = TITLE
        self.began_s = time.monotonic()
        self.ended: Ended | None = None

    def take(self, happening: Happening) -> None:
        """Take one more happening into the picture, which is not drawn by that; machines are known
        from ``Starting`` on. Raises ``KeyError`` for another one that has joined or was killed."""
        self._note(happening)
        match happening:
            case Starting(machines=machines):
                made = TITLE if happening.sections else TITLE_WITHOUT
                self.title = TITLE_REAL if happening.scan else made
                self.rows = {name: Row() for name in machines}
            case Joined(machine=machine):
                self.rows[machine].state = "waiting"
            case Submitted(tasks=tasks):
                self.tasks = tasks
            case Moved():
                self._moved(happening)
            case Progressed():
                self._progressed(happening)
            case Killed(machine=machine):
                self.rows[machine] = Row("killed", finished=self.rows[machine].finished)
            case Checked():
                self.checks.append(happening)
            case Ended():
                self.ended = happening
            case Recovered():
                pass

    def _note(self, happening: Happening) -> None:
        if isinstance(happening, Starting | Submitted | Killed | Recovered):
            self.notes += [f"{happening.at_s:5.1f} s  {line}" for line in sentences(happening)]

    def _moved(self, moved: Moved) -> None:
        for row in self.rows.values():
            row.tasks.pop(moved.task, None)
        row_of = self.rows.get(moved.machine)
        if moved.state == "Terminated":
            self.finished += 1
            if row_of is not None:
                row_of.finished += 1
        elif moved.state == "Running" and row_of is not None and row_of.state != "killed":
            row_of.tasks[moved.task] = 0

    def _progressed(self, told: Progressed) -> None:
        row = self.rows.get(told.machine)
        if row is not None and told.task in row.tasks:
            row.tasks[told.task] = told.permille

    def drawn(self) -> RenderableType:
        """Return the picture for the terminal as it is now: machines, progress and notes, and once
        the play has ended what was found and the verdict."""
        notes = [Text(plain(line), overflow="ellipsis", no_wrap=True) for line in self.notes]
        parts: list[RenderableType] = [
            Text(self.title, "bold"),
            self._machines(),
            self._whole(),
            *notes,
        ]
        if self.checks:
            parts += [Text(), self._checked()]
        if self.ended is not None:
            parts += [Text(), self._plants(self.ended), Text(verdict(self.ended), "bold")]
        return Group(*parts)

    def _machines(self) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("MACHINE", no_wrap=True, min_width=NAME_CELLS)
        table.add_column("RUNS", no_wrap=True, overflow="ellipsis", min_width=TASK_CELLS)
        table.add_column("", no_wrap=True, min_width=BAR_CELLS + 4)
        table.add_column("FINISHED", justify="right", no_wrap=True)
        for name, row in self.rows.items():
            table.add_row(Text(name), *self._cells(row), str(row.finished))
        return table

    def _cells(self, row: Row) -> tuple[Text, Text]:
        if row.state == "killed":
            return Text("killed", "bold red"), Text()
        for task, permille in row.tasks.items():
            return Text(plain(task), "green"), bar(permille, BAR_CELLS) + f" {permille // 10:2}%"
        return Text(row.state, "dim"), Text()

    def _whole(self) -> Table:
        line = Table.grid(padding=(0, 2))
        permille = round(1_000 * self.finished / self.tasks) if self.tasks else 0
        told = f"{self.finished}/{self.tasks} tasks" if self.tasks else ""
        at_s = time.monotonic() - self.began_s if self.ended is None else self.ended.at_s
        line.add_row(f"{at_s:5.1f} s", bar(permille), told)
        return line

    def _checked(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for each in self.checks:
            mark = Text("right", "green") if each.right else Text("WRONG", "bold red")
            table.add_row(mark, Text(plain(each.check)), Text(plain(each.found), "dim"))
        return table

    def _plants(self, ended: Ended) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("SECTION", "EAST m", "NORTH m", "PLANTED m", "FOUND m"):
            table.add_column(name, justify="left" if name == "SECTION" else "right", no_wrap=True)
        for each in ended.plants:
            seen = "-" if each.found_m is None else f"{each.found_m:.2f}"
            place = f"{each.east_m:.1f}", f"{each.north_m:.1f}"
            table.add_row(each.section, *place, f"{each.planted_m:.2f}", seen)
        return table


@contextmanager
def screen() -> Iterator[Tell]:
    """Draw the picture on the terminal again and again for as long as the ``with`` block goes on,
    and yield what takes in what happens. The last picture stays."""
    picture = Picture()
    with Live(
        get_renderable=picture.drawn,
        console=console(),
        refresh_per_second=REDRAWN_PER_S,
        vertical_overflow="visible",
    ) as live:
        try:
            yield picture.take
        finally:
            live.refresh()
