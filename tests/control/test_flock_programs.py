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

from agent.api.values import Capabilities
from agent.control import program_views as flock_programs
from agent.paths import Home
from tests.control.serving import WITHIN_S, LineClient, Serving, serving
from tests.control.surface import ALDER, KNOWN

DESCRIPTION = """\
docs: Counts.
command: ["{python}", program.py]
inputs: [text]
outputs: [counted.txt]
expected: 7 s
"""
MISSING = "what count makes and how long it takes is not known: alder does not answer"


@pytest.fixture
async def others(
    request: pytest.FixtureRequest, tmp_path: Path, there: Serving
) -> AsyncIterator[list[Elsewhere]]:
    """So many machines that answer, which the node sees."""
    async with AsyncExitStack() as stack:
        others = [Elsewhere() for _ in range(request.param)]
        for number, other in enumerate(others):
            await stack.enter_async_context(other.answering(tmp_path / f"other{number}"))
        meet(there, *others)
        yield others


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
            await accept("birch", "birchnode", reader, writer)

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


def meet(there: Serving, *others: Elsewhere, programs: tuple[str, ...] = ("count",)) -> None:
    """The node sees alder, and beech and cedar beside it, all with these programs."""
    peers = []
    for name, other in zip(("alder", "beech", "cedar"), others, strict=False):
        seen = {
            "node": f"{name}node",
            "name": name,
            "capabilities": Capabilities(programs=programs),
        }
        peers.append(structs.replace(ALDER, **seen))
        there.node.elsewhere[f"{name}node"] = other.port
    there.node.known = replace(KNOWN, peers=tuple(peers), programs=())


@pytest.mark.parametrize("others", [2], indirect=True)
async def test_what_a_program_does_is_told_by_a_machine_that_has_it(
    client: LineClient, others: list[Elsewhere]
) -> None:
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


@pytest.mark.parametrize("others", [1], indirect=True)
async def test_other_programs_are_asked_for_anew(
    there: Serving, client: LineClient, others: list[Elsewhere], tmp_path: Path
) -> None:
    own = await client.result("programs", {"own": True})
    assert (own["programs"][0]["outputs"], others[0].asked) == ([], 0), "who is asked asks nobody"
    await client.result("programs")
    describe(tmp_path / "other0", "sum")
    meet(there, *others, programs=("count", "sum"))
    reply = await client.result("programs")
    assert [each["outputs"] for each in reply["programs"]] == [["counted.txt"]] * 2


async def test_who_does_not_answer_is_not_waited_for(
    there: Serving, client: LineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one that has it is asked then; without one, it is said what is missing."""
    mute, talking = Elsewhere(), Elsewhere()
    async with mute.silent(), talking.answering(tmp_path / "other"):
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
