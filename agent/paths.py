"""Where a node keeps its files: data, configuration, log and cache, each where the system has it.

``WINGBEAT_HOME`` moves all four under one folder, so that several nodes can live on one machine
and a trial leaves nothing behind. The folders are their owner's alone from the moment they are
made: keys, tables and logs are nobody else's business.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import platformdirs

APPLICATION = "wingbeat"
VARIABLE = "WINGBEAT_HOME"
FOLDER_MODE = 0o700
SETTINGS_FILE = "settings.toml"
TASK_LOGS = "tasks"
"""The folder among the logs for what programs print."""


@dataclass(frozen=True, slots=True)
class Home:
    """The four folders of one node, and the settings file that a package may bring for all users of
    a machine."""

    data: Path
    config: Path
    log: Path
    cache: Path
    preset: Path | None = None

    @classmethod
    def at(cls, folder: Path) -> Home:
        """Return the home that has everything under one folder; nothing is made on the disk."""
        top = folder.absolute()
        return cls(top / "data", top / "config", top / "log", top / "cache")

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Home:
        """Return the home of the user who runs this, or, if ``WINGBEAT_HOME`` is set in the
        environment, the one under that folder; nothing is made on the disk."""
        moved = environment.get(VARIABLE, "").strip()
        if moved:
            return cls.at(Path(moved).expanduser())
        known = platformdirs.PlatformDirs(APPLICATION, appauthor=False)
        return cls(
            known.user_data_path,
            known.user_config_path,
            known.user_log_path,
            known.user_cache_path,
            known.site_config_path / SETTINGS_FILE,
        )

    @property
    def folders(self) -> tuple[Path, ...]:
        """All that a node keeps: data, settings, logs and cache."""
        return self.data, self.config, self.log, self.cache

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
    def scratch(self) -> Path:
        """Where programs work, a folder for each run."""
        return self.cache / "scratch"

    @property
    def settings_file(self) -> Path:
        """What a person sets."""
        return self.config / SETTINGS_FILE

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
