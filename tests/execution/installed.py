"""A program for tests, as any executable could be: what it does is told by its parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from agent.execution.control_groups import ROOTS
from agent.node.programs import ProgramReader
from agent.protocol.messages import Capabilities

SCRIPT = """#!/bin/sh
folder=$WINGBEAT_PROGRAM_TEST_FOLDER
[ -z "$folder" ] || printf '%s\\n' "$@" > "$folder/arguments"
for last in "$@"; do :; done
set -- $last
case "$1" in
    say) shift; for line in "$@"; do echo "$line" | tr ':' ' '; done ;;
    exit) echo "it is $2" >&2; exit "$2" ;;
    hang)
        sleep 1000 &
        echo "$$ $!" > "$2.part"; mv "$2.part" "$2"
        echo PROGRESS 10
        wait ;;
    wait)
        echo "$$ $$" > "$2.part"; mv "$2.part" "$2"
        while [ ! -e "$3" ]; do sleep 0.02; done
        echo TERMINATED done ;;
    listen)
        echo "$$ $$" > "$2.part"; mv "$2.part" "$2"
        read word; echo "heard $word"; echo CANCELLED ;;
    stubborn)
        trap '' TERM INT
        sleep 1000 &
        echo "$$ $!" > "$2.part"; mv "$2.part" "$2"
        wait ;;
    leave) sleep 1000 & echo "$$ $!" > "$2.part"; mv "$2.part" "$2"; echo TERMINATED done ;;
    escape)
        setsid sleep 1000 < /dev/null > /dev/null 2>&1 &
        echo "$$ $!" > "$2.part"; mv "$2.part" "$2"
        wait ;;
    flood) head -c "$2" /dev/zero | tr '\\0' x; echo; echo the end; echo TERMINATED done ;;
    hide)
        (env -i setsid sh -c 'echo $$ > "$0.part"; mv "$0.part" "$0"; exec sleep 1000' "$2" &)
        while [ ! -e "$2" ]; do sleep 0.01; done
        [ "$3" = wait ] && sleep 1000
        echo TERMINATED done ;;
    eat) head -c "$2" /dev/zero | tail -n 1 | sleep 1000 ;;
    fill) head -c "$2" /dev/zero > full; sleep 1000 ;;
    write)
        echo "of $1" > "$2"; shift 2
        for line in "$@"; do echo "$line" | tr ':' ' '; done ;;
    mute) sleep 1000 ;;
    mistype) uniqq ;;
    garbage) head -c 300000 /dev/urandom; echo; echo TERMINATED done ;;
    save) echo one > state; echo CHECKPOINT state; exec sleep 1000 ;;
    environment)
        env | grep ^WINGBEAT_ | sort
        [ -z "$WINGBEAT_CHECKPOINT" ] || cat "$WINGBEAT_CHECKPOINT" ;;
    where)
        pwd
        while [ "$(nice)" -lt 10 ]; do sleep 0.01; done
        nice
        grep -q '^policy *: *5' /proc/self/sched && echo idle || echo other
        echo TERMINATED "$(pwd)" ;;
esac
"""


def install(
    programs: Path, name: str = "tell", outputs: Sequence[str] = (), limits: str = "{}"
) -> None:
    """Put the program where a node looks for it."""
    folder = programs / name
    folder.mkdir(parents=True)
    script = folder / "tell.sh"
    script.write_text(SCRIPT)
    script.chmod(0o700)
    lines = ("command: [tell.sh]", f"outputs: {json.dumps(list(outputs))}", f"limits: {limits}")
    (folder / "program.yaml").write_text("\n".join(lines))


def reader() -> ProgramReader:
    """Of descriptions, for this machine."""
    return ProgramReader(Capabilities(system="linux", architecture="x86_64", cores=1))


def processes(path: Path) -> list[int]:
    """The processes of a run, as it has written them down; none before it has."""
    try:
        return [int(each) for each in path.read_text().split()]
    except FileNotFoundError:
        return []


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def state_of(process: int) -> str:
    """One letter as the kernel has it: R, S, T for stopped; empty when it is gone."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if state in "ZX" else state


def stands_still(process: int) -> bool:
    """Whether it was stopped, is in a control group that was frozen, or is gone."""
    if state_of(process) in ("T", ""):
        return True
    try:
        own = Path(f"/proc/{process}/cgroup").read_text().partition("0::")[2].split("\n")[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    said = (Path(f"{root}{own}/cgroup.events") for root in ROOTS)
    return any("frozen 1" in each.read_text() for each in said if each.exists())
