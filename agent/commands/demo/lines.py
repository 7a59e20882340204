"""What is told of the play, as values: a screen draws them, a script reads them as JSON, and without a
terminal there is a line for each that matters.

Each is told once, when it happens, with the seconds since the play began.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from agent.commands.showing import plain
from agent.wording.speech import state_word

TO_COUNT = "which are to count primes: the inspection of a line is the package wingbeat-inspection"
QUIET_STATES = ("Submitted", "Ready", "Scheduled")


class Starting(Struct, frozen=True, tag="starting", tag_field="what"):
    """So many agents are being started; ``sections`` of a made landscape are what they are to
    inspect, or a real ``scan``; 0 and empty where the inspection is not installed."""

    at_s: float
    machines: tuple[str, ...]
    sections: int
    folder: str
    scan: str = ""


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


def tell_json(happening: Happening) -> None:
    """Print what happened as one line of JSON."""
    _write(msgspec.json.encode(happening).decode())


def tell_lines(happening: Happening) -> None:
    """Print what happened in sentences, none for what is only on its way, with the seconds since
    the beginning; at the end, the results."""
    for line in sentences(happening):
        _write(f"{happening.at_s:6.1f} s  {plain(line)}")
    if isinstance(happening, Ended):
        for line in ending(happening):
            _write(plain(line))


def sentences(happening: Happening) -> Iterator[str]:
    """Yield the sentences about a happening; none for progress, for tasks that do not run yet, and
    for the end."""
    match happening:
        case Starting(machines=machines):
            yield f"starting {len(machines)} agents, {given(happening)}"
        case Joined(machine=machine, process=process):
            yield f"{machine} is in the flock (process {process})"
        case Submitted(tasks=tasks, planted=planted, to=to):
            to_find = f"; {planted} plants are to be found" if planted else ""
            yield f"{to} has accepted a workflow of {tasks} tasks{to_find}"
        case Moved():
            yield from _moved(happening)
        case Killed(machine=machine, tasks=tasks):
            yield f"KILLED {machine} while it ran {', '.join(tasks)} (kill -9)"
        case Recovered(task=task, machine=machine, after_s=after_s):
            yield f"RECOVERED {task}: {machine} runs it, {after_s:.2f} s after the kill"
        case Checked(check=check, right=right, found=found):
            yield f"{'right' if right else 'WRONG'}: {check} ({found})"
        case Progressed() | Ended():
            return


def given(starting: Starting) -> str:
    """Return what the agents are to work, and whether that is real, as the end of a sentence."""
    if starting.scan:
        return f"and a plan for the real scan in {starting.scan}"
    if not starting.sections:
        return TO_COUNT
    return f"and a survey of {starting.sections} sections: the landscape is made, not flown"


def _moved(moved: Moved) -> Iterator[str]:
    if moved.state == "Running":
        yield f"{moved.machine} runs {moved.task}"
    elif moved.state == "Terminated":
        yield f"{moved.machine} has finished {moved.task}"
    elif moved.state not in QUIET_STATES:
        yield f"{moved.task} is {state_word(moved.state)}: {moved.cause}".removesuffix(": ")


def ending(ended: Ended) -> Iterator[str]:
    """Yield the lines of the results: an empty one, one for each plant, the tasks by machine, and
    the verdict."""
    yield ""
    yield from (plant_line(each) for each in ended.plants)
    yield "tasks by machine: " + ", ".join(
        f"{name} {count}" for name, count in sorted(ended.tasks_by_machine.items())
    )
    yield verdict(ended)


def verdict(ended: Ended) -> str:
    """Return a sentence that says whether everything is right, after how long, and where the
    results are kept, if they are."""
    where = (
        f"results and logs are in {ended.kept}"
        if ended.kept
        else ("nothing is left behind; --keep FOLDER keeps the report and the logs")
    )
    judged = "everything is right" if ended.right else "NOT everything is right"
    return f"{judged} after {ended.at_s:.1f} s; {where}"


def plant_line(found: Found) -> str:
    """Return a line about one plant: where it was planted, how near to a wire, and whether and how
    near it was found."""
    seen = "not found" if found.found_m is None else f"found {found.found_m:.2f} m from it"
    place = f"east {found.east_m:.1f}, north {found.north_m:.1f}"
    return f"  {found.section} at {place}: set {found.planted_m:.2f} m from a wire, {seen}"


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
