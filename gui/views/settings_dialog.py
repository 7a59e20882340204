"""Settings: what starts with the login, what is told, in which language; and the machine's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from agent.api.flock import LEAVE, Leave, Left
from agent.api.settings import CHANGE_SETTINGS, ChangeSettings, SettingsView
from gui import settings
from gui.model.news import NewsKind, kind_words
from gui.startup import Login, switch
from gui.theme.look import GRID
from gui.translations import available
from gui.views.bars import Bar
from gui.views.pieces import button, form_row, label, number_field, pad, quiet, row, tab_widget
from gui.views.room import Scrolled, keep_on_screen
from gui.views.shortcuts import ShortcutsList
from gui.views.view_context import ViewContext
from gui.words import tr

GIGABYTES_MAX = 1_000_000.0


SIZE, SIZE_MIN = (72 * GRID, 66 * GRID), (64 * GRID, 40 * GRID)


class SettingsDialog(QDialog):
    """Everything holds at once; there is nothing to confirm."""

    def __init__(self, context: ViewContext, login: Login, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._login = context, login
        self.setObjectName("settingsDialog")
        self.setWindowTitle(tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fault = Bar("settingsFault", margin=0)
        self.tabs = tab_widget("settingsTabs", tr("Settings"))
        self.tabs.addTab(self._general(), tr("General"))
        self.tabs.addTab(self._news(), tr("Notifications"))
        machine = Scrolled(self._machine(context.screen.settings))
        self.tabs.addTab(machine, tr("This computer"))
        self.tabs.addTab(Scrolled(ShortcutsList()), tr("Shortcuts"))
        lay = QVBoxLayout(self)
        lay.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        lay.setSpacing(GRID)
        lay.addWidget(self.fault)
        lay.addWidget(self.tabs, 1)
        bottom = row(button(tr("Close"), "settingsClose", self.close))
        bottom.insertStretch(0)
        lay.addLayout(bottom)
        self.resize(*SIZE)
        keep_on_screen(self, SIZE_MIN)

    def _general(self) -> QWidget:
        page, lay = _page()
        self.at_login = QCheckBox(tr("Start when I log in"))
        self.at_login.setObjectName("atLogin")
        try:
            self.at_login.setChecked(self._login.enabled())
        except OSError as error:
            self.at_login.setEnabled(False)
            self.at_login.setToolTip(str(error))
        self.at_login.toggled.connect(self._switch_login)
        self.language = QComboBox()
        self.language.setObjectName("language")
        self.language.addItem(tr("As the system"), "")
        for code, name in available():
            self.language.addItem(name, code)
        self.language.setCurrentIndex(max(0, self.language.findData(settings.language())))
        self.language.currentIndexChanged.connect(self._choose_language)
        self.language_note = quiet(wrap=True)
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        self.language.setFixedWidth(28 * GRID)
        form_row(form, tr("Language"), self.language)
        lay.addWidget(self.at_login)
        lay.addLayout(form)
        lay.addWidget(self.language_note)
        lay.addStretch(1)
        return page

    def _news(self) -> QWidget:
        page, lay = _page()
        lay.addWidget(quiet(tr("Tell me when"), wrap=True))
        self.news: dict[NewsKind, QCheckBox] = {}
        for kind in NewsKind:
            check = self.news[kind] = QCheckBox(kind_words(kind))
            check.setObjectName(f"news_{kind.value}")
            check.setChecked(settings.news_wanted(kind))
            check.toggled.connect(lambda on, kind=kind: settings.want_news(kind, on))
            lay.addWidget(check)
        lay.addSpacing(GRID)
        lay.addWidget(quiet(tr("While a program fills the screen, nothing is told."), wrap=True))
        lay.addStretch(1)
        return page

    def _machine(self, view: SettingsView | None) -> QWidget:
        page, lay = _page()
        if view is None:
            lay.addWidget(quiet(tr("The agent has not told its settings yet."), wrap=True))
            lay.addStretch(1)
            return page
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        for text, control in self._machine_controls(view):
            form_row(form, text, control)
        lay.addLayout(form)
        self.restart_note = label(tr("Kept in {file}", file=view.file))
        self.restart_note.setProperty("quiet", True)
        lay.addWidget(self.restart_note)
        lay.addStretch(1)
        leave = button(tr("Leave the flock …"), "leaveFlock", self._leave)
        leave.setEnabled(bool(self._context.screen.node and self._context.screen.node.flock))
        lay.addWidget(leave, 0, Qt.AlignmentFlag.AlignLeft)
        return page

    def _machine_controls(self, view: SettingsView) -> tuple[tuple[str, QWidget], ...]:
        name = _line("machineName", view.name, lambda text: self._change(ChangeSettings(name=text)))
        tags = _line("machineTags", ", ".join(view.tags), self._change_tags)
        addresses = _line("machineAddresses", ", ".join(view.addresses), self._change_addresses)
        return (
            (tr("Name of this computer"), name),
            (tr("Tasks at a time"), self._slots(view)),
            (tr("Programs that others publish"), self._published(view)),
            (tr("Processor for programs"), self._processor(view)),
            (tr("Memory for one program"), self._memory(view)),
            (tr("Space for datasets"), self._quota(view)),
            (tr("Machines that ask to be let in"), self._join_requests(view)),
            (tr("Tags"), tags),
            (tr("Addresses of machines that are not found"), addresses),
        )

    def _slots(self, view: SettingsView) -> QWidget:
        slots = number_field("machineSlots", 1, 256)
        slots.setValue(view.slots)
        slots.editingFinished.connect(lambda: self._change(ChangeSettings(slots=slots.value())))
        return slots

    def _published(self, view: SettingsView) -> QWidget:
        choices = (
            ("ask", tr("Ask me for each")),
            ("always", tr("Run them")),
            ("never", tr("Never run them")),
        )
        return _choice(
            "publishedPrograms",
            choices,
            view.published_programs,
            lambda value: self._change(ChangeSettings(published_programs=value)),
        )

    def _processor(self, view: SettingsView) -> QWidget:
        choices = (
            ("spare", tr("Only what nobody else wants")),
            ("share", tr("A little in any case")),
        )
        return _choice(
            "processorShare",
            choices,
            view.processor,
            lambda value: self._change(ChangeSettings(processor=value)),
        )

    def _join_requests(self, view: SettingsView) -> QWidget:
        choices = (
            ("yes", tr("May ask without an invitation")),
            ("no", tr("Only with an invitation")),
        )
        return _choice(
            "joinRequests",
            choices,
            "yes" if view.join_requests else "no",
            lambda value: self._change(ChangeSettings(join_requests=value == "yes")),
        )

    def _memory(self, view: SettingsView) -> QWidget:
        return _gigabytes(
            "programMemory",
            view.memory_gb,
            tr("a part of what there is"),
            lambda value: self._change(ChangeSettings(memory_gb=value)),
        )

    def _quota(self, view: SettingsView) -> QWidget:
        return _gigabytes(
            "datasetQuota",
            view.datasets_gb,
            tr("half of what is free"),
            lambda value: self._change(ChangeSettings(datasets_gb=value)),
        )

    # -- acts --------------------------------------------------------------------------------

    def _switch_login(self, on: bool) -> None:
        if refused := switch(self._login, on):
            self.fault.say(refused)

    def _choose_language(self) -> None:
        settings.choose_language(self.language.currentData())
        self.language_note.setText(tr("Shown in this language from the next start on."))

    def _change_tags(self, text: str) -> None:
        self._change(ChangeSettings(tags=_parts(text)))

    def _change_addresses(self, text: str) -> None:
        self._change(ChangeSettings(addresses=_parts(text)))

    def _change(self, wish: ChangeSettings) -> None:
        self._context.bridge.ask(self, CHANGE_SETTINGS, wish, self._changed, self.fault.say)

    def _changed(self, view: SettingsView) -> None:
        self.fault.hide()
        self._context.screen.settings = view
        if view.restart:
            names = ", ".join(view.restart)
            self.restart_note.setText(
                tr("Holds after a restart of the agent: {names}", names=names)
            )

    def _leave(self) -> None:
        from gui.views.questions import ask_to_leave

        def left(reply: Left) -> None:
            self._context.said.emit(
                reply.warning or tr("This computer has left {flock}.", flock=reply.flock)
            )
            self._context.bridge.want_flock()

        bridge = self._context.bridge
        ask_to_leave(self, lambda: bridge.ask(self, LEAVE, Leave(), left, self.fault.say))


def _page() -> tuple[QWidget, QVBoxLayout]:
    page = QWidget()
    lay = QVBoxLayout(page)
    lay.setContentsMargins(0, 2 * GRID, 0, 0)
    lay.setSpacing(GRID)
    return page, lay


def _line(name: str, text: str, changed: Callable[[str], object]) -> QLineEdit:
    made = QLineEdit(text)
    made.setObjectName(name)
    told = [text]

    def finished() -> None:
        if made.text() != told[0]:
            told[0] = made.text()
            changed(made.text().strip())

    made.editingFinished.connect(finished)
    return made


def _choice(
    name: str, choices: Iterable[tuple[str, str]], value: str, changed: Callable[[Any], object]
) -> QComboBox:
    made = QComboBox()
    made.setObjectName(name)
    for key, text in choices:
        made.addItem(text, key)
    made.setCurrentIndex(max(0, made.findData(value)))
    made.currentIndexChanged.connect(lambda _: changed(made.currentData()))
    return made


def _gigabytes(
    name: str, value: float, nought: str, changed: Callable[[float], object]
) -> QDoubleSpinBox:
    """Nought is what the agent does by itself, and says so."""
    made = QDoubleSpinBox()
    pad(made)
    made.setObjectName(name)
    made.setRange(0, GIGABYTES_MAX)
    made.setDecimals(1)
    made.setSuffix(" GB")
    made.setSpecialValueText(nought)
    made.setValue(value)
    told = [value]

    def finished() -> None:
        if made.value() != told[0]:
            told[0] = made.value()
            changed(made.value())

    made.editingFinished.connect(finished)
    return made


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
