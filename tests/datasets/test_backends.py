"""Results outside the nodes: a shared folder, an object store in memory, and a real database."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import msgspec
import pytest

from agent.api.errors import ServiceError
from agent.data.node_datasets import open_backend
from agent.data.shared import SharedResults
from agent.node.agent import Agent
from agent.protocol.events import ChildSucceeded, Event, MarkGate
from agent.protocol.node import Node
from agent.protocol.records import Dataset, InputRef, TaskSpec, TaskState
from agent.storage.datasets.backend import (
    Backend,
    BackendError,
    Outcome,
    Sharing,
    Stored,
)
from agent.storage.datasets.store import DatasetStore
from tests.datasets.database import server, why_no_server
from tests.datasets.nodes import (
    LIMIT_S,
    MEGABYTE,
    a_file,
    a_folder,
    here,
    install_shout,
    points,
    submit,
    until,
)
from tests.driver.nodes import QUIET, flock_of, home_of, in_state, reading, services_of_homes

KINDS = ("folder", "object store", "database")


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Backend]:
    """The back end that is a folder."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    with opened((tmp_path / "shared").as_uri()) as backend:
        yield backend


@contextmanager
def opened(url: str) -> Iterator[Backend]:
    backend = open_backend(url)
    assert backend is not None
    with closing(backend):
        yield backend


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if why_no_server():
        pytest.skip(why_no_server())
    with server() as url:
        yield url


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "database":
        found: str = request.getfixturevalue("database")
        return found
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    if request.param == "folder":
        return (tmp_path / "shared").as_uri()
    return f"memory://{uuid.uuid4().hex}"


@pytest.fixture
def backend(url: str) -> Iterator[Backend]:
    with opened(url) as backend:
        yield backend


def outcome(task: str, run: str, *outputs: str, generation: int = 1) -> Outcome:
    made = tuple(Dataset(each, external=True) for each in outputs)
    return Outcome(task, generation, run, "count", "tree:1", ("sha256:in",), made, 5)


def test_what_one_node_gives_another_has(
    backend: Backend, store: DatasetStore, tmp_path: Path
) -> None:
    path, large = a_file(tmp_path / "raw", 3 * MEGABYTE + 5)
    with closing(DatasetStore(tmp_path / "other")) as other:
        store.keep(path)
        folder = store.keep(a_folder(tmp_path / "folder", [0, 10, 2 * MEGABYTE])).dataset
        giving, taking = Sharing(store, backend), Sharing(other, backend)
        for dataset in (large, folder):
            assert not taking.bring(dataset)
            for _ in range(2):
                giving.give(dataset)
            assert taking.bring(dataset)
            assert other.files(dataset) == store.files(dataset)
        assert other.read(large, "", 0, 4 * MEGABYTE) == path.read_bytes()
        assert "folder" in [each.name for each in other.listing()]


def test_an_outcome_is_committed_once_and_says_what_made_it(backend: Backend) -> None:
    task, key = uuid.uuid4().hex, f"row-{uuid.uuid4().hex}"
    first = outcome(task, "1.1 by ant", key)
    assert backend.commit(first) == first
    assert backend.commit(outcome(task, "1.2 by bee", "other")) == first
    assert backend.made(key) == [first]
    again = outcome(task, "2.1 by bee", "other", generation=2)
    assert backend.commit(again) == again


def test_of_many_that_commit_at_once_one_is_first(url: str) -> None:
    task = uuid.uuid4().hex

    def commit(number: int) -> str:
        with opened(url) as backend:
            return backend.commit(outcome(task, f"run {number}", f"row-{number}")).run

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(commit, range(16)))) == 1


def read_once(content: bytes) -> Callable[[], bytes]:
    pieces = iter([content, b""])
    return lambda: next(pieces)


def fetched(backend: Backend, digest: str) -> bytes:
    got: list[bytes] = []
    backend.get_content(digest, got.append)
    return b"".join(got)


def test_a_content_that_is_there_is_not_sent_again(backend: Backend) -> None:
    unwanted = Mock(side_effect=AssertionError("it is there already"))
    for content in (uuid.uuid4().bytes, b""):
        digest = hashlib.sha256(content + uuid.uuid4().bytes).hexdigest()
        for read in (read_once(content), unwanted):
            backend.put_content(digest, read, len(content))
        assert fetched(backend, digest) == content


def test_what_fails_on_this_side_is_not_laid_to_the_back_end(backend: Backend) -> None:
    full = OSError(errno.ENOSPC, "no room here")
    failing = Mock(side_effect=full)
    digest, other = (hashlib.sha256(uuid.uuid4().bytes).hexdigest() for _ in range(2))
    backend.put_content(digest, read_once(b"content"), 7)
    with pytest.raises(OSError, match="no room here") as raised:
        backend.get_content(digest, failing)
    assert raised.value is full
    with pytest.raises(OSError, match="no room here") as raised:
        backend.put_content(other, failing, 7)
    assert raised.value is full
    assert fetched(backend, digest) == b"content"


def test_of_a_dataset_all_that_was_put_is_found(backend: Backend) -> None:
    stored = Stored(f"tree:{uuid.uuid4().hex}", 17, "photos", b"\x00 manifest")
    assert backend.find(stored.dataset) is None
    for _ in range(2):
        backend.put(stored)
    assert backend.find(stored.dataset) == stored


def test_who_made_a_dataset_last_is_told_first(backend: Backend) -> None:
    key, other = f"row-{uuid.uuid4().hex}", f"row-{uuid.uuid4().hex}"
    assert backend.made(key) == []
    tasks = [uuid.uuid4().hex for _ in range(3)]
    made = [
        msgspec.structs.replace(outcome(task, "1.1 by ant", key, other), committed_ms=committed_ms)
        for task, committed_ms in zip(tasks, (5, 9, 7), strict=True)
    ]
    for each in made:
        assert backend.commit(each) == each
    assert backend.made(key) == backend.made(other) == [made[1], made[2], made[0]]


def test_a_content_of_another_size_is_put_anew(backend: Backend) -> None:
    whole = uuid.uuid4().bytes
    digest = hashlib.sha256(whole).hexdigest()
    for content in (whole[:4], whole):
        backend.put_content(digest, read_once(content), len(content))
    assert fetched(backend, digest) == whole


def test_a_content_that_is_not_there_is_told(backend: Backend) -> None:
    with pytest.raises(BackendError):
        fetched(backend, hashlib.sha256(uuid.uuid4().bytes).hexdigest())


def test_a_content_that_is_put_anew_leaves_no_other_file(shared: Backend, tmp_path: Path) -> None:
    digest = hashlib.sha256(b"what it should be").hexdigest()
    for content in (b"half", b"what it should be"):
        shared.put_content(digest, read_once(content), len(content))
    assert [path.name for path in (tmp_path / "shared").rglob("*") if path.is_file()] == [digest]


def test_what_no_node_wrote_is_told(shared: Backend, tmp_path: Path) -> None:
    shared.put(Stored("tree:1", 17, "photos"))
    (tmp_path / "shared" / "datasets" / "tree-1").write_bytes(b"\xc1")
    with pytest.raises(BackendError, match="holds what no node wrote"):
        shared.find("tree:1")
    with pytest.raises(BackendError, match="cannot be used just now"):
        shared.get_content("0" * 64, lambda _: None)


def test_half_an_outcome_of_a_node_that_died_is_none(
    shared: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.storage.datasets.backend_folder.LOOK_AGAIN_S", 0.0)
    half, mine = outcome("t", "1.1 by ant", "row"), outcome("t", "1.2 by bee", "row")
    shared.commit(half)
    (written,) = (tmp_path / "shared" / "outcomes").iterdir()
    written.write_bytes(written.read_bytes()[:9])
    assert shared.commit(mine) == shared.commit(half) == mine
    assert list((tmp_path / "shared" / "outcomes").iterdir()) == [written]


def test_where_files_have_one_name_only_an_outcome_is_still_committed_once(
    shared: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.link", Mock(side_effect=OSError("no second names here")))
    first = outcome("t", "1.1 by ant", "row")
    for each in (first, outcome("t", "1.2 by bee", "row")):
        assert shared.commit(each) == first


def test_the_nodes_themselves_need_no_back_end() -> None:
    assert open_backend("") is None
    assert open_backend("embedded") is None


def test_what_is_in_the_back_end_is_asked_for_once(
    backend: Backend, store: DatasetStore, tmp_path: Path
) -> None:
    sharing = Sharing(store, backend)
    dataset = store.keep(a_file(tmp_path / "raw", 10)[0]).dataset
    assert not sharing.has(dataset)
    sharing.give(dataset)
    assert sharing.has(dataset)


def test_damage_on_the_way_is_found(backend: Backend, store: DatasetStore) -> None:
    wrong, digest = b"something else", hashlib.sha256(b"what it should be").hexdigest()
    backend.put_content(digest, read_once(wrong), len(wrong))
    backend.put(Stored(f"sha256:{digest}", len(wrong), "wrong"))
    with pytest.raises(OSError, match="what came is not"):
        Sharing(store, backend).bring(f"sha256:{digest}")
    assert store.holdings() == ()


async def test_what_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    opened = open_backend(f"postgresql://me@/none?host={tmp_path}")
    assert opened is not None
    with pytest.raises(BackendError, match="the database for datasets cannot be used"):
        opened.find("sha256:" + "0" * 64)

    home = home_of(tmp_path, "ant", datasets="nonsense://here")
    with pytest.raises(ServiceError, match="cannot be used for datasets"):
        await Agent.start(home, QUIET)


def test_a_database_that_was_away_is_used_again(database: str) -> None:
    import psycopg

    with opened(database) as backend:
        assert backend.find("sha256:0") is None
        with psycopg.connect(database) as other, suppress(psycopg.Error):
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid()"
            )
        with pytest.raises(BackendError):
            backend.find("sha256:0")
        assert backend.find("sha256:0") is None


async def test_work_goes_on_from_the_back_end_when_its_maker_is_gone(
    tmp_path: Path, url: str
) -> None:
    """The maker never had a peer that took a copy; its output is in the back end alone."""
    notes, mark = tmp_path / "notes", uuid.uuid4().hex[:8]
    for name in ("ant", "bee"):
        install_shout(home_of(tmp_path, name, datasets=url).programs)
    first, last, gate = f"first{mark}", f"last{mark}", f"gate{mark}"
    async with services_of_homes(tmp_path, "ant", "bee") as (ant, bee):
        bee.presence.pause()
        await flock_of(ant, bee)
        given = await ant.live.datasets.add(points(tmp_path, "quiet.txt", f"word {mark}".encode()))
        told: dict[str, Any] = {"parameters": str(notes)}
        needs = (InputRef(first, 0),)
        await submit(
            ant,
            f"w{mark}",
            TaskSpec(first, first, "shout", raw=(given,), **told),
            TaskSpec(gate, gate, "", after=(first,), gate=True, asks="go on?"),
            TaskSpec(last, last, "shout", needs, after=(gate,), **told),
        )
        await until(lambda: in_state([ant, bee], first, TaskState.TERMINATED))
        (output,) = reading(bee, first).outputs
        assert not here(bee, output.dataset)
        await ant.stop("switched off")
        bee.presence.resume()
        await until(lambda: in_state([bee], gate, TaskState.WAITING))
        await bee.ask(MarkGate("", gate))
        await until(lambda: in_state([bee], last, TaskState.TERMINATED))
        assert notes.read_text().split() == [first, last]
        made = await asyncio.to_thread(bee.live.datasets.shared.backend.made, output.dataset)  # type: ignore[union-attr]
        assert [each.task for each in made] == [first]


async def test_who_does_not_use_the_back_end_gets_it_from_one_who_does(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    url = (tmp_path / "shared").as_uri()
    settings = {"ant": url, "bee": url, "cat": "embedded"}
    for name, each in settings.items():
        home_of(tmp_path, name, datasets=each)
    async with services_of_homes(tmp_path, *settings) as (ant, bee, cat):
        await flock_of(ant, bee, cat)
        path, dataset = a_file(tmp_path / "raw", 2 * MEGABYTE)
        given = await ant.live.datasets.add(path)
        await submit(ant, "w", TaskSpec("a", "a", "nothing here", raw=(given,)))
        await until(lambda: bee.node_id in cat.live.datasets.holders(dataset))
        await ant.stop("switched off")
        assert not here(bee, dataset)
        await cat.live.datasets.bring(dataset)
        assert await cat.live.datasets.read(dataset, "", 0, 3 * MEGABYTE) == path.read_bytes()


async def test_the_end_waits_for_a_commit_that_is_on_its_way(
    shared: Backend, store: DatasetStore
) -> None:
    """Else the back end is closed under it."""
    begun, go_on, committed = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        def commit(self, outcome: Outcome) -> Outcome:
            begun.set()
            assert go_on.wait(LIMIT_S)
            first = shared.commit(outcome)
            committed.set()
            return first

    spec = TaskSpec("a", "a", "count")
    node = SimpleNamespace(
        table=SimpleNamespace(specs={"a": spec}, life=lambda _: SimpleNamespace(runs=()))
    )
    told: list[Event] = []
    sharing = Sharing(store, cast("Backend", Slow()))
    results = SharedResults(sharing, cast("Node", node), told.append)
    results.commit(ChildSucceeded("a", (1, 1, "ant", 1), ()), told.append)
    await asyncio.to_thread(begun.wait)
    closing_it = asyncio.create_task(results.close())
    done, _ = await asyncio.wait([closing_it], timeout=0.2)
    go_on.set()
    assert not done
    await closing_it
    assert committed.is_set()
    assert told == []
