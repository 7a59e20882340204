"""Windows: a program runs in an AppContainer of its own, begun by a small process of ours in its job.

A process gets its container when it is made and never leaves it, and so does all that it starts. Python's
own way to start processes cannot say so; therefore a bare interpreter is started first, in the job and
with the program's pipes, which makes the container, gives it access, starts the program with these
pipes and nothing else, waits, and ends as the program did.

An AppContainer may use what an access list lets it: Windows gives every container its own libraries and
what is installed for all; nobody's files, no pipe, no process and no network. So

- the run's container, by a name that nobody had before, is let into its working folder (to write) and
  to its inputs (to read); these folders go with the run;
- for each other place that it may read, such as its runtime and its folder, there is a capability of that
  place alone. The place's list names the capability from then on, and only programs that may read the
  place carry it. Where this account may not change a list (``Program Files``), every container reads
  already;
- the network is two capabilities of Windows.

The calls are those of the system's headers (``processthreadsapi.h``, ``userenv.h``, ``aclapi.h``).
What is decided is in ``grants_of`` and ``enclose``, over the few calls of the system or others.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
import sys
from ctypes import wintypes
from pathlib import Path
from uuid import uuid4

from agent.host.libraries import check, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    class Calls(Protocol):
        """What is needed of Windows; all may raise ``OSError``."""

        def container(self, name: str) -> int:
            """Return the identifier of the container of this name."""

        def identifier(self, text: str) -> int:
            """Return the identifier that is written so."""

        def described(self, path: str) -> str:
            """Return the access list of a place, as Windows writes it."""

        def allow(self, path: str, identifier: int, rights: int) -> None:
            """Let this identifier into a place, and into all below it."""

        def run(
            self, command: Sequence[str], folder: str, container: int, capabilities: Sequence[int]
        ) -> int:
            """Run a command there, with our pipes, to its end, and return its exit code."""


READ, WRITE = 0x1200A9, 0x1301BF
"""Read and execute; read, execute, write and delete, but change no access list."""
INTERNET, NEIGHBOURS = "S-1-15-3-1", "S-1-15-3-3"
TOLD = "boundary.json"
"""Its name in the run's folder, beside the working folder, where the program reads nothing."""
NOT_STARTED = 126
SOURCES = str(Path(__file__).parents[3])
BEGIN = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from agent.execution.confinement.appcontainer import main; main()"
)


def enclosing_command(told: Path, command: Sequence[str]) -> tuple[str, ...]:
    """Return the command that runs another one within the boundary that is written in a file."""
    return (sys.executable, "-I", "-S", "-E", "-c", BEGIN, SOURCES, str(told), *command)


def grants_of(told: dict[str, Any], container: str) -> Iterator[tuple[str, str, int]]:
    """Yield each place that a program may reach, to whom it is opened for that, and with which rights:
    to the ``container`` of the run what lies in the run's folder, else to a capability."""
    for path in told["writes"]:
        yield path, container, WRITE
    home = Path(told["home"])
    for path in told["reads"]:
        own = Path(path).is_relative_to(home)
        yield path, container if own else capability_of(path), READ


def capability_of(path: str) -> str:
    """Return the capability of a place, as it is written: made of its name, as Windows makes those that
    it knows by names (``DeriveCapabilitySidsFromName``)."""
    return identifier_of(f"wingbeat reads {os.path.normcase(path)}")


def identifier_of(capability: str) -> str:
    """Return the identifier of a capability of this name."""
    digest = hashlib.sha256(capability.upper().encode("utf-16-le")).digest()
    parts = (int.from_bytes(digest[at : at + 4], "little") for at in range(0, 32, 4))
    return "-".join(["S-1-15-3-1024", *map(str, parts)])


def enclose(calls: Calls, told: dict[str, Any], command: Sequence[str], folder: str) -> int:
    """Run a command in a container of its own that reaches what is ``told``, to its end, and return
    its exit code; places that are missing, or cannot be opened to it and are not its own, are left
    out. Raise ``OSError`` where it cannot be run so, or its own folders not be opened to it."""
    container = calls.container(f"wingbeat.{uuid4().hex}")
    carried = [INTERNET, NEIGHBOURS] if told["network"] else []
    for path, who, rights in grants_of(told, ""):
        if not Path(path).exists():
            continue
        if not who:
            calls.allow(path, container, rights)
            continue
        carried.append(who)
        try:
            if who not in calls.described(path):
                calls.allow(path, calls.identifier(who), rights)
        except OSError:
            pass  # of the system, which every container may read; or the program says what it lacks
    return calls.run(command, folder, container, [calls.identifier(each) for each in carried])


# -- the calls ---------------------------------------------------------------------------------------

FILE_OBJECT, ACCESS_LIST = 1, 0x4
GRANT, INHERITED, BY_IDENTIFIER = 1, 0x3, 0
ENABLED = 0x4
HANDLE_LIST, SECURITY_CAPABILITIES = 0x00020002, 0x00020009
EXTENDED_STARTUP, UNICODE_ENVIRONMENT, NO_WINDOW = 0x00080000, 0x00000400, 0x08000000
USE_PIPES, INHERIT, FOREVER = 0x100, 0x1, 0xFFFFFFFF
PIPES = (-10, -11, -12)
_AT = ctypes.c_void_p


class _Trustee(ctypes.Structure):
    _fields_ = [
        ("multiple", _AT),
        ("operation", ctypes.c_int),
        ("form", ctypes.c_int),
        ("type", ctypes.c_int),
        ("name", _AT),
    ]


class _Access(ctypes.Structure):
    _fields_ = [
        ("permissions", wintypes.DWORD),
        ("mode", ctypes.c_int),
        ("inheritance", wintypes.DWORD),
        ("trustee", _Trustee),
    ]


class _Carried(ctypes.Structure):
    _fields_ = [("identifier", _AT), ("attributes", wintypes.DWORD)]


class _Capabilities(ctypes.Structure):
    _fields_ = [
        ("container", _AT),
        ("carried", _AT),
        ("count", wintypes.DWORD),
        ("reserved", wintypes.DWORD),
    ]


class _Startup(ctypes.Structure):
    _fields_ = [
        ("size", wintypes.DWORD),
        *((name, wintypes.LPWSTR) for name in ("reserved", "desktop", "title")),
        *((name, wintypes.DWORD) for name in ("x", "y", "wide", "high", "columns", "rows", "fill")),
        ("flags", wintypes.DWORD),
        ("show", wintypes.WORD),
        ("reserved_bytes", wintypes.WORD),
        ("reserved_at", _AT),
        *((name, wintypes.HANDLE) for name in ("input", "output", "error")),
        ("attributes", _AT),
    ]


class _Made(ctypes.Structure):
    _fields_ = [
        ("process", wintypes.HANDLE),
        ("thread", wintypes.HANDLE),
        ("process_id", wintypes.DWORD),
        ("thread_id", wintypes.DWORD),
    ]


CALLS: dict[str, dict[str, tuple[type | None, ...]]] = {
    "userenv": {
        "DeriveAppContainerSidFromAppContainerName": (wintypes.LONG, wintypes.LPCWSTR, _AT)
    },
    "advapi32": {
        "ConvertStringSidToSidW": (wintypes.BOOL, wintypes.LPCWSTR, _AT),
        "SetEntriesInAclW": (wintypes.DWORD, wintypes.ULONG, _AT, _AT, _AT),
        "GetNamedSecurityInfoW": (
            *(wintypes.DWORD, wintypes.LPCWSTR, ctypes.c_int, wintypes.DWORD),
            *(_AT,) * 5,
        ),
        "SetNamedSecurityInfoW": (
            *(wintypes.DWORD, wintypes.LPWSTR, ctypes.c_int, wintypes.DWORD),
            *(_AT,) * 4,
        ),
    },
    "kernel32": {
        "LocalFree": (_AT, _AT),
        "GetStdHandle": (wintypes.HANDLE, wintypes.DWORD),
        "SetHandleInformation": (
            *(wintypes.BOOL, wintypes.HANDLE),
            *(wintypes.DWORD, wintypes.DWORD),
        ),
        "InitializeProcThreadAttributeList": (
            *(wintypes.BOOL, _AT, wintypes.DWORD, wintypes.DWORD),
            ctypes.POINTER(ctypes.c_size_t),
        ),
        "UpdateProcThreadAttribute": (
            *(wintypes.BOOL, _AT, wintypes.DWORD, ctypes.c_size_t),
            *(_AT, ctypes.c_size_t, _AT, _AT),
        ),
        "CreateProcessW": (
            *(wintypes.BOOL, wintypes.LPCWSTR, wintypes.LPWSTR, _AT, _AT),
            *(wintypes.BOOL, wintypes.DWORD, _AT, wintypes.LPCWSTR, _AT, _AT),
        ),
        "WaitForSingleObject": (wintypes.DWORD, wintypes.HANDLE, wintypes.DWORD),
        "GetExitCodeProcess": (wintypes.BOOL, wintypes.HANDLE, wintypes.LPDWORD),
        "CloseHandle": (wintypes.BOOL, wintypes.HANDLE),
    },
}
"""What each call returns and takes."""


class ContainerApi:
    """Containers by ctypes: calls only. What they return belongs to this process, which ends soon."""

    def __init__(self) -> None:
        self._userenv, self._security, self._kernel = (
            library(name, calls) for name, calls in CALLS.items()
        )

    def container(self, name: str) -> int:
        """Return the identifier of the container of this name, which need not be installed; raise
        ``OSError`` where Windows makes none."""
        found = _AT()
        fault = self._userenv.DeriveAppContainerSidFromAppContainerName(name, ctypes.byref(found))
        if fault or not found.value:
            raise OSError(
                fault & 0xFFFF, f"Windows makes no AppContainer ({fault & 0xFFFFFFFF:#x})"
            )
        return found.value

    def identifier(self, text: str) -> int:
        """Return the identifier that is written so."""
        found = _AT()
        check(self._security.ConvertStringSidToSidW(text, ctypes.byref(found)))
        return found.value or 0

    def described(self, path: str) -> str:
        """Return owner and access list of a place, as Windows writes them."""
        from agent.host.private_windows_api import described

        return described(Path(path))

    def allow(self, path: str, identifier: int, rights: int) -> None:
        """Give this identifier these rights to a file or folder and all below it, beside those that
        others have; raise ``OSError`` when Windows refuses."""
        before, after, whole = _AT(), _AT(), _AT()
        place = (path, FILE_OBJECT, ACCESS_LIST)
        _check_code(
            self._security.GetNamedSecurityInfoW(
                *place, None, None, ctypes.byref(before), None, ctypes.byref(whole)
            ),
            path,
        )
        entry = _Access(rights, GRANT, INHERITED if Path(path).is_dir() else 0)
        entry.trustee.form, entry.trustee.name = BY_IDENTIFIER, identifier
        try:
            _check_code(
                self._security.SetEntriesInAclW(
                    1, ctypes.byref(entry), before, ctypes.byref(after)
                ),
                path,
            )
            _check_code(self._security.SetNamedSecurityInfoW(*place, None, None, after, None), path)
        finally:
            self._kernel.LocalFree(after)
            self._kernel.LocalFree(whole)

    def run(
        self, command: Sequence[str], folder: str, container: int, capabilities: Sequence[int]
    ) -> int:
        """Run a command in a container, with our pipes and none of our other handles, wait for its
        end, and return its exit code; raise ``OSError`` when it cannot be started."""
        carried = (_Carried * max(1, len(capabilities)))(
            *(_Carried(each, ENABLED) for each in capabilities)
        )
        security = _Capabilities(container, ctypes.addressof(carried), len(capabilities), 0)
        startup, kept = self._startup(security)
        made, flags = _Made(), EXTENDED_STARTUP | UNICODE_ENVIRONMENT | NO_WINDOW
        line = ctypes.create_unicode_buffer(subprocess.list2cmdline(command))
        arguments = (None, line, None, None, True, flags, None, folder)
        check(self._kernel.CreateProcessW(*arguments, ctypes.byref(startup), ctypes.byref(made)))
        del kept
        self._kernel.CloseHandle(made.thread)
        self._kernel.WaitForSingleObject(made.process, FOREVER)
        code = wintypes.DWORD()
        check(self._kernel.GetExitCodeProcess(made.process, ctypes.byref(code)))
        return code.value

    def _startup(self, security: _Capabilities) -> tuple[_Startup, tuple[object, ...]]:
        """How the process begins, and what has to live until then."""
        pipes = [self._kernel.GetStdHandle(each & 0xFFFFFFFF) or 0 for each in PIPES]
        given = dict.fromkeys(each for each in pipes if each)
        handles = (wintypes.HANDLE * max(1, len(given)))(*given)
        for each in given:
            check(self._kernel.SetHandleInformation(each, INHERIT, INHERIT))
        size = ctypes.c_size_t()
        self._kernel.InitializeProcThreadAttributeList(None, 2, 0, ctypes.byref(size))
        room = ctypes.create_string_buffer(size.value)
        check(self._kernel.InitializeProcThreadAttributeList(room, 2, 0, ctypes.byref(size)))
        for kind, value in ((SECURITY_CAPABILITIES, security), (HANDLE_LIST, handles)):
            at, length = ctypes.addressof(value), ctypes.sizeof(value)
            check(self._kernel.UpdateProcThreadAttribute(room, 0, kind, at, length, None, None))
        startup = _Startup(flags=USE_PIPES, attributes=ctypes.addressof(room))
        startup.size = ctypes.sizeof(startup)
        startup.input, startup.output, startup.error = pipes
        return startup, (room, handles, security)


def _check_code(fault: int, path: str) -> None:
    if fault:
        raise OSError(fault, f"Windows does not open it to the program (error {fault})", path)


def main() -> None:
    """Run the command that stands behind the file of its boundary, and end as it did; where it cannot
    be confined, say so where its errors go, and run nothing."""
    _, _, told, *command = sys.argv
    try:
        boundary = json.loads(Path(told).read_text("utf-8"))
        code = enclose(ContainerApi(), boundary, command, str(Path.cwd()))
    except (OSError, AttributeError, ValueError) as error:
        sys.stderr.write(f"wingbeat: the program cannot be confined: {error}\n")
        code = NOT_STARTED
    sys.stderr.flush()
    os._exit(code if code < 1 << 31 else code - (1 << 32))
