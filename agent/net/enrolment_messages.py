"""What newcomers and members ask a keeper, and what it answers: one question per connection.

Length-prefixed msgpack under the protocol ``wingbeat-join/1``. It is apart from the links between
members, so that the code that a stranger reaches is small and bounded, and so that a machine can
join before anything else of a node runs. Unknown fields are ignored, so that versions can mix.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.net.acts import Act
from agent.net.certificates import CERTIFICATE_BYTES_MAX
from agent.net.invitation import SECRET_BYTES
from agent.net.invitation_book import (
    CHALLENGE_BYTES,
    ENTRIES_MAX,
    PROOF_BYTES,
    TAG_BYTES,
    Entry,
)
from agent.net.join_requests import COMMITMENT_BYTES, NONCE_BYTES, NUMBER_BYTES
from agent.net.roster import ROSTER_BYTES_MAX
from agent.protocol.phrases import UNREADABLE

EXCHANGE_S_MAX = 15.0
"""On both sides; a keeper may wait for others meanwhile (``joining``) before it answers."""
CLOSE_S_MAX = 1.0
QUESTION_BYTES_MAX = 16 * 1024
KEEPERS_QUESTION_BYTES_MAX = 4 * 1024 * 1024
"""Only keepers, who have shown that they are, send whole books."""
REASON_LENGTH_MAX = 2000
ANSWER_BYTES_MAX = KEEPERS_QUESTION_BYTES_MAX
_LENGTH_BYTES = 4

Der = Annotated[bytes, Meta(max_length=CERTIFICATE_BYTES_MAX)]
Name = Annotated[str, Meta(max_length=64)]
Seconds = Annotated[int, Meta(ge=0, le=2**53)]
Number = Annotated[bytes, Meta(min_length=NUMBER_BYTES, max_length=NUMBER_BYTES)]
Nonce = Annotated[bytes, Meta(min_length=NONCE_BYTES, max_length=NONCE_BYTES)]


class AskAuthority(Struct, frozen=True, tag="ask-authority"):
    """Whose keeper are you? Asked before anything is known, so it tells nothing but the tag of
    an invitation, and a challenge that only keepers of its flock can answer."""

    tag: Annotated[bytes, Meta(max_length=TAG_BYTES)] = b""
    challenge: Annotated[bytes, Meta(max_length=CHALLENGE_BYTES)] = b""


class Join(Struct, frozen=True, tag="join"):
    """A newcomer: its secret, its key and host name, and what it takes the time to be."""

    secret: Annotated[bytes, Meta(min_length=SECRET_BYTES, max_length=SECRET_BYTES)]
    request: Der
    time_s: Seconds


class Renew(Struct, frozen=True, tag="renew"):
    """Asks for a new certificate for a member whose own will end."""

    request: Der


class TakeAuthority(Struct, frozen=True, tag="take-authority"):
    """Asks for the authority's key, for a member that was appointed keeper."""


class Expel(Struct, frozen=True, tag="expel"):
    """Asks to expel another member, as versions before asked: nobody does it for another now."""

    node_id: Name


class Leave(Struct, frozen=True, tag="leave"):
    """Tells that this member wants to belong no more: in a flock with acts, by its own."""

    act: Act | None = None


class ShareBook(Struct, frozen=True, tag="share-book"):
    """A keeper tells what it knows of invitations, and wants to know what others do."""

    entries: Annotated[tuple[Entry, ...], Meta(max_length=ENTRIES_MAX)]


class AskToJoin(Struct, frozen=True, tag="ask-to-join"):
    """A machine without an invitation: its key and host name, and its user."""

    request: Der
    user: Name
    time_s: Seconds


class ShowNonce(Struct, frozen=True, tag="show-nonce"):
    """Its part of the code (``join_requests``), for which it gets the keeper's."""

    number: Number
    nonce: Nonce


class AskOutcome(Struct, frozen=True, tag="ask-outcome"):
    """Asks whether somebody has answered the request."""

    number: Number


class Collect(Struct, frozen=True, tag="collect"):
    """It was let in, a person there has compared the code, and it wants its certificate."""

    number: Number


class WithdrawRequest(Struct, frozen=True, tag="withdraw-request"):
    """Tells that the machine does not want to join any more."""

    number: Number


class DecideRequest(Struct, frozen=True, tag="decide-request"):
    """A keeper on which a person has answered, to the one that was asked."""

    request: Name
    code: Name
    admit: bool


Requesting = AskToJoin | ShowNonce | AskOutcome | Collect | WithdrawRequest
"""What machines say that ask to be let in."""
Question = (
    AskAuthority
    | Join
    | Renew
    | TakeAuthority
    | Expel
    | Leave
    | ShareBook
    | DecideRequest
    | Requesting
)


class AuthorityIs(Struct, frozen=True, tag="authority-is"):
    """The authority's certificate; it proves itself by its hash. Time and name prove nothing; the
    name is what the keeper calls itself by now, empty where a version before answers. The proof is
    that the keeper knows the invitation that was asked for."""

    authority: Der
    time_s: Seconds
    proof: Annotated[bytes, Meta(max_length=PROOF_BYTES)] = b""
    name: Name = ""


class Welcome(Struct, frozen=True, tag="welcome"):
    """Answers with a certificate, and who else belongs."""

    certificate: Der
    roster: Annotated[bytes, Meta(max_length=ROSTER_BYTES_MAX)]


class AuthorityKey(Struct, frozen=True, tag="authority-key"):
    """The authority's key, for a keeper."""

    key_file: Der


class Done(Struct, frozen=True, tag="done"):
    """Answers that what was asked is done; the roster says it."""

    roster: Annotated[bytes, Meta(max_length=ROSTER_BYTES_MAX)]


class BookIs(Struct, frozen=True, tag="book-is"):
    """What the answering keeper knows of invitations by now."""

    entries: Annotated[tuple[Entry, ...], Meta(max_length=ENTRIES_MAX)]


class RequestBegun(Struct, frozen=True, tag="request-begun"):
    """The number of a request, and what binds the keeper to its part of the code."""

    number: Number
    commitment: Annotated[bytes, Meta(min_length=COMMITMENT_BYTES, max_length=COMMITMENT_BYTES)]


class RequestShown(Struct, frozen=True, tag="request-shown"):
    """The keeper's part of the code; its people see the request."""

    nonce: Nonce


class RequestIs(Struct, frozen=True, tag="request-is"):
    """What has become of a request."""

    state: Literal["waiting", "admitted", "joined", "refused", "ended"]
    left_s: Annotated[float, Meta(ge=0, le=86_400)]


class Refused(Struct, frozen=True, tag="refused"):
    """Answers that what was asked is not done, and why; ``in_vain``: nor when it is asked again."""

    reason: Annotated[str, Meta(max_length=REASON_LENGTH_MAX)]
    in_vain: bool = False


Answer = (
    AuthorityIs
    | Welcome
    | AuthorityKey
    | Done
    | BookIs
    | RequestBegun
    | RequestShown
    | RequestIs
    | Refused
)

_encoder = msgspec.msgpack.Encoder()
_questions: msgspec.msgpack.Decoder[Question] = msgspec.msgpack.Decoder(Question)
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)

_Said = TypeVar("_Said")


def encode(message: Question | Answer) -> bytes:
    """Return the message as bytes, without its length."""
    return _encoder.encode(message)


def decode_question(data: bytes) -> Question:
    """Decode a question; raise ``MembershipError`` when the bytes are none."""
    return _decode(data, _questions)


def decode_answer(data: bytes) -> Answer:
    """Decode an answer; raise ``MembershipError`` when the bytes are none."""
    return _decode(data, _answers)


async def receive(reader: asyncio.StreamReader, bytes_max: int) -> bytes:
    """Wait for the one message that the other end sends and return it; raise ``MembershipError``
    when it is longer than ``bytes_max``, ``EOFError`` when it ends early, ``OSError`` when the
    connection breaks."""
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
    if length > bytes_max:
        raise MembershipError("it sent more than it may")
    return await reader.readexactly(length)


async def send(writer: asyncio.StreamWriter, message: bytes) -> None:
    """Send the one message of this side; raise ``OSError`` when the connection is gone."""
    writer.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
    await writer.drain()


async def close(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait until it is closed, for one second at most, whatever the other
    end does; failures are ignored."""
    writer.close()
    with contextlib.suppress(OSError, EOFError):
        async with asyncio.timeout(CLOSE_S_MAX):
            await writer.wait_closed()


def _decode(data: bytes, decoder: msgspec.msgpack.Decoder[_Said]) -> _Said:
    try:
        return decoder.decode(data)
    except UNREADABLE as error:
        raise MembershipError(
            "it speaks another version of Wingbeat: use the same one on both machines"
        ) from error
