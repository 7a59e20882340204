"""Whether somebody is in a call: a microphone or a camera is in use.

Who listens to others touches neither keyboard nor mouse for an hour, and often fills no screen. What a
program records from is told by the sound server (PulseAudio, or PipeWire in its place) with the name of
the program; where that cannot be asked, the kernel tells of each sound card whether it is recorded from.
A camera is in use while a program of this person has it open. Nothing is ever listened to or looked at.

A machine without anything to record with is in no call; one that has it and does not tell is unseen.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from agent.api.presence_reasons import CameraUsed, Meeting, MicrophoneUsed
from agent.presence.sources import Asked, SightError

CARDS = Path("/proc/asound")
DEVICES = Path("/dev")
PROCESSES = Path("/proc")
ANSWER_S_MAX = 2.0
NAME_LENGTH_MAX = 60
METERS = frozenset({"Peak detect", "peak detect"})
"""What programs call a stream by which they only show how loud it is."""
Ask = Callable[[], bytes | None]
"""What the sound server tells of who records; None where it cannot be asked. Raises ``OSError``."""


def linux_meeting(
    environment: Mapping[str, str] = os.environ,
    ask: Ask | None = None,
    cards: Path = CARDS,
    devices: Path = DEVICES,
    processes: Path = PROCESSES,
) -> Asked[Meeting | None]:
    """Return a source of what a call uses on Linux, a camera or a microphone; it reads None where
    neither is in use, and is unseen where a sound card does not tell."""
    server = ask or (lambda: _asked_server(environment))

    def look() -> Meeting | None:
        camera = _camera(devices, processes)
        return camera or _microphone(server, cards)

    return Asked(look)


def _microphone(ask: Ask, cards: Path) -> Meeting | None:
    with suppress(OSError, ValueError):
        told = ask()
        if told is not None:
            return _recorder(json.loads(told))
    return _recording_card(cards)


def _recorder(streams: object) -> Meeting | None:
    """The first that records, by the name of its program, but for those that are held."""
    for stream in streams if isinstance(streams, list) else ():
        facts = stream.get("properties", {})
        if stream.get("corked") or facts.get("media.name") in METERS:
            continue
        if facts.get("stream.monitor") == "true":
            continue
        name = facts.get("application.name") or facts.get("application.process.binary") or ""
        return MicrophoneUsed(_shown(str(name)))
    return None


def _asked_server(environment: Mapping[str, str]) -> bytes | None:
    """The tool of the server is asked, and only where a server listens already: it starts none."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    tool = shutil.which("pactl")
    if tool is None or not runtime or not (Path(runtime) / "pulse" / "native").exists():
        return None
    command = [tool, "--format=json", "list", "source-outputs"]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=ANSWER_S_MAX, check=True, stdin=subprocess.DEVNULL
        )
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from error
    return done.stdout


def _recording_card(cards: Path) -> Meeting | None:
    """By files that the kernel keeps for each sound card, a line in each; "closed" means unused."""
    for status in cards.glob("card*/pcm*c/sub*/status"):
        try:
            told = status.read_text("ascii", "replace")
        except OSError as error:
            raise SightError(error.strerror or "the sound card does not tell") from error
        if not told.startswith("closed"):
            return MicrophoneUsed("")
    return None


def _camera(devices: Path, processes: Path) -> Meeting | None:
    cameras = {str(each) for each in devices.glob("video[0-9]*")}
    if not cameras or sys.platform == "win32":
        return None
    for process in _own(processes):
        with suppress(OSError), os.scandir(process / "fd") as open_files:
            for each in open_files:
                with suppress(OSError):
                    if str(Path(each.path).readlink()) in cameras:
                        return CameraUsed(_name_of(process))
    return None


def _own(processes: Path) -> Iterable[Path]:
    """Of this account; what others have open nobody may see."""
    if sys.platform == "win32":
        return
    with os.scandir(processes) as found:
        for each in found:
            with suppress(OSError):
                if each.name.isdecimal() and each.stat().st_uid == os.geteuid():
                    yield Path(each.path)


def _name_of(process: Path) -> str:
    try:
        return _shown((process / "comm").read_text("utf-8", "replace"))
    except OSError:
        return ""


def _shown(name: str) -> str:
    return "".join(each for each in name.strip() if each.isprintable())[:NAME_LENGTH_MAX]


# -- Windows -----------------------------------------------------------------------------------------

USED = r"Software\Microsoft\Windows\CurrentVersion\CapabilityAccessManager\ConsentStore"
STOPPED = "LastUsedTimeStop"
Users = Callable[[str], Iterable[tuple[str, int]]]
"""Who may use a device of this kind, and when each stopped to, 0 while it uses it. Raises
``OSError`` where Windows keeps no such list."""


def windows_meeting(users: Users) -> Asked[Meeting | None]:
    """Return a source of whether a call goes on, which Windows tells by who uses microphone and
    camera: the program's use, or None without one. Unseen where Windows does not tell."""

    def look() -> Meeting | None:
        try:
            for device, used in (("webcam", CameraUsed), ("microphone", MicrophoneUsed)):
                for name, stopped in users(device):
                    if stopped == 0:
                        return used(_shown(name.rpartition("#")[2].rpartition("\\")[2]))
        except OSError as error:
            raise SightError(error.strerror or "Windows does not tell") from error
        return None

    return Asked(look, "Windows")


def consent_store(device: str) -> list[tuple[str, int]]:
    """Return who may use a device of this kind, ``webcam`` or ``microphone``, and when each stopped
    to, as ``windows_meeting`` wants it: apps of the store, and, under their paths, all others.
    Raise ``OSError`` on other systems, and where Windows keeps no such list."""
    if sys.platform != "win32":
        raise OSError(0, "this is not Windows")
    else:  # noqa: RET506 - so that the type checker sees one of the two on each system
        import winreg

        found: list[tuple[str, int]] = []
        for folder in (f"{USED}\\{device}", f"{USED}\\{device}\\NonPackaged"):
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, folder) as key:
                for number in range(winreg.QueryInfoKey(key)[0]):
                    name = winreg.EnumKey(key, number)
                    with suppress(FileNotFoundError), winreg.OpenKey(key, name) as one:
                        found.append((name, int(winreg.QueryValueEx(one, STOPPED)[0])))
        return found
