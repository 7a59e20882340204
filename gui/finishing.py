"""Finish what runs here, then quit: a pause that begins when the last task ends, and ends with us.

The agent keeps a pause over restarts, as it should where a person paused; here nobody did, so it is
taken back before the end, or this computer would be found paused at the next start. Whoever resumes
meanwhile wants to go on, and then nothing is quit.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Signal

from agent.api.volunteering import PAUSE, RESUME, Pause, Resume, VolunteeringView
from gui.model.notices import Absence
from gui.model.screen import Screen
from gui.views.pieces import timer
from gui.views.view_context import ViewContext

OVERTAKEN_S_MAX = 2.0
LOOK_MS = 500


class Finishing(QObject):
    """``over`` when nothing runs here any more; begun at most once at a time."""

    over = Signal()

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self.under_way = False
        self._own_pause = False
        self._taking_since_s: float | None = None
        self._timer = timer(self, LOOK_MS, self._look)
        context.changed.connect(self._look)

    def begin(self) -> None:
        """Have the agent take nothing new, and return at once; when the last task here has ended or
        the agent is gone, a pause made for this is taken back and ``over`` emitted. Does nothing
        while one is under way; ends without ``over`` if a person resumes, and does not begin if the
        agent refuses."""
        if self.under_way:
            return
        if _takes_nothing(self._context.screen):
            self._begun()
        else:
            self._context.ask(self, PAUSE, Pause(finish_first=True), self._paused)

    def _paused(self, view: VolunteeringView) -> None:
        self._own_pause = True
        self._context.take((view,))
        self._begun()

    def _begun(self) -> None:
        self.under_way = self._context.screen.quitting = True
        self._timer.start()
        self._look()

    def _look(self) -> None:
        screen = self._context.screen
        if not self.under_way:
            return
        gone = screen.absence is not None and screen.absence.why is Absence.NO_AGENT
        if gone:
            self._end()
        elif screen.absence is None and not _takes_nothing(screen):
            self._resumed()
        else:
            self._taking_since_s = None
            if screen.node is None or not screen.node.tasks:
                self._end()

    def _resumed(self) -> None:
        """A single look may be of before the pause: answers overtake what is told in bundles."""
        now_s = time.monotonic()
        if self._taking_since_s is None:
            self._taking_since_s = now_s
        elif now_s - self._taking_since_s > OVERTAKEN_S_MAX:
            self._rest()

    def _rest(self) -> None:
        self.under_way = self._own_pause = self._context.screen.quitting = False
        self._taking_since_s = None
        self._timer.stop()

    def _end(self) -> None:
        own_pause = self._own_pause
        self._rest()
        if not own_pause:
            self.over.emit()
            return
        end = self.over.emit
        self._context.bridge.ask(self, RESUME, Resume(), lambda _: end(), lambda _: end())


def _takes_nothing(screen: Screen) -> bool:
    view = screen.volunteering
    return view is not None and (view.finishing or view.paused)
