"""What a node has written itself and nobody was told of yet.

It is told at once, or together with more (``own_run`` says which): a timer sees to it that nothing
waits for long.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from agent.protocol.clock import TimerKind, Timers
from agent.protocol.messages import Enqueue, State
from agent.protocol.news import News
from agent.protocol.records import Life, Pruning, TaskId, TaskLife, Workflow, join_lives
from agent.protocol.settings import Settings

KEPT_BACK_S = 0.05
"""The end of a task whose successor this node goes on with is told with the start of that one after
this: one word to each peer, one record on each disk, when the next ones run."""
ENDS = "ends"
NOTHING = Life(0)
"""Joins with any part of a life to that part."""


class PendingNews:
    """Own news that was not told yet."""

    def __init__(self, timers: Timers, settings: Settings) -> None:
        self.kept_back: dict[TaskId, None] = {}
        """Ends that nobody is told of for a moment: this node goes on with all that waited."""
        self._timers, self._settings = timers, settings
        self._can_wait = True
        self._lives: list[TaskLife] = []
        self._workflows: list[Workflow] = []
        self._prunings: list[Pruning] = []
        self._row: dict[TaskId, tuple[float, list[TaskLife]]] = {}
        """Of runs in this node's row, and since when they lie here, the oldest first."""

    def add(self, news: News) -> None:
        """Keep news to be told soon, with what ``add_in_row`` has kept of the same tasks in front.
        Tells nobody and sets no timer."""
        for part in news.lives:
            _, before = self._row.pop(part.task, (0.0, ()))
            self._lives += (*before, part)
        self._workflows += news.workflows
        self._prunings += news.prunings

    def add_in_row(self, lives: Iterable[TaskLife], now_s: float) -> None:
        """Keep lives of short tasks in a row back, until their runs have ended or they have lain
        for long; set the timer for that."""
        for part in lives:
            self._row.setdefault(part.task, (now_s, []))[1].append(part)
        if self._row and not self._timers.armed(TimerKind.ROW):
            self._timers.arm(TimerKind.ROW, now_s + self._settings.row_told_after_s)

    def leave_row(self, now_s: float) -> None:
        """Move what has waited long for the ends of short tasks in a row to the news told next; set
        a timer for the rest, if there is any. Sends nothing itself."""
        old_s = now_s - self._settings.row_told_after_s / 2
        old = list(takewhile(lambda task: self._row[task][0] <= old_s, self._row))
        for task in old:
            self._lives += self._row.pop(task)[1]
        if self._row:
            self._timers.arm(TimerKind.ROW, now_s + self._settings.row_told_after_s / 2)

    def hurry(self) -> None:
        """Have what is kept told at once, as somebody may wait for it."""
        self._can_wait = False

    def is_due(self, now_s: float) -> bool:
        """Tell whether peers must be told now: somebody hurries, or no lives are kept, which is so
        too when nothing is. If not, set a timer for when."""
        if not (self._can_wait and self._lives):
            return True
        if self.kept_back and not self._timers.armed(TimerKind.TELL, ENDS):
            self._timers.arm(TimerKind.TELL, now_s + KEPT_BACK_S, ENDS)
        elif not self._timers.armed(TimerKind.TELL):
            self._timers.arm(TimerKind.TELL, now_s + self._settings.tell_within_s)
        return False

    def take(self, cause: str) -> State | None:
        """Return all that is to be told as one message, and clear it and its timers; None when
        there is nothing. What lies in the row stays, and what comes from now on may wait again
        until somebody hurries."""
        self._can_wait = True
        self.kept_back.clear()
        if not (self._lives or self._workflows or self._prunings):
            return None
        lives: dict[TaskId, Life] = {}
        for part in self._lives:
            lives[part.task] = join_lives(lives.get(part.task, NOTHING), part.life)
        parts = tuple(TaskLife(task, life) for task, life in lives.items())
        told = State(parts, tuple(self._workflows), tuple(self._prunings), cause)
        self._lives, self._workflows, self._prunings = [], [], []
        for subject in ("", ENDS):
            self._timers.disarm(TimerKind.TELL, subject)
        return told

    def take_enqueued(self, receipt: bool, cause: str) -> Enqueue:
        """Return the workflows just written and the lives to be told with them, as new work for
        peers, and clear both; prunings stay. ``receipt`` asks for their word that it is on disk."""
        told = Enqueue(tuple(self._workflows), tuple(self._lives), receipt, cause)
        self._lives, self._workflows = [], []
        return told
