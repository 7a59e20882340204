"""The reasons that clients are told: those of the protocol, of presence, and what is said of tasks.

In answers they stand under ``why``, beside a sentence for whoever knows no reasons. They are read
with ``reason_of``: one of a later version is ``Opaque`` and shows its sentence.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

from agent.api import presence_reasons as presence
from agent.api.choice_reasons import LeftFor
from agent.api.diagnoses import DiagnosisKind as DiagnosisKind  # noqa: PLC0414
from agent.api.rpc import decoder_of
from agent.protocol import link_reasons as links
from agent.protocol import reasons as told
from agent.protocol.phrases import UNREADABLE
from agent.protocol.reasons import NO_REASON as NO_REASON  # noqa: PLC0414
from agent.protocol.reasons import Became as Became  # noqa: PLC0414
from agent.protocol.reasons import Cancelled as Cancelled  # noqa: PLC0414
from agent.protocol.reasons import FailedOften as FailedOften  # noqa: PLC0414
from agent.protocol.reasons import FailedOnce as FailedOnce  # noqa: PLC0414
from agent.protocol.reasons import FailedSilently as FailedSilently  # noqa: PLC0414
from agent.protocol.reasons import LacksExtra as LacksExtra  # noqa: PLC0414
from agent.protocol.reasons import LacksProgram as LacksProgram  # noqa: PLC0414
from agent.protocol.reasons import NeedsCancelled as NeedsCancelled  # noqa: PLC0414
from agent.protocol.reasons import NotAccepted as NotAccepted  # noqa: PLC0414
from agent.protocol.reasons import NotOfFlock as NotOfFlock  # noqa: PLC0414 - for clients
from agent.protocol.reasons import Opaque as Opaque  # noqa: PLC0414
from agent.protocol.reasons import PausedByOwner as PausedByOwner  # noqa: PLC0414
from agent.protocol.reasons import Reason as Reason  # noqa: PLC0414
from agent.protocol.reasons import WithheldKind as WithheldKind  # noqa: PLC0414
from agent.protocol.reasons import Withholds as Withholds  # noqa: PLC0414
from agent.protocol.reasons import kinds, union
from agent.protocol.sharing_reasons import SeatsTaken as SeatsTaken  # noqa: PLC0414

NO_WHY = Raw(b"null")


def no_why() -> Raw:
    """Return what stands in answers where nothing is to be explained."""
    return NO_WHY


# -- what a task waits for, where a person asks: tasks and machines by their names ---------------------


class IdentityCopied(Reason, frozen=True):
    """What is told of this machine may come from another one with its identity."""

    name: str
    places: tuple[str, ...]


class SaysNoReason(Reason, frozen=True):
    """A machine does not help, and does not say why."""


class PausedSomehow(Reason, frozen=True):
    """This machine does not help, and nothing says why."""


Presence = (
    Opaque
    | told.Likely
    | SaysNoReason
    | PausedSomehow
    | IdentityCopied
    | told.Starting
    | told.SetToAlways
    | told.NobodyAnswered
    | told.OwnWorkOnly
    | told.NobodyUsesIt
    | told.PausedByOwner
    | told.FinishingThenPaused
    | told.OutsideHours
    | told.CannotSeeOwner
    | told.OwnerUsesIt
    | told.SomebodyElseUsesIt
    | told.OnBattery
    | told.OthersBusy
    | told.ShortOfMemory
    | told.CannotConfine
    | told.OwnerWarned
    | told.NotOfFlock
    | told.HelpsNotNow
    | presence.PausedUntilResumed
    | presence.PausedUntil
    | presence.PauseUnreadable
    | presence.FinishingTask
    | presence.FinishingTasks
    | presence.HeldOutsideHours
    | presence.HeldUntilHour
    | presence.HeldByProgram
    | presence.HeldSinceProgram
    | presence.HeldByOthers
    | presence.HeldByMouse
    | presence.HeldByInput
    | presence.HeldByTerminal
    | presence.HeldByTouchOfLock
    | presence.HeldByBattery
    | presence.HeldSincePlugged
    | presence.HeldByScreen
    | presence.HeldSinceScreen
    | presence.HeldByCall
    | presence.HeldByLoad
    | presence.HeldSinceLoad
    | presence.HeldByMemory
    | presence.HeldSinceMemory
    | presence.HeldBlind
    | presence.HeldUnconfined
    | presence.HelpsSoon
    | presence.NotAnswered
    | presence.HelpsNobody
    | presence.HelpsItself
    | presence.HelpsAlways
    | presence.HelpsLocked
    | presence.HelpsEmpty
    | presence.HelpsIdle
    | presence.HelpsByRules
)
"""Why a machine helps or does not, in its own words or in those for the flock."""


# -- what a task waits for, where a person asks: tasks and machines by their names ---------------------


class CancelledStopping(Reason, frozen=True):
    """A person cancelled it, and these machines have not ended it yet."""

    hosts: tuple[str, ...]


class WaitsForNeeds(Reason, frozen=True):
    """It is not told for what."""


class NoHelper(Reason, frozen=True):
    """No machine helps; this one for that reason, where it says one."""

    why: Presence


class NotForPerson(Reason, frozen=True):
    """Machines help, and their owners have named others whom they do."""

    hosts: tuple[str, ...]
    person: str


class OwnHelper(Reason, frozen=True):
    """The only machine that is seen helps."""


class SomeHelpers(Reason, frozen=True):
    """So many machines help, of so many that are seen."""

    count: int
    every: int


class NoTaker(Reason, frozen=True):
    """Machines help that could run it."""


class NobodyAllows(Reason, frozen=True):
    """No machine gives the program what it asks for."""

    kind: Literal[
        "NobodyAllowsNetwork",
        "NobodyAllowsReading",
        "NobodyAllowsDevice",
        "NobodyGivesSecret",
        "NobodyHasSecret",
        "NobodyHasShare",
    ]
    program: str
    name: str = ""


class NoFittingHelper(Reason, frozen=True):
    """Machines help, and none of them could run it."""


class WaitsForAcceptance(Reason, frozen=True):
    """Machines help that could run it as soon as somebody there accepts its program."""

    program: str
    hosts: tuple[str, ...]


class AllowedAreBusy(Reason, frozen=True):
    """Machines on which it may run work at something else; ``hosts`` are others on which somebody
    would have to accept its program."""

    program: str
    hosts: tuple[str, ...]
    busy: tuple[str, ...]


class TaskWaits(Reason, frozen=True):
    """What it needs is not there."""

    task: str
    why: told.Given | WaitsForNeeds


Takers = (
    NoHelper
    | NotForPerson
    | OwnHelper
    | SomeHelpers
    | NoTaker
    | NoFittingHelper
    | NobodyAllows
    | WaitsForAcceptance
    | AllowedAreBusy
    | SeatsTaken
    | LeftFor
)
"""What there is to say of the machines that could take a task."""


class TaskReady(Reason, frozen=True):
    """What it needs is there, and no machine has it in hand."""

    task: str
    why: Takers


class GateWaits(Reason, frozen=True):
    """A person is to do it. ``asks`` may be empty."""

    task: str
    asks: str


class MachineGone(Reason, frozen=True):
    """The machine that has it in hand is gone since then, as far as this one knows."""

    host: str
    since_ms: int


class TaskOnGone(Reason, frozen=True):
    """A machine has it in hand that is gone; another one may take it."""

    task: str
    host: str
    since_ms: int


class TaskSuspended(Reason, frozen=True):
    """Its program is held until the owner of the machine leaves."""

    task: str
    host: str


class TaskOffered(Reason, frozen=True):
    """Its program is held for so long that others may take it, and none has."""

    task: str
    host: str
    why: Takers


class TaskFinished(Reason, frozen=True):
    """It has its outcome."""

    task: str
    host: str


class TaskCancelled(Reason, frozen=True):
    """A person cancelled it."""

    task: str


class TaskStopping(Reason, frozen=True):
    """A person cancelled it, and these machines have not ended it yet."""

    task: str
    hosts: tuple[str, ...]


class TaskFailedOnce(Reason, frozen=True):
    """Its program failed, and said why."""

    task: str
    error: str
    cause: told.EndCause | None = None


class TaskFailed(Reason, frozen=True):
    """Its program failed, several times or without a word."""

    task: str
    why: told.FailedOften | told.FailedSilently


class TaskAborted(Reason, frozen=True):
    """It was given up."""

    task: str
    why: told.Given


class TaskCancelledFor(Reason, frozen=True):
    """It went with another that was cancelled."""

    task: str
    why: told.Given


class NotAcceptedYet(Reason, frozen=True):
    """Somebody there can accept its program."""

    host: str
    program: str


class DoesNotHelp(Reason, frozen=True):
    """It could run the task if it helped."""

    host: str
    why: Presence


class FailedBefore(Reason, frozen=True):
    """It could run the task, and this failed there in this attempt."""

    host: str


class SlotTaken(Reason, frozen=True):
    """It could run the task, and runs another."""

    host: str


class SlotsTaken(Reason, frozen=True):
    """It could run the task, and runs as many others as it may."""

    host: str
    slots: int


class CouldRun(Reason, frozen=True):
    """Nothing is in the way."""

    host: str


class NewestOf(Reason, frozen=True):
    """Of so many workflows of this name, this one is meant by it."""

    name: str
    count: int
    workflow: str
    submitter: str
    submitted_ms: int


class ToldBy(Reason, frozen=True):
    """A move was heard of from this machine."""

    host: str


class SetOff(Reason, frozen=True):
    """An event of the protocol set a move off."""

    event: str


class AcceptanceNeeded(Reason, frozen=True):
    """On these machines somebody has to accept these programs, by their short names."""

    hosts: tuple[str, ...]
    programs: tuple[str, ...]


# -- what is wrong with a machine, or with its place in the flock --------------------------------------


class MachineNamed(Reason, frozen=True):
    """A machine, by its name."""

    name: str


class MachineAt(Reason, frozen=True):
    """A machine of which only the address is known, as a person typed it."""

    address: str


class AnswerWanted(Reason, frozen=True):
    """Nobody has said yet when this machine may help."""


class AsksToBeLetIn(Reason, frozen=True):
    """A machine waits for somebody to let it in; ``user`` may be empty."""

    name: str
    user: str


class VersionFinishes(Reason, frozen=True):
    """This version is installed, and begins when what runs here has ended."""

    version: str


class VersionAsks(Reason, frozen=True):
    """This version is installed, and begins when somebody says so."""

    version: str


class OlderAsks(Reason, frozen=True):
    """This version is installed, which is earlier than what runs."""

    version: str


class NewerElsewhere(Reason, frozen=True):
    """These machines run a later version than this one, which runs ``own``."""

    hosts: tuple[str, ...]
    version: str
    own: str


class Diagnosis(Reason, frozen=True, omit_defaults=True):
    """What is wrong and what to do, by its ``kind``, which says which of the values mean anything.

    ``peer`` is the machine that it is about; ``error`` is in the words of a system, a journal or a
    keeper.
    """

    kind: DiagnosisKind
    peer: MachineNamed | MachineAt | None = None
    why: links.NoLink | links.RefusesThis | links.LinkGone | links.NoMulticast | Opaque | None = (
        None
    )
    name: str = ""
    places: tuple[str, ...] = ()
    address: str = ""
    folder: str = ""
    error: str = ""
    port: int = 0
    port_wanted: int = 0
    count: int = 0
    dated_ms: int = 0
    length_ms: int = 0


# -- there and back ---------------------------------------------------------------------------------

_decoder: msgspec.json.Decoder[Reason] = decoder_of(union(kinds()))
_encoder = msgspec.json.Encoder()


def as_why(reason: Reason | None) -> Raw:
    """Return a reason as JSON in an answer, ``null`` for None and one that only is a text."""
    if reason is None or isinstance(reason, Opaque):
        return NO_WHY
    return Raw(_encoder.encode(reason))


def text_of(reason: Reason) -> str:
    """Return the sentence that an answer carries beside a reason without a type; empty for all
    others."""
    return reason.text if isinstance(reason, Opaque) else ""


def reason_of(why: Raw, text: str) -> Reason:
    """Return the reason that an answer carries; where none can be read, one that only says ``text``."""
    try:
        return _decoder.decode(why)
    except UNREADABLE:
        return Opaque(text)
