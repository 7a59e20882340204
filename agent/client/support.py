"""What somebody who helps from afar wants to know of a machine, put into one file for them.

It is plain JSON and text, so that its sender can read all of it first; nothing is sent. Whether an agent
runs, hangs or does not start, what can be known is in it, and what cannot says why. Invitations,
tokens, keys and passwords never are: files with keys are not read, settings are taken by their names,
and from all texts goes whatever looks like one. Of work there is only what the log says of it.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import time
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import psutil

from agent import __version__
from agent.api.flock import DOCTOR, MEMBERS, PEERS, Doctor, Members, Peers
from agent.api.settings import SETTINGS, Settings, SettingsView
from agent.api.values import CLIENT_PROTOCOL
from agent.api.volunteering import VOLUNTEERING, Volunteering
from agent.api.work import STATUS, Status
from agent.client.connected import Client
from agent.client.errors import ClientError
from agent.client.link import read_control_file
from agent.host.own_program import installed_version
from agent.paths import Home, MachineFiles

ANSWER_S_MAX = 20.0
LOG_BYTES_MAX = 512 * 1024
FILES_MAX = 2_000
GONE = "(left out)"
_WHOLE = frozenset({*SettingsView.__struct_fields__, "volunteer", "presence", "listen"})
"""Settings that are told as they are; what else a file says may be a secret."""
_QUESTIONS = {
    "doctor": (DOCTOR, Doctor()),
    "peers": (PEERS, Peers()),
    "members": (MEMBERS, Members()),
    "presence": (VOLUNTEERING, Volunteering()),
    "settings that hold": (SETTINGS, Settings()),
    "work": (STATUS, Status(limit=1)),
}
_SECRETS = (
    (re.compile(r"wingbeat-[a-z2-7\s]{20,}", re.IGNORECASE), f"wingbeat-{GONE} "),
    (re.compile(r"-----BEGIN [^-]+-----.*?(-----END [^-]+-----|\Z)", re.DOTALL), GONE),
    (re.compile(r"(\w+://)[^/@\s]+@"), rf"\1{GONE}@"),
    (
        re.compile(r"(?i)\b(password|passwd|token|secret|invitation)(\"?\s*[=:]\s*)\S+"),
        rf"\1\2{GONE}",
    ),
)
_TOLD = """\
What `wingbeat doctor --bundle` has put together on {name} for whoever helps with it. Nothing was sent.
Names of machines, accounts and files of Wingbeat and addresses of the network are in it; agent.log may
name workflows and tasks. Invitations, tokens, keys and passwords are left out, and nothing is in it that
programs have read, printed or made.
"""


def support_files(home: Home) -> dict[str, str]:
    """Return by name the texts of a bundle, the first of them for people, without secrets. Blocks
    for up to ``ANSWER_S_MAX`` where an agent hangs; not to be called while a loop runs in this
    thread."""
    told: dict[str, Any] = {
        "platform.json": _platform(home),
        "settings.json": _settings(home.settings_file),
        "laid down.json": _laid_down(home.machine),
        "files.json": _files(home),
        "agent.json": asyncio.run(_asked(home)),
    }
    texts = {name: _pretty(each) for name, each in told.items()}
    texts["agent.log"] = _log(home.log)
    known = _known_secrets(home)
    first = {"READ ME FIRST.txt": _TOLD.format(name=platform.node())}
    return first | {name: without_secrets(text, known) for name, text in texts.items()}


def write_bundle(path: Path, files: Mapping[str, str]) -> None:
    """Write these texts, by their names, into a new zip archive that only this account may read.
    Raises ``OSError``, also where there is a file of that name, which stays as it is; where the
    disk refuses later, a part of the archive is left."""
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
    )
    with (
        os.fdopen(descriptor, "wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name, text in files.items():
            packed.writestr(name, text)


def without_secrets(text: str, known: tuple[str, ...] = ()) -> str:
    """Return a text with "(left out)" in the place of what is ``known`` to be secret, or looks like
    an invitation, a key or a password."""
    for secret in known:
        text = text.replace(secret, GONE)
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def _known_secrets(home: Home) -> tuple[str, ...]:
    try:
        return (read_control_file(home).token,)
    except ClientError:
        return ()


def _platform(home: Home) -> dict[str, Any]:
    names = ("XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "LANG", "WINGBEAT_HOME")
    return {
        "made": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "wingbeat": __version__,
        "installed": installed_version(),
        "client protocol": CLIENT_PROTOCOL,
        "python": sys.version,
        "program": sys.executable,
        "system": platform.platform(),
        "distribution": _distribution(),
        "packages": _packages(),
        "cores": os.cpu_count(),
        "memory_mb": psutil.virtual_memory().total // 2**20,
        "memory_free_mb": psutil.virtual_memory().available // 2**20,
        "disk_free_mb": _free_mb(home.data),
        "up_s": round(time.time() - psutil.boot_time()),
        "environment": {name: os.environ[name] for name in names if name in os.environ},
    }


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _packages() -> dict[str, str]:
    needed = importlib.metadata.requires("wingbeat") if _is_installed("wingbeat") else []
    names = (re.split(r"[^\w.-]", each)[0] for each in needed or [] if "extra ==" not in each)
    return {name: importlib.metadata.version(name) for name in names if _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _free_mb(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free // 2**20
    except OSError:
        return None


def _settings(file: Path) -> dict[str, Any]:
    """As the file has them: a setting of another name may be anything."""
    try:
        given = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        return {"error": str(error)}
    return {name: each if name in _WHOLE else GONE for name, each in given.items()}


def _laid_down(machine: MachineFiles | None) -> dict[str, Any]:
    """By an administrator, for all users of this machine: by file what it says; nothing where there is none."""
    files = () if machine is None else (machine.defaults, machine.policy)
    return {str(each): _settings(each) for each in files}


def _files(home: Home) -> dict[str, Any]:
    """Sizes, by folder and beginning of the name; what is in scratch folders is others' business."""
    found: dict[str, Any] = {}
    for folder in home.folders:
        for place in (folder, *(each for each in _listed(folder) if each.is_dir())):
            for each in _listed(place):
                if each.is_file() and len(found) < FILES_MAX:
                    found[str(each)] = each.stat().st_size
            found.setdefault(str(place), f"{len(_listed(place))} entries")
    return found


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


async def _asked(home: Home) -> dict[str, Any]:
    """What an agent tells of itself, or why it does not."""
    told: dict[str, Any] = {}
    try:
        async with asyncio.timeout(ANSWER_S_MAX):
            async with await Client.connect(home, "support bundle") as client:
                told["welcome"] = client.welcome
                for name, (method, params) in _QUESTIONS.items():
                    told[name] = await _answer(client, method, params)
    except ClientError as error:
        told["error"] = str(error)
    except TimeoutError:
        told["error"] = f"the agent did not answer within {ANSWER_S_MAX:g} s"
    return told


async def _answer(client: Client, method: Any, params: Any) -> Any:
    try:
        answer = msgspec.json.decode(msgspec.json.encode(await client.call(method, params)))
    except ClientError as error:
        return {"error": str(error)}
    return _without_work(answer)


def _without_work(answer: Any) -> Any:
    """Workflows and tasks have names that say what people work on."""
    if isinstance(answer, dict):
        kept = (each for each in answer.items() if each[0] not in ("workflows", "tasks"))
        return {name: _without_work(each) for name, each in kept}
    return [_without_work(each) for each in answer] if isinstance(answer, list) else answer


def _log(folder: Path) -> str:
    """The end of it, over the files that it is in."""
    text = ""
    for file in sorted(_listed(folder), key=lambda each: -_time_of(each)):
        if file.name.startswith("agent.log") and len(text) < LOG_BYTES_MAX:
            text = file.read_text("utf-8", "replace") + text
    return text[-LOG_BYTES_MAX:]


def _time_of(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _pretty(told: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(told), indent=1).decode()
