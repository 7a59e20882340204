"""Broken variants of the node: the order of its effects (DESIGN 3, 4), who is up, who is master
(3.3).

Not here is the echo of heartbeats: the simulated network tells the other side of a link that one
side closed it, as soon as that way carries, so that a one-way link is short-lived without the echo.
"""

from __future__ import annotations

from typing import Any

from agent.protocol import effects
from agent.protocol.claimability import Claimability
from agent.protocol.core import Core
from agent.protocol.effects import Answer, Effect, Send
from agent.protocol.election import Election
from agent.protocol.joining import Joining
from agent.protocol.liveness import Liveness
from agent.protocol.messages import Message
from agent.protocol.own_run import LostRuns, OwnRun
from agent.protocol.records import NodeId, WorkflowId
from agent.protocol.requests import Requests
from agent.protocol.runs import Runs
from agent.protocol.seats import SeatPlan
from tests.sim.variants_rewriting import Rewrite, Variant, Wrong, always, never, nothing


def sends_first(right: Wrong, core: Core) -> list[Effect]:
    """Peers are told before it is on disk."""
    return sorted(right(core), key=lambda effect: not isinstance(effect, Send))


def overtakes_with_lives(_right: Wrong, _message: Message) -> bool:
    """A claim goes ahead of a slow disk, with records that are not on it yet."""
    return True


def answers_first(right: Wrong, core: Core) -> list[Effect]:
    """Clients are answered before it is on disk."""
    return sorted(right(core), key=lambda effect: not isinstance(effect, Answer))


def second_disk_assumed(_right: Wrong, requests: Requests, workflow: WorkflowId) -> None:
    """What was sent to a peer counts as being on its disk."""
    receipt = requests._receipts[workflow]
    if not receipt.answered:
        requests._accept(workflow, receipt, "", disks=1 + bool(receipt.peers))
        receipt.answered = True


def any_incarnation_is_alive(_right: Wrong, part: Liveness, host: NodeId, _: int) -> bool:
    """A run is alive when its host is, in whatever incarnation."""
    return part.up(host)


def always_the_first(right: Wrong, joining: Joining, *event: Any) -> None:
    """Every start of an agent goes by the same incarnation."""
    core = joining.core
    wall_ms, core.wall_ms, core.incarnation = core.wall_ms, 0, 1
    right(joining, *event)
    core.wall_ms = wall_ms


def saved_state_not_fetched(right: Wrong, runs: Runs, own: OwnRun) -> bool:
    """A program is started with a state that lies on another disk."""
    saved, own.checkpoint = own.checkpoint, ""
    missing = bool(right(runs, own))
    own.checkpoint = saved
    return missing


UNFINISHED_STAYS = (Rewrite(LostRuns.end_all, nothing), Rewrite(LostRuns.on_news, nothing))
NOBODY_ASKED = (Rewrite(Liveness._reported, never), Rewrite(Liveness.heard_of, nothing))

ORDER = (
    Variant(
        "sent before persisted",
        "effects come in the order in which they must be done: persist before send",
        "3",
        (Rewrite(Core.take_effects, sends_first),),
        ("refused",),
        ("on disk when said", "one writer"),
        80,
    ),
    Variant(
        "words about claims overtake with records",
        "what a word about claims says of a life is on disk before it is said",
        "3, Effects",
        (Rewrite(effects._tells_no_life, overtakes_with_lives),),
        ("crashes",),
        ("one writer",),
        120,
        first_seed=22,
    ),
    Variant(
        "answered before persisted",
        "every change is on disk before it is acknowledged to a client",
        "4, Journal",
        (Rewrite(Core.take_effects, answers_first),),
        ("power-on",),
        ("on disk when said",),
        20,
    ),
    Variant(
        "a second disk is assumed",
        "the acknowledgement says on how many disks it is",
        "4, Journal",
        (Rewrite(Requests._answer_submission, second_disk_assumed),),
        ("calm",),
        ("on disk when said",),
        10,
    ),
)

LIVENESS = (
    Variant(
        "any incarnation is alive",
        "a run of an older incarnation is claimable",
        "3.3",
        (Rewrite(Liveness.alive, any_incarnation_is_alive),),
        ("flapping",),
        ("everything ends",),
        15,
        first_seed=2,  # without the rules beneath, seed 1 does not end whatever this one says
        beneath=UNFINISHED_STAYS,
    ),
    Variant(
        "every start is the first",
        "each start is a new incarnation, greater than any that a peer has seen",
        "3.2, Starting up",
        (Rewrite(Joining._started, always_the_first),),
        ("older-image",),
        ("a run starts once", "one writer"),
        10,
    ),
    Variant(
        "unfinished runs are left as they are",
        "at start an agent ends its own unfinished runs as Lost",
        "3.3",
        UNFINISHED_STAYS,
        ("poison",),
        ("everything ends", "all run", "starts have reasons", "one master"),
        10,
    ),
    Variant(
        "a saved state is not fetched",
        "a program begins only with what is on its own disk",
        "6.4",
        (Rewrite(Runs._fetch_missing, saved_state_not_fetched),),
        ("crashes", "owners"),
        ("inputs are here",),
        120,
    ),
    Variant(
        "down without asking",
        "down is who no peer that I reach reports a live link to",
        "3.3",
        NOBODY_ASKED,
        ("two-sides",),
        ("starts have reasons",),
        120,
        first_seed=33,
    ),
    Variant(
        "an owner's return changes nothing",
        "owner returns: tasks are suspended within 1 s",
        "4, Presence",
        (Rewrite(Runs._make_way, nothing),),
        ("owners",),
        ("given back",),
        10,
    ),
    Variant(
        "helping whom its owner does not let it help",
        "helping is opt-in, and the owner's pause is final",
        "4, Trust",
        (Rewrite(Claimability._unwilling, never), Rewrite(SeatPlan._willing, always)),
        ("owners",),
        ("owner's word", "given back"),
        10,
    ),
    Variant(
        "silence means nothing",
        "a node is suspected after 2 s of silence, its link is down after 5 s",
        "3.3",
        (Rewrite(Liveness._watch, nothing),),
        ("crashes",),
        ("everything ends", "one master"),
        90,
    ),
    Variant(
        "heartbeats do not tell the master",
        "the master's heartbeat carries its election time, so that one remains",
        "3.3",
        (Rewrite(Election._heard, nothing),),
        ("two-sides",),
        ("one master",),
        10,
    ),
)

VARIANTS = ORDER + LIVENESS
