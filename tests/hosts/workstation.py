"""A machine as an administrator sets one up: a host of its own, with its own home, name and ``/etc``.

Other machines of the tests are moved to a folder by a variable, and so obey nobody's policy. This one
is not: its agent looks where an installed one does, and finds there, through a mount of its own, what
was laid down for it. Nothing of the real ``/etc`` is touched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agent.paths import APPLICATION, VARIABLE, Home, MachineFiles
from tests.hosts.machine import Machine

SET_UP = (
    'hostname "$1" && mount -t overlay overlay -o "lowerdir=$2:/etc" /etc && shift 2 && exec "$@"'
)


class Workstation(Machine):
    """Named after its folder; nobody has sat at it yet."""

    def __init__(
        self, folder: Path, namespace: str, laid_down: Mapping[str, str | bytes] | None = None
    ) -> None:
        super().__init__(folder, namespace, answer="")
        own, beside = folder / "home", folder / "etc"
        machine = MachineFiles(beside / APPLICATION)
        self.home = Home(
            own / ".local/share" / APPLICATION,
            own / ".config" / APPLICATION,
            own / ".local/state" / APPLICATION / "log",
            own / ".cache" / APPLICATION,
            machine,
        )
        machine.folder.mkdir(parents=True)
        for name, content in (laid_down or {}).items():
            path = machine.folder / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            path.chmod(0o644)
        set_up = ("unshare", "-mu", "sh", "-c", SET_UP, "sh", self.name, str(beside))
        self.inside = (*self.inside, *set_up)

    @property
    def environment(self) -> dict[str, str]:
        here = {name: value for name, value in super().environment.items() if name != VARIABLE}
        return {**here, "HOME": str(self.folder / "home")}


def why_no_workstations() -> str:
    """Empty where they can be made."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "mounts and namespaces need the rights of root"
    return ""
