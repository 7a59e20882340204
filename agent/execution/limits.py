"""What one run may take of a machine that belongs to somebody else.

What a run usually gets comes from the task, else from its program's description, else from the node.
Over all of that stands what the owner of the machine lets any program take, and what it has: nobody
who submits work raises that. Zero says nothing, in all of these places.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from agent.protocol import records

MEGABYTE = 1_000_000
FREE_BYTES_MIN = 512 * MEGABYTE
"""What a disk keeps free, whatever runs: below it nothing is started, and what fills it is ended."""
LOG_MB = 4
MEMORY_SHARE = 0.75
"""Of a machine's memory, as much may be taken by all that runs for others, unless more is asked."""
WALL_S = 7 * 86_400
"""A program that runs for longer than a week has got lost, unless its description says more."""
PROCESSES_MAX = 512
"""Processes and threads of one program together."""
OPEN_FILES_MAX = 4_096
"""How many files one process of a program may have open."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``silent_s`` is how long it may neither progress nor print anything, ``processors`` how many of
    them it may use at a time."""

    memory_mb: int = 0
    disk_mb: int = 0
    wall_s: int = 0
    silent_s: int = 0
    log_mb: int = 0
    processes: int = 0
    open_files: int = 0
    processors: int = 0

    @property
    def log_bytes(self) -> int:
        """How large the output log may become."""
        return (self.log_mb or LOG_MB) * MEGABYTE

    def within(self, most: Limits) -> Limits:
        """Return the same with nothing above ``most``, which also holds where this says nothing."""
        names = [each.name for each in fields(Limits)]
        return Limits(**{name: least(getattr(self, name), getattr(most, name)) for name in names})


@dataclass(frozen=True, slots=True)
class NodeLimits:
    """Of one machine: what a run gets of it where nobody says anything, and the most that any gets."""

    usual: Limits = field(default_factory=Limits)
    most: Limits = field(default_factory=Limits)


NO_LIMITS = Limits()
USUAL = Limits(wall_s=WALL_S, log_mb=LOG_MB, processes=PROCESSES_MAX, open_files=OPEN_FILES_MAX)
NODE_LIMITS = NodeLimits(USUAL)


def least(*limits: int) -> int:
    """Return the least of those that say something; 0 where none does."""
    return min((each for each in limits if each), default=0)


def node_limits(memory_mb: int, slots: int, most: Limits = NO_LIMITS) -> NodeLimits:
    """Return the limits of a machine with this memory and one slot or more; ``most`` is what its
    owner lets any program take. A run usually gets as much memory as the owner says, else the part
    for one slot of what programs may take together; no run gets more than there is. Where
    ``memory_mb`` is 0 (unknown), only the owner limits it."""
    share_mb = int(MEMORY_SHARE * memory_mb) // slots
    usual = replace(USUAL, memory_mb=most.memory_mb or share_mb)
    return NodeLimits(usual, replace(most, memory_mb=least(most.memory_mb, memory_mb)))


def limits_of(spec: records.TaskSpec, program: Limits, node: NodeLimits) -> Limits:
    """Return the limits for one run, 0 where nobody sets one: memory, disk and times from the task,
    where that says 0 from the program, where that does too what the node usually gives, of memory
    at least what the task requires; the size of the log from program or node; processes, open files
    and processors from the node. None is above the most that the node gives."""
    task, usual = spec.limits, node.usual
    memory_mb = max(usual.memory_mb, spec.requirements.memory_mb) if usual.memory_mb else 0
    wanted = replace(
        usual,
        memory_mb=task.memory_mb or program.memory_mb or memory_mb,
        disk_mb=task.disk_mb or program.disk_mb or usual.disk_mb,
        wall_s=task.wall_s or program.wall_s or usual.wall_s,
        silent_s=task.silent_s or program.silent_s or usual.silent_s,
        log_mb=program.log_mb or usual.log_mb,
    )
    return wanted.within(node.most)
