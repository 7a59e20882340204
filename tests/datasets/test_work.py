"""Tasks and their data on live nodes: inputs come, outputs are kept twice, lost ones made again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.client.removal import PARTING_STANDS_STILL_S
from agent.data.retention import wanted_of
from agent.net import transfer_words
from agent.net.transfer_words import Pipe
from agent.node.agent import Agent
from agent.protocol.events import MarkGate
from agent.protocol.records import Evicted, InputRef, NodeId, TaskSpec, TaskState, Terminated
from agent.protocol.settings import Settings
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import (
    MEGABYTE,
    a_file,
    a_folder,
    brought,
    here,
    install_shout,
    laid,
    points,
    raw,
    submit,
    until,
)
from tests.driver.nodes import (
    QUIET,
    flock_of,
    home_of,
    in_state,
    members,
    reading,
    services,
    services_of_homes,
)
from tests.hosts.waiting import EVENTUALLY_S_MAX


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Where each run is noted."""
    return tmp_path / "notes"


def shout(task: str, notes: Path, **more: object) -> TaskSpec:
    return TaskSpec(task, task, "shout", parameters=str(notes), **more)  # type: ignore[arg-type]


def runs(notes: Path) -> list[str]:
    return notes.read_text().split() if notes.exists() else []


def gate(task: str, after: str) -> TaskSpec:
    return TaskSpec(task, task, "", after=(after,), gate=True, asks="go on?")


async def open_gate(service: Agent, task: str) -> None:
    await until(lambda: in_state([service], task, TaskState.WAITING))
    await service.ask(MarkGate("", task))


def with_shout(folder: Path, *names: str) -> None:
    for name in names:
        install_shout(home_of(folder, name).programs)


async def test_a_task_gets_its_input_from_where_it_is_and_its_output_is_on_two_disks(
    tmp_path: Path,
    notes: Path,
) -> None:
    async with services(tmp_path, "ant", "bee") as (ant, bee):
        install_shout(bee.home.programs)
        bee.live.look_for_programs()
        await flock_of(ant, bee)
        given = await ant.live.datasets.add(points(tmp_path, "quiet.txt", b"a quiet word"))
        second = TaskSpec("b", "b", "shout", (InputRef("a", 0),), parameters=str(notes))
        await submit(ant, "w", shout("a", notes, raw=raw(given)), second)
        await until(lambda: in_state([ant, bee], "b", TaskState.TERMINATED))
        for task, said in (("a", b"A QUIET WORD!"), ("b", b"A QUIET WORD!!")):
            (output,) = reading(ant, task).outputs
            assert not output.external
            await until(lambda output=output: here(ant, output.dataset))  # type: ignore[misc]
            assert here(bee, output.dataset)
            outcome = reading(ant, task).outcome
            assert outcome is not None
            assert set(outcome.phase.holders) == {ant.node_id, bee.node_id}  # type: ignore[union-attr]
            assert await ant.live.datasets.read(output.dataset, "", 0, 99) == said
        names = {kept.dataset: kept.name for kept in bee.live.datasets.store.listing()}
        made = [names[reading(ant, each).outputs[0].dataset] for each in ("a", "b")]
        assert made == ["loud.txt"] * 2


async def test_the_machine_that_submitted_a_folder_may_go_away(tmp_path: Path, notes: Path) -> None:
    with_shout(tmp_path, "bee", "cat")
    home = home_of(tmp_path, "ant", volunteer="paused")
    async with services_of_homes(tmp_path, "bee", "cat") as (bee, cat):
        ant = await Agent.start(home, QUIET)
        await flock_of(ant, bee, cat)
        given = await ant.live.datasets.add(a_folder(tmp_path / "raw", [10, 20, 5 * MEGABYTE]))
        await submit(
            ant,
            "w",
            gate("g", "z"),
            shout("z", notes),
            shout("a", notes, raw=raw(given), after=("g",)),
        )
        await until(lambda: here(bee, given.dataset) or here(cat, given.dataset))
        await until(lambda: in_state([bee, cat], "z", TaskState.TERMINATED))
        await ant.stop("switched off")
        await open_gate(bee, "g")
        await until(lambda: in_state([bee, cat], "a", TaskState.TERMINATED))
        assert runs(notes) == ["z", "a"]


async def test_when_all_copies_are_lost_the_task_runs_again_and_says_why(
    tmp_path: Path, notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with_shout(tmp_path, "ant", "bee")
    async with services_of_homes(tmp_path, "ant", "bee") as (ant, bee):
        await flock_of(ant, bee)
        after = TaskSpec(
            "b", "b", "shout", (InputRef("a", 0),), after=("g",), parameters=str(notes)
        )
        await submit(ant, "w", shout("a", notes), gate("g", "a"), after)
        await until(lambda: in_state([ant, bee], "a", TaskState.TERMINATED))
        (output,) = reading(ant, "a").outputs
        for service in (ant, bee):
            service.live.datasets.store.remove([output.dataset])
        await open_gate(bee, "g")
        await until(lambda: in_state([ant, bee], "b", TaskState.TERMINATED))
        assert runs(notes) == ["a", "a", "b"]
        story = repr([*ant.story("a"), *bee.story("a")])
        assert f"outputs lost: {output.dataset}" in story
    assert "outputs lost: sha256:" in caplog.text


async def test_a_node_without_room_gives_the_task_back_in_words(
    tmp_path: Path, notes: Path
) -> None:
    install_shout(home_of(tmp_path, "bee", datasets_gb=0.001).programs)
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services_of_homes(tmp_path, "bee") as (bee,),
    ):
        await flock_of(ant, bee)
        path, dataset = a_file(tmp_path / "raw", 5 * MEGABYTE)
        given = await ant.live.datasets.add(path)
        await submit(ant, "w", shout("a", notes, raw=raw(given)))

        def given_back() -> list[str]:
            runs_ = ant.table.life("a").runs
            return [each.phase.reason for each in runs_ if isinstance(each.phase, Evicted)]

        await until(lambda: bool(given_back()))
        assert "no room for" in given_back()[0]
        assert reading(ant, "a").state is TaskState.READY
        assert not here(bee, dataset)
        assert runs(notes) == []


async def test_an_input_that_was_damaged_here_is_fetched_again_and_nothing_failed(
    tmp_path: Path,
    notes: Path,
) -> None:
    with_shout(tmp_path, "bee")
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services_of_homes(tmp_path, "bee") as (bee,),
    ):
        await flock_of(ant, bee)
        given = await ant.live.datasets.add(points(tmp_path, "quiet.txt", b"a quiet word"))
        await until(lambda: here(bee, given.dataset))
        place = bee.live.datasets.store.sound(given.dataset.partition(":")[2])
        place.chmod(0o600)
        place.write_text("A LOUDER ONE")
        await submit(ant, "w", shout("a", notes, raw=raw(given)))
        await until(lambda: in_state([ant, bee], "a", TaskState.TERMINATED))
        assert [type(run.phase) for run in ant.table.life("a").runs] == [Evicted, Terminated]
        (output,) = reading(ant, "a").outputs
        assert await bee.live.datasets.read(output.dataset, "", 0, 99) == b"A QUIET WORD!"


async def test_what_work_needs_stays_and_so_do_results_until_their_workflow_leaves(
    tmp_path: Path,
    notes: Path,
) -> None:
    with_shout(tmp_path, "ant")
    async with services_of_homes(tmp_path, "ant") as (ant,):
        given = await ant.live.datasets.add(points(tmp_path, "quiet.txt", b"a quiet word"))
        last = TaskSpec("b", "b", "shout", (InputRef("a", 0),), parameters=str(notes))
        await submit(ant, "w", shout("a", notes, raw=raw(given)), gate("g", "b"), last)
        await until(lambda: in_state([ant], "b", TaskState.TERMINATED))
        (middle,), (end,) = reading(ant, "a").outputs, reading(ant, "b").outputs
        everything = {given.dataset, middle.dataset, end.dataset}
        assert wanted_of(ant.table).needed == everything
        await open_gate(ant, "g")
        await until(lambda: in_state([ant], "g", TaskState.TERMINATED))
        wanted = wanted_of(ant.table)
        assert wanted.needed == frozenset()
        assert wanted.results == {end.dataset}


async def test_a_result_that_was_made_while_a_machine_was_alone_gets_its_second_disk_later(
    tmp_path: Path,
    notes: Path,
) -> None:
    with_shout(tmp_path, "ant")
    home_of(tmp_path, "bee")
    async with services_of_homes(tmp_path, "ant", "bee") as (ant, bee):
        await submit(ant, "w", shout("a", notes))
        await until(lambda: in_state([ant], "a", TaskState.TERMINATED))
        (end,) = reading(ant, "a").outputs
        assert wanted_of(ant.table).results == {end.dataset}
        assert not here(bee, end.dataset)
        await flock_of(ant, bee)
        await until(lambda: here(bee, end.dataset))
        assert runs(notes) == ["a"]


# -- datasets between live nodes: fetched from several, resumed, verified, copied, refused ---------


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_large_file_comes_from_several_holders(
    tmp_path: Path, in_thread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer_words, "LEAVES_THE_LOOP", in_thread)

    async with members(tmp_path, "ant", "bee", "cat", volunteer="paused") as (ant, bee, cat):
        path, dataset = a_file(tmp_path / "raw", 30 * MEGABYTE + 17)
        await ant.live.datasets.add(path)
        await until(lambda: here(bee, dataset) or here(cat, dataset))
        lacking = cat if here(bee, dataset) else bee
        await until(lambda: len(lacking.live.datasets.holders(dataset)) == 2)
        await lacking.live.datasets.bring(dataset)
        assert here(lacking, dataset)
        assert (await laid(lacking, dataset, tmp_path / "laid")).read_bytes() == path.read_bytes()


async def test_a_folder_of_many_files_comes_with_its_names(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee):
        sizes = [0, 1, 5 * MEGABYTE, *range(2_000, 2_150)]
        folder = a_folder(tmp_path / "raw", sizes)
        dataset = (await ant.live.datasets.add(folder)).dataset
        await flock_of(ant, bee)
        await until(lambda: here(bee, dataset))
        (view,) = (await bee.live.datasets.listing()).datasets
        assert view.name == "raw"
        assert view.size_bytes == sum(sizes)
        copy = await laid(bee, dataset, tmp_path / "laid")
        for original in folder.rglob("*.bin"):
            assert (copy / original.relative_to(folder)).read_bytes() == original.read_bytes()


async def test_a_damaged_copy_is_dropped_and_the_good_one_taken(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", "cat", volunteer="paused") as (ant, bee, cat):
        path, dataset = a_file(tmp_path / "raw", 9 * MEGABYTE)
        for node in (ant, bee):
            node.live.datasets.store.keep(path)
        _rot(bee.live.datasets.store, dataset)
        await flock_of(ant, bee, cat)
        await until(lambda: len(cat.live.datasets.holders(dataset)) == 2)
        await cat.live.datasets.bring(dataset)
        assert (await laid(cat, dataset, tmp_path / "laid")).read_bytes() == path.read_bytes()


async def test_a_damaged_only_copy_is_dropped_and_said(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee):
        for size in (9 * MEGABYTE, 1_000):
            path, dataset = a_file(tmp_path / "raw", size)
            ant.live.datasets.store.keep(path)
            _rot(ant.live.datasets.store, dataset)
            if bee.flock.flock() is None:
                await flock_of(ant, bee)
            with pytest.raises(OSError, match="could not be fetched"):
                await brought(bee, dataset)
            await until(lambda dataset=dataset: not here(ant, dataset))  # type: ignore[misc]
            await until(lambda dataset=dataset: not bee.live.datasets.holders(dataset))  # type: ignore[misc]


async def test_a_transfer_that_breaks_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipe is cut after every few megabytes."""
    size = 40 * MEGABYTE
    monkeypatch.setattr(transfer_words.SocketPipe, "receive_into", _cut_after(12 * MEGABYTE))

    async with services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee):
        path, dataset = a_file(tmp_path / "raw", size)
        ant.live.datasets.store.keep(path)
        await flock_of(ant, bee)
        await brought(bee, dataset)
        assert (await laid(bee, dataset, tmp_path / "laid")).read_bytes() == path.read_bytes()


async def test_what_has_no_room_is_refused_in_words(tmp_path: Path) -> None:
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services(tmp_path, "bee", volunteer="paused", datasets_gb=0.002) as (bee,),
    ):
        await flock_of(ant, bee)
        path, dataset = a_file(tmp_path / "raw", 9 * MEGABYTE)
        await ant.live.datasets.add(path)
        with pytest.raises(OSError, match="no room for"):
            await brought(bee, dataset)
        assert (await bee.live.datasets.listing()).used_bytes == 0
        small_path, other = a_file(tmp_path / "raw", 1_000, "small")
        await ant.live.datasets.add(small_path)
        await until(lambda: here(bee, other))


async def test_who_takes_a_copy_counts_at_once_and_who_refuses_one_does_not(tmp_path: Path) -> None:
    """Before its own word comes: nobody is given a third copy because that is slow."""

    async with (
        services(tmp_path, "ant", "bee", volunteer="paused") as (ant, bee),
        services(tmp_path, "cat", volunteer="paused", datasets_gb=0.002) as (cat,),
    ):
        path, dataset = a_file(tmp_path / "raw", 9 * MEGABYTE)
        ant.live.datasets.store.keep(path)
        await flock_of(ant, bee, cat)
        transfers, peers = ant.live.datasets.transfers, (cat.node_id, bee.node_id)
        assert await transfers.spread([dataset], peers, 1) == [bee.node_id]
        assert transfers.takers(dataset) == {bee.node_id}
        assert transfers.takers(f"sha256:{64 * '0'}") == set()


async def test_copies_go_to_machines_that_are_mostly_on(tmp_path: Path) -> None:
    async with members(tmp_path, "ant", "bee", "cat") as (ant, bee, cat):
        path, dataset = a_file(tmp_path / "raw", MEGABYTE)
        ant.live.datasets.store.keep(path)
        transfers, peers = ant.live.datasets.transfers, (bee.node_id, cat.node_id)
        assert not any(map(ant.live.uptimes.mostly_off, peers))  # nothing is known yet
        transfers.mostly_off = {bee.node_id: True, cat.node_id: False}.__getitem__
        assert await transfers.spread([dataset], peers, 1) == [cat.node_id]


async def test_what_only_this_node_keeps_is_taken_by_another_before_it_goes(
    tmp_path: Path,
) -> None:
    options = replace(QUIET, protocol=Settings(copies=1))
    async with members(tmp_path, "ant", "bee", options=options) as (ant, bee):
        path, name = a_file(tmp_path / "mine", MEGABYTE)
        await ant.live.datasets.add(path)
        assert not here(bee, name)
        left = await ant.live.datasets.hand_over(EVENTUALLY_S_MAX)
        assert (left.datasets, left.takers, here(bee, name)) == (0, 1, True)
        await bee.stop("it goes first")
        again = await ant.live.datasets.hand_over(0.0)
        assert (again.datasets, again.size_bytes, again.takers) == (1, MEGABYTE, 0)


async def test_who_goes_offers_again_what_a_peer_broke_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for a machine that goes as long as a refusal rests otherwise."""
    options = replace(QUIET, protocol=Settings(copies=1))
    async with members(tmp_path, "ant", "bee", options=options) as (ant, bee):
        path, name = a_file(tmp_path / "mine", MEGABYTE)
        await ant.live.datasets.add(path)
        transfers, failed = ant.live.datasets.transfers, list[NodeId]()
        reach = transfers.reach

        async def broken(peer: NodeId) -> Pipe:
            if not failed:
                failed.append(peer)
                raise ConnectionResetError("the link was one too many")
            return await reach(peer)

        monkeypatch.setattr(transfers, "reach", broken)
        left = await ant.live.datasets.hand_over(PARTING_STANDS_STILL_S)
        assert (left.datasets, here(bee, name), failed) == (0, True, [bee.node_id])


async def test_what_nobody_has_is_said(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", volunteer="paused") as (ant,):
        with pytest.raises(OSError, match="nobody has it"):
            await ant.live.datasets.bring("sha256:" + "0" * 64)


def _rot(store: DatasetStore, dataset: str) -> None:
    """One byte on the disk turns, and neither size nor time tell."""
    path = store.sound(dataset.partition(":")[2])
    known = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(content)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def _cut_after(size: int) -> Callable[[transfer_words.SocketPipe, memoryview], int]:
    receive = transfer_words.SocketPipe.receive_into

    def cutting(self: transfer_words.SocketPipe, view: memoryview) -> int:
        seen: int = getattr(self, "seen", 0)
        if seen > size:
            raise ConnectionResetError("cut by the test")
        got = receive(self, view)
        self.seen = seen + got  # type: ignore[attr-defined]
        return got

    return cutting
