"""What set a task off, in words of people: the flock's own words name events and messages.

Machines tell each other causes as they are, also those of other versions; they are worded here,
where a person is told of them, and whatever is not known is passed on as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from agent.protocol.states import TaskState

WORDS = {
    "Started": "the agent started",
    "PeerLinked": "a machine came",
    "PeerUnlinked": "a machine went away",
    "Received": "another machine told it",
    "Dropped": "a message was lost on its way",
    "Due": "it was time",
    "PersistFailed": "the disk does not take data",
    "DiskUsable": "the disk takes data again",
    "PresenceChanged": "a machine began or stopped to help",
    "CapabilitiesChanged": "the programs of a machine changed",
    "MembersChanged": "the members of the flock changed",
    "InputsFetched": "the inputs are there",
    "FetchFailed": "an input could not be fetched",
    "ChildStarted": "the program started",
    "ChildNotStarted": "the program could not be started",
    "ChildProgressed": "the program told how far it is",
    "ChildCheckpointed": "the program saved its state",
    "ChildSucceeded": "the program ended well",
    "ChildFailed": "the program failed",
    "ChildStopped": "the program was stopped",
    "OutputsCopied": "the outputs are kept safe",
    "DatasetsChanged": "datasets came or went",
    "Submit": "submitted",
    "Cancel": "a person cancelled",
    "Retry": "a person had it tried again",
    "Prioritise": "a person changed the priority",
    "MarkGate": "a person marked a gate done",
    "Shutdown": "an agent was stopped",
}
INPUTS_THERE = "what it needs is there"
"""The end of one task lets others begin, and for these that its outputs are kept is no reason."""
_MESSAGE = re.compile(r"(?P<message>[A-Z]\w*) from (?P<node>\S+)")


def moved_by(cause: str, after: str, name_of: Callable[[str], str]) -> str:
    """Return why a task has come to this state, in words of people."""
    if cause == "OutputsCopied" and after != TaskState.TERMINATED.value:
        return INPUTS_THERE
    return cause_words(cause, name_of)


def cause_words(cause: str, name_of: Callable[[str], str]) -> str:
    """Return a cause as people say it; ``name_of`` tells what a machine is called."""
    node = _told_by(cause)
    return f"told by {name_of(node)}" if node else WORDS.get(cause, cause)


@lru_cache(1024)
def _told_by(cause: str) -> str:
    """The machine whose message it was; thousands of tasks have the same few causes."""
    found = _MESSAGE.fullmatch(cause)
    return "" if found is None else found["node"]
