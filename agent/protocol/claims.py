"""The claimant's side: a task is started only after everyone alive consented to it.

A claim is asked of every peer believed alive and is won when the last of them consents: one
round trip where nobody competes. Silence is never consent; a silent peer is waited for until it
is suspected. Peers that link up meanwhile are asked too. Whoever sees a better claim releases
its own and goes for another task. A claim that is not won within 10 s is given up, well before
any promise to it could run out, and a node that finds that it slept voids its own claims. Who owes
its consent for long, and nothing that can be seen stands behind it, is passed by (``obstructors``).

What follows a task that is about to end here is claimed ahead (``planning``): such a claim is held,
with all consents, until the task is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part, Peer
from agent.protocol.evidence import Knowledge, standing_on
from agent.protocol.messages import (
    BetterClaim,
    ClaimAnswers,
    ClaimName,
    ClaimOffer,
    Release,
    TryDequeue,
)
from agent.protocol.needs import seats_of
from agent.protocol.news import News
from agent.protocol.obstructors import Obstructors
from agent.protocol.own_run import write_run
from agent.protocol.phrases import LocalProtocolError
from agent.protocol.policy import Evidence
from agent.protocol.reading import next_attempt
from agent.protocol.reasons import ClaimedAhead, ClaimedBy, ClaimWithdrawn
from agent.protocol.records import (
    Claim,
    More,
    NodeId,
    Run,
    Scheduled,
    TaskId,
    TaskLife,
    claim_rank,
)
from agent.protocol.second_runs import COPY_SCORE, FIRST_COPY
from agent.protocol.sharing_reasons import CopyClaimed, PassedBy
from agent.protocol.times import following

REBUFFED_S, REBUFFS_MAX = 0.03, 10
"""Each wait is twice the one before, up to ``CONTESTED_S``; further ones need not be counted."""
CONTESTED_S = 2.0
"""A task whose better claimant was seen is left to that claimant for this long."""


@dataclass(slots=True)
class OpenClaim:
    """A claim of this node. ``waiting``: who was asked and has not consented, and since when.
    ``held``: by which claims of others they have not. ``ahead``: it was made before its task was
    ready."""

    claim: Claim
    since_s: float
    asked_s: float
    asked: dict[NodeId, None] = field(default_factory=dict)
    waiting: dict[NodeId, float] = field(default_factory=dict)
    held: dict[NodeId, Claim] = field(default_factory=dict)
    ahead: bool = False
    evidence: Evidence | None = None

    @property
    def copy(self) -> bool:
        """Whether it is for a copy of a run that goes on."""
        return self.claim.score == COPY_SCORE


class Claims(Part):
    """Claims of this node, from asking to winning or giving up."""

    def __init__(
        self,
        core: Core,
        obstacle: Callable[[TaskId], str],
        obstacle_ahead: Callable[[TaskId], str],
        obstacle_to_copy: Callable[[TaskId], str],
        begin: Callable[[TaskId, Run], None],
        gone_since_ms: Callable[[Run], int],
        knowledge: Knowledge,
        up: Callable[[NodeId], bool],
    ) -> None:
        super().__init__(core)
        self.open: dict[TaskId, OpenClaim] = {}
        self.contested: dict[TaskId, tuple[NodeId, float]] = {}
        self._rebuffs: dict[TaskId, int] = {}
        self._believed: dict[TaskId, int] = {}
        """What peers believe at most of this node's claims on these tasks."""
        self._knowledge = knowledge
        self._up = up
        self.obstructors = Obstructors(core)
        self._obstacle, self._obstacle_ahead = obstacle, obstacle_ahead
        self._obstacle_to_copy = obstacle_to_copy
        self._begin, self._gone_since_ms = begin, gone_since_ms

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {ClaimAnswers: self._answered, Release: self._rival_released}

    def own_claim(self, task: TaskId) -> Claim | None:
        """Return the open claim of this node on the task; None when it has none."""
        claim = self.open.get(task)
        return None if claim is None else claim.claim

    def held(self) -> list[TaskId]:
        """Return the tasks that were claimed ahead and whose needs have not ended yet."""
        return [task for task, claim in self.open.items() if self._is_held(task, claim)]

    def places_wanted(self) -> int:
        """Return how many places the open claims will take; one that is held, or for a copy, takes none."""
        return len(self.open) - len(self.held()) - sum(each.copy for each in self.open.values())

    def contest(self, task: TaskId, rival: NodeId, for_s: float = CONTESTED_S) -> None:
        """Leave the task to a rival: it counts as claimed for ``for_s`` from now, and a timer wakes
        this node when that is over. An earlier contest of the task is replaced; an open claim on it
        stays."""
        core = self.core
        self.contested[task] = (rival, core.now_s + for_s)
        soonest_s = min(until_s for _, until_s in self.contested.values())
        core.timers.arm(TimerKind.CONTEST, soonest_s)

    def end_contests(self) -> None:
        """Drop the contests whose time is over, so that this node may claim their tasks again, and
        set the timer for the next end, if there is one."""
        core = self.core
        for task in [t for t, (_, until_s) in self.contested.items() if until_s <= core.now_s]:
            del self.contested[task]
            core.wake = True
        if self.contested:
            soonest_s = min(until_s for _, until_s in self.contested.values())
            core.timers.arm(TimerKind.CONTEST, soonest_s)

    def _rebuff(self, task: TaskId, peer: NodeId) -> None:
        """A peer objected and had nothing new to tell: its view lags behind, or reaches further.
        Ask again soon, then ever later."""
        times = self._rebuffs.get(task, 0)
        self._rebuffs[task] = min(times + 1, REBUFFS_MAX)
        reading = self.core.table.reading(task)
        goes_on = reading is not None and reading.owner is not None
        seated = bool(seats_of(self.core.table.specs.get(task)))
        self.obstructors.left_to(task, peer, waits=goes_on or seated)
        self.contest(task, peer, min(REBUFFED_S * 2.0**times, CONTESTED_S))

    def _go_for_seats_again(self) -> None:
        """A seat may have fallen free: who was refused one need not wait any longer."""
        specs = self.core.table.specs
        for task in [task for task in self.contested if seats_of(specs.get(task))]:
            del self.contested[task]
            self._rebuffs.pop(task, None)

    def _rival_released(self, peer: Peer, message: Release) -> None:
        for name in message.claims:
            if self.contested.get(name.task, ("", 0.0))[0] == peer.node:
                del self.contested[name.task]
                self.core.wake = True

    def go_for(self, tasks: list[TaskId]) -> None:
        """Open a claim on each of these tasks, with what it stands on, and ask everybody believed alive in
        one message; what they answer is not waited for. A task for which nobody is to be asked is
        won at once, or its claim withdrawn when an obstacle has come up."""
        core = self.core
        voters = dict.fromkeys(core.voters())
        for task in tasks:
            self.open[task] = self._claim(task, voters)
            core.note(task, ClaimedBy(core.me))
        self._ask(voters, tasks)
        self._win_granted()

    def go_for_ahead(self, task: TaskId) -> None:
        """Open a claim on a task that is not ready yet, ask everybody believed alive, and return
        without their answers; the claim is held until what the task needs has ended. Do nothing
        when an obstacle stands against it."""
        if self._obstacle_ahead(task):
            return
        voters = dict.fromkeys(self.core.voters())
        self.open[task] = self._claim(task, voters)
        self.open[task].ahead = True
        self.core.note(task, ClaimedAhead(self.core.me))
        self._ask(self.open[task].asked, [task])

    def go_for_copy(self, task: TaskId) -> None:
        """Open a claim, with the lowest score there is, on a copy of the run that has the task, and ask everybody
        believed alive; what they answer is not waited for. Without anybody to ask it is won or withdrawn at once."""
        core, voters = self.core, dict.fromkeys(self.core.voters())
        claim = Claim(COPY_SCORE, core.stamp(), core.me)
        self.open[task] = OpenClaim(
            claim, core.now_s, core.now_s, voters, dict.fromkeys(voters, core.now_s)
        )
        core.note(task, CopyClaimed(core.me))
        self._ask(voters, [task])
        self._win_granted()

    def _claim(self, task: TaskId, voters: dict[NodeId, None]) -> OpenClaim:
        core = self.core
        score, evidence = self._knowledge.bid(core.table.specs[task])
        if task in self._believed:  # what was doubted is not told again, and so not doubted again
            score, evidence = min(score, self._believed[task]), None
        claim = Claim(max(score, COPY_SCORE + 1), core.stamp(), core.me)
        now_s = core.now_s
        waiting = dict.fromkeys(voters, now_s)
        return OpenClaim(claim, now_s, now_s, dict(voters), waiting, evidence=evidence)

    def _is_held(self, task: TaskId, claim: OpenClaim) -> bool:
        reading = self.core.table.reading(task) if claim.ahead else None
        return reading is not None and not reading.supplied

    def _hindrance(self, task: TaskId) -> str:
        """Why the open claim cannot be kept; empty when it can."""
        claim = self.open[task]
        if claim.copy:
            return self._obstacle_to_copy(task)
        return self._obstacle_ahead(task) if claim.ahead else self._obstacle(task)

    def _ask(self, peers: Iterable[NodeId], tasks: Iterable[TaskId]) -> None:
        offers = tuple(
            ClaimOffer(task, mine.claim, self.core.table.life(task), mine.evidence)
            for task, mine in ((task, self.open[task]) for task in tasks)
        )
        specs = self.core.table.specs
        seated = tuple(each.task for each in offers if seats_of(specs.get(each.task)))
        if offers:
            self.core.send(peers, TryDequeue(offers, self.core.cause, seated))

    def _answered(self, peer: Peer, message: ClaimAnswers) -> None:
        core = self.core
        unwanted = [name for name in message.consents if not self._consented(peer, name)]
        if unwanted:
            core.send(peer.node, Release(tuple(unwanted)))
        for held in message.held:
            mine = self.open.get(held.task)
            if mine is not None and mine.claim == held.against:
                mine.held[peer.node] = held.claim
        for objection in message.better:
            self._objected(peer, objection)
        self._declined(peer, message)
        if message.known:
            parts = [TaskLife(known.task, known.life) for known in message.known]
            news = core.learn(peer.node, lives=parts, pass_on=True)
            for known in message.known:
                if self._heeds(peer, known.task, known.against):
                    if not news.lives:
                        self._rebuff(known.task, peer.node)
                    self.withdraw([known.task], f"{peer.node} knows better")
        self._win_granted()

    def _heeds(self, peer: Peer, task: TaskId, against: Claim) -> bool:
        """Whether what a peer says against a claim is to be heeded, as it is against the open one;
        to a peer that is in the way the claim need not be withdrawn."""
        mine = self.open.get(task)
        if mine is None or mine.claim != against:
            return False
        if peer.node in self.obstructors:
            mine.waiting.pop(peer.node, None)
            return False
        return True

    def _objected(self, peer: Peer, objection: BetterClaim) -> None:
        """Leave the task to whoever has a better claim, and not again and again to who is in the way;
        what is no better claim is no answer."""
        task, rival = objection.task, objection.claim.host
        if not self._heeds(peer, task, objection.against):
            return
        if rival in self.obstructors:
            self.open[task].waiting.pop(peer.node, None)
        elif rival == self.core.me or claim_rank(objection.claim) >= claim_rank(objection.against):
            self.core.count("objection that is none")
        elif not self._is_linked(rival) or rival == peer.node:
            self.yield_to(task, rival)
        elif self.obstructors.named(task, peer.node, objection.claim):
            self.open[task].waiting.pop(peer.node, None)
            self.core.note(task, PassedBy(peer.node))
        else:
            self.contest(task, rival)
            self.withdraw([task], f"{rival} has a better claim")

    def _is_linked(self, node: NodeId) -> bool:
        """Whether it asks here itself before it begins anything."""
        peer = self.core.peers.get(node)
        return peer is not None and peer.greeted and not peer.suspected

    def _declined(self, peer: Peer, message: ClaimAnswers) -> None:
        """What the peer refuses whoever else asks; it is claimed again in a while."""
        for doubt in message.doubted:
            if doubt.score < doubt.against.score and self._heeds(peer, doubt.task, doubt.against):
                self._believed[doubt.task] = doubt.score
                self._rebuff(doubt.task, peer.node)
                self.withdraw([doubt.task], f"{peer.node} knows otherwise of this machine")
        for name in message.full:
            seats = seats_of(self.core.table.specs.get(name.task))
            if seats and self._heeds(peer, name.task, name.claim):
                self._rebuff(name.task, peer.node)
                self.withdraw([name.task], f"all seats are taken, says {peer.node}")

    def _consented(self, peer: Peer, name: ClaimName) -> bool:
        mine = self.open.get(name.task)
        if mine is None or mine.claim != name.claim:
            return self._won_by(name)
        mine.waiting.pop(peer.node, None)
        return True

    def _won_by(self, name: ClaimName) -> bool:
        """A repeated consent to a claim that is already won is no reason to release it."""
        runs = self.core.table.life(name.task).runs
        return any(run.claim == name.claim for run in runs)

    def _win_granted(self) -> None:
        granted = [
            task
            for task, claim in self.open.items()
            if not claim.waiting and not self._is_held(task, claim)
        ]
        for task in granted:
            obstacle = self._hindrance(task)
            if obstacle:
                self.withdraw([task], obstacle)
            else:
                self._win(task, self.open.pop(task))

    def _win(self, task: TaskId, won: OpenClaim) -> None:
        core = self.core
        life = core.table.life(task)
        reading = core.table.reading(task)
        if reading is None or reading.inputs is None:
            raise LocalProtocolError(f"{task} was won without its inputs: {core.story(task)}")
        generation, attempt = next_attempt(life)
        more = {**self._after(reading.owner), **standing_on(won.evidence)}
        if won.copy and reading.owner is not None:
            generation, attempt = reading.owner.generation, reading.owner.attempt
            more = FIRST_COPY
        run = Run(
            generation,
            attempt,
            core.me,
            core.incarnation,
            won.claim,
            core.lengths.of(core.table.specs[task], core.me).q50_ms,
            reading.inputs,
            1,
            Scheduled(),
            core.stamp(),
            more,
        )
        write_run(core, task, run, generation=0 if won.copy else generation)
        self._begin(task, run)

    def _after(self, owner: Run | None) -> More:
        """What the record carries of the run that it goes on for: since when its machine is gone."""
        return {} if owner is None else following(self._gone_since_ms(owner), self.core.wall_ms)

    def withdraw(self, tasks: Iterable[TaskId], why: str) -> None:
        """Give up the claims on these tasks, tell everyone who was asked and is still linked, and
        note ``why`` in the story of each; tasks without a claim are skipped."""
        releases: dict[NodeId, list[ClaimName]] = {}
        for task in tasks:
            claim = self.open.pop(task, None)
            if claim is None:
                continue
            self.core.note(task, ClaimWithdrawn(why))
            self.core.wake = True
            for peer in claim.asked:
                releases.setdefault(peer, []).append(ClaimName(task, claim.claim))
        for peer, names in releases.items():
            if peer in self.core.peers:
                self.core.send(peer, Release(tuple(names)))

    def yield_to(self, task: TaskId, claimant: NodeId) -> None:
        """Give up the claim on the task, if there is one, and leave the task for a while to a
        claimant whose claim is better."""
        self.contest(task, claimant)
        self.obstructors.left_to(task, claimant)
        self.withdraw([task], f"{claimant} has a better claim")

    def void(self, why: str) -> None:
        """Give up all claims, as this node slept: none must be won by consents that waited
        meanwhile."""
        self.withdraw(list(self.open), why)

    # -- who has to consent --------------------------------------------------------------

    def on_greeted(self, peer: Peer) -> None:
        """Ask a peer that counts from now on for its consent to every open claim; none of them is
        won without it."""
        for claim in self.open.values():
            claim.asked[peer.node] = None
            claim.waiting[peer.node] = self.core.now_s
        self._ask([peer.node], list(self.open))

    on_trusted = on_greeted

    def on_gone(self, peer: Peer) -> None:
        """Wait for no consent of a peer that has gone, win what waited for it alone, and stop
        leaving tasks to it."""
        self.on_suspected(peer)
        for task in [task for task, (host, _) in self.contested.items() if host == peer.node]:
            del self.contested[task]
            self.core.wake = True

    def on_suspected(self, peer: Peer) -> None:
        for claim in self.open.values():
            claim.waiting.pop(peer.node, None)
        self._win_granted()

    def on_news(self, news: News) -> None:
        """Withdraw the claims that news has made impossible or whose tasks were removed, then win those that have every
        consent and whose task is ready. After news of a task that needs a seat of the flock, stop leaving such tasks to
        others."""
        for part in news.lives:
            self.obstructors.went_on(part.task)
            self._rebuffs.pop(part.task, None)
            self._believed.pop(part.task, None)
            if seats_of(self.core.table.specs.get(part.task)):
                self._go_for_seats_again()
        for task in news.forgotten_tasks:
            self.obstructors.went_on(task)
            self._rebuffs.pop(task, None)
            self._believed.pop(task, None)
        if not self.open:
            return
        for part in news.lives:
            obstacle = self._hindrance(part.task) if part.task in self.open else ""
            if obstacle:
                self.withdraw([part.task], obstacle)
        self.withdraw([task for task in news.forgotten_tasks if task in self.open], "pruned")
        self._win_granted()

    def withdraw_hindered(self) -> None:
        """Withdraw every open claim against which an obstacle stands now; the others stay as they
        are."""
        for task in list(self.open):
            obstacle = self._hindrance(task)
            if obstacle:
                self.withdraw([task], obstacle)

    def on_tick(self) -> None:
        """Withdraw claims that were not won within ``claim_s``, pass by who is in the way of the
        others, and ask those who have not consented once more, every ``claim_repeat_s``."""
        core, settings = self.core, self.core.settings
        self._pass_by()
        given_up = [
            task
            for task, claim in self.open.items()
            if core.now_s - claim.since_s >= settings.claim_s
        ]
        for task in given_up:
            for node in self.open[task].waiting:
                self.obstructors.left_to(task, node)
        self.withdraw(given_up, "it could not be won in time")
        for task, claim in self.open.items():
            if core.now_s - claim.asked_s >= settings.claim_repeat_s:
                claim.asked_s = core.now_s
                self._ask(list(claim.waiting), [task])

    def _pass_by(self) -> None:
        """Wait no longer for who owes a consent without a reason that this node can see."""
        core = self.core
        for task, mine in self.open.items():
            for node, since_s in list(mine.waiting.items()):
                patience_s = self.obstructors.patience_s(node)
                if core.now_s - since_s >= patience_s and not self._stands_on(task, mine, node):
                    del mine.waiting[node]
                    core.note(task, PassedBy(node))
                    self.obstructors.passed_by(node)
        self._win_granted()

    def _stands_on(self, task: TaskId, mine: OpenClaim, node: NodeId) -> bool:
        """Whether a consent that is owed may depend on a claim of somebody else, who owes its own as
        well or cannot be asked; for a seat of the flock it may depend on claims on other tasks."""
        if node in self.obstructors:
            return False
        if seats_of(self.core.table.specs.get(task)):
            return True
        held = mine.held.get(node)
        if held is None or held.host in (node, self.core.me) or held.host in self.obstructors:
            return False
        elsewhere = held.host in self.core.members and held.host not in self.core.peers
        return held.host in mine.waiting or (elsewhere and self._up(held.host))
