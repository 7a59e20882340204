"""Links in folders that a workflow runs over: those that lead out are told, not followed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TypeVar, cast

import pytest
from msgspec import Struct

from agent.api.datasets import (
    BeginUpload,
    ChunkTaken,
    DatasetAdded,
    UploadBegun,
    UploadChunk,
)
from agent.api.rpc import Method
from agent.api.values import Dataset
from agent.workflow.faults import FaultsError
from agent.workflow.reading import Asked
from agent.workflow.submission import add
from tests.workflow.whole import read_workflow_file

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right on Windows")


def read(folder: Path, for_each: str) -> list[str]:
    """The names of the tasks, or what is said of the file."""
    file = folder / "w.wingbeat.yaml"
    file.write_text(f"tasks: {{t: {{program: p, data: ['${{x}}'], for_each: {for_each}}}}}")
    try:
        return [task.id for task in read_workflow_file(file, Asked({})).submit.tasks]
    except FaultsError as error:
        return [fault.words().replace(str(folder.resolve()), "HERE") for fault in error.faults]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``flights`` with a file and a link to it, beside a file that it does not hold."""
    (tmp_path / "secret").write_text("not for others")
    flights = tmp_path / "flights"
    flights.mkdir()
    (flights / "a.las").write_text("points")
    (flights / "b.las").symlink_to("a.las")
    return tmp_path


@pytest.mark.parametrize("for_each", ["{x: flights}", "{x: 'flights/*.las'}"])
def test_links_within_the_folder_are_files_like_others(folder: Path, for_each: str) -> None:
    assert read(folder, for_each) == ["t.a", "t.b"]


@pytest.mark.parametrize("for_each", ["{x: flights}", "{x: 'flights/*.las'}", "{x: 'fl*/*.las'}"])
def test_a_link_out_of_it_is_told(folder: Path, for_each: str) -> None:
    leads = folder / "secret" if "fl*" not in for_each else Path(os.devnull)
    (folder / "flights" / "c.las").symlink_to(leads)
    told = "HERE/secret" if "fl*" not in for_each else os.devnull
    link = f'"flights/c.las" is a link that leads out of the folder, to {told}'
    assert read(folder, for_each) == [f"{link}: name it by itself, or put the file there"]


def test_whoever_names_a_link_means_it(folder: Path) -> None:
    (folder / "flights" / "c.las").symlink_to(folder / "secret")
    assert read(folder, "{x: [flights/a.las, flights/c.las]}") == ["t.a", "t.c"]


def test_a_folder_that_is_a_link_itself_may_lie_anywhere(folder: Path) -> None:
    (folder / "today").symlink_to("flights")
    assert read(folder, "{x: today}") == ["t.a", "t.b"]


def test_a_link_to_nothing_is_told(folder: Path) -> None:
    (folder / "flights" / "c.las").symlink_to("gone.las")
    assert read(folder, "{x: flights}") == [
        '"flights/c.las" is a link to something that is not there'
    ]


def test_what_is_sent_to_another_machine_leads_nowhere_else_either(folder: Path) -> None:
    flights = folder / "flights"
    assert sent(flights) == ["a.las", "b.las"]
    (flights / "later" / "empty").mkdir(parents=True)
    assert sent(flights) == ["a.las", "b.las", "later/empty"]
    (flights / "later" / "empty").rmdir()
    (flights / "later").rmdir()
    (flights / "c.las").symlink_to(folder / "secret")
    assert sent(flights) == ["it is a link that leads out of the folder: put the file there"]
    assert sent(flights / "c.las") == ["c.las"]  # who names it means it
    (flights / "c.las").unlink()
    (flights / "old").symlink_to(folder / "flights")
    assert sent(flights) == ["it is a link to a folder: put the folder itself there"]
    (flights / "old").unlink()
    os.mkfifo(flights / "pipe")
    assert sent(flights) == ["it is no file but a device or a pipe"]
    assert sent(Path(os.devnull)) == ["it is no file but a device or a pipe"]


class Taking:
    """Takes whatever is sent, and keeps the names."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    async def call(self, method: Method[P, R], params: P) -> R:
        assert method.params is type(params)
        answer: object = UploadBegun("one")
        if isinstance(params, BeginUpload):
            self.folder, self.name = params.folder, params.name
        elif isinstance(params, UploadChunk):
            self.names[params.path or self.name] = None
            answer = ChunkTaken(params.offset)
        else:
            answer = DatasetAdded(Dataset("sha256:" + "0" * 64), self.name)
        return cast("R", answer)


def sent(path: Path) -> list[str]:
    """The names of the files that are sent, or why none is."""
    client = Taking()
    try:
        asyncio.run(add(client, path, far=True))
    except OSError as error:
        assert not client.names
        return [error.strerror or ""]
    return [*client.names]
