"""The folder that Windows packages bring: python.org's embeddable Python, our wheels, our launchers.

Made on Linux from files alone, nothing of it is run: so it is the same bytes wherever it is made. The
Python is named in a file with its hash (`installers/windows/python.toml`; a release names another one),
the wheels in the lock. `python3xx._pth` makes that Python look nowhere else than in its own folder.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from agent.paths import START
from installers.making.contents import bill_of_materials, component, digest_of, licences
from installers.making.launchers import SOURCES, make_programs
from installers.making.locked import ROOT, MakingError, windows_wheels
from installers.making.tree import settle, trim, unpack

PYTHON = SOURCES / "python.toml"
ADMINISTER = ("administer.py",)
PACKAGES = Path("Lib/site-packages")
LEFT_OUT = {"pythonw.exe", "python.cat", "winsound.pyd"}
"""Of the embeddable Python; of its programs only the one that tasks are run with stays."""
START_TEXT = """\
# What wingbeat.exe and wingbeat-tray.exe run, each by its own name. Whatever starts a Python by
# sys.executable gets the one of the package. The folder is nobody's to write to, so what Python
# compiles is kept with what the person's own agent keeps, apart for each build: times of files do not
# tell builds apart. A program without a console has no place to print to.
import os
import shutil
import sys
from importlib import import_module
from pathlib import Path

own = Path(sys.executable)
sys.executable = str(own.with_name("python.exe"))
sys.argv[0] = own.stem
if kept := os.environ.get("LOCALAPPDATA"):
    compiled = Path(kept, "wingbeat", "Cache", "bytecode", "@BUILD@")
    if not compiled.exists():
        shutil.rmtree(compiled.parent, ignore_errors=True)
    sys.pycache_prefix = str(compiled)
if sys.stderr is None:
    sys.stdout = sys.stderr = Path(os.devnull).open("w")
own_module = "gui" if own.stem.lower() == "wingbeat-tray" else "agent"
sys.exit(import_module(f"{own_module}.__main__").main())
"""
DOWNLOAD_BYTES_MAX, DOWNLOAD_S = 64_000_000, 60
_MODULES = ("QtCore", "QtDBus", "QtGui", "QtNetwork", "QtSvg", "QtWidgets")
_NAMES = (*(f"Qt6{each[2:]}.dll" for each in _MODULES), *(f"{each}.pyd" for each in _MODULES))
_RUNTIME = ("pyside6.abi3.dll", "msvcp140*.dll", "vcruntime140*.dll", "concrt140.dll")
QT_KEPT: dict[str, tuple[str, ...]] = {
    "PySide6": ("__init__.py", "_*.py", *_NAMES, *_RUNTIME),
    "PySide6/plugins/platforms": ("qwindows.dll", "qoffscreen.dll", "qminimal.dll"),
    "PySide6/plugins/imageformats": ("qsvg.dll", "qico.dll", "qjpeg.dll", "qgif.dll"),
    **dict.fromkeys(("PySide6/plugins/styles", "PySide6/plugins/iconengines"), ("*",)),
    "PySide6/translations": ("qtbase_en*", "qtbase_pt*", "qt_en*", "qt_pt*"),
}
"""By folder, the names that are kept; what lies in no such folder goes."""


class Python(NamedTuple):
    """Where an embeddable Python comes from, and what is in it."""

    url: str
    sha256: str
    version: str
    inside: list[list[str]]

    @property
    def tag(self) -> str:
        """``python313`` for 3.13.2: what its library, its path file and its archive are called."""
        return "python" + "".join(self.version.split(".")[:2])


def make_windows(wheel: Path, scratch: Path, work: Path, python_file: Path, seconds: int) -> Path:
    """Make the folder, in the scratch folder, of this wheel, what it needs and the Python that the file
    names, and return it; keep what was fetched in ``work``. Raises ``MakingError``."""
    python, folder = described(python_file), scratch / "windows"
    packages = folder / PACKAGES
    packages.mkdir(parents=True)
    for name, data in _members(python, work):
        if name not in LEFT_OUT:
            (folder / name).write_bytes(data)
    if not (folder / f"{python.tag}.dll").is_file():
        raise MakingError(f"what {python_file} names holds no {python.tag}.dll")
    brought = windows_wheels(work / "wheels", ".".join(python.version.split(".")[:2]))
    for each in (*brought, wheel):
        unpack(each, packages)
    trim(packages, QT_KEPT)
    search = (f"{python.tag}.zip", ".", str(PACKAGES).replace("/", "\\"))
    (folder / f"{python.tag}._pth").write_text("".join(f"{each}\r\n" for each in search))
    told = START_TEXT.replace("@BUILD@", digest_of(packages)[:16])
    (folder / START).write_text(told, "utf-8", newline="\r\n")
    for name in ADMINISTER:
        (folder / name).write_bytes((SOURCES / name).read_bytes())
    make_programs(folder, f"{python.tag}.dll", scratch)
    _tell_contents(folder, python, brought, seconds)
    settle(folder, seconds)
    return folder


def described(file: Path) -> Python:
    """Return the Python that a file like `python.toml` names. Raises ``MakingError``."""
    try:
        told = tomllib.loads(file.read_text("utf-8"))
        return Python(told["url"], told["sha256"], told["version"], told.get("inside", []))
    except (OSError, ValueError, KeyError) as error:
        raise MakingError(f"{file} names no Python with url, sha256 and version: {error}") from None


def pack(folder: Path, file: Path, seconds: int) -> None:
    """Pack the folder into a zip file, with this time and in the order of the names."""
    stamp = time.gmtime(max(seconds, 315532800))[:6]  # a zip knows no time before 1980
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for each in sorted(one for one in folder.rglob("*") if one.is_file()):
            name = f"{file.stem}/{each.relative_to(folder).as_posix()}"
            told = zipfile.ZipInfo(name, stamp)
            told.compress_type, told.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(told, each.read_bytes(), compresslevel=9)


def _tell_contents(folder: Path, python: Python, brought: list[Path], seconds: int) -> None:
    """Licences for people and the bill of materials for programs."""
    (folder / "LICENSE.txt").rename(folder / "PYTHON-LICENSE.txt")
    (folder / "LICENSE.txt").write_bytes((ROOT / "LICENSE").read_bytes())
    told = f"Python {python.version}: PSF-2.0, in PYTHON-LICENSE.txt"
    text = licences(folder / PACKAGES, str(PACKAGES), "LICENSE.txt", told)
    (folder / "LICENSES.txt").write_text(text, "utf-8", newline="\r\n")
    own = component("framework", "python", python.version, "PSF-2.0")
    own |= {"bom-ref": f"pkg:generic/python@{python.version}"}
    own |= {"hashes": [{"alg": "SHA-256", "content": python.sha256}]}
    own |= {"externalReferences": [{"type": "distribution", "url": python.url}]}
    bill = bill_of_materials(folder / PACKAGES, brought, seconds, own)
    (folder / "wingbeat.cdx.json").write_text(bill, "utf-8", newline="\n")


def _members(python: Python, work: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the embeddable Python: names and bytes, from whatever they are packed in."""
    data, prefix = _fetched(python, work), ""
    for inner, beginning in python.inside:
        data, prefix = _archive(data)[inner], beginning
    for name, content in sorted(_archive(data).items()):
        if name.startswith(prefix) and "/" not in (own := name.removeprefix(prefix)) and own:
            yield own, content


def _archive(data: bytes) -> Mapping[str, bytes]:
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return {each: packed.read(each) for each in packed.namelist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as tarred:
        files = [each for each in tarred.getmembers() if each.isfile()]
        return {each.name: tarred.extractfile(each).read() for each in files}  # type: ignore[union-attr]


def _fetched(python: Python, work: Path) -> bytes:
    """The archive, from ``work`` if it was fetched before; it is kept only with the right hash."""
    kept = work / f"python-{python.sha256[:16]}"
    if kept.is_file() and hashlib.sha256(data := kept.read_bytes()).hexdigest() == python.sha256:
        return data
    try:
        with urllib.request.urlopen(python.url, timeout=DOWNLOAD_S) as answer:
            data = bytes(answer.read(DOWNLOAD_BYTES_MAX))
    except (OSError, ValueError) as error:
        raise MakingError(f"{python.url} cannot be had: {error}") from None
    if (found := hashlib.sha256(data).hexdigest()) != python.sha256:
        raise MakingError(f"{python.url} has the hash {found}, not {python.sha256}")
    kept.write_bytes(data)
    return data
