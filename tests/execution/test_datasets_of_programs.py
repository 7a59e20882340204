"""What programs take from the store and leave to it: inputs, outputs, saved states, parameters."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from agent.protocol.events import ChildCheckpointed, Event
from agent.protocol.records import Dataset, TaskSpec
from tests.execution.places import Place, place, placed
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are shell scripts on Linux")


@placed(store=True)
async def test_named_files_go_to_the_store_and_other_words_pass(
    here: Place, tmp_path: Path
) -> None:
    here.start("write a.txt TERMINATED:a.txt:row-17:a.txt")
    file, row, again = await here.succeeds()
    assert file == again
    assert file.dataset.startswith("sha256:")
    assert row == Dataset("row-17", external=True)
    private = tmp_path / "private.txt"
    private.write_text("not the program's")
    here.start(f"say TERMINATED:{private}:../x", "u")
    assert [each.external for each in await here.succeeds("u")] == [True, True]
    assert private.exists()


@placed(outputs=("one",), store=True)
async def test_declared_outputs_are_taken_from_a_program_without_words(here: Place) -> None:
    here.start("write one")
    (kept,) = await here.succeeds()
    assert not kept.external
    here.start("exit 0", task="u")
    await here.fails("tell ended well but left no one, which its description declares", "u")


async def test_inputs_are_laid_as_files_and_identifiers_are_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINGBEAT_PROGRAM_TEST_FOLDER", str(tmp_path))
    async with place(tmp_path, store=True) as here:
        here.start("write a.txt TERMINATED:a.txt")
        (kept,) = await here.succeeds()
        spec = TaskSpec("u", "u", "tell", raw=(kept,), parameters="say x\nsecond line")
        here.start("", task="u", spec=spec, inputs=(kept.dataset, "row-17"))
        await here.succeeds("u")
    told = (tmp_path / "arguments").read_text()
    wanted = "-p\n.*/inputs/0/a.txt\n-i\nrow-17\n-x\n.*/parameters.txt\n"
    assert re.fullmatch(wanted, told), told


async def test_a_program_knows_its_task(here: Place, tmp_path: Path) -> None:
    here.start("environment", workflow="w")
    await here.end()
    told = dict(line.split("=", 1) for line in here.log().splitlines())
    assert told.pop("WINGBEAT_SCRATCH").startswith(str(tmp_path / "scratch"))
    wanted = {"TASK": "t", "WORKFLOW": "w", "PROGRAM": "tell", "ATTEMPT": "1"}
    assert told == {f"WINGBEAT_{name}": text for name, text in wanted.items()}


def checkpoints(told: list[Event]) -> list[Dataset]:
    return [each.checkpoint for each in told if isinstance(each, ChildCheckpointed)]


@placed(store=True)
async def test_a_saved_state_is_told_and_the_next_attempt_finds_it(here: Place) -> None:
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


@placed(store=True)
async def test_a_state_on_its_way_when_the_program_ends_is_still_told(
    here: Place, tmp_path: Path
) -> None:
    here.store.held = asyncio.Event()
    here.start("write state CHECKPOINT:state TERMINATED:17")
    await eventually(lambda: bool(list(tmp_path.glob("scratch/*/saved/1/state"))))
    here.store.held.set()
    await here.succeeds()
    assert [type(each).__name__ for each in here.told] == [
        "ChildStarted",
        "ChildCheckpointed",
        "ChildSucceeded",
    ]
