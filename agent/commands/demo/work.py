"""What a demo has its machines do: one of two works, whose right result is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from agent.commands.demo.lines import Found
from agent.workflow.submission import Wanted

WORK_S_MAX = 150.0


class Judged(NamedTuple):
    """One thing that has to be right, whether it is, and what was found."""

    check: str
    holds: bool
    found: str


class Work(Protocol):
    """Programs, a workflow of them, and what has to come of it."""

    sections: int
    """How many sections of a power line are to be inspected; 0 where it is none."""
    planted: list[dict[str, object]]
    """What is to be found in them."""
    long_tasks: tuple[str, ...]
    """The steps in whose middle a machine is killed."""
    results: tuple[tuple[str, tuple[str, ...]], ...]
    """Tasks, and the names that their outputs get."""
    report: str
    """The one that people read."""
    scan: str
    """The folder of the real scan that is worked; empty where all is made."""
    work_s_max: float
    """How long it may take before that is a fault."""

    @property
    def workflow(self) -> Path:
        """The workflow's file."""

    @property
    def wanted(self) -> Wanted:
        """How it is submitted."""

    async def prepare(self) -> None:
        """Make what the workflow begins with; raises ``DemoError``."""

    def install(self, programs: Path) -> None:
        """Put the programs where an agent looks for them; raises ``DemoError`` or ``OSError``."""

    def judge(self, results: Mapping[str, bytes]) -> Iterator[Judged]:
        """Yield what is right of these results, by name, and what is not. Raises ``KeyError``,
        ``TypeError`` or ``ValueError`` for results of another kind."""

    def plants(self, results: Mapping[str, bytes]) -> tuple[Found, ...]:
        """Return what was to be found, and what of it was."""
