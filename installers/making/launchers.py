"""The programs of the Windows package, made from `installers/windows/*.c` by mingw.

Two run Python under names of their own; one has the agent run as a service (`service.c`), and one is for
the setup programs (`sessions.c`). Their icon is drawn from our own wing, in the sizes that Windows asks
for, and their version is a resource, so that lists of processes and dialogs call them by name. No time of making is in them.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

from agent import __version__
from installers.making.locked import ROOT, MakingError

SOURCES = ROOT / "installers/windows"
PROGRAMS = {
    "wingbeat": ("launcher.c", "Wingbeat command", ("-DCONSOLE", "-mconsole"), ()),
    "wingbeat-tray": ("launcher.c", "Wingbeat", ("-mwindows",), ()),
    "wingbeat-service": ("service.c", "Wingbeat service", ("-mwindows",), ("-lshell32",)),
    "sessions": ("sessions.c", "Wingbeat setup", ("-mwindows",), ("-luserenv", "-lntdll")),
}
"""By name its source, what it is called, for which kind of program it is compiled, its libraries."""
ICON = "wingbeat.ico"
COMPILER, RESOURCES = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-windres"
FLAGS = ("-Os", "-s", "-municode", "-Wall", "-Wextra", "-Werror", "-D_WIN32_WINNT=0x0A00")
REPEATABLE = ("-Wl,--no-insert-timestamp", "-ffile-prefix-map=.=.")
ICON_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)


def make_programs(folder: Path, python_dll: str, scratch: Path) -> None:
    """Make all into the folder, for the Python of this library; icon and resources are made in the
    scratch folder. Raises ``MakingError``."""
    draw_icon(scratch / ICON)
    for name, (source, description, kind, libraries) in PROGRAMS.items():
        told = (SOURCES / "launcher.rc").read_text("utf-8")
        words = {"NAME": name, "DESCRIPTION": description, "VERSION": __version__}
        for word, value in (words | {"NUMBERS": numbers().replace(".", ",")}).items():
            told = told.replace(f"@{word}@", value)
        (scratch / "launcher.rc").write_text(told, "utf-8")
        _run(RESOURCES, "launcher.rc", f"{name}.o", folder=scratch)
        library = f'-DPYTHON_DLL=L"{python_dll}"'
        of = (str(SOURCES / source), f"{name}.o", "-o", str(folder / f"{name}.exe"))
        _run(COMPILER, *FLAGS, *REPEATABLE, *kind, library, *of, *libraries, folder=scratch)


def numbers() -> str:
    """Return the version as Windows wants it: four numbers."""
    return ".".join([*(each for each in __version__.split(".") if each.isdigit()), *"0000"][:4])


def draw_icon(file: Path) -> None:
    """Draw the wing into an icon file of all sizes, each as a PNG."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QGuiApplication

    from gui.__main__ import ICON_COLOUR
    from gui.theme.wing import plain_wing

    kept = QGuiApplication.instance() or QGuiApplication(["wingbeat"])
    images = []
    for size in ICON_SIZES:
        drawn = file.with_name(f"wing-{size}.png")
        plain_wing(size, ICON_COLOUR).toImage().save(str(drawn))
        images.append(drawn.read_bytes())
    del kept
    head = struct.pack("<HHH", 0, 1, len(images))
    offset = len(head) + 16 * len(images)
    for size, image in zip(ICON_SIZES, images, strict=True):
        side = size % 256  # 256 is written as 0
        head += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(image), offset)
        offset += len(image)
    file.write_bytes(head + b"".join(images))


def _run(*words: str, folder: Path) -> None:
    if not shutil.which(words[0]):
        raise MakingError(f"{words[0]} is missing: sudo apt-get install gcc-mingw-w64-x86-64")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MakingError(f"{words[0]} cannot make {words[-1]}: {done.stderr.strip()}")
