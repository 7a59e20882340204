"""Starts a program by a child that gives things up in Python first, and copies nothing of its parent.

A fork of an interpreter costs a millisecond, most of it for pages that either side touches after.
So the child is made as ``posix_spawn`` makes its own: it works in its parent's memory while the
parent stands still, until the child has executed its program or has ended (``CLONE_VM``,
``CLONE_VFORK``). All else is its own: number, files, folder, limits, credentials, what it may.

What such a child does must have returned before the program is executed, or the interpreter would go
on within a call that never came back. So the C library leads from one call to the next
(``makecontext``): the function in Python, ``execve``, and where that comes back a note of it and the
exit. Their stacks lie below that of the parent, where an interpreter expects its own.

Runs in a bare interpreter too, in a process with one thread.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct

TYPE_CHECKING = False  # importing typing would take as long as starting a program
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

SHARED_MEMORY_UNTIL_EXECUTED = 0x100 | 0x4000
CONTEXT_BYTES = 16 * 1024
"""More than a processor's registers take in any C library."""
LINK_AT = 8
"""Where a context has what follows it, and its stack after that, whatever the processor."""
LINK_AND_STACK = struct.Struct("@PPiN")
STACK_BYTES = 256 * 1024
EXECUTED_S_MAX = 10.0
"""Who kills a child before it has executed its program leaves the interpreter in it, for good. This
process is ended then, by the usual effect of the signal, whatever the interpreter waits for, or before
that by an interpreter that notices (since Python 3.13)."""
APART_BYTES = 1024 * 1024
"""So far below what the parent has ever used of its stack."""

_libc = ctypes.CDLL(None, use_errno=True)
_exit = _libc["_exit"]
_Prepare = ctypes.CFUNCTYPE(None)


class Starter:
    """Starts programs, one at a time."""

    def __init__(self) -> None:
        top = _stack_used_to() - APART_BYTES
        self._stacks = [top - place * STACK_BYTES for place in range(4)]
        self._contexts = [ctypes.create_string_buffer(CONTEXT_BYTES) for _ in self._stacks]
        for each in self._contexts:
            _libc.getcontext(each)
        self._come_back = ctypes.c_int()
        self._error = 0

    def start(
        self,
        prepare: Callable[[], None],
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> int:
        """Call ``prepare`` in a child that executes the command then, and return its process id;
        raise ``OSError`` when one of both has failed, with nothing left. ``prepare`` must not
        change what is the parent's too: objects that outlive it, how signals are handled. Where it
        takes more than ten seconds, this process is ended."""
        executed = os.fsencode(command[0])
        path = ctypes.create_string_buffer(len(executed) + 1)  # until then no program has this name
        self._come_back.value, self._error = 0, errno.EINVAL

        def prepared() -> None:
            """Call ``prepare`` and, unless it fails, let the command be executed."""
            try:
                prepare()
                path.value, self._error = executed, 0
            except OSError as error:
                self._error = error.errno or self._error

        calls = (  # to be kept while the child runs
            (_Prepare(prepared),),
            (_libc.execve, path, _strings(command), _strings(_pairs(environment))),
            (_libc.memset, ctypes.byref(self._come_back), 1, ctypes.sizeof(ctypes.c_int)),
            (_exit, 1),
        )
        first = self._lead(calls)
        how = SHARED_MEMORY_UNTIL_EXECUTED | signal.SIGCHLD
        stack = ctypes.c_void_p(self._stacks[-1])
        signal.setitimer(signal.ITIMER_REAL, EXECUTED_S_MAX)
        process: int = _libc.clone(_libc.setcontext, stack, how, first)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if process < 0 or self._come_back.value:
            number = self._error or ctypes.get_errno()
            if process > 0:
                os.waitpid(process, 0)
            raise OSError(number, os.strerror(number))
        return process

    def _lead(self, calls: tuple[tuple[Any, ...], ...]) -> Any:
        """Have each of these calls follow the one before, and return where it begins."""
        after = 0
        for place in reversed(range(len(calls))):
            context, bottom = self._contexts[place], self._stacks[place] - STACK_BYTES
            LINK_AND_STACK.pack_into(context, LINK_AT, after, bottom, 0, STACK_BYTES)
            function, *arguments = calls[place]
            _libc.makecontext(context, function, len(arguments), *arguments)
            after = ctypes.addressof(context)
        return self._contexts[0]


def _stack_used_to() -> int:
    """The lowest address that this process has used of its stack."""
    with open("/proc/self/maps", "rb") as file:  # noqa: PTH123 - quick to import
        line = next(each for each in file if each.rstrip().endswith(b"[stack]"))
    return int(line.partition(b"-")[0], 16)


def _pairs(environment: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in environment.items()]


def _strings(texts: Sequence[str]) -> Any:
    """Return the texts as C takes them: an array of pointers that ends with none."""
    return (ctypes.c_char_p * (len(texts) + 1))(*map(os.fsencode, texts), None)
