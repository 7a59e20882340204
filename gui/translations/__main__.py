"""`python -m gui.translations`: bring all languages up to date with the sources, and compile them.

With Qt's own tools. Sentences that are new stand in the ``.ts`` files as unfinished until somebody
translates them (Qt Linguist opens such a file); a test fails while any is.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from gui.wording import templates

FOLDER = Path(__file__).parent
SOURCES = FOLDER.parent
AGENT = SOURCES.parent / "agent"
TASKS = SOURCES.parent / "tasks" / "line"
"""Templates of what the agent, and the plan of an inspection, say are written there, and are the keys of
their translations."""
ALIASES = "tr+=tr_n,tr+=said"


def main() -> int:
    """Bring every catalogue up to date with the sources and compile it, by Qt's tools. Return the
    code of the first command that fails, after which nothing more is done, else 0. Raises
    ``OSError`` where the tools are missing."""
    with tempfile.TemporaryDirectory() as folder:
        reasons = Path(folder) / "reasons.py"
        reasons.write_text("".join(map(_marked, dict.fromkeys(templates()))))
        return _brought_up_to_date(reasons)


def _marked(template: str) -> str:
    """A line that the tool for translators knows; of how many is told by a third argument."""
    return f'tr({template!r}, "", 1)\n' if "%n" in template else f"tr({template!r})\n"


def _brought_up_to_date(reasons: Path) -> int:
    """Extract and compile; sentences of reasons stand in no source of the window but in this file."""
    tools = Path(sys.executable).parent
    found = [path for folder in (SOURCES, AGENT, TASKS) for path in folder.rglob("*.py")]
    files = sorted(str(path.relative_to(SOURCES.parent)) for path in found)
    files.append(str(reasons))
    for catalogue in sorted(FOLDER.glob("wingbeat_*.ts")):
        code = catalogue.stem.partition("_")[2]
        plurals = ["-pluralonly"] if code == "en" else []
        update = [
            *(str(tools / "pyside6-lupdate"), *files, *plurals, "-no-obsolete"),
            *("-locations", "none", "-source-language", "en", "-target-language", code),
            *("-tr-function-alias", ALIASES, "-ts", str(catalogue)),
        ]
        release = [str(tools / "pyside6-lrelease"), str(catalogue)]
        for command in (update, release):
            done = subprocess.run(command, cwd=SOURCES.parent, check=False)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
