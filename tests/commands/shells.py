"""Shells that are asked to complete, as somebody at a keyboard has them do it.

Each finds a command `wingbeat` and reads the script that `wingbeat completion` prints. bash and zsh
run on a terminal: a line is typed, the tab key pressed, and the line that stands there then is read
back through a key that has the shell print it. fish tells what it would offer.
"""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.commands.completion import SCRIPTS
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.style.source import REPOSITORY

WITHIN_S = EVENTUALLY_S_MAX
TAB, REPORT, ENTER = b"\t", b"\x14", b"\r"

# The last line of each sets the prompt, in pieces, so that what is typed is not taken for it: when
# the whole word comes, the shell listens to single keys.
BASH = """\
PS1= PS2=; stty -echo columns 300; bind 'set enable-bracketed-paste off'
source "$SCRIPTS/bash"; report() { printf '\\n<<<%s>>>\\n' "$READLINE_LINE"; READLINE_LINE=; }
bind -x '"\\C-t": report'
PS1='REA''DY'
"""
ZSH = """\
PS1= PS2= RPS1= PROMPT_EOL_MARK=; stty -echo columns 300; unset zle_bracketed_paste
fpath=($SCRIPTS $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep
report() { print -r -- $'\\n'"<<<$BUFFER>>>"; BUFFER=; zle accept-line }; zle -N report
bindkey '^T' report
PS1='REA''DY'
"""


def prepare(folder: Path) -> dict[str, str]:
    """A folder with the command and the scripts; the environment in which shells find them."""
    commands, scripts = folder / "commands", folder / "scripts"
    commands.mkdir(parents=True)
    scripts.mkdir()
    for shell, script in SCRIPTS.items():
        (scripts / ("_wingbeat" if shell == "zsh" else shell)).write_text(script, "utf-8")
    command = commands / "wingbeat"
    words = shlex.join(["exec", sys.executable, "-m", "agent"])
    command.write_text(
        f'#!/bin/sh\nexport PYTHONPATH={shlex.quote(str(REPOSITORY))}\n{words} "$@"\n'
    )
    command.chmod(0o755)
    path = f"{commands}{os.pathsep}{os.environ.get('PATH', '')}"
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "ZDOTDIR": str(folder)}
    return {**os.environ, **home, "PATH": path, "SCRIPTS": str(scripts), "TERM": "xterm"}


def offered_by_fish(line: str, environment: dict[str, str], here: Path) -> list[str]:
    """What it would offer behind this line."""
    asked = 'source "$SCRIPTS/fish"; complete -C $LINE'
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        env={**environment, "LINE": line},
        cwd=here,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    return [each.partition("\t")[0] for each in done.stdout.splitlines()]


def line_after_tab(shell: str, line: str, environment: dict[str, str], here: Path) -> str:
    """What stands on the line when somebody has typed this, and pressed the tab key."""
    command, setup = {"bash": (["bash", "--norc", "-i"], BASH), "zsh": (["zsh", "-f", "-i"], ZSH)}[
        shell
    ]
    with _terminal(command, environment, here) as terminal:
        for each in setup.splitlines():
            os.write(terminal, each.encode() + ENTER)
        _heard(terminal, "READY")
        os.write(terminal, line.encode() + TAB + REPORT)
        said = _heard(terminal, ">>>")
    return said.rpartition("<<<")[2].partition(">>>")[0]


@contextmanager
def _terminal(command: list[str], environment: dict[str, str], here: Path) -> Iterator[int]:
    import pty  # there is none on Windows

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=here,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield ours
    finally:
        process.kill()
        process.wait(WITHIN_S)
        os.close(ours)


def _heard(terminal: int, word: str) -> str:
    """All that is said until that word has been."""
    said, deadline_s = "", time.monotonic() + WITHIN_S
    while word not in said:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline_s - time.monotonic()))
        assert ready, f"{word!r} did not come, but {said[-500:]!r}"
        said += os.read(terminal, 65_536).decode("utf-8", "replace")
    return said
