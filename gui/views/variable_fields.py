"""A field for each variable of a workflow, for whoever gives it values before it runs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from agent.workflow.variables import Variable
from gui.views.pieces import set_up


def variable_field(
    variable: Variable, values: dict[str, str], typed: Callable[[], object]
) -> QWidget:
    """Return a field with the value that is there, else with the default; a choice shows its first
    where it has neither. What is typed or chosen is put into ``values`` at once, and ``typed`` is
    called; what a choice shows already now, where no value is there."""
    default = variable.default
    said = ", ".join(default) if isinstance(default, tuple) else (default or "")
    value = values.get(variable.name, said)

    def take(text: str) -> None:
        values[variable.name] = text
        typed()

    name, says = f"variable_{variable.name}", variable.says or variable.name
    if variable.choices:
        box = set_up(QComboBox(), name, says)
        box.addItems(list(variable.choices))
        box.setCurrentText(value)
        values.setdefault(variable.name, box.currentText())
        box.currentTextChanged.connect(take)
        return box
    return set_up(QLineEdit(value), name, says, placeholderText=variable.type, textEdited=take)
