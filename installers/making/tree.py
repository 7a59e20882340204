"""The folders that a package for Linux brings: an environment without pip, for several Pythons at once.

Only extension modules differ from Python to Python, and their names say for which they are: so the
wheels of all lie in one folder, and `lib/python3.11` and the others are links to it. Of Qt only
what the window uses is kept. What others have made lies in a folder of its own, named by what is in
it, so that an update that brings the same has nothing to do there.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from installers.making.locked import PYTHONS, MakingError

PACKAGES = Path("lib/python3/site-packages")
COMMANDS = {"wingbeat": "agent.__main__", "wingbeat-tray": "gui.__main__"}
LAUNCHER = """\
#!{folder}/bin/python3 -I
import sys
from {module} import main
sys.exit(main())
"""
_MODULES = ("QtCore", "QtDBus", "QtGui", "QtNetwork", "QtSvg", "QtWidgets")
_LIBRARIES = (
    *(f"libQt6{each[2:]}.so*" for each in _MODULES),
    *("libQt6XcbQpa.so*", "libQt6WaylandClient.so*", "libQt6WlShell*", "libQt6OpenGL.so*"),
    "libicu*",
)
_PLUGINS = {
    "platforms": ("libqxcb.so", "libqwayland*", "libqoffscreen.so", "libqminimal.so"),
    "platforminputcontexts": ("libcompose*", "libibus*"),
    "imageformats": ("libqsvg.so", "libqico.so", "libqjpeg.so", "libqgif.so"),
    **dict.fromkeys(("platformthemes", "iconengines", "xcbglintegrations"), ("*",)),
    **dict.fromkeys(("wayland-decoration-client", "wayland-shell-integration"), ("*",)),
    "wayland-graphics-integration-client": ("*",),
}
QT_KEPT: dict[str, tuple[str, ...]] = {
    "PySide6": ("__init__.py", "_*.py", "libpyside6.*", *(f"{each}.abi3.so" for each in _MODULES)),
    "PySide6/Qt/lib": _LIBRARIES,
    **{f"PySide6/Qt/plugins/{name}": kept for name, kept in _PLUGINS.items()},
    "PySide6/Qt/translations": ("qtbase_en*", "qtbase_pt*", "qt_en*", "qt_pt*"),
}
"""By folder, the names that are kept; what lies in no such folder goes."""


def make_libraries(wheels: list[Path], folder: Path) -> str:
    """Unpack the wheels into a folder that is not there yet, without what is not needed of them, and
    return a name for what is in it: the same for the same. Raises ``MakingError`` where two wheels
    bring different files of one name."""
    folder.mkdir(parents=True)
    for wheel in wheels:
        unpack(wheel, folder)
    trim(folder, QT_KEPT)
    told = hashlib.sha256()
    for file in _files(folder):
        told.update(str(file.relative_to(folder)).encode() + b"\0")
        told.update(hashlib.sha256(file.read_bytes()).digest())
    return told.hexdigest()[:12]


def make_tree(wheel: Path, folder: Path, installed: str, *libraries: str) -> None:
    """Make the environment of this wheel in a folder that is not there yet, for the place where it
    will be installed, with libraries that will lie in those other places, as far as there are any."""
    packages = folder / PACKAGES
    packages.mkdir(parents=True)
    unpack(wheel, packages)
    (packages / "libraries.pth").write_text("".join(f"{each}\n" for each in libraries))
    for python in PYTHONS:
        (folder / f"lib/python{python}").symlink_to("python3")
    (folder / "bin").mkdir()
    (folder / "bin/python3").symlink_to("/usr/bin/python3")
    (folder / "bin/python").symlink_to("python3")
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    for command, module in COMMANDS.items():
        (folder / "bin" / command).write_text(LAUNCHER.format(folder=installed, module=module))


def unpack(wheel: Path, folder: Path) -> None:
    """Unpack a wheel over what others have brought. Its own list of files is left out: several
    wheels share one folder of such facts, and what is trimmed stands there too."""
    with zipfile.ZipFile(wheel) as packed:
        for name in sorted(packed.namelist()):
            file, facts = folder / name, ".dist-info/" in name
            if name.endswith(("/", ".dist-info/RECORD")):
                continue
            data = packed.read(name)
            if file.exists() and not facts and file.read_bytes() != data:
                raise MakingError(f"{wheel.name} brings another {name} than the wheel before it")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


def trim(packages: Path, qt_kept: Mapping[str, tuple[str, ...]]) -> None:
    """Delete what nothing of Wingbeat uses: of Qt all but what is kept by folder, tests of others,
    stubs, empty folders."""
    for file in list(_files(packages)):
        where = file.relative_to(packages)
        kept = qt_kept.get(where.parent.as_posix(), ())
        qt = where.parts[0] == "PySide6" and not any(fnmatch(where.name, each) for each in kept)
        if qt or file.suffix == ".pyi":
            file.unlink()
    for top, _, _ in os.walk(packages, topdown=False):
        with suppress(OSError):  # some of it was kept
            Path(top).rmdir()


def settle(folder: Path, seconds: int) -> None:
    """Give everything below the folder this time, and modes that depend on nothing else: commands
    and scripts of packages may be run, all may be read."""
    for top, folders, files in os.walk(folder):
        Path(top).chmod(0o755)
        for name in files:
            file = Path(top, name)
            if not file.is_symlink():
                runs = file.parent.name in ("bin", "sbin", "DEBIAN")
                script = runs and file.read_bytes().startswith(b"#!")
                file.chmod(0o755 if script else 0o644)
        for name in (*files, *folders):
            os.utime(Path(top, name), (seconds, seconds), follow_symlinks=False)
    os.utime(folder, (seconds, seconds))


def _files(folder: Path) -> Iterator[Path]:
    return (each for each in sorted(folder.rglob("*")) if each.is_file())
