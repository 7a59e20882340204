"""A flock in which one member says what it likes: every message that it may send is drawn.

``python -m tests.sim --hostile``: of each flock the member with the last id lies, from the first
moment on. What its node is about to say is said as it is, or not at all, or too late and again, or
something else is said in its place: busy for nobody, doubts, better claims that nobody makes, starts of
others that nobody has seen, work that goes on nowhere. All promises are checked as ever, on its machine
too: it lies to others, and does its work. Records are left as they are; ``liars`` is about those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent.protocol.clock import Instant
from agent.protocol.effects import Effect, Send
from agent.protocol.events import Event
from agent.protocol.messages import (
    BetterClaim,
    ClaimAnswers,
    ClaimName,
    DoubtedClaim,
    Heartbeat,
    Hello,
    Message,
    Release,
    State,
    Status,
)
from agent.protocol.node import Node, NodeSetup
from agent.protocol.records import Claim

if TYPE_CHECKING:
    from tests.sim.simulation import Simulation

LIES_PER_MESSAGE = 0.4
HEARD_MAX = 50
ANSWERS = 6
"""Ways to answer a claim."""
FAR_AHEAD = 2**45


def apart(simulation: Simulation, machines: set[int]) -> bool:
    """Tell whether some of these never had a link, in a flock with a member that lies: of what such
    two begin only others know both, and the one that lies may be all of them."""
    pairs = combinations(sorted(machines), 2)
    return simulation.node_class is HostileMember and any(
        pair in simulation.plan.broken for pair in pairs
    )


class HostileMember(Node):
    """A node that lies where it is the one of its flock, and one like any other elsewhere."""

    def __init__(self, setup: NodeSetup) -> None:
        super().__init__(setup)
        liar = setup.node == max(setup.members, default="")
        self._lies = Lies(setup) if liar else None

    def handle(
        self, event: Event, now: Instant, cause: str = "", *, more: bool = False
    ) -> list[Effect]:
        """Handle the event as any node does, and lie in what is said of it."""
        effects = super().handle(event, now, cause, more=more)
        return effects if self._lies is None else list(self._lies.twisted(effects))


class Lies:
    """What one member says instead of what its node is about to say."""

    def __init__(self, setup: NodeSetup) -> None:
        known = (setup.node, setup.members, setup.slots, setup.capabilities)
        self._draw = Random(f"lies of {known}")
        self._habit = self._draw.choice((None, *range(ANSWERS)))
        """One answer to every claim, for ever; or any."""
        self._members = sorted(setup.members)
        self._said: list[State] = []
        self._kinds: dict[type, Callable[[Any], Message | None]] = {
            ClaimAnswers: self._answers,
            Hello: self._hello,
            Status: self._status,
            Heartbeat: self._beat,
            Release: lambda _: None,
            State: self._state,
        }

    def twisted(self, effects: list[Effect]) -> Iterator[Effect]:
        """Yield the effects, in some of which something else is said, to each peer another thing."""
        for effect in effects:
            kind = self._kinds.get(type(effect.message)) if isinstance(effect, Send) else None
            if kind is None or not self._lies_now(effect):
                yield effect
                continue
            assert isinstance(effect, Send)
            for peer in effect.peers:
                told = kind(effect.message)
                if told is not None:
                    yield Send((peer,), told)

    def _lies_now(self, effect: Effect) -> bool:
        answers = isinstance(effect, Send) and isinstance(effect.message, ClaimAnswers)
        habitual = answers and self._habit is not None
        return habitual or self._draw.random() <= LIES_PER_MESSAGE

    # -- what is said instead ------------------------------------------------------------------

    def _answers(self, message: ClaimAnswers) -> ClaimAnswers | None:
        """Always something against a claim, or nothing at all."""
        names = message.consents + message.busy
        habit = self._habit
        match self._draw.randrange(ANSWERS) if habit is None else habit:
            case 0:
                return None
            case 1:
                return ClaimAnswers(busy=names)
            case 2:
                held = tuple(self._against(each, score=0) for each in names)
                return ClaimAnswers(busy=names, held=held)
            case 3:
                return ClaimAnswers(
                    better=tuple(self._against(each, score=1_000_000) for each in names)
                )
            case 4:
                doubts = (DoubtedClaim(each.task, each.claim, 0) for each in names)
                return ClaimAnswers(doubted=tuple(doubts))
            case _:
                return ClaimAnswers(full=names)

    def _against(self, name: ClaimName, score: int) -> BetterClaim:
        """A claim of anybody, which is none."""
        stamp = (name.claim.stamp[0] + self._draw.randint(-5, 5), 0)
        host = self._draw.choice(self._members)
        return BetterClaim(name.task, name.claim, Claim(score, stamp, host))

    def _hello(self, message: Hello) -> Hello:
        return replace(message, seen=self._draw.choice((0, FAR_AHEAD)))

    def _status(self, message: Status) -> Status:
        """Everybody else has begun anew, and is linked with it or is not."""
        linked = {each: FAR_AHEAD for each in self._members if self._draw.random() < 0.5}
        return replace(message, neighbours=linked, reached={})

    def _beat(self, message: Heartbeat) -> Heartbeat:
        """Its table is another one, and its clock."""
        wall_ms = max(0, message.wall_ms + self._draw.randint(-(10**9), 10**9))
        return replace(message, table_hash=self._draw.getrandbits(60), wall_ms=wall_ms)

    def _state(self, message: State) -> State | None:
        """What was true once, or nothing; the tables differ by it until they are compared."""
        self._said = [*self._said, message][-HEARD_MAX:]
        return self._draw.choice((None, self._draw.choice(self._said)))
