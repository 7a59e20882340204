"""Results that go into folders of people: as they end, whole, never over anything, once."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent.control.verbs.submitting import misdelivered
from agent.data import delivery
from agent.protocol.records import InputRef, TaskSpec, TaskState
from tests.certain import certain
from tests.datasets.nodes import install_shout, points, submit, until
from tests.driver.nodes import flock_of, home_of, in_state, services, services_of_homes

TEXT = "NOTHING!"


def chain(notes: Path) -> tuple[TaskSpec, TaskSpec]:
    first = TaskSpec("a", "a", "shout", parameters=str(notes))
    return first, TaskSpec("b", "b", "shout", (InputRef("a", 0),), parameters=str(notes))


def contents(folder: Path) -> dict[str, str]:
    """What is in the folder; what is hidden, which may be going just now, by its name alone."""
    found = folder.iterdir() if folder.exists() else ()
    return {at.name: "" if at.name.startswith(".") else at.read_text() for at in found}


async def test_what_another_machine_made_of_my_work_comes_into_my_folder(tmp_path: Path) -> None:
    into = tmp_path / "lines" / "north"
    async with services(tmp_path, "ant", "bee") as (ant, bee):
        install_shout(bee.home.programs)
        bee.live.look_for_programs()
        await flock_of(ant, bee)
        await ant.live.datasets.deliver("w", into)
        await submit(ant, "w", *chain(tmp_path / "notes"))
        await until(lambda: contents(into) == {"loud.txt": TEXT + "!"})
        assert os.access(into / "loud.txt", os.W_OK)
        assert not bee.live.datasets._deliveries._wanted
    async with services_of_homes(tmp_path, "ant") as (ant,):
        remembered = ant.live.datasets._deliveries._wanted["w"]
        assert (remembered.folder, list(remembered.there)) == (str(into), ["b"])
        (into / "loud.txt").unlink()
        ant.live.datasets._deliveries.look_soon(0)
        await until(lambda: ant.live.datasets._deliveries._delivering is not None)
        await ant.live.datasets._deliveries._delivering  # type: ignore[misc]
        assert contents(into) == {}, "what its owner has removed does not come again"


async def test_what_ended_before_comes_too_and_nothing_is_replaced(tmp_path: Path) -> None:
    into = tmp_path / "lines"
    into.mkdir()
    for name in ("loud.txt", "loud (2).txt"):
        (into / name).write_text("mine")
    install_shout(home_of(tmp_path, "ant").programs)
    async with services_of_homes(tmp_path, "ant") as (ant,):
        await submit(ant, "w", *chain(tmp_path / "notes"))
        await until(lambda: in_state([ant], "b", TaskState.TERMINATED))
        await ant.live.datasets.deliver("w", into)
        wanted = {"loud.txt": "mine", "loud (2).txt": "mine", "loud (3).txt": TEXT + "!"}
        await until(lambda: contents(into) == wanted)
        ant.live.datasets._deliveries._wanted["w"].there.clear()  # as if the power had gone then
        (into / "loud.txt").write_text(TEXT + "!")
        ant.live.datasets._deliveries.look_soon(0)
        await until(lambda: bool(ant.live.datasets._deliveries._wanted["w"].there))
        assert contents(into) == {**wanted, "loud.txt": TEXT + "!"}
        await ant.live.datasets.deliver("w", tmp_path / "elsewhere")
        await until(lambda: contents(tmp_path / "elsewhere") == {"loud.txt": TEXT + "!"})


async def test_a_folder_that_cannot_be_written_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delivery, "AGAIN_S", 0.05)
    into = tmp_path / "lines"
    into.write_text("a file where the folder should be")
    install_shout(home_of(tmp_path, "ant").programs)
    async with services_of_homes(tmp_path, "ant") as (ant,):
        await ant.live.datasets.deliver("w", into)
        await submit(ant, "w", *chain(tmp_path / "notes"))
        await until(lambda: f"results for {into} wait" in caplog.text)
        await asyncio.to_thread(into.unlink)
        await until(lambda: contents(into) == {"loud.txt": TEXT + "!"})
        assert caplog.text.count("wait") == 1


async def test_a_folder_that_cannot_be_remembered_is_not_used(tmp_path: Path) -> None:
    async with services(tmp_path, "ant") as (ant,):
        deliveries = ant.live.datasets._deliveries
        deliveries._file.mkdir()
        with pytest.raises(OSError, match=deliveries._file.name):
            await ant.live.datasets.deliver("w", tmp_path / "into")
        assert (deliveries._wanted, deliveries._timer) == ({}, None)
        deliveries._file.rmdir()
        await ant.live.datasets.deliver("w", tmp_path / "into")
        assert deliveries._wanted["w"].folder == str(tmp_path / "into")


async def test_a_disk_without_links_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    for number in range(2):
        (tmp_path / "made").write_text(f"new {number}")
        (tmp_path / "into").mkdir(exist_ok=True)
        delivery._placed(tmp_path / "made", tmp_path / "into", "a.txt")
    assert contents(tmp_path / "into") == {"a.txt": "new 0", "a (2).txt": "new 1"}


def test_a_folder_of_results_has_its_files_and_comes_beside_another(tmp_path: Path) -> None:
    for number in (1, 2):
        made = tmp_path / "made" / "tiles"
        made.mkdir(parents=True)
        (made / "one.las").touch(0o400)
        delivery._for_everyday(made)
        (tmp_path / "into").mkdir(exist_ok=True)
        place = delivery._placed(made, tmp_path / "into", "tiles")
        assert place.name == ("tiles" if number == 1 else "tiles (2)")
        assert (place / "one.las").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("../../outside.txt", "made.txt"),
        ("/outside.txt", "made.txt"),
        ("sub/../../outside.txt", "made.txt"),
        ("..", "made.txt"),
        ("a\0b", "made.txt"),
        ("x" * 300, "made.txt"),
        (".profile", "profile"),
        ("north.txt", "north.txt"),
    ],
)
async def test_a_machine_names_a_result_and_not_where_it_goes(
    tmp_path: Path, told: str, name: str
) -> None:
    into = tmp_path / "home" / "lines"
    async with services(tmp_path, "ant") as (ant,):
        datasets = ant.live.datasets
        made = await datasets.add(points(tmp_path, "made.txt"))
        place = await asyncio.to_thread(datasets._deliveries._lay, made, told, into)
        assert place == into / name
        assert [each.name for each in into.rglob("*")] == [name]


@pytest.mark.parametrize(
    ("told", "far", "said"),
    [
        ("lines", False, "no whole path"),
        ("/home/ana/../../etc", False, "no whole path"),
        ("/home/ana/.config/autostart", False, "hidden"),
        ("/home/ana/lines", True, "submit it there"),
    ],
)
def test_where_results_must_not_go(told: str, far: bool, said: str) -> None:
    assert said in certain(misdelivered(told, far=far)).template


def test_where_results_may_go() -> None:
    assert misdelivered("/home/ana/lines", far=False) is None
    assert misdelivered("", far=True) is None
