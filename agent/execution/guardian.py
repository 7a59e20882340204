"""Ends the programs of an agent that did not get to do it itself.

An agent may be killed at any moment, and nothing that it started may go on: the flock runs the
task elsewhere, and two of it would work on the same data. The kernel's own help, a signal at the
parent's death (``PR_SET_PDEATHSIG``), reaches the first process only and not what that started, and
has to be set in the child between fork and exec, where a process with threads may run no Python.

So each agent that runs programs has one guardian, this file, run by a bare interpreter. It holds
the reading end of a pipe and sleeps. When the agent ends, in whatever way, the kernel closes the
other end; the guardian wakes and ends every process that carries the agent's mark in its
environment, which children inherit at any depth and in any session. It looks again until it finds
none, because what it is about to end may be starting others.

It costs nothing while it waits, nothing at the start of a program, and needs no list of processes
that could be out of date. What escapes it is a program that clears the environment of what it
starts and takes it out of its session.
"""

import os
import signal
import sys
import time

assert sys.platform != "win32"

MARK = "WINGBEAT_AGENT"
LOOKS_MAX = 200
BETWEEN_LOOKS_S = 0.01


def carry_mark(mark: bytes) -> list[int]:
    """The processes that carry this in their environment."""
    own = os.getpid()
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - a bare interpreter starts faster
        if not name.isdigit() or int(name) == own:
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                if mark in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            continue
    return found


def end_all(mark: bytes) -> None:
    """End what carries the mark, until nothing does."""
    for _ in range(LOOKS_MAX):
        found = carry_mark(mark)
        if not found:
            return
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(BETWEEN_LOOKS_S)


def main() -> None:
    """Wait for the end of the agent, which is the end of the pipe."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    end_all(f"{MARK}={sys.argv[1]}".encode())


if __name__ == "__main__":
    main()
