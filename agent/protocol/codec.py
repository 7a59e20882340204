"""Messages as bytes: msgpack, decoded against the types, so that nothing malformed gets in.

Any bytes decode to a message, to ``UnknownMessage`` (a tag of a later version: counted and
ignored), or raise ``RemoteProtocolError``. Nothing else, whatever a peer sends.
"""

from __future__ import annotations

from typing import get_args

import msgspec

from agent.protocol.errors import UNREADABLE, RemoteProtocolError
from agent.protocol.messages import Message

MESSAGE_BYTES_MAX = 32 * 1024 * 1024
TAG_LENGTH_MAX = 64

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)
KNOWN_TAGS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Message))


class _Tagged(msgspec.Struct, array_like=True):
    tag: str


_tag_decoder = msgspec.msgpack.Decoder(_Tagged)


class UnknownMessage(msgspec.Struct, frozen=True):
    """A message of a later version, by its tag."""

    tag: str


def encode(message: Message) -> bytes:
    """Return the message as bytes."""
    return _encoder.encode(message)


def decode(data: bytes) -> Message | UnknownMessage:
    """Decode one message, ``UnknownMessage`` for one of a later version; raise
    ``RemoteProtocolError`` when the bytes are none."""
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
