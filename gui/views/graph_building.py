"""Builds the items of a graph without holding up the window, however large the graph is.

A graph of a thousand tasks takes a fifth of a second. So where its boxes stand is worked out in a
thread, and its items are made a few milliseconds at a time, the old ones taken away likewise; until
all is there the old picture stays. Small graphs are there at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QGraphicsScene

from agent.api.work import TaskView
from gui.model.graph import Picture, draw
from gui.views.graph_items import ArrowItem, BoxItem
from gui.views.pieces import timer

AT_ONCE_MAX = 120
"""So many boxes, the old ones and the tasks of the new graph together, nobody has to wait for."""
SLICE_S, PAUSE_MS = 0.008, 4
"""Of work, and between two of them, when the window comes to whatever else there is."""


class GraphBuilding(QObject):
    """``built`` with the picture when all its items are in the scene."""

    built = Signal(object)

    def __init__(self, scene: QGraphicsScene, parent: QObject) -> None:
        super().__init__(parent)
        self.boxes: dict[str, BoxItem] = {}
        self.arrows: list[ArrowItem] = []
        self._scene = scene
        self._steps: Iterator[bool] = iter(())
        self._timer = timer(self, PAUSE_MS, self._go_on)

    @property
    def busy(self) -> bool:
        """Whether a picture is under way."""
        return self._timer.isActive()

    def begin(self, tasks: Mapping[str, TaskView]) -> None:
        """Build the graph of these tasks, instead of any other, and emit ``built``: of a small one
        before this returns; a large one is built step by step after that, while ``busy``."""
        self._timer.stop()
        views = list(tasks.values())
        if len(views) + len(self.boxes) <= AT_ONCE_MAX:
            for _ in self._place(draw(views), tasks):
                pass
            return
        self._steps = self._build(_worker().submit(draw, views), tasks)
        self._timer.start()

    def move(self, picture: Picture) -> None:
        """Move boxes and arrows to where they stand in this picture, which has to be of the same
        graph."""
        boxes = {box.key: box for box in picture.boxes}
        for box in picture.boxes:
            self.boxes[box.key].move(box)
        for line, arrow in zip(self.arrows, picture.arrows, strict=True):
            line.move(arrow, boxes[arrow.source], boxes[arrow.target])

    def _go_on(self) -> None:
        end_s = time.perf_counter() + SLICE_S
        for useful in self._steps:
            if not useful or time.perf_counter() > end_s:
                return
        self._timer.stop()

    def _build(self, drawing: Future[Picture], tasks: Mapping[str, TaskView]) -> Iterator[bool]:
        """Whether anything was done, again and again."""
        while not drawing.done():
            yield False
        yield from self._place(drawing.result(), tasks)

    def _place(self, picture: Picture, tasks: Mapping[str, TaskView]) -> Iterator[bool]:
        yield from self._clear()
        now_s = time.time()
        boxes = {box.key: box for box in picture.boxes}
        for arrow in picture.arrows:
            line = ArrowItem(arrow, boxes[arrow.source], boxes[arrow.target])
            self.arrows.append(line)
            self._scene.addItem(line)
            yield True
        for box in picture.boxes:
            item = self.boxes[box.key] = BoxItem(box)
            item.tell(tasks, now_s)
            self._scene.addItem(item)
            yield True
        self._timer.stop()
        self.built.emit(picture)

    def _clear(self) -> Iterator[bool]:
        self._scene.blockSignals(True)
        self._scene.clearSelection()
        self._scene.blockSignals(False)
        while self.boxes:
            self._scene.removeItem(self.boxes.popitem()[1])
            yield True
        while self.arrows:
            self._scene.removeItem(self.arrows.pop())
            yield True


@cache
def _worker() -> ThreadPoolExecutor:
    """One for all graphs: they would only get into each other's way."""
    return ThreadPoolExecutor(1, "graph")
