"""A LAN of network namespaces: a switch, and hosts with a cable each that can be pulled.

Agents on loopback never lose a link in the way that matters: the other side always answers at
once, if only with a reset. A namespace has its own interfaces and addresses, so pulling a cable
is silence, multicast goes through a real bridge, and nothing of the machine's own network is
touched. The switch lives in a namespace of its own too: deleting namespaces deletes all there is.

Names carry the process that made them, so that several test workers do not clash and a later run
can tell what a killed one has left behind.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.hosts.waiting import EVENTUALLY_S_MAX

MARK = "wbh"
BRIDGES = 2
CLONE_NEWNET = 0x40000000
NAMESPACES = Path("/run/netns")

_numbers = itertools.count()


class HostsUnavailableError(Exception):
    """Why this machine cannot make hosts, in a sentence."""


def why_no_namespaces() -> str:
    """Empty where namespaces can be made."""
    if shutil.which("ip") is None:
        return "the command ip is missing (package iproute2)"
    if os.name != "posix" or os.geteuid() != 0:
        return "network namespaces need the rights of root"
    name = f"{MARK}-{os.getpid()}-trial"
    _delete(name)  # of a run that was killed, whose number this process has been given
    try:
        ip("netns", "add", name)
        try:
            ip("netns", "exec", name, "true")  # which a root that is no mount does not allow
        finally:
            ip("netns", "del", name)
    except HostsUnavailableError as error:
        return f"network namespaces cannot be made here: {error}"
    return ""


def ip(*words: str) -> str:
    """Run ``ip``; raises with what it says."""
    done = subprocess.run(
        ["ip", *words], capture_output=True, text=True, timeout=EVENTUALLY_S_MAX, check=False
    )
    if done.returncode:
        raise HostsUnavailableError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def ip_batch(lines: Sequence[str], namespace: str = "") -> None:
    """Run many commands of ``ip`` in one process, within a namespace if one is given."""
    inside = ("-n", namespace) if namespace else ()
    with tempfile.NamedTemporaryFile("w", suffix=".ip") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        ip(*inside, "-batch", file.name)


class Lan:
    """A switch and its hosts, numbered from 0."""

    def __init__(self, hosts: int) -> None:
        sweep()
        self._prefix = f"{MARK}-{os.getpid()}-{next(_numbers)}"
        self._switch = f"{self._prefix}-switch"
        self._hosts = range(hosts)
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def namespace(self, host: int) -> str:
        return f"{self._prefix}-{host}"

    @staticmethod
    def address(host: int) -> str:
        return f"10.77.0.{host + 1}"

    def cut(self, *hosts: int) -> None:
        """Pull the cables of these hosts: no carrier, and nobody is told."""
        ip_batch([f"link set port{host} down" for host in hosts], self._switch)

    def mend(self, *hosts: int) -> None:
        ip_batch([f"link set port{host} up" for host in hosts], self._switch)

    def partition(self, apart: Sequence[int]) -> None:
        """These hosts to the second switch, all others to the first; carriers stay up."""
        ip_batch(
            [f"link set port{host} master bridge{int(host in apart)}" for host in self._hosts],
            self._switch,
        )

    def processes(self) -> list[int]:
        """All that run in one of the hosts."""
        return [process for host in self._hosts for process in processes_in(self.namespace(host))]

    def sent(self, host: int) -> tuple[int, int]:
        """Bytes and packets that a host has sent through its cable: the port received them."""
        return self._counted(host, "RX:")

    def received(self, host: int) -> tuple[int, int]:
        """Bytes and packets that have come to a host through its cable."""
        return self._counted(host, "TX:")

    def _counted(self, host: int, direction: str) -> tuple[int, int]:
        words = ip("-n", self._switch, "-s", "link", "show", f"port{host}").split()
        numbers = [word for word in words[words.index(direction) :] if word.isdigit()]
        return int(numbers[0]), int(numbers[1])

    def close(self) -> None:
        """End what still runs in the hosts, and delete everything."""
        for name in [self.namespace(host) for host in self._hosts] + [self._switch]:
            _delete(name)

    def _build(self) -> None:
        self.close()  # what a killed run has left whose number this process has been given
        ip_batch(
            [f"netns add {name}" for name in [self._switch, *map(self.namespace, self._hosts)]]
        )
        bridges = [f"bridge{number}" for number in range(BRIDGES)]
        ip_batch(
            [
                *(
                    f"link add {name} type bridge forward_delay 0 mcast_snooping 0"
                    for name in bridges
                ),
                *(f"link set {name} up" for name in bridges),
                *(
                    f"link add port{host} type veth peer name eth0 netns {self.namespace(host)}"
                    for host in self._hosts
                ),
                *(f"link set port{host} master bridge0 up" for host in self._hosts),
            ],
            self._switch,
        )
        for host in self._hosts:
            ip_batch(self._inside(host), self.namespace(host))

    def _inside(self, host: int) -> list[str]:
        return [
            "link set lo up",
            f"addr add {self.address(host)}/24 brd + dev eth0",
            "link set eth0 up",
            "route add 224.0.0.0/4 dev eth0",
        ]


def enter(namespace: str) -> None:
    """Move this thread into a namespace; the other threads stay where they are."""
    libc = ctypes.CDLL(None, use_errno=True)
    with (NAMESPACES / namespace).open() as file:
        if libc.setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def processes_in(namespace: str) -> list[int]:
    """Those that run there; none where there is no such namespace."""
    try:
        return [int(word) for word in ip("netns", "pids", namespace).split()]
    except HostsUnavailableError:
        return []


def sweep() -> None:
    """Delete what a run that was killed has left behind."""
    with suppress(FileNotFoundError):
        for name in sorted(entry.name for entry in NAMESPACES.iterdir()):
            words = name.split("-")
            if words[0] == MARK and words[1].isdigit() and not Path(f"/proc/{words[1]}").exists():
                _delete(name)


def _delete(namespace: str) -> None:
    if not (NAMESPACES / namespace).exists():
        return
    own = os.getpid()
    for process in processes_in(namespace):
        if process != own:  # a thread of ours may still be inside
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    with suppress(HostsUnavailableError):
        ip("netns", "del", namespace)
