"""Removing Wingbeat from this computer, from the question to the end of the program.

Handing over may take minutes; the window stays usable, says how far it is, and asks again where
something would be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from agent.api.flock import HandedOver
from agent.client import Client, ClientError
from agent.client.removal import OnlyHereError, hand_over_and_leave
from gui.model.times import size
from gui.views.questions import ask_to_remove, ask_to_remove_all_the_same
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n


class Removal(QObject):
    """Goes on as long as its window lives."""

    def __init__(self, context: ViewContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window

    def ask(self) -> None:
        """Ask the person, and begin on a yes."""
        ask_to_remove(self._window, self.begin)

    def begin(self, delete: bool, even_so: bool = False) -> None:
        """Hand over and leave, and return at once; then emit the context's ``removed`` with
        ``delete``, whether all that is kept here is to be deleted. Where something would be lost,
        or it fails, the person is asked, and begins it with ``even_so``, which passes over the
        loss."""
        bridge, context = self._context.bridge, self._context
        context.said.emit(tr("Handing over what only this computer keeps …"))
        told = partial(bridge.tell, self, self._told)
        bridge.client_work(
            self,
            lambda client: _leave(client, told, even_so),
            lambda _: context.removed.emit(delete),
            lambda sentence: ask_to_remove_all_the_same(
                self._window, sentence, partial(self.begin, delete, even_so=True)
            ),
            act=True,
        )

    def _told(self, left: HandedOver) -> None:
        if left.datasets:
            said = tr_n(
                "%n dataset(s) are on this computer only, {size}: they are being handed over.",
                "",
                left.datasets,
                size=size(left.size_bytes),
            )
            self._context.said.emit(said)


async def _leave(client: Client, told: Callable[[HandedOver], object], even_so: bool) -> None:
    """In the person's language. Raises ``ClientError``."""
    try:
        await hand_over_and_leave(client, told, even_so=even_so)
    except OnlyHereError as error:
        said = tr_n(
            "No machine takes %n dataset(s) that only this computer keeps: switch another one on, or "
            "save the results first.",
            "",
            error.left.datasets,
        )
        raise ClientError(said) from error
