"""Broken variants of the claims (DESIGN 3.2) and of a node's start (the hazard of its own there).

Two are mistakes that were once made in earnest and are kept for that: a release that does not name
its claim, and a consent given to a waiting claim of a dead claimant. That a consent also runs out
after 15 s makes up for several of these rules, at the price of a wait; where that hides the loss of
a rule, it is switched off beneath it. In the same way whoever looks after a host's neighbours before
it calls the host down, hides that a consenter did not object with what it knows.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agent.protocol.claims import Claims, OpenClaim
from agent.protocol.core import Peer
from agent.protocol.flock_seats import FlockSeats
from agent.protocol.joining import Joining
from agent.protocol.lengths import ROW_MAX, Lengths
from agent.protocol.messages import ClaimAnswers, ClaimName, Release
from agent.protocol.node import Node
from agent.protocol.obstructors import Obstructors
from agent.protocol.planning import Planning
from agent.protocol.promises import Promises
from agent.protocol.records import Claim, NodeId, TaskId
from agent.protocol.runs import Runs
from agent.protocol.seats import SeatPlan
from tests.sim.variants_nodes import NOBODY_ASKED
from tests.sim.variants_rewriting import Rewrite, Variant, Wrong, always, never, nothing

SHORT_WINDOW_S = 0.2


def silence_is_consent(right: Wrong, claims: Claims) -> None:
    """Who has not answered after a short window is not waited for."""
    for claim in claims.open.values():
        if claims.core.now_s - claim.since_s >= SHORT_WINDOW_S:
            claim.waiting.clear()
    claims._win_granted()
    right(claims)


def any_answer_is_consent(right: Wrong, claims: Claims, peer: Peer, said: ClaimAnswers) -> None:
    """A better claim of another is no objection."""
    for objection in said.better:
        claims._consented(peer, ClaimName(objection.task, objection.against))
    right(claims, peer, msgspec.structs.replace(said, better=()))


def consent_to_everybody(
    right: Wrong, promises: Promises, claimant: NodeId, task: TaskId, claim: Claim
) -> None:
    """A consent given does not stand in the way of another."""
    promise = promises.by_task.get(task)
    if promise is None or promise.claimant == claimant:
        right(promises, claimant, task, claim)
    else:
        promises._answers_to(claimant).consents.append(ClaimName(task, claim))


def _taken_by_nobody(_task: TaskId) -> bool:
    return False


def _claimed_by_nobody(_task: TaskId) -> Claim | None:
    return None


def consent_whatever_is_known(right: Wrong, promises: Promises, *offered: Any) -> None:
    """That the task has ended, or has an owner alive, is no objection."""
    taken, promises._taken = promises._taken, _taken_by_nobody
    right(promises, *offered)
    promises._taken = taken


def rows_are_long(_right: Wrong, *_arguments: Any) -> int:
    """However long their tasks take."""
    return ROW_MAX


def own_claim_not_compared(right: Wrong, promises: Promises, *offered: Any) -> None:
    """Who claims himself consents to others nevertheless, and goes on claiming."""
    own_claim, promises._own_claim = promises._own_claim, _claimed_by_nobody
    right(promises, *offered)
    promises._own_claim = own_claim


def own_promise_not_binding(_right: Wrong, node: Node, task: TaskId) -> str:
    """A task promised to another may be won here."""
    return node._can.obstacle(task)


def release_without_claim(_right: Wrong, promises: Promises, _peer: Peer, said: Release) -> None:
    """A release frees whatever promise there is for the task by now."""
    for name in said.claims:
        if name.task in promises.by_task:
            promises._end(name.task)
    promises._send_answers()


def the_dead_still_wait(_right: Wrong, promises: Promises, peer: Peer) -> None:
    """With a link goes what was promised to the peer, but not what it waits for."""
    for task, promise in list(promises.by_task.items()):
        if promise.claimant == peer.node:
            promises._end(task)
    promises._send_answers()


def promises_do_not_run_out(_right: Wrong, promises: Promises) -> None:
    """A consent is kept however long it takes."""
    promises._send_answers()


def won_with_what_is_there(right: Wrong, claims: Claims, task: TaskId, won: OpenClaim) -> None:
    """That inputs are missing does not strike the winner either."""
    readings = claims.core.table._readings
    if readings[task].inputs is None:
        readings[task] = msgspec.structs.replace(readings[task], inputs=())
    right(claims, task, won)


def nobody_is_waited_for(right: Wrong, joining: Joining) -> None:
    """A starting node believes that its wait is over."""
    liveness = joining._liveness
    started_s, liveness.started_s = liveness.started_s, -1e9
    right(joining)
    liveness.started_s = started_s


def seats_for_everybody(_right: Wrong, promises: Promises, *_offered: Any) -> bool:
    """Who consents does not look at the seats of the flock."""
    return True


LONG_ROWS = (Rewrite(Lengths.in_a_row, rows_are_long),)
"""Rows that last no longer than a second are filled up too early to be in anybody's way."""
NO_RUNNING_OUT = (Rewrite(Promises.on_tick, promises_do_not_run_out),)
NOBODY_IN_THE_WAY = (Rewrite(Claims._pass_by, nothing), Rewrite(Obstructors.__contains__, never))
"""Else whoever keeps a promise to the dead, and they themselves, are passed by, and a record ends it;
and so is whoever says for a minute that a run goes on, where nobody is asked whether it does."""
NOT_LONGER = (Rewrite(Joining._is_apart, never),)
"""A start waits for who is apart; by then tables have come, and strangers met."""
TWICE = ("starts have reasons",)

CONSENT = (
    Variant(
        "silence is consent",
        "silence is never consent, however long it lasts",
        "3.2.4",
        (Rewrite(Claims.on_tick, silence_is_consent),),
        ("strangers-meet",),
        TWICE,
        15,
        beneath=NOT_LONGER,
    ),
    Variant(
        "any answer is consent",
        "every peer believed alive has consented before a claim is won",
        "3.2.4",
        (Rewrite(Claims._answered, any_answer_is_consent),),
        ("strangers-race",),
        TWICE,
        12,
    ),
    Variant(
        "consent to everybody",
        "consent is a promise to one claimant",
        "3.2.3",
        (Rewrite(Promises._promise, consent_to_everybody),),
        ("calm",),
        TWICE,
        30,
    ),
    Variant(
        "consent whatever is known",
        "a peer objects with the task's life when it has ended or its owner is alive",
        "3.2.2",
        (Rewrite(Promises._answer, consent_whatever_is_known),),
        ("missing-link",),
        TWICE,
        10,
        beneath=NOBODY_ASKED + NOBODY_IN_THE_WAY,
    ),
    Variant(
        "the worse claim does not yield",
        "of two claimants the worse always yields",
        "3.2.3",
        (
            Rewrite(Promises._answer, own_claim_not_compared),
            Rewrite(Node._obstacle, own_promise_not_binding),
        ),
        ("strangers-meet",),
        TWICE,
        5,
    ),
    Variant(
        "who links up is not asked",
        "peers that link up during a claim are asked too",
        "3.2.4",
        (Rewrite(Claims.on_greeted, nothing),),
        ("strangers-meet",),
        TWICE,
        5,
        beneath=NOT_LONGER,
    ),
    Variant(
        "a claim ahead is not held",
        "what was claimed ahead is not won before all that it needs has ended",
        "3.2.1",
        (Rewrite(Claims._is_held, never), Rewrite(Claims._win, won_with_what_is_there)),
        ("claimed-ahead",),
        ("inputs are here",),
        5,
    ),
    Variant(
        "consents outlast a sleep",
        "a timer handled late voids a node's own open claims and promises",
        "3.2.4",
        (Rewrite(Claims.void, nothing), Rewrite(Promises.void, nothing)),
        ("claimant-sleeps",),
        TWICE,
        45,
    ),
)

PROMISES = (
    Variant(
        "a release does not name its claim",
        "a release names the claim; else it frees the next promise (a mistake to keep)",
        "3.2.3",
        (Rewrite(Promises._released, release_without_claim),),
        ("strangers-race",),
        TWICE,
        30,
    ),
    Variant(
        "the dead still wait",
        "waiting claims of a link that goes down go too (a mistake to keep)",
        "3.2.3",
        (Rewrite(Promises.on_gone, the_dead_still_wait),),
        ("strangers-die",),
        ("promises end",),
        30,
        beneath=NO_RUNNING_OUT + NOBODY_IN_THE_WAY,
    ),
    Variant(
        "a promise outlives the link",
        "consent ends by the claimant's link going down",
        "3.2.3",
        (Rewrite(Promises.on_gone, nothing),),
        ("strangers-die",),
        ("promises end",),
        10,
        beneath=NO_RUNNING_OUT + NOBODY_IN_THE_WAY,
    ),
    Variant(
        "a promise outlives the record",
        "consent ends by the claimant's record",
        "3.2.3",
        (Rewrite(Promises.on_news, nothing),),
        ("calm",),
        ("promises end",),
        5,
        beneath=NO_RUNNING_OUT,
    ),
)

SEATS = (
    Variant(
        "nobody looks at seats",
        "never more runs at once than there are seats, by plan and by consent",
        "3.2.2, seats",
        (
            Rewrite(Promises._has_seat, seats_for_everybody),
            Rewrite(SeatPlan.has_seats, always),
            Rewrite(FlockSeats.obstacle, nothing),
        ),
        ("seats",),
        ("seats are not exceeded",),
        30,
    ),
)

START = (
    Variant(
        "a start waits for nobody",
        "a starting node claims nothing until each member is linked or 5 s have passed",
        "3.2, Starting up",
        (Rewrite(Joining._join_if_ready, nobody_is_waited_for),),
        ("crashes",),
        TWICE,
        30,
    ),
    Variant(
        "claims before the table is there",
        "a starting node claims nothing before it holds the table of one peer",
        "3.2, Starting up",
        (Rewrite(Joining._holds_table, always), *NOT_LONGER),
        ("power-on",),
        TWICE,
        300,
        first_seed=500,
    ),
    Variant(
        "a run that the disk refused is kept",
        "if persisting the attempt fails, the claim is withdrawn",
        "3.2.5",
        (Rewrite(Runs.withdraw, nothing),),
        ("claim-in-flight",),
        ("everything ends",),
        75,
    ),
    Variant(
        "low before interactive",
        "no low task starts on a node that could start an interactive one",
        "6.4, 3.4",
        (Rewrite(Planning._could_take, never), Rewrite(Planning.interactive_waits, never)),
        ("home-stands-still",),
        ("interactive first",),
        30,
        beneath=LONG_ROWS,
    ),
)

VARIANTS = CONSENT + PROMISES + SEATS + START
