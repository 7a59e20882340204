"""The agent's sentences are known to the window: read off the agent's own code, one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

import agent
from agent.control.acceptance import _sentence
from agent.control.causes import INPUTS_THERE, WORDS
from gui import words
from gui.languages import speak
from gui.model.agent_words import (
    cause_words,
    refusal_in_our_words,
    story_line,
    translated,
)

ROOT = Path(next(iter(agent.__path__)))
VALUE = "7"
"""Stands for whatever is put into a sentence: it may be a number, and may be a name."""
PARTS = {
    # Of sentences that are put together; the whole ones are among those below.
    *("failed 7 times, last", ", last", "not a live phase: 7", "7 died running it", "an agent"),
    *("7 agents", "has 7 MB of 7, needed are 7", "an unknown system", "here only", "1 task is"),
    *("7 tasks are", "7 tried again", "is stopping", "has a full disk", "7 7; ask another machine"),
    *(": `wingbeat programs accept 7` there lets it", "its slot is", "all its 7 slots are"),
    *("machine helps", "machines help", "7 of 7 7 now", "no reason given", ": it 7", ": 7"),
    *("7: 7", "7 7", "7 77", "7 could run it, and 7 taken", "7, none has taken it yet", "7 is 77"),
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


@pytest.mark.parametrize(
    "file", ["protocol/reading.py", "protocol/matching.py", "control/verbs/why.py"]
)
def test_why_tasks_wait_is_said_in_our_words(file: str) -> None:
    unknown = [text for text in _texts(file) if text not in PARTS and translated(text) == text]
    assert unknown == []


def test_refusals_are_said_in_our_words() -> None:
    file = "protocol/requests.py"
    unknown = [
        text
        for text in _texts(file)
        if text not in PARTS and refusal_in_our_words(f"{text}.") == f"{text}."
    ]
    assert unknown == []


@pytest.mark.parametrize(
    "sentence",
    [
        "cancelled; still being stopped on acor and cagarro",
        "segment is cancelled, still being stopped on acor",
        "segment is aborted: an agent died running it",
        "segment is aborted: it failed 3 times, last: ended with code 3",
        "segment waits for import",
        "segment needs import, which was given up",
        "segment has all that it needs; 1 of 1 machine helps now, none has taken it yet",
        "segment has all that it needs; no machine helps now (this one: paused by its owner)",
        "segment has all that it needs; it waits until somebody accepts its program p on b and 3 others",
        "acor could run it and does not help: its owner uses it",
        "acor could run it, and all its 4 slots are taken",
        "acor could run it, and its slot is taken",
        "acor does not take the published program x@2: `wingbeat programs accept x@2` there lets it",
        "acor has a full disk; submit on another machine",
        "acor is stopping; ask another machine",
        "my old machine has 512 MB of memory, needed are 1024",
    ],
)
def test_whole_sentences_leave_no_english_behind(sentence: str) -> None:
    said = translated(sentence)
    foreign = {
        "the",
        "is",
        "it",
        "its",
        "which",
        "because",
        "ago",
        "now",
        "paused",
        "owner",
        "nothing",
        "and",
    }
    assert said != sentence
    assert foreign.isdisjoint(said.casefold().replace(",", " ").replace(";", " ").split()), said


@pytest.mark.parametrize("hosts", ["acor", "acor and cagarro"])
def test_who_has_to_accept_programs_is_said_in_our_words(hosts: str) -> None:
    sentence = _sentence(tuple(hosts.split(" and ")), ["segment@1.2", "import@3"])
    there = hosts.replace("and", "e")
    assert translated(sentence) == f"Alguém em {there} precisa permitir antes: segment e import"


def test_causes_are_said_in_our_words() -> None:
    assert [text for text in (*WORDS.values(), INPUTS_THERE) if cause_words(text) == text] == []


@pytest.mark.parametrize(
    ("what", "cause", "said"),
    [
        ("Waiting", "the outputs are kept safe", "waits for you (what it needs is there)"),
        ("Terminated on acor", "the outputs are kept safe", "done on acor (the outputs are kept safe)"),
        ("Running on acor", "told by cagarro", "running on acor"),
        ("Submitted", "submitted", "waiting (submitted)"),
    ],
)  # fmt: skip
def test_what_set_a_move_off_is_said_where_it_tells_something(
    what: str, cause: str, said: str
) -> None:
    words.install(None)
    assert story_line(what, cause) == said
