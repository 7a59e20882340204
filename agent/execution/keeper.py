"""Keeps a program: starts it, watches what it takes, and stays until nothing of it runs.

A keeper is forked from the guardian and keeps one program at a time. It is where the program's
orphans fall to, so the tree of processes below it is the program, all of it, however often it has forked away. When
``wait4`` has no child left to wait for, nothing is left of it: that is known, not guessed, and the
keeper is free for another program.

It runs at the usual priority, because suspending must be quick on a machine that is busy. What it
starts runs only when nobody else wants the processor (``SCHED_IDLE``), in its own scheduling group
at the lowest weight, with the disk to itself only when nobody else reads, and as the first to be
ended when the machine's memory is used up, as the keeper itself. A program that is to have more
than what others leave is only made nicer.

Where there are control groups (``control_groups``), the program is in one from its first instruction
on, and suspending, ending and its ceilings are the kernel's. What the keeper does by itself goes for
what is not in it: a program that is not confined may start others before it is moved.

The agent sends a request for each program and single letters about it; the keeper answers in lines.

=================  ========================================================================
``started what``   the program runs, in a control group that holds these things
``failed N``       it could not be started: errno N
``excess what N``  it is being ended, because it took N bytes of ``memory``, ``disk``, or N
                   ``processes``; ``full``: the disk of this machine has only N bytes left
``ended N c m``    all is over: exit code, processor ms and largest memory in kB of all of it
=================  ========================================================================
"""

from __future__ import annotations

import array
import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress

from agent.execution.confinement.enclosing import DEFAULT_SIGNALS, NO_CORE, Enclosure
from agent.execution.control_groups import MEMORY, ControlGroup
from agent.execution.folder_size import WALK_SHARE, free_bytes, nameless_bytes, sizes
from agent.execution.process_tree import descendants, end_tree, reap, signal_tree

assert sys.platform != "win32"

TYPE_CHECKING = False  # importing typing would take as long as starting a program
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SUSPEND, RESUME, KILL, REQUEST = b"S", b"C", b"K", b"R"
FILES = 3
"""With each request: standard input, output and error of the program."""
HEADER = struct.Struct("!I")
PIECE_BYTES = 64 * 1024
PR_SET_CHILD_SUBREAPER = 36
IOPRIO_SET = {
    "x86_64": 251,
    "aarch64": 30,
    "armv7l": 314,
    "i686": 289,
    "ppc64le": 273,
    "riscv64": 30,
}.get(os.uname().machine)
"""The number of a call that the C library has no name for."""
IOPRIO_OF_PROCESS, IOPRIO_OF_GROUP = 1, 2
IDLE_IO, LOW_IO = 3 << 13, (2 << 13) | 7
NICE_SPARE, NICE_LOW = 19, 10
LOOK_S_MIN, LOOK_S_MAX = 0.05, 0.5
WALK_S_MAX = 0.02
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
FIRST_TO_END = "1000"

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Have orphans below this process fall to it and not to the first process of the machine."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forbid_cores() -> None:
    """Have no process below this one leave what was in its memory when it fails."""
    with suppress(OSError, ValueError):  # the account may have less already
        resource.setrlimit(resource.RLIMIT_CORE, (NO_CORE, NO_CORE))


def keep(agent: int, group: ControlGroup) -> None:
    """Run programs one after the other as the agent asks for them by the socket of this file
    number, each in this group, until the agent closes its end; then end what still runs. Orphans
    fall to this process from now on, and it is the first to be ended when memory is used up."""
    become_subreaper()
    forbid_cores()
    _write("/proc/self/oom_score_adj", FIRST_TO_END)
    keeper = Keeper(socket.socket(fileno=agent), group)
    try:
        while keeper.serve():
            pass
    except OSError:
        group.kill()
        end_tree(os.getpid())  # the agent is gone
    group.close()


class Keeper:
    """Runs the programs that the agent asks for, one at a time."""

    def __init__(self, agent: socket.socket, group: ControlGroup) -> None:
        self._agent, self._group = agent, group
        self._woken, wakes = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number in DEFAULT_SIGNALS:  # what is handled is no longer so in what is executed
            signal.signal(number, lambda *_: None)
        self._enclosure = Enclosure()
        self._processors, self._shares = sorted(os.sched_getaffinity(0)), False
        self._program = 0
        self._suspended = False
        self._code = 0
        self._cpu_s = 0.0
        self._memory_kb = 0

    def serve(self) -> bool:
        """Wait for a request, run its program until nothing of it is left, and tell the agent;
        return True, also when it could not be started, and False when the agent has closed its end
        before a request. Raise ``OSError`` when the agent goes while it runs."""
        found = self._wait_for_request()
        if found is None:
            return False
        request, files = found
        self._code, self._cpu_s, self._memory_kb = 0, 0.0, 0
        self._suspended = False
        self._share_processors(request.get("processors", 0))
        try:
            self._program = start(request, files, self._group, self._enclosure)
        except OSError as error:
            self._say(f"failed {error.errno or errno.EINVAL}")
            return True
        finally:
            for file in files:
                os.close(file)
        self._say(" ".join(("started", *sorted(self._group.holds))))
        self._watch(Bounds(request, self._group), request)
        self._code = self._enclosure.end(self._code)
        if self._group.ran_out_of_memory():
            self._say(f"excess memory {request['memory']}")
        self._say(f"ended {self._code} {round(1_000 * self._cpu_s)} {self._memory_kb}")
        return True

    def _wait_for_request(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next program and its files. Letters that come first were for the last one."""
        space = socket.CMSG_SPACE(FILES * array.array("i").itemsize)
        while True:
            data, ancillary, _, _ = self._agent.recvmsg(PIECE_BYTES, space, socket.MSG_CMSG_CLOEXEC)
            if not data:
                return None
            files = array.array("i")
            for _, _, content in ancillary:
                files.frombytes(content[: len(content) - len(content) % files.itemsize])
            data = data.lstrip(SUSPEND + RESUME + KILL)
            if data:
                return _read_request(self._agent, data[len(REQUEST) :]), list(files)

    def _watch(self, bounds: Bounds, request: dict[str, Any]) -> None:
        """Until there are no children; what the program leaves behind it is ended."""
        look_s = LOOK_S_MIN
        look_at_s = time.monotonic() + look_s
        while reap(self._reaped):
            if not self._program:
                self._end_all()
                continue
            self._wait(max(0.0, look_at_s - time.monotonic()))
            if time.monotonic() < look_at_s:
                continue
            if self._suspended:  # who was about to fork has done so after the last look
                self._suspend_all()
            step_back_all(os.getpid(), spare=request["spare"], group=self._group)
            look_s, excess = bounds.look(min(LOOK_S_MAX, 2 * look_s))
            look_at_s = time.monotonic() + look_s
            if excess:
                self._say(f"excess {excess}")
                self._end_all()

    def _wait(self, limit_s: float) -> None:
        """For a word of the agent or the end of a process."""
        ready, _, _ = select.select([self._agent.fileno(), self._woken], [], [], limit_s)
        if self._agent.fileno() in ready:
            self._obey(self._agent.recv(64))
        if self._woken in ready:
            with suppress(BlockingIOError):
                os.read(self._woken, 4096)

    def _obey(self, letters: bytes) -> None:
        if not letters:
            raise ConnectionResetError("the agent is gone")
        for place in range(len(letters)):
            letter = letters[place : place + 1]
            if letter in (SUSPEND, RESUME):
                self._suspended = letter == SUSPEND
            if letter == SUSPEND:
                self._suspend_all()
            elif letter == RESUME:
                self._group.thaw()
                signal_tree(os.getpid(), signal.SIGCONT)
            elif letter == KILL:
                self._end_all()

    def _suspend_all(self) -> None:
        """By the group, where all of it is in there and can be frozen."""
        frozen = self._group.freeze()
        if not frozen or not set(descendants(os.getpid())) <= set(self._group.processes()):
            signal_tree(os.getpid(), signal.SIGSTOP)

    def _end_all(self) -> None:
        self._group.kill()
        end_tree(os.getpid(), self._reaped)

    def _reaped(self, process: int, status: int, used: resource.struct_rusage) -> None:
        self._cpu_s += used.ru_utime + used.ru_stime
        self._memory_kb = max(self._memory_kb, used.ru_maxrss)
        if process == self._program:
            self._code = os.waitstatus_to_exitcode(status)
            self._program = 0

    def _share_processors(self, most: int) -> None:
        """Have what is started next use so many of them, 0 all; not the same ones for each keeper."""
        if not 0 < most < len(self._processors) and not self._shares:
            return
        self._shares = 0 < most < len(self._processors)
        begin = os.getpid() % len(self._processors)
        turned = self._processors[begin:] + self._processors[:begin]
        with suppress(OSError):
            os.sched_setaffinity(0, turned[:most] if self._shares else turned)

    def _say(self, line: str) -> None:
        self._agent.sendall(line.encode() + b"\n")


class Bounds:
    """What a program may take, and whether it does."""

    def __init__(self, request: dict[str, Any], group: ControlGroup) -> None:
        held = MEMORY in group.holds and request["boundary"] is not None  # from its beginning on
        self._memory: int = 0 if held else request["memory"]
        self._disk: int = request["disk"]
        self._free: int = request["free"]
        self._processes: int = request.get("processes", 0)
        self._folder: str = request.get("counted") or request["folder"]
        self._walk: Iterator[int] | None = None
        self._walk_at_s = self._walked_s = 0.0
        self._walked = self._each = 0

    def look(self, look_s: float) -> tuple[float, str]:
        """Look whether the program takes too much; return in how many seconds to look again, and
        what there is too much of: ``memory N`` or ``disk N`` in bytes, ``processes N``, ``full N``
        where the disk has only N bytes left, empty for nothing. The folder is walked only now and
        then."""
        free = self._free_bytes()
        if free < self._free:
            return look_s, f"full {free}"
        if self._disk and time.monotonic() >= self._walk_at_s:
            used = self._count_files()
            if used > self._disk:
                return look_s, f"disk {used}"
            look_s = LOOK_S_MIN if self._walk is not None else look_s
        if not (self._memory or self._processes):
            return look_s, ""
        return self._look_at_processes(look_s, descendants(os.getpid()))

    def _count_files(self) -> int:
        """Count on for a moment, for the owner must not wait for that, and return how many bytes
        were found by then; when all were, rest as many times longer as that took."""
        began_s = time.monotonic()
        if self._walk is None:
            self._walk, self._walked_s = sizes(self._folder, self._each), 0.0
            self._walked = nameless_bytes(self._folder, descendants(os.getpid()))
        for number, size in enumerate(self._walk):
            self._walked += size
            if number % 64 == 0 and time.monotonic() > began_s + WALK_S_MAX:
                self._walked_s += time.monotonic() - began_s
                return self._walked
        ended_s = time.monotonic()
        self._walk = None
        self._walk_at_s = ended_s + WALK_SHARE * (self._walked_s + ended_s - began_s)
        return self._walked

    def _look_at_processes(self, look_s: float, found: list[int]) -> tuple[float, str]:
        """Processes are counted without their threads, which the kernel counts."""
        if self._processes and len(found) > self._processes:
            return look_s, f"processes {len(found)}"
        used = memory_bytes(found, self._memory) if self._memory else 0
        if self._memory and used > self._memory:
            return look_s, f"memory {used}"
        near = 2 * used > self._memory > 0 or 2 * len(found) > self._processes > 0
        return (LOOK_S_MIN if near else look_s), ""

    def _free_bytes(self) -> int:
        try:
            free, self._each = free_bytes(self._folder)
        except OSError:
            return self._free
        return free


def memory_bytes(processes: list[int], limit: int) -> int:
    """Return how much these processes hold in memory together; one that is gone or unreadable
    counts as 0. It is the resident sum, shared pages counted several times; where that is above
    ``limit``, each one's share instead, with swap and without pages of files."""
    quick = sum(_resident_bytes(each) for each in processes)
    return quick if quick <= limit else sum(_own_bytes(each) for each in processes)


def _resident_bytes(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123 - starts faster
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _own_bytes(process: int) -> int:
    """Its share of what is not just a part of a file that it reads."""
    wanted = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:  # noqa: PTH123
            lines = [line.split() for line in file.read().splitlines()]
    except OSError:
        return 0
    return sum(1024 * int(words[1]) for words in lines if words and words[0] in wanted)


def start(
    request: dict[str, Any],
    files: list[int],
    group: ControlGroup,
    enclosure: Enclosure | None = None,
) -> int:
    """Start the program of a request in a session and group of its own, with low priority, within
    its boundary if it has one, and return its process id without waiting; raise ``OSError`` when it
    cannot be started. It begins before its priority is set; what it may have started by then is left
    to ``step_back_all``."""
    spare = request["spare"]
    group.begin(request.get("memory", 0), request.get("processes", 0), spare=spare)
    if enclosure is not None and request["boundary"] is not None:
        program = enclosure.start(request, files, group)
    else:
        program = _spawn(request, files)
        _write(group.members, str(program))
    _step_back(program, spare=spare)
    _step_back_together(os.PRIO_PGRP, IOPRIO_OF_GROUP, program, spare=spare)
    return program


def _spawn(request: dict[str, Any], files: list[int]) -> int:
    command = request["command"]
    actions = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]
    os.chdir(request["folder"])
    try:
        return os.posix_spawn(
            command[0],
            command,
            request["environment"],
            file_actions=actions,
            setsid=True,
            setsigdef=DEFAULT_SIGNALS,
        )
    finally:
        os.chdir("/")


def step_back_all(keeper: int, *, spare: bool, group: ControlGroup) -> None:
    """Lower the priority of every process below a keeper where that was not done yet, more with
    ``spare``, and move it into this group; what the system refuses is passed over.

    All are looked at before any is changed, for that changes others of its session: where an owner
    has the agent be nice already, they would look as if they had been moved."""
    nice = NICE_SPARE if spare else NICE_LOW
    below = descendants(keeper)
    for process in [each for each in below if not _has_stepped_back(each, nice, spare=spare)]:
        _write(group.members, str(process))
        _step_back(process, spare=spare)
        _step_back_together(os.PRIO_PROCESS, IOPRIO_OF_PROCESS, process, spare=spare)


def _has_stepped_back(process: int, nice: int, *, spare: bool) -> bool:
    """Whoever was started before its parent had is as nice as its process group, and no more."""
    try:
        if os.getpriority(os.PRIO_PROCESS, process) < nice:
            return False
        if spare and os.sched_getscheduler(process) != os.SCHED_IDLE:
            return False
        with open(f"/proc/{process}/autogroup", "rb") as file:  # noqa: PTH123 - quick to import
            return int(file.read().split()[-1]) >= nice
    except (OSError, ValueError, IndexError):  # it is gone, or there are no such groups
        return True


def _step_back(process: int, *, spare: bool) -> None:
    """Behind everybody else. What a system refuses is done without.

    How it is scheduled comes last: who has inherited that has inherited the rest as well.
    """
    _write(f"/proc/{process}/autogroup", str(NICE_SPARE if spare else NICE_LOW))
    if spare:
        with suppress(OSError):
            os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0))


def _step_back_together(whom: int, whose_disk: int, number: int, *, spare: bool) -> None:
    """What can be said of a process and of a group of them."""
    with suppress(OSError):
        os.setpriority(whom, number, NICE_SPARE if spare else NICE_LOW)
    if IOPRIO_SET is not None:
        _libc.syscall(IOPRIO_SET, whose_disk, number, IDLE_IO if spare else LOW_IO)


def _write(path: str, text: str) -> None:
    with suppress(OSError):
        file = os.open(path, os.O_WRONLY)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def _read_request(agent: socket.socket, data: bytes) -> dict[str, Any]:
    """``data`` is what has come of it, nearly always all."""
    data = _read_exactly(agent, data, HEADER.size)
    end = HEADER.size + HEADER.unpack_from(data)[0]
    found = marshal.loads(_read_exactly(agent, data, end)[HEADER.size :])
    assert isinstance(found, dict)
    return found


def _read_exactly(agent: socket.socket, data: bytes, size: int) -> bytes:
    while len(data) < size:
        piece = agent.recv(size - len(data))
        if not piece:
            raise ConnectionResetError("the agent is gone")
        data += piece
    return data
