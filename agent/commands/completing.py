"""What may stand at a place of a command line, where it is more than a word of the command itself.

Commands and options are known from the commands; what is here are names that the agent knows, and the
few words that a command takes for values. Codes of machines that ask to be let in are not offered: a
code is to come from the other machine's screen, and not from this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.api.admission import Nearby, Requests
from agent.api.flock import Peers
from agent.api.methods import NEARBY, PEERS, PROGRAMS, REQUESTS, SHOW, STATUS
from agent.api.programs import Programs
from agent.api.work import Show, Status
from agent.client import BlockingClient

NAMES_MAX = 500
PRIORITIES = ("low", "interactive")
Source = Callable[[BlockingClient, list[str], str], list[str]]
"""What fits at a place: who is asked, the words before it behind the command, how it begins."""


def _machines(client: BlockingClient, _: list[str], __: str) -> list[str]:
    return [peer.name for peer in client.call(PEERS, Peers()).peers]


def _flocks(client: BlockingClient, _: list[str], __: str) -> list[str]:
    found = client.call(NEARBY, Nearby()).flocks
    return [each.name or each.flock for each in found if each.askable and not each.own]


def _askers(client: BlockingClient, _: list[str], __: str) -> list[str]:
    return [each.name for each in client.call(REQUESTS, Requests()).requests]


def _workflows(client: BlockingClient, _: list[str], __: str) -> list[str]:
    reply = client.call(STATUS, Status(limit=NAMES_MAX))
    return [each.name for each in reply.workflows]


def _workflow_alone(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    return [] if before else _workflows(client, before, begun)


def _tasks(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    """Workflows first; behind a slash, the tasks of that one."""
    workflow, slash, _ = begun.rpartition("/")
    if not slash:
        return [f"{name}/" for name in _workflows(client, before, begun)]
    reply = client.call(SHOW, Show(workflow, limit=NAMES_MAX))
    return [f"{workflow}/{task.name}" for task in reply.tasks]


def _workflow_or_task(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    if "/" in begun:
        return _tasks(client, before, begun)
    return _workflows(client, before, begun)


def _workflow_then_tasks(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    if not before:
        return _workflows(client, before, begun)
    reply = client.call(SHOW, Show(before[0], limit=NAMES_MAX))
    return [task.name for task in reply.tasks]


def _programs(client: BlockingClient, _: list[str], __: str) -> list[str]:
    return [each.name for each in client.call(PROGRAMS, Programs()).programs]


def _programs_decided(client: BlockingClient, before: list[str], begun: str) -> list[str]:
    """Behind `publish` there is a folder, and the shell knows which there are."""
    return [] if before[:1] in ([], ["publish"]) else _programs(client, before, begun)


PLACES: Mapping[str, Source] = {
    **dict.fromkeys(("status", "watch", "history"), _workflows),
    **dict.fromkeys(("cancel", "retry"), _workflow_then_tasks),
    "fetch": _workflow_or_task,
    **dict.fromkeys(("why", "show", "logs", "done"), _tasks),
    "priority": _workflow_alone,
    "programs": _programs_decided,
    "datasets": _workflow_alone,
    "flock ask": _flocks,
    "flock admit": _askers,
    "flock refuse": _askers,
    "flock expel": _machines,
}
VALUES: Mapping[str, Source] = {
    "--node": _machines,
    "--on": _machines,
    "--program": _programs,
}
"""Of options, in whatever command."""
OWN_WORDS: Mapping[tuple[str, int], tuple[str, ...]] = {
    ("programs", 0): ("publish", "accept", "refuse"),
    ("datasets", 0): ("add",),
    ("pause", 0): ("15m", "1h", "tomorrow"),
    ("priority", 1): PRIORITIES,
}
"""Of commands, with so many words before: they need no agent."""
OWN_VALUES: Mapping[str, tuple[str, ...]] = {"--priority": PRIORITIES}
"""Likewise of options."""
