"""One question to whoever answers at an address, and its answer: how all joining is spoken.

A connection is for one question, because then each side has one state to be in. Who is at the other
end is checked on the open connection, before anything is said on it, by whoever asks.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from agent.api.errors import MembershipError
from agent.net.addresses import Address
from agent.net.enrolment_messages import (
    ANSWER_BYTES_MAX,
    EXCHANGE_S_MAX,
    Answer,
    Question,
    close,
    decode_answer,
    encode,
    receive,
    send,
)
from agent.net.tls import NO_SERVER_NAME, TlsObject, explain

CONNECT_S_MAX = 5.0

Check = Callable[[TlsObject | None], None]


class NotThereError(MembershipError):
    """An address that did not work; another one may."""


async def exchange(
    address: Address, context: ssl.SSLContext, question: Question, check: Check
) -> Answer:
    """Ask one question at an address and return the answer; ``check`` judges the other end first.
    Raise ``NotThereError`` for whatever goes wrong on the way."""
    try:
        async with (
            asyncio.timeout(EXCHANGE_S_MAX),
            _connected(address, context) as (reader, writer),
        ):
            check(writer.get_extra_info("ssl_object"))
            await send(writer, encode(question))
            return decode_answer(await receive(reader, ANSWER_BYTES_MAX))
    except (OSError, EOFError) as error:
        raise NotThereError(explain(error)) from error


def certificate_of(tls: TlsObject | None) -> bytes:
    """Return the certificate that the other end shows, as DER; raise ``NotThereError`` when it
    shows none."""
    shown = tls.getpeercert(binary_form=True) if tls else None
    if shown is None:
        raise NotThereError("it shows no certificate")
    return shown


def same_as(certificate: bytes) -> Check:
    """Return a check that lets only a connection to the owner of this certificate pass; it raises
    ``NotThereError`` for any other."""

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
