"""The time line: one row for each machine, one bar for each run, colour by workflow.

Suspensions are hatched, failures have the mark of a failure; hovering tells the story. Bars are read
from the agent when somebody looks, at most every two seconds.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from agent.api.history import RUNS, Runs, TaskRuns
from agent.client import Client
from gui.bridge.bridge import Task
from gui.model.marks import Mark
from gui.model.timeline import Bar, Timeline, recent, timeline_of
from gui.model.times import clock
from gui.theme.colours import WORKFLOW_HUES, text_on
from gui.theme.drawing import draw_mark, paint_box, paint_text
from gui.theme.look import GRID, look, small_font
from gui.views.pieces import CENTRED, column, quiet, set_up, timer
from gui.views.view_context import ViewContext
from gui.words import tr

LANE_HEIGHT, ROW_GAP, AXIS_HEIGHT = 22, 8, 28
NAMES_WIDTH = 14 * GRID
READ_PAUSE_MS = 2_000
TICKS_MIN_PX = 90
STEPS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400)
ZOOM_STEP = 1.25
HELD_ALPHA = 50
TASKS_MAX = 2_000


class TimelineView(QAbstractScrollArea):
    """Paints what it is given; nothing of it is a widget, so thousands of bars are no burden."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        says = tr("Timeline: who ran what when")
        set_up(self, "timeline", says, frameShape=QAbstractScrollArea.Shape.NoFrame)
        self.timeline = Timeline()
        self._zoom = 1.0
        self._tops: dict[str, int] = {}
        self._height = 0
        self._hues: dict[str, int] = {}
        self.viewport().setMouseTracking(True)
        look().changed.connect(self.viewport().update)

    def show_timeline(self, timeline: Timeline) -> None:
        """Show these bars from now on, and lay out the rows of machines. Workflows keep their
        colours, also while not shown, until none of those shown has one; colours repeat when there
        are more workflows than colours."""
        self.timeline = timeline
        top = AXIS_HEIGHT
        self._tops = {}
        for each in timeline.rows:
            self._tops[each.host] = top
            top += each.lanes * LANE_HEIGHT + ROW_GAP
        self._height = top
        if not {bar.workflow for bar in timeline.bars} & self._hues.keys():
            self._hues.clear()  # of another workflow, chosen before
        for bar in timeline.bars:
            self._hues.setdefault(bar.workflow, len(self._hues) % len(WORKFLOW_HUES))
        self._scroll_ranges()
        self.viewport().update()

    def resizeEvent(self, event: object) -> None:
        """Let the scale follow the width."""
        self._scroll_ranges()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom in time while Ctrl is held, else scroll."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        factor = ZOOM_STEP if event.angleDelta().y() > 0 else 1 / ZOOM_STEP
        self._zoom = max(1.0, min(200.0, self._zoom * factor))
        self._scroll_ranges()
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the story of the bar under the mouse as a tool tip, none beside bars; leave other
        events to Qt."""
        if isinstance(event, QHelpEvent):
            bar = self.bar_at(QPointF(event.pos()))
            if bar is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), bar.story, self)
            return True
        return super().viewportEvent(event)

    def bar_at(self, place: QPointF) -> Bar | None:
        """Return the bar at a place; None where there is none."""
        found = (bar for bar in self.timeline.bars if self._rect(bar).contains(place))
        return next(found, None)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint axis, names, and the bars that are in sight."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = look().colours
        painter.fillRect(self.viewport().rect(), QColor(colours.surface))
        if not self.timeline.bars:
            return
        self._paint_axis(painter)
        sight = QRectF(self.viewport().rect()).adjusted(NAMES_WIDTH, AXIS_HEIGHT, 0, 0)
        painter.save()
        painter.setClipRect(sight)
        for bar in self.timeline.bars:
            rect = self._rect(bar)
            if rect.intersects(sight):
                self._paint_bar(painter, bar, rect)
        painter.restore()
        self._paint_names(painter)

    def _paint_axis(self, painter: QPainter) -> None:
        colours = look().colours
        span_s = max(1.0, self.timeline.end_s - self.timeline.begin_s)
        per_px = span_s / max(1.0, self._width() * self._zoom)
        step = next((each for each in STEPS_S if each >= per_px * TICKS_MIN_PX), STEPS_S[-1])
        at_s = self.timeline.begin_s - self.timeline.begin_s % step + step
        while at_s <= self.timeline.end_s:
            x = self._x(at_s)
            if x >= NAMES_WIDTH:
                painter.setPen(QPen(QColor(colours.track), 1))
                painter.drawLine(QPointF(x, AXIS_HEIGHT), QPointF(x, self.viewport().height()))
                text = (
                    clock(at_s) if step >= 60 else time.strftime("%H:%M:%S", time.localtime(at_s))
                )
                said = QRectF(min(x - 40, self.viewport().width() - 80.0), 4, 80, 20)
                paint_text(painter, said, text, colours.quiet, small_font(), CENTRED)
            at_s += step

    def _paint_names(self, painter: QPainter) -> None:
        colours, end = look().colours, Qt.TextElideMode.ElideRight
        down = self.verticalScrollBar().value()
        for each in self.timeline.rows:
            top, height = self._tops[each.host] - down, each.lanes * LANE_HEIGHT
            rect = QRectF(2 * GRID, top, NAMES_WIDTH - 3 * GRID, height)
            if top + height >= AXIS_HEIGHT:
                paint_text(painter, rect, each.host, colours.text, self.font(), elide=end)

    def _paint_bar(self, painter: QPainter, bar: Bar, rect: QRectF) -> None:
        colours = look().colours
        hue = QColor(WORKFLOW_HUES[self._hues[bar.workflow]][1 if colours.dark else 0])
        paint_box(painter, rect, 4, hue)
        for begin_s, end_s in bar.suspended:
            held = QRectF(
                self._x(begin_s), rect.y(), self._x(end_s) - self._x(begin_s), rect.height()
            )
            held = held.intersected(rect)
            painter.fillRect(held, QColor(colours.surface))
            pale = QColor(hue)
            pale.setAlpha(HELD_ALPHA)
            painter.fillRect(held, pale)
            painter.fillRect(held, QBrush(hue, Qt.BrushStyle.BDiagPattern))
        inner = rect.adjusted(6, 0, -4, 0)
        if bar.mark is Mark.FAILED and inner.width() > 18:
            plate = QRectF(inner.x() - 2, rect.y() + 2, 14, 14)
            painter.setBrush(QColor(colours.surface))
            painter.drawEllipse(plate)
            draw_mark(painter, bar.mark, plate.adjusted(2, 2, -2, -2))
            inner.adjust(16, 0, 0, 0)
        if inner.width() > 24:
            self._paint_name(painter, bar, inner, text_on(hue.name()))

    def _paint_name(self, painter: QPainter, bar: Bar, inner: QRectF, ink: str) -> None:
        """Where the bar is hatched, on a plate of its own; of several workflows with the workflow,
        where there is room for it."""
        painter.setFont(small_font())
        metrics = painter.fontMetrics()
        whole = f"{bar.name} · {bar.called}" if len(self._hues) > 1 else bar.name
        fits = metrics.horizontalAdvance(whole) <= inner.width()
        said = whole if fits else bar.name
        text = metrics.elidedText(said, Qt.TextElideMode.ElideRight, round(inner.width()))
        length = metrics.horizontalAdvance(text) + 6
        plate = QRectF(inner.x() - 3, inner.y() + 3, length, inner.height() - 6)
        if any(
            self._x(begin_s) < plate.right() and self._x(end_s) > plate.left()
            for begin_s, end_s in bar.suspended
        ):
            paint_box(painter, plate, 3, look().colours.surface)
            ink = look().colours.text
        paint_text(painter, inner, text, ink, small_font())

    def _rect(self, bar: Bar) -> QRectF:
        top = self._tops.get(bar.host, 0) - self.verticalScrollBar().value()
        left, right = self._x(bar.begin_s), self._x(bar.end_s)
        return QRectF(
            left, top + bar.lane * LANE_HEIGHT + 1, max(3.0, right - left), LANE_HEIGHT - 3
        )

    def _x(self, at_s: float) -> float:
        span_s = max(1.0, self.timeline.end_s - self.timeline.begin_s)
        share = (at_s - self.timeline.begin_s) / span_s
        along = share * self._width() * self._zoom - self.horizontalScrollBar().value()
        return NAMES_WIDTH + along

    def _width(self) -> float:
        return max(1.0, self.viewport().width() - NAMES_WIDTH - 2 * GRID)

    def _scroll_ranges(self) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setRange(0, round(self._width() * (self._zoom - 1)))
        across.setPageStep(round(self._width()))
        down.setRange(0, max(0, self._height - self.viewport().height()))
        down.setPageStep(self.viewport().height())


async def runs_of(client: Client, workflows: list[str]) -> tuple[TaskRuns, ...]:
    """Return the runs of all these workflows, of ``TASKS_MAX`` tasks each at the most, read from
    the agent one after the other. Raises ``ClientError``."""
    found: list[TaskRuns] = []
    for each in workflows:
        found += (await client.call(RUNS, Runs(each, limit=TASKS_MAX))).tasks
    return tuple(found)


class WorkflowTimeline(QWidget):
    """The time line of one workflow, or of all when none is named."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context, self._workflow = context, ""
        self._asking: Task | None = None
        self._tasks: tuple[TaskRuns, ...] = ()
        self.view = TimelineView()
        self.note = set_up(quiet(tr("Nothing has run yet.")), alignment=CENTRED)
        column(self.note, (self.view, 1), on=self)
        self._timer = timer(self, READ_PAUSE_MS, lambda: None, once=True)

    def choose(self, workflow: str) -> None:
        """Show this workflow from now on, or the recent ones if it is empty, and have the runs read
        if somebody looks; what is being read for the one before is called off. Does nothing if it is
        the one shown."""
        if workflow != self._workflow:
            self._workflow, self._tasks = workflow, ()
            self._timer.stop()
            if self._asking is not None:
                self._asking.cancel()
                self._asking = None
            self._show()
            self.refresh()

    def refresh(self) -> None:
        """Have the runs read again, if somebody looks and they were not read just now, and show
        them when they are here; a failure is said above what is shown."""
        if self.isVisible() and self._asking is None and not self._timer.isActive():
            self._timer.start()
            names = [self._workflow] if self._workflow else recent(self._context.screen)
            self._asking = self._context.bridge.client_work(
                self, lambda client: runs_of(client, names), self._read, self._not_read
            )

    def showEvent(self, event: object) -> None:
        """Read the runs, for somebody looks."""
        self.refresh()

    def _read(self, tasks: tuple[TaskRuns, ...]) -> None:
        self._asking = None
        self._tasks = tasks
        self._show()

    def _not_read(self, sentence: str) -> None:
        self._asking = None
        self.note.setText(sentence)
        self.note.show()

    def _show(self) -> None:
        timeline = timeline_of(self._tasks, time.time())
        self.view.show_timeline(timeline)
        self.note.setText(tr("Nothing has run yet."))
        self.note.setVisible(not timeline.bars)
        self.view.setVisible(bool(timeline.bars))
