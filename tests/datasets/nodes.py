"""Live nodes that move data: real sockets, real stores, contents that are random and remembered."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from agent.node.agent import Agent
from agent.protocol.effects import Answer, Verdict
from agent.protocol.events import Submit
from agent.protocol.records import PRIORITY_LOW, Dataset, TaskSpec
from tests.hosts.waiting import eventually

MEGABYTE = 1024 * 1024
LIMIT_S = 180.0
"""Above the minute that is waited for after a peer could not take a copy just then."""
PROGRAM = """
name: shout
command: ["{python}", "-I", "{folder}/shout.py"]
outputs: [loud.txt]
"""
SCRIPT = """
import os, pathlib, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
given = words.get("-p") or words.get("-i")
path = pathlib.Path(given) if given else None
text = path.read_text() if path and path.is_file() else "nothing"
if path and path.is_dir():
    text = ",".join(sorted(each.name for each in path.iterdir()))
with open("loud.txt", "w") as file:
    file.write(text.upper() + "!")
with open(words["-x"], "a") as file:
    file.write(os.environ["WINGBEAT_TASK"] + "\\n")
"""


def points(folder: Path, name: str = "points.las", content: bytes = b"some points") -> Path:
    """A file of this content."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def a_file(folder: Path, size: int, name: str = "data.bin") -> tuple[Path, str]:
    """A file of random content, and the dataset that it is."""
    content = os.urandom(size)
    return points(folder, name, content), f"sha256:{hashlib.sha256(content).hexdigest()}"


def a_folder(folder: Path, sizes: list[int]) -> Path:
    """A folder of files of random content."""
    for number, size in enumerate(sizes):
        a_file(folder / f"part{number % 3}", size, f"{number}.bin")
    return folder


def install_shout(folder: Path) -> None:
    """A program that reads its input and writes it in capitals; it notes each of its runs."""
    program = folder / "shout"
    program.mkdir(parents=True)
    (program / "program.yaml").write_text(PROGRAM)
    (program / "shout.py").write_text(SCRIPT)


def here(service: Agent, dataset: str) -> bool:
    """Whether a node has a dataset."""
    return service.live.datasets.store.has(dataset)


async def brought(service: Agent, dataset: str) -> None:
    """Wait until others know who has it, and have it brought."""
    await eventually(lambda: bool(service.live.datasets.holders(dataset)))
    await service.live.datasets.bring(dataset)


async def submit(service: Agent, workflow: str, *tasks: TaskSpec) -> Answer:
    """A workflow of these tasks."""
    answer = await service.ask(Submit("", workflow, workflow, "me", PRIORITY_LOW, tasks))
    assert answer.verdict is Verdict.ACCEPTED, answer
    return answer


async def until(condition: Callable[[], bool]) -> None:
    """As ``eventually``, with a limit for transfers on a busy machine."""
    await eventually(condition, LIMIT_S)


def raw(dataset: Dataset) -> tuple[Dataset, ...]:
    """What a task is given at its submission."""
    return (Dataset(dataset.dataset, dataset.size_bytes),)


async def laid(service: Agent, dataset: str, folder: Path) -> Path:
    """A dataset as a program gets it, brought here first."""
    await asyncio.to_thread(folder.mkdir)
    await service.live.datasets.bring(dataset)
    return await service.live.datasets.lay(dataset, folder)
