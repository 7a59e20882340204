"""What is still to be fetched of a dataset: planned, taken, put back, doubted, complete."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from agent.net.transfer_words import PIECE_BYTES
from agent.net.transfer_work import Batch, Doubt, Large, Piece, Small, Work
from tests.net.pipes import LIMIT_S, MemoryPlace, MemoryShelf, digest_of

LARGE = bytes(range(256)) * (2 * PIECE_BYTES // 256) + b"the rest"
DIGEST = digest_of(LARGE)


def planned(shelf: MemoryShelf) -> Work:
    work = Work(shelf, "tree:1")
    work.plan(17, "name", b"manifest")
    return work


def all_batches(work: Work) -> list[Batch]:
    found: list[Batch] = []
    while (batch := work.take(wait=False)) is not None:
        found.append(batch)
    return found


def shown(batches: list[Batch]) -> list[object]:
    """Small files by their number, pieces by theirs, doubts as such."""
    return [
        len(each.files)
        if isinstance(each, Small)
        else f"piece {each.number}"
        if isinstance(each, Piece)
        else "doubt"
        for each in batches
    ]


@contextmanager
def hashing(work: Work) -> Iterator[None]:
    """Another thread follows the large files; what is not over then is ended."""
    with ThreadPoolExecutor(1) as threads:
        followed = threads.submit(work.hash_all)
        try:
            yield
        finally:
            work.fail(OSError("the test is over"))
            followed.exception(LIMIT_S)


def put(work: Work, piece: Batch | None, content: bytes = LARGE) -> None:
    """A piece has come."""
    assert isinstance(piece, Piece)
    offset = piece.number * PIECE_BYTES
    size = piece.large.place.piece_size(piece.number)
    piece.large.place.write(offset, memoryview(content)[offset : offset + size])
    work.piece_done(piece)


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([PIECE_BYTES], [1]),
        ([PIECE_BYTES - 1, 1], [2]),
        ([PIECE_BYTES - 1, 2], [1, 1]),
        ([1, PIECE_BYTES, 1], [1, 1, 1]),
        ([1] * 64, [64]),
        ([1] * 65, [64, 1]),
        ([PIECE_BYTES + 1, 5], [1, "piece 0", "piece 1"]),
        ([2 * PIECE_BYTES], ["piece 0", "piece 1"]),
        ([0], [1]),
    ],
)
def test_small_files_go_together_and_large_ones_in_pieces(
    sizes: list[int], batches: list[object]
) -> None:
    work = planned(MemoryShelf({f"{n:064}": size for n, size in enumerate(sizes)}))
    assert shown(all_batches(work)) == batches


def test_only_what_is_missing_is_fetched() -> None:
    shelf = MemoryShelf({"a": 1, "b": 1}, objects={"a": b"1"})
    work = planned(shelf)
    assert all_batches(work) == [Small((("b", 1),))]
    assert (shelf.adopted, work.over) == ([], False)
    work.small_done("b")
    assert (shelf.adopted, work.finished, work.over) == (
        [("tree:1", b"manifest", "name")],
        True,
        True,
    )
    assert work.progress == 1


def test_what_is_here_already_is_a_dataset_at_once() -> None:
    shelf = MemoryShelf({"a": 1}, objects={"a": b"1"})
    assert planned(shelf).finished
    assert shelf.adopted == [("tree:1", b"manifest", "name")]


def test_the_first_description_counts() -> None:
    shelf = MemoryShelf({"a": 1})
    work = planned(shelf)
    shelf.made_of = {"b": 2}
    work.plan(18, "other", b"other")
    assert all_batches(work) == [Small((("a", 1),))]
    work.small_done("a")
    assert shelf.adopted == [("tree:1", b"manifest", "name")]


def test_what_was_not_fetched_is_next_in_its_order() -> None:
    work = planned(MemoryShelf({DIGEST: 4 * PIECE_BYTES}))
    batches = [work.take(wait=False) for _ in range(2)]
    work.put_back([each for each in batches if each])
    assert shown(all_batches(work)) == ["piece 0", "piece 1", "piece 2", "piece 3"]


def test_of_small_files_only_those_that_did_not_come_are_next() -> None:
    work = planned(MemoryShelf({"a": 1, "b": 1, "c": 1}))
    (batch,) = all_batches(work)
    work.small_done("b")
    work.put_back([batch])
    assert all_batches(work) == [Small((("a", 1), ("c", 1)))]
    work.small_done("a")
    work.small_done("c")
    work.put_back([batch])
    assert all_batches(work) == []


@pytest.mark.parametrize("end", ["back", "fail", "done"])
def test_who_waits_is_woken(end: str) -> None:
    work = planned(MemoryShelf({"a": 1}))
    taken = work.take(wait=True)
    assert taken is not None
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(work.take, wait=True)
        match end:
            case "back":
                work.put_back([taken])
            case "fail":
                work.fail(OSError("gone"))
            case _:
                work.small_done("a")
        assert waiting.result(LIMIT_S) == (taken if end == "back" else None)


def test_nothing_is_given_out_when_it_is_over() -> None:
    work = planned(MemoryShelf({"a": 1}))
    work.fail(OSError("first"))
    work.fail(OSError("second"))
    assert (work.take(wait=False), work.take(wait=True)) == (None, None)
    assert (str(work.error), work.over, work.finished) == ("first", True, False)


def test_what_goes_wrong_on_this_disk_ends_it() -> None:
    work = planned(MemoryShelf({"a": 1}))
    with pytest.raises(OSError, match="full"), work.on_this_disk():
        raise OSError("full")
    assert str(work.error) == "full"


def test_a_large_file_is_complete_when_all_of_it_is_right() -> None:
    shelf = MemoryShelf({DIGEST: len(LARGE), "a": 1})
    work = planned(shelf)
    first, *pieces = all_batches(work)
    with hashing(work):
        for piece in reversed(pieces):
            put(work, piece)
        work.small_done("a")
        assert work.take(wait=True) is None
        assert (work.finished, work.error) == (True, None)
    assert (shelf.objects, shelf.places) == ({DIGEST: LARGE}, {})
    assert work.progress == 1 + len(pieces) == 4
    assert isinstance(first, Small)


def test_of_an_earlier_attempt_only_what_is_wrong_is_fetched() -> None:
    half = bytearray(LARGE)
    half[PIECE_BYTES] ^= 1
    shelf = MemoryShelf({DIGEST: len(LARGE)}, places={DIGEST: MemoryPlace(half, found=True)})
    work = planned(shelf)
    with hashing(work):
        doubt = work.take(wait=True)
        assert isinstance(doubt, Doubt)
        assert work.take(wait=False) is None
        work.doubt_settled(doubt.large, {0, 2})
        assert (doubt.large.done, work.progress) == ({0, 2}, 1)
        piece = work.take(wait=True)
        assert isinstance(piece, Piece)
        assert (piece.number, work.take(wait=False)) == (1, None)
        put(work, piece)
        assert work.take(wait=True) is None
    assert shelf.objects == {DIGEST: LARGE}


def test_missing_pieces_come_in_their_order_before_other_work() -> None:
    work = planned(MemoryShelf({DIGEST: len(LARGE), "a": 1}))
    small, *pieces = all_batches(work)
    (large,) = {each.large for each in pieces if isinstance(each, Piece)}
    work.put_back([small])
    work.doubt_settled(large, {1})
    assert shown(all_batches(work)) == ["piece 0", "piece 2", 1]


def test_what_is_wrong_is_doubted_three_times_and_given_up_then() -> None:
    shelf = MemoryShelf({DIGEST: len(LARGE)})
    work = planned(shelf)
    wrong = bytes(len(LARGE))
    doubts: list[Large] = []
    with hashing(work):
        while (batch := work.take(wait=True)) is not None:
            if isinstance(batch, Doubt):
                doubts.append(batch.large)
                assert batch.large.done == set()
                work.doubt_settled(batch.large, set())
            else:
                put(work, batch, wrong)
    assert len(doubts) == 3
    assert str(work.error) == (f"what came of sha256:{DIGEST} is wrong, and no copy of it is right")
    assert (shelf.given_up, shelf.objects, shelf.adopted) == ([DIGEST], {}, [])


def test_places_that_are_not_complete_are_closed_at_the_end() -> None:
    shelf = MemoryShelf({DIGEST: len(LARGE)})
    work = planned(shelf)
    with hashing(work):
        work.fail(OSError("gone"))
    assert shelf.places[DIGEST].closed


def test_who_follows_waits_for_the_plan() -> None:
    shelf = MemoryShelf({DIGEST: len(LARGE)})
    work = Work(shelf, "tree:1")
    follower = threading.Thread(target=work.hash_all)
    follower.start()
    work.plan(17, "name", b"manifest")
    for batch in all_batches(work):
        put(work, batch)
    follower.join(LIMIT_S)
    assert (follower.is_alive(), shelf.objects) == (False, {DIGEST: LARGE})
