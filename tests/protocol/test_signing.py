"""Signed records by themselves: batches, what a proof binds, and what a node signs when it sends.

Members that lie over a real link are in ``tests/security/test_records.py``.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.protocol.checking import Checking
from agent.protocol.messages import Records, State, decode, encode
from agent.protocol.people import People, alone
from agent.protocol.quotas import Quotas
from agent.protocol.records import (
    CANCEL,
    RETRY,
    SIGNED,
    Claim,
    Life,
    PriorityWish,
    Pruning,
    Run,
    Running,
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
from agent.protocol.signing import (
    HASH_BYTES,
    Kind,
    NoKeys,
    Roots,
    Statement,
    Trust,
    as_written,
    leaf,
    proof_in,
    run_leaf,
    signed_batch,
)
from agent.protocol.table import Table
from tests.protocol.generation import examples
from tests.sim.keys import key_of, public_key_of

SPEC = WorkflowSpec("w", "w", (5, 0), "ant", "me", (TaskSpec("t", "t", "p"),))
WORKFLOW = Workflow(SPEC, PriorityWish(1, "ant", 50))
SIGNS = Trust(since_ms=0, administrators=("ant",))
SIGNED_LATER = Trust(since_ms=1_000, administrators=("ant",))


class Keys(NoKeys):
    """Of members that are known by name."""

    def __init__(self, me: str, flock: str = "office") -> None:
        self._me, self.flock, self.asked = me, flock, 0

    def sign(self, data: bytes) -> bytes:
        return key_of(self._me).sign(data)

    def is_signed(self, signer: str, data: bytes, signature: bytes) -> bool:
        self.asked += 1
        try:
            public_key_of(signer).verify(signature, data)
        except Exception:  # noqa: BLE001 - of whatever kind it is wrong
            return False
        return True


def run(host: str = "bee", attempt: int = 1, at_ms: int = 5_000) -> Run:
    claim = Claim(1, (1, 0), host)
    return Run(1, attempt, host, 1, claim, 0, (), 1, Running(), (at_ms, 0))


def table_of(*lives: TaskLife) -> Table:
    table = Table(Settings())
    table.join([WORKFLOW], lives)
    return table


def unlimited(table: Table) -> Quotas:
    """Of a table that comes nowhere near a limit."""
    return Quotas(table, lambda *_: None, table.forget_pruning, lambda: 0.0)


def checking_of(table: Table, trust: Trust = SIGNS) -> Checking:
    checking = Checking(*(table, Keys("cat"), lambda: 0, table.forget_pruning), unlimited(table))
    checking.trust = trust
    return checking


def sent(table: Table, me: str, *lives: TaskLife, trust: Trust = SIGNS) -> State:
    """What leaves a node that says this, as bytes carry it."""
    sealing = Sealing(me, table, Keys(me))
    sealing.trust = trust
    told = decode(encode(sealing.sealed(State(lives))))
    assert isinstance(told, State)
    return told


@examples
@given(count=st.integers(1, 70), data=st.data())
def test_each_record_of_a_batch_is_proven_by_one_check(count: int, data: st.DataObject) -> None:
    keys = Keys("ant")
    leaves = [leaf("run", number) for number in range(count)]
    proofs = signed_batch(keys, leaves)
    roots = Roots(keys)
    assert all(
        roots.proves(proof, "ant", found) for proof, found in zip(proofs, leaves, strict=True)
    )
    assert keys.asked == roots.checked == 1
    assert len({proof.signature for proof in proofs}) == 1
    assert max(len(proof.path) for proof in proofs) <= HASH_BYTES * (count - 1).bit_length()
    other = data.draw(st.integers(0, count - 1))
    for number, found in enumerate(leaves):
        assert number == other or not roots.proves(proofs[other], "ant", found)


def test_a_proof_is_of_one_signer_in_one_flock() -> None:
    found = leaf("run", 1)
    (proof,) = signed_batch(Keys("ant"), [found])
    assert Roots(Keys("cat")).proves(proof, "ant", found)
    assert not Roots(Keys("cat")).proves(proof, "bee", found)
    assert not Roots(Keys("cat", "another flock")).proves(proof, "ant", found)
    assert not Roots(Keys("cat")).proves(replace(proof, path=b"odd"), "ant", found)
    assert not Roots(Keys("cat")).proves(None, "ant", found)


def test_an_inner_node_is_no_record() -> None:
    """What is hashed of two neighbours is not to be taken for a statement, nor the other way round."""
    leaves = [leaf("run", number) for number in range(4)]
    proofs, roots = signed_batch(Keys("ant"), leaves), Roots(Keys("ant"))
    shorter = replace(proofs[0], path=proofs[0].path[HASH_BYTES:], place=proofs[0].place >> 1)
    assert not any(roots.proves(shorter, "ant", each) for each in leaves)


CHANGES = (
    {"phase": Terminated()},
    {"generation": 2},
    {"attempt": 2},
    {"incarnation": 2},
    {"revision": 2},
    {"inputs": ("another",)},
    {"claim": Claim(2, (1, 0), "bee")},
    {"stamp": (5_001, 0)},
    {"expected_ms": 1},
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_proof_binds_all_of_a_run(change: dict[str, object]) -> None:
    told = sent(table_of(), "bee", TaskLife("t", Life(runs=(run(),))))
    (proven,) = told.lives[0].life.runs
    assert Roots(Keys("cat")).proves(proof_in(proven.more), "bee", run_leaf("t", proven))
    changed = replace(proven, **change)
    assert not Roots(Keys("cat")).proves(proof_in(proven.more), "bee", run_leaf("t", changed))
    assert not Roots(Keys("cat")).proves(proof_in(proven.more), "bee", run_leaf("u", proven))


def test_a_node_signs_its_own_once_and_keeps_it() -> None:
    own, others = run("bee"), run("dog", attempt=2)
    part = TaskLife("t", Life(0, cancel=1, runs=(own, others), wishes=(Wish(CANCEL, 1, "bee"),)))
    table = table_of(part)
    first = sent(table, "bee", TaskLife("t", table.lives["t"])).lives[0].life
    assert [SIGNED in each.more for each in first.runs] == [True, False]
    assert first.wishes[0].proof is not None
    assert table.lives["t"] == first, "it is not signed anew"
    assert sent(table, "bee", TaskLife("t", table.lives["t"])).lives[0].life == first


def test_what_is_written_anew_has_no_old_proof() -> None:
    table = table_of(TaskLife("t", Life(runs=(run(),))))
    sent(table, "bee", TaskLife("t", table.lives["t"]))
    (signed,) = table.lives["t"].runs
    written = as_written(TaskLife("t", Life(runs=(replace(signed, revision=2),))))
    assert SIGNED not in written.life.runs[0].more


def test_what_is_known_is_not_checked_again() -> None:
    table = table_of()
    told = sent(table_of(), "bee", TaskLife("t", Life(runs=(run(),))))
    checking = checking_of(table)
    for checked, new in ((1, 1), (1, 0), (1, 0)):
        _, lives, _ = checking.counting((), told.lives, ())
        assert len(lives) == new
        assert checking.roots.checked == checked
        table.join(lives=lives)
    assert not checking.refused


def test_runs_count_although_a_cancel_beside_them_does_not() -> None:
    part = TaskLife("t", Life(0, cancel=9, runs=(run(),)))
    told = sent(table_of(), "bee", part)
    _, (kept,), _ = checking_of(table_of()).counting((), told.lives, ())
    assert len(kept.life.runs) == 1
    assert kept.life.cancel == 0


def test_nothing_is_checked_before_the_flock_signs() -> None:
    part = TaskLife("t", Life(0, cancel=9, runs=(run(),)))
    checking = checking_of(table_of(), Trust())
    assert checking.counting((), (part,), (Pruning("w", 1, (1, 0)),)).lives == [part]


def test_an_administrator_bears_witness_to_what_is_older() -> None:
    """And to nothing that is younger; nobody else does."""
    old, young = run("gone", at_ms=900), run("gone", attempt=2, at_ms=1_100)
    part = TaskLife("t", Life(2, cancel=1, runs=(old, young)))
    for witness, counts in (("ant", 1), ("bee", 0)):
        told = sent(table_of(part), witness, part, trust=SIGNED_LATER)
        _, lives, _ = checking_of(table_of(), SIGNED_LATER).counting((), told.lives, ())
        assert [len(each.life.runs) for each in lives] == [1] * counts
        assert [each.life.cancel for each in lives] == [1] * counts


@pytest.mark.parametrize(
    ("administrator", "at_ms", "counts"),
    [("ant", 5, True), ("ant", 2_000, False), ("bee", 5, False)],
)
def test_an_id_of_before_binds_nobody_where_an_administrator_vouches(
    administrator: str, at_ms: int, counts: bool
) -> None:
    """Of its own work too: there may be no other administrator who could."""

    class Binding(Keys):
        def binds(self, spec: WorkflowSpec) -> bool:
            del spec
            return False

    trust = Trust(since_ms=1_000, administrators=(administrator,))
    told = replace(WORKFLOW, spec=replace(SPEC, submitted=(at_ms, 0)))
    sealing = Sealing("ant", table_of(), Keys("ant"))
    sealing.trust = trust
    state = decode(encode(sealing.sealed(State((), (told,)))))
    assert isinstance(state, State)
    table = Table(Settings())
    checking = Checking(table, Binding("cat"), lambda: 0, lambda _: None, unlimited(table))
    checking.trust = trust
    assert bool(checking.counting(state.workflows, (), ()).workflows) is counts


def test_a_witness_is_no_author() -> None:
    may = SIGNED_LATER.may
    assert may("ant", Statement(Kind.RUN, "gone", wall_ms=900))
    assert not may("ant", Statement(Kind.RUN, "gone", wall_ms=1_100))
    assert not may("ant", Statement(Kind.CANCEL, "gone", "gone"))
    assert not may("bee", Statement(Kind.RUN, "gone", wall_ms=900))


@pytest.mark.parametrize("kind", [Kind.PRIORITY, Kind.RETRY, Kind.CANCEL, Kind.PRUNING])
def test_who_may_wish(kind: Kind) -> None:
    """Who submitted it, and administrators; what is long over anybody may remove."""
    assert SIGNS.may("bee", Statement(kind, "bee", "bee"))
    assert SIGNS.may("ant", Statement(kind, "ant", "bee"))
    assert not SIGNS.may("dog", Statement(kind, "dog", "bee"))
    assert not SIGNS.may("dog", Statement(kind, "bee", "bee"))
    assert SIGNS.may("dog", Statement(kind, "dog", "bee", over=True)) is (kind is Kind.PRUNING)


EVER = dict.fromkeys(("ant", "fox", "hen"), "ant")
PAIRED = Trust(0, ("elk",), People(EVER, EVER))
"""The work is ant's, whose person has fox too, and has hen until it is lost."""
LOST = Trust(0, ("elk",), People({**EVER, "hen": alone("hen")}, EVER))
TELLERS = pytest.mark.parametrize(
    ("teller", "may"),
    [("fox", True), ("ant", True), ("elk", True), ("dog", False), ("hen", False)],
)


def test_what_a_lost_machine_wished_before_is_told_on_by_who_may_wish_the_same() -> None:
    paired, lost = PAIRED, LOST
    part = TaskLife("t", Life(2, cancel=1, wishes=(Wish(RETRY, 2, "hen"), Wish(CANCEL, 1, "hen"))))
    told = sent(table_of(part), "hen", part, trust=paired)

    def counts(lives: tuple[TaskLife, ...], trust: Trust) -> bool:
        taken = checking_of(table_of(), trust).counting((), lives, ()).lives
        found = {(each.life.generation, each.life.cancel) for each in taken}
        return found == {(2, 1)}

    assert counts(told.lives, paired)
    assert not counts(told.lives, lost), "it says so no more"
    for teller, may in (
        ("fox", True),
        ("ant", True),
        ("elk", True),
        ("dog", False),
        ("hen", False),
    ):
        table = table_of(*told.lives)
        again = sent(table, teller, *table.lives_of("w"), trust=lost)
        assert counts(again.lives, lost) is may, teller
        if may:
            assert sent(table, teller, *table.lives_of("w"), trust=lost) == again, "signed once"


@TELLERS
def test_priorities_that_a_lost_machine_wished_before_are_told_on(teller: str, may: bool) -> None:
    """Those of the work and of a task, and that it be tried again: newcomers end with the same as who
    was there."""
    wish = PriorityWish(2, "hen", 90)
    wished = Workflow(SPEC, wish, 2, (TaskPriority("t", wish),), Wish(RETRY, 2, "hen"))
    by_hen = proven("hen", wished, PAIRED)
    newcomer = table_of_newcomer(proven(teller, proven("ant", by_hen, PAIRED), LOST))
    told = newcomer.workflows["w"]
    found = [told.priority, *(each.wish for each in told.tasks)]
    assert [(each.revision, each.value) for each in found] == ([(2, 90)] * 2 if may else [(0, 50)])
    assert told.generation == (2 if may else 1)


def proven(teller: str, workflow: Workflow, trust: Trust) -> Workflow:
    """As a node tells it that has it."""
    table = Table(Settings())
    table.join([workflow])
    sealing = Sealing(teller, table, Keys(teller))
    sealing.trust = trust
    told = sealing.sealed(Records((workflow,)))
    assert isinstance(told, Records)
    assert sealing.sealed(Records((table.workflows["w"],))) == told, "signed once"
    return told.workflows[0]


def table_of_newcomer(workflow: Workflow) -> Table:
    table = Table(Settings())
    table.join(*checking_of(table, LOST).counting((workflow,), (), ()))
    return table


@TELLERS
def test_what_a_lost_machine_removed_before_stays_away(teller: str, may: bool) -> None:
    """Its person's machines put their proof on it as they hear that it is lost, while they can tell; an
    administrator's could not tell later whose work it was."""
    may = may and teller != "elk"
    by_hen = sealed_pruning("hen", Pruning("w", 1, (1, 0), "hen"), PAIRED)
    table = Table(Settings())
    table.join((), (), [by_hen])
    sealing = Sealing(teller, table, Keys(teller))
    assert sealing.follow(PAIRED) == []
    assert sealing.follow(LOST) == (["w"] if may else [])
    assert sealing.follow(LOST) == [], "once"
    forgotten: list[str] = []
    checking = Checking(table, Keys(teller), lambda: 0, forgotten.append, unlimited(table))
    checking.trust = LOST
    of_ant = proven("ant", WORKFLOW, LOST)
    checking.counting((of_ant,), (), ())
    assert forgotten == ([] if may else ["w"])
    there = table_of_newcomer(of_ant)
    there.join(*checking_of(there, LOST).counting((), (), table.prunings.values()))
    assert ("w" in there.workflows) is not may


def test_what_a_lost_machine_removes_later_stays_its_own_word() -> None:
    late = sealed_pruning("hen", Pruning("w", 1, (1, 0), "hen"), LOST)
    table = Table(Settings())
    table.join((), (), [late])
    for first in (Trust(), LOST):
        sealing = Sealing("fox", table, Keys("fox"))
        sealing.trust = first
        assert sealing.follow(LOST) == []


def test_an_administrator_lends_its_word_to_no_lost_machine_that_was_none() -> None:
    """Which may have removed, where the work was not known, what is not its person's."""
    table = Table(Settings())
    table.join((), (), [sealed_pruning("hen", Pruning("w", 1, (1, 0), "hen"), PAIRED)])
    sealing = Sealing("fox", table, Keys("fox"))
    sealing.follow(PAIRED)
    assert sealing.follow(replace_administrators(LOST, "fox")) == []
    sealing.follow(PAIRED)
    assert sealing.follow(replace_administrators(LOST, "fox", "hen")) == ["w"]


def sealed_pruning(by: str, pruning: Pruning, trust: Trust) -> Pruning:
    sealing = Sealing(by, Table(Settings()), Keys(by))
    sealing.trust = trust
    told = sealing.sealed(State(prunings=(pruning,)))
    assert isinstance(told, State)
    return told.prunings[0]


def replace_administrators(trust: Trust, *administrators: str) -> Trust:
    return Trust(trust.since_ms, administrators, trust.people)


def test_a_false_pruning_ahead_of_its_workflow_hides_nothing() -> None:
    """A newcomer cannot tell who may remove what it has never seen, so it looks again."""
    table = Table(Settings())
    forgotten: list[str] = []
    checking = Checking(table, Keys("cat"), lambda: 0, forgotten.append, unlimited(table))
    checking.trust = SIGNS
    sealing = Sealing("dog", Table(Settings()), Keys("dog"))
    told = sealing.sealed(State(prunings=(Pruning("w", 9, (1, 0), "dog"),)))
    assert isinstance(told, State)
    table.join(*checking.counting((), (), told.prunings))
    assert "w" in table.prunings
    of_ant = Sealing("ant", Table(Settings()), Keys("ant")).sealed(Records((WORKFLOW,)))
    assert isinstance(of_ant, Records)
    checking.counting(of_ant.workflows, (), ())
    assert forgotten == ["w"]
