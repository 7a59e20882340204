"""Programs that do what no program should: each ends in the right state with one clear sentence,
and nothing of it is left."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from agent.execution import children as children_module
from agent.execution import groups_linux
from agent.execution.child import Child
from agent.execution.groups import Launch
from agent.execution.limits import Limits, NodeLimits
from agent.execution.process_tree import children_of
from agent.protocol import records
from agent.protocol.events import (
    ChildNotStarted,
    ChildStopped,
)
from tests.certain import certain
from tests.driver.worlds import RUN
from tests.execution.installed import parent_of, state_of
from tests.execution.places import Place, place, placed
from tests.hosts.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are shell scripts on Linux")


@placed(limits=NodeLimits(Limits(log_mb=1)))
async def test_a_flood_is_heard_to_its_end_and_its_log_says_that_it_was_cut(here: Place) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    here.start(f"flood {64 * 1024 * 1024}")
    await here.succeeds()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 30_000
    log = here.log()
    assert len(log) < 1_100_000
    assert "[wingbeat] the log is full at 1 MB; only the end follows" in log
    assert re.search(r"\[wingbeat\] 66 MB were left out here\n", log)
    assert log.endswith("the end\n")


@pytest.mark.parametrize(
    ("parameters", "printed"),
    [("garbage", ".{1001,}"), (f"say {100_000 * 'x'}", "x{100000}\n")],
    ids=["garbage", "a great deal"],
)
async def test_whatever_it_prints_goes_to_the_log(
    here: Place, parameters: str, printed: str
) -> None:
    here.start(parameters)
    await here.succeeds()
    assert re.fullmatch(printed, here.log(), re.DOTALL)


@placed(grace_s=0.05)
@pytest.mark.parametrize(
    ("parameters", "limits", "told"),
    [
        (
            "eat 2000000000",
            records.Limits(memory_mb=60),
            "tell took [0-9,]+ MB of memory, its limit is 60 MB",
        ),
        (
            "fill 60000000",
            records.Limits(disk_mb=20),
            "tell wrote [0-9]+ MB, its limit is 20 MB",
        ),
        (
            "mute",
            records.Limits(silent_s=1),
            "tell neither progressed nor printed anything for 1 s, which is its limit",
        ),
        (
            "say one\0two",
            records.Limits(),
            "could not be started: it would be told something with a zero byte, which no system can",
        ),
    ],
    ids=["memory", "disk", "silence", "zero"],
)
async def test_one_beyond_its_limits_is_ended_in_one_sentence_and_harms_no_other(
    here: Place, parameters: str, limits: records.Limits, told: str
) -> None:
    here.start(parameters, limits=limits)
    await here.fails(told)
    here.start("say hello", task="next")
    await here.succeeds("next")


async def test_one_that_runs_for_too_long_is_asked_to_end_first(
    here: Place, tmp_path: Path
) -> None:
    here.start(f"listen {tmp_path}/pids", limits=records.Limits(wall_s=3600))
    await here.running()
    child = await child_of(here)
    child._since_s -= 3600  # an hour has passed, however long the program took to begin
    child._look()
    await here.fails("tell ran for longer than 3600 s, which is its limit: heard CANCEL")


async def test_one_on_a_disk_that_others_fill_is_given_back(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = os.statvfs(tmp_path)
    full = partial(replace, free_bytes_min=disk.f_blocks * disk.f_frsize)
    monkeypatch.setattr(children_module, "FREE_BYTES_MIN", -1)
    monkeypatch.setattr(children_module, "Launch", lambda **told: full(Launch(**told)))
    here.start("mute")
    lacks = "tell was ended, because the disk has only [0-9,]+ MB left"
    await here.fails(lacks, kind=ChildNotStarted)


async def child_of(here: Place) -> Child:
    """The child of the task, once its keeper has said that it runs."""
    run = here.children._runs["t", RUN]
    await eventually(lambda: run.child is not None)
    return certain(run.child)


async def test_one_whose_keeper_is_killed_fails_leaves_nothing_and_harms_no_other(
    here: Place, tmp_path: Path
) -> None:
    here.start(f"hang {tmp_path}/pids")
    here.start(f"wait {tmp_path}/others {tmp_path}/go", task="u")
    pids, _ = await here.running(), await here.running("others")
    await child_of(here)
    os.kill(parent_of(pids[0]), 9)
    await here.fails("tell was ended by signal 9")
    await eventually(lambda: not any(map(state_of, pids)))
    (tmp_path / "go").touch()
    await here.succeeds("u")
    here.start("say hello", task="v")
    await here.succeeds("v")


@placed(grace_s=0.05)
@pytest.mark.parametrize("how", ["wait", "end"])
async def test_one_that_forks_away_with_no_environment_is_found(
    here: Place, tmp_path: Path, how: str
) -> None:
    here.start(f"hide {tmp_path}/pids {how}")
    pids = await here.running()
    if how == "wait":
        assert all(map(state_of, pids))
        here.children.suspend("t", RUN)
        await eventually(lambda: [state_of(each) for each in pids] == ["T"])
        here.children.stop("t", RUN, "not wanted")
        assert await here.end() == ChildStopped("t", RUN)
    else:
        await here.succeeds()
    assert not any(map(state_of, pids)), "gone before the slot counts as free"


async def test_one_keeper_is_ready_for_the_first_program(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        groups = here.children._groups
        for _ in range(2):
            groups.prepare()
        guardian = groups._guardian.pid  # type: ignore[attr-defined]
        await eventually(lambda: bool(children_of(guardian)))
        (keeper,) = children_of(guardian)
        here.start(f"wait {tmp_path}/pids {tmp_path}/go")
        assert parent_of((await here.running())[0]) == keeper
        (tmp_path / "go").touch()
        await here.succeeds()
    assert not state_of(keeper)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
async def test_what_asks_others_to_end_does_not_end_a_guardian(
    here: Place, tmp_path: Path, number: signal.Signals
) -> None:
    """One that is killed is replaced; nothing that runs is lost."""
    here.start(f"wait {tmp_path}/pids {tmp_path}/go")
    await here.running()
    guardian = here.children._groups._guardian  # type: ignore[attr-defined]
    guardian.send_signal(number)
    ends = number is signal.SIGKILL
    await eventually(lambda: not ends or guardian.poll() is not None)
    here.start("say hello", task="u")
    await here.succeeds("u")
    assert (guardian.poll() is not None) is ends
    assert (here.children._groups._guardian is guardian) is not ends  # type: ignore[attr-defined]
    (tmp_path / "go").touch()
    await here.succeeds("t")


@pytest.mark.parametrize("again", [True, False], ids=["asked again", "closed"])
async def test_a_keeper_that_is_killed_while_nothing_is_asked_of_it_is_done_without(
    here: Place, again: bool
) -> None:
    groups = here.children._groups
    groups.prepare()
    guardian = groups._guardian.pid  # type: ignore[attr-defined]
    await eventually(lambda: _has_one(guardian))
    (idle, _), *_ = groups._idle  # type: ignore[attr-defined]
    os.kill(children_of(guardian)[0], 9)
    await eventually(lambda: not idle.usable)
    if again:
        here.start("say hello")
        await here.succeeds()


async def test_keepers_that_nothing_is_asked_of_are_let_go_but_for_one(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups_linux, "KEEPER_IDLE_S", 0.05)
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
            await here.succeeds(task)
        await eventually(partial(_has_one, guardian))


async def test_what_cannot_be_executed_costs_neither_a_keeper_nor_a_file(
    here: Place, tmp_path: Path
) -> None:
    script = tmp_path / "programs" / "tell" / "tell.sh"
    there = script.read_text()
    here.start("say hello", task="first")
    await here.succeeds("first")
    guardian = here.children._groups._guardian.pid  # type: ignore[attr-defined]
    keepers, files = children_of(guardian), _open_files()
    script.write_text("#!/no/such/interpreter\n")
    for task in ("one", "two", "three"):
        here.start("say hello", task=task)
        await here.fails(r"could not be started: \[Errno 2\] No such file.*", task)
    script.write_text(there)
    here.start("say hello", task="last")
    await here.succeeds("last")
    assert (children_of(guardian), _open_files()) == (keepers, files)


@placed(spare=True)
async def test_a_program_writes_no_image_of_its_memory_and_reads_when_nobody_else_does(
    here: Place, tmp_path: Path
) -> None:
    here.start(f"wait {tmp_path}/pids {tmp_path}/go")
    program, _ = await here.running()
    process = psutil.Process(program)
    assert process.rlimit(psutil.RLIMIT_CORE) == (1, 1), "with 0 a collector would still be told"
    await eventually(lambda: process.ionice().ioclass == psutil.IOPRIO_CLASS_IDLE)
    here.start(f"wait {tmp_path}/more {tmp_path}/go", task="u", interactive=True)
    other = psutil.Process((await here.running("more"))[0])
    await eventually(lambda: tuple(other.ionice()) == (psutil.IOPRIO_CLASS_BE, 7))
    (tmp_path / "go").touch()
    await here.succeeds()
    await here.succeeds("u")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _has_one(guardian: int) -> bool:
    return len(children_of(guardian)) == 1


def test_a_thread_that_ends_meanwhile_hides_no_children_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        threads = [str(2**22 + 1), str(os.getpid())]
        monkeypatch.setattr(os, "listdir", lambda _: threads)
        assert child.pid in children_of(os.getpid())
        assert child.stdin is not None
        child.stdin.close()
