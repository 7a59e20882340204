"""Causes as people read them: no event or message of the flock is told by its own name."""

from __future__ import annotations

import inspect
from typing import get_args

import pytest

from agent.control.causes import WORDS, cause_words, moved_by
from agent.protocol import events, messages
from agent.protocol.states import TaskState

EVENTS = sorted(each.__name__ for each in get_args(events.Event))
MESSAGES = sorted(
    name for name, kind in inspect.getmembers(messages, inspect.isclass) if name != "Enum"
)


def name_of(node: str) -> str:
    return {"aldernode": "alder"}.get(node, node)


def test_every_event_has_words() -> None:
    assert sorted(WORDS) == EVENTS
    assert all(words[0].islower() for words in WORDS.values())


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_is_not_told_by_its_name(event: str) -> None:
    assert event not in cause_words(event, name_of)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_told_by_who_sent_it(message: str) -> None:
    assert cause_words(f"{message} from aldernode", name_of) == "told by alder"


def test_the_end_of_one_task_is_told_otherwise_where_another_begins() -> None:
    ended = TaskState.TERMINATED.value
    assert moved_by("OutputsCopied", ended, name_of) == "the outputs are kept safe"
    for state in (TaskState.WAITING, TaskState.READY, TaskState.SCHEDULED):
        assert moved_by("OutputsCopied", state.value, name_of) == "what it needs is there"
    assert moved_by("Submit", TaskState.WAITING.value, name_of) == "submitted"


def test_what_is_words_already_stays() -> None:
    assert cause_words("retention is over", name_of) == "retention is over"
    assert cause_words("a word from later versions", name_of) == "a word from later versions"
    assert cause_words("", name_of) == ""
