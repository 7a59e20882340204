"""What each trial of the packages needs of the machine that it runs on."""

from __future__ import annotations

import os
import shutil

MAKES_DEBIANS = ("git", "dpkg-deb", "debootstrap", "unshare")
TOOLS = {
    "the packages for Debian": MAKES_DEBIANS,
    "the machine that boots": (*MAKES_DEBIANS, "qemu-system-x86_64", "mke2fs"),
    "Windows": (
        *("git", "makensis", "wixl", "msibuild", "x86_64-w64-mingw32-gcc"),
        *("debootstrap", "unshare"),
    ),
}
"""By what is tried; all of it by root, too."""


def left_out(trial: str) -> bool:
    """Tell whether something that this trial needs is missing, and print then what."""
    missing = [tool for tool in TOOLS[trial] if not shutil.which(tool)]
    if os.geteuid() != 0:
        missing.append("the rights of root")
    if missing:
        print(f"Left out: {trial}, for want of {', '.join(missing)}.")
    return bool(missing)
