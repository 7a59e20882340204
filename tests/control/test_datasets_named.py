"""Datasets as clients call them, read them and see them listed."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from agent.api.rpc import ErrorCode
from agent.control.naming import task_id
from agent.storage.datasets.errors import DatasetMissing
from tests.control.serving import LineClient, Serving, workflow
from tests.control.surface import FakeNode

A, B = "sha256:" + "ab" * 32, "sha256:" + "ab" * 3 + "cd" * 29
COPY = task_id("survey", "copy")
MADE = f"made-by-{COPY}"
TWO: dict[str, Any] = {
    "name": "two",
    "tasks": [
        {
            "id": "t",
            "program": "copy",
            "raw": [{"dataset": A, "size_bytes": 7}, {"dataset": B, "size_bytes": 8}],
        }
    ],
}


def fault(reference: str) -> str:
    return f'no dataset is called "{reference}"'


@pytest.mark.parametrize(
    ("reference", "code", "sentence"),
    [
        ("sha256:ababab", ErrorCode.AMBIGUOUS, '"sha256:ababab" may mean 2 datasets: '),
        ("sha256:ababc", ErrorCode.UNKNOWN, fault("sha256:ababc")),
        ("sha256:ffffff", ErrorCode.UNKNOWN, fault("sha256:ffffff")),
        ("survey/copy", ErrorCode.REFUSED, f"{MADE} is not kept by the flock: "),
        (MADE, ErrorCode.REFUSED, f"{MADE} is not kept by the flock: "),
        ("survey/copy/1", ErrorCode.REFUSED, f"{MADE} is not kept by the flock: "),
        ("survey/copy/2", ErrorCode.UNKNOWN, "copy has no output 2: it made 1"),
        ("survey/copy/0", ErrorCode.UNKNOWN, "copy has no output 0: it made 1"),
        ("survey/merge", ErrorCode.UNKNOWN, "merge has no output 1: it has made none"),
        ("copy", ErrorCode.REFUSED, f"{MADE} is not kept by the flock: "),
        ("survey/copy/123456", ErrorCode.UNKNOWN, "no workflow is called "),
        ("sha256:" + "0" * 64, ErrorCode.REFUSED, "sha256:0000000000000 cannot be had: nobody"),
    ],
)
async def test_which_dataset_is_meant(
    there: Serving, client: LineClient, reference: str, code: ErrorCode, sentence: str
) -> None:
    await submit(there, client)
    told = await client.refusal("read_dataset", {"dataset": reference})
    assert (told[0], told[1][: len(sentence)]) == (code, sentence)


@pytest.mark.parametrize(
    "reference", ["sha256:abababc", "sha256:" + "ab" * 3 + "c", B, "sha256:abababcdc"]
)
async def test_six_letters_of_one_dataset_are_enough(
    there: Serving, client: LineClient, reference: str
) -> None:
    await submit(there, client)
    there.node.datasets.contents[B] = ("data", {"": b"hello"})
    piece = await client.result("read_dataset", {"dataset": reference})
    assert base64.b64decode(piece["data"]) == b"hello"


async def test_five_letters_are_not(there: Serving, client: LineClient) -> None:
    only = {**TWO, "tasks": [{**TWO["tasks"][0], "raw": [{"dataset": A}]}]}
    await client.result("submit", only)
    there.node.datasets.contents[A] = ("data", {"": b"hello"})
    for letters, found in ((5, False), (6, True)):
        answer = await client.ask("read_dataset", {"dataset": A[: 7 + letters]})
        assert ("result" in answer) is found


async def submit(there: Serving, client: LineClient) -> None:
    """Work with an output, and work with two datasets that begin alike."""
    await client.result("submit", workflow())
    there.node.volunteer()
    there.node.succeed(COPY)
    await client.result("submit", TWO)


def tree(node: FakeNode) -> str:
    """A folder that the node keeps."""
    node.datasets.contents[A] = ("raw", {"a.txt": b"hello", "b.txt": b"you"})
    return A


async def test_pieces_of_files_are_read(there: Serving, client: LineClient) -> None:
    whole = {"dataset": tree(there.node), "path": "a.txt", "offset": 1, "limit": 3}
    assert await client.result("read_dataset", whole) == {
        "data": base64.b64encode(b"ell").decode(),
        "offset": 1,
        "size_bytes": 5,
    }
    behind = await client.result("read_dataset", {**whole, "offset": 5})
    assert (behind["data"], behind["size_bytes"]) == ("", 5)
    for path, what in (
        ("", "several files: name one of them"),
        ("c.txt", "no file c.txt"),
    ):
        told = await client.refusal("read_dataset", {"dataset": A, "path": path})
        assert told == (ErrorCode.UNKNOWN, f"the dataset {A[:20]} has {what}")

    async def lost(dataset: str, path: str, offset: int, limit: int) -> bytes:
        raise DatasetMissing("it was removed")

    there.node.datasets.read = lost  # type: ignore[method-assign]
    told = await client.refusal("read_dataset", whole)
    assert told[0] == ErrorCode.REFUSED
    assert told[1].startswith("read_dataset: ")


async def test_the_files_of_a_dataset_are_told_a_page_at_a_time(
    there: Serving, client: LineClient
) -> None:
    page = {"dataset": tree(there.node), "first": 1, "limit": 1}
    told = await client.result("dataset_files", page)
    assert [each["path"] for each in told["files"]] == ["b.txt"]
    assert (told["total"], told["name"], told["size_bytes"]) == (2, "raw", 8)


async def listed(client: LineClient, **params: object) -> list[dict[str, Any]]:
    return list((await client.result("datasets", params))["datasets"])


async def test_datasets_are_listed_with_what_made_them(there: Serving, client: LineClient) -> None:
    await submit(there, client)
    there.node.datasets.contents[B] = ("b.bin", {"": b"hello"})
    found = {each["dataset"]: each for each in await listed(client)}
    assert sorted(found) == sorted([MADE, A, B])
    submitted = there.node.table.workflows["two"].spec.submitted[0]
    assert found[A] == {
        **EMPTY,
        "dataset": A,
        "size_bytes": 7,
        "workflow": "two",
        "kept_since_ms": submitted,
    }
    assert found[B] == {
        **EMPTY,
        "dataset": B,
        "size_bytes": 8,
        "name": "b.bin",
        "here": True,
        "nodes": ["birch", "alder"],
        "workflow": "two",
        "needed": True,
        "kept_since_ms": 1_000_000_000_000,
    }
    outcome = there.node.table.reading(COPY)
    assert outcome is not None
    assert outcome.outcome is not None
    assert found[MADE] == {
        **EMPTY,
        "dataset": MADE,
        "size_bytes": 5,
        "workflow": "survey",
        "task": "copy",
        "program": "copy",
        "kept_since_ms": outcome.outcome.stamp[0],
    }


EMPTY = {
    "external": False,
    "name": "",
    "folder": False,
    "here": False,
    "nodes": [],
    "task": "",
    "program": "",
    "inputs": [],
    "needed": False,
}


async def test_those_of_one_workflow_and_the_newest_first(
    there: Serving, client: LineClient
) -> None:
    await submit(there, client)
    there.node.datasets.contents["tree:" + "1" * 64] = ("mine", {"x": b"four"})
    names = [each["dataset"] for each in await listed(client, workflow="two")]
    assert names == [A, B]
    *_, own = await listed(client)
    assert (own["size_bytes"], own["folder"], own["workflow"]) == (4, True, "")
    every = [each["dataset"] for each in await listed(client)]
    assert every == [A, B, MADE, "tree:" + "1" * 64]
    page = await client.result("datasets", {"first": 1, "limit": 2})
    assert [each["dataset"] for each in page["datasets"]] == every[1:3]
    assert page["total"] == 4
    room = (page["used_bytes"], page["quota_bytes"], page["free_bytes"])
    assert room == (5, 10_000, 9_995)


async def test_published_programs_are_datasets_too(there: Serving, client: LineClient) -> None:
    there.node.known = replace(there.node.known, programs=())
    folder = {"dataset": "tree:" + "2" * 64, "size_bytes": 6}
    task = {"id": "own", "program": "own@1", "published": folder}
    await client.result("submit", {"name": "w", "tasks": [task]})
    (found,) = await listed(client)
    assert (found["dataset"], found["size_bytes"], found["folder"]) == (
        folder["dataset"],
        6,
        True,
    )
    told = await client.refusal("read_dataset", {"dataset": "tree:222222"})
    assert told == (
        ErrorCode.REFUSED,
        "tree:222222222222222 cannot be had: nobody who is seen has it",
    )
