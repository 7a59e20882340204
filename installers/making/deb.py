"""The package for Debian 12 and 13 and Ubuntu 24.04.

Its files lie in `/opt/wingbeat/package`, and its script links them into `/opt/wingbeat/VERSION`, to
which `/opt/wingbeat/current` then points: so an update never takes files from under a running agent.
What is linked costs no room a second time.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

from agent import __version__
from agent.commands.completion import BASH, FISH, ZSH
from gui.__main__ import ICON_COLOUR
from installers.making.contents import bill_of_materials, licences
from installers.making.locked import ROOT, MakingError, wheels
from installers.making.manual import write_manual
from installers.making.tree import COMMANDS, PACKAGES, make_tree, settle

LINUX = ROOT / "installers/linux"
TOP = "opt/wingbeat"
PLACES = {
    "wingbeat.desktop": "usr/share/applications",
    "autostart/wingbeat.desktop": "etc/xdg/autostart",
    "wingbeat.xml": "usr/share/mime/packages",
    "wingbeat.metainfo.xml": "usr/share/metainfo",
}
"""Where what desktops read goes."""
COMPLETIONS = {
    "usr/share/bash-completion/completions/wingbeat": BASH,
    "usr/share/zsh/vendor-completions/_wingbeat": ZSH,
    "usr/share/fish/vendor_completions.d/wingbeat.fish": FISH,
}
ICONS = "usr/share/icons/hicolor/scalable"
DOCUMENTS = "usr/share/doc/wingbeat"
OWN_TEXT = "/usr/share/common-licenses/Apache-2.0"
SCRIPTS = ("postinst", "prerm", "postrm")


def make_deb(wheel: Path, folder: Path, work: Path, scratch: Path) -> Path:
    """Make the package of this wheel and what it needs into the folder, beside it the bill of
    what it brings along; files are made in the scratch folder, and wheels are kept in ``work``.
    Return its file. Raises
    ``MakingError``."""
    if not shutil.which("dpkg-deb"):
        raise MakingError("dpkg-deb is missing; the .deb is made on Debian or Ubuntu")
    root, seconds = scratch / "root", int(os.environ["SOURCE_DATE_EPOCH"])
    brought = wheels(work / "wheels")
    make_tree([*brought, wheel], root / TOP / "package", f"/{TOP}/{__version__}")
    _share(root, seconds)
    _control(root)
    settle(root, seconds)
    made = folder / f"wingbeat_{__version__}_amd64.deb"
    words = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(made)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MakingError(f"the .deb cannot be made: {done.stderr.strip()}")
    bill = bill_of_materials(root / TOP / "package" / PACKAGES, brought, seconds)
    _put(made.with_suffix(".cdx.json"), bill)
    return made


def _share(root: Path, seconds: int) -> None:
    """What lies outside of the program's own folder: entries, icons, pages, completions."""
    for name, place in PLACES.items():
        _put(root / place / Path(name).name, (LINUX / name).read_text("utf-8"))
    for name, text in COMPLETIONS.items():
        _put(root / name, text)
    wing = (ROOT / "gui/theme/icons/wing.svg").read_text("utf-8")
    filled = wing.replace('fill="none"', f'fill="{ICON_COLOUR}"')
    icon = filled.replace("currentColor", ICON_COLOUR)
    _put(root / ICONS / "apps/wingbeat.svg", icon)
    for kind in ("workflow", "invitation"):
        _put(root / ICONS / f"mimetypes/application-x-wingbeat-{kind}.svg", icon)
    write_manual(root / "usr/share/man/man1", seconds)
    brought = root / TOP / "package" / PACKAGES
    _put(root / DOCUMENTS / "copyright", licences(brought, f"/{TOP}/current/{PACKAGES}", OWN_TEXT))
    changes = gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0)
    (root / DOCUMENTS / "changelog.gz").write_bytes(changes)
    (root / "usr/bin").mkdir(parents=True)
    for command in COMMANDS:
        (root / "usr/bin" / command).symlink_to(f"/{TOP}/current/bin/{command}")


def _control(root: Path) -> None:
    files = [each for each in root.rglob("*") if each.is_file() and not each.is_symlink()]
    size_kib = sum(-(-each.stat().st_size // 1024) for each in files)
    told = (LINUX / "control").read_text("utf-8")
    told = told.replace("@VERSION@", __version__).replace("@SIZE@", str(size_kib))
    _put(root / "DEBIAN/control", told)
    kept = sorted(each.relative_to(root).as_posix() for each in (root / "etc").rglob("*.desktop"))
    _put(root / "DEBIAN/conffiles", "".join(f"/{each}\n" for each in kept))
    for name in SCRIPTS:
        script = (LINUX / name).read_text("utf-8").replace("@VERSION@", __version__)
        _put(root / "DEBIAN" / name, script)


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="\n")
