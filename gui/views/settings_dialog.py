"""Settings: what starts with the login, what is told, in which language; and the machine's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QWidget

from agent.api.flock import LEAVE, Leave, Left
from agent.api.past import PAST, Past, PastReply
from agent.api.settings import (
    CHANGE_SETTINGS,
    ChangeSettings,
    SettingsView,
)
from agent.api.update import START_ANEW, StartAnew
from gui import settings
from gui.model.news import NewsKind, kind_words
from gui.model.notices import FlockPart
from gui.model.screen import Changes
from gui.model.times import size
from gui.model.workflows import NOBODY
from gui.startup import Login, switch
from gui.theme.look import GRID
from gui.translations import available
from gui.views.bars import Bar
from gui.views.fixed import FixedMark, tell_fixed
from gui.views.pieces import (
    Placed,
    Sheet,
    button,
    column,
    form,
    held,
    label,
    number_field,
    pad,
    quiet,
    row,
    set_up,
    tab_widget,
    words_in,
)
from gui.views.room import Scrolled, keep_on_screen
from gui.views.share_choice import ShareChoice
from gui.views.shortcuts import ShortcutsList
from gui.views.view_context import ViewContext
from gui.wording import sentences
from gui.words import tr

GIGABYTES_MAX, LOGS_MB_MAX = 1_000_000.0, 16.0
PORT_MAX, COPIES_MAX = 65_535, 9
HISTORY_DAYS_MAX = 36_500
BAR_WIDTH = 2 * GRID
SIZE, SIZE_MIN = (72 * GRID, 66 * GRID), (64 * GRID, 40 * GRID)


class SettingsDialog(Sheet):
    """There is nothing to confirm. What does not hold at once says so, with a button for that."""

    def __init__(self, context: ViewContext, login: Login, parent: QWidget | None = None) -> None:
        super().__init__(parent, "settingsDialog", tr("Settings"))
        self._context, self._login = context, login
        self.fault = Bar("settingsFault", margin=0)
        self.tabs = tab_widget(
            "settingsTabs",
            tr("Settings"),
            (tr("General"), self._general()),
            (tr("Notifications"), self._news()),
            (tr("This computer"), Scrolled(self._machine(context.screen.settings))),
            (tr("Shortcuts"), Scrolled(ShortcutsList())),
        )
        bottom = row("stretch", button(tr("Close"), "settingsClose", self.close))
        column(self.fault, (self.tabs, 1), bottom, on=self, margins=2 * GRID)
        self.resize(max(SIZE[0], self.sizeHint().width() + BAR_WIDTH), SIZE[1])
        keep_on_screen(self, SIZE_MIN)

    def _general(self) -> QWidget:
        self.at_login = set_up(QCheckBox(tr("Start when I log in")), "atLogin")
        try:
            self.at_login.setChecked(self._login.enabled())
        except OSError as error:
            set_up(self.at_login, enabled=False, toolTip=str(error))
        self.at_login.toggled.connect(self._switch_login)
        languages = (("", tr("As the system")), *available())
        self.language = choice("language", languages, settings.language(), self._choose_language)
        self.language.setFixedWidth(28 * GRID)
        self.language_note = quiet(wrap=True)
        return _page(
            self.at_login, form((tr("Language"), self.language)), self.language_note, "stretch"
        )

    def _news(self) -> QWidget:
        self.news = {
            kind: set_up(
                QCheckBox(kind_words(kind)),
                f"news_{kind.value}",
                checked=settings.news_wanted(kind),
                toggled=partial(settings.want_news, kind),
            )
            for kind in NewsKind
        }
        while_full = quiet(tr("While a program fills the screen, nothing is told."), wrap=True)
        self.all = set_up(
            QCheckBox(tr("Also about workflows of others")),
            "newsEverybody",
            checked=settings.minds_all(),
            toggled=self._mind_all,
        )
        return _page(
            quiet(tr("Tell me when"), wrap=True),
            *self.news.values(),
            *(GRID, self.all, GRID, while_full, "stretch"),
        )

    def _mind_all(self, wanted: bool) -> None:
        """In badge, tray and messages alike, at once."""
        settings.mind_all(wanted)
        self._context.screen.minds_all = wanted
        self._context.changed.emit(Changes(everything=True))

    def _machine(self, view: SettingsView | None) -> QWidget:
        if view is None:
            return _page(
                quiet(tr("The agent has not told its settings yet."), wrap=True), "stretch"
            )
        self.restart_note = quiet(wrap=True)
        leave = button(tr("Leave the flock …"), "leaveFlock", self._leave)
        leave.setEnabled(bool(self._context.screen.node and self._context.screen.node.flock))
        remove = button(tr("Remove from this computer …"), "removeWingbeat", self._remove)
        fields = self._machine_controls(view)
        self._called = {setting: text for setting, text, _ in fields}
        controls = form(*(_by_whom(view, *each) for each in fields))
        wrong = label(sentences(view.whys, view.wrong), "laidDownWrong")
        wrong.setVisible(bool(view.wrong))
        self.anew = button(tr("Start anew now"), "startAnew", self._start_anew, "retry")
        self._tell_restart(view)
        waits = row((self.restart_note, 1), self.anew)
        return _page(wrong, controls, waits, "stretch", row(leave, remove, "stretch"))

    def _machine_controls(self, view: SettingsView) -> tuple[tuple[str, str, QWidget], ...]:
        """By the name of the setting and what it is called."""
        slots = number_field("machineSlots", 1, 256)
        slots.setValue(view.slots)
        slots.editingFinished.connect(lambda: self._change(slots=slots.value()))
        says = tr("Port for the other machines")
        port = set_up(
            number_field("machinePort", 0, PORT_MAX), "", says, specialValueText=tr("any")
        )
        port.setValue(view.port)
        port.editingFinished.connect(Once(port.value, partial(self._change_to, "port")))
        used = view.listening not in (0, view.port) and view.port and "port" not in view.restart
        elsewhere = tr("{port} now, for it is used", port=view.listening) if used else ""
        return (
            ("name", tr("Name of this computer"), self._line("machineName", "name", view.name)),
            ("slots", tr("Tasks at a time"), slots),
            ("port", says, held(row(port, quiet(elsewhere), "stretch"))),
            ("published_programs", tr("Programs that others publish"), self._published(view)),
            ("processor", tr("Processor for programs"), self._processor(view)),
            ("memory_gb", tr("Memory for one program"), self._gigabytes(
                "programMemory", "memory_gb", view.memory_gb, tr("a part of what there is"))),
            ("datasets_gb", tr("Space for datasets"), self._gigabytes(
                "datasetQuota", "datasets_gb", view.datasets_gb, tr("half of what is free"))),
            ("history_days", tr("Finished work is remembered for"), self._history_days(view)),
            ("logs_mb", tr("End of each log, kept on another machine"), self._logs_mb(view)),
            ("copies", tr("Copies of each result"), self._copies(view)),
            ("shared_with", tr("What I submit is shared with"), self._shared(view)),
            ("join_requests", tr("Machines that ask to be let in"), self._join_requests(view)),
            ("updates", tr("A version that was installed starts"), self._updates(view)),
            ("keep_awake", tr("While a task runs here"), self._keep_awake(view)),
            ("wakeable", tr("While it sleeps"), self._wakeable(view)),
            ("tags", tr("Tags"), self._line("machineTags", "tags", view.tags)),
            ("addresses", tr("Addresses of machines that are not found"),
             self._line("machineAddresses", "addresses", view.addresses)),
        )  # fmt: skip

    def _published(self, view: SettingsView) -> QWidget:
        choices = (
            ("ask", tr("Ask me for each")),
            ("always", tr("Run them")),
            ("never", tr("Never run them")),
        )
        change = partial(self._change_to, "published_programs")
        return choice("publishedPrograms", choices, view.published_programs, change)

    def _processor(self, view: SettingsView) -> QWidget:
        choices = (
            ("spare", tr("Only what nobody else wants")),
            ("share", tr("A little in any case")),
        )
        change = partial(self._change_to, "processor")
        return choice("processorShare", choices, view.processor, change)

    def _history_days(self, view: SettingsView) -> QWidget:
        """With what it takes on the disk now, as soon as the agent has said it."""
        days = set_up(
            number_field("historyDays", 0, HISTORY_DAYS_MAX),
            says=tr("Finished work is remembered for"),
            specialValueText=tr("for ever"),
            suffix=" " + tr("days"),
            value=view.history_days,
        )
        days.editingFinished.connect(Once(days.value, partial(self._change_to, "history_days")))
        self.history_size = quiet("", "historySize", wrap=True)

        def told(reply: PastReply) -> None:
            self.history_size.setText(tr("takes {size} now", size=size(reply.size_bytes)))

        self._context.bridge.ask(self, PAST, Past(limit=1, summed=True), told)
        return held(row(days, (self.history_size, 1)))

    def _logs_mb(self, view: SettingsView) -> QWidget:
        """With what the logs of others take here, by the agent's last word, which is asked for anew."""
        says = tr("End of each log, kept on another machine")
        part = self._number("logsPart", "logs_mb", view.logs_mb, tr("nothing"), " MB", LOGS_MB_MAX)
        self.logs_size = quiet("", "logsSize", wrap=True)
        self._tell_logs()
        self._context.changed.connect(self._tell_logs)
        self._context.bridge.want_parts((FlockPart.SETTINGS,))
        return held(row(set_up(part, says=says), (self.logs_size, 1)))

    def _tell_logs(self, _: object = None) -> None:
        if (view := self._context.screen.settings) is not None:
            taken = size(view.kept_logs_bytes)
            self.logs_size.setText(tr("those of others take {size} here now", size=taken))

    def _copies(self, view: SettingsView) -> QWidget:
        says = tr("Copies of each result")
        copies = set_up(
            number_field("copies", 0, COPIES_MAX),
            "",
            says,
            specialValueText=tr("as many as advised"),
        )
        copies.setValue(view.copies)
        copies.editingFinished.connect(Once(copies.value, partial(self._change_to, "copies")))
        return held(row(copies, "stretch"))

    def _shared(self, view: SettingsView) -> QWidget:
        def change(shared: tuple[str, ...]) -> None:
            self._change(shared_with=() if shared == (NOBODY,) else shared)

        made = ShareChoice(self._context, "sharedWith", change)
        made.tell(view.shared_with)
        return made

    def _join_requests(self, view: SettingsView) -> QWidget:
        choices = (
            (True, tr("May ask without an invitation")),
            (False, tr("Only with an invitation")),
        )
        change = partial(self._change_to, "join_requests")
        return choice("joinRequests", choices, view.join_requests, change)

    def _keep_awake(self, view: SettingsView) -> QWidget:
        choices = (
            (True, tr("It stays awake on mains")),
            (False, tr("It may fall asleep")),
        )
        change = partial(self._change_to, "keep_awake")
        return choice("keepAwake", choices, view.keep_awake, change)

    def _wakeable(self, view: SettingsView) -> QWidget:
        choices = (
            (False, tr("It is left asleep")),
            (True, tr("Others may wake it for what only it can do")),
        )
        change = partial(self._change_to, "wakeable")
        return choice("wakeable", choices, view.wakeable, change)

    def _updates(self, view: SettingsView) -> QWidget:
        choices = (
            ("by itself", tr("When no task runs here")),
            ("ask", tr("When I say so")),
        )
        change = partial(self._change_to, "updates")
        return choice("updates", choices, view.updates, change)

    def _line(self, name: str, setting: str, value: str | tuple[str, ...]) -> QLineEdit:
        """A field for a word, or for several with commas between them."""
        several = isinstance(value, tuple)
        made = set_up(QLineEdit(", ".join(value) if isinstance(value, tuple) else value), name)

        def change(text: str) -> None:
            given: Any = words_in(text) if several else text.strip()
            self._ask(ChangeSettings(**{setting: given}), refused)

        def refused(sentence: str) -> None:
            self.fault.say(sentence)
            once.take_back(made.setText)

        once = Once(made.text, change)
        made.editingFinished.connect(once)
        return made

    def _gigabytes(self, name: str, setting: str, value: float, nought: str) -> QDoubleSpinBox:
        """Nought is what the agent does by itself, and says so."""
        return self._number(name, setting, value, nought, " GB", GIGABYTES_MAX)

    def _number(
        self, name: str, setting: str, value: float, nought: str, unit: str, most: float
    ) -> QDoubleSpinBox:
        made = set_up(
            QDoubleSpinBox(),
            name,
            maximum=most,
            decimals=1,
            suffix=unit,
            specialValueText=nought,
            value=value,
        )
        pad(made)
        made.editingFinished.connect(Once(made.value, partial(self._change_to, setting)))
        return made

    # -- acts --------------------------------------------------------------------------------

    def _switch_login(self, on: bool) -> None:
        if refused := switch(self._login, on):
            self.fault.say(refused)

    def _choose_language(self, code: str) -> None:
        settings.choose_language(code)
        self.language_note.setText(tr("Shown in this language from the next start on."))

    def _change_to(self, setting: str, value: Any) -> None:
        self._change(**{setting: value})

    def _change(self, **changes: Any) -> None:
        self._ask(ChangeSettings(**changes), self.fault.say)

    def _ask(self, wish: ChangeSettings, refused: Callable[[str], object]) -> None:
        self._context.bridge.ask(self, CHANGE_SETTINGS, wish, self._changed, refused)

    def _changed(self, view: SettingsView) -> None:
        self.fault.hide()
        self._context.take((view,))
        self._tell_restart(view)

    def _tell_restart(self, view: SettingsView) -> None:
        """What holds later, and the button for at once."""
        said = tr("Kept in {file}", file=view.file)
        if view.restart:
            called = (self._called.get(name, name) for name in view.restart)
            said = tr("Holds when Wingbeat has started anew: {names}", names=", ".join(called))
        self.restart_note.setText(said)
        self.anew.setVisible(bool(view.restart))

    def _start_anew(self) -> None:
        """What runs here is handed back first."""
        wish = StartAnew(now=True)
        self._context.bridge.ask(self, START_ANEW, wish, lambda _: self.close(), self.fault.say)

    def _leave(self) -> None:
        from gui.views.questions import ask_to_leave

        def left(reply: Left) -> None:
            self._context.said.emit(
                reply.warning or tr("This computer has left {flock}.", flock=reply.flock)
            )
            self._context.bridge.want_flock()

        bridge = self._context.bridge
        ask_to_leave(self, lambda: bridge.ask(self, LEAVE, Leave(), left, self.fault.say))

    def _remove(self) -> None:
        from gui.views.removing import Removal

        window = self.parentWidget() or self
        self.close()
        Removal(self._context, window).ask()


def _by_whom(view: SettingsView, setting: str, text: str, control: QWidget) -> tuple[str, QWidget]:
    """The line of a setting; where the policy fixes it, with a mark that says so, to be read only."""
    if view.origins.get(setting) != "policy":
        return text, control
    mark = FixedMark(f"fixed_{setting}")
    control.setAccessibleName(text)
    tell_fixed(control, view.policy)
    mark.tell(view.policy)
    return text, held(row((control, 1), mark))


def _page(*parts: Placed) -> QWidget:
    return held(column(*parts, margins=(0, 2 * GRID, 0, 0)))


class Once:
    """Calls ``changed`` with what a field holds by now, if that is not what it held before."""

    def __init__(self, value: Callable[[], Any], changed: Callable[[Any], object]) -> None:
        self._value, self._changed, self._told = value, changed, value()
        self._before = self._told

    def __call__(self) -> None:
        if self._value() != self._told:
            self._before, self._told = self._told, self._value()
            self._changed(self._told)

    def take_back(self, put: Callable[[Any], object]) -> None:
        """Put what it held before into the field, which is no change then."""
        self._told = self._before
        put(self._before)


def choice(
    name: str, choices: Iterable[tuple[Any, str]], value: Any, changed: Callable[[Any], object]
) -> QComboBox:
    """Return a list of texts to choose from, at first the one whose key is ``value``, or the first;
    ``changed`` is called with the key of each new choice."""
    made = set_up(QComboBox(), name)
    for key, text in choices:
        made.addItem(text, key)
    made.setCurrentIndex(max(0, made.findData(value)))
    made.currentIndexChanged.connect(lambda _: changed(made.currentData()))
    return made
