"""A small stage for conversations: a few real nodes, and a script that says what happens to them.

A scene links, cuts, crashes and submits; the stage moves the clock, carries messages and effects
out, and keeps a record of both. Nothing is drawn by lot: what happens changes when the protocol does.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any, Self, TypeVar

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol import messages
from agent.protocol.clock import Instant
from agent.protocol.messages import Capabilities, Message
from agent.protocol.needs import with_needs
from agent.protocol.node import Node, NodeSetup
from agent.protocol.reading import DerivedState
from agent.protocol.reasons import EndCause, Opaque
from agent.protocol.records import (
    Dataset,
    DatasetId,
    InputRef,
    RunName,
    TaskId,
    TaskSpec,
    TaskState,
)
from agent.protocol.settings import Settings
from agent.wording.speech import english
from tests.protocol.stage_machines import Actor, Course, Entry, Link, Program

WALL_MS = 1_700_000_000_000
Kind = TypeVar("Kind")
DELAY_S = 0.001
START_S, STOP_S, COPY_S = 0.01, 0.002, 0.005
EPSILON_S = 1e-9
CURTAIN_S = 3.25
"""When everybody has joined and a master is elected; between two ticks of every node."""


def task(name: TaskId, *needs: TaskId, after: tuple[TaskId, ...] = (), **more: Any) -> TaskSpec:
    """A task of the one program that everybody has, with first outputs of others as inputs."""
    inputs = tuple(InputRef(need, 0) for need in needs)
    more = {"program": "mill", "expected_ms": 2_000, **more}
    return TaskSpec(name, name, inputs=inputs, after=after, **more)


def both_ways(one: str, *others: str) -> list[tuple[str, str]]:
    """The directions that a cable carries."""
    return [pair for other in others for pair in ((one, other), (other, one))]


class Stage:
    """The machines, what lies between them, and the script's hands on both."""

    def __init__(
        self, *names: str, shows: tuple[str, ...] = (), settings: Settings | None = None
    ) -> None:
        self.actors = {name: Actor(name) for name in names}
        self.now_s = 0.0
        self.origin_s = 0.0
        self.courses: dict[TaskId, Course] = {}
        self.tags: dict[str, tuple[str, ...]] = {}
        self.slots = 1
        self.takers: tuple[str, ...] = ()
        """Machines whose owners take programs that come with a submission."""
        self.broken: tuple[DatasetId, ...] = ()
        """Datasets that arrive nowhere, though somebody says that he has them."""
        self.shows = shows
        self.entries: list[Entry] = []
        self._settings = replace(settings or Settings(), words=english)
        self._plan: list[tuple[float, int, int, Callable[[], None]]] = []
        self._planned = 0
        self._links: dict[frozenset[str], Link] = {}
        self._held: dict[tuple[str, str], deque[Callable[[], None]]] = {}
        self._lost: dict[tuple[str, str], list[type]] = {}

    # -- the clock and the page ----------------------------------------------------------

    def play(self, seconds: float) -> Self:
        end_s = self.now_s + seconds
        while self._plan and self._plan[0][0] <= end_s + EPSILON_S:
            self.now_s, _, _, act = heapq.heappop(self._plan)
            act()
        self.now_s = end_s
        return self

    def curtain(self) -> Self:
        """What went before is not told; times count from here."""
        self.origin_s = self.now_s
        self.entries.clear()
        return self

    def say(self, text: str) -> None:
        """A stage direction."""
        self._note("", text)

    def _note(
        self, who: str, what: Message | fx.Effect | str, to: Iterable[str] = (), note: str = ""
    ) -> None:
        self.entries.append(Entry(self.now_s - self.origin_s, who, what, tuple(to), note))

    def _after(self, delay_s: float, act: Callable[[], None], order: int = 0) -> None:
        self._planned += 1
        heapq.heappush(self._plan, (self.now_s + delay_s, order, self._planned, act))

    def _wall_ms(self, actor: Actor) -> int:
        return WALL_MS + actor.clock_ahead_ms + round(self.now_s * 1000)

    @property
    def origin_ms(self) -> int:
        """What all clocks showed when the curtain rose."""
        return WALL_MS + round(self.origin_s * 1000)

    # -- machines ------------------------------------------------------------------------

    def flock(self, *names: str, links: list[tuple[str, str]] | None = None) -> Self:
        """These (or all) start and are linked, a master is elected; then the curtain rises."""
        for name in names or self.actors:
            self.boot(name)
        self.play(0.1)
        for pair in links or combinations(names or self.actors, 2):
            self.link(*pair)
        told = self._settings
        waits_s = told.start_wait_s_max if links else told.start_wait_s * bool(names)
        self.play(CURTAIN_S + waits_s - self.now_s)
        self.curtain()
        return self

    def boot(self, name: str) -> None:
        """Start the agent on what its disk has."""
        actor = self.actors[name]
        disk = actor.disk
        able = Capabilities(
            programs=("mill",), tags=self.tags.get(name, ()), takes_published=name in self.takers
        )
        setup = NodeSetup(name, name, self.slots, able, self._settings, tuple(self.actors))
        records = tuple(disk.workflows.values()), tuple(disk.lives.values())
        setup = replace(setup, identity=disk.identity, workflows=records[0], lives=records[1])
        prunings, holdings = tuple(disk.prunings.values()), tuple(disk.datasets)
        setup = replace(setup, prunings=prunings, noted=tuple(disk.noted))
        actor.node = Node(replace(setup, holdings=holdings))
        actor.armed_s = None
        remembers = "an empty disk" if disk.identity is None else "what its disk remembers"
        self._note(name, f"boots with {remembers}")
        self._hand(name, ev.Started())
        actor.incarnations.append(actor.node._core.incarnation)
        self._tell_presence(actor)

    def crash(self, name: str, *, power: bool = False) -> Self:
        """The agent is killed and its links are reset; or the power goes, and silence is all."""
        actor = self.actors[name]
        actor.node = None
        actor.programs.clear()
        self._note(name, "loses power" if power else "is killed")
        for pair, link in self._links.items():
            if name in link.sides:
                link.sides.remove(name)
                (other,) = pair - {name}
                if not power:
                    self._after(DELAY_S, self._resetting(link, other, name))
        return self

    def lose_files(self, name: str) -> None:
        """The datasets of a machine that is off are gone; its records are not."""
        self.actors[name].disk.datasets.clear()
        self._note(name, "loses its files")

    def fill_disk(self, name: str) -> None:
        self.actors[name].disk.full = True
        self._note(name, "the disk is full")

    def owner(self, name: str, *, here: bool) -> Self:
        """Somebody sits down at the machine, or leaves it."""
        actor = self.actors[name]
        actor.owner_present = here
        self._note(name, "the owner comes" if here else "the owner leaves")
        self._tell_presence(actor)
        return self

    def allow(self, name: str, words: str, presence: ev.PresenceChanged) -> None:
        """The owner sets what this machine may do."""
        self._note(name, words)
        self._hand(name, presence)

    def _tell_presence(self, actor: Actor) -> None:
        reason = "the owner is here" if actor.owner_present else ""
        event = ev.PresenceChanged(not actor.owner_present, actor.owner_present, Opaque(reason))
        self._hand(actor.name, event)

    def living(self) -> dict[str, Node]:
        return {name: actor.node for name, actor in self.actors.items() if actor.node is not None}

    # -- clients -------------------------------------------------------------------------

    def submit(self, name: str, workflow: str, *tasks: TaskSpec, priority: int = 50) -> Self:
        words = f"submit {workflow}: {', '.join(each.task for each in tasks)}"
        self.ask(name, words, ev.Submit(words, workflow, workflow, "ana", priority, tasks))
        return self

    def ask(self, name: str, words: str, event: ev.Event) -> Self:
        self._note("client", words, [name])
        self._hand(name, event)
        return self

    # -- the network ---------------------------------------------------------------------

    def link(self, one: str, *others: str) -> Self:
        """Links to the others come up, each seen by both at once."""
        for other in others:
            self._note(f"{one} === {other}", "linked")
            pair = frozenset((one, other))
            if pair in self._links:
                self._links[pair].sides.clear()
            self._links[pair] = Link([one, other])
            for direction in both_ways(one, other):
                self._held.pop(direction, None)
            self._hand(one, ev.PeerLinked(other))
            self._hand(other, ev.PeerLinked(one))
        return self

    def reset(self, one: str, other: str) -> None:
        """The link breaks, and both are told."""
        link = self._links.pop(frozenset((one, other)))
        self._note(f"{one} =/= {other}", "link reset")
        sides, link.sides = link.sides, []
        for side in sides:
            self._hand(side, ev.PeerUnlinked(other if side == one else one))

    def hold(self, *pairs: tuple[str, str]) -> None:
        """What the first sends to the second waits on the way; nobody is told."""
        for pair in pairs:
            self._held.setdefault(pair, deque())
            self._note(" ~> ".join(pair), "messages are held up")

    def deliver(self, *pairs: tuple[str, str]) -> Self:
        """What was held arrives now, in its order, as TCP would have it."""
        for pair in pairs:
            self._note(" ~> ".join(pair), "messages arrive again")
            for arrival in self._held.pop(pair, ()):
                self._after(DELAY_S, arrival)
        return self

    def lose(self, sender: str, receiver: str, kind: type) -> None:
        """The next message of this kind is lost on the way, and nobody notices."""
        self._lost.setdefault((sender, receiver), []).append(kind)

    def _send(self, sender: str, effect: fx.Send) -> None:
        data = messages.encode(effect.message)
        receivers: list[str] = []
        for receiver in effect.peers:
            message = messages.decode(data)
            assert not isinstance(message, messages.UnknownMessage)
            fate = self._carry(sender, receiver, message)
            receivers.append(f"{receiver} ({fate})" if fate else receiver)
        self._note(sender, effect.message, receivers)

    def _carry(self, sender: str, receiver: str, message: Message) -> str:
        link = self._links.get(frozenset((sender, receiver)))
        if link is None or len(link.sides) < 2:
            return "gone"
        lost = self._lost.get((sender, receiver), [])
        if type(message) in lost:
            lost.remove(type(message))
            return "lost"

        def arrive() -> None:
            if receiver in link.sides:
                self._hand(receiver, ev.Received(sender, message))

        def arrive_late() -> None:
            self._note(receiver, message, [sender], "late")
            arrive()

        held = self._held.get((sender, receiver))
        if held is not None:
            held.append(arrive_late)
            return "held"
        self._after(DELAY_S, arrive)
        return ""

    def _unlink(self, name: str, peer: str) -> None:
        link = self._links.get(frozenset((name, peer)))
        if link is None or name not in link.sides:
            return
        link.sides.remove(name)
        if peer in link.sides and (name, peer) not in self._held:
            self._after(DELAY_S, self._resetting(link, peer, name))

    def _resetting(self, link: Link, side: str, gone: str) -> Callable[[], None]:
        def tell() -> None:
            if side in link.sides and self.actors[side].node is not None:
                link.sides.remove(side)
                self._note(f"{side} =/= {gone}", f"{side} sees the link reset")
                self._hand(side, ev.PeerUnlinked(gone))

        return tell

    # -- events in, effects out ----------------------------------------------------------

    def _hand(self, name: str, event: ev.Event) -> None:
        actor = self.actors[name]
        node = actor.node
        if node is None:
            return
        effects = node.handle(event, Instant(self.now_s, self._wall_ms(actor)))
        for number, effect in enumerate(effects, 1):
            if isinstance(effect, fx.Persist) and actor.disk.full:
                self._refuse(actor, effect, effects[number:])
                break
            self._carry_out(actor, effect)
        deadline_s = node.next_deadline()
        if deadline_s is not None and deadline_s != actor.armed_s and actor.node is node:
            actor.armed_s = deadline_s
            self._after(max(0.0, deadline_s - self.now_s), lambda: self._due(actor, node), 1)

    def _due(self, actor: Actor, node: Node) -> None:
        deadline_s = node.next_deadline()
        if actor.node is node and deadline_s is not None and deadline_s <= self.now_s + EPSILON_S:
            self.now_s = max(self.now_s, deadline_s)
            actor.armed_s = None
            self._hand(actor.name, ev.Due())

    def _refuse(self, actor: Actor, effect: fx.Persist, dropped: list[fx.Effect]) -> None:
        self._note(actor.name, effect, note="refused")
        self._later(actor, 0.0, ev.PersistFailed(effect, tuple(dropped)))

    def _carry_out(self, actor: Actor, effect: fx.Effect) -> None:
        if isinstance(effect, fx.Send):
            self._send(actor.name, effect)
            return
        self._note(actor.name, effect)
        match effect:
            case fx.Persist():
                actor.disk.write(effect)
            case fx.StartChild():
                self._start(actor, effect)
            case fx.SuspendChild(task, run):
                self._pause(actor, task, run)
            case fx.ResumeChild(task, run):
                self._go_on(actor, task, run)
            case fx.StopChild(task, run):
                actor.programs.pop((task, run), None)
                self._later(actor, STOP_S, ev.ChildStopped(task, run))
            case fx.Fetch() | fx.CopyOutputs() | fx.CopyCheckpoint():
                self._transfer(actor, effect)
            case fx.Unlink(peer):
                self._unlink(actor.name, peer)
            case _:
                pass

    def _later(self, actor: Actor, delay_s: float, event: ev.Event) -> None:
        """Tell the node, if it is still the same one."""
        node = actor.node

        def tell() -> None:
            if actor.node is node:
                self._hand(actor.name, event)

        self._after(delay_s, tell)

    # -- programs ------------------------------------------------------------------------

    def _start(self, actor: Actor, effect: fx.StartChild) -> None:
        course = self.courses.get(effect.task, Course())
        length_s = course.length_s - (course.saves_s if effect.checkpoint else 0.0)
        actor.programs[effect.task, effect.run] = Program(START_S + length_s, self.now_s)
        self._later(actor, START_S, ev.ChildStarted(effect.task, effect.run))
        if course.saves_s and not effect.checkpoint:
            self._after(START_S + course.saves_s, lambda: self._save(actor, effect))
        self._go_on(actor, effect.task, effect.run)

    def _save(self, actor: Actor, effect: fx.StartChild) -> None:
        if (effect.task, effect.run) in actor.programs and actor.node is not None:
            state = Dataset(f"state of {effect.task} on {actor.name}", 10)
            self._note(actor.name, f"program of {effect.task} saves its state")
            self._gain(actor, state.dataset)
            self._hand(actor.name, ev.ChildCheckpointed(effect.task, effect.run, state))

    def _pause(self, actor: Actor, task: TaskId, run: RunName) -> None:
        program = actor.programs[task, run]
        left_s = program.left_s - (self.now_s - program.since_s)
        actor.programs[task, run] = Program(left_s, self.now_s)

    def _go_on(self, actor: Actor, task: TaskId, run: RunName) -> None:
        program = Program(actor.programs[task, run].left_s, self.now_s)
        actor.programs[task, run] = program

        def end() -> None:
            if actor.programs.get((task, run)) is program:
                del actor.programs[task, run]
                self._end(actor, task, run)

        self._after(program.left_s, end)

    def _end(self, actor: Actor, task: TaskId, run: RunName) -> None:
        course = self.courses.get(task, Course())
        if actor.name in course.fails_on:
            self._note(actor.name, f"program of {task} fails")
            self._hand(
                actor.name,
                ev.ChildFailed(task, run, EndCause("SaidError", error="the grain is wet")),
            )
            return
        self._note(actor.name, f"program of {task} ends well")
        output = Dataset(f"{task} of {actor.name}", 10, external=not course.file)
        if course.file:
            self._gain(actor, output.dataset)
        self._hand(actor.name, ev.ChildSucceeded(task, run, (output,)))

    def _gain(self, actor: Actor, dataset: DatasetId) -> None:
        actor.disk.datasets[dataset] = None
        self._hand(actor.name, ev.DatasetsChanged(added=(dataset,)))

    def _transfer(
        self, actor: Actor, effect: fx.Fetch | fx.CopyOutputs | fx.CopyCheckpoint
    ) -> None:
        node = actor.node

        def arrive() -> None:
            match effect:
                case fx.Fetch():
                    self._fetched(actor, effect)
                case fx.CopyOutputs():
                    self._copied(actor, effect)
                case fx.CopyCheckpoint(peers=(target, *_)) if actor.node is node:
                    self._gain(self.actors[target], effect.checkpoint.dataset)
                case _:
                    pass

        self._after(COPY_S, arrive)

    def _fetched(self, actor: Actor, effect: fx.Fetch) -> None:
        for dataset, _ in effect.inputs:
            if dataset in self.broken:
                self._hand(actor.name, ev.FetchFailed(effect.task, effect.run, dataset))
                return
            self._gain(actor, dataset)
        self._hand(actor.name, ev.InputsFetched(effect.task, effect.run))

    def _copied(self, actor: Actor, effect: fx.CopyOutputs) -> None:
        targets = effect.peers[: effect.copies - 1]
        for peer in targets:
            for output in effect.outputs:
                self._gain(self.actors[peer], output.dataset)
        self._hand(actor.name, ev.OutputsCopied(effect.task, effect.run, (actor.name, *targets)))

    # -- what scenes ask afterwards ------------------------------------------------------

    def starters(self, task: TaskId) -> list[str]:
        """Who started the program of the task, in order."""
        return [each.run[2] for each in self.effects(fx.StartChild) if each.task == task]

    def sent(self, kind: type, by: str | None = None) -> list[float]:
        found = [entry for entry in self.entries if isinstance(entry.what, kind)]
        return [e.at_s for e in found if by in (None, e.who) and e.note != "late"]

    def state(self, task: TaskId) -> TaskState:
        """The state of the task, on which everybody who runs agrees."""
        states = {reading.state for reading in self._readings(task)}
        assert len(states) == 1, f"{task} reads differently: {states}"
        return states.pop()

    def outcome(self, task: TaskId) -> str:
        """The host whose success counts for everybody."""
        hosts = {each.outcome.host if each.outcome else "" for each in self._readings(task)}
        assert len(hosts) == 1, f"{task} ended on {hosts}"
        return hosts.pop()

    def _readings(self, task: TaskId) -> list[DerivedState]:
        readings = [node.table.reading(task) for node in self.living().values()]
        assert all(readings), f"{task} is not known everywhere"
        return [reading for reading in readings if reading is not None]

    def effects(self, kind: type[Kind]) -> list[Kind]:
        return [entry.what for entry in self.entries if isinstance(entry.what, kind)]

    def masters(self) -> set[str]:
        return {node._election.master for node in self.living().values()}

    def same_tables(self) -> bool:
        return len({node.table.hash for node in self.living().values()}) == 1


def at_work(
    *names: str, length_s: float, for_s: float, expected_s: float = 0, **more: Any
) -> Stage:
    """The first of them has been at T1 of pato's for so long; ``once``: no copy is made of it."""
    needs = with_needs((), (), once=more.pop("once", False))
    stage = Stage(*names).flock()
    stage.courses["T1"] = Course(length_s=length_s, **more)
    spec = task("T1", expected_ms=int(1000 * (expected_s or length_s)), more=needs)
    return stage.submit("pato", "bread", spec).play(for_s)
