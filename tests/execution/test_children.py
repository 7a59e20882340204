"""Real processes: started, suspended, stopped, and gone with everything that they started."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.execution.children import Children
from agent.execution.groups_native import NoGroups
from agent.execution.programs import Programs
from agent.protocol.effects import StartChild
from agent.protocol.events import (
    ChildFailed,
    ChildProgressed,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
)
from agent.protocol.records import Dataset, TaskSpec
from tests.driver.worlds import RUN
from tests.execution.installed import install, processes, reader, state_of
from tests.execution.places import place
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are shell scripts on Linux")


async def test_words_become_events_and_the_rest_goes_to_the_log(tmp_path: Path) -> None:
    async with place(tmp_path, outputs=("one", "two")) as here:
        here.start("say hello PROGRESS:50 TERMINATED:17:18")
        ended = await here.end()
        outputs = (Dataset("17", external=True), Dataset("18", external=True))
        assert ended == ChildSucceeded("t", RUN, outputs)
        assert here.told[0] == ChildStarted("t", RUN)
        progress = here.told[1]
        assert isinstance(progress, ChildProgressed)
        assert progress.permille == 500
    assert (tmp_path / "logs" / "task-t" / "1.1.log").read_text() == "hello\n"


async def test_what_a_program_has_used_is_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with place(tmp_path) as here:
            here.start("say TERMINATED")
            await here.end()
    used = [line for line in caplog.messages if "of the processor and" in line]
    assert len(used) == 1
    assert re.fullmatch(
        r".+: succeeded; took \d+\.\d s of the processor and [\d,]+ [kM]B of memory", used[0]
    )


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ("say ERROR:no:such:flight", "tell no such flight"),
        ("exit 3", "tell exited with code 3: it is 3"),
        ("say CANCELLED", "tell ended itself as cancelled"),
        ("say TERMINATED:1", "tell names 1 outputs, it has 2"),
    ],
)
async def test_a_failure_is_one_sentence(tmp_path: Path, parameters: str, error: str) -> None:
    async with place(tmp_path, outputs=("one", "two")) as here:
        here.start(parameters)
        assert await here.end() == ChildFailed("t", RUN, error)


async def test_a_program_without_words_succeeds_by_its_exit_code(tmp_path: Path) -> None:
    async with place(tmp_path, outputs=("one", "two")) as here:
        here.start("say nothing")
        named = (Dataset("t:0", external=True), Dataset("t:1", external=True))
        assert await here.end() == ChildSucceeded("t", RUN, named)


async def test_what_cannot_be_started_fails_in_a_sentence(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start("", task="t", program="unknown")
        ended = await here.end()
        assert isinstance(ended, ChildFailed)
        assert ended.error.startswith("could not be started: the program unknown is not here")
        (tmp_path / "programs" / "tell" / "tell.sh").chmod(0o600)
        here.start("say x", task="u")
        ended = await here.end("u")
        assert isinstance(ended, ChildFailed)
        assert "Permission denied" in ended.error


@pytest.mark.parametrize(("spare", "niceness"), [(True, 19), (False, 10)])
async def test_it_works_in_a_folder_of_its_own_with_low_priority(
    tmp_path: Path, spare: bool, niceness: int
) -> None:
    async with place(tmp_path, spare=spare) as here:
        here.start("where")
        ended = await here.end()
        assert isinstance(ended, ChildSucceeded)
        folder = Path(ended.outputs[0].dataset)
        assert folder.parent == tmp_path / "scratch"
    lines = (tmp_path / "logs" / "task-t" / "1.1.log").read_text().split()
    assert int(lines[1]) == niceness, "lowered a moment after the process is made"
    assert (lines[2] == "idle") == spare


async def test_asked_to_stop_it_hears_cancel(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"listen {tmp_path}/pids")
        await here.running()
        here.children.stop("t", RUN, "not wanted")
        assert await here.end() == ChildStopped("t", RUN)
    assert (tmp_path / "logs" / "task-t" / "1.1.log").read_text() == "heard CANCEL\n"


async def test_one_that_does_not_listen_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    async with place(tmp_path, grace_s=0.05) as here:
        here.start(f"stubborn {tmp_path}/pids")
        pids = await here.running()
        here.children.stop("t", RUN, "not wanted")
        assert await here.end() == ChildStopped("t", RUN)
        await eventually(lambda: not any(map(state_of, pids)))


async def test_the_whole_group_is_suspended_and_goes_on(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
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


async def test_what_is_asked_before_the_process_is_there_counts(tmp_path: Path) -> None:
    async with place(tmp_path, grace_s=0.05) as here:
        here.start(f"hang {tmp_path}/one", task="one")
        here.children.suspend("one", RUN)
        here.start(f"hang {tmp_path}/two", task="two")
        here.children.stop("two", RUN, "at once")
        assert await here.end("two") == ChildStopped("two", RUN)
        here.children.resume("one", RUN)
        await here.running("one")


async def test_a_run_that_is_not_there_is_stopped_all_the_same(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.children.stop("t", RUN, "not wanted")
        assert here.told == []
        assert await here.end() == ChildStopped("t", RUN)


async def test_nothing_that_it_started_is_left_when_it_ends(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"leave {tmp_path}/pids")
        assert isinstance(await here.end(), ChildSucceeded)
        pids = await here.running()
        await eventually(lambda: not any(map(state_of, pids)))


async def test_closing_ends_everything_also_what_has_left_its_session(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"hang {tmp_path}/one", task="one")
        here.start(f"escape {tmp_path}/two", task="two")
        pids = await here.running("one") + await here.running("two")
    await eventually(lambda: not any(map(state_of, pids)))


AGENT = """
import asyncio, sys
from pathlib import Path
from tests.execution.places import place

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
    assert isinstance(told[0], ChildFailed)
    assert "cannot be run on this system" in told[0].error
    await asyncio.sleep(0)
