"""Which node can run which task: requirements against capabilities, and who failed it before.

Matching is done by every node for every node, from the statuses, so that all come to the same
plan; it is therefore a pure function of what was told.
"""

from __future__ import annotations

from agent.protocol.messages import Capabilities
from agent.protocol.reading import effective_generation
from agent.protocol.reasons import (
    LacksProgram,
    LacksTag,
    NotAccepted,
    OtherArchitecture,
    OtherSystem,
    Reason,
    TooFewCores,
    TooLittleDisk,
    TooLittleMemory,
)
from agent.protocol.records import Evicted, Failed, Life, NodeId, TaskSpec


def misfit(spec: TaskSpec, capabilities: Capabilities) -> Reason | None:
    """Return why a node with these capabilities cannot run the task; None when it can."""
    needs, has = spec.requirements, capabilities
    missing = next((tag for tag in needs.tags if tag not in has.tags), None)
    if spec.program not in has.programs and spec.published is None:
        return LacksProgram(spec.program)
    if spec.program not in has.programs and not has.takes_published:
        return NotAccepted(spec.program)
    if needs.system and needs.system != has.system:
        return OtherSystem(has.system, needs.system)
    if needs.architecture and needs.architecture != has.architecture:
        return OtherArchitecture(has.architecture, needs.architecture)
    for kind, needed, given in (
        (TooLittleMemory, needs.memory_mb, has.memory_mb),
        (TooLittleDisk, needs.disk_mb, has.disk_mb),
        (TooFewCores, needs.cores, has.cores),
    ):
        if needed > given:
            return kind(given, needed)
    return None if missing is None else LacksTag(missing)


def failed_on(life: Life) -> list[NodeId]:
    """Return the hosts on which the task has failed in its present generation, once for each
    failure."""
    generation = effective_generation(life)
    return [
        run.host
        for run in life.runs
        if run.generation == generation and isinstance(run.phase, Failed)
    ]


def evictions(life: Life, host: NodeId) -> int:
    """Return how often the host gave the task back in its present generation."""
    generation = effective_generation(life)
    return sum(
        run.host == host and run.generation == generation and isinstance(run.phase, Evicted)
        for run in life.runs
    )
