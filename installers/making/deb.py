"""The packages for Debian 12 and 13 and Ubuntu 24.04.

The files of Wingbeat lie in `/opt/wingbeat/package`, and its script links them into
`/opt/wingbeat/VERSION`, to which `/opt/wingbeat/current` then points, and the libraries of others into
`/opt/wingbeat/libraries`: so an update never takes files from under a running agent. What is linked
costs no room a second time. What only the inspection of
lines needs is a package of its own, whose programs lie where agents look for those of packages.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from agent import __version__
from agent.client import PACKAGED
from agent.commands.completion import BASH, FISH, ZSH
from agent.commands.demo.inspection import LIBRARY, PROGRAMS, TASKS, WORKFLOW, install_program
from gui.__main__ import ICON_COLOUR
from installers.making.contents import bill_of_materials, licences
from installers.making.inspection import FOLDER as INSPECTION
from installers.making.inspection import make_library_debs
from installers.making.locked import ROOT, MakingError, wheels
from installers.making.manual import write_manual
from installers.making.tree import COMMANDS, PACKAGES, make_libraries, make_tree, settle

LINUX = ROOT / "installers/linux"
LINE = "line"
"""The library of the programs that inspect real lines, and how the names of these begin."""
TOP = "opt/wingbeat"
PLACES = {
    "wingbeat.desktop": "usr/share/applications",
    "autostart/wingbeat.desktop": "etc/xdg/autostart",
    "wingbeat.xml": f"{TOP}/package",
    "apparmor/wingbeat": f"{TOP}/package/apparmor",
    "wingbeat.metainfo.xml": "usr/share/metainfo",
    "wingbeat-night.service": "usr/lib/systemd/system",
    "wingbeat-night": "usr/sbin",
    "sysusers/wingbeat.conf": "usr/lib/sysusers.d",
    "ufw/wingbeat": "etc/ufw/applications.d",
    "firewalld/wingbeat.xml": "usr/lib/firewalld/services",
}
"""Where what the system reads goes; file types by way of a script, as to read them anew takes the
system longer than all the rest of an update. The profile too, as not every system can read it. Nothing in
`/lib`: Ubuntu has dpkg put that folder elsewhere, where a purge leaves it."""
COMPLETIONS = {
    "usr/share/bash-completion/completions/wingbeat": BASH,
    "usr/share/zsh/vendor-completions/_wingbeat": ZSH,
    "usr/share/fish/vendor_completions.d/wingbeat.fish": FISH,
}
ICONS = "usr/share/icons/hicolor/scalable"
OWN_TEXT = "/usr/share/common-licenses/Apache-2.0"
LARGE_KIB = 300_000
"""What is larger is packed less tightly, in a minute and not in ten."""
SCRIPTS = ("config", "postinst", "prerm", "postrm")
"""Of a package, where it has them; they run as root when it comes and goes."""


def make_debs(
    wheel: Path, folder: Path, work: Path, scratch: Path, *, libraries: bool = False
) -> list[Path]:
    """Make the packages of this wheel and what it needs into the folder, with ``libraries`` those of
    the inspection too, beside them the bill of
    what is brought along; files are made in the scratch folder, and wheels are kept in ``work``.
    Return the packages. Raises ``MakingError``."""
    if not shutil.which("dpkg-deb"):
        raise MakingError("dpkg-deb is missing; packages for Debian are made on Debian or Ubuntu")
    root, beside = scratch / "wingbeat", scratch / "inspection"
    own, others = root / TOP / "package/own", root / TOP / "package/libraries"
    brought = wheels(work / "wheels")
    installed = f"/{TOP}/libraries/{make_libraries(brought, others)}"
    make_tree(wheel, own, f"/{TOP}/{__version__}", installed, f"/{INSPECTION}")
    _move_inspection(own / PACKAGES / TASKS, beside / PACKAGED.relative_to("/"))
    _share(root)
    _document(root, "wingbeat", licences(others, installed, OWN_TEXT))
    _document(beside, "wingbeat-inspection", licences(beside, "/", OWN_TEXT))
    told = {"@VERSION@": __version__, "@LIBRARIES@": installed}
    made = [_packed(root, LINUX, told, folder), _packed(beside, LINUX / "inspection", told, folder)]
    bill = bill_of_materials(others, brought, _seconds())
    _put(made[0].with_suffix(".cdx.json"), bill)
    if libraries:
        made += make_library_debs(folder, work, scratch, LINUX / "libraries", _seconds(), _packed)
    return made


def _seconds() -> int:
    return int(os.environ["SOURCE_DATE_EPOCH"])


def _move_inspection(tasks: Path, into: Path) -> None:
    """What the demo needs lies there as in a clone, and what agents run, a folder for each program."""
    (into / TASKS).mkdir(parents=True)
    shutil.copy(tasks / "__init__.py", into / TASKS)
    lines = [each.parent.name for each in sorted(tasks.glob(f"{LINE}_*/program.yaml"))]
    for name in (LIBRARY, WORKFLOW, LINE, *PROGRAMS, *lines):
        shutil.move(tasks / name, into / TASKS / name)
    for name in PROGRAMS:
        install_program(into / TASKS, name, into / "programs")
    for name in lines:
        install_program(into / TASKS, name, into / "programs", LIBRARY, LINE)


def _share(root: Path) -> None:
    """What lies outside of the program's own folder: entries, icons, pages, completions."""
    day = time.strftime("%Y-%m-%d", time.gmtime(_seconds()))
    told = {"@VERSION@": __version__, "@DATE@": day}
    for name, place in PLACES.items():
        _put(root / place / Path(name).name, _filled(LINUX / name, told))
    for name, text in COMPLETIONS.items():
        _put(root / name, text)
    wing = (ROOT / "gui/theme/icons/wing.svg").read_text("utf-8")
    filled = wing.replace('fill="none"', f'fill="{ICON_COLOUR}"')
    icon = filled.replace("currentColor", ICON_COLOUR)
    _put(root / ICONS / "apps/wingbeat.svg", icon)
    for kind in ("workflow", "invitation"):
        _put(root / ICONS / f"mimetypes/application-x-wingbeat-{kind}.svg", icon)
    write_manual(root / "usr/share/man", _seconds())
    (root / "usr/bin").mkdir(parents=True)
    for command in COMMANDS:
        (root / "usr/bin" / command).symlink_to(f"/{TOP}/current/bin/{command}")


def _document(root: Path, package: str, terms: str) -> None:
    documents = root / "usr/share/doc" / package
    _put(documents / "copyright", terms)
    changes = gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0)
    (documents / "changelog.gz").write_bytes(changes)


def _packed(root: Path, scripts: Path, told: Mapping[str, str], folder: Path) -> Path:
    """The package of these files, with the control file and the scripts from another folder, which
    are told these words."""
    control = _filled(scripts / "control", told)
    files = [each for each in root.rglob("*") if each.is_file() and not each.is_symlink()]
    size_kib = sum(-(-each.stat().st_size // 1024) for each in files)
    _put(root / "DEBIAN/control", control.replace("@SIZE@", str(size_kib)))
    kept = [each.relative_to(root) for each in sorted(files) if each.is_relative_to(root / "etc")]
    if kept:
        _put(root / "DEBIAN/conffiles", "".join(f"/{each.as_posix()}\n" for each in kept))
    for name in (*SCRIPTS, "templates"):
        if (scripts / name).exists():
            _put(root / "DEBIAN" / name, _filled(scripts / name, told))
    settle(root, _seconds())
    fields = dict(line.split(": ", 1) for line in control.splitlines() if line[0] != " ")
    made = folder / f"{fields['Package']}_{__version__}_{fields['Architecture']}.deb"
    level = "-z19" if size_kib < LARGE_KIB else "-z9"
    words = ["dpkg-deb", "--root-owner-group", "-Zzstd", level, "--build", str(root), str(made)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MakingError(f"{made.name} cannot be made: {done.stderr.strip()}")
    return made


def _filled(file: Path, told: Mapping[str, str]) -> str:
    text = file.read_text("utf-8")
    for word, value in told.items():
        text = text.replace(word, value)
    return text


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="\n")
