"""Every sentence that is said at run time, by the agent and by the window in both languages.

The golden file shows what people read before and after a change. With ``WINGBEAT_REGENERATE`` set
it is written anew; the difference is read before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from gui import words
from gui.translations import speak
from tests.gui.sentences import families

GOLDEN = Path(__file__).with_name("sentences.txt")


def test_all_is_said_as_in_the_golden_file(qapp: QApplication) -> None:
    said = "".join(_all_said())
    if os.environ.get("WINGBEAT_REGENERATE"):
        GOLDEN.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text("utf-8")


def test_what_is_found_out_is_told_without_commands_and_files() -> None:
    """Who pressed *Find out why* sits before a window, not before a shell."""
    told = [window() for _, window in families()["what is wrong"]]
    assert [each for each in told if "`" in each or "settings.toml" in each] == []


def _all_said() -> Iterator[str]:
    try:
        for family, sentences in families().items():
            yield f"# {family}\n"
            for agent, window in sentences:
                words.install(None)
                english = window()
                speak("pt")
                yield f"{agent}\n    en {english}\n    pt {window()}\n"
    finally:
        words.install(None)
