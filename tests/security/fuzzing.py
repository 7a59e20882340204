"""A hostile program that makes system calls drawn at random, with arguments drawn at random.

Started as ``fuzzing.py -x JSON``. Workers make the calls, because most of them are soon broken by
what they did; a new one takes the place of each until the time is over. What they find of a secret
in their memory is printed as ``GOT``.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from random import Random

libc = ctypes.CDLL(None, use_errno=True)
CALLS_MAX = 472
LEFT_OUT = frozenset([60, 231, 34, 130, 162, 306, 74, 75])
"""Ending itself, waiting for ever, and having all disks written."""
CALLS_A_WORKER = 400
WORKERS = 4
WORKER_S = 2.0
BUFFER_BYTES, BUFFERS = 4096, 8
SECRET = b"secret of "
OWN = b"secret of sha256"
NUMBERS = (0, 1, 2, 3, 4, 8, 16, 64, 4095, 4096, 0x7FFFFFFF, 0xFFFFFFFF, -1, -100, 1 << 40, 1 << 63)


class Worker:
    """Draws from a seed; the parent gives each another one."""

    def __init__(self, told: dict[str, object], seed: int) -> None:
        self._draw = Random(seed)
        self._buffers = [ctypes.create_string_buffer(BUFFER_BYTES) for _ in range(BUFFERS)]
        texts = [str(each).encode() for each in told["paths"]]  # type: ignore[attr-defined]
        self._paths = [ctypes.create_string_buffer(each) for each in texts]
        self._processes = list(told["processes"])  # type: ignore[call-overload]

    def run(self) -> None:
        for _ in range(CALLS_A_WORKER):
            number = self._draw.randrange(CALLS_MAX)
            if number not in LEFT_OUT:
                arguments = [self._argument() for _ in range(6)]
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                libc.syscall(ctypes.c_long(number), *arguments)
                self._look(number)

    def _argument(self) -> object:
        kind = self._draw.randrange(10)
        if kind < 3:
            return ctypes.c_long(self._draw.choice(NUMBERS))
        if kind < 4:
            return ctypes.c_long(self._draw.getrandbits(self._draw.choice((4, 8, 16, 32, 63))))
        if kind < 6:
            return self._draw.choice(self._paths)
        if kind < 7:
            return ctypes.c_long(self._draw.choice(self._processes))
        if kind < 8:
            return ctypes.c_long(self._draw.randrange(12))
        buffer = self._draw.choice(self._buffers)
        if self._draw.randrange(2):
            words = [self._draw.choice(NUMBERS) & (1 << 64) - 1 for _ in range(32)]
            mixed = b"".join(each.to_bytes(8, "little") for each in words)
            ctypes.memmove(buffer, mixed, len(mixed))
        return buffer

    def _look(self, number: int) -> None:
        for buffer in self._buffers:
            found = buffer.raw.find(SECRET)
            if found >= 0 and not buffer.raw.startswith(OWN, found):
                os.write(1, b"GOT a secret by call %d\n" % number)


def main(told: dict[str, object]) -> None:
    until_s = time.monotonic() + float(str(told["seconds"]))
    seed, done = int(str(told["seed"])), 0
    running: dict[int, float] = {}
    while time.monotonic() < until_s:
        while len(running) < WORKERS:
            seed += 1
            process = os.fork()
            if not process:
                signal.signal(signal.SIGALRM, lambda *_: None)
                Worker(told, seed).run()
                os._exit(0)
            running[process] = time.monotonic()
        ended, _ = os.waitpid(-1, os.WNOHANG)
        if ended:
            done += running.pop(ended, None) is not None
            continue
        for process, began_s in running.items():
            if time.monotonic() - began_s > WORKER_S:
                os.kill(process, signal.SIGKILL)
        select.select([], [], [], 0.005)
    os.write(1, b"workers %d\n" % done)


if __name__ == "__main__":
    main(json.loads(sys.argv[sys.argv.index("-x") + 1]))
