"""Menus: those from data, the same in tray and window, and what those of single things share.

A menu that has not changed is not made anew.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from gui.model.tray import Act, Entry
from gui.theme.drawing import icon
from gui.views.pieces import set_up
from gui.words import tr

_ICONS = {
    Act.FINISH: "check",
    Act.RESUME: "resume",
    Act.NOT_NOW: "pause",
    Act.SUBMIT: "submit",
}


def fill(menu: QMenu, entries: tuple[Entry, ...], act: Callable[[Entry], object]) -> None:
    """Make the menu show these entries, each of which calls ``act`` with itself. If only texts, or
    what is enabled, are others than before, they are changed in place, so an open menu stays open,
    and entries still call ``act`` with what they were made of."""
    shape = repr(_shape(entries))
    if menu.property("shape") == shape:
        _retell(menu, entries)
        return
    menu.clear()
    menu.setProperty("shape", shape)
    for entry in entries:
        _add(menu, entry, act)


def _shape(entries: tuple[Entry, ...]) -> list[object]:
    """What an entry does, and so what it calls ``act`` with, for as long as it is there."""
    return [(each.act, each.length_s, each.leads_to, _shape(each.parts)) for each in entries]


def context_menu(parent: QWidget, name: str) -> QMenu:
    """Return an empty menu for one time; nothing is left of it when it is shut."""
    return set_up(QMenu(parent), name, attribute=Qt.WidgetAttribute.WA_DeleteOnClose)


def add_entry(
    menu: QMenu,
    name: str,
    text: str,
    act: Callable[[], object],
    icon_name: str = "",
    *,
    able: bool = True,
) -> None:
    """Add an entry that calls ``act``, disabled unless ``able``, without an icon where
    ``icon_name`` is empty; ``name`` is for tests, ``text`` for people."""
    added = menu.addAction(icon(icon_name), text) if icon_name else menu.addAction(text)
    added.setObjectName(name)
    added.setEnabled(able)
    added.triggered.connect(lambda: act())


def add_copy(menu: QMenu, text: str) -> None:
    """Add an entry that copies an id, by which commands and logs call the thing."""
    copy = QGuiApplication.clipboard().setText
    add_entry(menu, "copy", tr("Copy id"), lambda: copy(text), "copy")


def _add(menu: QMenu, entry: Entry, act: Callable[[Entry], object]) -> None:
    if entry.act is Act.SEPARATOR:
        menu.addSeparator()
    elif entry.parts:
        inner = menu.addMenu(icon("pause"), entry.text)
        inner.setEnabled(entry.enabled)
        fill(inner, entry.parts, act)
    else:
        name = f"{entry.act.value} {entry.length_s:.0f}".removesuffix(" 0")
        picture = _ICONS.get(entry.act, "")
        add_entry(menu, name, entry.text, lambda: act(entry), picture, able=entry.enabled)


def _retell(menu: QMenu, entries: tuple[Entry, ...]) -> None:
    for shown, entry in zip(menu.actions(), entries, strict=True):
        if shown.text() != entry.text:
            shown.setText(entry.text)
        if shown.isEnabled() != entry.enabled:
            shown.setEnabled(entry.enabled)
        inner = shown.menu()
        if entry.parts and isinstance(inner, QMenu):
            # A menu that was disabled stays so, and grey, whatever its entry is told.
            inner.setEnabled(entry.enabled)
            _retell(inner, entry.parts)
