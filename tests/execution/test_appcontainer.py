"""Containers of Windows: what is decided, with calls that are noted down; and the calls themselves, with
libraries that note what they are told. The numbers are those of the system's headers."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.execution.confinement import appcontainer as under_test
from agent.execution.confinement import attempts_windows, proof
from agent.execution.confinement.appcontainer import (
    INTERNET,
    NEIGHBOURS,
    NOT_STARTED,
    READ,
    WRITE,
    capability_of,
    enclose,
    enclosing_command,
    identifier_of,
)
from agent.execution.confinement.boundary import Means
from agent.execution.confinement.proof import SORTS
from agent.execution.groups import Exit, Groups, Hear, Launch
from tests.certain import certain
from tests.hosts.windows import Library, loaded_as_on_windows

CONTAINER, PROCESS, THREAD, LIST = 0x7_0000_0010, 0x7_0000_0020, 0x7_0000_0030, 0x7_0000_0040
OURS, PIPE = 0x5_0000_0000, 0x7_0000_0100


@dataclass
class Windows:
    """Notes whom it lets in where; ``refuses`` are places whose lists this account may not change."""

    refuses: tuple[str, ...] = ()
    containers: list[str] = field(default_factory=list)
    lists: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    ran: list[tuple[tuple[str, ...], str, int, list[str]]] = field(default_factory=list)
    _names: dict[int, str] = field(default_factory=dict)

    def container(self, name: str) -> int:
        self.containers.append(name)
        return self.identifier(name)

    def identifier(self, text: str) -> int:
        self._names[len(self._names) + 1] = text
        return len(self._names)

    def described(self, path: str) -> str:
        return "".join(f"(A;;;;;{who})" for who, _ in self.lists.get(path, ()))

    def allow(self, path: str, identifier: int, rights: int) -> None:
        if path in self.refuses:
            raise PermissionError(5, "Access is denied", path)
        self.lists.setdefault(path, []).append((self._names[identifier], rights))

    def run(
        self, command: Sequence[str], folder: str, container: int, capabilities: Sequence[int]
    ) -> int:
        carried = [self._names[each] for each in capabilities]
        self.ran.append((tuple(command), folder, container, carried))
        return 7


@dataclass(frozen=True)
class Place:
    """A run's folder, with what lies there, and a runtime beside it."""

    home: Path
    work: str
    given: str
    runtime: str

    def told(self, **changes: object) -> dict[str, Any]:
        told = {"home": str(self.home), "writes": [self.work], "network": False}
        return told | {"reads": [self.runtime, self.given, "/nowhere"]} | changes


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for each in ("run/work", "run/given", "runtime"):
        (tmp_path / each).mkdir(parents=True)
    home = tmp_path / "run"
    return Place(home, str(home / "work"), str(home / "given"), str(tmp_path / "runtime"))


def test_each_run_has_a_container_of_its_own_let_into_its_own_folders(place: Place) -> None:
    windows = Windows()
    assert enclose(windows, place.told(), ("run.exe", "x y"), place.work) == 7
    enclose(windows, place.told(), ("run.exe",), place.work)
    first, second = windows.containers
    assert first != second
    assert windows.lists[place.work] == [(first, WRITE), (second, WRITE)]
    assert windows.lists[place.given] == [(first, READ), (second, READ)]
    assert "/nowhere" not in windows.lists
    assert windows.ran[0][:2] == (("run.exe", "x y"), place.work)


def test_a_place_beyond_is_opened_once_and_to_those_alone_that_may_read_it(place: Place) -> None:
    windows = Windows()
    capability = capability_of(place.runtime)
    for told in (place.told(), place.told(), place.told(reads=[])):
        enclose(windows, told, ("x",), place.work)
    assert windows.lists[place.runtime] == [(capability, READ)]
    assert [each[3] for each in windows.ran] == [[capability], [capability], []]
    assert capability != capability_of(place.given)


def test_the_network_is_two_capabilities(place: Place) -> None:
    windows = Windows()
    enclose(windows, place.told(reads=[], network=True), ("x",), place.work)
    assert windows.ran[0][3] == [INTERNET, NEIGHBOURS]


def test_what_this_account_may_not_open_is_left_and_its_own_has_to_be_opened(place: Place) -> None:
    windows = Windows(refuses=(place.runtime,))
    assert enclose(windows, place.told(), ("x",), place.work) == 7
    windows = Windows(refuses=(place.work,))
    with pytest.raises(PermissionError):
        enclose(windows, place.told(), ("x",), place.work)
    assert windows.ran == []


def test_identifiers_are_made_as_windows_makes_them() -> None:
    """That of ``registryRead`` is written in the access lists of every Windows."""
    assert identifier_of("registryRead") == (
        "S-1-15-3-1024-1065365936-1281604716-3511738428-1654721687-"
        "432734479-3232135806-4053264122-3456934681"
    )


def test_where_nothing_can_be_made_nothing_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """This system has no such libraries; what is said goes where the program's errors go."""
    told = place.home / "boundary.json"
    told.write_text(json.dumps(place.told()))
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    *_, sources, file, command = enclosing_command(told, ("x",))
    monkeypatch.setattr(sys, "argv", ["-c", sources, file, command])
    under_test.main()
    assert ended == [NOT_STARTED]
    assert "cannot be confined" in capsys.readouterr().err


# -- the calls -------------------------------------------------------------------------------------


@dataclass
class Libraries:
    """What Windows is told; ``fails`` is the call that it refuses."""

    fails: str = ""
    told: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)
    attributes: dict[int, tuple[int, int]] = field(default_factory=dict)
    capabilities: list[int] = field(default_factory=list)

    def libraries(self) -> dict[str, Library]:
        return {
            "userenv": Library(DeriveAppContainerSidFromAppContainerName=self._derive),
            "advapi32": Library(
                ConvertStringSidToSidW=self._convert,
                GetNamedSecurityInfoW=self._list,
                SetEntriesInAclW=self._entries,
                SetNamedSecurityInfoW=self._note("set", 0, 5),
            ),
            "kernel32": Library(
                GetStdHandle=lambda which: PIPE + (which & 0xFF),
                InitializeProcThreadAttributeList=self._room,
                UpdateProcThreadAttribute=self._attribute,
                CreateProcessW=self._create,
                GetExitCodeProcess=self._code,
                CloseHandle=self._close,
            ),
        }

    def _note(self, name: str, done: int = 1, failed: int = 0) -> Callable[..., int]:
        def answer(*told: object) -> int:
            self.told[name] = told
            return failed if name == self.fails else done

        return answer

    def _derive(self, name: str, found: Any) -> int:
        assert name.startswith("wingbeat.")
        found.value = 0 if self.fails == "derive" else CONTAINER
        return -2147024809 if self.fails == "derive" else 0

    def _convert(self, text: str, found: Any) -> int:
        found.value = OURS + len(text)
        return self._note("convert")(text)

    def _list(self, path: str, *rest: Any) -> int:
        rest[4].value, rest[6].value = LIST, LIST + 1
        return self._note("list", 0, 5)(path, *rest[:2])

    def _entries(self, count: int, entry: Any, before: Any, after: Any) -> int:
        trustee = entry.trustee
        told = (entry.permissions, entry.mode, entry.inheritance, trustee.form, trustee.name)
        after.value = LIST + 2
        return self._note("entries", 0, 5)(count, *told, before.value)

    def _room(self, _: object, count: int, flags: int, size: Any) -> int:
        assert (count, flags) == (2, 0)
        size.value = 48
        return 1

    def _attribute(
        self, _: object, flags: int, kind: int, at: int, size: int, *rest: object
    ) -> int:
        assert (flags, rest) == (0, (None, None))
        self.attributes[kind] = (at, size)
        if kind == 0x20009:
            told = under_test._Capabilities.from_address(at)
            carried = (under_test._Carried * told.count).from_address(told.carried)
            assert (told.container, told.reserved) == (CONTAINER, 0)
            assert {each.attributes for each in carried} <= {4}
            self.capabilities = [each.identifier for each in carried]
        return 1

    def _create(self, *told: Any) -> int:
        startup, made = told[-2:]
        self.told["startup"] = (startup.flags, startup.input, startup.output, startup.error)
        made.process, made.thread = PROCESS, THREAD
        name, line, *rest = told[:-2]
        return self._note("create")(name, line.value, *rest)

    def _close(self, handle: int) -> int:
        self.closed.append(handle)
        return 1

    def _code(self, process: int, code: Any) -> int:
        assert process == PROCESS
        code.value = 0xC0000005
        return 1


@pytest.fixture
def libraries() -> Libraries:
    return Libraries()


@pytest.fixture
def api(libraries: Libraries, monkeypatch: pytest.MonkeyPatch) -> under_test.ContainerApi:
    name = "agent.execution.confinement.appcontainer"
    module = loaded_as_on_windows(name, libraries.libraries(), monkeypatch)
    return cast("under_test.ContainerApi", module.ContainerApi())


def test_a_process_begins_in_its_container_with_our_pipes_alone(
    libraries: Libraries, api: under_test.ContainerApi, tmp_path: Path
) -> None:
    container = api.container("wingbeat.1")
    identifier = api.identifier(INTERNET)
    code = api.run(("run.exe", "x y"), str(tmp_path), container, [identifier])
    assert code == 0xC0000005
    assert libraries.capabilities == [OURS + len(INTERNET)]
    name, line, *rest = libraries.told["create"]
    flags = 0x00080000 | 0x00000400 | 0x08000000
    assert (name, line) == (None, 'run.exe "x y"')
    assert rest == [None, None, 1, flags, None, str(tmp_path)]
    pipes = [PIPE + (each & 0xFF) for each in (-10, -11, -12)]
    assert libraries.told["startup"] == (0x100, *pipes)
    assert libraries.attributes[0x20002][1] == 3 * ctypes.sizeof(ctypes.c_void_p)
    assert libraries.closed == [THREAD]


def test_somebody_is_let_in_besides_those_who_may(
    libraries: Libraries, api: under_test.ContainerApi, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    api.allow(str(tmp_path), 99, WRITE)
    assert libraries.told["list"] == (str(tmp_path), 1, 4)
    assert libraries.told["entries"] == (1, WRITE, 1, 3, 0, 99, LIST)
    assert libraries.told["set"][:3] == (str(tmp_path), 1, 4)
    assert libraries.told["set"][5].value == LIST + 2
    api.allow(str(tmp_path / "file"), 99, READ)
    assert libraries.told["entries"] == (1, READ, 1, 0, 0, 99, LIST)


@pytest.mark.parametrize(
    ("fails", "does"),
    [
        ("derive", lambda api: api.container("wingbeat.w")),
        ("convert", lambda api: api.identifier("S-1-1-0")),
        ("list", lambda api: api.allow("x", 1, READ)),
        ("entries", lambda api: api.allow("x", 1, READ)),
        ("set", lambda api: api.allow("x", 1, READ)),
        ("create", lambda api: api.run(("x",), "y", CONTAINER, ())),
    ],
)
def test_what_windows_refuses_is_an_error(
    libraries: Libraries,
    api: under_test.ContainerApi,
    fails: str,
    does: Callable[[under_test.ContainerApi], object],
) -> None:
    libraries.fails = fails
    with pytest.raises(OSError, match=r"denied|Windows"):
        does(api)


# -- what decides: trying --------------------------------------------------------------------------


class Held:
    """Groups of a Windows that holds, or does not: what is started says what went."""

    def __init__(self, **went: list[str]) -> None:
        self.answer: dict[str, list[str]] = {each: [] for each in (*SORTS, "needed")} | went
        self.launches: list[Launch] = []

    async def start(self, launch: Launch, hear: Hear) -> Any:
        self.launches.append(launch)
        hear(1, json.dumps(self.answer).encode())
        ended, silent = (asyncio.get_running_loop().create_future() for _ in range(2))
        ended.set_result(Exit(0))
        silent.set_result(None)
        done = {"kill": lambda: None, "close": lambda: None}
        return SimpleNamespace(ended=ended, silent=silent, held=(), **done)


@pytest.fixture
def on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    system = SimpleNamespace(platform="win32", executable=sys.executable)
    monkeypatch.setattr(proof, "sys", system)


@pytest.mark.usefixtures("on_windows")
async def test_where_nothing_went_a_container_holds() -> None:
    groups = Held()
    found = await proof.prove(cast("Groups", groups), (), ())
    assert (found.holds, found.by) == (True, ("AppContainer", "job object"))
    assert not any(map(found.open, SORTS))
    (launch,) = groups.launches
    boundary = certain(launch.boundary)
    assert boundary.means == Means(container=True)
    assert set(boundary.writes) == {str(launch.folder), launch.environment["TMP"]}


@pytest.mark.usefixtures("on_windows")
@pytest.mark.parametrize(
    "went", [{"network": ["connect"]}, {"files": ["read"]}, {"needed": ["write: denied"]}]
)
async def test_where_something_went_it_does_not(went: dict[str, list[str]]) -> None:
    """As under Wine, which makes the process and no container around it."""
    found = await proof.prove(cast("Groups", Held(**went)), (), ())
    assert not found.holds
    assert [each for each in SORTS if found.open(each)] == [each for each in went if each in SORTS]


def test_unconfined_everything_goes_that_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempts can succeed: here without a boundary, with processes of Windows made up."""
    work, beside = tmp_path / "work", tmp_path / "beside"
    for each in (work, beside):
        each.mkdir()
    (beside / "file").write_text("nobody's business")
    (beside / "pipe").touch()
    monkeypatch.chdir(work)
    monkeypatch.setenv("TMP", str(work))
    monkeypatch.setenv("USERPROFILE", str(beside))
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_, **__: Library(), raising=False)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    with socket.create_server(("127.0.0.1", 0)) as door:
        told = {
            "secrets": [str(beside / "file")],
            "folder": str(beside),
            "file": str(beside / "file"),
            "process": os.getpid(),
            "port": door.getsockname()[1],
            "pipe": str(beside / "pipe"),
        }
        found = attempts_windows.main(told)
    assert found["needed"] == []
    assert {"read", "write", "make", "list", "link", "rename", "times"} <= set(found["files"])
    assert found["network"] == ["connect", "open a pipe"]
    assert (len(found["signals"]), len(found["tracing"])) == (3, 4)
