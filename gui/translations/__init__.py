"""Languages: which there are, and the translator that gives them to ``gui.words``.

English is what the sources say; its catalogue holds only plurals. A new language is a new file
``wingbeat_….ts`` here, and its name in ``NAMES``; ``python -m gui.translations`` (``__main__``)
brings all of them up to date with the sources and compiles them. Nothing else of the window knows
how a sentence is translated: all of it says ``tr`` of ``gui.words``, which knows no Qt.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from gui import words

CONTEXT = ""
COUNT_MAX = 2**31 - 1
"""What Qt counts to; another machine may say more."""
NAMES = {"en": "English", "pt": "Português"}


def available() -> tuple[tuple[str, str], ...]:
    """Return the codes of our languages, each with the name that its speakers use."""
    return tuple(NAMES.items())


def speak(code: str) -> str:
    """Install the translations of a language in place of those before, and make its way to write
    numbers and dates the default; Qt's application has to be there. An empty code means the
    system's; a language that we do not have becomes English. Return the code that is spoken now."""
    wanted = code or QLocale.system().name().partition("_")[0]
    spoken = wanted if wanted in NAMES else "en"
    application = QCoreApplication.instance()
    assert application is not None
    for each in _INSTALLED:
        application.removeTranslator(each)
    _INSTALLED.clear()
    folder = Path(str(resources.files("gui.translations")))
    own = QTranslator()
    data = (folder / f"wingbeat_{spoken}.qm").read_bytes()
    if own.load(data):
        application.installTranslator(own)
        _INSTALLED.append(own)
        _READ[spoken] = data
    qt_words = QTranslator()
    if qt_words.load(
        f"qtbase_{spoken}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    ):
        application.installTranslator(qt_words)
        _INSTALLED.append(qt_words)
    words.install(_translate if own in _INSTALLED else None)
    QLocale.setDefault(QLocale(spoken))
    return spoken


_INSTALLED: list[QTranslator] = []
_READ: dict[str, bytes] = {}
"""Qt keeps no copy. From a file it would map it, and an update that writes the file anew while the
window is open would end the window."""


def _translate(text: str, count: int | None, note: str) -> str:
    number = -1 if count is None else min(count, COUNT_MAX)
    return QCoreApplication.translate(CONTEXT, text, note or None, number)
