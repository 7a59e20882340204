"""What a program finds around it, before it is started."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.execution.scratch import OutputError, Saving, Scratch, ScratchFolders
from agent.protocol.effects import StartChild
from agent.protocol.reasons import EndCause
from agent.protocol.records import Dataset, TaskSpec
from tests.driver.worlds import RUN


def made(place: Path, store: Laid | None) -> Scratch:
    """A working folder as it is when its program begins."""
    scratch = Scratch(place / "run", store)
    scratch.make()
    return scratch


async def test_what_python_prints_is_utf_8_on_every_system(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, None)
    for own, told in (({}, "1"), ({"PYTHONUTF8": "0"}, "0")):  # who decides otherwise is heard
        assert (await scratch.environment(of_task(), own))["PYTHONUTF8"] == told


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "left").write_text("secret"),
        lambda folder: folder.chmod(0o777),
        lambda folder: (folder / "inner").mkdir(),
        lambda folder: folder.rmdir(),
    ],
    ids=["a file", "other rights", "a folder", "removed"],
)
async def test_what_a_run_has_changed_is_gone_for_the_next(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    folders = ScratchFolders(tmp_path, None)
    first, second = folders.take(), folders.take()
    change(first.folder)
    await folders.give_back(first)
    assert not first.folder.exists()
    await folders.give_back(second)
    change(second.folder)
    third = folders.take()
    assert third.folder not in (first.folder, second.folder), "also what is changed too late"
    assert list(third.folder.iterdir()) == []


# -- what a program is told and what it leaves ---------------------------------------------------

OWN, OTHER = "sha256:" + 64 * "a", "tree:" + 64 * "b"


class Laid:
    """A store that lays an empty file, and keeps by name."""

    def __init__(self, refuses: bool = False) -> None:
        self.refuses = refuses
        self.kept: list[str] = []

    async def lay(self, dataset: str, into: Path) -> Path:
        if self.refuses:
            raise OSError(f"{dataset} is not here")
        (into / "a.txt").touch()
        return into / "a.txt"

    async def keep(self, path: Path, name: str) -> Dataset:
        assert path.exists()
        self.kept.append(name)
        return Dataset(f"sha256:{name}", 1)

    def free_bytes(self) -> int:
        return 0


def of_task(**more: object) -> StartChild:
    told = {name: more.pop(name) for name in ("inputs", "checkpoint") if name in more}
    spec = TaskSpec("t", "t", "tell", **more)  # type: ignore[arg-type]
    return StartChild("t", RUN, spec, **{"inputs": (), **told})  # type: ignore[arg-type]


async def test_what_it_takes_lies_numbered_in_its_folder(tmp_path: Path) -> None:
    scratch = made(tmp_path, Laid())
    given = tmp_path / "given-run"
    raw = (Dataset(OWN), Dataset("row-17", external=True))
    effect = of_task(raw=raw, inputs=(OWN, OTHER, "row-18"), parameters="fast and good")
    assert await scratch.arguments(effect) == [
        *("-p", str(given / "inputs" / "0" / "a.txt"), "-p", "row-17"),
        *("-i", str(given / "inputs" / "2" / "a.txt"), "-i", "row-18"),
        *("-x", "fast and good"),
    ]


async def test_without_a_store_identifiers_are_passed_on(tmp_path: Path) -> None:
    effect = of_task(raw=(Dataset(OWN),), inputs=(OTHER,))
    assert await Scratch(tmp_path, None).arguments(effect) == ["-p", OWN, "-i", OTHER]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ("one line", ""),
        ("two\nlines", "parameters.txt"),
        ("<a>1</a>", "parameters.xml"),
        (" \n<a>1</a>", "parameters.xml"),
        ("1 < 2", ""),
    ],
)
async def test_more_than_a_line_of_parameters_is_a_file(
    tmp_path: Path, parameters: str, name: str
) -> None:
    scratch = Scratch(tmp_path / "run", None)
    told = await scratch.arguments(of_task(parameters=parameters))
    assert told == ["-x", str(scratch.given / name) if name else parameters]
    laid = scratch.given.iterdir() if name else ()
    assert [each.read_text() for each in laid] == ([parameters] if name else [])
    assert scratch.given.exists() is bool(name)
    assert scratch.reads() == ((str(scratch.given),) if name else ())


@pytest.mark.parametrize(
    ("checkpoint", "store", "found"),
    [
        (OWN, Laid(), True),
        ("", Laid(), False),
        ("row-17", Laid(), False),
        (OWN, None, False),
        (OWN, Laid(refuses=True), False),
    ],
)
async def test_a_saved_state_is_found_where_it_can_be(
    tmp_path: Path, checkpoint: str, store: Laid | None, found: bool
) -> None:
    scratch = Scratch(tmp_path / "run", store)
    told = await scratch.environment(of_task(checkpoint=checkpoint), {})
    path = told.get("WINGBEAT_CHECKPOINT")
    assert path == (str(scratch.given / "checkpoint" / "a.txt") if found else None)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        *(("a", True), ("inner", True), ("inner/b", True), ("./inner/../a", True)),
        *((".", False), ("", False), ("..", False), ("../beside", False), ("gone", False)),
        *(("a\0b", False), ("away", False), ("pipe", False), ("loop", False)),
    ],
)
async def test_only_files_and_folders_of_its_own_are_kept(
    tmp_path: Path, name: str, own: bool
) -> None:
    store = Laid()
    scratch = made(tmp_path, store)
    folder = scratch.folder
    (folder / "inner").mkdir()
    for path in (folder / "a", folder / "inner" / "b", folder.parent / "beside"):
        path.touch()
    (folder / "away").symlink_to(folder.parent / "beside")
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    [kept], [called] = await scratch.outputs((name,), (), "t")
    assert kept.external is not own
    assert store.kept == ([Path(name).name] if own else [])
    assert called == (Path(name).name if own else "")
    outside = ((Dataset(name, external=True),), ("",))
    assert await Scratch(scratch.home, None).outputs((name,), (), "t") == outside


async def test_outputs_are_what_it_named_each_kept_once_or_else_what_is_declared(
    tmp_path: Path,
) -> None:
    store = Laid()
    scratch = made(tmp_path, store)
    for name in "ab":
        (scratch.folder / name).touch()

    async def outputs(named: tuple[str, ...] | None, declared: tuple[str, ...]) -> list[str]:
        kept, _ = await scratch.outputs(named, declared, "t")
        return [each.dataset for each in kept]

    assert await outputs(("b", "x", "b"), ("one", "two", "three")) == ["sha256:b", "x", "sha256:b"]
    assert store.kept == ["b"]
    assert await outputs((), ()) == []
    assert await outputs(None, ("b", "a")) == ["sha256:b", "sha256:a"]
    with pytest.raises(OutputError) as found:
        await outputs(("a",), ("a", "b"))
    assert found.value.why == EndCause("TooFewOutputs", count=1, limit=2)
    with pytest.raises(OutputError) as found:
        await outputs(None, ("a", "c", "d"))
    assert found.value.why == EndCause("NoOutput", error="c, d")
    elsewhere, _ = await Scratch(scratch.home, None).outputs(None, ("a", "c"), "t")
    assert elsewhere == (Dataset("t:0", external=True), Dataset("t:1", external=True))


async def test_what_a_program_made_and_nobody_named_is_its_outputs_in_the_order_of_names(
    tmp_path: Path,
) -> None:
    notes, store = list[str](), Laid()
    scratch = made(tmp_path, store)
    folder = scratch.folder
    assert await scratch.outputs(None, None, "t") == NOTHING
    effect = of_task(raw=(Dataset(OWN),), parameters="a\nb", checkpoint=OTHER)
    await scratch.arguments(effect)
    await scratch.environment(effect, {})
    for name in ("state", "b.txt", "a.txt", ".cache", "deep/er/c.txt", "links/one"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "bare" / "inner").mkdir(parents=True)
    (folder / "latest").symlink_to("a.txt")
    os.mkfifo(folder / "pipe")
    assert scratch.save("state") is not None
    assert sorted(each.name for each in scratch.given.iterdir()) == GIVEN
    kept, names = await scratch.outputs(None, None, "t", notes.append)
    assert store.kept == list(names) == ["a.txt", "b.txt", "deep", "links"]
    assert [each.dataset for each in kept] == [f"sha256:{name}" for name in store.kept]
    assert [each.partition(": ")[2] for each in notes] == [
        "a.txt, b.txt, deep, links",
        ".cache, latest, pipe",
    ]
    store.kept.clear()
    assert await scratch.outputs(None, (), "t") == NOTHING, (
        "its description says that there are none"
    )
    assert await Scratch(scratch.home, None).outputs(None, None, "t") == NOTHING
    for number in range(1_001):
        (folder / f"tile-{number}").touch()
    with pytest.raises(OutputError) as found:
        await scratch.outputs(None, None, "t")
    assert found.value.why == EndCause("TooMuchMade", count=1_005, limit=1_000)
    assert store.kept == []
    await asyncio.to_thread(shutil.rmtree, folder)
    assert await scratch.outputs(None, None, "t") == NOTHING


@pytest.mark.skipif(sys.platform == "win32", reason="there names are always text")
async def test_a_name_that_is_no_text_is_kept_and_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    name, notes, store = os.fsdecode(b"caf\xe9.txt"), list[str](), Laid()
    scratch = made(tmp_path, store)
    (scratch.folder / name).touch()
    _, names = await scratch.outputs(None, None, "t", notes.append)
    assert (store.kept, names) == ([name], ("caf\ufffd.txt",))
    assert notes[0].endswith(": caf\ufffd.txt")


NOTHING = ((), ())
GIVEN = ["checkpoint", "inputs", "parameters.txt", "saved"]


async def test_a_few_folders_that_were_left_alone_serve_the_next_runs(tmp_path: Path) -> None:
    folders = ScratchFolders(tmp_path, None)
    taken = [folders.take() for _ in range(18)]
    assert len({each.folder for each in taken}) == 18, "each has its own at a time"
    for each in taken:
        await folders.give_back(each)
    assert len(list(tmp_path.iterdir())) == 16
    again = folders.take().folder
    assert again in [each.folder for each in taken]
    assert again.stat().st_mode & 0o777 == 0o700
    folders.close()
    assert list(tmp_path.iterdir()) == [again.parent], "those in use stay"


def test_saved_states_are_taken_out_of_its_hands_one_after_the_other(tmp_path: Path) -> None:
    scratch = made(tmp_path, Laid())
    folder = scratch.folder
    for number in ("1", "2"):
        (folder / "state").write_text(number)
        path = scratch.save("state")
        assert path == scratch.given / "saved" / number / "state"
        assert path.read_text() == number
    assert scratch.save("state") is None, "it has been taken"
    assert scratch.save("../state") is None
    (folder / "state").touch()
    (scratch.given / "saved" / "3").mkdir()
    assert scratch.save("state") is None, "there is no place for it"
    assert Scratch(scratch.home, None).save("state") is None
    assert (folder / "state").exists()


async def test_a_saved_state_is_kept_one_at_a_time_and_of_those_that_wait_the_newest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    go, told = asyncio.Event(), list[Dataset]()

    class Slow(Laid):
        async def keep(self, path: Path, name: str) -> Dataset:
            await go.wait()
            if not self.kept:
                self.kept.append(name)
                raise OSError("the disk is full")
            return await super().keep(path, name)

    store = Slow()
    scratch = made(tmp_path, store)
    for name in "abcd":
        (scratch.folder / name).touch()
    saving = Saving(scratch, told.append)
    await saving.finish()
    for name in ("a", "b", "c", "gone"):
        saving.take(name)
        await asyncio.sleep(0)
    go.set()
    await saving.finish()
    assert store.kept == ["a", "c"]
    assert told == [Dataset("sha256:c", 1)]
    saving.take("d")
    await saving.finish()
    assert store.kept == ["a", "c", "d"], "it goes on after that"
    assert "'gone' as its saved state" in caplog.text
    assert "the disk is full" in caplog.text


async def test_a_state_that_the_store_does_not_take_in_time_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.execution.scratch.FINISH_S", 0.0)
    store, told = Laid(), list[Dataset]()
    monkeypatch.setattr(store, "keep", lambda *_: asyncio.Event().wait())
    scratch = made(tmp_path, store)
    (scratch.folder / "a").touch()
    saving = Saving(scratch, told.append)
    saving.take("a")
    await saving.finish()
    assert told == []
