"""What the window remembers of its person: a few switches, kept by Qt where the system keeps such.

They are the window's own; what concerns the agent (rules, name, programs) is the agent's to keep.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings

from gui.model.news import NewsKind

LANGUAGE_SYSTEM = ""
HIDDEN_MAX = 5_000


def news_wanted(kind: NewsKind) -> bool:
    """Tell whether news of this kind is shown; all kinds are until one is switched off."""
    return bool(QSettings().value(f"news/{kind.value}", True, type=bool))


def want_news(kind: NewsKind, wanted: bool) -> None:
    """Switch news of this kind on or off, from now on."""
    QSettings().setValue(f"news/{kind.value}", wanted)


def minds_all() -> bool:
    """Tell whether badge, tray and news are about everybody's workflows; at first about one's own."""
    return bool(QSettings().value("news/everybody", False, type=bool))


def mind_all(wanted: bool) -> None:
    """Keep whether they are, from now on."""
    QSettings().setValue("news/everybody", wanted)


def shows_all(place: str) -> bool:
    """Tell whether a place shows everybody's workflows; at first one's own."""
    return bool(QSettings().value(f"everybody/{place}", False, type=bool))


def show_all(place: str, wanted: bool) -> None:
    """Keep what a place shows, from now on."""
    QSettings().setValue(f"everybody/{place}", wanted)


def hidden_workflows() -> dict[str, int]:
    """Return the workflows that were put out of sight, by their ids, with when they had ended then."""
    stored = QSettings().value("workflows/hidden")
    told = (each.split(" ") for each in _texts(stored))
    return {parts[0]: int(parts[1]) for parts in told if len(parts) == 2 and parts[1].isdecimal()}


def hide_workflows(hidden: dict[str, int]) -> None:
    """Keep which are out of sight from now on; of very many the last ones."""
    told = [f"{workflow} {ended_ms}" for workflow, ended_ms in hidden.items()]
    QSettings().setValue("workflows/hidden", told[-HIDDEN_MAX:])


def _texts(stored: object) -> list[str]:
    """Qt reads a list of one back as that one."""
    return [stored] if isinstance(stored, str) else list(stored) if isinstance(stored, list) else []


def language() -> str:
    """Return the code of the language that was chosen; empty: the system's."""
    return str(QSettings().value("language", LANGUAGE_SYSTEM))


def choose_language(code: str) -> None:
    """Keep the language to be spoken from the next start on."""
    QSettings().setValue("language", code)


def last_folder(purpose: str) -> str:
    """Return where files for this purpose were chosen last; at first the person's own folder,
    wherever the program was started."""
    return str(QSettings().value(f"folders/{purpose}", str(Path.home())))


def keep_folder(purpose: str, folder: Path) -> None:
    """Keep where the next choice for this purpose begins."""
    QSettings().setValue(f"folders/{purpose}", str(folder))
