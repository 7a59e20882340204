"""Starts the programs of an agent, and ends them when the agent did not get to do it itself.

An agent may be killed at any moment, and nothing that it started may go on: the flock runs the
task elsewhere, and two of it would work on the same data. So programs are not children of the
agent but of this process, a bare interpreter of a few megabytes:

- It is the one that orphans fall to (``PR_SET_CHILD_SUBREAPER``), so whatever a program starts,
  in whatever session and with whatever environment, stays below it in the tree of processes.
- It holds one end of a socket. When the agent ends, in whatever way, the kernel closes the other
  end; the guardian wakes and ends everything below it, again and again until nothing is left.
- It has one thread, so running Python between fork and exec is safe, and it is small, so that a
  fork is cheap. An agent with threads and a large heap has neither.

For as many programs as run at a time it forks keepers (``keeper``), which start programs and stay
until the last process of them has ended. A keeper talks with the agent over a socket of its own,
so that this process has nothing to do while programs run. If somebody kills a keeper, its processes
fall to the guardian, which ends them; one that somebody has stopped is killed.
"""

from __future__ import annotations

import array
import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress

from agent.execution.control_groups import ControlGroups
from agent.execution.keeper import become_subreaper, keep
from agent.execution.process_tree import children_of, end_tree

assert sys.platform != "win32"

AGENT = 0


def main() -> None:
    """Run the guardian of the agent at the other end of standard input until that has gone and
    nothing is left of its programs; signals that would end it are ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    agent = socket.socket(fileno=os.dup(AGENT))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, AGENT)  # a free number here would be taken by a pipe of a keeper
    os.close(nothing)
    Guardian(agent).run()


class Guardian:
    """Forks keepers, and looks after what has lost its keeper."""

    def __init__(self, agent: socket.socket) -> None:
        self._agent = agent
        self._keepers: set[int] = set()
        self._groups = ControlGroups()
        self._woken, wakes = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Fork a keeper for each that the agent asks for, and end processes whose keeper died,
        until the agent closes its end of the socket; then end all processes below this one and
        return."""
        gc.collect()
        gc.freeze()
        while True:
            ready, _, _ = select.select([self._agent.fileno(), self._woken], [], [])
            if self._woken in ready:
                self._reap()
            if self._agent.fileno() in ready and not self._serve():
                self._groups.kill()
                end_tree(os.getpid())
                self._groups.close()
                return

    def _serve(self) -> bool:
        """One request; False when there will be no more."""
        space = socket.CMSG_SPACE(array.array("i").itemsize)
        try:
            data, ancillary, _, _ = self._agent.recvmsg(1, space, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return False
        if not data:
            return False
        for _, _, content in ancillary:
            for file in array.array("i", content):
                self._fork(file)
                os.close(file)
        return True

    def _fork(self, file: int) -> None:
        try:
            keeper = os.fork()
        except OSError:
            return  # the keeper's socket is closed, which the agent takes for what it is
        if keeper:
            self._keepers.add(keeper)
            return
        code = 1
        try:
            self._agent.close()
            keep(file, self._groups.of_keeper())
            code = 0
        finally:
            os._exit(code)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._woken, 4096):
                pass
        orphans = False
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
                if not process:
                    break
                if os.WIFSTOPPED(status):  # its program would run on whatever the agent says
                    os.kill(process, signal.SIGKILL)
                    continue
                orphans |= process not in self._keepers or status != 0
                if process in self._keepers:
                    self._groups.end(process)
                    self._keepers.discard(process)
        if orphans:
            for process in children_of(os.getpid()):
                if process not in self._keepers:
                    end_tree(process)


if __name__ == "__main__":
    main()
