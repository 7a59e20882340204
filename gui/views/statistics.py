"""What the week brought: hours given and taken, tasks done, waiting times, and the weeks before in bars."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from agent.api.datasets import DATASETS, Datasets, DatasetsReply
from agent.api.history import STATISTICS, BalanceView, StatisticsReply, WeekView
from agent.api.history import Statistics as Asked
from agent.wording.copies import copies_said
from gui.model.times import span
from gui.theme.drawing import paint_box, paint_text
from gui.theme.look import GRID, look, small_font, title_font
from gui.views.pieces import CENTRED, PLAIN, TOP, column, grid, quiet, row, set_up, strong
from gui.views.view_context import ViewContext
from gui.words import tr

WEEKS = 8
CHART_HEIGHT = 18 * GRID


class Statistics(QWidget):
    """Numbers of the week and of those before, read when somebody looks."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._numbers: dict[str, QLabel] = {}
        self.note = set_up(quiet(wrap=True), visible=False)
        self.hours = WeekBars(tr("Hours given by this computer"), _hours)
        self.done = WeekBars(tr("Tasks done by the flock"), _number)
        facts = grid(3 * GRID, 2)
        for place, (key, text) in enumerate(
            (
                ("hours", tr("given this week")),
                ("here", tr("tasks done here")),
                ("done", tr("tasks done by the flock")),
                ("failed", tr("failed")),
                ("median", tr("usual wait")),
                ("longest", tr("longest wait")),
            )
        ):
            number = set_up(
                QLabel("–"), f"statistics_{key}", text, font=title_font(), textFormat=PLAIN
            )
            self._numbers[key] = number
            facts.addWidget(number, 0, place)
            facts.addWidget(quiet(text, wrap=True), 1, place, TOP)
            facts.setColumnStretch(place, 1)
        self.copies = set_up(quiet(wrap=True), "copies", visible=False)
        self.balance = set_up(quiet(wrap=True), "balance", visible=False)
        charts = row(self.hours, self.done, spacing=4 * GRID)
        lay = column(
            self.note,
            facts,
            self.balance,
            self.copies,
            charts,
            "stretch",
            spacing=3 * GRID,
            margins=3 * GRID,
        )
        set_up(self, "statistics", layout=lay)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask the agent for the weeks, for somebody looks."""
        super().showEvent(event)
        self._context.bridge.ask(self, STATISTICS, Asked(WEEKS), self.tell, self._failed)
        self._context.bridge.ask(self, DATASETS, Datasets(limit=1), self.tell_copies, self._failed)

    def tell(self, reply: StatisticsReply) -> None:
        """Hide the note, and show what was given and taken, the numbers of the latest week and all
        weeks as bars; without a week in the reply, what was shown before stays."""
        self.note.hide()
        self.balance.setText("\n".join(map(balance_words, reply.balance)))
        self.balance.setVisible(bool(reply.balance))
        if not reply.weeks:
            return
        week = reply.weeks[0]
        values = {
            "hours": _hours(week.hours_given),
            "here": str(week.done_here),
            "done": str(week.done),
            "failed": str(week.failed),
            "median": span(week.waited_median_s),
            "longest": span(week.waited_longest_s),
        }
        for key, text in values.items():
            self._numbers[key].setText(text)
        weeks = list(reversed(reply.weeks))
        self.hours.tell([(_week(each), each.hours_given) for each in weeks])
        self.done.tell([(_week(each), float(each.done)) for each in weeks])

    def tell_copies(self, reply: DatasetsReply) -> None:
        """Show what the copies of results are worth, by how long machines were up."""
        if reply.copies is not None:
            self.copies.setText(copies_said(reply.copies, tr))
            self.copies.show()

    def _failed(self, sentence: str) -> None:
        self.note.setText(sentence)
        self.note.show()


def balance_words(each: BalanceView) -> str:
    """Return for how long this computer worked for others lately, how much of that was thrown away
    if any was, and for how long others worked for it, in a line."""
    known = {"days": each.days, "gave": _hours(each.gave_hours), "took": _hours(each.took_hours)}
    if not each.thrown_hours:
        return tr("Last {days} days: gave {gave} to others, took {took}", **known)
    return tr(
        "Last {days} days: gave {gave} to others ({thrown} of it thrown away), took {took}",
        **known,
        thrown=_hours(each.thrown_hours),
    )


class WeekBars(QWidget):
    """A bar for each week, the last one strong, with its number above."""

    def __init__(self, heading: str, said: Callable[[float], str]) -> None:
        super().__init__()
        self._said = said
        self._bars: list[tuple[str, float]] = []
        self.setMinimumHeight(CHART_HEIGHT + 4 * GRID)
        column((strong(heading), TOP), on=set_up(self, says=heading))

    def tell(self, bars: list[tuple[str, float]]) -> None:
        """Show these bars from now on, the name of each week with its number, the latest last;
        screen readers are told the same."""
        self._bars = bars
        self.setAccessibleDescription(
            "; ".join(f"{name}: {self._said(value)}" for name, value in bars)
        )
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bars on a line, with names below and numbers above; nothing without bars."""
        if not self._bars:
            return
        colours = look().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, bottom = 5.0 * GRID, self.height() - 3.0 * GRID
        pitch = self.width() / len(self._bars)
        most = max(value for _, value in self._bars) or 1.0
        for place, (name, value) in enumerate(self._bars):
            left = place * pitch
            height = (bottom - top) * value / most
            bar = QRectF(left + pitch * 0.2, bottom - height, pitch * 0.6, max(height, 1.0))
            last = place == len(self._bars) - 1
            paint_box(painter, bar, 3, colours.accent if last else colours.waiting)
            above = QRectF(left, bar.y() - 20, pitch, 18)
            said = self._said(value) if value else ""  # a bar that is not there says nought itself
            paint_text(painter, above, said, colours.text, small_font(), CENTRED)
            below = QRectF(left, bottom + 4, pitch, 20)
            paint_text(painter, below, name, colours.quiet, small_font(), CENTRED)
        painter.setPen(QColor(colours.line))
        painter.drawLine(0, round(bottom), self.width(), round(bottom))


def _week(week: WeekView) -> str:
    return time.strftime("%d.%m.", time.localtime(week.begins_ms / 1000))


def _hours(value: float) -> str:
    """Less than one would be a nought with a comma."""
    if value >= 1 or not value:
        return tr("{hours} h", hours=_number(value))
    return span(value * 3600)


def _number(value: float) -> str:
    if value >= 10 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.1 else f"{value:.2f}"
