"""Starts a program within its boundary: forks, gives everything up in the child, executes it.

In this order, because each step needs what a later one takes away: files and session, limits,
capabilities, the promise that nothing executed brings new ones, Landlock, the filter of calls. What
fails goes back to the keeper as an error number, and nothing is executed.

Runs in a bare interpreter too, in a process with one thread.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import struct
import time
from contextlib import suppress

from agent.execution.confinement.landlock import READ_DIR, READ_FILE, Ruleset
from agent.execution.confinement.namespaces import (
    SHARED_MEMORY,
    Writable,
    enter,
    fork_with_own_processes,
)

TYPE_CHECKING = False  # importing typing would take as long as starting a program
if TYPE_CHECKING:
    from typing import Any

NO_NEW_PRIVILEGES, SECURE_BITS, SET_SECCOMP, FILTER_MODE = 38, 28, 22, 2
NO_PRIVILEGE_OF_ROOT = 0b101111
"""Root gets no capabilities by being root, neither now nor later."""
CAPABILITIES_VERSION = 0x20080522
CAPSET = {"x86_64": 126, "aarch64": 91}.get(os.uname().machine)
PLACES_FRESH_S = 5.0
"""Files are replaced by others when a system is brought up to date."""
PLAIN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
FILES_OF_A_KEEPER_MAX = 1_024
STATUS = struct.Struct("=i")
DEFAULT_SIGNALS = (
    signal.SIGPIPE,
    signal.SIGXFSZ,
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGCHLD,
)

_libc = ctypes.CDLL(None, use_errno=True)


class Enclosure:
    """What one keeper needs to start programs within their boundaries, one at a time."""

    def __init__(self) -> None:
        self._entered = False
        self._writable = Writable()
        self._places: dict[str, int] = {}
        self._places_until_s = 0.0
        self._home = ""
        self._report = -1

    def start(self, request: dict[str, Any], files: list[int]) -> int:
        """Start the program of a request and return its process id, or that of the first process of
        its own set, once it is executed; raise ``OSError`` when something of that fails."""
        boundary = request["boundary"]
        if boundary["mounts"] and not self._entered:
            enter()
            self._entered = True
        self._home = boundary["home"] if boundary["mounts"] else ""
        if self._home:
            self._writable.open(self._home)
        self._refresh(boundary)
        read, write = os.pipe()
        try:
            try:
                process = self._fork(request, files, write)
            finally:
                os.close(write)
            failed = os.read(read, STATUS.size)
        finally:
            os.close(read)
        if failed:
            os.waitpid(process, 0)
            self.end(0)
            number = STATUS.unpack(failed)[0]
            raise OSError(number, os.strerror(number))
        return process

    def end(self, code: int) -> int:
        """Take the working folder back when nothing of the program runs any more; return its exit
        code, where ``code`` is that of the process that ``start`` returned."""
        if self._home:
            self._writable.close(self._home)
            self._home = ""
        if self._report < 0:
            return code
        told = os.read(self._report, STATUS.size)
        os.close(self._report)
        self._report = -1
        return os.waitstatus_to_exitcode(STATUS.unpack(told)[0]) if told else code

    def _fork(self, request: dict[str, Any], files: list[int], failed: int) -> int:
        if not request["boundary"]["own processes"]:
            process = os.fork()
            if not process:
                Enclosed(request, files, self._places).execute(failed)
            return process
        self._report, report = os.pipe()
        process = fork_with_own_processes()
        if not process:
            _be_first(Enclosed(request, files, self._places), failed, report)
        os.close(report)
        return process

    def _refresh(self, boundary: dict[str, Any]) -> None:
        """Have the places open that the boundary names, each as what is there now: a program's
        folder goes with its work, and another of the same name comes."""
        now_s = time.monotonic()
        if now_s > self._places_until_s:
            self._forget()
            self._places_until_s = now_s + PLACES_FRESH_S
        wanted = [*boundary["reads"], *PLAIN_DEVICES, *boundary["devices"]]
        for path in wanted:
            if path in self._places and not _is_at(self._places[path], path):
                os.close(self._places.pop(path))
            if path not in self._places:
                with suppress(OSError):
                    self._places[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)

    def _forget(self) -> None:
        for file in self._places.values():
            os.close(file)
        self._places.clear()


class Enclosed:
    """The child, before it is the program."""

    def __init__(self, request: dict[str, Any], files: list[int], places: dict[str, int]) -> None:
        self._request, self._files, self._places = request, files, places
        self._boundary = request["boundary"]

    def execute(self, failed: int) -> None:
        """Give everything up and become the program; never return. Where something fails, tell its
        number to the file ``failed``, which is closed otherwise, and end."""
        number = errno.EINVAL
        try:
            for place, file in enumerate(self._files):
                os.dup2(file, place)
            os.setsid()
            os.chdir(self._request["folder"])
            for each in DEFAULT_SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            self._limit()
            _give_up_privileges()
            self._restrict()
            command = self._request["command"]
            os.execve(command[0], command, self._request["environment"])
        except OSError as error:
            number = error.errno or number
        finally:
            os.write(failed, STATUS.pack(number))
            os._exit(1)

    def _limit(self) -> None:
        limits = (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, self._boundary["files"]),
            (resource.RLIMIT_NPROC, self._processes()),
            (resource.RLIMIT_FSIZE, self._boundary["file bytes"]),
            (resource.RLIMIT_DATA, self._boundary["memory"]),
        )
        for which, wanted in limits:
            if wanted or which == resource.RLIMIT_CORE:
                _, most = resource.getrlimit(which)
                least = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
                resource.setrlimit(which, (least, least))

    def _processes(self) -> int:
        """The account's are counted, in a namespace those of the program; outside of one, all that
        run on the machine count as the account's, which is never too few."""
        wanted: int = self._boundary["processes"]
        if not wanted or self._boundary["mounts"]:
            return wanted and wanted + 2  # the keeper, and the first of its own set
        with suppress(OSError, ValueError, IndexError):
            file = os.open("/proc/loadavg", os.O_RDONLY)
            try:
                return wanted + int(os.read(file, 100).split()[3].partition(b"/")[2])
            finally:
                os.close(file)
        return 0

    def _restrict(self) -> None:
        boundary = self._boundary
        rules = Ruleset(boundary["landlock"], network=boundary["network"])
        for path in boundary["reads"]:
            if path in self._places:
                rules.allow_reading(self._places[path])
        for path in (*PLAIN_DEVICES, *boundary["devices"]):
            if path in self._places:
                rules.allow_device(self._places[path])
        writes = [*boundary["writes"], SHARED_MEMORY] if boundary["mounts"] else boundary["writes"]
        for path in writes:
            with _opened(path) as place:
                rules.allow_writing(place)
        with _opened("/proc/self") as place:
            rules.allow(place, READ_FILE | READ_DIR)
        rules.restrict_self()
        _filter_calls(boundary["filter"])


def _is_at(place: int, path: str) -> bool:
    """Tell whether what was opened is still what has this name."""
    try:
        return os.path.samestat(os.fstat(place), os.stat(path))  # noqa: PTH116
    except OSError:
        return False


def _be_first(enclosed: Enclosed, failed: int, report: int) -> None:
    """Start the program as the second process of a set and end when it has, and with this process
    all of the set; ``report`` is told how it ended."""
    program = os.fork()
    if not program:
        enclosed.execute(failed)
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(report, 0)
        os.closerange(1, FILES_OF_A_KEEPER_MAX)
        while True:
            process, status = os.wait()
            if process == program:
                os.write(0, STATUS.pack(status))
                break
    finally:
        os._exit(0)


def _give_up_privileges() -> None:
    """Also where the account is root, whose programs would have capabilities again."""
    _libc.prctl(SECURE_BITS, NO_PRIVILEGE_OF_ROOT, 0, 0, 0)  # refused to whoever has none anyway
    header, nothing = struct.pack("=Ii", CAPABILITIES_VERSION, 0), bytes(24)
    _checked(_libc.syscall(CAPSET, header, nothing))
    _checked(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def _filter_calls(program: bytes) -> None:
    steps = ctypes.create_string_buffer(program, len(program))
    told = struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(steps))
    _checked(_libc.prctl(SET_SECCOMP, FILTER_MODE, told, 0, 0))


class _opened:  # noqa: N801 - as a context manager of the standard library, which starts slower
    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_PATH | os.O_CLOEXEC)

    def __enter__(self) -> int:
        return self._file

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
