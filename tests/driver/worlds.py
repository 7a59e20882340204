"""What a driver needs around it, as fakes: a node that follows a script, a disk that a test holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from agent.driver.clock import LiveClock
from agent.driver.driver import Driver
from agent.driver.ports import TaskNotice
from agent.protocol.clock import Instant
from agent.protocol.effects import (
    Answer,
    Effect,
    Identity,
    Persist,
    StartChild,
    Verdict,
)
from agent.protocol.events import Due, Event
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Goodbye, Message
from agent.protocol.node import Node
from agent.protocol.reasons import Opaque, StoryEntry
from agent.protocol.records import NodeId, RunName, TaskId, TaskSpec

RUN: RunName = (1, 1, "ant", 1)


def persist(number: int = 0) -> Persist:
    return Persist(Identity(number, 10, (0, 0)))


def answer(name: str) -> Answer:
    return Answer(name, Verdict.DONE)


def start_child(task: str = "t") -> StartChild:
    return StartChild(task, RUN, TaskSpec(task, task, "program"), ())


@dataclass
class HeldDisk:
    """A disk whose commits a test completes or refuses."""

    commits: list[tuple[Persist, Future[None]]] = field(default_factory=list)
    usable: bool = True
    probes: int = 0

    def submit(self, persists: Sequence[Persist]) -> Future[None]:
        done: Future[None] = Future()
        self.commits.append((persists[0], done))
        return done

    def probe(self) -> Future[bool]:
        self.probes += 1
        answered: Future[bool] = Future()
        answered.set_result(self.usable)
        return answered


@dataclass
class Script(Node):
    """A node that answers each event by a function, and keeps what it was told."""

    react: Callable[[Event], list[Effect]] = lambda _: []
    deadline_s: float | None = None
    told: list[Event] = field(default_factory=list)
    times: list[Instant] = field(default_factory=list)

    def handle(
        self, event: Event, now: Instant, cause: str = "", *, more: bool = False
    ) -> list[Effect]:
        del cause, more
        self.told.append(event)
        self.times.append(now)
        if event == Due():
            self.deadline_s = None
        return self.react(event)

    def next_deadline(self) -> float | None:
        return self.deadline_s

    def story(self, task: TaskId) -> list[StoryEntry]:
        return [StoryEntry(0, "", Opaque(f"the story of {task}"))]


class World:
    """All ports in one; ``done`` is what was carried out, in order."""

    def __init__(self, node: Script, disk: HeldDisk | None = None) -> None:
        self.node = node
        self.disk = disk or HeldDisk()
        self.done: list[object] = []
        self.faults: list[BaseException] = []
        self.driver = Driver(node, self, self.disk, self, self, LiveClock())

    def send(self, peers: Sequence[NodeId], message: Message) -> None:
        reason = message.reason if isinstance(message, Goodbye) else repr(message)
        self.done.append((tuple(peers), reason))

    def unlink(self, peer: NodeId, why: NoLink) -> None:
        del why
        self.done.append(("unlink", peer))

    def _of_programs(self, *given: object, **named: object) -> None:
        raise AssertionError(f"no script has programs: {given}, {named}")

    fetch = start = suspend = resume = stop = copy = copy_checkpoint = _of_programs

    def answered(self, answer: Answer) -> None:
        self.done.append(answer.request)

    def told(self, notice: TaskNotice) -> None:
        self.done.append(notice)

    def stopped(self) -> None:
        self.done.append("stopped")

    def failed(self, error: BaseException) -> None:
        self.faults.append(error)
