"""A later version of the program on the wire: what it says more than this one understands.

Nodes of different versions share a flock, so surplus fields at the end of a message must be
ignored and unknown fields of records kept and passed on (they travel under ``more``).
"""

from __future__ import annotations

import msgspec

_decode = msgspec.msgpack.Decoder(list[object]).decode
_encode = msgspec.msgpack.Encoder().encode

MORE = {"colour": msgspec.Raw(_encode("blue")), "weights": msgspec.Raw(_encode([1, 2, 3]))}
"""What a later version attaches to its records."""


def as_newer_version(data: bytes) -> bytes:
    """The message with fields appended that this version has never heard of."""
    return _encode([*_decode(data), "a field of a later version", {"and": "another"}])
