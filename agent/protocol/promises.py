"""The consenter's side of a claim: each task is promised to one claimant at most.

A peer that wants a task asks everyone it believes alive, and starts only when all consented.
Because consent is exclusive, two claimants that cannot see each other are kept apart by any
third node that sees both. A consent ends

* by release, which names the claim;
* by the claimant's record: the claim was won;
* with the claimant's link, waiting claims included;
* after 15 s, by duration.

The better of two claims waits for a consent given to the worse one, the worse always yields. The same
holds among claims on the last seat of the flock, whatever their tasks (``flock_seats``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.protocol.core import Core, Part, Peer
from agent.protocol.evidence import Knowledge
from agent.protocol.flock_seats import Answer, FlockSeats
from agent.protocol.messages import (
    BetterClaim,
    ClaimAnswers,
    ClaimName,
    ClaimOffer,
    DoubtedClaim,
    KnownLife,
    Release,
    State,
    TryDequeue,
)
from agent.protocol.needs import seats_of
from agent.protocol.news import News
from agent.protocol.obstructors import Obstructors
from agent.protocol.records import Claim, NodeId, TaskId, TaskLife, claim_rank
from agent.protocol.second_runs import COPY_SCORE

GIVEN_MAX = 2_000
UNKNOWN_PROMISED_MAX = 1_000
"""Of tasks that are not known here yet, to one claimant."""


@dataclass(slots=True)
class Promise:
    """A task promised to one claimant; better claims of others wait."""

    claimant: NodeId
    claim: Claim
    given_s: float
    waiting: dict[NodeId, Claim] = field(default_factory=dict)


@dataclass(slots=True)
class Answers:
    """Answers to one peer, sent together."""

    consents: list[ClaimName] = field(default_factory=list)
    busy: list[ClaimName] = field(default_factory=list)
    better: list[BetterClaim] = field(default_factory=list)
    known: list[KnownLife] = field(default_factory=list)
    doubted: list[DoubtedClaim] = field(default_factory=list)
    full: list[ClaimName] = field(default_factory=list)
    held: list[BetterClaim] = field(default_factory=list)

    def message(self) -> ClaimAnswers:
        """Return the collected answers to a peer's claims as one message."""
        return ClaimAnswers(
            *(tuple(self.consents), tuple(self.busy), tuple(self.better)),
            *(tuple(self.known), tuple(self.doubted), tuple(self.full)),
            tuple(self.held),
        )


class Promises(Part):
    """Answers the claims of peers, and remembers to whom each task is promised."""

    def __init__(
        self,
        core: Core,
        taken: Callable[[TaskId], bool],
        obstacle_to_copy: Callable[[TaskId], str],
        own_claim: Callable[[TaskId], Claim | None],
        yield_own_claim: Callable[[TaskId, NodeId], None],
        knowledge: Knowledge,
        seats: FlockSeats,
        obstructors: Obstructors,
    ) -> None:
        super().__init__(core)
        self.by_task: dict[TaskId, Promise] = {}
        self.given: dict[tuple[TaskId, NodeId], Claim] = {}
        """To what was consented here lately, whatever came of it; of known tasks."""
        self._taken, self._obstacle_to_copy = taken, obstacle_to_copy
        self._own_claim = own_claim
        self._yield_own_claim = yield_own_claim
        self._knowledge = knowledge
        self._seats = seats
        self._obstructors = obstructors
        self._seated: dict[tuple[TaskId, NodeId], Claim] = {}
        """Claims that wait for a seat which worse claims have, or for their task to be known here."""
        self._answers: dict[NodeId, Answers] = {}

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {TryDequeue: self._asked, Release: self._released}

    def _asked(self, peer: Peer, message: TryDequeue) -> None:
        parts = [TaskLife(offer.task, offer.life) for offer in message.claims]
        self.core.learn(peer.node, lives=parts, pass_on=True)
        seated = frozenset(message.seated)
        for offer in message.claims:
            if offer.task in seated and offer.task not in self.core.table.specs:
                self._seated[offer.task, peer.node] = offer.claim
                self._answers_to(peer.node).busy.append(ClaimName(offer.task, offer.claim))
            else:
                self._answer(peer, offer)
        self._send_answers()

    def _answer(self, peer: Peer, offer: ClaimOffer) -> None:
        core, task, claim = self.core, offer.task, offer.claim
        answers = self._answers_to(peer.node)
        if claim.host != peer.node:
            core.count("claim in another's name")
            return
        self._obstructors.asked(task, claim)
        pruning = core.table.pruning_of_task(task)
        if pruning is not None:
            core.send(peer.node, State(prunings=(pruning,), cause=core.cause))
            return
        if self._closed(task, claim):
            answers.known.append(KnownLife(task, claim, core.table.life(task)))
            return
        spec = core.table.specs.get(task)
        if spec is None and self._has_enough_unknown(peer.node):
            core.count("claims on too many unknown tasks")
            return
        if spec is not None:
            score = self._knowledge.believed(spec, claim, offer.stands_on)
            if score is not None:
                answers.doubted.append(DoubtedClaim(task, claim, score))
                return
        own = self._own_claim(task)
        if own is not None:
            if claim_rank(own) < claim_rank(claim) or peer.node in self._obstructors:
                answers.better.append(BetterClaim(task, claim, own))
                return
            self._yield_own_claim(task, peer.node)
        self._promise(peer.node, task, claim)

    def _closed(self, task: TaskId, claim: Claim) -> bool:
        """Whether nobody may have the task so: it is taken, or there is nothing to copy."""
        if claim.score == COPY_SCORE and task in self.core.table.specs:
            return bool(self._obstacle_to_copy(task))
        return self._taken(task)

    def _promise(self, claimant: NodeId, task: TaskId, claim: Claim) -> None:
        answers = self._answers_to(claimant)
        promise = self.by_task.get(task)
        if (promise is None or promise.claimant == claimant) and not self._has_seat(
            claimant, task, claim
        ):
            return
        if promise is None or promise.claimant == claimant:
            waiting = {} if promise is None else promise.waiting
            self.by_task[task] = Promise(claimant, claim, self.core.now_s, waiting)
            self._note(claimant, task, claim)
            answers.consents.append(ClaimName(task, claim))
        elif claim_rank(claim) < claim_rank(promise.claim):
            promise.waiting[claimant] = claim
            answers.busy.append(ClaimName(task, claim))
            answers.held.append(BetterClaim(task, claim, promise.claim))
        else:
            answers.better.append(BetterClaim(task, claim, promise.claim))

    def _note(self, claimant: NodeId, task: TaskId, claim: Claim) -> None:
        if task in self.core.table.specs:
            self.given[task, claimant] = claim
            while len(self.given) > GIVEN_MAX:
                del self.given[next(iter(self.given))]

    def _has_enough_unknown(self, claimant: NodeId) -> bool:
        """Anybody can make up tasks; what is promised of them is kept in memory for a while."""
        specs, promises = self.core.table.specs, self.by_task.items()
        unknown = (each for task, each in promises if task not in specs)
        return sum(each.claimant == claimant for each in unknown) >= UNKNOWN_PROMISED_MAX

    def _has_seat(self, claimant: NodeId, task: TaskId, claim: Claim) -> bool:
        """Whether a task gets the seats that it needs; else its claim waits here, or is refused. What
        this node claims itself gives way to a better claim."""
        spec = self.core.table.specs.get(task)
        self._seated.pop((task, claimant), None)
        if not seats_of(spec):
            return True
        said, worse = self._seats.answer(task, claim)
        answers, name = self._answers_to(claimant), ClaimName(task, claim)
        for each in worse:
            self._yield_own_claim(each, claimant)
        if said is Answer.WAIT:
            self._seated[task, claimant] = claim
            answers.busy.append(name)
        elif said is Answer.REFUSE:
            answers.full.append(name)
        return said is Answer.CONSENT

    def answer_seated(self) -> None:
        """Answer the waiting claims on tasks that need a seat, or were not known before and are
        now: with a promise, a refusal, or the task's record where it is decided already; some have
        to wait on. Tasks not known yet are left."""
        table = self.core.table
        waiting = [each for each in self._seated.items() if each[0][0] in table.specs]
        for (task, claimant), claim in sorted(waiting, key=lambda each: claim_rank(each[1])):
            if self._closed(task, claim):
                del self._seated[task, claimant]
                known = KnownLife(task, claim, table.life(task))
                self._answers_to(claimant).known.append(known)
            else:
                self._promise(claimant, task, claim)
        self._send_answers()

    def _released(self, peer: Peer, message: Release) -> None:
        for name in message.claims:
            if self._seated.get((name.task, peer.node)) == name.claim:
                del self._seated[name.task, peer.node]
            promise = self.by_task.get(name.task)
            if promise is None:
                continue
            if promise.claimant == peer.node and promise.claim == name.claim:
                self._end(name.task)
            elif promise.waiting.get(peer.node) == name.claim:
                del promise.waiting[peer.node]
        self._send_answers()

    def _end(self, task: TaskId) -> None:
        """A promise is over; the best of those who waited gets the next one."""
        promise = self.by_task.pop(task)
        self.core.wake = True
        for claimant in sorted(promise.waiting, key=lambda node: claim_rank(promise.waiting[node])):
            claim = promise.waiting[claimant]
            if self._closed(task, claim):
                life = self.core.table.life(task)
                self._answers_to(claimant).known.append(KnownLife(task, claim, life))
            else:
                self._promise(claimant, task, claim)

    def on_news(self, news: News) -> None:
        """End promises whose claimant has won, or whose task is taken, and answer those who wait
        for them; forget those for tasks that were removed."""
        for part in news.lives:
            promise = self.by_task.get(part.task)
            if promise is None:
                continue
            won = any(run.claim == promise.claim for run in part.life.runs)
            if won or self._closed(part.task, promise.claim):
                self._end(part.task)
        for task in news.unknown_tasks:
            promise = self.by_task.get(task)
            runs = self.core.table.orphan(task).runs
            if promise is not None and any(run.claim == promise.claim for run in runs):
                self._end(task)
        if news.forgotten_tasks and self.given:
            gone = set(news.forgotten_tasks)
            self.given = {each: claim for each, claim in self.given.items() if each[0] not in gone}
        for task in news.forgotten_tasks:
            self.by_task.pop(task, None)
            for waiting in [each for each in self._seated if each[0] == task]:
                del self._seated[waiting]
        self._send_answers()

    def on_gone(self, peer: Peer) -> None:
        """End the promises to a peer that has gone, forget its waiting claims, and answer those who
        wait for what was promised to it."""
        for waiting in [each for each in self._seated if each[1] == peer.node]:
            del self._seated[waiting]
        for task, promise in list(self.by_task.items()):
            promise.waiting.pop(peer.node, None)
            if promise.claimant == peer.node:
                self._end(task)
        self._send_answers()

    def on_tick(self) -> None:
        """End and count promises older than ``promise_s``, and answer those who wait for them."""
        oldest_s = self.core.now_s - self.core.settings.promise_s
        for task, promise in list(self.by_task.items()):
            if promise.given_s <= oldest_s:
                self.core.count("promise expired")
                self._end(task)
        self._send_answers()

    def void(self) -> None:
        """Forget all promises, as this node slept and they do not bind it any more."""
        self.by_task.clear()
        self._seated.clear()

    def _answers_to(self, claimant: NodeId) -> Answers:
        return self._answers.setdefault(claimant, Answers())

    def _send_answers(self) -> None:
        answers, self._answers = self._answers, {}
        for claimant, given in answers.items():
            message = given.message()
            if claimant in self.core.peers and message != ClaimAnswers():
                self.core.send(claimant, message)
