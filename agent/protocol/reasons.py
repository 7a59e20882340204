"""Why something waits, ended or does not help: values, of which words are made where people read.

A reason carries moments, not ages, and ids, not names. Its tag is its name in the client protocol
and in the JSON of commands, so that scripts need no sentences either. It travels beside a text for
those who do not know it: a peer of an older version reads the text, and a reason of a later version,
whose tag is unknown here, is ``Opaque`` and shows its text. So records and messages carry it encoded
(``more["why"]``): an unknown tag inside of a message would otherwise cost the link.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from agent.protocol.phrases import UNREADABLE

WHY = "why"
"""Under this name ``more`` carries a reason."""
WHY_BYTES_MAX = 4096


class Reason(Struct, frozen=True, tag=True, tag_field="reason"):
    """What all of them are. A new one needs a sentence in ``agent.wording.english``."""


class Opaque(Reason, frozen=True):
    """A reason of another version, or one that has no type, as it was worded where it arose."""

    text: str


NO_REASON = Opaque("")

# -- whether a machine helps, as it tells the flock: without ages, and without names of people ------


class Starting(Reason, frozen=True):
    """The node has not been told yet whether it may help."""


class SetToAlways(Reason, frozen=True):
    """Its owner lets it help whatever happens."""


class NobodyAnswered(Reason, frozen=True):
    """It helps nobody, because nobody has said yet when it may."""


class OwnWorkOnly(Reason, frozen=True):
    """Its owner lets it run what is submitted there, and nothing else."""


class NobodyUsesIt(Reason, frozen=True):
    """It helps because nobody is there."""


class LikelyFreeUntil(Reason, frozen=True):
    """Nobody uses it, and by what it has learned of its owner that ends about then."""

    until_ms: int


class LikelyFreeForLong(Reason, frozen=True):
    """Nobody uses it, and its owner is not expected within two hours."""


Likely = LikelyFreeUntil | LikelyFreeForLong


class PausedByOwner(Reason, frozen=True):
    """Its owner said so, for a while or until further notice."""


class FinishingThenPaused(Reason, frozen=True):
    """It takes nothing new, and pauses when what it runs has ended."""


class OwnerWarned(Reason, frozen=True):
    """It is about to help, and leaves its owner a moment to say no."""


class OutsideHours(Reason, frozen=True):
    """Its owner's schedule does not let it help now."""


class CannotSeeOwner(Reason, frozen=True):
    """A source is blind that would have to see whether somebody is there."""


class OwnerUsesIt(Reason, frozen=True):
    """Somebody is at it."""


class SomebodyElseUsesIt(Reason, frozen=True):
    """Another person has a screen of it in use."""


class OnBattery(Reason, frozen=True):
    """It is not on mains."""


class OthersBusy(Reason, frozen=True):
    """Other programs use its processor."""


class ShortOfMemory(Reason, frozen=True):
    """Less memory is free than its owner keeps."""


class CannotConfine(Reason, frozen=True):
    """It cannot hold programs to a boundary, so none of others run there."""


class HelpsNotNow(Reason, frozen=True):
    """It does not help now; why is between it and its owner."""


class NotOfFlock(Reason, frozen=True):
    """It was expelled, and runs the flock's work no more."""

    flock: str


# -- why a run ended other than well ------------------------------------------------------------------

CauseKind = Literal[
    "AgentStops",
    "BadOutput",
    "CannotRun",
    "DiskFull",
    "DiskLeft",
    "EndedItself",
    "ExitCode",
    "FinishedBy",
    "GaveWay",
    "InputMissing",
    "NewIncarnation",
    "NoOutput",
    "NoRoom",
    "NotCommitted",
    "NotFetched",
    "NotFollowed",
    "NotGranted",
    "NotStarted",
    "OwnerBack",
    "OwnerBans",
    "ProgramGone",
    "ProgramNotReady",
    "Pruned",
    "RanTooLong",
    "RowStands",
    "SaidError",
    "SaidOnlyError",
    "Signal",
    "SupersededBy",
    "TakenOver",
    "TookMemory",
    "TookProcesses",
    "TooFewOutputs",
    "TooMuchMade",
    "Unconfined",
    "WasSilent",
    "WroteTooMuch",
]
"""Names of sentences of ``agent.wording.english``; one of a later version is not read here."""


class EndCause(Reason, frozen=True, omit_defaults=True):
    """What ended a run, by its ``kind``, which says which of the values mean anything.

    ``error`` is in the words of a program or a system, ``last`` the line that a program printed
    last; ``disk_left_bytes`` is told of a failure that a full disk may have caused.
    """

    kind: CauseKind
    program: str = ""
    error: str = ""
    last: str = ""
    host: str = ""
    dataset: str = ""
    took_bytes: int = 0
    limit_bytes: int = 0
    disk_left_bytes: int = 0
    limit: int = 0
    count: int = 0


# -- why a task is where it is ------------------------------------------------------------------------


class Cancelled(Reason, frozen=True):
    """A person cancelled it."""


class FailedOnce(Reason, frozen=True):
    """Its program failed, and was not to be tried again; ``error`` is how, in words, for whoever
    does not know the cause."""

    error: str
    cause: EndCause | None = None


class FailedSilently(Reason, frozen=True):
    """Its program failed, was not to be tried again, and said nothing."""


class FailedOften(Reason, frozen=True):
    """Its program failed as often as it may; ``error`` may be empty, and is told of the last time."""

    count: int
    error: str
    cause: EndCause | None = None


class AgentDied(Reason, frozen=True):
    """The agent died that ran it, and nobody is to try again."""


class AgentsDied(Reason, frozen=True):
    """As many agents died running it as may."""

    count: int


class WaitsFor(Reason, frozen=True):
    """A task that it needs is not finished."""

    task: str


class WaitsForSeveral(Reason, frozen=True):
    """These tasks that it needs have not ended."""

    tasks: tuple[str, ...]


class WaitsForMany(Reason, frozen=True):
    """So many tasks that it needs have not ended, more than anybody names."""

    count: int


class WaitsForUnknown(Reason, frozen=True):
    """A task that it needs has not reached this machine."""

    task: str


class NeedsGivenUp(Reason, frozen=True):
    """A task that it needs was aborted."""

    task: str


class NeedsCancelled(Reason, frozen=True):
    """A task that it needs was cancelled."""

    task: str


class NeedsOutput(Reason, frozen=True):
    """A task that it needs has fewer outputs than that: ``place`` counts from 1."""

    place: int
    task: str
    count: int


Given = (
    Opaque
    | Cancelled
    | FailedOnce
    | FailedSilently
    | FailedOften
    | AgentDied
    | AgentsDied
    | WaitsFor
    | WaitsForSeveral
    | WaitsForMany
    | WaitsForUnknown
    | NeedsGivenUp
    | NeedsCancelled
    | NeedsOutput
)
"""Why a task is where it is."""


# -- what became of a task --------------------------------------------------------------------------


class Became(Reason, frozen=True):
    """It came to a state, on a host if one has it; ``left`` is the host that had it before."""

    state: str
    host: str = ""
    left: str = ""
    why: Given | None = None


class RunEnd(Reason, frozen=True, omit_defaults=True):
    """A run came to an end without being the outcome; ``kind`` is its phase, ``Died`` that of an
    agent that died before the program began."""

    kind: Literal["Failed", "Evicted", "Yielded", "Lost", "Died"]
    host: str
    why: EndCause | Became | Given | None = None


class OutcomeMoved(Reason, frozen=True):
    """The run of another host is the outcome now."""

    before: str
    host: str


class OutputsLost(Reason, frozen=True):
    """Nobody has its outputs any more, so it runs again in this generation."""

    generation: int


class ClaimedBy(Reason, frozen=True):
    """This host wants to run it."""

    host: str


class ClaimedAhead(Reason, frozen=True):
    """This host wants to run it as soon as what it needs is there."""

    host: str


class ClaimWithdrawn(Reason, frozen=True):
    """What was in the way, in the words of the log."""

    text: str


class StoryEntry(NamedTuple):
    """One thing that happened to a task, when, and the event or message that set it off."""

    at_ms: int
    cause: str
    what: Reason


# -- why a machine cannot run a task; without a host, where it is said beside --------------------------


class LacksProgram(Reason, frozen=True):
    """The program is not installed there."""

    program: str
    host: str = ""


class NotAccepted(Reason, frozen=True):
    """The program was published, and nobody there has accepted it."""

    program: str
    host: str = ""


class OwnerRefuses(Reason, frozen=True):
    """The program was published, and the owner there has said that it never runs."""

    program: str
    host: str = ""


class OtherSystem(Reason, frozen=True):
    """It has another operating system, or does not say which."""

    system: str
    needed: str
    host: str = ""


class OtherArchitecture(Reason, frozen=True):
    """It has another kind of processor, or does not say which."""

    architecture: str
    needed: str
    host: str = ""


class TooLittleMemory(Reason, frozen=True):
    """In megabytes."""

    given: int
    needed: int
    host: str = ""


class TooLittleDisk(Reason, frozen=True):
    """In megabytes."""

    given: int
    needed: int
    host: str = ""


class TooFewCores(Reason, frozen=True):
    """Cores of its processor."""

    given: int
    needed: int
    host: str = ""


class LacksExtra(Reason, frozen=True):
    """Packages that come with an extra of Wingbeat do not import there."""

    extra: str
    host: str = ""


class LacksTag(Reason, frozen=True):
    """Its owner has not given it this tag."""

    tag: str
    host: str = ""


class HelpsOthers(Reason, frozen=True):
    """Its owner has named whom it helps, and whoever submitted this is not among them."""

    people: tuple[str, ...]
    host: str = ""


WithheldKind = Literal[
    "AllowsNoNetwork",
    "AllowsNoReading",
    "AllowsNoDevice",
    "AllowsNoSecret",
    "HasNoSecret",
    "HasNoShare",
]
"""What a program asks for and does not get: its owner has not allowed it, or a secret or share is not
there."""


class Withholds(Reason, frozen=True):
    """The program asks for more than its owner has allowed it, or a secret that is not there."""

    kind: WithheldKind
    program: str
    name: str = ""
    host: str = ""


# -- there and back --------------------------------------------------------------------------------


def kinds(of: type[Reason] = Reason) -> Iterator[type[Reason]]:
    """Yield every kind of reason below ``of`` that is defined by now, each followed by those below
    it; not ``of`` itself."""
    for each in of.__subclasses__():
        yield each
        yield from kinds(each)


def union(reasons: Iterator[type[Reason]]) -> Any:
    """Return the type that a decoder tells the kinds apart by."""
    return reduce(or_, reasons)


_decoder: msgspec.msgpack.Decoder[Reason] = msgspec.msgpack.Decoder(union(kinds()))
_encoder = msgspec.msgpack.Encoder()


def carried(reason: Reason) -> dict[str, Raw]:
    """Return what ``more`` carries of a reason; empty for one without a type."""
    return {} if isinstance(reason, Opaque) else {WHY: Raw(_encoder.encode(reason))}


def reason_in(more: dict[str, Raw], text: str) -> Reason:
    """Return the reason that ``more`` carries; the text as ``Opaque`` where it carries none, or one
    that is too long or cannot be read here."""
    told = bytes(more.get(WHY, b""))
    if not 0 < len(told) <= WHY_BYTES_MAX:
        return Opaque(text)
    try:
        return _decoder.decode(told)
    except UNREADABLE:
        return Opaque(text)


def tag_of(reason: Reason) -> str:
    """Return a reason as engineers read it, where nothing says it better; an opaque one's text."""
    return reason.text if isinstance(reason, Opaque) else repr(reason)
