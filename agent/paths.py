"""Where a node keeps its files: data, configuration, log and cache, each where the system has it.

``WINGBEAT_HOME`` moves all four under one folder, so that several nodes can live on one machine
and a trial leaves nothing behind. The folders are their owner's alone from the moment they are
made: keys, tables and logs are nobody else's business.

What an administrator lays down for everybody on a machine lies in one folder (``MachineFiles``),
whether a package, an installer or a person puts it there. A node that was moved has none: a trial
obeys nobody's policy and uses up nobody's invitation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import platformdirs

APPLICATION = "wingbeat"
VARIABLE = "WINGBEAT_HOME"
FOLDER_MODE = 0o700
SETTINGS_FILE = "settings.toml"
POLICY_FILE = "policy.toml"
INVITATION_FILE = "invitation"
LAUNCHERS = {"agent": "wingbeat.exe", "gui": "wingbeat-tray.exe"}
"""By module, the program that a package for Windows has for it."""
START = "start.py"
"""Beside them only there; pip's programs of the same names start a Python of their own, whose process
would be another one."""
SERVICE = "WINGBEAT_SERVICE"
SERVICE_SOCKET = Path("/run/wingbeat/control.socket")
SERVICE_PIPE = r"\\.\pipe\wingbeat-service"
"""Where an agent that runs as a service listens for everybody on this machine, on Linux and on Windows;
the variable names another place, and that of a home that was moved."""
SERVICE_PLACES = {"linux": SERVICE_SOCKET, "win32": Path(SERVICE_PIPE)}
TASK_LOGS = "tasks"
"""The folder among the logs for what programs print."""
PACKAGED = (
    platformdirs.site_data_path(APPLICATION, appauthor=False)
    if sys.platform == "win32"
    else Path("/usr/share", APPLICATION)
)
"""Where packages put what is for all agents of a machine."""
SERVICE_FOLDERS = ("STATE_DIRECTORY", "LOGS_DIRECTORY", "CACHE_DIRECTORY")
"""Variables by which systemd, or our launcher for the service of Windows, tells where it may write."""


@dataclass(frozen=True, slots=True)
class MachineFiles:
    """What is laid down for all users of a machine: written by administrators, read by everybody.

    ``settings.toml`` has the format of each owner's own and says what that does not say;
    ``policy.toml``, likewise, what no owner may change. ``invitation`` is a text with an invitation
    in it, as ``wingbeat flock invite`` writes it: every agent here that belongs to no flock joins by
    it. Where only a service is to join, others need not be able to read it.
    """

    folder: Path

    @classmethod
    def native(cls) -> MachineFiles:
        """Return those of this machine, ``/etc/wingbeat`` or ``%ProgramData%\\Wingbeat``; nothing is
        made on the disk."""
        if sys.platform == "win32":
            return cls(platformdirs.site_config_path("Wingbeat", appauthor=False))
        return cls(Path("/etc") / APPLICATION)

    @property
    def defaults(self) -> Path:
        """What holds where an owner has set nothing."""
        return self.folder / SETTINGS_FILE

    @property
    def policy(self) -> Path:
        """What holds whatever an owner has set."""
        return self.folder / POLICY_FILE

    @property
    def secrets(self) -> Path:
        """Where each file is a value that programs may be given, under its name."""
        return self.folder / "secrets"

    @property
    def invitation(self) -> Path:
        """By which agents of this machine join a flock by themselves."""
        return self.folder / INVITATION_FILE


@dataclass(frozen=True, slots=True)
class Home:
    """The four folders of one node, and what the machine's administrator has laid down for it; None
    where that does not count. ``service`` is where the machine's own agent would listen, if this
    home heeds it."""

    data: Path
    config: Path
    log: Path
    cache: Path
    machine: MachineFiles | None = None
    service: Path | None = None

    @classmethod
    def at(cls, folder: Path) -> Home:
        """Return the home that has everything under one folder; nothing is made on the disk."""
        top = folder.absolute()
        return cls(top / "data", top / "config", top / "log", top / "cache")

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Home:
        """Return the home of the user who runs this, that of the service if this is one, or, if
        ``WINGBEAT_HOME`` is set in the environment, the one under that folder; nothing is made on
        the disk."""
        moved, told = environment.get(VARIABLE, "").strip(), environment.get(SERVICE, "")
        if moved:
            return replace(cls.at(Path(moved).expanduser()), service=Path(told) if told else None)
        service = Path(told) if told else SERVICE_PLACES.get(sys.platform)
        known = platformdirs.PlatformDirs(APPLICATION, appauthor=False)
        machine = MachineFiles.native()
        if all(environment.get(each) for each in SERVICE_FOLDERS):
            state, logs, cache = (Path(environment[each]) for each in SERVICE_FOLDERS)
            return cls(state / "data", state / "config", logs, cache, machine, service)
        return cls(
            known.user_data_path,
            known.user_config_path,
            known.user_log_path,
            known.user_cache_path,
            machine,
            service,
        )

    @property
    def folders(self) -> tuple[Path, ...]:
        """All that a node keeps: data, settings, logs and cache."""
        return self.data, self.config, self.log, self.cache

    def own_folder(self, path: Path, *, holding: bool = True) -> Path | None:
        """Return the folder of this home that a path is, is in, or with ``holding`` holds, links
        followed; None where it has nothing to do with any of them, or is of the example, which is
        there to be submitted."""
        where = resolved(path)
        if where.is_relative_to(resolved(self.example)):
            return None
        for own in map(resolved, self.folders):
            if where.is_relative_to(own) or (
                holding and own.is_relative_to(where) and own.exists()
            ):
                return own
        return None

    def is_program(self, path: Path) -> bool:
        """Tell whether a path is an installed program, or in one."""
        return resolved(self.programs) in resolved(path).parents

    @property
    def window_lock(self) -> Path:
        """Held by the one window of this home."""
        return self.data / "window.lock"

    @property
    def journal(self) -> Path:
        """The table on disk."""
        return self.data / "journal"

    @property
    def identity(self) -> Path:
        """Key, certificate and roster."""
        return self.data / "identity"

    @property
    def programs(self) -> Path:
        """What this node can run, a folder each."""
        return self.data / "programs"

    @property
    def programs_beside(self) -> tuple[Path, ...]:
        """What packages bring for this node to run, a folder each; a node that was moved has none."""
        return (PACKAGED / "programs",) if self.machine else ()

    @property
    def example(self) -> Path:
        """The workflow that the window offers to try, with its scripts."""
        return self.cache / "example"

    @property
    def scratch(self) -> Path:
        """Where programs work, a folder for each run."""
        return self.cache / "scratch"

    @property
    def settings_file(self) -> Path:
        """What a person sets."""
        return self.config / SETTINGS_FILE

    @property
    def invitation(self) -> Path:
        """By which this node joins a flock by itself, handed over to its account; deleted when it
        was used."""
        return self.config / INVITATION_FILE

    def prepare(self) -> None:
        """Make the folders that are missing, and their parents, for their owner alone; those that
        exist keep their access. Raises ``OSError``."""
        for folder in (*self.folders, self.programs, self.scratch):
            missing = [each for each in (folder, *folder.parents) if not each.exists()]
            for each in reversed(missing):
                each.mkdir(mode=FOLDER_MODE, exist_ok=True)


def task_folder(folder: Path, task: str) -> Path:
    """Return where the logs of all runs of a task lie, in the folder of such logs."""
    return folder / f"task-{quote(task, safe='')}"


def task_log(folder: Path, task: str, generation: int, attempt: int) -> Path:
    """Return the file for what the program of one run prints, in the folder of such logs."""
    return task_folder(folder, task) / f"{generation}.{attempt}.log"


def own_command(module: str, *options: str, python: str = "") -> tuple[str, ...]:
    """Return the first words of a command that runs ``agent`` or ``gui``: the package's own program,
    by whose name lists of processes and firewalls know it, where this Python (``python``, or the
    one that runs) is a package's; else this Python with these options and the module."""
    own = Path(python or sys.executable)
    launcher = own.with_name(LAUNCHERS[module])
    if launcher.is_file() and own.with_name(START).is_file():
        return (str(launcher),)
    return (str(own), *options, "-m", module)


def resolved(path: Path) -> Path:
    """Return where a path is in truth; the path as it is where that cannot be told, as of a link that
    goes round in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
