"""A real X server that nobody sees, a real bus of its own, for as long as a test needs them.

A server that its last client leaves starts over, and whoever comes just then is sent away; so none
here does (``-noreset``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.certain import certain

NO_DISPLAY = "Xvfb and xdotool are not installed: there is no display to try this on"
NO_BUS = "dbus-daemon is not installed: there is no bus to try this on"
OWN_NUMBERS = range(1_000, 50_000)
"""Of displays: far above those that servers choose by themselves, which begin at 0."""
_CONFIGURATION = """<busconfig>
<listen>unix:path={folder}/bus</listen>
<auth>EXTERNAL</auth>
<policy context="default">
<allow user="*"/><allow own="*"/>
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
</policy>
</busconfig>
"""


def skip_without(*commands: str, reason: str) -> None:
    """Skip the test where one of the commands is missing."""
    if any(shutil.which(each) is None for each in commands):
        pytest.skip(reason)


@contextmanager
def display(folder: Path, *options: str) -> Iterator[str]:
    """An X server; what DISPLAY has to be."""
    skip_without("Xvfb", "xdotool", reason=NO_DISPLAY)
    server, number = start_display(folder, *options)
    try:
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def own_number() -> int:
    """Of a display that no server takes by itself while the one that has it is away."""
    return OWN_NUMBERS[os.getpid() % len(OWN_NUMBERS)]


def tidy_up_after(number: int) -> None:
    """What a server leaves that was killed."""
    for path in (f"/tmp/.X{number}-lock", f"/tmp/.X11-unix/X{number}"):
        Path(path).unlink(missing_ok=True)


def start_display(
    folder: Path, *options: str, size: tuple[int, int] = (800, 600)
) -> tuple[subprocess.Popen[bytes], str]:
    """The same without an end: the server and its number, which ``:N`` among the options gives."""
    reading, writing = os.pipe()
    width, height = size
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24"]
    command += ["-nolisten", "tcp", "-noreset", *options]
    with (folder / "xvfb.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    assert number, (folder / "xvfb.log").read_text()
    return server, number


@contextmanager
def bus(folder: Path) -> Iterator[str]:
    """A message bus; its address."""
    skip_without("dbus-daemon", reason=NO_BUS)
    configuration = folder / "bus.conf"
    configuration.write_text(_CONFIGURATION.format(folder=folder))
    daemon = subprocess.Popen(
        ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = certain(daemon.stdout).readline().strip().partition(",guid")[0]
        assert address, "the message bus ended before it was there"
        yield address
    finally:
        daemon.terminate()
        daemon.communicate()
