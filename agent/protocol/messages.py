"""What nodes say to each other; each message says what it means and what a receiver does.

A link has told who speaks before the first message arrives, so senders are not repeated inside.
News (``Enqueue``, ``State``, ``Records``) carries parts of records, and records are joins:
receiving it late, twice or out of order changes nothing that it should not. ``cause`` names the
event that set the sender moving, for the story of a task; it decides nothing.

On the wire a message is an array that begins with its tag. Fields are only ever appended;
surplus ones are ignored, a message with an unknown tag is counted.

The bytes are msgpack, decoded against the types, so that nothing malformed gets in. Any bytes decode to a message, to ``UnknownMessage`` (a tag of a later version: counted and
ignored), or raise ``RemoteProtocolError``. Nothing else, whatever a peer sends.
"""

from __future__ import annotations

from typing import Annotated, get_args

import msgspec
from msgspec import Meta, Struct

from agent.protocol.capabilities import Capabilities as Capabilities  # noqa: PLC0414
from agent.protocol.capabilities import NeededBy as NeededBy  # noqa: PLC0414
from agent.protocol.capabilities import ProgramVersion as ProgramVersion  # noqa: PLC0414
from agent.protocol.capabilities import Withheld as Withheld  # noqa: PLC0414
from agent.protocol.phrases import UNREADABLE, RemoteProtocolError
from agent.protocol.policy.view import Evidence
from agent.protocol.records import (
    Claim,
    Count,
    DatasetId,
    Generation,
    Incarnation,
    Life,
    Milliseconds,
    More,
    NodeId,
    Pruning,
    ShortText,
    Stamp,
    TaskId,
    TaskLife,
    Workflow,
    WorkflowId,
)

PROTOCOL_VERSION = 1
BUCKETS = 256

Hash = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Cause = Annotated[str, Meta(max_length=256)]
MESSAGE_BYTES_MAX = 32 * 1024 * 1024
TAG_LENGTH_MAX = 64


class Hello(Struct, frozen=True, array_like=True, tag="HELLO"):
    """First word on a new link: who I am now, and the newest of you that I have seen.

    The receiver counts the sender as linked, raises its own incarnation above ``seen`` when it
    is not greater already, and answers with its status, neighbours, holdings and digest.
    ``has_table`` tells whether the sender may hand a table to newcomers.
    """

    version: Count
    name: ShortText
    incarnation: Incarnation
    seen: Incarnation
    has_table: bool
    more: More = {}


class Heartbeat(Struct, frozen=True, array_like=True, tag="HB"):
    """I am alive, and your word number ``heard`` was the last that reached me.

    The receiver notes both directions of the link, compares the hash of the table with its own,
    asks for the sender's status when it has an older one, and learns the master: the one with
    the newest ``elected`` stands, as NEW_MASTER repeated. The next heartbeat comes in ``next_ms``
    (0: an earlier version, which beats at every tick). How busy the machine is changes all the
    time and only people want to know it, so it travels along (-1: an earlier version, which
    tells it with its status).
    """

    number: Count
    heard: Count
    wall_ms: Milliseconds
    table_hash: Hash
    status_revision: Count
    master: Annotated[str, Meta(max_length=64)]
    elected: Stamp
    next_ms: Milliseconds = 0
    load_percent: Annotated[int, Meta(ge=-1, le=100)] = -1


class Status(Struct, frozen=True, array_like=True, tag="STATUS"):
    """How a node is: presence, slots, load, capabilities, version, and its neighbours.

    Sent when any of it but the load changes, whole. The receiver keeps the newest revision; it decides who
    is idle (so who goes for which task) and, by the neighbours, who is down. ``reached`` are
    hosts without a link here that a neighbour reports as linked; it is told with the next beat.
    ``owner_present`` and why it does not help are nobody's business but its owner's: False, and
    ``HelpsNotNow``.
    ``own_only``: willing, but only for work that was submitted there. ``paused``: not even what
    was submitted there and somebody waits for begins. ``people``: willing, but besides that only
    for work that these submitted; none is everybody's. ``lasts``: how likely the machine is still
    free in 10, 30 and 120 minutes, in thousandths; empty where it does not know or does not say.
    ``bans``: not for what these people submitted, or was submitted on these machines, and not these
    programs.
    """

    revision: Count
    incarnation: Incarnation
    name: ShortText
    version: ShortText
    slots: Count
    willing: bool
    owner_present: bool
    reason: ShortText
    load_percent: Annotated[int, Meta(ge=0, le=100)]
    reputation: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    capabilities: Capabilities
    neighbours: dict[NodeId, Incarnation]
    reached: dict[NodeId, Incarnation] = {}
    policy: ShortText = ""
    more: More = {}
    own_only: bool = False
    paused: bool = False
    people: tuple[ShortText, ...] = ()
    lasts: tuple[Annotated[int, Meta(ge=0, le=1000)], ...] = ()
    bans: tuple[ShortText, ...] = ()

    @property
    def helps(self) -> bool:
        """Whether work of others may begin there."""
        return self.willing and not self.own_only


class AskStatus(Struct, frozen=True, array_like=True, tag="ASK_STATUS"):
    """Your heartbeat names a status that I do not have. The receiver sends it again."""


class Goodbye(Struct, frozen=True, array_like=True, tag="GOODBYE"):
    """I am stopping and have handed back what I ran. The receiver counts the link as reset."""

    reason: ShortText = ""


class WokenForWork(Struct, frozen=True, array_like=True, tag="WOKEN"):
    """You are awake because I called you: work waited that only you could take. The receiver may go to
    sleep again when that is done, if nobody has touched it meanwhile."""


class Enqueue(Struct, frozen=True, array_like=True, tag="ENQUEUE"):
    """New work. The receiver joins it, keeps it on disk and, if asked, confirms with STORED.

    ``lives`` is what happened to its tasks so far: no workflow is told without it.
    """

    workflows: tuple[Workflow, ...]
    lives: tuple[TaskLife, ...] = ()
    receipt: bool = False
    cause: Cause = ""


class Stored(Struct, frozen=True, array_like=True, tag="STORED"):
    """These workflows are on my disk. The receiver may now tell its client so."""

    workflows: tuple[WorkflowId, ...]


class ClaimOffer(Struct, frozen=True, array_like=True, omit_defaults=True):
    """A claim with the task's life as the claimant knows it, and what its score stands on where the
    claimant is not like any other."""

    task: TaskId
    claim: Claim
    life: Life
    stands_on: Evidence | None = None


class TryDequeue(Struct, frozen=True, array_like=True, tag="TRY_DEQUEUE"):
    """I want to run these tasks. The receiver joins the lives and answers at once, each.

    ``seated`` are those that need a seat of the flock: who does not know them yet answers when it
    does."""

    claims: tuple[ClaimOffer, ...]
    cause: Cause = ""
    seated: tuple[TaskId, ...] = ()


class ClaimName(Struct, frozen=True, array_like=True):
    """One claim on one task."""

    task: TaskId
    claim: Claim


class BetterClaim(Struct, frozen=True, array_like=True):
    """``claim`` stands in the way of the claim ``against``, for it is better."""

    task: TaskId
    against: Claim
    claim: Claim


class KnownLife(Struct, frozen=True, array_like=True):
    """The task cannot be claimed so, as its life tells."""

    task: TaskId
    against: Claim
    life: Life


class DoubtedClaim(Struct, frozen=True, array_like=True):
    """The claim says more than twice what is known here, by which it had this score at most."""

    task: TaskId
    against: Claim
    score: Annotated[int, Meta(ge=0, le=1_000_000)]


class ClaimAnswers(Struct, frozen=True, array_like=True, tag="CLAIM_ANSWERS"):
    """Consent, or one of four objections, to claims of the receiver.

    ``consents``: promised to you alone, until you release it or your record arrives.
    ``busy``: promised to a worse claim, which ``held`` names; you wait, and consent follows when that
    is released. Without one that the receiver can see, it waits for a while only.
    ``better``: a better claim is under way; you release yours.
    ``known``: the life shows why not; you join it and release your claim.
    ``doubted``: it stands on what is not so; you release it, and may claim with a lower score.
    ``full``: all seats that it needs are taken, by runs or by better claims; you release it.
    """

    consents: tuple[ClaimName, ...] = ()
    busy: tuple[ClaimName, ...] = ()
    better: tuple[BetterClaim, ...] = ()
    known: tuple[KnownLife, ...] = ()
    doubted: tuple[DoubtedClaim, ...] = ()
    full: tuple[ClaimName, ...] = ()
    held: tuple[BetterClaim, ...] = ()


class Release(Struct, frozen=True, array_like=True, tag="RELEASE"):
    """I gave these claims up. The receiver ends its promise to exactly these claims."""

    claims: tuple[ClaimName, ...]


class State(Struct, frozen=True, array_like=True, tag="STATE"):
    """Runs moved, or people wished: parts of lives, and workflows with their wishes.

    The phases of a run: Scheduled, Running, Suspended, Terminated with outputs, Failed,
    Evicted, Yielded, Lost (``records``). The receiver joins them, keeps what was new to it, and
    passes that on to neighbours to which the sender has no link.
    """

    lives: tuple[TaskLife, ...] = ()
    workflows: tuple[Workflow, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    cause: Cause = ""


class ProgressItem(Struct, frozen=True, array_like=True):
    """How far the run of a task is, and how long it expects still to need."""

    task: TaskId
    attempt: Generation
    permille: Annotated[int, Meta(ge=0, le=1000)]
    left_ms: Milliseconds


class Progress(Struct, frozen=True, array_like=True, tag="PROGRESS"):
    """Heartbeat of running tasks. A hint: shown, never kept. Unknown tasks are asked for."""

    items: tuple[ProgressItem, ...]


class GetTask(Struct, frozen=True, array_like=True, tag="GET_TASK"):
    """The master is asked for the workflow of a task. It answers with TAKE_TASK, or not."""

    task: TaskId


class DoYouKnow(Struct, frozen=True, array_like=True, tag="DO_YOU_KNOW"):
    """Any peer is asked the same. It answers after a delay of its own, unless told KNOWN."""

    task: TaskId


class Known(Struct, frozen=True, array_like=True, tag="KNOWN"):
    """Somebody has answered my question. The receiver drops the answer it had waiting."""

    task: TaskId


class TakeTask(Struct, frozen=True, array_like=True, tag="TAKE_TASK"):
    """Answer to an unknown task: its workflow with all lives. The receiver joins them."""

    workflow: Workflow
    lives: tuple[TaskLife, ...]


class AlreadyFinished(Struct, frozen=True, array_like=True, tag="ALREADY_FINISHED"):
    """Answer to an unknown task: its workflow is finished and pruned. Forget the task."""

    task: TaskId
    pruning: Pruning


class WhoIsMaster(Struct, frozen=True, array_like=True, tag="WHO_IS_MASTER"):
    """A newcomer asks; everybody who knows answers with NEW_MASTER."""


class StartNewMasterElection(Struct, frozen=True, array_like=True, tag="START_ELECTION"):
    """There is no master. Everybody answers with a candidacy to everybody, once."""


class TryToBeMaster(Struct, frozen=True, array_like=True, tag="TRY_TO_BE_MASTER"):
    """A candidacy: higher reputation, then larger table, older stamp, lower name, lower id."""

    reputation: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    tasks: Count
    stamp: Stamp
    name: ShortText


class NewMaster(Struct, frozen=True, array_like=True, tag="NEW_MASTER"):
    """``master`` was elected then; of two masters the one with the newer election stands."""

    master: NodeId
    elected: Stamp


class TasksTransfer(Struct, frozen=True, array_like=True, tag="TASKS_TRANSFER"):
    """A newcomer asks for the whole table. The receiver sends it as RECORDS, in pieces."""


class Records(Struct, frozen=True, array_like=True, tag="RECORDS"):
    """Records that were asked for. ``last`` ends the transfer of a whole table."""

    workflows: tuple[Workflow, ...] = ()
    lives: tuple[TaskLife, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    last: bool = False


class Digest(Struct, frozen=True, array_like=True, tag="DIGEST"):
    """One hash per bucket of my table. The receiver lists its records where they differ."""

    buckets: Annotated[tuple[Hash, ...], Meta(min_length=BUCKETS, max_length=BUCKETS)]


class RecordVersion(Struct, frozen=True, array_like=True):
    """A record by its key (its kind's letter, then its id) and a hash of its revisions."""

    key: Annotated[str, Meta(min_length=2, max_length=140)]
    version: Hash


class BucketList(Struct, frozen=True, array_like=True, tag="BUCKET_LIST"):
    """What I hold in these buckets. The receiver asks for what differs, each from one peer."""

    buckets: tuple[Annotated[int, Meta(ge=0, lt=BUCKETS)], ...]
    records: tuple[RecordVersion, ...]


class AskRecords(Struct, frozen=True, array_like=True, tag="ASK_RECORDS"):
    """The receiver sends these records, as far as it holds them."""

    keys: tuple[Annotated[str, Meta(min_length=2, max_length=140)], ...]


class Holdings(Struct, frozen=True, array_like=True, tag="HOLDINGS"):
    """Datasets on my disk: all of them (on a new link), or what was added and removed."""

    added: tuple[DatasetId, ...] = ()
    removed: tuple[DatasetId, ...] = ()
    complete: bool = False


Message = (
    Hello
    | Heartbeat
    | Status
    | AskStatus
    | Goodbye
    | WokenForWork
    | Enqueue
    | Stored
    | TryDequeue
    | ClaimAnswers
    | Release
    | State
    | Progress
    | GetTask
    | DoYouKnow
    | Known
    | TakeTask
    | AlreadyFinished
    | WhoIsMaster
    | StartNewMasterElection
    | TryToBeMaster
    | NewMaster
    | TasksTransfer
    | Records
    | Digest
    | BucketList
    | AskRecords
    | Holdings
)


class _Tagged(Struct, array_like=True):
    tag: str


KNOWN_TAGS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Message))
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)
_tag_decoder = msgspec.msgpack.Decoder(_Tagged)


class UnknownMessage(Struct, frozen=True):
    """A message of a later version, by its tag."""

    tag: str


def encode(message: Message) -> bytes:
    """Return the message as bytes."""
    return _encoder.encode(message)


def decode(data: bytes) -> Message | UnknownMessage:
    """Return the message that these bytes are, ``UnknownMessage`` for one of a later version; raise
    ``RemoteProtocolError`` when they are none or too many."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise RemoteProtocolError(f"a message of {len(data)} bytes; at most {MESSAGE_BYTES_MAX}")
    try:
        return _decoder.decode(data)
    except UNREADABLE as error:
        return _later_version(data, error)


def _later_version(data: bytes, error: Exception) -> UnknownMessage:
    try:
        tag = _tag_decoder.decode(data).tag
    except UNREADABLE:
        tag = ""
    if tag and len(tag) <= TAG_LENGTH_MAX and tag not in KNOWN_TAGS:
        return UnknownMessage(tag)
    raise RemoteProtocolError(f"not a message: {str(error)[:200]}") from error
