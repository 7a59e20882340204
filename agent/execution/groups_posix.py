"""Groups of processes on POSIX systems: a session of their own each, with a guardian over all.

A session makes a process group that signals reach as a whole, and keeps the terminal's Ctrl-C for
the agent. Priority is lowered from outside right after the start, because running Python between
fork and exec is not safe in a process with threads.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agent.execution import guardian
from agent.execution.groups import Hear

assert sys.platform != "win32"

NICENESS = 10
GUARDIAN_ENDS_S = 5.0


class PosixGroup(asyncio.SubprocessProtocol):
    """One group, by the process that leads it.

    The exit of that process and the end of its pipes are two things: another process of the
    group may keep the pipes open.
    """

    def __init__(self, hear: Hear) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        self._hear = hear
        self._transport: asyncio.SubprocessTransport
        self._group = 0

    # -- for whoever started it ------------------------------------------------------------

    def say(self, line: bytes) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(line)

    def suspend(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)

    # -- for the loop ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self._group = transport.get_pid()
        with suppress(OSError):
            os.setpriority(os.PRIO_PGRP, self._group, NICENESS)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._hear(fd, data)

    def process_exited(self) -> None:
        if not self.exited.done():
            code = self._transport.get_returncode()
            self.exited.set_result(0 if code is None else code)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if not self.silent.done():
            self.silent.set_result(None)


class PosixGroups:
    """Starts groups. The guardian is started with the first of them."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(16)
        self._guardian: subprocess.Popen[bytes] | None = None

    def available(self) -> str:
        return ""

    async def start(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], hear: Hear
    ) -> PosixGroup:
        self._have_guardian()
        _, group = await asyncio.get_running_loop().subprocess_exec(
            lambda: PosixGroup(hear),
            *command,
            cwd=folder,
            env={**environment, guardian.MARK: self._mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        return group

    async def close(self) -> None:
        watching, self._guardian = self._guardian, None
        if watching is None:
            return
        assert watching.stdin is not None
        watching.stdin.close()
        try:
            await asyncio.to_thread(watching.wait, GUARDIAN_ENDS_S)
        except subprocess.TimeoutExpired:
            watching.kill()
            watching.wait()

    def _have_guardian(self) -> None:
        """Started anew if somebody has ended it. Its pipe is inherited by no program."""
        if self._guardian is not None and self._guardian.poll() is None:
            return
        if self._guardian is not None and self._guardian.stdin is not None:
            self._guardian.stdin.close()
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", "-E", guardian.__file__, self._mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
