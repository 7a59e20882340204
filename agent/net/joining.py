"""Joining a flock, and what a member asks of its keepers later.

A newcomer trusts nothing but the invitation. It asks each address whose keeper listens there and
takes the authority's certificate only if its hash is the invited one: that answer needs no
protection, it proves itself. Then it connects anew, now trusting that authority alone, checks
that the keeper is the one that invited, and only then says its secret. All addresses are tried;
when none works, the sentence tells of each what happened there.

Members keep up (``keep_up``): they have their certificate renewed after two thirds of its life,
and fetch the authority's key when an administrator has appointed them. Any keeper that can be reached
will do.

**One question to whoever answers at an address, and its answer: how all joining is spoken.**

A connection is for one question, because then each side has one state to be in. Who is at the other
end is checked on the open connection, before anything is said on it, by whoever asks.

**Keepers tell each other their invitations, so that any of them can let in whom one invited.**

The hashes of secrets go to keepers only: who knows one can pass for a keeper towards a newcomer.
It is a question of a keeper to a keeper under ``wingbeat-join/1``, answered with the other's book,
and done with all at once and for a short time only, because nobody may wait for a keeper that is
switched off.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.api.errors import InVainError, MembershipError
from agent.api.wording import moment
from agent.host.key_store import KeyStore
from agent.host.private_files import FileGuard
from agent.net import certificates, identity
from agent.net.acts import Act
from agent.net.addresses import Address
from agent.net.administration import leaving, tell_older
from agent.net.authority import Authority, Flock
from agent.net.certificates import PrivateKey
from agent.net.enrolment import clock_fault
from agent.net.enrolment_messages import (
    ANSWER_BYTES_MAX,
    EXCHANGE_S_MAX,
    Answer,
    AskAuthority,
    AuthorityIs,
    AuthorityKey,
    BookIs,
    Done,
    Join,
    Leave,
    Question,
    Refused,
    Renew,
    RequestBegun,
    RequestIs,
    RequestShown,
    ShareBook,
    TakeAuthority,
    Welcome,
    close,
    decode_answer,
    encode,
    receive,
    send,
)
from agent.net.identity import AUTHORITY_KEY_FILE, Identity
from agent.net.invitation import KEEPER_BYTES, Invitation
from agent.net.invitation_book import (
    BOOK_FILE,
    CHALLENGE_BYTES,
    proof_of,
    secret_hash,
    tag_of,
)
from agent.net.link_refusals import explained
from agent.net.membership import Membership, refuse_second_flock
from agent.net.roster import Clock, Roster
from agent.net.tls import (
    JOIN,
    NO_SERVER_NAME,
    TlsObject,
    client_context,
    peer_of,
    unverified_context,
)
from agent.protocol.link_reasons import NoLink
from agent.wording.speech import english

AddressesOf = Callable[[str], Sequence[Address]]
CONNECT_S_MAX = 5.0

Check = Callable[[TlsObject | None], None]
SHARING_S_MAX = 4.0
"""For a keeper at work on a busy machine; a newcomer waits this long twice (``EXCHANGE_S_MAX``)."""


async def join_flock(
    path: Path,
    invitation: Invitation,
    host_name: str,
    clock: Clock = time.time,
    guard: FileGuard | None = None,
    store: KeyStore | None = None,
) -> Membership:
    """Join the flock that invites, save the membership at ``path`` with a key made here, and return
    it; the authority's key goes into the ``store`` if it comes here, a file for None. Raise
    ``MembershipError`` with one sentence when this machine has a flock, its clock is wrong, no
    keeper is found, it refuses, or the disk does; ``InVainError`` where no further try can help."""
    folder = identity.IdentityFolder(path, guard, store)
    refuse_second_flock(folder, invitation.flock_id, clock())
    await asyncio.to_thread(folder.prepare)
    key = identity.own_key(folder)
    request = certificates.request_certificate(key, host_name)
    found = await _find_inviter(invitation, clock)
    question = Join(invitation.secret, request, int(clock()))
    answer = await _ask_keepers(found, question)
    return settle(folder, key, found.flock, answer, clock)


async def keep_up(membership: Membership, addresses_of: AddressesOf) -> None:
    """Do what is due, to be called now and then: renew this node's certificate, fetch the authority's
    key where this node was appointed and has none yet, and tell older members what acts say. Raise
    ``MembershipError`` when something is due and no keeper could do it or this disk refuses."""
    await tell_older(membership)
    now_s, member = membership.clock(), membership.member
    not_yet_valid = membership.keeper and now_s < member.valid_from_s  # its clock was ahead
    if not_yet_valid or now_s >= member.renewal_due_s:
        await renew(membership, addresses_of)
    if membership.appointed and not membership.keeper:
        await membership.look_for_key()
    if membership.appointed and not membership.keeper:
        await _ask_any(membership, addresses_of, TakeAuthority())


async def renew(
    membership: Membership, addresses_of: AddressesOf, host_name: str | None = None
) -> None:
    """Have this node's certificate renewed, by itself on a keeper, else by the first keeper that
    answers, and save it, under another host name unless that is None. Raise ``MembershipError``
    when no keeper could do it, the old one has ended, or the disk refuses."""
    if membership.keeper:
        await membership.renew_own(host_name)
    else:
        request = membership.certificate_request(host_name)
        await _ask_any(membership, addresses_of, Renew(request))


async def leave(
    membership: Membership, addresses_of: AddressesOf, *, even_as_last_keeper: bool = False
) -> str | None:
    """Leave the flock for good and delete its keys here; return None, or a sentence when no keeper
    could be told. Raise ``MembershipError`` for the last keeper, whose leaving ends the flock,
    unless ``even_as_last_keeper``: nothing is done then; also when the disk refuses: others may have
    been told then, and some of the files are still here."""
    if membership.last_keeper and not even_as_last_keeper:
        raise MembershipError(
            "this machine is the flock's only keeper, nobody could join or stay when it leaves: "
            "appoint another keeper first"
        )
    untold, act = None, leaving(membership)
    if not membership.alone:
        try:
            await _ask_any(membership, addresses_of, Leave(act))
        except MembershipError as error:
            untold = f"the others still list this machine, expel it there ({error})"
            await _state_departure(membership, act)
    await membership.forget()
    return untold


async def _state_departure(membership: Membership, act: Act | None) -> None:
    """By itself; links that are up may still spread it."""
    if act is not None:
        await membership.take_acts(act)
    elif membership.keeper and not membership.last_keeper:
        await membership.record_departure(membership.node_id)


@dataclass(frozen=True, slots=True)
class _Proven:
    """A flock, and the certificate of a keeper that has shown to be one of it."""

    flock: Flock
    certificate: bytes


@dataclass(frozen=True, slots=True)
class _Found:
    """The flock, and the addresses at which keepers of it answered, with their certificates."""

    flock: Flock
    keepers: dict[Address, bytes]

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where the keepers that were found are reached."""
        return tuple(self.keepers)


async def _find_inviter(invitation: Invitation, clock: Clock) -> _Found:
    """Asks at all addresses at once, because most of those that fail do so by keeping silent."""
    outcomes = await asyncio.gather(
        *(_probe(invitation, address, clock) for address in invitation.addresses)
    )
    pairs = list(zip(invitation.addresses, outcomes, strict=True))
    good = {place: proven.certificate for place, proven in pairs if isinstance(proven, _Proven)}
    for outcome in outcomes:
        if isinstance(outcome, _Proven):
            return _Found(outcome.flock, good)
    for outcome in outcomes:
        if isinstance(outcome, MembershipError) and not isinstance(outcome, NotThereError):
            raise outcome
    reports = "; ".join(f"{address}: {outcome}" for address, outcome in pairs)
    expired = ""
    if invitation.expires_s <= clock():
        expired = f" (and the invitation expired on {moment(invitation.expires_s)})"
    raise MembershipError(
        f"the inviting machine was not found{expired}, see that it is on and its firewall lets "
        f"Wingbeat through, or ask for a new invitation: {reports}"
    )


async def _probe(
    invitation: Invitation, address: Address, clock: Clock
) -> _Proven | MembershipError:
    """The flock, if a keeper of it answers here. It has shown that it holds the key of its
    certificate even though nothing is verified yet: without it there is no connection.
    """
    shown: list[TlsObject | None] = []
    hashed = secret_hash(invitation.flock_id, invitation.secret)
    question = AskAuthority(tag_of(hashed), secrets.token_bytes(CHALLENGE_BYTES))
    try:
        answer = await exchange(address, unverified_context(), question, shown.append)
        if not isinstance(answer, AuthorityIs):
            return NotThereError("what listens there is no keeper")
        flock = Flock.read(answer.authority)
        if flock.flock_id != invitation.flock_id:
            return NotThereError(f"a machine of another flock ({flock.name}) has this address now")
        certificate = certificate_of(shown[0])
        proof = proof_of(hashed, question.challenge, certificate)
        if not (
            _is_keeper(certificate, invitation.keeper) or hmac.compare_digest(proof, answer.proof)
        ):
            return NotThereError("a machine of the flock that knows nothing of the invitation")
    except MembershipError as error:
        return NotThereError(str(error))
    return clock_fault(clock() - answer.time_s) or _Proven(flock, certificate)


async def _ask_keepers(found: _Found, question: Join) -> Welcome:
    """Tells the secret, at one address after the other until one answers."""
    context = client_context(found.flock, None, JOIN)
    reports: list[str] = []
    for address, certificate in found.keepers.items():
        try:
            answer = await exchange(address, context, question, same_as(certificate))
        except NotThereError as error:
            reports.append(f"{address}: {error}")
            continue
        match answer:
            case Welcome():
                return answer
            case Refused(reason, in_vain):
                raise InVainError(reason) if in_vain else MembershipError(reason)
            case _:
                raise MembershipError("the keeper's answer makes no sense: update both machines")
    told = "; ".join(reports)
    raise MembershipError(f"joining {found.flock.name} broke off, try again: {told}")


def settle(
    folder: identity.IdentityFolder, key: PrivateKey, flock: Flock, answer: Welcome, clock: Clock
) -> Membership:
    """Check the certificate that a keeper issued, save flock, roster and, last, the certificate,
    drop what a keeper of before had here, and return the membership. Raise ``MembershipError`` when
    it is for another machine, the roster is none or the disk refuses."""
    member = certificates.member_of(answer.certificate)
    own_id = certificates.node_id_of(key.public_key())
    if member.node_id != own_id or not flock.has_issued(answer.certificate):
        raise MembershipError("the keeper issued a certificate for another machine: join again")
    roster = Roster(flock, clock)
    roster.adopt(answer.roster)
    roster.learn(answer.certificate)
    folder.remove(AUTHORITY_KEY_FILE)
    folder.remove(BOOK_FILE)
    identity.save_flock(folder, flock)
    roster.save(folder)
    identity.save_certificate(folder, member)
    return Membership(folder, Identity(key, flock, member), roster, None, clock)


async def _ask_any(membership: Membership, addresses_of: AddressesOf, question: Question) -> None:
    """Asks the keepers one after the other until one has answered, and takes in the answer."""
    ended_s = membership.member.valid_until_s
    if membership.clock() > ended_s:
        raise MembershipError(
            f"this machine's certificate ended on {moment(ended_s)}: "
            f"join {membership.flock.name} again with a new invitation"
        )
    reports: list[str] = []
    for keeper in membership.roster.keepers():
        known = membership.roster.member(keeper)
        name = known.host_name if known else keeper
        for address in addresses_of(keeper) if keeper != membership.node_id else ():
            try:
                answer = await ask_keeper(membership, address, question)
                return await _take_in(membership, answer)
            except MembershipError as error:
                reports.append(f"{name} at {address}: {error}")
    told = "; ".join(reports) or "none has a known address"
    raise MembershipError(f"no keeper of {membership.flock.name} could do it: {told}")


async def ask_keeper(membership: Membership, address: Address, question: Question) -> Answer:
    """Ask one question of the keeper at an address and return the answer, a refusal too; raise
    ``MembershipError`` when whoever answers is no keeper or makes no sense, ``NotThereError`` when
    nobody answers."""

    def is_keeper(tls: TlsObject | None) -> None:
        peer = peer_of(tls, membership.roster)
        if isinstance(peer, NoLink):
            raise MembershipError(english(peer))
        if peer.node_id not in membership.roster.keepers():
            raise MembershipError(f"{peer.host_name} is not a keeper")

    return await exchange(address, membership.tls.client(JOIN), question, is_keeper)


async def _take_in(membership: Membership, answer: Answer) -> None:
    match answer:
        case Welcome():
            renewed = certificates.member_of(answer.certificate)
            await membership.adopt_certificate(renewed)
            await membership.merge_roster(answer.roster)
        case AuthorityKey():
            authority = Authority.read(membership.flock, answer.key_file)
            await membership.adopt_authority(authority)
        case Done():
            await membership.merge_roster(answer.roster)
        case Refused(reason):
            raise MembershipError(reason)
        case AuthorityIs() | BookIs() | RequestBegun() | RequestShown() | RequestIs():
            raise MembershipError("the answer makes no sense")


def _is_keeper(certificate: bytes, keeper: bytes) -> bool:
    return certificates.key_hash_of(certificate)[:KEEPER_BYTES] == keeper


class NotThereError(MembershipError):
    """An address that did not work; another one may."""


async def exchange(
    address: Address, context: ssl.SSLContext, question: Question, check: Check
) -> Answer:
    """Ask one question at an address, on a connection of its own, and return the answer; ``check``
    judges the other end first. Raise ``NotThereError`` when there is no connection or no answer
    within 15 seconds, ``MembershipError`` for an answer that is none, and what ``check`` raises."""
    try:
        async with (
            asyncio.timeout(EXCHANGE_S_MAX),
            _connected(address, context) as (reader, writer),
        ):
            check(writer.get_extra_info("ssl_object"))
            await send(writer, encode(question))
            return decode_answer(await receive(reader, ANSWER_BYTES_MAX))
    except (OSError, EOFError) as error:
        raise NotThereError(english(explained(error))) from error


def certificate_of(tls: TlsObject | None) -> bytes:
    """Return the certificate that the other end shows, as DER, without judging it; raise
    ``NotThereError`` when it shows none or there is no TLS."""
    shown = tls.getpeercert(binary_form=True) if tls else None
    if shown is None:
        raise NotThereError("it shows no certificate")
    return shown


def same_as(certificate: bytes) -> Check:
    """Return a check that lets only a connection to the owner of this certificate pass; it raises
    ``NotThereError`` for any other, and where none is shown."""

    def check(tls: TlsObject | None) -> None:
        if certificate_of(tls) != certificate:
            raise NotThereError("another machine has this address than a moment ago")

    return check


@asynccontextmanager
async def _connected(
    address: Address, context: ssl.SSLContext
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with asyncio.timeout(CONNECT_S_MAX):
        reader, writer = await asyncio.open_connection(
            address.host, address.port, ssl=context, server_hostname=NO_SERVER_NAME
        )
    try:
        yield reader, writer
    finally:
        await close(writer)


async def share_book(
    membership: Membership, addresses_of: AddressesOf, among: Collection[str] | None = None
) -> list[str]:
    """Exchange invitations with all other keepers at once, or with ``among`` only, None being all,
    and take in what they know; return the ids of those that answered within four seconds. What
    fails with one is passed over. Return none, and ask nobody, on a node that is no keeper."""
    if not membership.keeper:
        return []
    keepers = [
        each
        for each in membership.roster.keepers()
        if each != membership.node_id and (among is None or each in among)
    ]
    asking = [asyncio.create_task(_share(membership, each, addresses_of)) for each in keepers]
    if not asking:
        return []
    _, late = await asyncio.wait(asking, timeout=SHARING_S_MAX)
    for task in late:
        task.cancel()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    return [keeper for keeper, answer in zip(keepers, answers, strict=True) if answer is True]


async def _share(membership: Membership, keeper: str, addresses_of: AddressesOf) -> bool:
    for address in addresses_of(keeper):
        question = ShareBook(membership.book().entries)
        try:
            answer = await ask_keeper(membership, address, question)
            if isinstance(answer, BookIs):
                await membership.join_book(answer.entries)
                return True
        except MembershipError:
            continue
    return False
