"""Which rules the flock goes by, and what they mean; whoever may can choose others for all machines."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from agent.api.settings import CHANGE_SETTINGS, ChangeSettings, SettingsView
from agent.wording.rules import RULES
from gui.model.screen import Screen
from gui.theme.look import GRID
from gui.views.bars import Bar
from gui.views.pieces import column, label, quiet, row, set_up
from gui.views.settings_dialog import choice
from gui.views.view_context import ViewContext
from gui.words import tr


class RulesLine(QWidget):
    """Hidden without a flock, and while the agent has not told its rules."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context, self._shown = context, ""
        self.choice = choice("flockRules", ((each, each) for each in RULES), "", self._choose)
        set_up(self.choice, says=tr("Who runs what is decided by"))
        self.meaning = quiet("", "flockRulesMeaning", wrap=True)
        self.fault = Bar("flockRulesFault", margin=0)
        line = row(label(tr("Rules")), self.choice, (self.meaning, 1))
        column(line, self.fault, on=self, margins=(2 * GRID, 0, GRID, 0))

    def tell(self, screen: Screen) -> None:
        """Show the rules that this machine goes by, those of a later version by their name alone;
        hide where it has no flock or has told none. They can be chosen while the agent is there."""
        node = screen.node
        rules = node.rules if node is not None and node.flock else ""
        self.setVisible(bool(rules))
        self.choice.setEnabled(screen.absence is None)
        if not rules or rules == self._shown:
            return
        self._shown = rules
        self.choice.blockSignals(True)
        if self.choice.findData(rules) < 0:
            self.choice.addItem(rules, rules)
        self.choice.setCurrentIndex(self.choice.findData(rules))
        self.choice.blockSignals(False)
        self._say_what(rules)

    def _say_what(self, rules: str) -> None:
        self.meaning.setText(tr(RULES[rules]) if rules in RULES else "")

    def _choose(self, rules: str) -> None:
        wish = ChangeSettings(rules=rules)  # type: ignore[arg-type]  # one of those that are offered
        self._context.bridge.ask(self, CHANGE_SETTINGS, wish, self._chosen, self._refused)

    def _chosen(self, view: SettingsView) -> None:
        self.fault.hide()
        self._shown = view.rules
        self._say_what(view.rules)
        self._context.take((view,))

    def _refused(self, sentence: str) -> None:
        """It goes on as before, and shows that."""
        self.fault.say(sentence)
        self._shown = ""
        self.tell(self._context.screen)
