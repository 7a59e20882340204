"""A real X server, real input by xdotool, and what the sources see of it."""

from __future__ import annotations

import asyncio
import hashlib
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from agent.api.presence_reasons import (
    HeldBlind,
    HeldByInput,
    HelpsIdle,
    NamedFills,
    ProgramFills,
    SystemSays,
)
from agent.api.reasons import Reason, reason_of
from agent.api.session import VolunteeringChanged
from agent.control.port import Notice
from agent.node.agent import Agent
from agent.node.running import Options
from agent.paths import Home
from agent.presence.readings import LastInput, Seen, Unseen
from agent.presence.sources import Source
from agent.presence.sources.linux import terminal_last_input
from agent.presence.sources.x11 import (
    COOKIE,
    LOCAL,
    WILD,
    X11Screen,
    XConnection,
    cookie_for,
    display_number,
    filling,
    x11_last_input,
    x11_screen_saver,
)
from agent.wording.speech import Speech
from tests.certain import of_kind
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually, wait_for
from tests.presence.displays import (
    NO_DISPLAY,
    display,
    own_number,
    skip_without,
    start_display,
    tidy_up_after,
)

ROUNDED_S = 0.01
"""A server counts in milliseconds."""
FORCE_SCREEN_SAVER = 115


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[X11Screen]:
    with display(tmp_path) as number:
        found = X11Screen({"DISPLAY": number})
        yield found
        found.close()


def do(screen: X11Screen, *command: str) -> None:
    environment = {"DISPLAY": screen._environment["DISPLAY"], "PATH": "/usr/bin:/bin"}
    subprocess.run(["xdotool", *command], env=environment, check=True)


def last_input(source: Source[LastInput]) -> LastInput:
    found: Seen[LastInput] = of_kind(Seen, source.read())
    return found.value


@pytest.mark.parametrize(
    "command", [("key", "a"), ("click", "1"), ("mousemove_relative", "3", "4")]
)
def test_each_kind_of_input_is_seen(screen: X11Screen, command: tuple[str, ...]) -> None:
    source = x11_last_input(screen, time.monotonic)
    before = last_input(source)
    wait_for(
        lambda: time.monotonic() - last_input(source).at_s > 0.3, EVENTUALLY_S_MAX, "it is quiet"
    )
    began_s = time.monotonic()
    do(screen, *command)
    found = last_input(source)
    assert began_s - ROUNDED_S <= found.at_s <= time.monotonic()
    assert before.pointer is not None
    assert found.pointer is not None
    moved = (found.pointer[0] - before.pointer[0], found.pointer[1] - before.pointer[1])
    assert moved == ((3, 4) if command[0] == "mousemove_relative" else (0, 0))


def test_what_happens_without_input_does_not_count(screen: X11Screen) -> None:
    """A look that the machine holds up takes its answer for a later one; others come after it."""
    source = x11_last_input(screen, time.monotonic)
    do(screen, "key", "a")
    touched_s = time.monotonic()
    screen.asked(filling).read()
    wait_for(lambda: time.monotonic() - touched_s > 0.5, EVENTUALLY_S_MAX, "time passes")
    screen.asked(filling).read()
    wait_for(
        lambda: last_input(source).at_s < touched_s + 0.25, EVENTUALLY_S_MAX, "the key was the last"
    )


def test_a_screen_saver_is_seen_until_somebody_touches_anything(screen: X11Screen) -> None:
    saver = x11_screen_saver(screen)
    assert saver.read() == Seen(value=False, by="X11")
    connection = XConnection.connect(screen._environment)
    connection._socket.sendall(struct.pack("=BBH", FORCE_SCREEN_SAVER, 1, 1))
    wait_for(
        lambda: saver.read() == Seen(value=True, by="X11"),
        EVENTUALLY_S_MAX,
        "the screen saver is on",
    )
    do(screen, "key", "a")
    wait_for(lambda: saver.read() == Seen(value=False, by="X11"), EVENTUALLY_S_MAX, "it is off")
    connection.close()


def test_a_server_with_a_lock_lets_in_who_has_the_cookie(tmp_path: Path) -> None:
    authority = tmp_path / "authority"
    cookie = hashlib.md5(b"a test", usedforsecurity=False).digest()
    authority.write_bytes(entry(WILD, b"", b"", COOKIE, cookie))
    with display(tmp_path, "-auth", str(authority)) as number:
        inside = X11Screen({"DISPLAY": number, "XAUTHORITY": str(authority)})
        assert isinstance(x11_last_input(inside, time.monotonic).read(), Seen)
        outside = X11Screen({"DISPLAY": number, "XAUTHORITY": str(tmp_path / "none")})
        found = x11_last_input(outside, time.monotonic).read()
        assert found == Unseen(SystemSays("the X server does not let this account in"))
        inside.close()


def test_a_server_that_goes_away_is_said_and_its_successor_is_found(tmp_path: Path) -> None:
    skip_without("Xvfb", "xdotool", reason=NO_DISPLAY)
    server, number = start_display(tmp_path, f":{own_number()}")
    screen = X11Screen({"DISPLAY": f":{number}"})
    sources: list[Callable[[], object]] = [
        x11_last_input(screen, time.monotonic).read,
        screen.asked(filling).read,
    ]
    assert all(isinstance(read(), Seen) for read in sources)
    server.kill()
    server.wait()
    for read in (*sources, *sources):
        found = of_kind(Unseen, read())
        told = Speech().every(found.because)
        assert "X server has gone" in told or "cannot be" in told
    again, _ = start_display(tmp_path, f":{number}")
    try:
        wait_for(
            lambda: isinstance(sources[0](), Seen), EVENTUALLY_S_MAX, "the new server is found"
        )
    finally:
        screen.close()
        again.terminate()
        again.wait()


def test_a_window_as_large_as_the_screen_is_seen_where_no_manager_tells(screen: X11Screen) -> None:
    source = screen.asked(filling)
    assert source.read() == Seen(None, "X11")
    window = _window(screen, 640, 480)
    assert source.read() == Seen(None, "X11")
    window.resize(800, 600)
    assert source.read() == Seen(ProgramFills(), "X11")
    window.close()
    wait_for(lambda: source.read() == Seen(None, "X11"), EVENTUALLY_S_MAX, "it is closed")


def test_a_full_screen_window_is_seen_as_its_manager_says(screen: X11Screen) -> None:
    source = screen.asked(filling)
    window = _window(screen, 100, 100)
    window.claim_a_manager()
    assert source.read() == Seen(None, "X11")
    window.full_screen(name="mpv\0mpv\0")
    assert source.read() == Seen(NamedFills("mpv"), "X11")
    window.close()
    wait_for(
        lambda: source.read() == Seen(None, "X11"), EVENTUALLY_S_MAX, "a closed window is none"
    )


class Window:
    """A window by requests of the X protocol, and the words of a window manager on the root."""

    CREATE, CONFIGURE, MAP, CHANGE_PROPERTY = 1, 12, 8, 18
    ATOM, WINDOW, STRING = 4, 33, 31

    def __init__(self, screen: X11Screen, width: int, height: int) -> None:
        self._connection = connection = XConnection.connect(screen._environment)
        self.id = connection.first_id
        size = struct.pack("=hhHHHH", 0, 0, width, height, 0, 1)
        self._send(self.CREATE, 0, struct.pack("=II", self.id, connection.root) + size + bytes(8))
        self._send(self.MAP, 0, struct.pack("=I", self.id))

    def resize(self, width: int, height: int) -> None:
        asked = struct.pack("=IHHII", self.id, 0b1100, 0, width, height)
        self._send(self.CONFIGURE, 0, asked)

    def claim_a_manager(self) -> None:
        root = self._connection.root
        self._numbers(root, "_NET_SUPPORTING_WM_CHECK", self.WINDOW, self.id)
        self._numbers(root, "_NET_ACTIVE_WINDOW", self.WINDOW, self.id)

    def full_screen(self, name: str) -> None:
        state = self._connection.atom("_NET_WM_STATE_FULLSCREEN")
        self._numbers(self.id, "_NET_WM_STATE", self.ATOM, state)
        self._property(self.id, "WM_CLASS", self.STRING, 8, name.encode(), len(name))

    def close(self) -> None:
        self._connection.close()

    def _numbers(self, window: int, name: str, kind: int, value: int) -> None:
        self._property(window, name, kind, 32, struct.pack("=I", value), 1)

    def _property(
        self, window: int, name: str, kind: int, bits: int, data: bytes, count: int
    ) -> None:
        atom = self._connection.atom(name)
        head = struct.pack("=IIIB3xI", window, atom, kind, bits, count)
        self._send(self.CHANGE_PROPERTY, 0, head + data)

    def _send(self, opcode: int, detail: int, body: bytes) -> None:
        """A request without an answer, and then one that waits until it is done."""
        body += bytes(-len(body) % 4)
        packed = struct.pack("=BBH", opcode, detail, 1 + len(body) // 4) + body
        self._connection._socket.sendall(packed)
        self._connection._sequence += 1
        self._connection.pointer()


def _window(screen: X11Screen, width: int, height: int) -> Window:
    return Window(screen, width, height)


@pytest.mark.parametrize(
    ("environment", "because"),
    [
        ({}, "was not started in a graphical session"),
        ({"DISPLAY": "elsewhere:0"}, "not a screen of this machine"),
        ({"DISPLAY": "localhost:10.0"}, "not a screen of this machine"),
        ({"DISPLAY": ":987654"}, "cannot be reached"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "only part of what happens"),
    ],
)
def test_where_there_is_no_screen_that_is_said(environment: dict[str, str], because: str) -> None:
    found = of_kind(Unseen, x11_last_input(X11Screen(environment), time.monotonic).read())
    assert because in Speech().every(found.because)


@pytest.mark.parametrize(("display_name", "number"), [(":0", 0), (":12.1", 12), ("unix:3", 3)])
def test_displays_of_this_machine(display_name: str, number: int) -> None:
    assert display_number(display_name) == number


def entry(family: int, address: bytes, number: bytes, name: bytes, data: bytes) -> bytes:
    parts = b"".join(struct.pack(">H", len(each)) + each for each in (address, number, name, data))
    return struct.pack(">H", family) + parts


def test_the_cookie_of_this_machine_and_display_is_taken() -> None:
    mine = hashlib.md5(b"mine", usedforsecurity=False).digest()
    entries = (
        entry(LOCAL, b"elsewhere", b"0", COOKIE, b"wrong host")
        + entry(LOCAL, b"here", b"1", COOKIE, b"wrong number")
        + entry(LOCAL, b"here", b"0", b"OTHER-METHOD", b"wrong method")
        + entry(LOCAL, b"here", b"0", COOKIE, mine)
    )
    assert cookie_for(entries, 0, "here") == mine
    assert cookie_for(entry(WILD, b"", b"", COOKIE, mine), 5, "here") == mine
    assert cookie_for(entries[:-3], 7, "here") == b""
    assert cookie_for(b"", 0, "here") == b""


# -- a live node: whoever touches the display is given way, in the node itself ---------------


SETTINGS = """
volunteer = "when idle"
[presence]
idle_s = 1
others_cpu_percent = 100
free_memory_mb = 0
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Without terminals: other tests type in some at the same time, as does who runs these."""
    with display(tmp_path) as number:
        none = tmp_path / "no terminals"
        terminals = partial(terminal_last_input, pseudo=none, console=none)
        monkeypatch.setattr("agent.presence.sources.linux.terminal_last_input", terminals)
        monkeypatch.setenv("DISPLAY", number)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        found = Home.at(tmp_path / "home")
        found.prepare()
        found.settings_file.write_text(SETTINGS)
        yield found


async def touch() -> None:
    process = await asyncio.create_subprocess_exec("xdotool", "key", "a")
    assert await process.wait() == 0


async def test_input_on_a_display_reaches_the_node_and_everybody_who_listens(home: Home) -> None:
    service = await Agent.start(home, Options(discovery=False, log_to_files=False))
    told: list[Notice] = []
    service.subscribe(told.append)
    try:
        await eventually(lambda: service.live.presence.volunteering)
        assert isinstance(why(service), HelpsIdle)
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            while not service.live.presence.owner_present:  # with so short an idle time
                await touch()  # one touch may be forgotten before a busy machine looks
        assert isinstance(why(service), HeldByInput)
        await eventually(lambda: service.live.presence.volunteering)
        service.presence.pause(time.time() + 3_600)
        assert service.live.presence.owner_present
        assert [each for each in told if isinstance(each, VolunteeringChanged)][-1].paused
    finally:
        await service.stop()


async def test_a_display_that_goes_away_holds_the_node_back_and_does_not_end_it(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server, number = start_display(tmp_path, f":{own_number()}")
    monkeypatch.setenv("DISPLAY", f":{number}")

    try:
        service = await Agent.start(home, Options(discovery=False, log_to_files=False))
        try:
            await eventually(lambda: service.live.presence.volunteering)
            server.kill()
            await eventually(lambda: service.live.presence.owner_present)
            assert isinstance(why(service), HeldBlind)
        finally:
            await service.stop()
    finally:
        server.kill()
        server.wait()
        tidy_up_after(int(number))


def why(service: Agent) -> Reason:
    """Why this machine helps or not."""
    status = service.now().status
    return reason_of(status.why, status.reason)
