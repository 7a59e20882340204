"""`wingbeat-setup.exe` and `wingbeat-x64.msi`, of the same folder, by NSIS and by wixl.

What both enter into the registry is one table here, so that they cannot differ; what only one of them
can say is in `setup.nsi` and `setup.wxs`. The identifier by which each finds the other, and later ones
the earlier, never changes.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from agent import __version__
from installers.making.contents import digest_of
from installers.making.launchers import ICON, SOURCES, numbers
from installers.making.locked import MakingError

SETUP, MSI = "wingbeat-setup.exe", "wingbeat-x64.msi"
UNPACKED = {
    SETUP: ("7z", "p7zip-full", ("x", "-y", "{file}")),
    MSI: ("msiextract", "msitools", ("{file}",)),
}
"""By which tool the files in one are seen, and its package."""
UPGRADE_CODE = "{6B1A8F60-7E0C-4C5B-9C58-1B6A0C4B1E11}"
UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Wingbeat"
RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
CLASSES = "Software\\Classes\\"
OPEN = '"{folder}wingbeat-tray.exe" "%1"'
_TYPES = {
    "Wingbeat.Workflow": ("Wingbeat workflow", ".wingbeat"),
    "Wingbeat.Invitation": ("Wingbeat invitation", ".wingbeat-invitation"),
}
ENTRIES: tuple[tuple[str, str, str], ...] = tuple(
    (CLASSES + key, "", value)
    for kind, (told, suffix) in _TYPES.items()
    for key, value in (
        (suffix, kind),
        (kind, told),
        (kind + r"\DefaultIcon", "{folder}wingbeat-tray.exe,0"),
        (kind + r"\shell\open\command", OPEN),
    )
)
"""Key, name (empty: the key itself) and value, below HKEY_LOCAL_MACHINE. Windows looks at the last
suffix alone: `*.wingbeat.yaml` cannot be claimed without every `*.yaml`, so there we are only among
those that may open it (``OFFERED``)."""
OFFERED = tuple(
    (CLASSES + f".{each}\\OpenWithProgids", "Wingbeat.Workflow") for each in ("yaml", "yml")
)
OWN_KEYS = tuple(CLASSES + each for kind, (_, suffix) in _TYPES.items() for each in (suffix, kind))

PROPERTIES = ("INVITATIONFILE", "AUTOSTART", "FIREWALL", "HELP", "SERVICE", "PURGE", "REPLACED")
"""What may be said to the MSI, also to the part of it that runs as the system."""
CONDITIONS = {
    "AtLogin": 'AUTOSTART = "1" OR (NOT AUTOSTART AND NOT STARTEDBEFORE = "0")',
    "NotAtLogin": 'AUTOSTART = "0" OR (NOT AUTOSTART AND STARTEDBEFORE = "0")',
}
"""Which components of the MSI are installed only at times."""
_SYSTEM, _ROLLBACK, _NEVER_FAILS, _EMBEDDED, _INSTALLED = 0x400 | 0x800, 0x100, 0x40, 2, 18
_OF_FOLDER = '-B "[INSTALLDIR]administer.py"'
_LAY_DOWN = (
    'lay-down "--invitation=[INVITATIONFILE]" --help-others=[HELP] --firewall=[FIREWALL]'
    " --service=[SERVICE]"
)
_GONE = 'REMOVE = "ALL" AND NOT UPGRADINGPRODUCTCODE AND NOT REPLACED'
ACTIONS: tuple[tuple[str, int, str, str, str, int], ...] = (
    (
        *("StartBack", _EMBEDDED | _SYSTEM | _ROLLBACK | _NEVER_FAILS, "sessions"),
        *('start "[INSTALLDIR]"', "NOT REMOVE", 1501),
    ),
    ("LeaveAll", _EMBEDDED | _SYSTEM, "sessions", 'leave "[INSTALLDIR]"', _GONE, 1502),
    ("EndAll", _EMBEDDED | _SYSTEM, "sessions", 'end "[INSTALLDIR]"', f"NOT ({_GONE})", 1502),
    ("RemoveSetup", _EMBEDDED | _SYSTEM, "sessions", "unset", "NOT REMOVE", 1503),
    (
        *("TakeAway", _INSTALLED | _SYSTEM | _NEVER_FAILS, "python_exe"),
        *(f"{_OF_FOLDER} take-away --purge=[PURGE]", _GONE, 2500),
    ),
    (
        *("LayDown", _INSTALLED | _SYSTEM, "python_exe"),
        *(f"{_OF_FOLDER} {_LAY_DOWN}", "NOT REMOVE", 5010),
    ),
    (
        *("StartAll", _EMBEDDED | _SYSTEM | _NEVER_FAILS, "sessions"),
        *('start "[INSTALLDIR]"', "NOT REMOVE", 6500),
    ),
)
"""What the MSI does beside files and registry: name, kind, program, its words, when and where in the
sequence. An older version goes within the transaction (1510), after what runs was ended, so that it is
there again where the new one fails."""
ACTION_HEAD = (
    "Action\tType\tSource\tTarget\tExtendedType",
    "s72\ti2\tS72\tS255\tI4",
    "CustomAction\tAction",
)
UPGRADE_HEAD = (
    "UpgradeCode\tVersionMin\tVersionMax\tLanguage\tAttributes\tRemove\tActionProperty",
    "s38\tS20\tS20\tS255\ti4\tS255\ts72",
    "Upgrade\tUpgradeCode\tVersionMin\tVersionMax\tLanguage\tAttributes",
)
FOUND_AND_REMOVED = ("FindRelatedProducts", "RemoveExistingProducts")
UPGRADES = (
    ("", numbers(), 0x200, "OLDER"),  # this version too, made anew
    (numbers(), "", 0x2, "NEWER"),  # told of only
)
_SPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "wingbeat.windows")


def make_setup(folder: Path, made: Path, scratch: Path) -> None:
    """Make the setup program of the folder. Raises ``MakingError``."""
    entries = scratch / "entries.nsh"
    entries.write_text(_for_nsis(), "utf-8")
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    told = {
        "OUT": made,
        "FOLDER": folder,
        "ENTRIES": entries,
        "ICON": scratch / ICON,
        "VERSION": __version__,
        "NUMBERS": numbers(),
        "SIZE_KIB": size // 1024,
        "UNINSTALL": UNINSTALL,
        "RUN": RUN,
        "UPGRADE_CODE": UPGRADE_CODE,
    }
    words = [f"-D{name}={value}" for name, value in told.items()]
    _run(
        "makensis",
        "nsis",
        "-V2",
        "-WX",
        "-NOCD",
        *words,
        str(SOURCES / "setup.nsi"),
        folder=scratch,
    )


def make_msi(folder: Path, made: Path, scratch: Path) -> None:
    """Make the MSI of the folder. Raises ``MakingError``."""
    whole, files = scratch / "setup.wxs", scratch / "files.wxs"
    told = (SOURCES / "setup.wxs").read_text("utf-8")
    whole.write_text(told.replace("@ENTRIES@", _for_wix()), "utf-8")
    files.write_text(_files_for_wix(folder, scratch), "utf-8")
    parts = ("Entries", "AtLogin", "NotAtLogin", "Menu")
    values = {f"{each}Guid": _guid(each) for each in parts}
    values["ProductCode"] = _guid(digest_of(folder))
    values |= {
        "Version": __version__,
        "Numbers": numbers(),
        "UpgradeCode": UPGRADE_CODE,
        "Run": RUN,
    }
    values |= {"Folder": folder.relative_to(scratch).as_posix(), "Icon": ICON}
    words = [word for name, value in values.items() for word in ("-D", f"{name}={value}")]
    _run(
        "wixl", "wixl", "-a", "x64", "-o", str(made), *words, whole.name, files.name, folder=scratch
    )
    _complete(made, scratch)


def _complete(msi: Path, scratch: Path) -> None:
    """Add to the MSI what the wixl of Debian 12 cannot say, as tables and as changes of rows."""
    known = _run(
        "msiinfo", "msitools", "export", str(msi), "InstallExecuteSequence", folder=scratch
    )
    kept = [each for each in known.splitlines() if not each.startswith(FOUND_AND_REMOVED)]
    tables = {
        "CustomAction": [*ACTION_HEAD, *(_row(*each[:4], "") for each in ACTIONS)],
        "Upgrade": [
            *UPGRADE_HEAD,
            *(_row(UPGRADE_CODE, *span, "", kind, "", name) for *span, kind, name in UPGRADES),
        ],
        "InstallExecuteSequence": [
            *(each for each in kept if each),
            _row("FindRelatedProducts", "", 25),
            _row("RemoveExistingProducts", "", 1510),
            *(_row(name, when, place) for name, _, _, _, when, place in ACTIONS),
        ],
    }
    for name, lines in tables.items():
        file = scratch / f"{name}.idt"
        file.write_text("".join(f"{each}\r\n" for each in lines), "utf-8", newline="")
        _run("msibuild", "msitools", str(msi), "-i", str(file), folder=scratch)
    secure = ";".join((*PROPERTIES, *(name for *_, name in UPGRADES)))
    changes = [
        f"INSERT INTO `Property` (`Property`, `Value`) VALUES ('SecureCustomProperties', '{secure}')",
        *(
            f"UPDATE `Component` SET `Condition` = '{when}' WHERE `Component` = '{name}'"
            for name, when in CONDITIONS.items()
        ),
    ]
    for change in changes:
        _run("msibuild", "msitools", str(msi), "-q", change, folder=scratch)


def _row(*cells: object) -> str:
    return "\t".join(map(str, cells))


def _for_nsis() -> str:
    """Two macros: one writes the entries, one deletes them."""
    written = [
        f'WriteRegStr HKLM "{key}" "{name}" \'{value.format(folder="$INSTDIR" + chr(92))}\''
        for key, name, value in ENTRIES
    ]
    written += [f'WriteRegStr HKLM "{key}" "{name}" ""' for key, name in OFFERED]
    shown = {"DisplayName": "Wingbeat", "DisplayVersion": __version__, "Publisher": "Wingbeat"}
    shown["DisplayIcon"] = r"$INSTDIR\wingbeat-tray.exe"
    written += [f'WriteRegStr HKLM "{UNINSTALL}" "{name}" "{shown[name]}"' for name in shown]
    deleted = [f'DeleteRegKey HKLM "{key}"' for key in OWN_KEYS]
    for key, name in OFFERED:
        deleted += [f'DeleteRegValue HKLM "{key}" "{name}"', f'DeleteRegKey /ifempty HKLM "{key}"']
        deleted += [f'DeleteRegKey /ifempty HKLM "{key.rpartition(chr(92))[0]}"']
    return _macro("WriteEntries", written) + _macro("DeleteEntries", deleted)


def _macro(name: str, lines: list[str]) -> str:
    return "\n".join([f"!macro {name}", *lines, "!macroend", ""])


def _for_wix() -> str:
    values = [(key, name, each.format(folder="[INSTALLDIR]")) for key, name, each in ENTRIES]
    values += [(key, name, "") for key, name in OFFERED]
    lines = []
    for place, (key, name, value) in enumerate(values):
        named = f" Name={quoteattr(name)}" if name else ""
        held = ' KeyPath="yes"' if not place else ""
        lines.append(
            f'<RegistryValue Root="HKLM" Key={quoteattr(key)}{named} Type="string" '
            f"Value={quoteattr(value)}{held}/>"
        )
    return "\n".join(lines)


def _files_for_wix(folder: Path, scratch: Path) -> str:
    """A component for each file, with an identifier made from its name, the same in each build."""
    groups: list[str] = []

    def told(place: Path) -> list[str]:
        lines = []
        for each in sorted(place.iterdir()):
            name = each.relative_to(folder).as_posix()
            key = "python_exe" if name == "python.exe" else f"f{_guid(name).replace('-', '')[:24]}"
            if each.is_dir():
                shown = quoteattr(each.name)
                lines += [f'<Directory Id="d{key[1:]}" Name={shown}>', *told(each), "</Directory>"]
                continue
            groups.append(f'<ComponentRef Id="c{key}"/>')
            lines.append(
                f'<Component Id="c{key}" Guid="{_guid(name)}" Win64="yes"><File Id="{key}" '
                f'KeyPath="yes" Source={quoteattr(each.relative_to(scratch).as_posix())} Name={quoteattr(each.name)}/></Component>'
            )
        return lines

    inside = "\n".join(told(folder))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f"<Wix xmlns={quoteattr(escape('http://schemas.microsoft.com/wix/2006/wi'))}>\n"
        f'<Fragment><DirectoryRef Id="INSTALLDIR">\n{inside}\n</DirectoryRef></Fragment>\n'
        f'<Fragment><ComponentGroup Id="Files">\n{"".join(groups)}\n</ComponentGroup></Fragment>\n'
        "</Wix>\n"
    )


def inside(file: Path) -> str:
    """Return a hash of the files that a setup program or an MSI will install. Raises ``MakingError``."""
    with tempfile.TemporaryDirectory() as scratch:
        tool, package, words = UNPACKED[file.name]
        _run(tool, package, *(each.format(file=file) for each in words), folder=Path(scratch))
        whole = next(Path(scratch).rglob("start.py")).parent
        for each in whole.glob("$PLUGINSDIR"):
            shutil.rmtree(each)
        (whole / "uninstall.exe").unlink(missing_ok=True)  # made by the setup program itself
        return digest_of(whole)


def _guid(name: str) -> str:
    return str(uuid.uuid5(_SPACE, name)).upper()


def _run(tool: str, package: str, *words: str, folder: Path) -> str:
    if not shutil.which(tool):
        raise MakingError(f"{tool} is missing: sudo apt-get install {package}")
    done = subprocess.run([tool, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MakingError(f"{tool} fails: {(done.stdout + done.stderr).strip()}")
    return done.stdout
