"""The program that runs here, as it lies on the disk: its version, and starting it anew.

A package for Linux puts each version into a folder of its own and points a link to the one that counts
(`/opt/wingbeat/current`), so that what runs keeps its files. Elsewhere a new version takes the place of
the files themselves. Either way a process goes on as what it began as, until it is started anew: as
another program in the same process where the system can do that, so that whoever has started it
(a terminal, a service manager) keeps it; else as a new process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import agent
from agent import __version__

CURRENT = "current"
"""The link, beside the folders of all versions."""
TRIED_S_MAX = 30.0
PREFIX = Path(sys.prefix).resolve()
OWN_FILE = Path(agent.__file__).resolve()
_VERSION = re.compile(r'^__version__ = "([^"\n]+)"', re.MULTILINE)


def installed_prefix() -> Path:
    """Return the folder of the version that would be started next; this one's own where there is no
    link to another."""
    link = PREFIX.parent / CURRENT
    try:
        led = link.resolve() if link.is_symlink() else PREFIX
    except (OSError, RuntimeError):
        return PREFIX
    return led if led.parent == PREFIX.parent else PREFIX


def installed_file() -> Path:
    """Return where the installed version, which would be started next, has this package's own
    file; that of the running one where it runs from its sources."""
    prefix = installed_prefix()
    if prefix == PREFIX or not OWN_FILE.is_relative_to(PREFIX):
        return OWN_FILE
    return prefix / OWN_FILE.relative_to(PREFIX)


def installed_version() -> str:
    """Return the version that would be started next; that of this process where it cannot be read,
    as while it is being put there."""
    try:
        found = _VERSION.search(installed_file().read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return __version__
    return found[1] if found else __version__


def starts(version: str) -> bool:
    """Tell whether the installed program can be started and reports this ``version``, by running
    it; wait for its end, for 30 seconds at most."""
    words = [_moved(sys.executable), "-I", "-m", "agent", "--version"]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=TRIED_S_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split()[-1:] == [version]


def start_anew(arguments: Sequence[str]) -> None:
    """Start the version that is installed now as this process was started, with these arguments in
    place of its own. On Windows it is another process, and the caller has to end this one;
    elsewhere it takes this one's place, and this does not return. Raise ``OSError`` where it cannot
    be started."""
    given = len(sys.argv) - 1
    own = sys.orig_argv[1:-given] if given else sys.orig_argv[1:]
    words = [_moved(each) for each in (sys.executable, *own, *arguments)]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as in a window of Windows
            stream.flush()
    if sys.platform == "win32":
        subprocess.Popen(words)
    else:
        os.execv(words[0], words)


def _moved(word: str) -> str:
    """What lies in the folder of this version lies in that of the other under the same name."""
    for own in {str(PREFIX), sys.prefix}:
        if word.startswith(own + os.sep):
            return str(installed_prefix()) + word.removeprefix(own)
    return word
