"""Questions to an X server and its answers, to the last byte, without a server."""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Iterator

import pytest

if sys.platform == "win32":
    pytest.skip("X servers are for other systems", allow_module_level=True)

from agent.presence.sources.x11 import XConnection, XError, XRefusal

LIMIT_S = 30.0


def answer(kind: int, sequence: int, detail: int = 0, extra: bytes = b"") -> bytes:
    """Of an X server: 0 is an error, 1 a reply, everything else an event."""
    return struct.pack("=BBHI", kind, detail, sequence, len(extra) // 4) + bytes(24) + extra


@pytest.fixture
def wire() -> Iterator[tuple[socket.socket, XConnection]]:
    near, far = socket.socketpair()
    near.settimeout(LIMIT_S)
    with near, far:
        yield far, XConnection(near)


@pytest.mark.parametrize(
    "before",
    [
        b"",
        answer(2, 1),
        answer(1, 9, extra=b"old."),
        answer(35, 1, extra=b"12345678"),
        answer(0, 7),
    ],
    ids=["nothing", "an event", "an old answer", "a long event", "an old error"],
)
def test_the_answer_to_a_question_is_found(
    wire: tuple[socket.socket, XConnection], before: bytes
) -> None:
    server, connection = wire
    server.sendall(before + answer(1, 1, 5, b"abcdefgh"))
    reply = connection.ask(38, 7, b"12345")
    assert (reply.head[1], reply.extra) == (5, b"abcdefgh")
    assert server.recv(100) == struct.pack("=BBH", 38, 7, 3) + b"12345\0\0\0"


def test_questions_are_counted_and_begin_anew(wire: tuple[socket.socket, XConnection]) -> None:
    server, connection = wire
    for number in (1, 2):
        server.sendall(answer(1, number, number))
        assert connection.ask(1, 0, b"").head[1] == number
    connection._sequence = 65_535
    server.sendall(answer(1, 0, 9))
    assert connection.ask(1, 0, b"").head[1] == 9


def test_a_server_may_refuse_answer_too_much_or_go(
    wire: tuple[socket.socket, XConnection],
) -> None:
    server, connection = wire
    server.sendall(answer(0, 1, 3))
    with pytest.raises(XRefusal, match="its error 3"):
        connection.ask(1, 0, b"")
    server.sendall(struct.pack("=BBHI", 1, 0, 2, 2**20 + 1) + bytes(24))
    with pytest.raises(XError, match="answers too much"):
        connection.ask(1, 0, b"")
    server.close()
    with pytest.raises(OSError, match=r"has gone|Broken pipe"):
        connection.ask(1, 0, b"")


def test_properties_of_another_kind_are_none(wire: tuple[socket.socket, XConnection]) -> None:
    server, connection = wire
    atom = struct.pack("=I", 77) + bytes(20)
    value = struct.pack("=II", 501, 502)
    counted = bytes(8) + struct.pack("=I", 2) + bytes(12)
    server.sendall(answer(1, 1)[:8] + atom)
    for number, bits in enumerate((32, 8, 8, 32), 2):
        server.sendall(answer(1, number, bits, value)[:8] + counted + value)
    assert connection.numbers(5, "NAME") == (501, 502)
    assert connection.numbers(5, "NAME") == ()
    assert connection.text(5, "NAME") == value[:2].decode("utf-8", "replace")
    assert connection.text(5, "NAME") == ""
    asked = server.recv(1_000)
    assert asked.startswith(struct.pack("=BBHHH", 16, 0, 3, 4, 0) + b"NAME")
    assert asked.count(struct.pack("=BBHII", 20, 0, 6, 5, 77)) == 4
