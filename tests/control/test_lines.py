"""Bytes to lines, however they come in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.control.envelope import Lines, TooLong

LIMIT_BYTES = 8


def cut(pieces: list[bytes]) -> list[bytes | TooLong]:
    lines = Lines(LIMIT_BYTES)
    taken: list[bytes | TooLong] = []
    for piece in pieces:
        lines.feed(piece)
        taken += lines.take()
    return taken


def test_lines_come_without_their_ends() -> None:
    assert cut([b"one\r\ntw", b"o\n\n thr", b"ee\nrest"]) == [b"one", b"two", b"", b"three"]


def test_a_line_too_long_is_told_at_once_and_once() -> None:
    assert cut([b"123456789"]) == [TooLong(LIMIT_BYTES)]
    assert cut([b"123456789", b"0" * 20, b"1\nnext\n"]) == [TooLong(LIMIT_BYTES), b"next"]
    assert cut([b"12345678\n123456789\nnext\n"]) == [b"12345678", TooLong(LIMIT_BYTES), b"next"]


def test_a_raised_limit_counts_from_the_next_line() -> None:
    lines = Lines(LIMIT_BYTES)
    lines.feed(b"hello\nnow it is longer\n")
    taken = []
    for line in lines.take():
        taken.append(line)
        lines.limit_bytes = 100
    assert taken == [b"hello", b"now it is longer"]


@given(
    st.lists(st.text("ab", max_size=12), max_size=8),
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
)
def test_pieces_do_not_matter(texts: list[str], sizes: list[int]) -> None:
    data = "".join(f"{text}\n" for text in texts).encode()
    pieces, start = list[bytes](), 0
    while start < len(data):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[start : start + size])
        start += size
    assert cut(pieces) == cut([data])
    assert len(cut(pieces)) == len(texts)


@given(st.lists(st.integers(1, 40), max_size=20))
def test_what_is_held_is_bounded(sizes: list[int]) -> None:
    lines = Lines(LIMIT_BYTES)
    for size in sizes:
        lines.feed(b"x" * size)
        list(lines.take())
        assert len(lines._held) <= LIMIT_BYTES
