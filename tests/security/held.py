"""An agent's machine in a process of its own, to be killed: ``held FOLDER PROGRAM``.

It runs one program of ``hiding`` until it is killed itself.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.security import hiding
from tests.security.scene import Machine

PYTHON, NODE = "{python}", "node"
PROGRAMS = {
    "hides": (PYTHON, hiding.HIDES),
    "stops its keepers": (PYTHON, hiding.STOPS_ITS_KEEPERS),
    "traces its keeper": (PYTHON, hiding.TRACES_ITS_KEEPER),
    "multiplies": (PYTHON, hiding.MULTIPLIES),
    "javascript": (NODE, hiding.JAVASCRIPT),
}
BEGIN_S = 30.0


def begin(machine: Machine, name: str) -> None:
    """Have the machine run it."""
    executed, text = PROGRAMS[name]
    machine.install("held", [executed, "program"], {"program": text})
    machine.start("held")


def working_in(folder: Path) -> Iterator[int]:
    """All processes whose folder lies in this one, whosever they are, that have not ended."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                if (each / "cwd").readlink().is_relative_to(folder):
                    yield int(each.name)
            except OSError:
                continue


async def main(folder: Path, name: str) -> None:
    machine = Machine(folder, "on")
    await machine.children.confinement.prove(machine.groups)
    begin(machine, name)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
