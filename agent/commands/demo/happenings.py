"""What is told of the play, as values: a screen draws them, a script reads them as JSON.

Each is told once, when it happens, with the seconds since the play began.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct


class Starting(Struct, frozen=True, tag="starting", tag_field="what"):
    """So many agents are being started; ``sections`` are what they are to inspect."""

    at_s: float
    machines: tuple[str, ...]
    sections: int
    folder: str


class Joined(Struct, frozen=True, tag="joined", tag_field="what"):
    """A machine belongs to the flock."""

    at_s: float
    machine: str
    process: int


class Submitted(Struct, frozen=True, tag="submitted", tag_field="what"):
    """The workflow was accepted. ``planted``: how many plants are to be found."""

    at_s: float
    workflow: str
    tasks: int
    planted: int
    to: str


class Moved(Struct, frozen=True, tag="moved", tag_field="what"):
    """A task has come into another state."""

    at_s: float
    task: str
    state: str
    machine: str
    cause: str


class Progressed(Struct, frozen=True, tag="progressed", tag_field="what"):
    """How far a running task is."""

    at_s: float
    task: str
    machine: str
    permille: int


class Killed(Struct, frozen=True, tag="killed", tag_field="what"):
    """An agent was killed, with what it was at."""

    at_s: float
    machine: str
    process: int
    tasks: tuple[str, ...]


class Recovered(Struct, frozen=True, tag="recovered", tag_field="what"):
    """A task of the killed agent runs elsewhere."""

    at_s: float
    task: str
    machine: str
    after_s: float


class Checked(Struct, frozen=True, tag="checked", tag_field="what"):
    """One thing that has to be right, and whether it is."""

    at_s: float
    check: str
    right: bool
    found: str


class Found(Struct, frozen=True):
    """A plant that was planted and what was found of it; ``off_m`` is how far from its place."""

    section: str
    east_m: float
    north_m: float
    planted_m: float
    found_m: float | None
    off_m: float | None


class Ended(Struct, frozen=True, tag="ended", tag_field="what"):
    """The end: whether everything is right, who ran what, where the results are."""

    at_s: float
    right: bool
    tasks_by_machine: dict[str, int]
    plants: tuple[Found, ...]
    report: str
    kept: str


Happening = (
    Starting | Joined | Submitted | Moved | Progressed | Killed | Recovered | Checked | Ended
)
Tell = Callable[[Happening], None]
