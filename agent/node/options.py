"""What whoever starts a node decides; what a person decides is in settings.toml."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.host.stop_signals_native import program_grace_s
from agent.protocol.settings import Settings


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever starts a node decides; what a person decides is in ``settings.toml``."""

    discovery: bool = True
    """Look for peers by multicast."""
    protocol: Settings = field(default_factory=Settings)
    stop_within_s: float = 10.0
    """How long handing back may take before the node ends all the same."""
    grace_s: float = field(default_factory=program_grace_s)
    """How long a program that is asked to stop may take."""
    log_to_files: bool = True
    log_to_terminal: bool = False
