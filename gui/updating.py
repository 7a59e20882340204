"""When this process starts anew, because another version of the program is installed.

Nothing is taken from under somebody's hands: what may happen by itself waits until no window of ours
is open, a button does it at once. The agent of this process ends first, when its tasks have; one
of another process starts itself anew, and this one follows it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from agent import __version__
from agent.api.update import START_ANEW, StartAnew
from agent.client.own_agent import installed_version
from gui.hosting import Hosting
from gui.model.trouble import Remedy
from gui.views.pieces import timer
from gui.views.view_context import ViewContext

LOOK_MS = 5_000


class Updating(QObject):
    """``anew`` when this process has to end now, and start the version that is installed. ``at_hand``
    tells whether a window is open."""

    anew = Signal()

    def __init__(self, context: ViewContext, hosting: Hosting, at_hand: Callable[[], bool]) -> None:
        super().__init__()
        self._context, self._hosting, self._at_hand = context, hosting, at_hand
        self._asked = False
        self._timer = timer(self, LOOK_MS, self.look)
        self._timer.start()
        hosting.anew.connect(self.anew)

    def look(self) -> None:
        """Where another installed version may begin by itself now, have agent and window begin with
        it; else do nothing: while a window is open, the agent is absent, or its person wants to be
        asked."""
        screen = self._context.screen
        node, settings = screen.node, screen.settings
        if self._at_hand() or screen.absence is not None or node is None:
            return
        if not self._hosting.hosts:
            if node.version != __version__ and node.version == installed_version():
                self.anew.emit()
            return
        update, alone = node.update, settings is not None and settings.updates == "by itself"
        waits = update is not None and update.standing == "asks" and not update.older
        if waits and alone and not self._asked:
            self._asked = True
            self._context.bridge.ask(
                self, START_ANEW, StartAnew(), lambda _: None, lambda _: self._again()
            )

    def now(self, remedy: Remedy) -> None:
        """Begin with the installed version at once, as the button says: the window alone for that
        remedy, else the agent, which hands back what runs."""
        if remedy is Remedy.START_NEW_WINDOW:
            self.anew.emit()
        else:
            self._context.ask(self, START_ANEW, StartAnew(now=True), lambda _: None)

    def _again(self) -> None:
        self._asked = False
