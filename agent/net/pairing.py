"""A second machine becomes its person's by a code: shown on one that is his already, typed on the new one.

The code is four words, 48 bits of chance, good for ten minutes and one machine. It never travels, only what
is worked out from its key, which takes a moment for each guess (scrypt): so that whoever hears it, as all
members do that are asked, cannot try codes against it. Both sides name themselves and each other in
what they show, by the keys that their link has proven: what one hears is worth nothing to another, nor to
one that stands between. Only when the machine that shows the code has shown that it knows it, and whose it
is, does the new one sign its consent to be that person's, which is in the act and binds it to him alone.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from agent.api.errors import MembershipError
from agent.net.acts import PAIRED, UNPAIRED, Act, has_consented
from agent.net.administration import act_by_voices, sign_act
from agent.net.membership import Membership
from agent.net.recovery import CHECK_BYTES, read_words, worked_out, written
from agent.net.rights import Rights

VALID_S = 600.0
TRIES_MAX = 5
"""Of one member, for one code."""
_CHANCE_BYTES = 6
_WORDS = (_CHANCE_BYTES + CHECK_BYTES) // 2


def new_code() -> str:
    """Return a new code by chance, as words that a person types on the other machine."""
    return written(secrets.token_bytes(_CHANCE_BYTES))


@dataclass(frozen=True, slots=True)
class CodeKey:
    """What one code can do in one flock."""

    key: bytes

    @classmethod
    def of(cls, code: str, flock_id: str) -> CodeKey:
        """Work out the key of a code, which takes a moment; raise ``MembershipError`` when it has a
        typing error."""
        content = read_words(code, _WORDS, "the code")
        return cls(worked_out(content, b"wingbeat pairing 1\0" + flock_id.encode(), 32))

    def tag(self, asking: str) -> bytes:
        """Return what the machine that was told the code says to others."""
        return self._mac("asks", asking)

    def proof(self, asking: str, shown_on: str, person: str) -> bytes:
        """Return what the machine that shows the code answers that one: whose it is."""
        return self._mac("shows", asking, shown_on, person)

    def _mac(self, *words: str) -> bytes:
        return hmac.digest(self.key, "\0".join(words).encode(), hashlib.sha256)


@dataclass(slots=True)
class ShownCode:
    """A code that this machine shows, until some moment."""

    code: CodeKey
    until_s: float
    wrong: dict[str, int] = field(default_factory=dict)

    def is_meant(self, asking: str, tag: bytes, now_s: float) -> bool:
        """Tell whether a member has proven that it knows the code shown here, and count a wrong
        try; False, too, once the code is over or the member has tried too often."""
        if now_s > self.until_s or self.wrong.get(asking, 0) >= TRIES_MAX:
            return False
        right = hmac.compare_digest(self.code.tag(asking), tag)
        if not right:
            self.wrong[asking] = self.wrong.get(asking, 0) + 1
        return right


def check_pairs(membership: Membership) -> Rights:
    """Return the rights in the flock where this machine may be paired; raise ``MembershipError``
    where it may not: in a flock without acts, or after it was taken away from its person."""
    if not membership.roster.charter:
        raise MembershipError(
            "this flock has no administrators yet, so nobody is known in it by a key: upgrade it on a "
            "keeper (`wingbeat flock upgrade`)"
        )
    rights = membership.roster.charter.rights
    if rights.people.is_lost(membership.node_id):
        raise MembershipError(
            "this machine was taken away from its person, for ever under its key: leave the flock on it, "
            "which forgets the key, and join again"
        )
    return rights


def check_is_new(membership: Membership) -> None:
    """Raise ``MembershipError`` unless this machine may become another person's: the flock has acts,
    and it was paired with nobody ever and is no administrator's."""
    rights, own = check_pairs(membership), membership.node_id
    if own in rights.ever:
        raise MembershipError(
            "this machine is paired already: show a code here, and type it on the other machine"
        )
    if own in rights.administrators:
        raise MembershipError(
            "this machine is an administrator's: show a code here, and type it on the other machine, "
            "which is one of the same administrator then"
        )


async def pair(membership: Membership, machine: str, consent: bytes) -> None:
    """Sign that another machine belongs to this machine's person, given that machine's consent.
    Raise ``MembershipError`` where the consent is not right, that machine is no member, was ever
    paired or is an administrator's, this one was taken away from its person, or the disk refuses."""
    rights = check_pairs(membership)
    person = rights.person(membership.node_id)
    act = Act(PAIRED, machine, person, int(membership.clock()), data=consent)
    if membership.roster.member(machine) is None or not has_consented(
        membership.flock.flock_id, act
    ):
        raise MembershipError("that machine has not agreed to be paired: try again")
    if machine in rights.ever or machine in rights.administrators:
        raise MembershipError(
            "that machine is another person's, or an administrator: it cannot be paired"
        )
    await sign_act(membership, membership.pen, act)


async def unpair(membership: Membership, machine: str, phrase: str = "") -> list[str]:
    """Take a machine away from its person, for ever under its key. Return the names of who has said
    so where that is not enough yet, else nobody. Raise ``MembershipError`` where its person has no
    other machine, this node may not, or the disk refuses; ``WantsPhraseError`` where the phrase is
    missing."""
    rights, own = membership.roster.charter.rights, membership.node_id
    person = rights.person(machine)
    if len(rights.machines(person)) < 2:
        raise MembershipError("its person has no other machine: there is nothing to take away")
    if rights.may_unpair(own, machine):
        act = Act(UNPAIRED, machine, "", int(membership.clock()))
        await sign_act(membership, membership.pen, act)
        return []
    return await act_by_voices(membership, UNPAIRED, machine, "", phrase)
