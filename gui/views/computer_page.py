"""This computer: when it may help, what each source of presence sees just now, hours, programs.

A change holds at once and is kept by the agent; what it refuses is said above, and the controls go
back to what holds. Nothing is read back from controls while the person does not touch them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QRadioButton,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from agent.api.volunteering import (
    SET_VOLUNTEERING,
    SetVolunteering,
    SourceView,
    VolunteeringView,
    VolunteerRules,
    counting,
)
from gui.model.screen import Changes
from gui.model.sources import source_mark, source_tip
from gui.model.times import ago
from gui.model.tray import sentence_of
from gui.model.week import cells_of, ranges_of
from gui.theme.drawing import mark_pixmap
from gui.theme.look import GRID
from gui.views.audit_sheet import AuditSheet
from gui.views.bars import Bar
from gui.views.fixed import FixedMark, tell_fixed
from gui.views.pieces import (
    button,
    card,
    column,
    grid,
    held,
    label,
    number_field,
    quiet,
    row,
    said_of,
    set_up,
    strong,
    timer,
    title,
    words_in,
)
from gui.views.programs_card import ProgramsCard
from gui.views.running_programs import RunningChoice
from gui.views.view_context import ViewContext
from gui.views.week_grid import WeekGrid
from gui.wording import explained
from gui.words import plain_tip, tr

SEND_PAUSE_MS = 600
PAGE_WIDTH = 108 * GRID
LIMITS_SHARES = (5, 7)
"""Of the room, for what a limit is called and for its field."""
FLAGS = ("on_mains_only", "full_screen_counts", "calls_count", "own_only")
"""Rules that are switched on or off, in their order."""
READ_WORTH_SAYING_S = 10.0


def source_words(source: str) -> str:
    """Return what a source of presence looks at, in the person's words; an unknown one by its own
    name."""
    return {
        "last input": tr("Last input"),
        "sessions": tr("Sessions"),
        "mains": tr("Power supply"),
        "full screen": tr("Full screen"),
        "meeting": tr("Calls"),
        "processor": tr("Processor"),
        "memory": tr("Memory"),
        "programs": tr("Exclusive programs"),
    }.get(source.casefold(), source[:1].upper() + source[1:])


class ComputerPage(QScrollArea):
    """When this computer helps, in cards one below the other."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._view: VolunteeringView | None = None
        self._telling = False
        set_up(self, "computerPage", tr("This computer"), widgetResizable=True)
        self.fault = Bar("rulesFault", margin=0)
        self.sentence = label(name="computerSentence")
        self._make_rules()
        self._sources = grid(GRID + 4, GRID, stretched=2)
        self._source_rows: list[tuple[QLabel, QLabel, QLabel, QLabel]] = []
        self.no_sources = quiet(tr("This computer helps always, so nothing is watched."))
        self.programs = ProgramsCard(context)
        self._lay()
        self._timer = timer(self, SEND_PAUSE_MS, self._send, once=True)
        context.changed.connect(self.refresh)

    def showEvent(self, event: QShowEvent) -> None:
        """Have the sources of presence looked at while this page is seen."""
        super().showEvent(event)
        self._context.bridge.attention.sources = True

    def hideEvent(self, event: QHideEvent) -> None:
        """Let the sources of presence be, for nobody looks at this page."""
        super().hideEvent(event)
        self._context.bridge.attention.sources = False

    # -- parts -------------------------------------------------------------------------------

    def _make_rules(self) -> None:
        touched = self._touched
        self.modes = {
            mode: set_up(QRadioButton(text), f"mode_{mode.replace(' ', '_')}", toggled=touched)
            for mode, text in (
                ("when idle", tr("When nobody uses it")),
                ("by schedule", tr("When nobody uses it, and only in these hours")),
                ("always", tr("Always")),
                ("not now", tr("Not now; only what I submit here runs")),
            )
        }
        self.week = WeekGrid()
        self.week.changed.connect(touched)
        self.idle = _number("idleMinutes", 0, 1440, tr(" min"), touched)
        self.cpu = _number("othersCpu", 1, 100, " %", touched)
        self.memory = _number("freeMemory", 0, 1024 * 1024, " MB", touched)
        self.memory.setSingleStep(256)
        self.warn = _number("warnSeconds", 0, 600, tr(" s"), touched)
        set_up(self.warn, specialValueText=tr("no warning"), singleStep=10)
        self.lets_end = _number("letsEnd", 0, 86_400, tr(" s"), touched)
        self.mains, self.screen_full, self.calls, self.own_only = (
            set_up(QCheckBox(text), name, toggled=touched)
            for name, text in (
                ("onMains", tr("Only on mains, not on battery")),
                ("fullScreen", tr("Not while a program fills the screen")),
                ("callsCount", tr("Not while a microphone or camera is in use")),
                ("ownOnly", tr("Only workflows submitted on this computer")),
            )
        )
        tip = tr("Names as they stand with workflows, such as ana, bia")
        self.people = _names("people", tr("everybody"), touched, tip)
        tip = tr("Names of people, computers and programs; nothing proves a person's name")
        self.bans = _names("bans", tr("nobody"), touched, tip)
        self.exclusive = _names("exclusivePrograms", tr("such as blender, zoom"), touched)
        self.running = RunningChoice(self._context, self.exclusive, touched, self.fault.say)
        self._controls = self._by_rule()
        """By the name of the rule; the labels come to them."""
        self.fixed = {rule: FixedMark(f"fixed_{rule}") for rule in ("mode", *self._controls)}

    def _by_rule(self) -> dict[str, list[QWidget]]:
        return {
            "hours": [self.week],
            "idle_s": [self.idle],
            "others_cpu_percent": [self.cpu],
            "free_memory_mb": [self.memory],
            "warn_s": [self.warn],
            "lets_end_s": [self.lets_end],
            "people": [self.people],
            "bans": [self.bans],
            "exclusive_programs": [self.exclusive, self.running],
            "on_mains_only": [self.mains],
            "full_screen_counts": [self.screen_full],
            "calls_count": [self.calls],
            "own_only": [self.own_only],
        }

    def _lay(self) -> None:
        modes = held(column(*self.modes.values(), spacing=6))
        inner = QWidget()
        inner.setMaximumWidth(PAGE_WIDTH)
        column(
            title(tr("This computer")),
            self.fault,
            card(tr("Now"), self.sentence),
            card(tr("What it sees of you"), self.no_sources, held(self._sources)),
            card(
                tr("When it helps"),
                row(modes, self.fixed["mode"], "stretch"),
                row((self.week, 1), self.fixed["hours"]),
                self._limits(),
            ),
            self.programs,
            card(
                tr("Who did what"),
                label(
                    tr(
                        "Each act on this computer is noted and signed: what you, its programs and "
                        "other machines had it do."
                    )
                ),
                row(button(tr("Show …"), "showAudit", self.show_audit, "history"), "stretch"),
            ),
            "stretch",
            on=inner,
            spacing=2 * GRID,
            margins=2 * GRID,
        )
        self.setWidget(inner)

    def _limits(self) -> QGridLayout:
        limits = grid(2 * GRID, GRID)
        for place, share in enumerate(LIMITS_SHARES):
            limits.setColumnStretch(place, share)
        limits.setContentsMargins(0, GRID, 0, 0)
        for place, (rule, text) in enumerate(
            (
                ("idle_s", tr("When keyboard and mouse rest for")),
                ("others_cpu_percent", tr("While other programs use at most")),
                ("free_memory_mb", tr("Free memory at least")),
                ("warn_s", tr("Before it works for others, say so for")),
                ("lets_end_s", tr("When I come back, let a task end that needs at most")),
                ("exclusive_programs", tr("Not while one of these programs runs")),
                ("people", tr("Who may use it")),
                ("bans", tr("It takes no work of")),
            )
        ):
            parts = self._controls[rule]
            said = said_of(parts[0], text, wordWrap=True)
            limits.addWidget(said, place, 0)
            limits.addLayout(row((parts[0], 1), *parts[1:], self.fixed[rule], "stretch"), place, 1)
            parts.append(said)
        for place, rule in enumerate(FLAGS, limits.rowCount()):
            line = row(self._controls[rule][0], self.fixed[rule], "stretch")
            limits.addLayout(line, place, 0, 1, 2)
        return limits

    def show_audit(self) -> None:
        """Open the sheet of what was done on this computer."""
        AuditSheet(self._context, self.window()).show()

    # -- telling -----------------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        """Show what these changes touch: the sentence that says what this computer does, the
        programs, the sources and rules. The controls of the rules are disabled while the agent is
        absent, or has not told the rules yet."""
        screen = self._context.screen
        if self.isVisible() or changes.volunteering or changes.connection:
            self.sentence.setText(sentence_of(screen, time.time()))
        if changes.programs or changes.connection:
            self.programs.tell(screen.programs, screen.permissions)
        self.enable_controls(screen.absence is None and screen.volunteering is not None)
        if screen.volunteering is not None and changes.volunteering:
            self.tell(screen.volunteering)

    def enable_controls(self, able: bool) -> None:
        """Enable the controls of the modes, and of the rules that have an effect in the one that is
        chosen, but for what an administrator has fixed; or disable all of them."""
        fixed = self._view.fixed if self._view is not None else ()
        for mode in self.modes.values():
            mode.setEnabled(able and "mode" not in fixed)
        rules = self._rules(self._view.rules) if self._view is not None else VolunteerRules()
        count = counting(rules)
        for rule, controls in self._controls.items():
            for each in controls:
                each.setEnabled(able and rule in count and rule not in fixed)

    def tick(self) -> None:
        """Show the sentence anew, for time has passed."""
        self.sentence.setText(sentence_of(self._context.screen, time.time()))

    def tell(self, view: VolunteeringView) -> None:
        """Show what the sources see now, and put the rules into the controls if they have changed,
        without counting that as a change by the person; while a change of theirs waits to be sent,
        the controls are left alone."""
        before, self._view = self._view, view
        same = before is not None and before.rules == view.rules
        if before is None or before.fixed != view.fixed:
            self._tell_fixed(view)
        self._tell_sources(view.sources)
        if same or self._timer.isActive():
            return
        self._telling = True
        rules = view.rules
        for mode, each in self.modes.items():
            each.setAutoExclusive(False)  # without an answer none is chosen
            each.setChecked(mode == rules.mode)
            each.setAutoExclusive(True)
        self.week.tell(cells_of(rules.hours))
        self.week.setVisible(rules.mode == "by schedule" or bool(rules.hours))
        self.idle.setValue(round(rules.idle_s / 60))
        self.cpu.setValue(rules.others_cpu_percent)
        self.memory.setValue(rules.free_memory_mb)
        self.warn.setValue(round(rules.warn_s))
        self.people.setText(", ".join(rules.people))
        self.bans.setText(", ".join(rules.bans))
        self.lets_end.setValue(round(rules.lets_end_s))
        self.mains.setChecked(rules.on_mains_only)
        self.screen_full.setChecked(rules.full_screen_counts)
        self.calls.setChecked(rules.calls_count)
        self.own_only.setChecked(rules.own_only)
        self.exclusive.setText(", ".join(rules.exclusive_programs))
        self._telling = False
        self.enable_controls(self._context.screen.absence is None)

    def _tell_fixed(self, view: VolunteeringView) -> None:
        """Mark what the policy of this computer fixes."""
        controls: dict[str, list[QWidget]] = {"mode": [*self.modes.values()], **self._controls}
        for rule, mark in self.fixed.items():
            file = view.fixed_by if rule in view.fixed else ""
            mark.tell(file)
            for each in controls[rule]:
                tell_fixed(each, file)
        self.enable_controls(self._context.screen.absence is None)

    def _tell_sources(self, sources: tuple[SourceView, ...]) -> None:
        self.no_sources.setVisible(not sources)
        while len(self._source_rows) < len(sources):
            made = (QLabel(), strong(), label(), quiet())
            place = len(self._source_rows)
            for across, each in enumerate(made):
                self._sources.addWidget(each, place, across)
            self._source_rows.append(made)
        for place, parts in enumerate(self._source_rows):
            for each in parts:
                each.setVisible(place < len(sources))
            if place < len(sources):
                self._tell_source(parts, sources[place])

    def _tell_source(self, parts: tuple[QLabel, ...], source: SourceView) -> None:
        image, name, text, read = parts
        mark, tip = source_mark(source.standing), source_tip(source.standing)
        image.setPixmap(mark_pixmap(mark, 16, self.devicePixelRatioF()))
        image.setToolTip(plain_tip(tip))
        image.setAccessibleName(tip)
        name.setText(source_words(source.source))
        text.setText(explained(source.why, source.text))
        old = source.read_ms and time.time() - source.read_ms / 1000 > READ_WORTH_SAYING_S
        read.setText(ago(source.read_ms / 1000, time.time()) if old else "")

    # -- changing ----------------------------------------------------------------------------

    def _touched(self, *_: Any) -> None:
        self.week.setVisible(self.modes["by schedule"].isChecked() or bool(self.week.cells))
        if not self._telling:
            self.enable_controls(True)
            self._timer.start()

    def _send(self) -> None:
        if self._view is None:
            return
        rules = self._rules(self._view.rules)
        if rules == self._view.rules:
            return
        self._context.bridge.ask(
            self, SET_VOLUNTEERING, SetVolunteering(rules), self._set, self._refused
        )

    def _rules(self, before: VolunteerRules) -> VolunteerRules:
        mode = next((name for name, each in self.modes.items() if each.isChecked()), before.mode)
        painted = self.week.cells != cells_of(before.hours)
        return msgspec.structs.replace(
            before,
            mode=mode,
            hours=ranges_of(self.week.cells) if painted else before.hours,
            idle_s=float(self.idle.value() * 60)
            if round(before.idle_s / 60) != self.idle.value()
            else before.idle_s,
            others_cpu_percent=self.cpu.value(),
            free_memory_mb=self.memory.value(),
            lets_end_s=float(self.lets_end.value()),
            on_mains_only=self.mains.isChecked(),
            full_screen_counts=self.screen_full.isChecked(),
            calls_count=self.calls.isChecked(),
            own_only=self.own_only.isChecked(),
            exclusive_programs=words_in(self.exclusive.text()),
            warn_s=float(self.warn.value()),
            people=words_in(self.people.text()),
            bans=words_in(self.bans.text()),
        )

    def _set(self, view: VolunteeringView) -> None:
        self.fault.hide()
        self._context.take((view,))

    def _refused(self, sentence: str) -> None:
        self.fault.say(sentence)
        if self._view is not None:
            view, self._view = self._view, None
            self.tell(view)


def _number(name: str, least: int, most: int, unit: str, act: Callable[..., object]) -> QSpinBox:
    made = number_field(name, least, most)
    return set_up(made, suffix=unit, fixedWidth=14 * GRID, valueChanged=act)


def _names(name: str, example: str, act: Callable[..., object], tip: str = "") -> QLineEdit:
    made = set_up(QLineEdit(), name, placeholderText=example, editingFinished=act)
    made.setMinimumWidth(18 * GRID)
    made.setMaximumWidth(34 * GRID)
    made.setToolTip(plain_tip(tip))
    return made
