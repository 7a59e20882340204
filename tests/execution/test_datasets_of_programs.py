"""What programs take from the store and leave to it: inputs, outputs, saved states, parameters."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from agent.protocol.events import ChildCheckpointed, ChildFailed, ChildSucceeded, Event
from agent.protocol.records import Dataset, TaskSpec
from tests.driver.worlds import RUN
from tests.execution.places import Place, place
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are shell scripts on Linux")


async def outputs(here: Place, parameters: str, task: str = "t") -> tuple[Dataset, ...]:
    here.start(parameters, task=task)
    ended = await here.end(task)
    assert isinstance(ended, ChildSucceeded), ended
    return ended.outputs


async def test_named_files_go_to_the_store_and_other_words_pass(tmp_path: Path) -> None:
    async with place(tmp_path, store=True) as here:
        file, row, again = await outputs(here, "write a.txt TERMINATED:a.txt:row-17:a.txt")
        assert file == again
        assert file.dataset.startswith("sha256:")
        assert row == Dataset("row-17", external=True)
        private = tmp_path / "private.txt"
        private.write_text("not the program's")
        outside = await outputs(here, f"say TERMINATED:{private}:../x", "u")
        assert [each.external for each in outside] == [True, True]
        assert private.exists()


async def test_declared_outputs_are_taken_from_a_program_without_words(tmp_path: Path) -> None:
    async with place(tmp_path, outputs=("one",), store=True) as here:
        (kept,) = await outputs(here, "write one")
        assert not kept.external
        here.start("exit 0", task="u")
        told = "tell ended well but left no one, which its description declares"
        assert await here.end("u") == ChildFailed("u", RUN, told)


async def test_inputs_are_laid_as_files_and_identifiers_are_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINGBEAT_PROGRAM_TEST_FOLDER", str(tmp_path))

    async with place(tmp_path, store=True) as here:
        (kept,) = await outputs(here, "write a.txt TERMINATED:a.txt")
        spec = TaskSpec("u", "u", "tell", raw=(kept,), parameters="say x\nsecond line")
        here.start("", task="u", spec=spec, inputs=(kept.dataset, "row-17"))
        assert isinstance(await here.end("u"), ChildSucceeded)
        told = (tmp_path / "arguments").read_text().split("\n")
    assert told[0] == "-p"
    assert told[1].endswith("/inputs/0/a.txt")
    assert told[2:4] == ["-i", "row-17"]
    assert told[4] == "-x"
    assert told[5].endswith("/parameters.txt")


async def test_a_program_knows_its_task(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start("environment", workflow="w")
        await here.end()
        told = dict(line.split("=", 1) for line in here.log().splitlines())
    assert told["WINGBEAT_TASK"] == "t"
    assert told["WINGBEAT_WORKFLOW"] == "w"
    assert told["WINGBEAT_PROGRAM"] == "tell"
    assert told["WINGBEAT_ATTEMPT"] == "1"
    assert told["WINGBEAT_SCRATCH"].startswith(str(tmp_path / "scratch"))
    assert "WINGBEAT_CHECKPOINT" not in told


def checkpoints(told: list[Event]) -> list[Dataset]:
    return [each.checkpoint for each in told if isinstance(each, ChildCheckpointed)]


async def test_a_saved_state_is_told_and_the_next_attempt_finds_it(tmp_path: Path) -> None:
    async with place(tmp_path, store=True) as here:
        here.start("save x")
        await eventually(lambda: bool(checkpoints(here.told)))
        (saved,) = checkpoints(here.told)
        assert not saved.external
        here.start("environment", task="u", checkpoint=saved.dataset)
        await here.end("u")
        assert "/checkpoint/state\n" in here.log("u")
        assert here.log("u").endswith("\none\n"), "what was saved"
        here.start("environment", task="v", checkpoint="sha256:" + 64 * "0")
        await here.end("v")
        assert "CHECKPOINT" not in here.log("v"), "one that is not here is done without"


async def test_a_state_on_its_way_when_the_program_ends_is_still_told(tmp_path: Path) -> None:
    async with place(tmp_path, store=True) as here:
        here.store.held = asyncio.Event()
        here.start("write state CHECKPOINT:state TERMINATED:17")
        await eventually(lambda: bool(list(tmp_path.glob("scratch/*/saved/1/state"))))
        here.store.held.set()
        assert isinstance(await here.end(), ChildSucceeded)
        assert [type(each).__name__ for each in here.told] == [
            "ChildStarted",
            "ChildCheckpointed",
            "ChildSucceeded",
        ]
