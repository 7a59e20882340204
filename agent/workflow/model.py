"""A workflow as its file means it, ready to be sent.

``submit`` is the request itself, but for two things that only a node can give: the identifiers of
the files that lie on this machine, and the names of the programs that come with the workflow.
Until then a file has a placeholder in ``files``, and a program the name of its author.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.api.values import Dataset, Requirements
from agent.api.work import Submit
from agent.workflow.program_description import ANY_MACHINE, ProgramDescription
from agent.workflow.variables import Variable


@dataclass(frozen=True, slots=True)
class LocalProgram:
    """A program that is published with the workflow: a folder, or a script and its description."""

    name: str
    path: Path
    description: str = ""
    """The text of ``program.yaml`` for a single script; empty for a folder, which has its own."""


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """What a workflow's reader wants to know of a program that the flock has."""

    outputs: tuple[str, ...] | None = None
    """Names of its outputs; None where nobody knows."""
    expected_s: float = 0.0
    requirements: Requirements = ANY_MACHINE
    """What a machine must have to run it, where it comes with the workflow."""
    published: Dataset | None = None
    """Its folder, where somebody has published it."""
    once: bool = False
    """No second copy of it may run beside the first."""

    @classmethod
    def of(cls, described: ProgramDescription) -> KnownProgram:
        """Return what a program's own description tells: its outputs (None where it does not say),
        how long it usually takes, and its requirements. ``published`` stays None."""
        expected_s = described.expected_ms / 1000
        return cls(described.outputs, expected_s, described.requirements, once=described.once)


@dataclass(frozen=True, slots=True)
class Workflow:
    """What was read. ``final`` is the task whose first output is the result, where one is named."""

    submit: Submit
    files: Mapping[str, Path] = field(default_factory=dict)
    programs: Mapping[str, LocalProgram] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    final: str = ""
    texts: tuple[Path, ...] = ()
    """Files whose text stands in the request."""
    outside: tuple[Path, ...] = ()
    """What it takes along from beyond its folder that nobody has named or confirmed yet."""
