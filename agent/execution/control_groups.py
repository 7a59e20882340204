"""Control groups of version 2: what each keeper runs is a group of its own, where users may make such.

A group is frozen, ended and held back as a whole, whatever forks in it: no look at processes can be
outrun. It shares the processor as a whole as well: many desktops put each application into a group,
all with the same share, and inside of the agent's own a program at idle priority would give way to
nobody but the agent.

That needs a system that hands groups on: one that lets a user make groups beside the agent's own, as
in a session of systemd, or a unit with ``Delegate=yes``, which is divided then: the agent moves to a
group below, since the kernel wants processes at the ends of the tree only. What works is found out
by trying it with a process of ours; where nothing does, there are no groups, and keepers look after
processes as elsewhere.

Runs in a bare interpreter too.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from contextlib import suppress

TYPE_CHECKING = False  # importing typing would take as long as starting a program
if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "wingbeat-programs-"
AGENTS = "wingbeat-agent"
"""Where the agent moves to in a unit that was handed on to it."""
ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
MARK = "trusted.delegate"
"""What systemd writes on groups that it leaves to others: for root, who may write on all."""
FREEZE, KILL, MEMORY, PROCESSES, PROCESSOR = "freeze", "kill", "memory", "processes", "processor"
CONTROLLERS = ("memory", "pids", "cpu")
SMALL_SHARE = "10"
"""Of the processor, where others have 100."""
MEMORY_TRIED = 64 * 1024 * 1024
TRIED_S, SETTLES_S, PAUSE_S = 2.0, 0.5, 0.002
CLOSED_S = 10.0
"""Some hundred processes that end on a busy machine."""


class ControlGroups:
    """Of one guardian: where its keepers make their groups, and what these can do."""

    def __init__(self, roots: tuple[str, ...] = ROOTS, own: str = "/proc/self/cgroup") -> None:
        self.place, self.holds = "", frozenset[str]()
        with suppress(OSError):
            self.place = _place(roots, _read(own))
            if self.place:
                self._remove_left()
                trial = self.of_keeper()
                self.holds = _tried(trial)
                trial.close()
        if not self.holds:
            self.place = ""

    def of_keeper(self) -> ControlGroup:
        """Return the group of this process, not made yet."""
        name = f"{PREFIX}{os.getppid()}-{os.getpid()}"
        return ControlGroup(f"{self.place}/{name}" if self.place else "", self.holds)

    def end(self, keeper: int) -> None:
        """End what is left of the group of a keeper of this guardian that is gone."""
        if self.place:
            path = f"{self.place}/{PREFIX}{os.getpid()}-{keeper}"
            ControlGroup(path, self.holds, made=True).close()

    def kill(self) -> None:
        """End what is in the groups of the keepers of this guardian."""
        for each in self._own():
            each.kill()

    def close(self) -> None:
        """End and remove them; what takes very long stays for the next guardian."""
        for each in self._own():
            each.close(CLOSED_S)

    def _own(self) -> list[ControlGroup]:
        if not self.place:
            return []
        names = os.listdir(self.place)  # noqa: PTH208
        own = [each for each in names if each.startswith(f"{PREFIX}{os.getpid()}-")]
        return [ControlGroup(f"{self.place}/{each}", self.holds, made=True) for each in own]

    def _remove_left(self) -> None:
        """What guardians that were killed have left, with whatever is in there."""
        for name in os.listdir(self.place):  # noqa: PTH208 - starts faster
            guardian, _, keeper = name.removeprefix(PREFIX).partition("-")
            if not name.startswith(PREFIX) or not guardian.isdigit():
                continue
            if not any(map(_is_there, filter(None, (guardian, keeper)))):
                path = f"{self.place}/{name}"
                ControlGroup(path, frozenset({KILL}), made=True).close()


class ControlGroup:
    """What one keeper runs; without a ``path`` there is none, and nothing is done."""

    def __init__(self, path: str, holds: frozenset[str], *, made: bool = False) -> None:
        self.holds = holds
        self._path, self._made = path, made
        self._told: dict[str, str] = {}
        self._frozen = False
        self._ran_out = (0, 0)

    @property
    def members(self) -> str:
        """The file that takes processes; empty where there is no group."""
        return f"{self._path}/cgroup.procs" if self._made else ""

    def begin(self, memory: int, processes: int, *, spare: bool) -> None:
        """Make this group ready for a program, as far as the kernel takes that: at most ``memory``
        bytes, without swap then, and ``processes`` (0: no limit), and of the processor a small
        share, with ``spare`` only what nobody else wants. Where the group cannot be made there is
        none."""
        if not self._path:
            return
        try:
            os.makedirs(self._path, exist_ok=True)  # noqa: PTH103 - quick to import
        except OSError:
            self._path, self.holds, self._made = "", frozenset(), False
            return
        self._made = True
        self.thaw()
        self._limit("pids.max", str(processes or "max"))
        self._limit("memory.max", str(memory or "max"))
        self._limit("memory.swap.max", "0" if memory else "max")
        self._limit("memory.oom.group", "1")
        self._limit("cpu.idle", "1" if spare else "0")
        if not spare or self._told["cpu.idle"] == "":
            self._limit("cpu.weight", "1" if spare else SMALL_SHARE)
        self._ran_out = self._times_ended()

    def enter(self) -> None:
        """Move this process into it; raise ``OSError`` when the system refuses."""
        if self._made and not self._say("cgroup.procs", "0"):
            raise OSError(errno.EAGAIN, "the control group takes no process")

    def freeze(self) -> bool:
        """Stop all processes in the group from running, wait for that, half a second at most, and
        tell whether they stand still; False where they may do so later, or cannot be stopped."""
        if FREEZE not in self.holds or not self._say("cgroup.freeze", "1"):
            return False
        self._frozen = True
        return self._stands_still()

    def thaw(self) -> None:
        """Let it go on; do nothing when it does."""
        if self._frozen:
            self._frozen = not self._say("cgroup.freeze", "0")

    def kill(self) -> None:
        """End all of it, frozen or not."""
        if KILL in self.holds:
            self._say("cgroup.kill", "1")

    def processes(self) -> list[int]:
        """Return those in it, as far as they can be named here."""
        with suppress(OSError):
            return [int(each) for each in _read(self.members).split()] if self._made else []
        return []

    def ran_out_of_memory(self) -> bool:
        """Tell whether the kernel has ended something of it, for its own ceiling and not for the
        whole machine's, since it was begun."""
        before = zip(self._ran_out, self._times_ended(), strict=True)
        return all(then < now for then, now in before)

    def close(self, limit_s: float = SETTLES_S) -> None:
        """End all processes in the group, where the kernel can, and remove it; it stays, and
        nothing is raised, where that takes longer than ``limit_s``. Do nothing where it was not
        made."""
        if not self._made:
            return
        self.kill()
        until_s = time.monotonic() + limit_s
        while os.path.exists(self._path) and time.monotonic() < until_s:  # noqa: PTH110
            try:
                os.rmdir(self._path)  # noqa: PTH106
            except OSError:
                select.select([], [], [], PAUSE_S)

    def content_of(self, name: str) -> str:
        """Return what the kernel says in a file of it; empty where there is none."""
        with suppress(OSError):
            return _read(f"{self._path}/{name}")
        return ""

    def _say(self, name: str, text: str) -> bool:
        return self._made and _write(f"{self._path}/{name}", text)

    def _limit(self, name: str, text: str) -> None:
        """Said when it is not what was said last, which is empty where that is not taken."""
        if self._told.get(name) not in (text, ""):
            self._told[name] = text if self._say(name, text) else ""

    def _stands_still(self) -> bool:
        return _within(SETTLES_S, lambda: "frozen 1" in self.content_of("cgroup.events"))

    def _times_ended(self) -> tuple[int, int]:
        """How often it was at its ceiling, and something of it was ended for any memory."""
        words = self.content_of("memory.events").split()
        counts = dict(zip(words[::2], words[1::2], strict=False))
        return int(counts.get("oom", 0)), int(counts.get("oom_kill", 0))


NO_GROUP = ControlGroup("", frozenset())


def _place(roots: tuple[str, ...], groups: str) -> str:
    """The folder in which groups can be made; empty where there is none."""
    own = next((line[3:] for line in groups.splitlines() if line.startswith("0::/")), "/")
    root = next((each for each in roots if os.path.exists(f"{each}/cgroup.procs")), "")  # noqa: PTH110
    if own == "/" or not root:
        return ""
    folder = root + own
    beside = os.path.dirname(folder)  # noqa: PTH120
    if os.path.basename(folder) == AGENTS:  # noqa: PTH119 - divided before, for another guardian
        return beside
    if _is_handed_on(folder):
        _divide(folder)
        return folder
    return beside if os.access(f"{beside}/cgroup.procs", os.W_OK) else ""


def _is_handed_on(folder: str) -> bool:
    with suppress(OSError):
        if os.getxattr(folder, MARK) == b"1":
            return True
    beside = os.path.dirname(folder)  # noqa: PTH120
    mine = os.access(f"{folder}/cgroup.subtree_control", os.W_OK)
    return mine and not os.access(f"{beside}/cgroup.procs", os.W_OK)


def _divide(folder: str) -> None:
    """Move all of a unit into a group below, and have the kernel share it out among those below."""
    agents = f"{folder}/{AGENTS}"
    os.makedirs(agents, exist_ok=True)  # noqa: PTH103
    for each in _read(f"{folder}/cgroup.procs").split():
        _write(f"{agents}/cgroup.procs", each)
    for each in CONTROLLERS:
        _write(f"{folder}/cgroup.subtree_control", f"+{each}")


def _tried(group: ControlGroup) -> frozenset[str]:
    """What such a group can do, with a process of ours in it that may not fork."""
    group.begin(MEMORY_TRIED, 1, spare=True)
    if not group.members:
        return frozenset()
    group.holds = frozenset({FREEZE, KILL})
    told, tells = os.pipe()
    process = os.fork()
    if not process:
        _try_within(group, tells)
    os.close(tells)
    ready, _, _ = select.select([told], [], [], TRIED_S)
    said = os.read(told, 10) if ready else b""
    os.close(told)
    found = _held_back(group, said) if said else set()
    group.kill()
    if said and _within(SETTLES_S, lambda: os.waitpid(process, os.WNOHANG)[0] == process):
        found.add(KILL)
    else:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return frozenset(found) if found & {FREEZE, KILL} else frozenset()


def _held_back(group: ControlGroup, said: bytes) -> set[str]:
    charged = group.content_of("memory.max").strip() == str(MEMORY_TRIED)
    charged = charged and int(group.content_of("memory.current") or 0) > 0
    idle = "1" in (group.content_of("cpu.idle").strip(), group.content_of("cpu.weight").strip())
    found = ((PROCESSES, said == b"held"), (MEMORY, charged), (PROCESSOR, idle))
    return {name for name, held in (*found, (FREEZE, group.freeze())) if held}


def _try_within(group: ControlGroup, tells: int) -> None:
    """In the process that is in it, until it is killed."""
    try:
        group.enter()
        said = b"open"
        try:
            if not os.fork():
                os._exit(0)
        except OSError:
            said = b"held"
        os.write(tells, said)
        signal.pause()
    finally:
        os._exit(1)


def _within(limit_s: float, condition: Callable[[], bool]) -> bool:
    until_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > until_s:
            return False
        select.select([], [], [], PAUSE_S)
    return True


def _is_there(process: str) -> bool:
    return os.path.exists(f"/proc/{process}")  # noqa: PTH110


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def _write(path: str, text: str) -> bool:
    try:
        file = os.open(path, os.O_WRONLY)
    except OSError:
        return False
    try:
        os.write(file, text.encode())
    except OSError:
        return False
    finally:
        os.close(file)
    return True
