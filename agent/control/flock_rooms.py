"""The door's part for the flock: who belongs to it, who administers it, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from agent.api.administration import Acted, Given, PhraseShown
from agent.api.admission import AskView, JoinRequestView, NearbyReply
from agent.api.audit import AuditEntry
from agent.api.flock import DepartureView, Expelled, Invitation, Joined, MemberView
from agent.api.people import MeReply, Met, Paired
from agent.api.reasons import Reason
from agent.protocol.people import People
from agent.protocol.phrases import Phrase
from agent.protocol.records import NodeId


class OwnRequest(Protocol):
    """Joining without an invitation, from outside; ``agent.flock.own_join_request.OwnJoinRequest``."""

    async def nearby(self) -> NearbyReply:
        """Return the flocks on this network, and why none can be heard, if so."""

    async def ask(self, reference: str) -> AskView:
        """Ask one; raises ``ServiceError`` or ``MembershipError``."""

    def asked(self) -> AskView:
        """Return what has become of this machine's request."""

    def confirm(self, code: str) -> AskView:
        """Note that the keeper shows the same code. Raises ``ServiceError`` for another one."""

    async def withdraw(self) -> AskView:
        """Withdraw this machine's request."""


class AdministrationRoom(Protocol):
    """Acts on the flock; ``agent.flock.administering.Administering``."""

    async def appoint(self, member: str, what: Given, phrase: str, *, withdraw: bool) -> Acted:
        """Make a member an administrator or keeper, or end that."""

    async def set_role(self, member: str, role: str, phrase: str) -> Acted:
        """Make a member an operator or a helper."""

    async def recover(self, phrase: str, *, check: bool) -> str:
        """Make this machine the only administrator; return the name of the flock."""

    async def upgrade(self) -> PhraseShown:
        """Give a flock of before administrators."""

    async def renew_phrase(self, phrase: str) -> PhraseShown:
        """Draw another recovery phrase."""

    def waiting(self) -> Iterable[Reason]:
        """Return what waits for a person with rights in the flock."""


class PairingRoom(Protocol):
    """Who is who in the flock; ``agent.flock.pairing.Pairing``."""

    @property
    def people(self) -> People:
        """Return which machines are one person's."""

    def mine(self) -> MeReply:
        """Return who this machine is."""

    async def show(self) -> Paired:
        """Return a new code, by which one other machine can become this one's person's for ten minutes,
        in place of the one before."""

    async def typed(self, code: str) -> bytes:
        """Take a code that another machine shows; return what to ask members with."""

    def consent(self, shown_on: NodeId, met: Met) -> bytes:
        """Return this machine's consent for whom a member has named, empty where it lacks the code."""

    async def meet(self, asking: NodeId, tag: bytes, consent: bytes) -> Met:
        """Answer a member that was told the code shown here."""

    async def settled(self, person: str) -> Paired:
        """Wait until this machine is this person's."""

    async def unpair(self, member: str, phrase: str) -> Acted:
        """Take a machine away from its person."""


class FlockRoom(Protocol):
    """The flock and who belongs to it; ``agent.flock.operations.FlockOperations``."""

    @property
    def asking(self) -> OwnRequest:
        """Return the way in without an invitation."""

    @property
    def administration(self) -> AdministrationRoom:
        """Return what administrators do with it."""

    @property
    def pairing(self) -> PairingRoom:
        """Return who is who in it."""

    def audit_heads(self, node: NodeId) -> dict[int, str]:
        """Return what this node was told of another one's audit."""

    def role_of(self, node: NodeId) -> str:
        """Return what a member is in the flock."""

    def members(self) -> list[MemberView]:
        """Return who belongs to the flock."""

    def departures(self) -> list[DepartureView]:
        """Return who belonged once."""

    async def create(self, name: str) -> Joined:
        """Found a flock with this machine as its first member."""

    async def invite(self, uses: int, valid_for_s: float, role: str) -> Invitation:
        """Return an invitation for so many machines, valid for so long, as what the role says."""

    async def join(self, text: str) -> Joined:
        """Join the flock that this invitation is from."""

    async def expel(self, name_or_id: str, phrase: str) -> Expelled:
        """Send a member away."""

    async def leave(self, *, even_as_last_keeper: bool) -> str:
        """Leave the flock; a warning or nothing."""

    def choose_rules(self, name: str) -> None:
        """Have the whole flock go by these rules."""

    def requests(self) -> list[JoinRequestView]:
        """Return the machines that ask to be let in."""

    async def decide(self, request: str, code: str, *, admit: bool) -> JoinRequestView:
        """Let one in, or not; raises ``ServiceError``."""


class AuditRoom(Protocol):
    """What was done here, and by whom; ``agent.history.audit.AuditLog``."""

    def note(self, who: str, what: str, on: str, came_from: str, outcome: str = ...) -> None:
        """Write an entry soon."""

    async def entries(self, first: int, limit: int) -> tuple[tuple[AuditEntry, ...], int]:
        """Return entries from a number on, the latest for 0, and the number of the last."""

    def first_broken(
        self, entries: Iterable[AuditEntry], witnessed: Mapping[int, str]
    ) -> tuple[int, Phrase | None]:
        """Return the number of the first entry that is wrong, and why; 0 where none is."""
