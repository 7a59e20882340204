"""The libraries by which programs inspect real lines, a package for each Python of a system.

They are ten times what all else needs, and nearly all of it is compiled for one Python: so each system
has the package of its own, and no two of them can be there at once. Every version of Wingbeat looks into
their folder, behind its own libraries.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from agent import __version__
from installers.making.contents import bill_of_materials, licences
from installers.making.locked import extra, fetched
from installers.making.tree import trim, unpack

EXTRA = "inspection"
PYTHONS = {"3.11": "3.12", "3.12": "3.13", "3.13": "3.14"}
"""Those of Debian 12, Ubuntu 24.04 and Debian 13, and which comes next."""
FOLDER = "usr/lib/wingbeat/inspection"
UNUSED = ("tests", "include")
"""Folders of others that nobody needs who only runs programs."""
Pack = Callable[[Path, Path, Mapping[str, str], Path], Path]


def make_library_debs(
    folder: Path, work: Path, scratch: Path, scripts: Path, seconds: int, pack: Pack
) -> list[Path]:
    """Make the packages, and beside each the bill of what it brings, into the folder; files are made
    in the scratch folder, and wheels are kept in ``work``. Return the packages. Raises
    ``MakingError``."""
    made = []
    for python, following in PYTHONS.items():
        root = scratch / f"{EXTRA}-{python}"
        libraries = root / FOLDER
        libraries.mkdir(parents=True)
        brought = fetched(extra(EXTRA, python), python, work / "wheels" / EXTRA)
        for wheel in brought:
            unpack(wheel, libraries)
        _leave_out(libraries)
        trim(libraries, {})
        documents = root / f"usr/share/doc/wingbeat-{EXTRA}-python{python}"
        documents.mkdir(parents=True)
        terms = licences(libraries, f"/{FOLDER}", "/usr/share/common-licenses/Apache-2.0")
        (documents / "copyright").write_text(terms, "utf-8")
        told = {"@VERSION@": __version__, "@PYTHON@": python, "@NEXT@": following}
        deb = pack(root, scripts, told, folder)
        bill = bill_of_materials(libraries, brought, seconds)
        (folder / deb.name).with_suffix(".cdx.json").write_text(bill, "utf-8")
        made.append(deb)
        shutil.rmtree(root)
    return made


def _leave_out(libraries: Path) -> None:
    for each in sorted(libraries.rglob("*")):
        if each.is_dir() and each.name in UNUSED:
            shutil.rmtree(each)
