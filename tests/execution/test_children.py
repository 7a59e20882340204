"""Real processes: started, suspended, stopped, and gone with everything that they started; and what they
take from the store and leave to it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.execution.children import Children, NoGroups
from agent.execution.programs import Programs
from agent.protocol.effects import StartChild
from agent.protocol.events import (
    ChildCheckpointed,
    ChildFailed,
    ChildProgressed,
    ChildStarted,
    ChildStopped,
    Event,
)
from agent.protocol.records import Dataset, TaskSpec
from tests.driver.worlds import RUN
from tests.execution.installed import install, processes, reader, state_of
from tests.execution.places import Place, in_words, place, placed
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are shell scripts on Linux")


@placed(outputs=("one", "two"))
@pytest.mark.parametrize(
    ("parameters", "outputs"),
    [("say hello PROGRESS:50 TERMINATED:17:18", ["17", "18"]), ("say hello", ["t:0", "t:1"])],
    ids=["words", "its exit code"],
)
async def test_words_become_events_and_the_rest_goes_to_the_log(
    here: Place, parameters: str, outputs: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """And what a program has used goes to the log of the agent."""
    caplog.set_level(logging.INFO)
    here.start(parameters)
    named = tuple(Dataset(each, external=True) for each in outputs)
    assert await here.succeeds() == named
    assert here.told[0] == ChildStarted("t", RUN)
    progress = [each.permille for each in here.told if isinstance(each, ChildProgressed)]
    assert progress == [500] * ("PROGRESS" in parameters)
    assert here.log() == "hello\n"
    (used,) = [line for line in caplog.messages if "of the processor and" in line]
    assert re.fullmatch(
        r".+: succeeded; took \d+\.\d s of the processor and [\d,]+ [kM]B of memory", used
    )


@placed(outputs=("one", "two"))
@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ("say ERROR:no:such:flight", "tell no such flight"),
        ("exit 3", "tell exited with code 3: it is 3"),
        ("mistype", r"tell exited with code 127: tell\.sh:\d+: uniqq: (command )?not found"),
        ("say CANCELLED", "tell ended itself as cancelled"),
        ("say TERMINATED:1", "tell names 1 outputs, it has 2"),
    ],
)
async def test_a_failure_is_one_sentence(here: Place, parameters: str, error: str) -> None:
    here.start(parameters)
    await here.fails(error)


async def test_what_cannot_be_started_fails_in_a_sentence(here: Place, tmp_path: Path) -> None:
    here.start("", program="unknown")
    await here.fails("could not be started: the program unknown is not here.*")
    (tmp_path / "programs" / "tell" / "tell.sh").chmod(0o600)
    here.start("say x", task="u")
    await here.fails(".*Permission denied.*", "u")


@pytest.mark.parametrize(
    ("here", "niceness"),
    [({"spare": True}, 19), ({"spare": False}, 10)],
    indirect=["here"],
    ids=["spare", "share"],
)
async def test_it_works_in_a_folder_of_its_own_with_low_priority(
    here: Place, tmp_path: Path, niceness: int
) -> None:
    here.start("where")
    (folder,) = await here.succeeds()
    assert Path(folder.dataset).parents[1] == tmp_path / "scratch"
    _, nice, scheduling, *_ = here.log().split()
    assert int(nice) == niceness, "lowered a moment after the process is made"
    assert (scheduling == "idle") == (niceness == 19)


@pytest.mark.parametrize(
    ("here", "how", "said"),
    [
        ({"grace_s": 60.0}, "listen", "heard CANCEL\n"),  # ends by itself
        ({"grace_s": 0.05}, "stubborn", ""),
    ],
    indirect=["here"],
    ids=["listens", "is-stubborn"],
)
async def test_asked_to_stop_it_hears_cancel_and_is_ended_with_all_that_it_started(
    here: Place, tmp_path: Path, how: str, said: str
) -> None:
    here.start(f"{how} {tmp_path}/pids")
    pids = await here.running()
    here.children.stop("t", RUN, "not wanted")
    assert await here.end() == ChildStopped("t", RUN)
    await eventually(lambda: not any(map(state_of, pids)))
    assert here.log() == said


async def test_the_whole_group_is_suspended_and_goes_on(here: Place, tmp_path: Path) -> None:
    here.start(f"hang {tmp_path}/pids")
    pids = await here.running()
    here.children.suspend("t", RUN)
    await eventually(lambda: [state_of(pid) for pid in pids] == ["T", "T"])
    here.children.resume("t", RUN)
    await eventually(lambda: "T" not in [state_of(pid) for pid in pids])
    here.children.suspend("t", RUN)
    here.children.stop("t", RUN, "the owner needs the machine")
    assert await here.end() == ChildStopped("t", RUN)
    await eventually(lambda: not any(map(state_of, pids)))


@placed(grace_s=0.05)
async def test_what_is_asked_before_the_process_is_there_counts(
    here: Place, tmp_path: Path
) -> None:
    """Closing ends everything, also what has left its session."""
    here.start(f"hang {tmp_path}/one", task="one")
    here.children.suspend("one", RUN)
    here.start(f"hang {tmp_path}/two", task="two")
    here.children.stop("two", RUN, "at once")
    assert await here.end("two") == ChildStopped("two", RUN)
    here.children.resume("one", RUN)
    here.start(f"escape {tmp_path}/three", task="three")
    pids = await here.running("one") + await here.running("three")
    await here.children.close()
    await eventually(lambda: not any(map(state_of, pids)))


async def test_a_run_that_is_not_there_is_stopped_all_the_same(here: Place) -> None:
    here.children.stop("t", RUN, "not wanted")
    assert here.told == []
    assert await here.end() == ChildStopped("t", RUN)


async def test_nothing_that_it_started_is_left_when_it_ends(here: Place, tmp_path: Path) -> None:
    here.start(f"leave {tmp_path}/pids")
    await here.succeeds()
    pids = await here.running()
    await eventually(lambda: not any(map(state_of, pids)))


AGENT = """
import asyncio, sys
from pathlib import Path
from tests.execution.places import Place, place, placed

async def main() -> None:
    async with place(Path(sys.argv[1])) as here:
        here.start(f"hang {sys.argv[1]}/one", task="one")
        here.start(f"escape {sys.argv[1]}/two", task="two")
        here.start(f"hide {sys.argv[1]}/three wait", task="three")
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_no_program_outlives_an_agent_that_is_killed(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "two", "three")]

    async def test(agent: subprocess.Popen[bytes]) -> None:
        await eventually(lambda: all(map(processes, paths)))
        pids = [pid for path in paths for pid in processes(path)]
        assert all(map(state_of, pids))
        agent.send_signal(signal.SIGKILL)
        await eventually(lambda: not any(map(state_of, pids)))

    with subprocess.Popen([sys.executable, "-c", AGENT, str(tmp_path)]) as agent:
        try:
            await test(agent)
        finally:
            agent.kill()


async def test_a_system_without_groups_offers_no_programs(tmp_path: Path) -> None:
    install(tmp_path / "programs")
    programs = Programs(tmp_path / "programs", reader())
    programs.look()
    told: list[Event] = []
    (tmp_path / "scratch").mkdir()
    children = Children(programs, tmp_path / "scratch", tmp_path, told.append, NoGroups())
    assert children.names() == ()
    children.start(StartChild("t", RUN, TaskSpec("t", "t", "tell"), ()))
    await eventually(lambda: bool(told))
    kind, said = in_words(told[0])
    assert kind is ChildFailed
    assert "cannot be run on this system" in said
    await asyncio.sleep(0)


# -- what programs take from the store and leave to it ---------------------------------------------


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
    await eventually(lambda: bool(list(tmp_path.glob("scratch/*/saved/1/**/state"))))
    here.store.held.set()
    await here.succeeds()
    assert [type(each).__name__ for each in here.told] == [
        "ChildStarted",
        "ChildCheckpointed",
        "ChildSucceeded",
    ]
