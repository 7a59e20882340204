"""The folders of Wingbeat itself: no verb takes anything from there, and none writes there.

They hold the keys, and the programs that run here without a question.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.api.datasets import FilesReply, FileView
from agent.client import fetching
from agent.client.fetching import fetch_files
from agent.control.verbs.submitting import misdelivered
from agent.paths import VARIABLE, Home
from agent.regular_files import INTERNET, mark_as_foreign
from tests.certain import certain
from tests.control.serving import Serving, greeted


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    made = Home.at(tmp_path / "home")
    made.prepare()
    made.identity.mkdir()
    (made.identity / "node.key").write_text("secret")
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "link").symlink_to(made.identity)
    return made


@pytest.mark.parametrize(
    "path", ["home/data/identity/node.key", "home/data", "home", ".", "shown/link/node.key"]
)
async def test_no_verb_takes_keys_in(there: Serving, home: Home, tmp_path: Path, path: str) -> None:
    wanted = str(tmp_path / path)
    async with greeted(there) as client:
        _, added = await client.refusal("add_dataset", {"path": wanted})
        assert "its keys are never sent" in added
        if Path(wanted).is_dir():
            _, published = await client.refusal("publish", {"folder": wanted})
            assert "its keys are never sent" in published


async def test_what_lies_beside_is_taken_and_an_installed_program_is_no_secret(
    there: Serving, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "beside").write_text("scan")
    program = home.programs / "copy"
    program.mkdir(parents=True)
    async with greeted(there) as client:
        assert (await client.result("add_dataset", {"path": str(tmp_path / "beside")}))["name"]
        await client.result("publish", {"folder": str(program)})
        _, refused = await client.refusal("publish", {"folder": str(home.programs)})
        assert "its keys are never sent" in refused


def test_nothing_is_delivered_into_them(home: Home, tmp_path: Path) -> None:
    wrong = certain(misdelivered(str(home.programs / "copy"), far=False))
    assert "nothing else is written there" in str(wrong)
    assert misdelivered(str(tmp_path / "shown"), far=False) is None


def test_results_do_not_become_programs_of_this_machine(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the folder that is asked for, and by names within a result."""

    async def pieces(*_: object) -> AsyncIterator[bytes]:
        yield b"evil"

    monkeypatch.setattr(fetching, "pieces_of", pieces)
    within = (home.programs / "copy" / "run.sh").relative_to(tmp_path).as_posix()
    for target, path in ((home.programs, "copy/run.sh"), (tmp_path, within)):
        with pytest.raises(PermissionError, match="a folder of Wingbeat itself") as refused:
            _fetch(target, path)
        assert refused.value.errno == errno.EPERM
    assert not (home.programs / "copy").exists()
    _fetch(tmp_path / "results", "copy/run.sh")
    assert (tmp_path / "results" / "copy" / "run.sh").read_bytes() == b"evil"


def _fetch(target: Path, path: str) -> None:
    client: Any = None
    listing = FilesReply("tree:1", "made", True, (FileView(path, 4),), 1, 4)
    asyncio.run(fetch_files(client, listing, target))


def test_what_others_made_carries_the_mark_of_the_web_on_windows(tmp_path: Path) -> None:
    """Elsewhere a colon is a letter of a name, so that the stream is a file that can be read."""
    (tmp_path / "a").write_text("report")
    mark_as_foreign(tmp_path / "a", "win32")
    assert (tmp_path / "a:Zone.Identifier").read_bytes() == INTERNET.encode()
    assert "ZoneId=3" in INTERNET
    mark_as_foreign(tmp_path / "gone" / "a", "win32")  # a disk that has no streams
    mark_as_foreign(tmp_path / "b", "linux")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "a:Zone.Identifier"]


def test_fetched_files_are_marked_before_they_have_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked: list[tuple[str, bool]] = []

    async def pieces(*_: object) -> AsyncIterator[bytes]:
        yield b"run"

    def mark(path: Path) -> None:
        marked.append((path.name, (tmp_path / "out" / "x.exe").exists()))

    monkeypatch.setattr(fetching, "pieces_of", pieces)
    monkeypatch.setattr(fetching, "mark_as_foreign", mark)
    _fetch(tmp_path / "out", "x.exe")
    assert marked == [("x.exe.unfinished", False)]
    assert (tmp_path / "out" / "x.exe").read_bytes() == b"run"
