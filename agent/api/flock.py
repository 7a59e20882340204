"""The flock and its machines: what clients ask and are told of them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

from agent.api.administration import PhraseText
from agent.api.reasons import no_why
from agent.api.rpc import Method
from agent.api.values import Capabilities, Count, Millis, Reference, ShortText
from agent.api.volunteering import OwnWork
from agent.api.work import CurrentTask, NodeView

Traffic = Annotated[int, Meta(ge=0, le=2**60)]
InvitationText = Annotated[str, Meta(min_length=1, max_length=4_096)]
INVITATION_SUFFIX = ".wingbeat-invitation"
"""Of a file that holds one, and is opened to join."""


class Peers(Struct, frozen=True, forbid_unknown_fields=True):
    """Which machines does this node see?"""


PeerState = Literal["linked", "away"]
"""``away``: a member of the flock to which there is no link from here."""


class PeerView(Struct, frozen=True):
    """Another machine, as this node sees it. ``reason``: why it does not help, or is not there.
    ``own_work`` is what may begin there of what was submitted there; besides that it helps only
    ``people``, if any are named, and takes no work of what its owner ``bans``.

    ``running`` of its ``slots`` are taken, by ``tasks``. It decides by ``rules`` who runs what.
    """

    node: str
    name: str
    state: PeerState
    address: str = ""
    version: str = ""
    round_trip_ms: float | None = None
    clock_ahead_ms: int | None = None
    volunteering: bool = False
    owner_present: bool = False
    load_percent: Count = 0
    reason: str = ""
    slots: Count = 0
    running: Count = 0
    tasks: tuple[CurrentTask, ...] = ()
    capabilities: Capabilities = Capabilities()
    master: bool = False
    linked_since_ms: Millis = 0
    bytes_in: Traffic = 0
    bytes_out: Traffic = 0
    why: Raw = field(default_factory=no_why)
    own_work: OwnWork = "none"
    people: tuple[ShortText, ...] = ()
    bans: tuple[ShortText, ...] = ()
    rules: ShortText = ""


class PeersReply(Struct, frozen=True):
    """This node, and the others in the order of their names.

    ``warning`` is what is wrong with this node's own place among them, ``why`` the same as a value.
    """

    node: NodeView
    peers: tuple[PeerView, ...]
    warning: str = ""
    why: Raw = field(default_factory=no_why)


class Members(Struct, frozen=True, forbid_unknown_fields=True):
    """Who belongs to the flock?"""


class MemberView(Struct, frozen=True):
    """A machine that belongs. A ``keeper`` lets in whom administrators invite. ``role``: an
    administrator acts on the flock, an operator submits, a helper only runs what others submit.
    ``person``: what its person is called, where he has several machines; a name that is only shown."""

    node: str
    name: str
    keeper: bool
    own: bool
    valid_until_ms: Millis
    role: str = "operator"
    person: str = ""


class DepartureView(Struct, frozen=True):
    """A machine that belonged once: it left, or was sent away."""

    node: str
    name: str
    expelled: bool
    at_ms: Millis


class MembersReply(Struct, frozen=True):
    """All machines that belong to the flock, and all that did."""

    flock: str
    members: tuple[MemberView, ...]
    departures: tuple[DepartureView, ...]


class FlockCreate(Struct, frozen=True, forbid_unknown_fields=True):
    """Make a flock with this machine as its first member."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]


class Joined(Struct, frozen=True):
    """This machine belongs to this flock now. ``phrase``: of one that it has made, its recovery
    phrase, shown this once."""

    flock: str
    node: str
    name: str
    phrase: str = ""


class Invite(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Invite so many machines, for so long, as what: operators submit, helpers only run."""

    uses: Annotated[int, Meta(ge=1, le=1_000)] = 1
    hours: Annotated[float, Meta(gt=0, le=8_760)] = 24.0
    role: Literal["operator", "helper"] = "operator"


class Invitation(Struct, frozen=True):
    """The text to hand on, and the content of a file that says the same."""

    text: str
    file: str
    flock: str
    uses: Count
    expires_ms: Millis


class Join(Struct, frozen=True, forbid_unknown_fields=True):
    """Join the flock of an invitation, given as its text."""

    invitation: InvitationText


class Expel(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Send a machine away, for ever. The recovery ``phrase`` stands in for an administrator where one
    is missing."""

    member: Reference
    phrase: PhraseText = ""


class Expelled(Struct, frozen=True):
    """The member is out. ``warning`` is for a person, where there is one. Where ``agreed`` names
    administrators it is not out yet: one more has to say the same."""

    node: str
    name: str
    warning: str = ""
    agreed: tuple[str, ...] = ()


class HandOver(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Have others take what only this machine keeps, for it goes; wait for that so long at most."""

    within_s: Annotated[float, Meta(ge=0, le=60)] = 10.0


class HandedOver(Struct, frozen=True):
    """How many results and files only this machine still keeps, and how large they are; ``takers``
    are linked machines."""

    datasets: Count
    size_bytes: Traffic
    takers: Count


class Leave(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Leave the flock. The last keeper takes the authority with it and has to mean it."""

    even_as_last_keeper: bool = False


class Left(Struct, frozen=True):
    """This machine is alone now. ``warning`` is for a person, where there is one."""

    flock: str
    warning: str = ""


class Doctor(Struct, frozen=True, forbid_unknown_fields=True):
    """Why is a machine not seen?"""


FindingKind = Literal[
    "no flock",
    "expelled",
    "multicast",
    "firewall",
    "other flock",
    "other version",
    "certificate",
    "clock",
    "unreachable",
    "listening",
    "journal",
    "authority",
    "copied identity",
    "invitation",
    "settings",
    "confinement",
    "rules",
    "forged",
    "in the way",
    "doubtful",
]


class Finding(Struct, frozen=True):
    """One thing that is wrong, of which machine if of one, in a sentence with what to do."""

    kind: FindingKind
    text: str
    subject: str = ""
    why: Raw = field(default_factory=no_why)


class ConfinementView(Struct, frozen=True):
    """What holds programs back on this machine, as a confined one of ours has found it by trying.

    ``rule`` is its owner's: ``on``, ``own work`` where what is submitted here runs without if it must,
    ``when possible`` where all does, ``off``. Of each sort it says whether nothing went; ``by`` names the means, ``error`` is what
    went or why nothing could be tried.
    """

    rule: str = "on"
    holds: bool = False
    files: bool = False
    network: bool = False
    signals: bool = False
    tracing: bool = False
    by: tuple[str, ...] = ()
    error: str = ""


class DoctorReply(Struct, frozen=True):
    """No findings: nothing is wrong as far as this node can tell.

    ``waiting`` is what waits for a person's word, a sentence each; nothing of that is wrong.
    ``whys`` are the same as values.
    """

    findings: tuple[Finding, ...]
    seen: Count
    missing: Count
    waiting: tuple[str, ...] = ()
    whys: tuple[Raw, ...] = ()
    confinement: ConfinementView | None = None


# -- what is asked, and what is answered ----------------------------------------------------------

PEERS = Method("peers", Peers, PeersReply)
MEMBERS = Method("members", Members, MembersReply)
FLOCK_CREATE = Method("flock_create", FlockCreate, Joined, repeatable=False, by_members=False)
INVITE = Method("invite", Invite, Invitation, repeatable=False, by_members=False)
JOIN = Method("join", Join, Joined, repeatable=False, by_members=False)
EXPEL = Method("expel", Expel, Expelled, repeatable=False, by_members=False)
HAND_OVER = Method("hand_over", HandOver, HandedOver, by_members=False)
LEAVE = Method("leave", Leave, Left, repeatable=False, by_members=False)
DOCTOR = Method("doctor", Doctor, DoctorReply)
