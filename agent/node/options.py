"""What whoever starts a node decides. What a person decides is in ``agent.settings``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from agent.execution.child import GRACE_S
from agent.protocol.settings import Settings


def program_grace_s() -> float:
    """Return how long programs may take to end by themselves: less where the system does not wait."""
    if sys.platform == "win32":
        from agent.host.stop_signals_windows import PROGRAM_GRACE_S

        return PROGRAM_GRACE_S
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return GRACE_S


@dataclass(frozen=True, slots=True)
class Options:
    """How a node is started: with defaults for an agent of this machine's owner."""

    discovery: bool = True
    """Look for peers by multicast."""
    protocol: Settings = field(default_factory=Settings)
    stop_within_s: float = 10.0
    """How long handing back may take before the node ends all the same."""
    grace_s: float = field(default_factory=program_grace_s)
    """How long a program that is asked to stop may take."""
    log_to_files: bool = True
    log_to_terminal: bool = False
