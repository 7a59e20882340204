"""A launcher of Wayland, as much of one as passes a person's click on: it asks for a token.

A start menu asks the compositor for such a token and hands it to what it starts. The protocol is a few
numbers, and no library for it is part of this project; so it is spoken here as it goes over the wire.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from tests.hosts.waiting import EVENTUALLY_S_MAX

ACTIVATION = "xdg_activation_v1"
DISPLAY, REGISTRY, MANAGER, TOKEN = 1, 2, 3, 4
GET_REGISTRY, BIND, GET_TOKEN, COMMIT = 1, 0, 1, 3
GLOBAL, DONE = 0, 0
HEAD = struct.Struct("=IHH")


def activation_token(display: Path) -> str:
    """A new one; raises where the compositor gives none."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(EVENTUALLY_S_MAX)
        wire.connect(str(display))
        _send(wire, DISPLAY, GET_REGISTRY, struct.pack("=I", REGISTRY))
        for sender, code, body in _events(wire):
            if (sender, code) == (REGISTRY, GLOBAL):
                (name,) = struct.unpack_from("=I", body)
                if _text(body, 4) == ACTIVATION:
                    _ask(wire, name)
            elif (sender, code) == (TOKEN, DONE):
                return _text(body, 0)
    raise ConnectionError("the compositor ended the conversation")


def _ask(wire: socket.socket, name: int) -> None:
    kind = ACTIVATION.encode() + b"\0"
    words = struct.pack("=II", name, len(kind)) + kind.ljust(-(-len(kind) // 4) * 4, b"\0")
    _send(wire, REGISTRY, BIND, words + struct.pack("=II", 1, MANAGER))
    _send(wire, MANAGER, GET_TOKEN, struct.pack("=I", TOKEN))
    _send(wire, TOKEN, COMMIT, b"")


def _send(wire: socket.socket, receiver: int, code: int, body: bytes) -> None:
    wire.sendall(HEAD.pack(receiver, code, HEAD.size + len(body)) + body)


def _events(wire: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    with wire.makefile("rb") as read:
        while len(head := read.read(HEAD.size)) == HEAD.size:
            sender, code, size = HEAD.unpack(head)
            yield sender, code, read.read(size - HEAD.size)


def _text(body: bytes, at: int) -> str:
    (length,) = struct.unpack_from("=I", body, at)
    return body[at + 4 : at + 4 + length - 1].decode()
