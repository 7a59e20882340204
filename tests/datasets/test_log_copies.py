"""Whom a machine gives the ends of its logs to, when, and how much: over real sockets, on real disks."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest

from agent.api.errors import ServiceError
from agent.data import log_copies
from agent.data.log_copies import LogCopies
from agent.net import transfer_words
from agent.net.transfer_words import LogPiece, Pipe
from agent.paths import task_folder, task_log
from agent.protocol.effects import WorkflowGone
from agent.protocol.events import ChildFailed, ChildStarted, ChildSucceeded
from agent.protocol.node import Node
from agent.protocol.reasons import EndCause
from agent.protocol.records import PriorityWish, TaskSpec, Workflow, WorkflowSpec
from agent.protocol.settings import Settings
from agent.storage.kept_logs import packed
from tests.certain import certain
from tests.hosts.waiting import eventually
from tests.net.pipes import SocketEnd, served

ME = "ant"
BYTES_MAX = 1_000


@dataclass
class Place:
    """A machine that gives, the peers that it can reach, and what they have taken."""

    folder: Path
    copies: LogCopies = field(init=False)
    peers: dict[str, LogCopies] = field(default_factory=dict)
    reachable: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refusing: set[str] = field(default_factory=set)

    async def reach(self, peer: str) -> Pipe:
        self.asked.append(peer)

        def serve(pipe: SocketEnd) -> None:
            if peer in self.refusing:
                transfer_words.hear(pipe)  # one of a version before ends the transfer then
                return
            transfer_words.serve(
                pipe,
                cast("Any", None),
                cast("Any", None),
                lambda told: self.peers[peer].take(ME, told),
            )

        return served(serve)[0]

    def printed(self, task: str, text: bytes, attempt: int = 1) -> None:
        path = task_log(self.folder / "logs", task, 1, attempt)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(text)

    def kept(self, peer: str, task: str, attempt: int = 1) -> bytes | None:
        found = certain(self.peers[peer]._kept).read(task, f"1.{attempt}.{ME}", 0, 10**6)
        return None if found is None else found.data


def name_of(attempt: int = 1) -> tuple[int, int, str, int]:
    return (1, attempt, ME, 1)


def begun(task: str, attempt: int = 1) -> ChildStarted:
    return ChildStarted(task, name_of(attempt))


def ended(task: str, attempt: int = 1) -> ChildSucceeded:
    return ChildSucceeded(task, name_of(attempt), ())


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setattr(log_copies, "EVERY_S", 0.05)
    monkeypatch.setattr(log_copies, "SOON_S", 0.01)
    made = Place(tmp_path)

    async def begin(name: str, copies: int = 2) -> LogCopies:
        folder = tmp_path / name
        folder.mkdir()
        each = LogCopies(name, folder, tmp_path / "logs", made.reach, BYTES_MAX)
        await each.begin(cast("Node", Reachable(made)), copies)
        return each

    made.copies = await begin(ME)
    first, second = made.copies.keepers(ME, ["bee", "cat"])
    made.peers = {each: await begin(each) for each in (first, second)}
    made.reachable = [second, first]
    yield made
    for each in (made.copies, *made.peers.values()):
        await each.close()


@dataclass
class Reachable:
    """As much of a node as is asked."""

    place: Place

    def reachable(self) -> tuple[str, ...]:
        return tuple(self.place.reachable)


async def test_the_end_of_a_log_goes_to_the_first_in_the_order(place: Place) -> None:
    first, second = place.peers
    place.copies.heed(begun("t"))
    place.printed("t", b"a" * 300 + b"b" * BYTES_MAX)
    place.copies.heed(ended("t"))
    await eventually(lambda: bool(place.kept(first, "t")))
    assert place.kept(first, "t") == b"b" * BYTES_MAX
    assert place.kept(second, "t") is None
    assert place.asked == [first]
    assert place.copies._timer is None, "nothing is armed while nothing runs"


async def test_what_is_added_follows_while_it_runs_and_nothing_is_told_twice(place: Place) -> None:
    first, _ = place.peers
    place.copies.heed(begun("t"))
    for text, whole in ((b"one ", b"one "), (b"two ", b"one two ")):
        place.printed("t", text)
        await eventually(lambda whole=whole: place.kept(first, "t") == whole)  # type: ignore[misc]
    asked = len(place.asked)
    assert asked == 2, "who has printed nothing is not told of"
    place.printed("t", b"end")
    place.copies.heed(ChildFailed("t", name_of(), EndCause("ExitCode", count=1)))
    place.copies.heed(begun("silent", 2))
    place.copies.heed(ended("silent", 2))
    await eventually(lambda: not place.copies._waiting)
    assert place.kept(first, "t") == b"one two end"
    assert place.kept(first, "silent", 2) is None


async def test_the_next_one_keeps_what_the_first_does_not(place: Place) -> None:
    first, second = place.peers
    place.refusing.add(first)
    place.copies.heed(begun("t"))
    place.printed("t", b"text")
    place.copies.heed(ended("t"))
    await eventually(lambda: bool(place.kept(second, "t")))
    place.copies.heed(begun("u"))
    place.printed("u", b"more")
    place.copies.heed(ended("u"))
    await eventually(lambda: bool(place.kept(second, "u")))
    assert place.asked == [first, second, second], "who refused is left alone for a while"


async def test_when_its_keeper_goes_another_one_is_told_all_again(place: Place) -> None:
    first, second = place.peers
    place.copies.heed(begun("t"))
    place.printed("t", b"one ")
    await eventually(lambda: bool(place.kept(first, "t")))
    place.reachable.remove(first)
    place.printed("t", b"two")
    await eventually(lambda: place.kept(second, "t") == b"one two")


async def test_alone_it_waits_for_a_peer_and_looks_at_nothing(place: Place) -> None:
    first, _ = place.peers
    reachable, place.reachable = place.reachable, []
    place.copies.heed(begun("t"))
    place.printed("t", b"text")
    place.copies.heed(ended("t"))
    await eventually(lambda: place.copies._timer is None and place.copies._work is not None)
    place.reachable = reachable
    place.copies.peer_seen()
    await eventually(lambda: bool(place.kept(first, "t")))


async def test_a_setting_of_nothing_and_results_without_copies_copy_nothing(tmp_path: Path) -> None:
    for number, (bytes_max, copies) in enumerate(((0, 2), (BYTES_MAX, 1))):
        place = Place(tmp_path / str(number))
        place.folder.mkdir()
        alone = LogCopies(ME, place.folder, place.folder, place.reach, bytes_max)
        await alone.begin(cast("Node", Reachable(place)), copies)
        alone.heed(begun("t"))
        alone.heed(ended("t"))
        assert (alone._waiting, alone._timer) == ({}, None)
        await alone.close()


async def test_what_tasks_have_printed_goes_with_them_and_nothing_else(place: Place) -> None:
    first, _ = place.peers
    for task in ("t", "w/u"):
        place.copies.heed(begun(task))
        place.printed(task, b"text")
        place.copies.heed(ended(task))
    await eventually(lambda: all(place.kept(first, task) for task in ("t", "w/u")))
    peer, whole = place.peers[first], place.peers[first].kept_bytes
    assert await peer.size_of(["w/u", "none"]) == 4 + len(packed(b"text"))
    await peer.let_go(["w/u", "none"])
    assert (place.kept(first, "w/u"), place.kept(first, "t")) == (None, b"text")
    assert (await peer.size_of(["w/u"]), peer.kept_bytes * 2) == (0, whole)
    assert [each.name for each in (place.folder / "logs").iterdir()] == ["task-t"]


def left(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / "logs").iterdir())


def gone_notice(task: str, rested_ms: int) -> WorkflowGone:
    at_ms = int(time.time() * 1000) - rested_ms
    spec = WorkflowSpec("w", "w", (at_ms, 0), "cat", "ana", (TaskSpec(task, task, "p"),))
    return WorkflowGone(Workflow(spec, PriorityWish(1, "cat", 50)), (), "cat")


async def test_logs_of_removed_work_go_on_other_machines_too_those_of_old_work_stay(
    place: Place,
) -> None:
    """A workflow that leaves the table when its time is over is still in the history."""
    first, _ = place.peers
    for task in ("old", "removed"):
        place.printed(task, b"text")
        place.peers[first].take(ME, (LogPiece(task, 1, 1, 0, 0, 4, packed(b"text")),))
    retention_ms = Settings().retention_ms
    place.peers[first].gone(gone_notice("old", retention_ms + 1))
    place.peers[first].gone(gone_notice("removed", 1_000))
    await eventually(lambda: left(place.folder) == ["task-old"])
    await eventually(lambda: place.kept(first, "removed") is None)
    assert place.kept(first, "old") == b"text"


async def test_logs_that_nobody_knows_any_more_are_deleted_after_their_days(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = {"in the table": 9, "in the/history": 9, "unknown": 9, "lately": 6, "just now": 0}
    for task, old in days.items():
        place.printed(task, b"text")
        folder, at_s = task_folder(place.folder / "logs", task), time.time() - old * 86_400
        for each in (*folder.glob("*"), folder):
            os.utime(each, (at_s, at_s))

    async def known(tasks: Sequence[str]) -> set[str]:
        assert "in the table" not in tasks
        return {"in the/history"}

    place.copies.known = known
    await place.copies.tidy({"in the table"})
    stays = {"in the table", "in the/history", "lately", "just now"}
    assert left(place.folder) == sorted(f"task-{quote(each, safe='')}" for each in stays)
    monkeypatch.setattr(log_copies, "STRAY_BYTES_MAX", 3)
    await place.copies.tidy({"in the table"})
    stays.remove("lately")
    assert left(place.folder) == sorted(f"task-{quote(each, safe='')}" for each in stays)


async def test_without_a_history_no_log_is_taken_for_one_that_nobody_knows(place: Place) -> None:
    place.printed("t", b"text")
    for path in (*place.folder.glob("logs/*/*"), *place.folder.glob("logs/*")):
        os.utime(path, (0, 0))

    async def none(tasks: Sequence[str]) -> set[str]:
        raise ServiceError("no history is kept here")

    await place.copies.tidy(())
    place.copies.known = none
    await place.copies.tidy(())
    assert left(place.folder) == ["task-t"]
