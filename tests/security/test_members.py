"""A member that is no friend, with an agent that says what it likes: live, over real links.

Each attack is done twice, with the guard that holds it back and without, where it has to succeed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.node.agent import Agent
from agent.protocol import liveness, messages
from agent.protocol.claims import Claims
from agent.protocol.events import PresenceChanged
from agent.protocol.evidence import SCORE_AT_HOME, Knowledge
from agent.protocol.incarnations import Incarnations
from agent.protocol.messages import Message
from agent.protocol.obstructors import Obstructors
from agent.protocol.reasons import HelpsNotNow, OwnerUsesIt, SetToAlways, reason_in
from agent.protocol.records import TaskState
from tests.certain import certain
from tests.driver.nodes import host_of, in_state, members, submit
from tests.hosts.waiting import eventually
from tests.protocol import lies
from tests.security.test_outsiders import guarded, unguard

HELPS = PresenceChanged(True, False, SetToAlways())
OWNER_IS_BACK = PresenceChanged(False, True, OwnerUsesIt())
ALL_DONE = "0.2"
"""How long the program of a task takes, in seconds."""


@asynccontextmanager
async def flock(folder: Path, *, liar_helps: bool = False) -> AsyncIterator[list[Agent]]:
    """Two honest members, and one whose words a test changes."""
    async with members(folder, "bee", "ant", "rat", volunteer="always") as (bee, ant, rat):
        if not liar_helps:
            rat.set_presence(OWNER_IS_BACK)
            await eventually(lambda: not certain(bee.network).peers.views(
                certain(bee.network).links.report(), 0.0)[-1].volunteering)  # fmt: skip
        yield [bee, ant, rat]


def tell_lies(liar: Agent, lie: lies.Lie) -> None:
    """Whatever this agent is about to send is what the lie makes of it."""
    links = certain(liar.network).links
    honest = links.send

    def send(peers: Sequence[str], message: Message) -> None:
        for peer in peers:
            told = lie(peer, message)
            if told is not None:
                honest([peer], told)

    links.send = send  # type: ignore[method-assign]


@guarded
@pytest.mark.parametrize(
    "lie",
    [lies.always_busy, lies.silent],
    ids=["always_busy_member_does_not_stall", "silent_consenter_replaced"],
)
async def test_one_member_does_not_stop_new_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: lies.Lie, guarded: bool
) -> None:
    unguard(
        monkeypatch,
        guarded,
        (Claims, "_pass_by", lambda _: None),
        (Obstructors, "__contains__", lambda *_: False),
    )
    async with flock(tmp_path) as (bee, ant, rat):
        tell_lies(rat, lie)
        await submit(bee, ALL_DONE, workflow="first")
        if not guarded:
            given_up = bee.live.node.claims.core.settings.claim_s
            await eventually(lambda: _asked_for_s(bee, ant) > 0.6 * given_up)
            assert not in_state([bee], "first.0", TaskState.TERMINATED)
            return
        await eventually(lambda: in_state([bee, ant], "first.0", TaskState.TERMINATED))
        claimant = bee if host_of(bee, "first.0") == bee.node_id else ant
        assert claimant.live.node._core.counters["in the way"] == 1


def _asked_for_s(*agents: Agent) -> float:
    """How long the oldest claim has been waiting."""
    claims = [each.live.node.claims for each in agents]
    return max(
        (own.core.now_s - claim.since_s for own in claims for claim in own.open.values()),
        default=0.0,
    )


@guarded
async def test_hello_seen_cannot_raise_incarnation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    def as_told(own: Incarnations) -> int:
        return own._seen_of_me + 1 if own._seen_of_me > own._core.incarnation else 0

    unguard(monkeypatch, guarded, (Incarnations, "to_take", as_told))
    async with flock(tmp_path) as (bee, ant, rat):
        go = tmp_path / "go"
        await submit(bee, f"wait {tmp_path / 'pids'} {go}", workflow="long")
        await eventually(lambda: in_state([bee, ant], "long.0", TaskState.RUNNING))
        runner = bee if host_of(bee, "long.0") == bee.node_id else ant
        before = runner.live.node._core.incarnation
        told = messages.Hello(messages.PROTOCOL_VERSION, "rat", 2**50, lies.NEWER, has_table=True)
        certain(rat.network).links.send([runner.node_id], told)
        core = runner.live.node._core
        await eventually(lambda: core.peers[rat.node_id].incarnation == 2**50)
        assert (core.incarnation == before) == guarded
        go.touch()
        if guarded:
            await eventually(lambda: in_state([bee, ant], "long.0", TaskState.TERMINATED))
            assert len(bee.table.life("long.0").runs) == 1


@guarded
async def test_status_cannot_raise_others_incarnation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    def whatever_is_told(own: Incarnations, status: messages.Status) -> None:
        own._core.incarnations |= status.neighbours

    unguard(monkeypatch, guarded, (Incarnations, "told", whatever_is_told))
    async with flock(tmp_path) as (bee, ant, rat):
        tell_lies(rat, lies.tells_of_later_starts)
        before = bee.live.node._core.peers[rat.node_id].status
        rat.set_presence(HELPS)
        await eventually(lambda: bee.live.node._core.peers[rat.node_id].status != before)
        known = bee.live.node._core.incarnations[ant.node_id]
        assert (known == ant.live.node._core.incarnation) == guarded


@guarded
async def test_inflated_claim_score_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguard(monkeypatch, guarded, (Knowledge, "believed", lambda *_: None))
    async with flock(tmp_path, liar_helps=True) as (bee, ant, rat):
        for each in (bee, ant):
            each.set_presence(OWNER_IS_BACK)
        monkeypatch.setattr(rat.live.node.claims._knowledge, "bid", lambda _: (SCORE_AT_HOME, None))
        await submit(bee, ALL_DONE, workflow="w")
        await eventually(lambda: in_state([bee, ant], "w.0", TaskState.TERMINATED))
        (run,) = bee.table.life("w.0").runs
        assert (run.claim.score == SCORE_AT_HOME) == (not guarded)


# -- what colleagues see -----------------------------------------------------------------------


@guarded
async def test_nobody_is_told_that_somebody_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """On the wire: that a machine helps or does not, and nothing of its owner."""
    unguard(monkeypatch, guarded, (liveness, "for_colleagues", lambda reason: reason))
    said: list[bytes] = []

    def listen(_: str, message: Message) -> Message:
        said.append(messages.encode(message))
        return message

    async with members(tmp_path, "bee", "ant", volunteer="always") as (bee, ant):
        tell_lies(bee, listen)
        bee.set_presence(OWNER_IS_BACK)

        def told() -> Any:
            return ant.live.node._core.peers[bee.node_id].status

        await eventually(lambda: not told().willing)
        assert (reason_in(told().more, told().reason) == HelpsNotNow()) == guarded
        assert not told().owner_present
        (view,) = ant.now().peers
        assert not view.volunteering
        heard = b"".join(said)
        assert (b"OwnerUsesIt" not in heard and b"uses it" not in heard) == guarded
