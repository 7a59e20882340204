"""N hosts on a LAN of their own, one agent each as a real process.

    with Hosts(3) as hosts:
        hosts.make_flock()
        hosts[0].submit("w", [nap("a", 1.0)])
        hosts.cut(2)

Where namespaces cannot be made the hosts are loopback addresses that know each other by typed
addresses; ``hosts.cables`` tells whether cables can be pulled. Whatever happens in the block,
nothing is left behind: processes are ended by their ids, namespaces by their names.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from agent.api import flock, work
from agent.api.administration import APPOINT, Appoint
from agent.net.addresses import Address
from tests.hosts.host import Host, Spot
from tests.hosts.lan import HostsUnavailableError, Lan, why_no_namespaces
from tests.hosts.programs import NAP, Trace
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

LINK_S_MAX = EVENTUALLY_S_MAX
FOLDER = "wingbeat-hosts-"
SETS_AT_ONCE, PLACES_MAX = 4, 60
"""Of hosts on the loopback interface, in one process."""
PORTS_TRIED = 20
T = TypeVar("T")

_numbers = itertools.count()


def nap(
    name: str, seconds: float, inputs: Sequence[str] = (), expected_s: float | None = None
) -> work.Task:
    """A task that sleeps and leaves evidence under a name."""
    return work.Task(
        name,
        NAP,
        inputs=tuple(work.Input(each) for each in inputs),
        parameters=f"{name} {seconds}",
        expected_s=max(seconds, 0.001) if expected_s is None else expected_s,
    )


class Hosts:
    """From ``with`` to its end."""

    def __init__(
        self, count: int, *, namespaces: bool | None = None, confinement: str = "off"
    ) -> None:
        """Unconfined, because most programs leave evidence where they may not."""
        self.why_no_cables = why_no_namespaces() if namespaces is not False else "asked for"
        if namespaces and self.why_no_cables:
            raise RuntimeError(self.why_no_cables)
        self.cables = not self.why_no_cables
        self._lan = Lan(count) if self.cables else None
        self._held = [] if self.cables else hold_loopback(count)
        _sweep_folders()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        self._hosts: list[Host] = []
        try:
            for number in range(count):
                self._hosts.append(Host(number, self.folder, self._spot(number), confinement))
        except BaseException:
            self.close()
            raise
        self._pool = ThreadPoolExecutor(max(1, count), "hosts")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            for host in self._hosts:
                error.add_note(host.last_words())
        self.close()

    def __getitem__(self, number: int) -> Host:
        return self._hosts[number]

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

    @property
    def lan(self) -> Lan:
        """The cables, where there are any."""
        assert self._lan is not None, self.why_no_cables
        return self._lan

    def close(self) -> None:
        """End everything. Can be called again."""
        for host in self._hosts:
            host.close()
        if self._lan is not None:
            self._lan.close()
        for each in self._held:
            each.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- together --------------------------------------------------------------------------

    def each(self, do: Callable[[Host], T], hosts: Sequence[Host] | None = None) -> list[T]:
        """Of all hosts (or these), at the same time; in their order."""
        return list(self._pool.map(do, self._hosts if hosts is None else hosts))

    def make_flock(self, hosts: Sequence[Host] | None = None, *, appointed: int = 1) -> None:
        """Start these agents (all) and make one flock of them, as people do; so many of the first are
        its keepers and administrators."""
        chosen = list(self._hosts if hosts is None else hosts)
        self.restart(chosen)
        first = chosen[0]
        made = first.call(flock.FLOCK_CREATE, flock.FlockCreate("live"))
        invitation = first.call(flock.INVITE, flock.Invite(uses=len(chosen)))
        for host in chosen[1:]:
            host.call(flock.JOIN, flock.Join(invitation.text))
        self.wait_linked(chosen)
        for place in range(1, appointed):
            self._appoint(chosen[:place], chosen[place], made.phrase)

    def _appoint(self, administrators: Sequence[Host], host: Host, phrase: str) -> None:
        """Two have to say it, or one and the phrase."""
        voices = administrators[:2]
        told = phrase if len(voices) == 1 else ""
        for what in ("keeper", "administrator"):
            for voice in voices:
                voice.call(APPOINT, Appoint(host.name, what, phrase=told))
        everybody = [*administrators, host]
        wait_for(
            lambda: all(host.name in each for each in self.each(Host.administrators, everybody)),
            LINK_S_MAX,
            f"{host.name} is an administrator",
            self._who_sees_whom,
        )

    def restart(self, hosts: Sequence[Host] | None = None) -> None:
        """Start these again and wait until they answer."""
        chosen = self._hosts if hosts is None else hosts
        for host in chosen:
            host.start()
        self.each(Host.up, chosen)

    def wait_linked(
        self, hosts: Sequence[Host] | None = None, limit_s: float = LINK_S_MAX
    ) -> float:
        """Until each of these is linked with exactly the others of these."""
        chosen = list(self._hosts if hosts is None else hosts)
        names = {host.name for host in chosen}

        def linked() -> bool:
            return all(
                found == names - {host.name}
                for host, found in zip(chosen, self.each(Host.linked, chosen), strict=True)
            )

        return wait_for(linked, limit_s, f"{sorted(names)} know each other", self._who_sees_whom)

    def wait_equal(self, hosts: Sequence[Host] | None = None, limit_s: float = LINK_S_MAX) -> float:
        """Until these say the same of every task; how long that took.

        Asking for every task of a long table takes longer than healing does. So the counts of
        each workflow are asked for until they agree, and then every task, once as a rule.
        """
        chosen = list(self._hosts if hosts is None else hosts)
        took_s = wait_for(lambda: self._agree(Host.counts, chosen), limit_s, "equal counts")
        if not self._agree(Host.table, chosen):
            took_s += wait_for(lambda: self._agree(Host.table, chosen), limit_s, "equal tables")
        return took_s

    def _agree(self, ask: Callable[[Host], object], hosts: list[Host]) -> bool:
        said = self.each(ask, hosts)
        return all(each == said[0] for each in said)

    def wait_finished(self, host: Host, workflow: str, limit_s: float) -> None:
        """Until this host says that the workflow is finished."""

        def finished() -> bool:
            return host.call(work.SHOW, work.Show(workflow, 0, 1)).workflow.state == "finished"

        def counts() -> str:
            return str(host.call(work.SHOW, work.Show(workflow, 0, 1)).workflow.counts)

        wait_for(finished, limit_s, f"{workflow} is finished", counts, poll_s=0.05)

    # -- the network -----------------------------------------------------------------------

    def cut(self, *hosts: Host) -> float:
        """Pull their cables; when that was, by the wall clock."""
        at_s = time.time()
        self.lan.cut(*(host.number for host in hosts))
        return at_s

    def mend(self, *hosts: Host) -> float:
        """Plug them in again; when that was."""
        self.lan.mend(*(host.number for host in hosts))
        return time.time()

    def partition(self, apart: Sequence[Host]) -> float:
        """Two networks; nobody apart heals it."""
        self.lan.partition([host.number for host in apart])
        return time.time()

    # -- what they have left ---------------------------------------------------------------

    def traces(self) -> list[Trace]:
        return sorted((trace for host in self for trace in host.traces()), key=lambda t: t.at_s)

    def _who_sees_whom(self) -> str:
        alive = [host for host in self if host.alive]
        return "; ".join(
            f"{host.name}: {sorted(found)}"
            for host, found in zip(alive, self.each(Host.linked, alive), strict=True)
        )

    def _spot(self, number: int) -> Spot:
        if self._lan is not None:
            return Spot(self._lan.namespace(number), self._lan.address(number))
        places = [Address(*each.getsockname()) for each in self._held]
        own = places.pop(number)
        return Spot(None, own.host, own.port, tuple(map(str, places)))


def hold_loopback(count: int) -> list[socket.socket]:
    """Addresses of this process on the loopback interface, held at one port that nobody has.

    The system chooses the port. Whoever may share an address, as agents do, can listen there for as
    long as the sockets are open; anybody else cannot, and is given another one.
    """
    first = 1 + next(_numbers) % SETS_AT_ONCE * PLACES_MAX
    assert count <= PLACES_MAX
    high, low = divmod(os.getpid() % 2**15, 2**8)
    hosts = [f"127.{2**7 + high}.{low}.{first + each}" for each in range(count)]
    for _ in range(PORTS_TRIED):
        held: list[socket.socket] = []
        with suppress(OSError):  # an address whose port somebody has: with another port, then
            for host in hosts:
                held.append(socket.socket())
                held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                held[-1].bind((host, held[0].getsockname()[1]))
            return held
        for each in held:
            each.close()
    raise HostsUnavailableError(f"no port is free on all of {hosts}")


def _sweep_folders() -> None:
    """Delete what a run that was killed has left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        process = folder.name.removeprefix(FOLDER).partition("-")[0]
        if process.isdigit() and not Path(f"/proc/{process}").exists():
            shutil.rmtree(folder, ignore_errors=True)
