"""What one worker runs in a row: a file, or of a long one a piece."""

from __future__ import annotations

from pathlib import Path

from tests.sharing import PIECE_MAX, pieces, places


def test_a_file_stays_together_and_a_long_one_is_shared_out() -> None:
    short = [f"tests/a.py::test_{number}" for number in range(PIECE_MAX)]
    long = [f"tests/b.py::test_all[a::b {number}]" for number in range(PIECE_MAX + 1)]
    found = pieces([*short, *long])
    assert {found[each] for each in short} == {"tests/a.py 0"}
    assert [found[each] for each in long] == ["tests/b.py 0"] * PIECE_MAX + ["tests/b.py 1"]


def test_what_waits_takes_turns_with_what_computes_and_some_of_that_comes_last() -> None:
    wait, compute = [Path(f"w{at}") for at in range(4)], [Path(f"c{at}") for at in range(10)]
    found = places({**dict.fromkeys(compute, False), **dict.fromkeys(wait, True)})
    order = " ".join(each.name for each in sorted(found, key=lambda file: found[file]))
    assert order == "w0 c0 c1 w1 c2 c3 w2 c4 c5 w3 c6 c7 c8 c9"
