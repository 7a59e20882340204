"""Datasets as clients call them, read them and see them listed."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from agent.api.rpc import ErrorCode
from agent.control.naming import task_id
from agent.storage.datasets.errors import DatasetMissing
from tests.control.serving import SURVEY, LineClient, Serving, id_of, workflow
from tests.control.surface import FakeNode

A, B = "sha256:" + "ab" * 32, "sha256:" + "ab" * 3 + "cd" * 29
COPY = task_id(SURVEY, "copy")
MADE = f"made-by-{COPY}"
TWO: dict[str, Any] = {
    "name": "two",
    "key": "of these tests",
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
    ("reference", "lone", "found"),
    [
        *((each, False, True) for each in ("sha256:abababc", B, "sha256:abababcdc")),
        *((f"sha256:{'ab' * 3}"[: 7 + letters], True, letters == 6) for letters in (5, 6)),
    ],
)
async def test_six_letters_of_one_dataset_are_enough(
    there: Serving, client: LineClient, reference: str, lone: bool, found: bool
) -> None:
    """Of one that begins as another does, as many as tell them apart."""
    raw = TWO["tasks"][0]["raw"][: 1 if lone else 2]
    await client.result("submit", {**TWO, "tasks": [{**TWO["tasks"][0], "raw": raw}]})
    for each in raw:
        there.node.datasets.contents[each["dataset"]] = ("data", {"": b"hello"})
    answer = await client.ask("read_dataset", {"dataset": reference})
    data = base64.b64encode(b"hello").decode()
    assert answer.get("result", {}).get("data") == (data if found else None)


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
    for offset, data in ((1, b"ell"), (5, b"")):
        assert await client.result("read_dataset", {**whole, "offset": offset}) == {
            "data": base64.b64encode(data).decode(),
            "offset": offset,
            "size_bytes": 5,
        }
    for path, what in (("", "several files: name one of them"), ("c.txt", "no file c.txt")):
        told = await client.refusal("read_dataset", {"dataset": A, "path": path})
        assert told == (ErrorCode.UNKNOWN, f"the dataset {A[:20]} has {what}")
    there.node.datasets.read = Mock(side_effect=DatasetMissing("it was removed"))  # type: ignore[method-assign]
    code, sentence = await client.refusal("read_dataset", whole)
    assert (code, sentence[:14]) == (ErrorCode.REFUSED, "read_dataset: ")


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
    (last,) = there.node.table.life(COPY).runs
    wanted: dict[str, dict[str, Any]] = {
        A: {
            "size_bytes": 7,
            "workflow": id_of(TWO),
            "workflow_name": "two",
            "kept_since_ms": there.node.table.workflows[id_of(TWO)].spec.submitted[0],
        },
        B: {
            "size_bytes": 8,
            "name": "b.bin",
            "here": True,
            "nodes": ["birch", "alder"],
            "workflow": id_of(TWO),
            "workflow_name": "two",
            "needed": True,
            "kept_since_ms": 1_000_000_000_000,
        },
        MADE: {
            "size_bytes": 5,
            "workflow": SURVEY,
            "workflow_name": "survey",
            "task": "copy",
            "program": "copy",
            "kept_since_ms": last.stamp[0],
        },
    }
    assert found == {each: {**EMPTY, "dataset": each, **of} for each, of in wanted.items()}


EMPTY = {
    "external": False,
    "workflow_name": "",
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
    own = "tree:" + "1" * 64
    there.node.datasets.contents[own] = ("mine", {"x": b"four"})
    assert [each["dataset"] for each in await listed(client, workflow="two")] == [A, B]
    every = await listed(client)
    assert [each["dataset"] for each in every] == [A, B, MADE, own]
    last = every[-1]
    assert (last["size_bytes"], last["folder"], last["workflow"]) == (4, True, "")
    page = await client.result("datasets", {"first": 1, "limit": 2})
    assert (page["datasets"], page["total"]) == (every[1:3], 4)
    room = (page["used_bytes"], page["quota_bytes"], page["free_bytes"])
    assert room == (5, 10_000, 9_995)


async def test_published_programs_are_datasets_too(there: Serving, client: LineClient) -> None:
    there.node.known = replace(there.node.known, programs=())
    folder = {"dataset": "tree:" + "2" * 64, "size_bytes": 6}
    task = {"id": "own", "program": "own@1", "published": folder}
    await client.result("submit", {"name": "w", "tasks": [task]})
    (found,) = await listed(client)
    assert {name: found[name] for name in folder} == folder
    assert found["folder"]
    assert await client.refusal("read_dataset", {"dataset": "tree:222222"}) == (
        ErrorCode.REFUSED,
        "tree:222222222222222 cannot be had: nobody who is seen has it",
    )
