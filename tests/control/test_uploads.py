"""What a client sends in pieces: where it lands, what is refused, what is left of it."""

from __future__ import annotations

import base64
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.uploads import EXECUTABLE, FREE_BYTES_MIN, OPEN_MAX, Uploads
from tests.control.serving import LineClient, Serving, greeted


def refusal(ask: Callable[[], object]) -> tuple[ErrorCode, str]:
    """Why this is refused."""
    with pytest.raises(RefusedError) as found:
        ask()
    return ErrorCode(found.value.problem.code), found.value.problem.message


@pytest.fixture
def kept(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "uploads")


def inside(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def take(kept: Uploads, number: str, path: str, data: bytes, offset: int = 0) -> int:
    return kept.take(number, path, offset, data, executable=False)


def test_a_file_comes_in_pieces(kept: Uploads) -> None:
    number = kept.begin("notes.txt", folder=False)
    assert [take(kept, number, "", b"hel"), take(kept, number, "", b"lo", 3)] == [3, 5]
    path, name = kept.content(number)
    assert (path.read_bytes(), path.name, name) == (b"hello", "notes.txt", "notes.txt")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_piece_of_which_the_disk_took_a_part_comes_again(kept: Uploads) -> None:
    number = kept.begin("notes.txt", folder=False)
    take(kept, number, "", b"hel")
    place, _ = kept.content(number)
    with place.open("ab") as file:
        file.write(b"l")
    assert take(kept, number, "", b"lo", 3) == 5
    assert place.read_bytes() == b"hello"


@pytest.mark.parametrize("offset", [2, 4, 0])
def test_a_piece_out_of_its_place_is_refused(kept: Uploads, offset: int) -> None:
    number = kept.begin("notes.txt", folder=False)
    take(kept, number, "", b"hel")
    sentence = f"upload_chunk: notes.txt has 3 bytes so far, not {offset}"
    found = refusal(lambda: take(kept, number, "", b"lo", offset))
    assert found == (ErrorCode.REFUSED, sentence)


def test_a_folder_has_its_files_where_they_were(kept: Uploads) -> None:
    number = kept.begin("C:\\data\\raw", folder=True)
    assert kept.content(number)[0].is_dir()
    assert take(kept, number, "a/b.txt", b"one") == 3
    assert kept.take(number, "run.sh", 0, b"two!", executable=True) == 4
    assert take(kept, number, "a/b.txt", b"!", 3) == 4
    for _ in range(2):
        kept.make_folder(number, "x/y")
    path, name = kept.content(number)
    found = {each.relative_to(path).as_posix(): each for each in path.rglob("*")}
    assert sorted(found) == ["a", "a/b.txt", "run.sh", "x", "x/y"]
    assert (found["a/b.txt"].read_bytes(), name) == (b"one!", "raw")
    assert stat.S_IMODE(found["run.sh"].stat().st_mode) == EXECUTABLE
    assert not found["a/b.txt"].stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x", "a/../../x", "a\\b", "c:x", "a\nb", "."]
)
def test_nothing_lands_outside_the_folder(kept: Uploads, path: str) -> None:
    number = kept.begin("raw", folder=True)
    sentence = f'upload_chunk: "{path}" is no path within the folder'
    assert refusal(lambda: take(kept, number, path, b"one")) == (ErrorCode.REFUSED, sentence)


def test_a_file_has_no_paths_and_an_unknown_upload_nothing(kept: Uploads) -> None:
    number = kept.begin("notes.txt", folder=False)
    sentence = "upload_chunk: a single file has no path"
    assert refusal(lambda: take(kept, number, "a", b"one")) == (ErrorCode.REFUSED, sentence)
    sentence = "end_upload: nothing of notes.txt was sent"
    assert refusal(lambda: kept.content(number)) == (ErrorCode.REFUSED, sentence)
    kept.forget(number)
    unknown = f'no upload of this connection is called "{number}"'
    assert refusal(lambda: kept.content(number)) == (ErrorCode.UNKNOWN, unknown)


@pytest.mark.parametrize(("free", "taken"), [(0, True), (-1, False)])
def test_the_disk_is_not_filled(
    kept: Uploads, free: int, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = kept.begin("notes.txt", folder=False)
    usage = SimpleNamespace(free=FREE_BYTES_MIN + 5 + free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    if taken:
        assert take(kept, number, "", b"hello") == 5
        return
    found = refusal(lambda: take(kept, number, "", b"hello"))
    assert found == (ErrorCode.REFUSED, "the disk of this machine is almost full")


def test_a_few_are_open_at_once_and_leave_nothing(kept: Uploads) -> None:
    numbers = [kept.begin("notes.txt", folder=False) for _ in range(OPEN_MAX)]
    found = refusal(lambda: kept.begin("more.txt", folder=False))
    assert found == (ErrorCode.TOO_MANY, f"{OPEN_MAX} uploads are open: end one of them")
    assert len(inside(kept.folder)) == OPEN_MAX
    kept.forget(numbers[0])
    kept.begin("more.txt", folder=False)
    kept.forget_all()
    assert inside(kept.folder) == []


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


async def test_the_verbs_make_a_dataset_of_what_was_sent(
    there: Serving, client: LineClient, tmp_path: Path
) -> None:
    begun = await client.result("begin_upload", {"name": "raw", "folder": True})
    piece = {"upload": begun["upload"], "path": "a.txt"}
    assert await client.result("upload_chunk", {**piece, "data": coded(b"hello")}) == {
        "size_bytes": 5
    }
    empty = {"upload": begun["upload"], "path": "b", "folder": True}
    assert await client.result("upload_chunk", {**empty, "data": ""}) == {"size_bytes": 0}
    assert await client.refusal("upload_chunk", {**empty, "data": coded(b"x")}) == (
        ErrorCode.REFUSED,
        "upload_chunk: a folder has no data of its own",
    )
    into_file = {"upload": begun["upload"], "path": "a.txt/b", "data": coded(b"x")}
    assert await client.refusal("upload_chunk", into_file) == (
        ErrorCode.REFUSED,
        "upload_chunk: a.txt/b cannot be written: File exists",
    )
    added = await client.result("end_upload", {"upload": begun["upload"]})
    assert (added["name"], added["dataset"]["size_bytes"]) == ("raw", 5)
    assert inside(tmp_path / "uploads") == []


async def test_what_cannot_be_kept_is_told_and_forgotten(
    there: Serving, client: LineClient, tmp_path: Path
) -> None:
    begun = await client.result("begin_upload", {"name": "raw", "folder": True})
    shutil.rmtree(tmp_path / "uploads" / begun["upload"])
    code, sentence = await client.refusal("end_upload", {"upload": begun["upload"]})
    assert (code, sentence[:11]) == (ErrorCode.REFUSED, "end_upload:")
    code, sentence = await client.refusal("end_upload", {"upload": begun["upload"]})
    assert (code, sentence[:9]) == (ErrorCode.UNKNOWN, "no upload")


async def test_what_a_client_that_goes_has_begun_is_forgotten(
    there: Serving, client: LineClient, tmp_path: Path
) -> None:
    async with greeted(there) as other:
        await other.result("begin_upload", {"name": "raw"})
        assert len(inside(tmp_path / "uploads")) == 1
        other.writer.write_eof()
        assert await other.line() == b""
    assert inside(tmp_path / "uploads") == []
