"""Which boundary holds on this machine, found out by trying to get past it.

A version number does not tell: a container may forbid what its kernel can, and a distribution what
its kernel offers. So a program of ours (``attempts``) is confined and tries, by the cheapest means
first; the first by which nothing is open and a program can still work is used. Where there is none,
what remained open is told, and programs of others do not run here.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import platform
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Listener
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from agent.execution.confinement import seccomp
from agent.execution.confinement.boundary import NO_MEANS, NO_WISHES, Boundary, Means
from agent.execution.confinement.reachable import reads_of
from agent.execution.groups import Groups, Launch

Sort = Literal["files", "network", "signals", "tracing"]
SORTS: tuple[Sort, ...] = ("files", "network", "signals", "tracing")
NEEDED = "needed"
TRIED_S_MAX = 30.0
ATTEMPTS = Path(__file__).with_name(
    "attempts_windows.py" if sys.platform == "win32" else "attempts.py"
)
NEEDED_OF_WINDOWS = ("SYSTEMROOT", "PATH", "USERPROFILE", "APPDATA")
"""No program starts there without the first; the last two are where it must not look."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found: by ``means`` nothing of ``past`` is open, where ``holds``."""

    means: Means = NO_MEANS
    holds: bool = False
    past: tuple[tuple[Sort, tuple[str, ...]], ...] = ()
    """What a confined program could do, by its sort."""
    hindered: tuple[str, ...] = ()
    """What a confined program has to be able to do, and was not."""
    held: tuple[str, ...] = ()
    """What a control group does for all processes of a program at once."""
    error: str = ""
    """Why it could not be tried, in the words of the system."""

    @property
    def by(self) -> tuple[str, ...]:
        """Return the names of the means that confine programs here, such as "Landlock 4", for
        people; empty where there are none."""
        if self.means.container:
            return ("AppContainer", "job object")
        if not self.means.landlock:
            return ()
        names = [f"Landlock {self.means.landlock}", "seccomp"]
        names += ["own mounts"] if self.means.mounts else []
        names += ["own process numbers"] if self.means.processes else []
        return (*names, f"control groups ({', '.join(self.held)})") if self.held else tuple(names)

    def open(self, sort: Sort) -> bool:
        """Tell whether something of this sort went, or nothing could be tried."""
        nothing = self.means == NO_MEANS or bool(self.error)
        return nothing or bool(dict(self.past).get(sort))

    def told(self) -> str:
        """Return what went that must not, what did not, and why it could not be tried, for logs."""
        went = [f"{sort}: {', '.join(names)}" for sort, names in self.past]
        return "; ".join(filter(None, [*went, *self.hindered, self.error]))


async def prove(
    groups: Groups, secrets: Sequence[Path], kept: Sequence[Path], place: Path | None = None
) -> Proof:
    """Try the means that this kernel names, and return the first proof that holds, else the last of
    the others. ``secrets`` are files of the agent that a program must not read, ``kept`` the
    folders of the agent; it is tried in ``place``, without one among the system's temporary files."""
    linux = sys.platform == "linux"
    found = Proof(
        error="this system has no Landlock" if linux else "it is not built for this system"
    )
    for means in _candidates():
        try:
            with TemporaryDirectory(prefix="trial-", dir=place) as folder:
                found = await _tried(groups, means, Path(folder), secrets, kept)
        except (OSError, TimeoutError, ValueError) as error:
            found = Proof(means, error=str(error) or "it did not end in time")
        if found.holds:
            break
        log.info("not confined by %s: %s", ", ".join(found.by), found.told())
    return found


def _candidates() -> Iterator[Means]:
    if sys.platform == "win32":
        yield Means(container=True)
    if sys.platform != "linux" or platform.machine() not in seccomp.PLACE:
        return
    from agent.execution.confinement import landlock

    version = landlock.version()
    if not version:
        return
    scoped = version >= landlock.SCOPES_FROM
    yield Means(version, mounts=True, processes=not scoped)
    if scoped:
        yield Means(version, mounts=True, processes=True)
    yield Means(version)


async def _tried(
    groups: Groups, means: Means, place: Path, secrets: Sequence[Path], kept: Sequence[Path]
) -> Proof:
    """One program of ours in a place of its own."""
    said: list[bytes] = []
    with _doors() as doors:
        launch = await asyncio.to_thread(_launch, means, place, secrets, kept, doors)
        process = await groups.start(launch, lambda _, data: said.append(data))
        try:
            async with asyncio.timeout(TRIED_S_MAX):
                ended = await process.ended
                await process.silent
        finally:
            process.kill()
            process.close()
    text = b"".join(said)
    if ended.code:
        return Proof(
            means, error=f"exit code {ended.code}: {text[-500:].decode(errors='replace').strip()}"
        )
    told = json.loads(text)
    past = tuple((sort, tuple(dict.fromkeys(told[sort]))) for sort in SORTS if told[sort])
    hindered = tuple(told[NEEDED])
    holds = not past and not hindered
    return Proof(means, holds, past, hindered, process.held)


@contextmanager
def _doors() -> Iterator[dict[str, object]]:
    """Listen where a program must not come, on systems on which it may make sockets: at a port of
    loopback, so that no firewall asks anybody, and at a pipe of this account."""
    if os.name != "nt":
        yield {}
        return
    with socket.create_server(("127.0.0.1", 0)) as door, Listener(family="AF_PIPE") as pipe:
        yield {"port": door.getsockname()[1], "pipe": pipe.address}


def _launch(
    means: Means,
    place: Path,
    secrets: Sequence[Path],
    kept: Sequence[Path],
    doors: Mapping[str, object],
) -> Launch:
    home, beside = place / "run", place / "beside"
    folder, temporary = home / "work", home / "tmp"
    for each in (home, beside, folder, temporary):
        each.mkdir(mode=0o700)
    (beside / "file").write_text("nobody's business")
    told = {
        "secrets": [str(each) for each in secrets],
        "folder": str(beside),
        "file": str(beside / "file"),
        "process": os.getpid(),
        **doors,
    }
    if os.name != "nt":
        told["group"] = os.getpgid(0)
    text = ATTEMPTS.read_text("utf-8")
    command = (sys.executable, "-I", "-S", "-c", text, json.dumps(told))
    reads = reads_of(NO_WISHES, folder, command, kept)
    boundary = Boundary(means, reads, str(home), (str(folder), str(temporary)))
    environment = {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}
    environment |= {each: os.environ[each] for each in NEEDED_OF_WINDOWS if each in os.environ}
    return Launch(command, folder, environment, spare=False, boundary=boundary)
