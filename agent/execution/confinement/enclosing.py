"""Starts a program within its boundary: a child gives everything up and executes it.

In this order, because each step needs what a later one takes away: for good what the keeper itself
does not need, capabilities and the promise that nothing executed brings new ones; then in the child
files and session, limits, Landlock, the filter of calls. What fails is told as an error number, and
nothing is executed.

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

from agent.execution.confinement.executing import Starter
from agent.execution.confinement.landlock import READ_DIR, READ_FILE, Place, Ruleset
from agent.execution.confinement.namespaces import (
    SHARED_MEMORY,
    Writable,
    enter,
    fork_with_own_processes,
)

TYPE_CHECKING = False  # importing typing would take as long as starting a program
if TYPE_CHECKING:
    from typing import Any

    from agent.execution.control_groups import ControlGroup

NO_NEW_PRIVILEGES, SECURE_BITS, SET_SECCOMP, FILTER_MODE = 38, 28, 22, 2
NO_PRIVILEGE_OF_ROOT = 0b101111
"""Root gets no capabilities by being root, neither now nor later."""
PLACES_FRESH_S = 5.0
"""Files are replaced by others when a system is brought up to date."""
OF_SYSTEM = ("/usr/", "/etc/", "/proc/", "/sys/", "/dev/")
"""What lies here changes for no other reason."""
PLAIN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
FILES_OF_A_KEEPER_MAX = 1_024
NO_CORE = 1
"""With 0 the kernel would still tell the system's own collector of each end, and of all that was in
memory; so large a file it does not begin."""
ALWAYS = (
    (resource.RLIMIT_CORE, NO_CORE),
    (resource.RLIMIT_NICE, 0),
    (resource.RLIMIT_RTPRIO, 0),
)
"""Accounts that make music may go before all others; programs of others may not."""
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
        self._starter = Starter()
        self._places: dict[str, Place] = {}
        self._places_until_s = 0.0
        self._home = ""
        self._report = -1

    def start(self, request: dict[str, Any], files: list[int], group: ControlGroup) -> int:
        """Start the program of a request in this group and return its process id, or that of the
        first process of its own set, once it is executed; with the first one this process gives up
        privileges, and gets mounts of its own where the boundary has some, for good. Raise
        ``OSError`` when something of that fails."""
        boundary = request["boundary"]
        if not self._entered:
            if boundary["mounts"]:
                enter()
            _give_up_privileges()
            self._entered = True
        self._home = boundary["home"] if boundary["mounts"] else ""
        if self._home:
            self._writable.open(self._home)
        self._refresh(boundary)
        rules = self._rules(boundary)
        try:
            enclosed = Enclosed(request, files, rules, group, self._starter)
            if boundary["own processes"]:
                return self._start_first(enclosed)
            return enclosed.start()
        except BaseException:
            self.end(0)
            raise
        finally:
            rules.close()

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

    def _start_first(self, enclosed: Enclosed) -> int:
        """A process that is the first of its own set, and starts the program as the second."""
        self._report, report = os.pipe()
        process = fork_with_own_processes()
        if not process:
            _be_first(enclosed, report)
        os.close(report)
        told = os.read(self._report, STATUS.size)
        number = STATUS.unpack(told)[0] if told else errno.EAGAIN
        if number:
            os.waitpid(process, 0)
            raise OSError(number, os.strerror(number))
        return process

    def _rules(self, boundary: dict[str, Any]) -> Ruleset:
        """What is allowed of what lies outside the child."""
        rules = Ruleset(boundary["landlock"], network=boundary["network"])
        for path in boundary["reads"]:
            if path in self._places:
                rules.allow_reading(self._places[path])
        for path in (*PLAIN_DEVICES, *boundary["devices"]):
            if path in self._places:
                rules.allow_device(self._places[path])
        for path in (*boundary["writes"], *((SHARED_MEMORY,) if boundary["mounts"] else ())):
            place = Place(path)
            rules.allow_writing(place)
            place.close()
        return rules

    def _refresh(self, boundary: dict[str, Any]) -> None:
        """Have the places open that the boundary names, each as what is there now: a program's
        folder goes with its work, and another of the same name comes."""
        now_s = time.monotonic()
        if now_s > self._places_until_s:
            self._forget()
            self._places_until_s = now_s + PLACES_FRESH_S
        for path in (*boundary["reads"], *PLAIN_DEVICES, *boundary["devices"]):
            place = self._places.get(path)
            if place is not None and not path.startswith(OF_SYSTEM) and not place.is_at(path):
                self._places.pop(path).close()
            if path not in self._places:
                with suppress(OSError):
                    self._places[path] = Place(path)

    def _forget(self) -> None:
        for place in self._places.values():
            place.close()
        self._places.clear()


class Enclosed:
    """A program that is ready to be started within its boundary."""

    def __init__(
        self,
        request: dict[str, Any],
        files: list[int],
        rules: Ruleset,
        group: ControlGroup,
        starter: Starter,
    ) -> None:
        self._request, self._files, self._rules = request, files, rules
        self._group, self._starter = group, starter
        self._limits = _limits(request["boundary"])

    def start(self) -> int:
        """Return its process id once it is executed; raise ``OSError`` when that fails."""
        request = self._request
        return self._starter.start(self._give_up, request["command"], request["environment"])

    def _give_up(self) -> None:
        """In the child, which has its own of all that is changed here."""
        for place, file in enumerate(self._files):
            os.dup2(file, place)
        self._group.enter()
        os.setsid()
        os.chdir(self._request["folder"])
        own = Place("/proc/self")
        self._rules.allow(own, READ_FILE | READ_DIR)
        own.close()
        for which, most in self._limits:  # no file can be opened after: the keeper has more of them
            resource.setrlimit(which, (most, most))
        self._rules.restrict_self()
        _filter_calls(self._request["boundary"]["filter"])


def _limits(boundary: dict[str, Any]) -> list[tuple[int, int]]:
    """What is wanted, where the account may not have less already."""
    wanted = (
        *ALWAYS,
        (resource.RLIMIT_NOFILE, boundary["files"]),
        (resource.RLIMIT_NPROC, _processes(boundary)),
        (resource.RLIMIT_FSIZE, boundary["file bytes"]),
        (resource.RLIMIT_DATA, boundary["memory"]),
    )
    found = []
    for which, most in wanted:
        if most or (which, most) in ALWAYS:
            _, least = resource.getrlimit(which)
            found.append((which, most if least == resource.RLIM_INFINITY else min(most, least)))
    return found


def _processes(boundary: dict[str, Any]) -> int:
    """The account's are counted, in a namespace those of the program; outside of one, all that run
    on the machine count as the account's, which is never too few."""
    wanted: int = boundary["processes"]
    if not wanted or boundary["mounts"]:
        return wanted and wanted + 2  # the keeper, and the first of its own set
    with suppress(OSError, ValueError, IndexError):
        file = os.open("/proc/loadavg", os.O_RDONLY)
        try:
            return wanted + int(os.read(file, 100).split()[3].partition(b"/")[2])
        finally:
            os.close(file)
    return 0


def _be_first(enclosed: Enclosed, report: int) -> None:
    """Start the program as the second process of a set and end when it has, and with this process
    all of the set; ``report`` is told whether it could be started, 0 or the number of an error, and
    how it ended."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            program = enclosed.start()
        except OSError as error:
            os.write(report, STATUS.pack(error.errno or errno.EINVAL))
            return
        os.write(report, STATUS.pack(0))
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
    """Also where the account is root: what is executed from now on has none."""
    _libc.prctl(SECURE_BITS, NO_PRIVILEGE_OF_ROOT, 0, 0, 0)  # refused to whoever has none anyway
    _checked(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def _filter_calls(program: bytes) -> None:
    steps = ctypes.create_string_buffer(program, len(program))
    told = struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(steps))
    _checked(_libc.prctl(SET_SECCOMP, FILTER_MODE, told, 0, 0))


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
