"""What is left of a start that fails on Linux: nothing."""

from __future__ import annotations

import errno
import os
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("these groups are those of Linux", allow_module_level=True)

from agent.execution import groups_linux


@pytest.mark.parametrize("pairs", [0, 1, 2])
def test_pipes_that_were_made_are_closed_when_there_is_no_third(
    monkeypatch: pytest.MonkeyPatch, pairs: int
) -> None:
    made: list[int] = []
    make = os.pipe2

    def pipe2(flags: int) -> tuple[int, int]:
        if len(made) == 2 * pairs:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        ends = make(flags)
        made.extend(ends)
        return ends

    monkeypatch.setattr(os, "pipe2", pipe2)
    with pytest.raises(OSError, match="Too many open files"):
        groups_linux._pipes()
    assert len(made) == 2 * pairs
    for file in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(file)


def test_each_end_of_a_pipe_is_its_sides_and_ours_never_block() -> None:
    ours, theirs = groups_linux._pipes()
    try:
        assert [os.get_blocking(file) for file in ours] == [False] * 3
        assert [os.get_blocking(file) for file in theirs] == [True] * 3
        for write, read in ((ours[0], theirs[0]), (theirs[1], ours[1]), (theirs[2], ours[2])):
            assert os.write(write, b"x") == 1
            assert os.read(read, 2) == b"x"
    finally:
        for file in (*ours, *theirs):
            os.close(file)
