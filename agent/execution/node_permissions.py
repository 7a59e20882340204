"""Node.js' own permissions, for scripts that ask for them: a second border inside of the first.

A script asks by a line near its beginning, ``// node permissions:``, and what it needs beside files of
its run (``worker``). It gets neither other files, nor processes, nor libraries in machine code. Node's
own words say that this is no border against hostile code, so nothing rests on it: the boundary of
every program does that. Which option a Node has, if any, is found out by a script of ours that
tries to read a file.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

OPTIONS = ("--permission", "--experimental-permission")
"""As it is called, and as it was before it was finished."""
WORKER = "--allow-worker"
READ, WRITE = "--allow-fs-read", "--allow-fs-write"
ASKED = re.compile(rb"^// node permissions:(| worker)$", re.MULTILINE)
ASKED_WITHIN = 1_000
TRIED_S_MAX = 20.0
TRIED = """
const fs = require("node:fs");
const [own, other] = process.argv.slice(2);
fs.writeFileSync(own + "/made", fs.readFileSync(own + "/read"));
try { fs.readFileSync(other); } catch (error) { process.exit(error.code === "ERR_ACCESS_DENIED" ? 0 : 2); }
process.exit(1);
"""


def permitted(
    command: Sequence[str], reads: Sequence[str], writes: Sequence[str]
) -> tuple[str, ...]:
    """Return this command of Node and a script with Node's permissions to these files and folders;
    unchanged where its script does not ask for that or its Node has none. Takes long the first time."""
    if len(command) < 2 or not is_node(command):
        return tuple(command)
    asked = ASKED.search(_beginning(command[1]))
    option = option_of(command[0]) if asked else ""
    if not asked or not option:
        return tuple(command)
    allowed = [*_allowed(READ, (*reads, *writes)), *_allowed(WRITE, writes)]
    more = (WORKER,) if asked[1] else ()
    return (command[0], "--no-warnings", option, *allowed, *more, *command[1:])


def is_node(command: Sequence[str]) -> bool:
    """Tell whether Node executes this command."""
    return Path(command[0]).stem == "node"


def option_of(node: str) -> str:
    """Return the option by which this Node denies what it is not allowed, found out by trying; empty
    where it has none. A Node that was replaced is tried anew."""
    try:
        return _tried(node, Path(node).stat().st_mtime_ns)
    except OSError:
        return ""


@cache
def _tried(node: str, _changed_ns: int) -> str:
    with tempfile.TemporaryDirectory(prefix="wingbeat-node-") as folder:
        own, other = Path(folder, "own"), Path(folder, "other")
        own.mkdir()
        for path, text in ((own / "read", ""), (other, ""), (own / "try.js", TRIED)):
            path.write_text(text, "utf-8")
        for option in OPTIONS:
            allowed = [*_allowed(READ, (str(own),)), *_allowed(WRITE, (str(own),))]
            words = [node, option, *allowed, str(own / "try.js"), str(own), str(other)]
            if _succeeds(words):
                return option
    return ""


def _allowed(option: str, paths: Sequence[str]) -> list[str]:
    """A folder with all that lies in it; Node takes some paths as they are, and follows others."""
    real = dict.fromkeys(name for each in paths for name in (each, os.path.realpath(each)))
    return [f"{option}={each}/*" if Path(each).is_dir() else f"{option}={each}" for each in real]


def _succeeds(words: Sequence[str]) -> bool:
    try:
        done = subprocess.run(words, capture_output=True, timeout=TRIED_S_MAX, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _beginning(script: str) -> bytes:
    try:
        with Path(script).open("rb") as file:
            return file.read(ASKED_WITHIN)
    except OSError:
        return b""
