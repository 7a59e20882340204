"""From the file to the request: what is asked of a client, in which order, and what is sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from msgspec import Struct

from agent.api import datasets, programs, work
from agent.api.datasets import (
    CHUNK_BYTES_MAX,
    AddDataset,
    BeginUpload,
    ChunkTaken,
    DatasetAdded,
    EndUpload,
    UploadBegun,
    UploadChunk,
)
from agent.api.phrases import worded
from agent.api.programs import ProgramsReply, ProgramView, Publish, Published
from agent.api.rpc import Method
from agent.api.values import Dataset
from agent.api.work import Submit, Submitted, Task
from agent.workflow.faults import FaultsError
from agent.workflow.program_folder import read_program
from agent.workflow.submission import (
    ProgressStep,
    Wanted,
    _prioritised,
    dry,
    read_for,
    submit_file,
)

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)
FILE = """
variables: {mode: fast}
programs: {count: count.sh}
tasks:
  import: {program: import, data: [scan.las, tiles, 'id:DB-7'], parameters: '${mode}'}
  count: {program: count, inputs: [import/points]}
  again: {program: count, data: [scan.las]}
"""


class FakeClient:
    """Answers as an agent does, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.sent: dict[str, bytes] = {}
        self.published: list[str] = []
        self._answers: dict[str, Callable[[Any], Struct]] = {
            programs.PROGRAMS.name: lambda _: ProgramsReply(
                (ProgramView("import", ("ant",), outputs=("points",), expected_s=30.0),)
            ),
            datasets.ADD_DATASET.name: self._add,
            programs.PUBLISH.name: self._publish,
            work.SUBMIT.name: lambda submit: Submitted(submit.name, False, 2),
            datasets.BEGIN_UPLOAD.name: lambda _: UploadBegun("u1"),
            datasets.UPLOAD_CHUNK.name: self._chunk,
            datasets.END_UPLOAD.name: lambda _: DatasetAdded(Dataset("tree:" + "ab" * 32), "x"),
        }

    async def call(self, method: Method[P, R], params: P) -> R:
        """Ask, and wait for the answer."""
        msgspec.json.encode(params)
        self.asked.append((method.name, params))
        answer = self._answers[method.name](params)
        assert isinstance(answer, method.result)
        return answer

    def _add(self, params: AddDataset) -> DatasetAdded:
        path = Path(params.path)
        assert path.is_absolute()
        assert path.exists()
        return DatasetAdded(Dataset(f"sha256:{path.name}", 6), path.name)

    def _publish(self, params: Publish) -> Published:
        described = read_program(Path(params.folder))
        self.published += sorted(each.name for each in Path(params.folder).iterdir())
        return Published(f"{described.name}@12ab", Dataset("tree:12ab", 9))

    def _chunk(self, params: UploadChunk) -> ChunkTaken:
        so_far = self.sent.get(params.path, b"")
        assert params.offset == len(so_far)
        self.sent[params.path] = so_far + params.data
        return ChunkTaken(len(so_far) + len(params.data))

    @property
    def submit(self) -> Submit:
        """What was sent in the end."""
        name, params = self.asked[-1]
        assert name == "submit"
        assert isinstance(params, Submit)
        return params


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "scan.las").write_text("points")
    (tmp_path / "tiles").mkdir()
    (tmp_path / "tiles" / "a.las").write_bytes(b"x" * (CHUNK_BYTES_MAX + 1))
    (tmp_path / "tiles" / "empty.las").touch()
    (tmp_path / "count.sh").write_text("#!/bin/sh\nwc -l\n")
    path = tmp_path / "survey.wingbeat.yaml"
    path.write_text(FILE)
    return path


async def test_files_and_programs_go_first_and_each_once(file: Path) -> None:
    client, steps = FakeClient(), list[ProgressStep]()
    wanted = Wanted({"mode": "exact"}, "survey 2", "interactive", "ada")
    submitted = await submit_file(client, file, wanted, steps.append)
    assert submitted.workflow == "survey 2"
    names = [name for name, _ in client.asked]
    assert names == ["programs", "add_dataset", "add_dataset", "publish", "submit"]
    assert client.published == ["count.sh", "program.yaml"]
    told = ["adding scan.las (1 of 2)", "adding tiles (2 of 2)", "publishing count"]
    assert [worded(step) for step in steps] == told
    first, count, again = client.submit.tasks
    scan, tiles = Dataset("sha256:scan.las", 6), Dataset("sha256:tiles", 6)
    assert first.raw == (scan, tiles, Dataset("DB-7", external=True))
    assert (first.program, first.expected_s, first.parameters) == ("import", 30.0, "exact")
    assert (count.program, count.published) == ("count@12ab", Dataset("tree:12ab", 9))
    assert again.raw == (scan,)
    assert (client.submit.priority, client.submit.submitter) == ("interactive", "ada")


async def test_nothing_is_sent_of_a_file_with_faults(file: Path) -> None:
    file.write_text(FILE.replace("program: import", "program: imprt"))
    client = FakeClient()
    with pytest.raises(FaultsError):
        await submit_file(client, file, Wanted())
    assert [name for name, _ in client.asked] == ["programs"]


async def test_an_agent_on_another_machine_is_sent_the_contents(file: Path) -> None:
    client = FakeClient()
    await submit_file(client, file, Wanted(far=True))
    names = [name for name, _ in client.asked]
    assert "add_dataset" not in names
    assert "publish" not in names
    assert client.sent["a.las"] == b"x" * (CHUNK_BYTES_MAX + 1)
    assert client.sent["empty.las"] == b""
    assert client.sent["count.sh"] == b"#!/bin/sh\nwc -l\n"
    begun = [params for name, params in client.asked if name == "begin_upload"]
    assert begun == [
        BeginUpload("scan.las"),
        BeginUpload("tiles", True),
        BeginUpload("count", True),
    ]
    assert [params for name, params in client.asked if name == "end_upload"] == [
        EndUpload("u1")
    ] * 3
    assert client.submit.tasks[1].program == "count@" + "ab" * 6


async def test_a_dry_run_sends_nothing(file: Path) -> None:
    client = FakeClient()
    workflow = await read_for(client, file, Wanted())
    submit = dry(workflow, Wanted(priority="interactive"))
    assert [name for name, _ in client.asked] == ["programs"]
    assert [task.published is not None for task in submit.tasks] == [False, True, True]
    assert submit.priority == "interactive"
    assert msgspec.json.decode(msgspec.json.encode(submit), type=Submit) == submit


def test_a_priority_of_a_step_is_that_of_all_its_items_and_of_no_other_step() -> None:
    tasks = tuple(Task(name, "p") for name in ("tile.1", "tile.2", "tiles", "sum"))
    found = _prioritised(tasks, Wanted(step_priorities={"tile": 90, "sum": 10}))
    before = tasks[2].priority
    assert [each.priority for each in found] == [90, 90, before, 10]
    with pytest.raises(FaultsError, match='there is no step "til"'):
        _prioritised(tasks, Wanted(step_priorities={"til": 90}))
