"""The agent of this home, from the side of a program that has windows: host it if nobody does;
and the name of the person who asks.

The one place where a client starts what it talks to. All that it gets is a handle to end it again;
everything else goes through the client protocol, as with an agent of another process.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable
from typing import Protocol

from agent.client.errors import ClientError
from agent.host.own_program import installed_file as installed_file  # noqa: PLC0414
from agent.host.own_program import installed_version as installed_version  # noqa: PLC0414
from agent.host.own_program import start_anew as start_anew  # noqa: PLC0414 - of its process
from agent.paths import Home
from agent.paths import own_command as own_command  # noqa: PLC0414


class OwnAgent(Protocol):
    """An agent that lives in this process."""

    @property
    def alive(self) -> bool:
        """Whether the agent still runs."""

    def stop(self, reason: str, within_s: float = 30.0) -> bool:
        """Have it hand back what it runs and end; whether it did in time."""


class NotHostedError(ClientError):
    """One sentence: why no agent could be started here."""


def host(home: Home, anew: Callable[[], object] = lambda: None) -> OwnAgent:
    """Start an agent in a thread of this process, wait until it runs, and return what ends it
    again. ``anew`` is called in that thread when it has ended for an update, so that this process
    should start the new version. Raises ``NotHostedError``, also when another process runs the
    agent of this home."""
    from agent.node.hosting import InsideAgent, NotStartedError

    agent = InsideAgent(home, anew)
    try:
        agent.start()
    except NotStartedError as error:
        raise NotHostedError(str(error)) from error
    return agent


def own_name() -> str:
    """Return the name under which this person submits; empty where the system knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
