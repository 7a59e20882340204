"""Which node can run which task: requirements against capabilities, and who failed it before.

Matching is done by every node for every node, from the statuses, so that all come to the same
plan; it is therefore a pure function of what was told.
"""

from __future__ import annotations

from agent.protocol.messages import Capabilities
from agent.protocol.reading import effective_generation
from agent.protocol.records import Evicted, Failed, Life, NodeId, TaskSpec


def misfit(spec: TaskSpec, capabilities: Capabilities) -> str:
    """Return why a node with these capabilities cannot run the task; empty when it can."""
    needs = spec.requirements
    if spec.program not in capabilities.programs:
        if spec.published is None:
            return f"has no program {spec.program}"
        if not capabilities.takes_published:
            return f"does not take the published program {spec.program}"
    if needs.system and needs.system != capabilities.system:
        return f"runs {capabilities.system or 'an unknown system'}, needed is {needs.system}"
    if needs.architecture and needs.architecture != capabilities.architecture:
        return f"is {capabilities.architecture or 'unknown'}, needed is {needs.architecture}"
    for name, needed, given in (
        ("memory", needs.memory_mb, capabilities.memory_mb),
        ("disk", needs.disk_mb, capabilities.disk_mb),
    ):
        if needed > given:
            return f"has {given} MB of {name}, needed are {needed}"
    if needs.cores > capabilities.cores:
        return f"has {capabilities.cores} cores, needed are {needs.cores}"
    missing = [tag for tag in needs.tags if tag not in capabilities.tags]
    return f"has no tag {missing[0]}" if missing else ""


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
