"""Versions of this program side by side, and a link to the one that counts, as a package lays them.

Each has an environment and the sources in a folder of its own; what it needs of others is that of the
environment in which the tests run. Only the number of the version differs, so what Python has compiled
of these sources comes along: compiling it for each version takes longer than a test.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from agent import __version__
from tests.style.source import REPOSITORY

COMMANDS = {"wingbeat": "agent.__main__", "wingbeat-tray": "gui.__main__"}
LAUNCHER = "#!{folder}/bin/python3 -I\nimport sys\nfrom {module} import main\nsys.exit(main())\n"


class Versions:
    """In one folder; ``bin`` is where people find the commands of the one that counts."""

    def __init__(self, top: Path) -> None:
        self.top, self.bin = top, top / "bin"
        self.bin.mkdir(parents=True)
        for command in COMMANDS:
            (self.bin / command).symlink_to(top / "current/bin" / command)

    def lay(self, version: str, sources: Path = REPOSITORY) -> None:
        """Put a version beside the others; nothing of it counts yet."""
        folder = self.top / version
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        for name in ("agent", "gui", "tasks"):
            ignored = shutil.ignore_patterns("*.pyc.*")  # which is just being written by another
            shutil.copytree(sources / name, packages / name, ignore=ignored)
        first = packages / "agent/__init__.py"
        text = first.read_text("utf-8")
        assert f'"{__version__}"' in text
        first.write_text(text.replace(f'"{__version__}"', f'"{version}"'), "utf-8")
        (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        for command, module in COMMANDS.items():
            file = folder / "bin" / command
            file.write_text(LAUNCHER.format(folder=folder, module=module))
            file.chmod(0o755)

    def choose(self, version: str) -> None:
        """Have this one count, in one step, as a package does."""
        link = self.top / ".link"
        link.symlink_to(version)
        link.replace(self.top / "current")
