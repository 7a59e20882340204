"""The text protocol as people use it: a conversation of table 3.3, typed by hand with telnet."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.client.proof import new_nonce, proof_of
from agent.protocol.effects import TaskProgressed
from agent.protocol.records import Dataset
from tests.control.serving import WITHIN_S, Serving, workflow
from tests.control.surface import NODE

ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@pytest.fixture
async def typist(there: Serving) -> AsyncIterator[Typist]:
    """A connection that has shown the token."""
    reader, writer = await asyncio.open_unix_connection(there.server.place)
    client = Typist(reader, writer)
    await client.answered(f"token {there.control['token']}", "WELCOME birch ")
    yield client
    writer.transport.abort()


@pytest.fixture(params=["telnet", "nc"])
async def hand(request: pytest.FixtureRequest, there: Serving) -> AsyncIterator[Terminal]:
    """A terminal program that is connected; ended with the test."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed on this machine")
    pipe, words = asyncio.subprocess.PIPE, ["-U", there.server.place]
    if request.param == "telnet":
        words = ["127.0.0.1", str(there.server.port)]
    process = await asyncio.create_subprocess_exec(request.param, *words, stdin=pipe, stdout=pipe)
    yield Terminal(process)
    if process.returncode is None:
        process.kill()
    await process.communicate()


@dataclass
class Terminal:
    """A program that carries what is typed, and what it shows."""

    process: asyncio.subprocess.Process

    def type(self, line: str) -> None:
        """A line and the return key."""
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")

    def over(self) -> None:
        """No more is typed."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def shows(self, start: str) -> str:
        """The next line that begins so; what comes before it is not ours."""
        assert self.process.stdout is not None
        async with asyncio.timeout(WITHIN_S):
            while line := (await self.process.stdout.readline()).decode().strip():
                if line.startswith(start):
                    return line
        return ""


def answer_to(proof: str, there: Serving) -> str:
    """What `wingbeat telnet --answer` prints for the agent's proof."""
    asked, drawn, shown = proof.split()[1:]
    told = (there.control["token"], f"127.0.0.1:{there.server.port}", asked, drawn)
    assert shown == proof_of(told[0], "agent", *told[1:])
    return f"TOKEN {proof_of(told[0], 'client', *told[1:])}"


@pytest.mark.parametrize("there", [{"telnet": True}], indirect=True)
async def test_a_task_is_scheduled_followed_and_cancelled_by_hand(
    there: Serving, hand: Terminal, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["hand"] == "telnet":
        hand.type(f"PROVE {new_nonce()}")
        hand.type(answer_to(await hand.shows("PROOF"), there))
    else:
        hand.type(f"TOKEN {there.control['token']}")
    await hand.shows("WELCOME")
    hand.type("SCHEDULE copy low")
    heard = [await hand.shows("SCHEDULED")]
    task = heard[0].split()[1]
    hand.type(f"SUBSCRIBE {task}")
    heard += [await hand.shows("SUBSCRIBED"), await hand.shows("PROGRESS")]
    there.node.volunteer()
    heard.append(await hand.shows("PROGRESS"))
    there.node.tell(TaskProgressed(task, NODE, 425, 30_000))
    heard.append(await hand.shows("PROGRESS"))
    hand.type(f"CANCEL {task}")
    await there.node.stopping.wait()
    there.node.stop_program(task)
    heard += sorted([await hand.shows(""), await hand.shows("")])
    hand.type("CANCEL nothing")
    heard.append(await hand.shows("ERROR"))
    hand.type("QUIT")
    hand.over()
    async with asyncio.timeout(WITHIN_S):
        await hand.process.wait()
    told = re.sub(ID, "T", "\n".join(heard))
    assert re.sub(r"(PROGRESS T) \d+", r"\1 AGE", told).splitlines() == [
        "SCHEDULED T",
        "SUBSCRIBED T",
        "PROGRESS T AGE Ready 0",
        "PROGRESS T AGE Running 0",
        "PROGRESS T AGE Running 42",
        "CANCELLED T",
        "PROGRESS T AGE Cancelled 0",
        'ERROR no task is called "nothing"',
    ]


async def test_inputs_raw_data_and_parameters_reach_the_task(
    there: Serving, typist: Typist, tmp_path: Path
) -> None:
    raw, parameters = tmp_path / "scan.las", tmp_path / "band 3.xml"
    raw.write_bytes(b"points")
    parameters.write_text("<band>3</band>")
    await typist.answered("HELP", "HELP PROVE nonce", lines=7)
    there.node.handle_submission(workflow())
    told = f'SCHEDULE copy interactive -p {raw} -a survey/copy 2 -x "{parameters}"'
    task = (await typist.answered(told, "SCHEDULED ")).split()[1]
    spec = there.node.table.specs[task]
    (given,) = spec.inputs
    assert (spec.parameters, given.output) == ("<band>3</band>", 1)
    assert there.node.table.specs[given.task].name == "copy"
    assert there.node.datasets.added == [raw]
    assert not spec.raw[0].external
    assert there.node.table.interactive(task)
    kept = await typist.answered("SCHEDULE copy low -p flight-7", "SCHEDULED ")
    spec = there.node.table.specs[kept.split()[1]]
    assert spec.raw == (Dataset("flight-7", external=True),)


async def test_what_runs_is_told_as_cancelled_when_it_stopped(
    there: Serving, typist: Typist
) -> None:
    there.node.volunteer()
    task = (await typist.answered("SCHEDULE copy low", "SCHEDULED ")).split()[1]
    typist.say(f"CANCEL {task}")
    typist.say("SUBSCRIBE nothing")
    assert await typist.line() == 'ERROR no task is called "nothing"'
    there.node.stop_program(task)
    assert await typist.line() == f"CANCELLED {task}"
    said = "ERROR copy has ended already: it is Cancelled"
    assert await typist.answered(f"CANCEL {task}", "ERROR") == said


async def test_no_more_is_followed_at_a_time_than_is_allowed(
    there: Serving, typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.control.text_session.SUBSCRIBED_MAX", 2)
    there.node.handle_submission(workflow())
    await typist.answered("SUBSCRIBE survey/copy survey/check", "SUBSCRIBED", lines=3)
    said = "ERROR more than 2 tasks are subscribed by this connection"
    assert await typist.answered("SUBSCRIBE survey/spare", "ERROR") == said


async def test_progress_of_one_who_does_not_report_is_told_now_and_then(
    there: Serving, typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.control.text_session.PROGRESS_EVERY_S", 0.01)
    there.node.volunteer()
    task = (await typist.answered("SCHEDULE copy low", "SCHEDULED ")).split()[1]
    await typist.answered(f"SUBSCRIBE {task}", "SUBSCRIBED ")
    for _ in range(5):
        assert (await typist.line()).startswith(f"PROGRESS {task} ")


@dataclass
class Typist:
    """Lines of text out and in."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say(self, line: str) -> None:
        """One line."""
        self.writer.write(line.encode() + b"\r\n")

    async def line(self) -> str:
        """The next line."""
        async with asyncio.timeout(WITHIN_S):
            return (await self.reader.readline()).decode().rstrip("\n")

    async def answered(self, line: str, start: str, lines: int = 1) -> str:
        """A line, and the first of so many that answer it."""
        self.say(line)
        heard = [await self.line() for _ in range(lines)]
        assert heard[0].startswith(start), heard
        return heard[0]
