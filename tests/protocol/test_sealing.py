"""Whatever carries records carries proofs of what its sender wrote, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol import signing
from agent.protocol.messages import (
    AlreadyFinished,
    ClaimAnswers,
    ClaimOffer,
    Enqueue,
    KnownLife,
    Message,
    Records,
    State,
    TakeTask,
    TryDequeue,
)
from agent.protocol.records import (
    CANCEL,
    FLOOR,
    RETRY,
    SIGNED,
    Claim,
    Life,
    PriorityWish,
    Proof,
    Pruning,
    Run,
    TaskLife,
    TaskPriority,
    TaskSpec,
    Terminated,
    Wish,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.sealing import Sealing
from agent.protocol.settings import Settings
from agent.protocol.signing import Kind, Roots, Statement, Trust, proof_in
from agent.protocol.table import Table
from tests.protocol.test_signing import Keys

ME, OTHER = "bee", "dog"
CLAIM = Claim(1, (1, 0), ME)
Said = tuple[str, str, Proof | None, bytes]
"""What, by whom, with which proof, and what that has to prove."""


def run(host: str, attempt: int = 1, at_ms: int = 5_000) -> Run:
    return Run(1, attempt, host, 1, CLAIM, 0, (), 1, Terminated(), (at_ms, 0))


def life(by: str) -> Life:
    wishes = (Wish(RETRY, 2, by), Wish(FLOOR, 1, by), Wish(CANCEL, 1, by))
    return Life(2, 1, 1, (run(ME), run(OTHER, 2)), wishes)


def workflow(by: str) -> Workflow:
    spec = WorkflowSpec("w", "w", (5, 0), by, "ana", (TaskSpec("t", "t", "p"),))
    own = TaskPriority("t", PriorityWish(1, by, 60))
    return Workflow(spec, PriorityWish(1, by, 50), 2, (own,), Wish(RETRY, 2, by))


def pruning(by: str) -> Pruning:
    return Pruning("v", 1, (9, 0), by)


def of_life(task: str, told: Life) -> Iterator[Said]:
    for each in told.runs:
        yield "run", each.host, proof_in(each.more), signing.run_leaf(task, each)
    for wish in told.wishes:
        yield f"wish {wish.kind}", wish.by, wish.proof, signing.wish_leaf(task, wish)


def of_workflow(told: Workflow) -> Iterator[Said]:
    spec, wish = told.spec, told.priority
    yield "workflow", spec.host, proof_in(spec.more), signing.spec_leaf(spec)
    yield "priority", wish.host, wish.proof, signing.priority_leaf("w", wish)
    for each in told.tasks:
        leaf = signing.priority_leaf("w", each.wish, each.task)
        yield "priority of a task", each.wish.host, each.wish.proof, leaf
    if told.retried is not None:
        again = told.retried
        yield "retry", again.by, again.proof, signing.wish_leaf("w", again)


def said(message: Any) -> Iterator[Said]:
    """All statements in a message."""
    for part in (name for name in ("lives", "claims", "known") if hasattr(message, name)):
        for each in getattr(message, part):
            yield from of_life(each.task, each.life)
    one = (message.workflow,) if hasattr(message, "workflow") else ()
    for each in getattr(message, "workflows", one):
        yield from of_workflow(each)
    removed = (message.pruning,) if hasattr(message, "pruning") else ()
    for each in getattr(message, "prunings", removed):
        yield "pruning", each.by, each.proof, signing.pruning_leaf(each)


def messages(by: str) -> list[Message]:
    lives, works, removed = (TaskLife("t", life(by)),), (workflow(by),), (pruning(by),)
    return [
        Enqueue(works, lives),
        State(lives, works, removed),
        Records(works, lives, removed),
        TakeTask(workflow(by), lives),
        AlreadyFinished("t", pruning(by)),
        TryDequeue((ClaimOffer("t", CLAIM, life(by)),)),
        ClaimAnswers(known=(KnownLife("t", CLAIM, life(by)),)),
    ]


def sealing(me: str = ME, trust: Trust | None = None, table: Table | None = None) -> Sealing:
    made = Sealing(me, Table(Settings()) if table is None else table, Keys(me))
    made.trust = Trust() if trust is None else trust
    return made


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("by", [ME, OTHER])
def test_a_node_proves_all_that_it_wrote_and_nothing_of_others(number: int, by: str) -> None:
    message = messages(by)[number]
    told = sealing().sealed(message)
    assert type(told) is type(message)
    roots = Roots(Keys("cat"))
    for what, author, proof, leaf in said(told):
        assert (proof is not None) is (author == ME), what
        assert proof is None or roots.proves(proof, author, leaf), what
    assert roots.checked == (by == ME or number != 4), "one signature for all of them"
    assert sealing().sealed(told) is told, "nothing is signed twice"


def test_what_carries_no_records_and_who_has_no_flock_signs_nothing() -> None:
    state = State((TaskLife("t", life(ME)),))
    assert Sealing(ME, Table(Settings()), Keys(ME, "")).sealed(state) is state
    nothing = ClaimAnswers()
    assert sealing().sealed(nothing) is nothing


def test_the_table_keeps_all_that_was_signed() -> None:
    table = Table(Settings())
    table.join([workflow(ME)], [TaskLife("t", life(ME))], [pruning(ME)])
    before = table.hash
    told = sealing(table=table).sealed(
        State(tuple(table.all_lives()), (workflow(ME),), (pruning(ME),))
    )
    kept = State(
        (TaskLife("t", table.lives["t"]),), (table.workflows["w"],), (table.prunings["v"],)
    )
    assert [*said(kept)] == [*said(told)]
    assert all(proof is not None for _, author, proof, _ in said(kept) if author == ME)
    assert table.hash == before, "a proof is part of nothing that is compared"


@pytest.mark.parametrize(("at_ms", "witnessed"), [(1_000, True), (1_001, False)])
def test_an_administrator_bears_witness_up_to_when_the_flock_began_to_sign(
    at_ms: int, witnessed: bool
) -> None:
    told = State(
        (TaskLife("t", Life(runs=(run(OTHER, at_ms=at_ms),))),),
        (replace(workflow(OTHER), spec=replace(workflow(OTHER).spec, submitted=(at_ms, 0))),),
        (replace(pruning(OTHER), stamp=(at_ms, 0)),),
    )
    for administrators, may in (((ME,), witnessed), ((OTHER,), False)):
        trust = Trust(since_ms=1_000, administrators=administrators)
        proofs = {what: proof for what, _, proof, _ in said(sealing(trust=trust).sealed(told))}
        signers = [
            None if proof is None else proof.signer
            for proof in (proofs["run"], proofs["workflow"], proofs["pruning"])
        ]
        assert signers == [ME if may else None] * 3
        assert proofs["retry"] is None, "a wish with an author stays that author's"


def test_what_was_wished_before_wishes_had_authors_is_made_an_administrators_own() -> None:
    trust = Trust(since_ms=1_000, administrators=(ME,))
    old = Life(generation=3, floor=2, cancel=1)
    bare = replace(workflow(OTHER), retried=None, tasks=())
    told = sealing(trust=trust).sealed(State((TaskLife("t", old),), (bare,)))
    assert isinstance(told, State)
    wishes = {wish.kind: (wish.value, wish.by) for wish in told.lives[0].life.wishes}
    assert wishes == {RETRY: (3, ME), FLOOR: (2, ME), CANCEL: (1, ME)}
    again = told.workflows[0].retried
    assert again is not None
    assert (again.value, again.by, again.proof is not None) == (2, ME, True)
    first = replace(bare, generation=1)
    for unwished in (
        Life(generation=1),
        Life(generation=2, floor=2, wishes=(Wish(FLOOR, 2, OTHER),)),
    ):
        told = sealing(trust=trust).sealed(State((TaskLife("t", unwished),), (first,)))
        assert isinstance(told, State)
        assert told.lives[0].life == unwished
        assert told.workflows[0].retried is None


def test_a_forged_signature_is_looked_at_each_time_and_what_holds_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signing, "ROOTS_MAX", 2)
    keys = Keys(ME)
    leaves = [signing.leaf(Kind.RUN, number) for number in range(3)]
    proofs = [signing.signed_batch(keys, [leaf])[0] for leaf in leaves]
    roots = Roots(keys)
    forged = replace(proofs[0], signature=b"forged")
    assert not any(roots.proves(forged, ME, leaves[0]) for _ in range(2))
    assert roots.checked == 2
    for checked, number in ((3, 0), (4, 1), (4, 0), (5, 2), (5, 1), (6, 0)):
        assert roots.proves(proofs[number], ME, leaves[number])
        assert roots.checked == checked, "of those that hold the last ones are remembered"


def test_all_that_a_run_carries_is_signed_but_the_proof_itself() -> None:
    bare = run(ME)
    one, two = Raw(b"\x01"), Raw(b"\x02")
    carries = replace(bare, more={"a": one, "b": two})
    leaf = signing.run_leaf("t", carries)
    assert leaf != signing.run_leaf("t", bare)
    assert leaf != signing.run_leaf("t", replace(bare, more={"a": one, "b": one}))
    assert leaf == signing.run_leaf("t", replace(bare, more={"b": two, "a": one}))
    (proof,) = signing.signed_batch(Keys(ME), [leaf])
    proven = replace(carries, more=signing.with_proof(carries.more, proof))
    assert signing.run_leaf("t", proven) == leaf
    assert proof_in({SIGNED: one}) is None


def test_a_wish_is_a_part_of_a_life() -> None:
    for kind, told in ((RETRY, Life(3)), (CANCEL, Life(0, cancel=3))):
        part = signing.wished_part("t", kind, 3, ME)
        assert part == TaskLife("t", replace(told, wishes=(Wish(kind, 3, ME),)))


@pytest.mark.parametrize(
    ("signer", "author", "wall_ms", "since_ms", "may"),
    [
        ("ant", OTHER, 1_000, 1_000, True),
        ("ant", OTHER, 1_001, 1_000, False),
        ("ant", OTHER, 1, None, False),
        (ME, OTHER, 1, 1_000, False),
        (OTHER, OTHER, 9_000, 1_000, True),
    ],
)
def test_an_administrator_speaks_for_others_as_to_what_is_older_than_signatures(
    signer: str, author: str, wall_ms: int, since_ms: int | None, may: bool
) -> None:
    trust = Trust(since_ms=since_ms, administrators=("ant",))
    assert trust.may(signer, Statement(Kind.RUN, author, "", wall_ms)) is may


@pytest.mark.parametrize("over", [True, False])
def test_what_ended_long_ago_is_removed_by_anybody(over: bool) -> None:
    for kind in (Kind.PRUNING, Kind.CANCEL):
        said_by_bee = Statement(kind, ME, OTHER, over=over)
        assert Trust().may(ME, said_by_bee) is (over and kind is Kind.PRUNING)
        assert Trust(administrators=(ME,)).may(ME, said_by_bee)
