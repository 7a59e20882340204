"""Programs that do what no program should: each ends in the right state with one clear sentence,
and nothing of it is left."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest

from agent.execution import children as children_module
from agent.execution import groups_linux
from agent.execution.groups import Launch
from agent.execution.limits import Limits
from agent.execution.process_tree import children_of
from agent.protocol import records
from agent.protocol.events import (
    ChildFailed,
    ChildNotStarted,
    ChildStopped,
    ChildSucceeded,
)
from tests.driver.worlds import RUN
from tests.execution.installed import state_of
from tests.execution.places import place
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are shell scripts on Linux")


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


FLOOD_BYTES = 64 * 1024 * 1024


async def test_a_flood_is_heard_to_its_end_and_its_log_says_that_it_was_cut(tmp_path: Path) -> None:
    async with place(tmp_path, limits=Limits(log_mb=1)) as here:
        before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        here.start(f"flood {FLOOD_BYTES}")
        assert isinstance(await here.end(), ChildSucceeded)
        more_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
        assert more_kb < 30_000
        log = here.log()
    assert len(log) < 1_100_000
    assert "[wingbeat] the log is full at 1 MB; only the end follows" in log
    assert re.search(r"\[wingbeat\] 66 MB were left out here\n", log)
    assert log.endswith("the end\n")


async def test_garbage_goes_to_the_log(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start("garbage")
        assert isinstance(await here.end(), ChildSucceeded)
        assert len(here.log()) > 1_000


async def test_one_that_eats_memory_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start("eat 2000000000", limits=records.Limits(memory_mb=60))
        ended = await here.end()
        assert isinstance(ended, ChildFailed)
        told = r"tell took [0-9,]+ MB of memory, its limit is 60 MB"
        assert re.fullmatch(told, ended.error)


async def test_one_that_fills_the_disk_is_ended_and_what_it_wrote_is_gone(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start("fill 60000000", limits=records.Limits(disk_mb=20))
        ended = await here.end()
        assert isinstance(ended, ChildFailed)
        assert re.fullmatch(r"tell wrote [0-9]+ MB, its limit is 20 MB", ended.error)


async def test_one_on_a_disk_that_others_fill_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = os.statvfs(tmp_path)
    monkeypatch.setattr(children_module, "FREE_BYTES_MIN", -1)
    keep = Launch

    def on_a_full_disk(**told: object) -> object:
        told["free_bytes_min"] = wanted.f_blocks * wanted.f_frsize
        return keep(**told)  # type: ignore[arg-type]

    monkeypatch.setattr(children_module, "Launch", on_a_full_disk)
    async with place(tmp_path) as here:
        here.start("mute")
        ended = await here.end()
        assert isinstance(ended, ChildNotStarted)
        assert re.fullmatch(
            r"tell was ended, because the disk has only [0-9,]+ MB left", ended.reason
        )


async def test_nothing_is_started_on_a_disk_without_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children_module, "FREE_BYTES_MIN", 2**60)
    async with place(tmp_path) as here:
        here.start("say hello")
        ended = await here.end()
        assert isinstance(ended, ChildNotStarted)
        assert os.strerror(errno.ENOSPC) not in ended.reason
        assert "the disk has" in ended.reason
        assert here.log() == ""


async def test_what_no_system_can_tell_a_program_fails_its_task_and_harms_no_other(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        here.start("say one\0two")
        said = "it would be told something with a zero byte, which no system can"
        assert await here.end() == ChildFailed("t", RUN, f"could not be started: {said}")
        here.start("say hello", task="next")
        assert isinstance(await here.end("next"), ChildSucceeded)


async def test_one_that_runs_too_long_hears_cancel_and_is_ended(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"listen {tmp_path}/pids", limits=records.Limits(wall_s=1))
        ended = await here.end()
        told = "tell ran for longer than 1 s, which is its limit: heard CANCEL"
        assert ended == ChildFailed("t", RUN, told)


async def test_one_that_says_nothing_is_ended(tmp_path: Path) -> None:
    async with place(tmp_path, grace_s=0.05) as here:
        here.start("mute", limits=records.Limits(silent_s=1))
        told = "tell neither progressed nor printed anything for 1 s, which is its limit"
        assert await here.end() == ChildFailed("t", RUN, told)


async def test_suspended_time_counts_for_no_limit(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"wait {tmp_path}/pids {tmp_path}/go", limits=records.Limits(wall_s=3600))
        await here.running()
        run = here.children._runs["t", RUN]
        await eventually(lambda: run.child is not None)
        child = run.child
        assert child is not None
        here.children.suspend("t", RUN)
        ran_s = child.ran_s
        await eventually(lambda: child._watching is None)
        assert child.ran_s == ran_s
        here.children.resume("t", RUN)
        assert child._watching is not None
        (tmp_path / "go").touch()
        assert isinstance(await here.end(), ChildSucceeded)


@pytest.mark.parametrize("how", ["wait", "end"])
async def test_one_that_forks_away_with_no_environment_is_found(tmp_path: Path, how: str) -> None:
    async with place(tmp_path, grace_s=0.05) as here:
        here.start(f"hide {tmp_path}/pids {how}")
        pids = await here.running()
        if how == "wait":
            assert all(map(state_of, pids))
            here.children.suspend("t", RUN)
            await eventually(lambda: [state_of(each) for each in pids] == ["T"])
            here.children.stop("t", RUN, "not wanted")
            assert await here.end() == ChildStopped("t", RUN)
        else:
            assert isinstance(await here.end(), ChildSucceeded)
        assert not any(map(state_of, pids)), "gone before the slot counts as free"


async def test_one_whose_keeper_is_killed_fails_and_leaves_nothing(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"hang {tmp_path}/pids")
        pids = await here.running()
        run = here.children._runs["t", RUN]
        await eventually(lambda: run.child is not None)  # the keeper has said that it runs
        os.kill(parent_of(pids[0]), 9)
        assert await here.end() == ChildFailed("t", RUN, "tell was ended by signal 9")
        await eventually(lambda: not any(map(state_of, pids)))
        here.start("say hello", task="u")
        assert isinstance(await here.end("u"), ChildSucceeded)


async def test_one_whose_keeper_is_killed_harms_no_other(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"hang {tmp_path}/pids")
        here.start(f"wait {tmp_path}/others {tmp_path}/go", task="u")
        pids = await here.running() + await here.running("others")
        run = here.children._runs["t", RUN]
        await eventually(lambda: run.child is not None)
        os.kill(parent_of(pids[0]), 9)
        assert isinstance(await here.end(), ChildFailed)
        await eventually(lambda: not any(map(state_of, pids[:2])))
        (tmp_path / "go").touch()
        assert isinstance(await here.end("u"), ChildSucceeded)


async def test_one_keeper_is_ready_for_the_first_program(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        groups = here.children._groups
        groups.prepare()
        groups.prepare()
        guardian = groups._guardian.pid  # type: ignore[attr-defined]
        await eventually(lambda: bool(children_of(guardian)))
        (keeper,) = children_of(guardian)
        here.start(f"wait {tmp_path}/pids {tmp_path}/go")
        pids = await here.running()
        assert parent_of(pids[0]) == keeper
        (tmp_path / "go").touch()
        assert isinstance(await here.end(), ChildSucceeded)
    assert not state_of(keeper)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_what_asks_others_to_end_does_not_end_a_guardian(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with place(tmp_path) as here:
        here.start(f"wait {tmp_path}/pids {tmp_path}/go")
        await here.running()
        guardian = here.children._groups._guardian  # type: ignore[attr-defined]
        guardian.send_signal(number)
        here.start("say hello", task="u")
        assert isinstance(await here.end("u"), ChildSucceeded)
        assert here.children._groups._guardian is guardian  # type: ignore[attr-defined]
        assert guardian.poll() is None
        (tmp_path / "go").touch()
        assert isinstance(await here.end("t"), ChildSucceeded)


@pytest.mark.parametrize("again", [True, False], ids=["asked again", "closed"])
async def test_a_keeper_that_is_killed_while_nothing_is_asked_of_it_is_done_without(
    tmp_path: Path, again: bool
) -> None:
    async with place(tmp_path) as here:
        groups = here.children._groups
        groups.prepare()
        guardian = groups._guardian.pid  # type: ignore[attr-defined]
        await eventually(lambda: _has_one(guardian))
        (idle, _), *_ = groups._idle  # type: ignore[attr-defined]
        os.kill(children_of(guardian)[0], 9)
        await eventually(lambda: not idle.usable)
        if again:
            here.start("say hello")
            assert isinstance(await here.end(), ChildSucceeded)


async def test_a_guardian_that_is_killed_is_replaced(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start(f"wait {tmp_path}/pids {tmp_path}/go")
        await here.running()
        guardian = here.children._groups._guardian  # type: ignore[attr-defined]
        guardian.kill()
        await eventually(lambda: guardian.poll() is not None)
        here.start("say hello", task="u")
        assert isinstance(await here.end("u"), ChildSucceeded)
        (tmp_path / "go").touch()
        assert isinstance(await here.end("t"), ChildSucceeded)


async def test_one_that_fails_on_a_full_disk_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path) as here:
        here.start(f"wait {tmp_path}/pids {tmp_path}/go; exit 1")
        (pid, _) = await here.running()
        monkeypatch.setattr(children_module, "FREE_BYTES_MIN", 2**60)
        os.kill(pid, 15)
        ended = await here.end()
        assert isinstance(ended, ChildNotStarted)
        assert re.fullmatch(
            r"tell was ended by signal 15, while the disk has only [0-9,]+ MB left",
            ended.reason,
        )


async def test_keepers_that_nothing_is_asked_of_are_let_go_but_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups_linux, "KEEPER_IDLE_S", 0.05)

    async with place(tmp_path) as here:
        groups = here.children._groups
        for name in ("one", "two"):
            tasks = [f"{name}{number}" for number in range(3)]
            for task in tasks:
                here.start(f"wait {tmp_path}/{task} {tmp_path}/go-{name}", task=task)
            for task in tasks:
                await here.running(task)
            guardian = groups._guardian.pid  # type: ignore[attr-defined]
            assert len(children_of(guardian)) == 3, "each has its own"
            (tmp_path / f"go-{name}").touch()
            for task in tasks:
                assert isinstance(await here.end(task), ChildSucceeded)
            await eventually(partial(_has_one, guardian))


async def test_what_cannot_be_executed_costs_neither_a_keeper_nor_a_file(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        script = tmp_path / "programs" / "tell" / "tell.sh"
        there = script.read_text()
        here.start("say hello", task="first")
        assert isinstance(await here.end("first"), ChildSucceeded)
        guardian = here.children._groups._guardian.pid  # type: ignore[attr-defined]
        keepers, files = children_of(guardian), _open_files()
        script.write_text("#!/no/such/interpreter\n")
        for number in range(3):
            task = f"broken{number}"
            here.start("say hello", task=task)
            ended = await here.end(task)
            assert isinstance(ended, ChildFailed)
            assert ended.error.startswith("could not be started: [Errno 2] No such file")
        script.write_text(there)
        here.start("say hello", task="last")
        assert isinstance(await here.end("last"), ChildSucceeded)
        assert children_of(guardian) == keepers
        assert _open_files() == files


async def test_a_program_writes_no_image_of_its_memory_and_reads_when_nobody_else_does(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, spare=True) as here:
        here.start(f"wait {tmp_path}/pids {tmp_path}/go")
        program, _ = await here.running()
        process = psutil.Process(program)
        assert process.rlimit(psutil.RLIMIT_CORE) == (0, 0)
        await eventually(lambda: process.ionice().ioclass == psutil.IOPRIO_CLASS_IDLE)
        here.start(f"wait {tmp_path}/more {tmp_path}/go", task="u", interactive=True)
        other = psutil.Process((await here.running("more"))[0])
        await eventually(lambda: tuple(other.ionice()) == (psutil.IOPRIO_CLASS_BE, 7))
        (tmp_path / "go").touch()
        assert isinstance(await here.end(), ChildSucceeded)
        assert isinstance(await here.end("u"), ChildSucceeded)


async def test_a_program_with_a_great_deal_to_be_told_is_told_all(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.start("say " + 100_000 * "x")
        assert isinstance(await here.end(), ChildSucceeded)
        assert here.log() == 100_000 * "x" + "\n"


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _has_one(guardian: int) -> bool:
    return len(children_of(guardian)) == 1
