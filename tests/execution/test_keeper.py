"""A keeper's parts in this process: what is too much, what it is told, how it starts a program."""

from __future__ import annotations

import errno
import marshal
import os
import resource
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

if sys.platform != "linux":
    pytest.skip("keepers are for Linux", allow_module_level=True)

from unittest.mock import Mock

from agent.execution import keeper as under_test
from agent.execution.control_groups import NO_GROUP
from agent.execution.keeper import HEADER, Bounds, Keeper, memory_bytes, start
from agent.execution.process_tree import _children_by_parent, children_of, descendants, end_tree
from tests.certain import certain
from tests.execution.installed import state_of
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

NOBODY = 2**22 + 1
"""No process has a number as high as that."""
Ends = tuple[socket.socket, Keeper, int]


# -- what is too much ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "free", "disk", "memory", "expected"),
    [
        ({}, 0, 10**9, 10**9, (0.5, "")),
        ({"free": 8_192}, 8_192, 0, 0, (0.5, "")),
        ({"free": 8_193}, 8_192, 0, 0, (0.5, "full 8192")),
        ({"disk": 1_000}, 0, 1_000, 0, (0.5, "")),
        ({"disk": 1_000}, 0, 1_001, 0, (0.5, "disk 1001")),
        ({"memory": 1_000}, 0, 0, 500, (0.5, "")),
        ({"memory": 1_000}, 0, 0, 501, (0.05, "")),
        ({"memory": 1_000}, 0, 0, 1_000, (0.05, "")),
        ({"memory": 1_000}, 0, 0, 1_001, (0.5, "memory 1001")),
    ],
)
def test_what_there_is_too_much_of_and_when_to_look_again(
    monkeypatch: pytest.MonkeyPatch,
    wanted: dict[str, int],
    free: int,
    disk: int,
    memory: int,
    expected: tuple[float, str],
) -> None:
    found = SimpleNamespace(
        f_bavail=free // 4_096, f_frsize=4_096, f_bfree=10**9, f_bsize=1, f_files=0
    )
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    monkeypatch.setattr(under_test, "time", SimpleNamespace(monotonic=lambda: 100.0))
    monkeypatch.setattr(under_test, "sizes", lambda *_: iter([disk]))
    monkeypatch.setattr(under_test, "memory_bytes", lambda *_: memory)
    bounds = Bounds({"memory": 0, "disk": 0, "free": 0, "folder": "/x", **wanted}, NO_GROUP)
    assert bounds.look(0.5) == expected


def test_a_disk_that_cannot_be_asked_is_not_full(tmp_path: Path) -> None:
    gone = {"memory": 0, "disk": 0, "free": 2**60, "folder": str(tmp_path / "gone")}
    assert Bounds(gone, NO_GROUP).look(0.5) == (0.5, "")


def test_a_walk_through_a_large_folder_is_made_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, walks = [100.0], [0]

    def walk(*_: object) -> Iterator[int]:
        now_s[0] += 0.5
        walks[0] += 1
        return iter(())

    monkeypatch.setattr(under_test, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    monkeypatch.setattr(under_test, "sizes", walk)
    bounds = Bounds({"memory": 0, "disk": 1, "free": 0, "folder": "/"}, NO_GROUP)
    for after_s, expected in ((0.0, 1), (9.5, 1), (0.5, 2), (9.5, 2), (0.5, 3)):
        now_s[0] += after_s
        bounds.look(0.5)
        assert walks[0] == expected


def test_the_memory_of_processes_is_their_sum_and_the_exact_one_only_above_the_limit() -> None:
    script = "held = bytearray(b'x') * 60_000_000; print(len(held), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holding:
        certain(holding.stdout).readline()
        holding.send_signal(signal.SIGSTOP)  # it takes nothing more meanwhile
        wait_for(lambda: state_of(holding.pid) == "T", EVENTUALLY_S_MAX, "it stands still")
        resident = psutil.Process(holding.pid).memory_info().rss
        twice = [holding.pid, NOBODY, holding.pid]
        assert memory_bytes(twice, 2 * resident) == 2 * resident
        own = memory_bytes([holding.pid], resident - 1)
        assert 60_000_000 <= own < resident, "without the files that it reads"
        assert memory_bytes(twice, 2 * resident - 1) == 2 * own
        holding.kill()
    assert memory_bytes([NOBODY], -1) == 0


# -- what it is told -----------------------------------------------------------------------------


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[socket.socket, Keeper, int]]:
    """The agent's end, a keeper at the other, and what wakes that."""
    wakes: list[int] = []
    monkeypatch.setattr(signal, "set_wakeup_fd", lambda file, **_: wakes.append(file))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    near, far = socket.socketpair()
    with near, far:
        keeper = Keeper(far, NO_GROUP)
        yield near, keeper, wakes[0]
        for file in (keeper._woken, wakes[0]):
            os.close(file)


def request(**more: object) -> bytes:
    content = marshal.dumps(more)
    return b"R" + HEADER.pack(len(content)) + content


@pytest.mark.parametrize("letters", [b"", b"S", b"KCSK"])
@pytest.mark.parametrize("size", [1, 200_000])
def test_letters_before_a_request_were_for_the_program_before(
    ends: Ends, letters: bytes, size: int
) -> None:
    agent, keeper, _ = ends
    read, write = os.pipe()
    told = request(command=["x" * size])
    agent.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
    agent.sendall(letters)
    assert socket.send_fds(agent, [told], [read, write, read]) == len(told)
    wanted, files = certain(keeper._wait_for_request())
    assert wanted == {"command": ["x" * size]}
    assert len(files) == 3
    assert os.write(files[1], b"x") == 1
    assert os.read(read, 10) == b"x"
    assert not any(map(os.get_inheritable, files))
    for file in (read, write, *files):
        os.close(file)


def test_no_request_comes_from_an_agent_that_has_gone(ends: Ends) -> None:
    agent, keeper, _ = ends
    agent.close()
    assert keeper._wait_for_request() is None
    with pytest.raises(ConnectionResetError):
        keeper._obey(b"")


def test_a_request_that_is_cut_off_is_none(ends: Ends) -> None:
    agent, keeper, _ = ends
    agent.sendall(request(command=["x" * 100])[:50])
    agent.close()
    with pytest.raises(ConnectionResetError):
        keeper._wait_for_request()


def test_each_letter_is_done_in_its_order(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[object, ...]] = []
    for name in ("signal_tree", "end_tree"):
        monkeypatch.setattr(under_test, name, lambda *told: done.append(told))
    _, keeper, _ = ends
    keeper._obey(b"SxCK")
    me = os.getpid()
    assert done == [(me, signal.SIGSTOP), (me, signal.SIGCONT), (me, keeper._reaped)]


def test_an_ended_process_wakes_the_keeper_once(ends: Ends) -> None:
    _, keeper, wake = ends
    assert os.write(wake, b"xx") == 2
    keeper._wait(EVENTUALLY_S_MAX)
    assert select.select([keeper._woken], [], [], 0)[0] == [], "it would never rest again"


def test_what_all_processes_have_used_is_added_up_and_the_first_ones_code_counts(
    ends: Ends,
) -> None:
    _, keeper, _ = ends
    keeper._program = 7
    keeper._reaped(8, 0, used(1.0, 0.5, 300))
    assert keeper._program == 7
    keeper._reaped(7, 3 << 8, used(0.25, 0.25, 200))
    assert (keeper._program, keeper._code) == (0, 3)
    keeper._reaped(9, signal.SIGKILL, used(1.0, 0.0, 100))
    assert (keeper._code, keeper._cpu_s, keeper._memory_kb) == (3, 3.0, 300)


def test_each_program_is_counted_anew(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, keeper, _ = ends
    uses = iter([[used(0.25, 0.25, 200)], []])

    def watch(_: Bounds, __: object) -> None:
        for each in next(uses):
            keeper._reaped(7, 3 << 8, each)

    monkeypatch.setattr(keeper, "_watch", watch)
    gone = FileNotFoundError(errno.ENOENT, "it is not there")
    monkeypatch.setattr(under_test, "start", Mock(side_effect=[7, 7, gone]))
    said = [b"started\nended 3 500 200\n", b"started\nended 0 0 0\n", b"failed 2\n"]
    for each in said:
        agent.sendall(request(memory=0, disk=0, free=0, folder="/"))
        assert keeper.serve(), "there may be others that can be started"
        assert agent.recv(100) == each


def used(user_s: float, system_s: float, memory_kb: int) -> resource.struct_rusage:
    return resource.struct_rusage((user_s, system_s, memory_kb, *([0] * 13)))


# -- how it starts a program ---------------------------------------------------------------------


def test_a_program_has_its_folder_its_files_its_session_and_usual_signals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    told, tell = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    ignored = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ)
    before = [(each, signal.signal(each, signal.SIG_IGN)) for each in ignored]
    script = "pwd; echo $MINE; echo error >&2; grep SigIgn /proc/self/status; exec sleep 1000"
    command = ["/bin/sh", "-c", script]
    asked = {"command": command, "folder": "run", "environment": {"MINE": "7"}, "spare": True}
    try:
        program = start(asked, [nothing, tell, tell], NO_GROUP)
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    try:
        assert Path.cwd() == Path("/")
        said = b""
        while said.count(b"\n") < 4:
            said += os.read(told, 1_000)
        *others, mask = said.split()
        assert others == [f"{tmp_path}/run".encode(), b"7", b"error", b"SigIgn:"]
        assert not any(int(mask, 16) >> (each - 1) & 1 for each in ignored)
        assert os.getsid(program) == program
        assert os.getpriority(os.PRIO_PROCESS, program) == 19
        assert psutil.Process(program).ionice().ioclass == psutil.IOPRIO_CLASS_IDLE
    finally:
        os.kill(program, signal.SIGKILL)
        os.waitpid(program, 0)
        for file in (told, tell, nothing):
            os.close(file)


def test_one_that_cannot_be_started_leaves_the_keeper_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = {"command": ["/nowhere"], "folder": ".", "environment": {}, "spare": True}
    with pytest.raises(FileNotFoundError):
        start(asked, [0, 1, 2], NO_GROUP)
    assert Path.cwd() == Path("/")


# -- trees of processes --------------------------------------------------------------------------


def test_a_tree_is_found_from_above_and_from_below_and_is_ended_whole() -> None:
    script = "setsid sleep 1000 & sleep 1000 & echo $!; wait"
    command = ["/bin/sh", "-c", f"({script}) & wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        sleeping = int(certain(parent.stdout).readline())
        wait_for(lambda: len(descendants(parent.pid)) == 3, EVENTUALLY_S_MAX, "all run")
        [shell] = children_of(parent.pid)
        assert _children_by_parent(parent.pid) == [shell]
        assert sorted(_children_by_parent(shell)) == sorted(children_of(shell))
        below = descendants(parent.pid)
        assert below[0] == shell
        assert sleeping in below
        end_tree(parent.pid)
        assert not any(map(state_of, below)), "gone when it returns"
        parent.returncode = -signal.SIGKILL  # it was waited for there
    assert children_of(NOBODY) == _children_by_parent(NOBODY) == []


def test_where_the_kernel_lists_no_children_parents_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with subprocess.Popen(["sleep", "1000"]) as child:
        try:
            own = children_of(os.getpid())
            monkeypatch.setattr(os, "listdir", _without_tasks(os.listdir))
            monkeypatch.setattr(os.path, "exists", lambda _: False)
            assert child.pid in own
            assert sorted(children_of(os.getpid())) == sorted(own)
        finally:
            child.kill()


def _without_tasks(listdir: Any) -> Any:
    def listed(path: str) -> list[str]:
        if "/task" in path:
            raise FileNotFoundError(errno.ENOENT, path)
        found: list[str] = listdir(path)
        return found

    return listed
