"""What the bridge does in its loop for a gate, a sheet and an editor: told exactly, without an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtWidgets import QApplication

from agent.api import (
    datasets,
    programs,
    work,
)
from agent.api.methods import AnyMethod
from agent.api.rpc import ErrorCode, Problem
from agent.api.values import Dataset
from agent.client import Client, ClientError, RequestError
from agent.client.fetching import all_files
from agent.client.own_agent import own_name
from agent.commands.fetch import _save
from agent.workflow.faults import Faults
from agent.workflow.one_program import Alone
from agent.workflow.yaml_nodes import Node, read_yaml_file
from gui import words
from gui.bridge.attaching import Kept, finish_gate, size_of
from gui.bridge.submitting import (
    FILES_MAX,
    Checked,
    Choices,
    Preview,
    Sending,
    send,
    workflow_files,
)
from gui.editing import Associations
from gui.editing.lines import editor_command
from gui.translations import speak
from gui.views.outputs import fetch_to
from tests.certain import certain

FILE = """\
name: NAME
variables:
  seconds: {type: number, says: How long}
tasks:
  import: {program: import, parameters: "${seconds}", expected: 1s}
"""


class Told:
    """A client that notes what it is asked, and answers from a table."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.uploads = 0
        self.replies: dict[str, Callable[[Any], object]] = {
            "begin_upload": lambda _: datasets.UploadBegun("u"),
            "upload_chunk": lambda wish: datasets.ChunkTaken(len(wish.data)),
            "end_upload": self._uploaded,
            "gate": lambda _: work.Wished("line-42", "done"),
            "programs": lambda _: programs.ProgramsReply((programs.ProgramView("import", ("a",)),)),
            "plan": lambda _: work.PlanReply(False, (), (), 1, 0),
            "submit": lambda wish: work.Submitted(wish.name, False, 1),
        }

    def _uploaded(self, _: object) -> datasets.DatasetAdded:
        self.uploads += 1
        return datasets.DatasetAdded(Dataset(f"sha256:{self.uploads}", 1), "x")

    async def call(self, method: AnyMethod, params: Any) -> Any:
        self.asked.append(params)
        return self.replies[method.name](params)

    def as_client(self) -> Client:
        return cast("Client", self)

    def refuse(self, name: str, code: ErrorCode) -> None:
        def refused(_: object) -> object:
            raise RequestError(Problem(code, "not so"))

        self.replies[name] = refused


@pytest.fixture
def client() -> Told:
    return Told()


def gate_of(client: Told) -> work.Gate:
    gate = client.asked[-1]
    assert isinstance(gate, work.Gate)
    return gate


def test_files_of_a_gate_are_counted_and_sent_once(client: Told, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"four")
    second.write_bytes(b"sixsix")
    kept: Kept = {}
    shares: list[tuple[int, int]] = []

    def send(*paths: Path) -> list[str]:
        shares.clear()
        client.asked.clear()
        wished = asyncio.run(finish_gate(client.as_client(), "g", paths, kept, shares.append))
        assert (wished.workflow, gate_of(client).task) == ("line-42", "g")
        return [each.dataset for each in gate_of(client).outputs]

    assert send(first, second) == ["sha256:1", "sha256:2"]
    assert shares == [(4, 10), (4, 10), (10, 10), (10, 10)]
    assert send(second, first) == ["sha256:2", "sha256:1"]
    assert (shares, len(client.asked)) == ([(6, 10), (10, 10)], 1)
    second.write_bytes(b"seven")
    assert send(second) == ["sha256:3"]
    assert send() == []
    assert shares == []


@pytest.mark.parametrize(("size", "whole"), [(0, True), (8, True), (12, False)])
def test_a_result_that_is_cut_short_is_not_put_in_place(
    client: Told, tmp_path: Path, size: int, whole: bool
) -> None:
    """The agent has eight bytes, or none, and tells a piece of four at a time."""
    view, data = datasets.FileView("", size), b"4 4 5 5 "[:size]
    client.replies |= {
        "dataset_files": lambda _: datasets.FilesReply(
            "sha256:ab", "points", False, (view,), 1, size
        ),
        "read_dataset": lambda wish: datasets.DatasetPiece(
            data[wish.offset : wish.offset + 4], wish.offset, size
        ),
    }
    listing = asyncio.run(all_files(client.as_client(), "sha256:ab"))
    fetched = fetch_to(client.as_client(), listing, tmp_path / "results" / "points", over=False)
    if whole:
        assert asyncio.run(fetched).read_bytes() == data
    else:
        with pytest.raises(ClientError, match=r"^Only a part of points came: try again\.$"):
            asyncio.run(fetched)
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["points"] * whole
    typed = _save(client.as_client(), "sha256:ab", tmp_path / "typed", "", None)
    if whole:
        assert Path(asyncio.run(typed).path).read_bytes() == data
    else:
        with pytest.raises(OSError, match="only a part of it came: try again"):
            asyncio.run(typed)
    assert [each.name for each in (tmp_path / "typed").iterdir()] == ["points"] * whole


def test_a_folder_is_as_large_as_all_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a").write_bytes(b"four")
    (folder / "b").write_bytes(b"sixsix")
    assert size_of(folder) == 10
    assert size_of(folder / "b") == 6


def test_folders_are_the_workflow_files_in_them(tmp_path: Path) -> None:
    names = ("b.wingbeat.yaml", "a.wingbeat.yml", "c.yaml", "d.txt")
    for name in names:
        (tmp_path / name).write_text("", "utf-8")
    other = tmp_path / "elsewhere.xml"
    found, left_out = workflow_files([tmp_path, other, other])
    assert [each.name for each in found] == ["a.wingbeat.yml", "b.wingbeat.yaml", "elsewhere.xml"]
    assert left_out == 0
    many = [tmp_path / f"{number}.xml" for number in range(FILES_MAX + 3)]
    assert workflow_files(many) == (many[:FILES_MAX], 3)
    assert FILES_MAX == 200


async def checked(client: Told, path: Path, values: dict[str, str]) -> Checked:
    return await Preview(client.as_client()).check(path, Choices(values))


async def test_programs_are_asked_for_once_and_a_file_is_read_once(
    client: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.wingbeat.yaml"
    path.write_text(FILE, "utf-8")
    read: list[Path] = []

    def noting(path: Path, faults: Faults) -> Node | None:
        read.append(path)
        return read_yaml_file(path, faults)

    monkeypatch.setattr("agent.workflow.reading.read_yaml_file", noting)

    preview = Preview(client.as_client())
    await asyncio.gather(
        preview.check(path, Choices()), preview.check(path, Choices({"seconds": "5"}))
    )
    await preview.check(path, Choices({"seconds": "50"}))
    preview.forget_programs()
    await preview.check(path, Choices({"seconds": "50"}))
    kinds = [type(each).__name__ for each in client.asked]
    assert (kinds, read) == (["Programs", "Plan", "Plan", "Programs", "Plan"], [path] * 4)


async def test_a_file_is_checked_against_what_there_is(
    client: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ana")
    path = tmp_path / "one.wingbeat.yaml"
    path.write_text(FILE, "utf-8")

    async def check(**values: str) -> Any:
        client.asked.clear()
        return await checked(client, path, values)

    wanting = await check()
    assert ([each.name for each in wanting.variables], len(wanting.faults)) == (["seconds"], 1)
    assert (wanting.workflow, wanting.plan, wanting.path) == (None, None, path)
    good = await check(seconds="5")
    assert good.workflow.submit.tasks[0].parameters == "5"
    assert (good.faults, good.note, good.plan.helping) == ((), "", 1)
    assert client.asked[-1].workflow.submitter == "ana"
    client.refuse("plan", ErrorCode.REFUSED)
    refused = await check(seconds="5")
    assert (refused.note, refused.plan) == ("not so", None)
    client.refuse("plan", ErrorCode.NO_SUCH_METHOD)
    unserved = await check(seconds="5")
    assert (unserved.note, unserved.plan) == ("", None)
    assert [each.name for each in unserved.variables] == ["seconds"]
    assert unserved.workflow is not None


async def test_the_older_language_has_no_variables(client: Told, tmp_path: Path) -> None:
    path = tmp_path / "old.XML"
    path.write_text("<nothing/>", "utf-8")
    found = await checked(client, path, {})
    assert found.variables == ()
    assert found.faults != ()


async def test_many_are_sent_in_their_order_and_one_that_is_refused_stops_no_other(
    client: Told, tmp_path: Path
) -> None:
    sendings = []
    for name in ("a", "b", "c"):
        path = tmp_path / f"{name}.wingbeat.yaml"
        path.write_text(FILE.replace("NAME", name), "utf-8")
        found = await checked(client, path, {"seconds": "5"})
        assert found.workflow is not None
        sendings.append(Sending(path, found.workflow, Choices({"seconds": "5"})))
    client.asked.clear()

    def answer(wish: Any) -> object:
        if wish.name == "b":
            raise RequestError(Problem(ErrorCode.REFUSED, "the disk is full"))
        return work.Submitted(wish.name, False, 1)

    client.replies["submit"] = answer
    told: list[tuple[int, object]] = []
    sent = send(client.as_client(), sendings, told.append, lambda _: None)
    with pytest.raises(ClientError, match=r"^The disk is full\.$"):
        await sent
    assert [(each.name, each.submitter) for each in client.asked] == [
        (name, own_name()) for name in ("a", "b", "c")
    ]
    a, c = (work.Submitted(name, False, 1) for name in "ac")
    assert told == [(0, a), (1, "The disk is full."), (2, c)]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["Adding a.csv (1 of 1)", "Publishing say"]),
        ("pt", ["A adicionar a.csv (1 de 1)", "A publicar say"]),
    ],
)
async def test_what_is_done_of_one_file_is_said_in_the_language_of_its_person(
    client: Told, tmp_path: Path, qapp: QApplication, language: str, said: list[str]
) -> None:
    data, script = tmp_path / "a.csv", tmp_path / "say.sh"
    data.write_text("1\n", "utf-8")
    script.write_text("echo $1\n", "utf-8")
    choices = Choices(alone=Alone((str(data),)))
    found = await Preview(client.as_client()).check(script, choices)
    sending = Sending(script, certain(found.workflow), choices)
    client.replies |= {
        "add_dataset": lambda _: datasets.DatasetAdded(Dataset("sha256:1", 2), "a.csv"),
        "publish": lambda _: programs.Published("say@12ab", Dataset("tree:12ab", 9)),
    }
    steps: list[str] = []
    speak(language)
    try:
        await send(client.as_client(), [sending], lambda _: None, steps.append)
    finally:
        words.install(None)
    assert steps == said


class Editors:
    """What a system knows of them."""

    def __init__(self, error: OSError | None = None) -> None:
        self.error = error

    def command_for(self, _: Path) -> tuple[str, ...]:
        if self.error is not None:
            raise self.error
        return ("code",)


@pytest.mark.parametrize(
    ("line", "error", "command"),
    [
        (1, None, ["code", "--goto", "a.yaml:1"]),
        (0, None, []),
        (7, OSError("no"), []),
    ],
)
async def test_an_editor_is_asked_for_where_there_is_a_line(
    line: int, error: OSError | None, command: list[str]
) -> None:
    editors = cast("Associations", Editors(error))
    assert await editor_command(editors, Path("a.yaml"), line) == command
