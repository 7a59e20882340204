"""The agent's sentences are known to the window: read off the agent's own code, one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

import agent
from gui import words
from gui.languages import speak
from gui.model.agent_words import refusal_in_our_words

ROOT = Path(next(iter(agent.__path__)))
VALUE = "7"
"""Stands for whatever is put into a sentence: it may be a number, and may be a name."""
PARTS = {
    # Of sentences that are put together.
    *("here only", "1 task is", "7 tasks are", "7 tried again", "is stopping", "has a full disk"),
    "7 7; ask another machine",
}


def _texts(file: str) -> Iterator[str]:
    """All sentences of a module with values in their places; not what documents it."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        within = parents.get(node)
        if isinstance(within, ast.JoinedStr | ast.FormattedValue | ast.Expr):
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text.strip() and "(?P<" not in text:
            yield text


@pytest.fixture(autouse=True)
def portuguese(qapp: QApplication) -> Iterator[None]:
    speak("pt")
    yield
    words.install(None)


def test_refusals_are_said_in_our_words() -> None:
    file = "protocol/requests.py"
    unknown = [
        text
        for text in _texts(file)
        if text not in PARTS and refusal_in_our_words(f"{text}.") == f"{text}."
    ]
    assert unknown == []
