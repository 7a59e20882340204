"""A secret that a program asks for is given once: typed, kept by the agent, and never shown again."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from agent.api.secrets import SET_SECRET, VALUE_LENGTH_MAX, SecretView, SetSecret
from gui.theme.look import GRID
from gui.views.bars import Bar
from gui.views.pieces import Sheet, button, column, quiet, row, set_up, strong
from gui.views.view_context import ViewContext
from gui.words import tr


def place_words(view: SecretView) -> str:
    """Return where the value of a secret lies, in a sentence."""
    return {
        "key store": tr("{name} lies in the key store of this computer.", name=view.name),
        "file": tr(
            "{name} lies in a file that only your account can read, for no key store is open here.",
            name=view.name,
        ),
        "machine": tr("{name} is laid down for all by an administrator.", name=view.name),
    }[view.place]


class SecretSheet(Sheet):
    """Asks for one value."""

    def __init__(self, context: ViewContext, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, "secretSheet", tr("The secret {name}", name=name))
        self._context, self._name = context, name
        self.fault = Bar("secretFault", margin=0)
        self.keep = button(tr("Keep"), "keepSecret", self._keep, primary=True)
        self.keep.setEnabled(False)
        self.value = set_up(
            QLineEdit(),
            "secretValue",
            tr("Value"),
            echoMode=QLineEdit.EchoMode.Password,
            maxLength=VALUE_LENGTH_MAX,
            minimumWidth=40 * GRID,
            textChanged=lambda text: self.keep.setEnabled(bool(text)),
        )
        column(
            strong(tr("The secret {name}", name=name)),
            quiet(
                tr("Programs that ask for it and that you have allowed that can read it."),
                wrap=True,
            ),
            self.fault,
            self.value,
            row("stretch", button(tr("Cancel"), "cancelSecret", self.reject), self.keep),
            on=self,
            spacing=GRID,
            margins=2 * GRID,
        )

    def _keep(self) -> None:
        self.keep.setEnabled(False)
        wish = SetSecret(self._name, self.value.text())
        self._context.bridge.ask(self, SET_SECRET, wish, self._kept, self._refused)

    def _kept(self, view: SecretView) -> None:
        self._context.said.emit(place_words(view))
        self._context.bridge.want_flock()
        self.accept()

    def _refused(self, sentence: str) -> None:
        self.fault.say(sentence)
        self.keep.setEnabled(True)
