"""What one run may take of a machine that belongs to somebody else.

A limit comes from the task, else from its program's description, else from the node. Zero says
nothing, in all three places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.protocol import records

MEGABYTE = 1_000_000
FREE_BYTES_MIN = 512 * MEGABYTE
"""What a disk keeps free, whatever runs: below it nothing is started, and what fills it is ended."""
LOG_MB = 4
MEMORY_SHARE = 0.75
"""Of a machine's memory, as much may be taken by all that runs for others, unless more is asked."""
WALL_S = 7 * 86_400
"""A program that runs for longer than a week has got lost, unless its description says more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``silent_s`` is how long it may neither progress nor print anything."""

    memory_mb: int = 0
    disk_mb: int = 0
    wall_s: int = 0
    silent_s: int = 0
    log_mb: int = 0

    @property
    def log_bytes(self) -> int:
        """How large the output log may become."""
        return (self.log_mb or LOG_MB) * MEGABYTE


NO_LIMITS = Limits()
NODE_LIMITS = Limits(wall_s=WALL_S, log_mb=LOG_MB)


def node_limits(memory_mb: int, slots: int, each_gb: float = 0.0) -> Limits:
    """Return the limits of one run on a machine: its memory as set by the owner in ``each_gb``,
    where that is 0 an equal part for each slot of what programs may take; 0, no limit, when
    ``memory_mb`` is 0 too, as the machine does not say."""
    share_mb = int(MEMORY_SHARE * memory_mb) // slots
    return replace(NODE_LIMITS, memory_mb=int(1_000 * each_gb) or share_mb)


def limits_of(spec: records.TaskSpec, program: Limits, node: Limits) -> Limits:
    """Return the limits for one run, 0 where nobody sets one: each from the task, where that says 0
    from the program, where that does too from the node. The node's memory, unless 0, is raised to
    what the task requires. The size of the log is not for the task to say."""
    task = spec.limits
    memory_mb = max(node.memory_mb, spec.requirements.memory_mb) if node.memory_mb else 0
    return Limits(
        memory_mb=task.memory_mb or program.memory_mb or memory_mb,
        disk_mb=task.disk_mb or program.disk_mb or node.disk_mb,
        wall_s=task.wall_s or program.wall_s or node.wall_s,
        silent_s=task.silent_s or program.silent_s or node.silent_s,
        log_mb=program.log_mb or node.log_mb,
    )
