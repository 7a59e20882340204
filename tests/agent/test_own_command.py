"""By what this program starts itself: a Python with a module, or a program of a package for Windows."""

from __future__ import annotations

import sys
from pathlib import Path

from agent.paths import LAUNCHERS, START, own_command


def test_a_python_runs_the_module_unless_a_package_has_programs_beside_it(tmp_path: Path) -> None:
    python = tmp_path / "python.exe"
    assert own_command("agent", "-P") == (sys.executable, "-P", "-m", "agent")
    for name in LAUNCHERS.values():
        (tmp_path / name).touch()
    alone = own_command("gui", python=str(python))
    assert alone == (str(python), "-m", "gui"), "pip's programs of that name start another process"
    (tmp_path / START).touch()
    for module, name in LAUNCHERS.items():
        assert own_command(module, "-P", python=str(python)) == (str(tmp_path / name),)
