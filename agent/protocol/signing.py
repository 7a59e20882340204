"""Records are signed by who writes them, and count only if their signer may say that.

A member is not a friend: nobody is to forge another's results, to cancel another's work, or to
erase it. So what changes the table is a **statement** with an author: a workflow and a run are of
their ``host``, a priority wish of its ``host``, a retry, a floor and a cancel of whoever is named in
their ``Wish``, a pruning of whom it is ``by``. A gate that is done is a run of the node that says so.
Hints (progress, beats, claims) stay unsigned: they decide nothing that lasts.

**Signed in batches.** One signature takes 0.02 ms, one check 0.04 ms, and there are hundreds of
records in a second. So a node signs when it *sends*: all its own unsigned statements in one message
are the leaves of a Merkle tree, its root is signed once, and each record carries the signature with
the way from its leaf to the root (``Proof``). A root that was checked is remembered, so the other
records of a batch cost a few hashes. In a tree hashes are cut to 20 bytes: whoever wants to put another
record into a batch has to hit one that is there already. Leaves and inner nodes are hashed with
different first bytes, so none is taken for the other; what is signed names the flock.

**Carried with the record**, by runs and specs under ``more``, where versions that know nothing of it
keep it too, else in a last field. A proof is part of nothing that is compared (``digest``); of two
copies of one record the join keeps that with a proof, or with the greater one. What a node wrote is
in its own journal without a proof when it was not told yet; its journal is believed.

**Checked before the join** (``checking``; signed in ``sealing``), against keys that come in as a value: the
node's key is in its certificate. What the table has already is not checked again, so a replay costs
nothing and changes nothing. What is refused is counted by author, and costs the sender nothing: it
may only have passed it on.

**Since when** (``Trust``): unsigned records count until the flock has administrators, which a new one
has from its founding. What was written before is counter-signed by the administrators' nodes, as they pass it on, if
its own stamp says so. Without that word nothing is checked, so versions can mix.

**Who may say what** is one question, ``Trust.may``. Today: everybody writes runs and raises floors in
the own name; wishes, retries, cancels and prunings are for the node that submitted the work, for the
other machines of its person (``people``) and for administrators, prunings of what has ended long ago for anybody, as
the master writes them. What a machine wished before it was taken away from its person would count for nobody who
hears it later: so who may wish the same, and has it, puts a proof of its own in the place of that one's; on what it
removed, of which nobody can tell later whose it was, its person's machines do as they hear that it is lost. Absent:
who else a submitter lets do something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol.people import NO_PEOPLE, People
from agent.protocol.phrases import UNREADABLE
from agent.protocol.records import (
    CANCEL,
    SIGNED,
    Life,
    More,
    NodeId,
    PriorityWish,
    Proof,
    Pruning,
    Run,
    TaskId,
    TaskLife,
    Wish,
    WorkflowId,
    WorkflowSpec,
)

ROOT_SIGNED_AS = b"wingbeat records 1\0"
HASH_BYTES = 20
"""Of an inner node of a tree."""
BATCH_MAX = 2**19
ROOTS_MAX = 8_192
"""Checked roots that are remembered; each is some 200 bytes."""
_encode = msgspec.msgpack.Encoder().encode
_proof = msgspec.msgpack.Decoder(Proof).decode


class Keys(Protocol):
    """The keys of the flock's members, as a node has them."""

    @property
    def flock(self) -> str:
        """The id of the flock; empty without one, where nothing is signed."""

    def sign(self, data: bytes) -> bytes:
        """Return this node's signature of these bytes."""

    def is_signed(self, signer: NodeId, data: bytes, signature: bytes) -> bool:
        """Tell whether this is the signer's signature of these bytes; False for a signer whose key
        is not known."""

    def binds(self, spec: WorkflowSpec) -> bool:
        """Tell whether the ids of a workflow and of its tasks can only be those of this content,
        submitted on this node."""


class NoKeys:
    """Of a node that signs nothing and checks nothing."""

    flock = ""

    def sign(self, data: bytes) -> bytes:
        """Return nothing: there is no key."""
        del data
        return b""

    def is_signed(self, signer: NodeId, data: bytes, signature: bytes) -> bool:
        """Return False: no key is known."""
        del signer, data, signature
        return False

    def binds(self, spec: WorkflowSpec) -> bool:
        """Return True: nobody asks."""
        del spec
        return True


class Kind(StrEnum):
    """What a statement is."""

    WORKFLOW = "workflow"
    RUN = "run"
    PRIORITY = "priority"
    RETRY = "retry"
    FLOOR = "floor"
    CANCEL = "cancel"
    PRUNING = "pruning"


WISHES = (Kind.RETRY, Kind.FLOOR, Kind.CANCEL)
"""By the kind of a ``Wish``."""
WISHED = (Kind.PRIORITY, Kind.RETRY, Kind.CANCEL, Kind.PRUNING)
"""What is for those who have a say in the work."""


class Statement(NamedTuple):
    """What somebody says, as far as it decides whether they may: in whose name, of the work of which
    node (empty where that is not known), and when, by their own clock. ``over``: of work that has
    ended long ago."""

    kind: Kind
    author: NodeId
    home: NodeId = ""
    wall_ms: int = 2**62
    over: bool = False


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose word counts for what in this flock. ``since_ms``: from when unsigned records are refused;
    None where they count. ``administrators`` are also those that were it once, as what they did has to
    count for newcomers too; not what was taken away from its person."""

    since_ms: int | None = None
    administrators: tuple[NodeId, ...] = ()
    people: People = NO_PEOPLE

    def may(self, signer: NodeId, statement: Statement) -> bool:
        """Tell whether the signer may make this statement: in its own name about its submissions,
        runs and floors, as a wish about its person's work, an administrator not taken away about
        anybody's, anybody to prune what is ``over``; in another's name by ``vouches``."""
        if signer != statement.author:
            return self.vouches(signer, statement)
        if statement.kind in (Kind.WORKFLOW, Kind.RUN, Kind.FLOOR):
            return True
        own = self.people.owns(signer, statement.home) or (
            signer in self.administrators and not self.people.is_lost(signer)
        )
        return own or (statement.kind is Kind.PRUNING and statement.over)

    def vouches(self, signer: NodeId, statement: Statement) -> bool:
        """Tell whether the signer may make another's statement: as an administrator, where it is
        older than the flock's signatures (its own too then), or where it repeats a wish, that it
        could have itself, of a machine that was taken away from its person since."""
        witness = signer in self.administrators and self.since_ms is not None
        if witness and statement.wall_ms <= (self.since_ms or 0):
            return True
        if signer == statement.author or statement.author not in self.people.ever:
            return False
        return statement.kind in WISHED and self.may(signer, statement._replace(author=signer))


NO_TRUST = Trust()
"""Of a flock that does not sign."""


# ---- Statements in their canonical form ----


def leaf(kind: str, *content: object) -> bytes:
    """Return the hash of a statement in its canonical form."""
    return sha256(b"\0" + _encode((kind, *content))).digest()


def run_leaf(task: TaskId, run: Run) -> bytes:
    """Return the hash of one revision of a run."""
    return leaf(Kind.RUN, task, replace(run, more=_unsigned(run.more)))


def spec_leaf(spec: WorkflowSpec) -> bytes:
    """Return the hash of a workflow as it was submitted."""
    return leaf(Kind.WORKFLOW, replace(spec, more=_unsigned(spec.more)))


def priority_leaf(workflow: WorkflowId, wish: PriorityWish, task: TaskId = "") -> bytes:
    """Return the hash of a wish for a priority, of one task alone where that is named."""
    return leaf(Kind.PRIORITY, workflow, task, wish.revision, wish.host, wish.value)


def wish_leaf(subject: TaskId | WorkflowId, wish: Wish) -> bytes:
    """Return the hash of a retry, a floor or a cancel of a task, or of a workflow's retry."""
    return leaf("wish", wish.kind, subject, wish.value, wish.by)


def pruning_leaf(pruning: Pruning) -> bytes:
    """Return the hash of a pruning."""
    return leaf(Kind.PRUNING, pruning.workflow, pruning.generation, pruning.stamp, pruning.by)


def _unsigned(more: More) -> More:
    if len(more) == (SIGNED in more):
        return {}
    return {name: more[name] for name in sorted(more) if name != SIGNED}


def proof_in(more: More) -> Proof | None:
    """Return the proof that a record carries under ``more``; None without one that can be read."""
    raw = more.get(SIGNED)
    if raw is None:
        return None
    try:
        return _proof(raw)
    except UNREADABLE:
        return None


def with_proof(more: More, proof: Proof) -> More:
    """Return what a record carries, with this proof."""
    return {**more, SIGNED: Raw(_encode(proof))}


def wished_part(task: TaskId, kind: int, value: int, by: NodeId) -> TaskLife:
    """Return the part of a life by which somebody wishes a task tried again, or cancelled."""
    wish = Wish(kind, value, by)
    if kind == CANCEL:
        return TaskLife(task, Life(0, cancel=value, wishes=(wish,)))
    return TaskLife(task, Life(value, wishes=(wish,)))


def as_written(part: TaskLife) -> TaskLife:
    """Return a part of a life as its author signs it, without the proofs that its runs carry from
    before; unchanged where they carry none."""
    if not any(SIGNED in run.more for run in part.life.runs):
        return part
    runs = tuple(replace(run, more=_unsigned(run.more)) for run in part.life.runs)
    return replace(part, life=replace(part.life, runs=runs))


# ---- Batches ----


def signed_batch(keys: Keys, leaves: Sequence[bytes], signer: NodeId = "") -> list[Proof]:
    """Sign these statements at once, of which there must be one or more, and return the proof of
    each; of those beyond ``BATCH_MAX`` none is signed. ``signer`` is named where it is not the
    author of them."""
    levels = [list(leaves[:BATCH_MAX])]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = range(0, len(below) - 1, 2)
        above = [_inner(below[place], below[place + 1]) for place in pairs]
        levels.append([*above, *below[len(above) * 2 :]])
    signature = keys.sign(_root_words(keys.flock, levels[-1][0]))
    return [
        Proof(signature, *_way(levels, place), signer=signer) for place in range(len(levels[0]))
    ]


def _way(levels: list[list[bytes]], place: int) -> tuple[int, bytes]:
    """On which sides the neighbours lie, the lowest in the lowest bit, and what they are. Whoever has
    no neighbour on a level is there on the next one as it is."""
    sides, path, depth = 0, [], 0
    for level in levels[:-1]:
        neighbour = place ^ 1
        if neighbour < len(level):
            sides |= (place & 1) << depth
            path.append(level[neighbour][:HASH_BYTES])
            depth += 1
        place //= 2
    return sides, b"".join(path)


def _inner(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left[:HASH_BYTES] + right[:HASH_BYTES]).digest()


def _root_of(found: bytes, proof: Proof) -> bytes:
    sides = proof.place
    for start in range(0, len(proof.path), HASH_BYTES):
        neighbour = proof.path[start : start + HASH_BYTES]
        found = _inner(neighbour, found) if sides & 1 else _inner(found, neighbour)
        sides >>= 1
    return found


def _root_words(flock: str, root: bytes) -> bytes:
    return ROOT_SIGNED_AS + flock.encode() + b"\0" + root


class Roots:
    """Checks proofs, and remembers the roots that it has found signed."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._known: dict[tuple[str, NodeId, bytes, bytes], None] = {}
        self.checked = 0
        """How many signatures were checked, and not found among those known."""

    def proves(self, proof: Proof | None, author: NodeId, found: bytes) -> bool:
        """Tell whether this statement, by its hash, is signed by its author, or by whom its proof
        names instead; not whether they may say it."""
        if proof is None or len(proof.path) % HASH_BYTES:
            return False
        signer, root = proof.signer or author, _root_of(found, proof)
        name = (self._keys.flock, signer, root, proof.signature)
        if name in self._known:
            return True
        self.checked += 1
        words = _root_words(self._keys.flock, root)
        if not self._keys.is_signed(signer, words, proof.signature):
            return False
        self._known[name] = None
        if len(self._known) > ROOTS_MAX:
            del self._known[next(iter(self._known))]
        return True
