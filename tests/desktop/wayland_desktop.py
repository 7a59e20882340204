"""A desktop of Wayland that nobody sees: compositor without a screen, its bar, a keyboard.

What a program may do there is less than on X11: it cannot ask where windows are, nor come to front on
its own. So nothing here looks past the compositor, which tells what it shows to whoever owns it.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.desktop.desktop import COMMAND_S_MAX, Desktop, end
from tests.hosts.waiting import EVENTUALLY_S_MAX, TookTooLongError, wait_for
from tests.presence.displays import bus

SIZE = (1400, 960)
PROGRAMS = ("sway", "swaymsg", "swaybar", "wtype", "dbus-daemon")
NOBODY = "nobody"
"""The compositor refuses to run for root; then it runs for somebody who owns nothing."""
MANNERS = "xwayland disable\nfocus_on_window_activation focus\n"
BAR = "bar {\n  position bottom\n  tray_output *\n}\n"
SETTINGS = "sway.conf"
PLUGGED_IN_MS = 300
HEARD_S_MAX = 10.0
"""A keyboard comes with each key that is typed; programs have to notice it first."""


def skip_where_there_is_no_wayland() -> None:
    """With one sentence that says what to install."""
    missing = [each for each in PROGRAMS if shutil.which(each) is None]
    if missing:
        pytest.skip(f"not installed here, so there is no Wayland to try: {', '.join(missing)}")


class WaylandDesktop(Desktop):
    """A keyboard that types into whatever has it, and the compositor's own word."""

    def __init__(self, folder: Path, runtime: Path, bus_address: str) -> None:
        super().__init__(
            folder, bus_address, QT_QPA_PLATFORM="wayland", XDG_RUNTIME_DIR=str(runtime)
        )
        self.runtime = runtime

    def attach(self) -> None:
        """To the compositor that is there now."""
        self.environment["WAYLAND_DISPLAY"] = _socket(self.runtime, "wayland-?").name
        self.environment["SWAYSOCK"] = str(_socket(self.runtime, "sway-ipc.*.sock"))

    def there(self) -> bool:
        """Whether the compositor answers."""
        found = [any(self.runtime.glob(each)) for each in ("wayland-?", "sway-ipc.*.sock")]
        if not all(found):
            return False
        self.attach()
        return bool(self._asked("-t", "get_version"))

    def keys(self, *keys: str) -> None:
        """Modifiers stand before their key, with a plus between."""
        for each in keys:
            *held, key = each.split("+")
            words = [word for one in held for word in ("-M", one)]
            subprocess.run(
                ["wtype", "-s", str(PLUGGED_IN_MS), *words, "-k", key],
                env=self.environment,
                timeout=COMMAND_S_MAX,
                check=True,
            )

    def keys_until(self, what: Callable[[], bool], told: str, *keys: str) -> None:
        """Again if nothing comes of it: a program that the machine holds up may notice the keyboard
        only when it is gone."""

        def heard() -> bool:
            self.keys(*keys)
            with suppress(TookTooLongError):
                wait_for(what, HEARD_S_MAX, told)
                return True
            return False

        self.sees(heard, told)

    def windows(self) -> dict[str, tuple[int, int, int, int]]:
        """Titles, and where what is seen of them is."""
        return {
            str(each["name"]): tuple(each["rect"][k] for k in ("x", "y", "width", "height"))
            for each in self._views()
            if each["visible"]
        }

    def in_front(self) -> str:
        """The title of the window that has the keyboard; empty if none has it."""
        return next((str(each["name"]) for each in self._views() if each["focused"]), "")

    def start_menu(self) -> str:
        """The token that a start menu hands on to what the person starts there. Newer compositors give
        one to what they start themselves, and trust no other."""
        told, script = self.runtime / "token", self.runtime / "launched"
        told.unlink(missing_ok=True)
        script.write_text(
            f'printf "%s." "$XDG_ACTIVATION_TOKEN" >{told}.part; mv {told}.part {told}'
        )
        self._asked("exec", "sh", str(script))
        self.sees(told.exists, "the compositor starts a program")
        given = told.read_text().removesuffix(".")
        return given or activation_token(self.runtime / self.environment["WAYLAND_DISPLAY"])

    def screen(self, size: tuple[int, int], factor: float) -> None:
        """So many pixels, and so many of them for one of what programs count in."""
        told = f"{size[0]}x{size[1]}"
        self._asked("output", "*", "resolution", told, "scale", str(factor))

    def camera(self, path: Path) -> list[str]:
        """The one that goes with the compositor."""
        return ["grim", str(path)]

    def _views(self) -> Iterator[dict[str, Any]]:
        waiting = [json.loads(self._asked("-t", "get_tree") or "{}")]
        while waiting:
            node = waiting.pop()
            if node.get("pid") and node.get("visible") is not None:
                yield node
            waiting += node.get("nodes", []) + node.get("floating_nodes", [])

    def _asked(self, *words: str) -> str:
        return self.says("swaymsg", *words)


@contextmanager
def wayland_desktop(folder: Path, *, panel: bool) -> Iterator[WaylandDesktop]:
    """With the compositor's own bar, which has a tray, or without; all of it ends with the block."""
    skip_where_there_is_no_wayland()
    with ExitStack() as stack:
        open_to_all = Path(stack.enter_context(TemporaryDirectory(prefix="wayland-")))
        open_to_all.chmod(0o711)
        runtime = open_to_all / "runtime"
        runtime.mkdir(mode=0o700)
        desktop = WaylandDesktop(folder, runtime, stack.enter_context(bus(open_to_all)))
        width, height = SIZE
        screen = f"output HEADLESS-1 resolution {width}x{height}\n"
        (runtime / SETTINGS).write_text(screen + MANNERS + (BAR if panel else ""))
        stack.enter_context(_compositor(desktop))
        desktop.sees(desktop.there, "the compositor is there")
        yield desktop


@contextmanager
def _compositor(desktop: WaylandDesktop) -> Iterator[None]:
    environment = {
        **desktop.environment,
        "WLR_BACKENDS": "headless",
        "WLR_LIBINPUT_NO_DEVICES": "1",
        "WLR_RENDERER": "pixman",
    }
    somebody: dict[str, Any] = {}
    if os.getuid() == 0:
        somebody = {"user": NOBODY, "group": pwd.getpwnam(NOBODY).pw_gid, "extra_groups": []}
        for each in (desktop.runtime, desktop.runtime / SETTINGS):
            shutil.chown(each, NOBODY)
    with desktop.output("sway").open("wb") as output:
        process = subprocess.Popen(
            ["sway", "-c", str(desktop.runtime / SETTINGS)],
            env=environment,
            cwd=desktop.runtime,
            stdout=output,
            stderr=output,
            **somebody,
        )
    try:
        yield
    finally:
        end(process)


def _socket(folder: Path, pattern: str) -> Path:
    return next(iter(sorted(folder.glob(pattern))))


# -- a launcher, as much of one as passes a click on -----------------------------------------
#
# A start menu asks the compositor for a token and hands it to what it starts. The protocol is a few
# numbers, and no library for it is part of this project; so it is spoken here as it goes over the wire.


ACTIVATION = "xdg_activation_v1"
DISPLAY, REGISTRY, MANAGER, TOKEN = 1, 2, 3, 4
GET_REGISTRY, BIND, GET_TOKEN, COMMIT = 1, 0, 1, 3
GLOBAL, DONE = 0, 0
HEAD = struct.Struct("=IHH")


def activation_token(display: Path) -> str:
    """A new one; raises where the compositor gives none."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(EVENTUALLY_S_MAX)
        wire.connect(str(display))
        _send(wire, DISPLAY, GET_REGISTRY, struct.pack("=I", REGISTRY))
        for sender, code, body in _events(wire):
            if (sender, code) == (REGISTRY, GLOBAL):
                (name,) = struct.unpack_from("=I", body)
                if _text(body, 4) == ACTIVATION:
                    _ask(wire, name)
            elif (sender, code) == (TOKEN, DONE):
                return _text(body, 0)
    raise ConnectionError("the compositor ended the conversation")


def _ask(wire: socket.socket, name: int) -> None:
    kind = ACTIVATION.encode() + b"\0"
    words = struct.pack("=II", name, len(kind)) + kind.ljust(-(-len(kind) // 4) * 4, b"\0")
    _send(wire, REGISTRY, BIND, words + struct.pack("=II", 1, MANAGER))
    _send(wire, MANAGER, GET_TOKEN, struct.pack("=I", TOKEN))
    _send(wire, TOKEN, COMMIT, b"")


def _send(wire: socket.socket, receiver: int, code: int, body: bytes) -> None:
    wire.sendall(HEAD.pack(receiver, code, HEAD.size + len(body)) + body)


def _events(wire: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    with wire.makefile("rb") as read:
        while len(head := read.read(HEAD.size)) == HEAD.size:
            sender, code, size = HEAD.unpack(head)
            yield sender, code, read.read(size - HEAD.size)


def _text(body: bytes, at: int) -> str:
    (length,) = struct.unpack_from("=I", body, at)
    return body[at + 4 : at + 4 + length - 1].decode()
