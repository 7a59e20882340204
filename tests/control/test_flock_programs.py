"""Programs of other machines: what they do is asked there, kept, and never waited for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from agent.api.flock import PeerView
from agent.api.values import Capabilities
from agent.control import program_views as flock_programs
from agent.paths import Home
from tests.control.serving import WITHIN_S, LineClient, Serving, greeted, serving
from tests.control.surface import ALDER, KNOWN

Scene = Callable[[Serving, LineClient], Awaitable[None]]
DESCRIPTION = """\
docs: Counts.
command: ["{python}", program.py]
inputs: [text]
outputs: [counted.txt]
expected: 7 s
"""
MISSING = "what count makes and how long it takes is not known: alder does not answer"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who answers is waited for, however busy this machine is."""
    monkeypatch.setattr(flock_programs, "ANSWER_S", WITHIN_S)
    monkeypatch.setattr(flock_programs, "ALL_ANSWERS_S", WITHIN_S)


class Elsewhere:
    """Another machine: members are taken in on a port, and counted."""

    def __init__(self) -> None:
        self.asked = 0
        self.port = 0

    @asynccontextmanager
    async def answering(self, folder: Path) -> AsyncIterator[Serving]:
        describe(folder, "count")
        async with serving(folder) as there, self._taking(there):
            there.node.known = replace(KNOWN, programs=("count", "sum"), peers=())
            yield there

    @asynccontextmanager
    async def _taking(self, there: Serving) -> AsyncIterator[None]:
        async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.asked += 1
            accept = there.server.serve_member
            await accept("birch", reader, writer)

        async with self._listening(arrived):
            yield

    @asynccontextmanager
    async def silent(self) -> AsyncIterator[None]:
        over = asyncio.Event()

        async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.asked += 1
            await over.wait()
            writer.close()

        async with self._listening(arrived):
            try:
                yield
            finally:
                over.set()

    @asynccontextmanager
    async def _listening(
        self, arrived: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> AsyncIterator[None]:
        server = await asyncio.start_server(arrived, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()


def describe(folder: Path, name: str) -> None:
    program = Home.at(folder).programs / name
    program.mkdir(parents=True)
    (program / "program.py").write_text("print('counted')\n")
    (program / "program.yaml").write_text(f"name: {name}\n{DESCRIPTION}")


def having(peer: PeerView, *programs: str) -> PeerView:
    return structs.replace(peer, capabilities=Capabilities(programs=programs))


def meet(there: Serving, *others: Elsewhere, programs: tuple[str, ...] = ("count",)) -> None:
    """The node sees alder, and birch, cedar and so on beside it, all with these programs."""
    names = ("alder", "beech", "cedar")
    peers = []
    for name, other in zip(names, others, strict=False):
        peers.append(having(structs.replace(ALDER, node=f"{name}node", name=name), *programs))
        there.node.elsewhere[f"{name}node"] = other.port
    there.node.known = replace(KNOWN, peers=tuple(peers), programs=())


def play(folder: Path, others: int, scene: Callable[..., Awaitable[None]]) -> None:
    """A scene with a client here, and so many machines that answer."""

    async def run() -> None:
        async with AsyncExitStack() as stack:
            elsewhere = [Elsewhere() for _ in range(others)]
            for number, other in enumerate(elsewhere):
                await stack.enter_async_context(other.answering(folder / f"other{number}"))
            there = await stack.enter_async_context(serving(folder))
            client = await stack.enter_async_context(greeted(there))
            meet(there, *elsewhere)
            await scene(there, client, *elsewhere)

    asyncio.run(run())


def test_what_a_program_does_is_told_by_a_machine_that_has_it(tmp_path: Path) -> None:
    async def scene(there: Serving, client: LineClient, *others: Elsewhere) -> None:
        reply = await client.result("programs")
        assert reply["programs"] == [
            {
                "name": "count",
                "nodes": ["alder", "beech"],
                "here": None,
                "text": "Counts.",
                "inputs": ["text"],
                "outputs": ["counted.txt"],
                "expected_s": 7.0,
                "published": None,
                "publisher": "",
                "seen_ms": 0,
            }
        ]
        assert reply["missing"] == []
        await client.result("programs")
        assert sum(other.asked for other in others) == 1, "one is asked, once"

    play(tmp_path, 2, scene)


def test_other_programs_are_asked_for_anew(tmp_path: Path) -> None:
    async def scene(there: Serving, client: LineClient, other: Elsewhere) -> None:
        await client.result("programs")
        describe(tmp_path / "other0", "sum")
        meet(there, other, programs=("count", "sum"))
        reply = await client.result("programs")
        assert [each["outputs"] for each in reply["programs"]] == [["counted.txt"]] * 2

    play(tmp_path, 1, scene)


def test_a_machine_that_is_asked_asks_nobody(tmp_path: Path) -> None:
    async def scene(there: Serving, client: LineClient, other: Elsewhere) -> None:
        reply = await client.result("programs", {"own": True})
        assert (reply["programs"][0]["outputs"], other.asked) == ([], 0)

    play(tmp_path, 1, scene)


async def test_who_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one that has it is asked then; without one, it is said what is missing."""

    mute, talking = Elsewhere(), Elsewhere()
    async with (
        mute.silent(),
        talking.answering(tmp_path / "other"),
        serving(tmp_path) as there,
        greeted(there) as client,
    ):
        meet(there, mute)
        monkeypatch.setattr(flock_programs, "ANSWER_S", 0.5)
        began_s = time.monotonic()
        reply = await client.result("programs")
        assert reply["missing"] == [MISSING]
        assert await client.result("programs") == reply
        assert mute.asked == 1, "it is left alone for a while"
        tasks = [{"id": "first", "program": "count"}]
        plan = await client.result("plan", {"workflow": {"name": "w", "tasks": tasks}})
        assert plan["missing"] == [MISSING]
        assert [each["fits"] for each in plan["tasks"]] == [["alder"]]
        assert time.monotonic() - began_s < WITHIN_S
        monkeypatch.setattr(flock_programs, "ANSWER_S", WITHIN_S)
        meet(there, mute, talking)
        found = await client.result("programs")
        assert (found["missing"], found["programs"][0]["expected_s"]) == ([], 7.0)
