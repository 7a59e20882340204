"""The system's dialogs in which a person names a file: where they begin, and what is let be.

Such a dialog waits for its person while everything else goes on, so whoever asked may be closed when
an answer comes; then there is none. Where files for a purpose were chosen last, the next choice begins.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from gui import settings
from gui.bridge.bridge import is_gone


def files_to_open(parent: QWidget, purpose: str, heading: str, patterns: str = "") -> list[Path]:
    """Ask the person for files, wait for the answer and return them; empty if they cancel or the
    parent is gone meanwhile. The choice begins in the folder of the last one for this purpose, and
    theirs is remembered. ``patterns`` are Qt's filters."""
    begin = settings.last_folder(purpose)
    chosen, _ = QFileDialog.getOpenFileNames(parent, heading, begin, patterns)
    return _kept(parent, purpose, [Path(each) for each in chosen])


def file_to_open(parent: QWidget, purpose: str, heading: str) -> Path | None:
    """Ask the person for one file as ``files_to_open`` does, and return it; None for none."""
    chosen, _ = QFileDialog.getOpenFileName(parent, heading, settings.last_folder(purpose))
    return next(iter(_kept(parent, purpose, [Path(chosen)] if chosen else [])), None)


def folder_to_fill(parent: QWidget, purpose: str, heading: str) -> Path | None:
    """Ask the person for a folder in which something is to be kept, wait for the answer and return
    it; None if they cancel or the parent is gone meanwhile. The next choice for this purpose begins
    there."""
    chosen = QFileDialog.getExistingDirectory(parent, heading, settings.last_folder(purpose))
    if not chosen or is_gone(parent):
        return None
    settings.keep_folder(purpose, Path(chosen))
    return Path(chosen)


def save_text(
    parent: QWidget, heading: str, name: str, text: str, failed: Callable[[str], object]
) -> None:
    """Ask the person for a file, by this name at first, wait for the answer and write the text into
    it. Nothing is written if they cancel or the parent is gone meanwhile; ``failed`` is called with
    a sentence if the file cannot be written."""
    chosen, _ = QFileDialog.getSaveFileName(parent, heading, str(Path.home() / name))
    if chosen and not is_gone(parent):
        try:
            Path(chosen).write_text(text, "utf-8")
        except OSError as error:
            failed(f"{chosen}: {error.strerror}.")


def _kept(parent: QWidget, purpose: str, chosen: list[Path]) -> list[Path]:
    if not chosen or is_gone(parent):
        return []
    settings.keep_folder(purpose, chosen[0].parent)
    return chosen
