"""What is known of the tasks in an event, for the log, when the node failed at it.

A fault is found by why the tasks were where they were, and afterwards nobody can ask. An event
may name thousands of tasks; the first few tell enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from agent.protocol.events import Event, Received, Submit
from agent.protocol.messages import Message
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import TaskId

TASKS_MAX = 3


def stories_of(event: Event, story: Callable[[TaskId], list[StoryEntry]]) -> Iterator[str]:
    """Yield, for the log, lines of what is known of the tasks in an event."""
    for task in islice(dict.fromkeys(_tasks_in(event)), TASKS_MAX):
        yield f"{task}:"
        try:
            yield from (f"    {at_ms} [{cause}] {what}" for at_ms, cause, what in story(task))
        except Exception as error:  # noqa: BLE001 - the node is broken already
            yield f"    its story cannot be told: {error!r}"


def _tasks_in(event: Event) -> Iterator[TaskId]:
    match event:
        case Received():
            yield from _tasks_of(event.message)
        case Submit():
            yield from (spec.task for spec in event.tasks)
        case _:
            named = getattr(event, "task", None)
            if isinstance(named, str):
                yield named


def _tasks_of(message: Message) -> Iterator[TaskId]:
    for name in ("lives", "claims", "consents", "busy", "better", "known", "items"):
        for part in getattr(message, name, ()):
            yield part.task
    named = getattr(message, "task", None)
    if isinstance(named, str):
        yield named
