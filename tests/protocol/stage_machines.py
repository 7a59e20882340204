"""What stands on the stage: machines with their disks and programs, links, and what was noted.

Data only, so that a scene can be read without the stage that plays it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.protocol import effects as fx
from agent.protocol.messages import Message
from agent.protocol.node import Node
from agent.protocol.records import RunName, TaskId
from tests.sim.disk import Disk

NAMES = ("acor", "pato", "grifo")


@dataclass(frozen=True, slots=True)
class Course:
    """How the program of a task goes. ``file``: its output is a file that the flock keeps.

    ``saves_s``: so long after its start it saves its state; who begins with that has so much less
    to do.
    """

    length_s: float = 2.0
    fails_on: tuple[str, ...] = ()
    file: bool = False
    saves_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program that lives, from when it was started or went on."""

    left_s: float
    since_s: float


@dataclass(slots=True)
class Actor:
    """A machine: its node while it runs, its disk, its programs."""

    name: str
    disk: Disk = field(default_factory=Disk)
    clock_ahead_ms: int = 0
    node: Node | None = None
    owner_present: bool = False
    armed_s: float | None = None
    incarnations: list[int] = field(default_factory=list)
    programs: dict[tuple[TaskId, RunName], Program] = field(default_factory=dict)


@dataclass(slots=True)
class Link:
    """A link, and which of its two sides still believe in it."""

    sides: list[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened. ``what``: a message, an effect, or words of the script."""

    at_s: float
    who: str
    what: Message | fx.Effect | str
    to: tuple[str, ...] = ()
    note: str = ""
