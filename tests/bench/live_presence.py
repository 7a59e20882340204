"""Somebody touches the machine: how soon everything that runs for others stands still.

``python -m tests.bench live_presence [--json] [--tries 20] [--quick]``. A real agent on a virtual
X display runs a real tree of processes. ``xdotool`` moves the mouse, clicks or types, and the time
is taken until every process of the tree has the signal that stops it, until every one is stopped
(state T; one at idle priority reaches that only when it gets a processor, which on a busy machine
is later, while it executes nothing), and until the tree runs again. Then the agent
rests with nothing to run, once with all its sources watched and once set to *always*, to see what
watching costs.

Whether other programs use the processor does not count here: the machine is shared.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent.api import work
from tests.bench.live_idle import cpu_s
from tests.bench.report import Figures, Sheet, Verdict, quantile
from tests.hosts.host import Host, Spot
from tests.hosts.programs import describe
from tests.hosts.waiting import let_pass, wait_for
from tests.presence.displays import display as own_display

WHAT = "input by a person: how soon the work of others stands still, and what watching costs"
TRIES = 20
OPTIONS = {"--tries": {"type": int, "default": TRIES}}
STOPPED_S_MAX = 1.0
CORE_PERCENT_MAX = 0.2
IDLE_S = 2.0
RESTING_S = 60.0
PROCESSES = 5
LIMIT_S = 60.0
POLL_S = 0.005
TREE = "tree"
NEEDED = ("Xvfb", "xdotool")
INPUTS = (
    ("mouse", ["mousemove_relative", "--", "5", "5"]),
    ("key", ["key", "a"]),
    ("click", ["click", "1"]),
    ("mouse back", ["mousemove_relative", "--", "-5", "-5"]),
)
SETTINGS = f"""
[presence]
idle_s = {IDLE_S}
others_cpu_percent = 100
"""
_SCRIPT = """#!/bin/sh
# A child that works, one with a child of its own, and one in the background of that.
while :; do :; done &
sh -c 'while sleep 0.2; do :; done & while :; do sleep 0.1; done' &
while :; do sleep 0.1; done
"""


def measure(*, quick: bool, tries: int = TRIES) -> Figures:
    missing = [each for each in NEEDED if shutil.which(each) is None]
    if missing:
        raise SystemExit(f"{' and '.join(missing)} is not installed: nothing can be measured.")
    tries, resting_s = (3, 3.0) if quick else (tries, RESTING_S)
    with TemporaryDirectory() as folder, display(Path(folder)), agent(Path(folder)) as host:
        host.up()
        rows = _give_way(host, tries)
        watched = _resting(host, resting_s)
        host.stop()
        text = host.home.settings_file.read_text()
        host.home.settings_file.write_text(text.replace("when idle", "always"))
        host.start()
        host.up()
        always = _resting(host, resting_s)
    return {"tries": rows, "watching %": watched, "always %": always, "load": os.getloadavg()[0]}


def judge(figures: Figures) -> list[Verdict]:
    tries = figures["tries"]
    late = sum(each["stopped s"] > STOPPED_S_MAX for each in tries)
    return [
        Verdict(f"tries of {len(tries)} in which the tree stood still too late", late, 0),
        Verdict("the slowest", max(each["stopped s"] for each in tries), STOPPED_S_MAX, "s"),
        Verdict("processor, watching, nothing runs", figures["watching %"], CORE_PERCENT_MAX, "%"),
    ]


def sheets(figures: Figures) -> list[Sheet]:
    tries = figures["tries"]
    stopped = sorted(each["stopped s"] for each in tries)
    rows: list[list[str | int | float | None]] = [
        [
            number,
            each["input"],
            each["processes"],
            each["signalled s"],
            each["stopped s"],
            STOPPED_S_MAX,
            each["again s"],
        ]
        for number, each in enumerate(tries, 1)
    ]
    note = (
        f"median {quantile(stopped, 0.5):.3f} s, slowest {stopped[-1]:.3f} s; set to help after "
        f"{IDLE_S:g} s without input; load of the machine {figures['load']:.1f}. An agent with "
        f"nothing to run uses {figures['watching %']:.3f} % of a core while it watches, "
        f"{figures['always %']:.3f} % when set to always."
    )
    columns = ["try", "input", "processes", "signalled s", "stopped s", "limit s", "again s"]
    return [Sheet(WHAT, columns, rows, note)]


@contextmanager
def display(folder: Path) -> Iterator[None]:
    """A screen that nobody sees, in the environment of whatever is started meanwhile."""
    with pytest.MonkeyPatch.context() as environment, own_display(folder) as number:
        environment.delenv("WAYLAND_DISPLAY", raising=False)
        environment.setenv("DISPLAY", number)
        yield


@contextmanager
def agent(folder: Path) -> Iterator[Host]:
    """An agent that helps when nobody is there."""
    host = Host(1, folder, Spot(None, "127.0.0.1"))
    host.settle(volunteer="when idle")
    with host.home.settings_file.open("a") as file:
        file.write(SETTINGS)
    tree = host.home.programs / TREE
    tree.mkdir(parents=True)
    (tree / "tree.sh").write_text(_SCRIPT)
    describe(tree, ["sh", "tree.sh"], 0)
    host.start()
    try:
        yield host
    finally:
        host.close()


def _give_way(host: Host, tries: int) -> list[Figures]:
    host.submit("tree", [work.Task("tree", TREE)])
    rows = []
    for number in range(tries):
        name, command = INPUTS[number % len(INPUTS)]
        wait_for(lambda: _running(host), LIMIT_S, "the tree runs", host.last_words)
        let_pass(0.3 + 0.05 * (number % 7))
        processes = list(_tree(host))
        began_s = time.monotonic()
        subprocess.run(["xdotool", *command], check=True)
        wait_for(lambda: _signalled(host), LIMIT_S, "the tree stops", lambda: _told(host), POLL_S)
        signalled_s = time.monotonic() - began_s
        wait_for(lambda: _stopped(host), LIMIT_S, "the tree stops", lambda: _told(host), POLL_S)
        stopped_s = time.monotonic() - began_s
        wait_for(lambda: _running(host), LIMIT_S, "the tree runs again", host.last_words)
        again_s = time.monotonic() - began_s
        rows.append(
            {
                "input": name,
                "processes": len(processes),
                "signalled s": signalled_s,
                "stopped s": stopped_s,
                "again s": again_s,
            }
        )
    host.call(work.CANCEL, work.Cancel("tree"))
    wait_for(lambda: not list(_tree(host)), LIMIT_S, "the tree has ended", host.last_words)
    return rows


def _resting(host: Host, seconds: float) -> float:
    """What it uses of a core."""
    let_pass(IDLE_S + 3.0)
    before_s, began_s = cpu_s(host.process_id), time.monotonic()
    let_pass(seconds)
    return 100 * (cpu_s(host.process_id) - before_s) / (time.monotonic() - began_s)


def _running(host: Host) -> bool:
    states = list(_tree(host))
    return len(states) >= PROCESSES and "T" not in states


def _stopped(host: Host) -> bool:
    """All are; one that was starting another waits uninterruptibly (D) for that stopped one."""
    states = set(_tree(host))
    return "T" in states and states <= {"T", "D"}


def _signalled(host: Host) -> bool:
    """All are stopped, or will be before they execute anything more."""
    found = [state in "TD" or _stop_waits(folder) for folder, state in _processes(host)]
    return len(found) > 0 and all(found)


def _stop_waits(folder: Path) -> bool:
    try:
        lines = (folder / "status").read_text().splitlines()
    except OSError:
        return True  # it has ended
    waiting = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd", "ShdPnd"))]
    return any(each & 1 << signal.SIGSTOP - 1 for each in waiting)


def _told(host: Host) -> str:
    return f"its processes are {' '.join(_tree(host))}. {host.last_words()}"


def _tree(host: Host) -> Iterator[str]:
    return (state for _, state in _processes(host))


def _processes(host: Host) -> Iterator[tuple[Path, str]]:
    """The processes of the task, each with its state: whoever works in the scratch folder."""
    scratch = str(host.home.scratch)
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if str((folder / "cwd").readlink()).startswith(scratch):
                yield folder, (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue  # it has just ended
