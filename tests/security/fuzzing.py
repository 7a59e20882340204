"""A hostile program that makes system calls drawn at random, with arguments drawn at random.

Started as ``fuzzing.py -x JSON``. Workers make the calls, because most of them are soon broken by
what they did; a new one takes the place of each until the time is over. Half of what they draw has
arguments of the kinds that its call wants (``WANTED``), so that it comes further than to a first look.
A draw may well end or stop its own processes, which nobody forbids: with ``apart`` each worker holds
its own signals back, so that what started it lives on. What is found of a secret in their memory
or in what they wrote is printed as ``GOT``.
"""

import ctypes
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

libc = ctypes.CDLL(None, use_errno=True)
NUMBERS_OF_CALLS = (*range(335), *range(424, 472))
LEFT_OUT = frozenset([60, 231, 34, 130, 162, 306, 74, 75])
"""Ending itself, waiting for ever, and having all disks written."""
CALLS_A_WORKER = 400
WORKERS = 4
WORKER_S = 2.0
BUFFER_BYTES, BUFFERS = 4096, 8
COUNTER = struct.Struct("=Q")
SECRET = b"secret of "
OWN = b"secret of sha256"
NUMBERS = (0, 1, 2, 3, 4, 8, 16, 64, 4095, 4096, 0x7FFFFFFF, 0xFFFFFFFF, -1, -100, 1 << 40, 1 << 63)
SIGNALS_ONLY = struct.pack("=QQQ", 0, 0, 0b10)
"""A Landlock ruleset that forbids nothing but signals to whoever is not in it."""
WANTED = """
2:piin 257:apii 437:apbi 85:pi 82:pp 264:apap 316:apapi 86:pp 265:apapi 88:pp 266:pap 87:p 263:api 84:p
83:pi 258:api 133:pii 259:apii 76:pi 77:fi 285:fiii 90:pi 91:fi 268:apii 452:apii 92:pii 94:pii 93:fii
260:apiii 132:pb 235:pb 261:apb 280:apbi 188:pbbii 189:pbbii 190:fbbii 197:pb 80:p 81:f 161:p 165:ppbib
166:pi 155:pp 428:api 429:fpfpi 442:apibi 303:apbbi 304:fbi 254:fpi 300:ii 301:fiifp 175:bip 313:fbi
0:fbi 1:fbi 17:fbii 18:fbii 19:fbi 20:fbi 40:ffbi 275:fbfbii 276:ffii 278:fbii 326:fbfbii 295:fbii
9:biiifi 10:bii 25:biiib 5:fb 4:pb 6:pb 262:apbi 332:apiib 217:fbi 89:pbi 267:apbi 59:pbb 322:apbbi
62:ni 200:ni 234:nni 129:nib 297:nnib 424:fibi 434:ni 438:fii 101:inbb 310:nbibii 311:nbibii 312:nniii
302:nibb 141:ini 140:in 203:nib 204:nib 144:nib 142:nb 314:nbi 251:iin 279:nibbbi 256:nibb 440:fbiii 448:fi
109:nn 121:n 124:n 61:nbib 247:inbib 72:fii 16:fib 41:iii 53:iiib 42:fbi 49:fbi 44:fbiibi 46:fbi 47:fbi
29:iii 30:ibi 31:iib 240:piib 241:p 248:bbbii 250:iiibb 249:bbbi 321:ibi 298:bniii 323:i 425:ib 319:bi
447:i 56:ibbbi 435:bi 272:i 308:fi 157:iiiii 158:ib 317:iib 444:bii 445:fibi 446:fi 170:bi 171:bi 103:ibi
164:bb 227:ib 159:b 246:ibib 320:ffibi 105:i 106:i 117:iii 119:iii 126:bb 125:bb 426:fiiibi 427:fibi
"""
"""Calls of x86_64 with what they take: a number, a path, a folder to begin at, a file, a process,
memory."""
TYPED = [
    (int(number), kinds) for number, _, kinds in (each.partition(":") for each in WANTED.split())
]


class Worker:
    """Draws from a seed; the parent gives each another one."""

    def __init__(self, told: dict[str, object], seed: int, counter: mmap.mmap) -> None:
        self._draw, self._counter, self._done = Random(seed), counter, 0
        self._buffers = [ctypes.create_string_buffer(BUFFER_BYTES) for _ in range(BUFFERS)]
        texts = [str(each).encode() for each in told["paths"]]  # type: ignore[attr-defined]
        self._paths = [ctypes.create_string_buffer(each) for each in texts]
        self._processes = list(told["processes"])  # type: ignore[call-overload]

    def run(self) -> None:
        for self._done in range(1, CALLS_A_WORKER + 1):
            number, arguments = self._drawn()
            if number not in LEFT_OUT:
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                libc.syscall(ctypes.c_long(number), *arguments)
                COUNTER.pack_into(self._counter, 0, self._done)
                self._look(number)

    def _drawn(self) -> tuple[int, list[object]]:
        if self._draw.randrange(2):
            number, kinds = self._draw.choice(TYPED)
            return number, [self._wanted(each) for each in kinds]
        return self._draw.choice(NUMBERS_OF_CALLS), [self._any() for _ in range(6)]

    def _wanted(self, kind: str) -> object:
        """An argument of this kind, now and then of any."""
        if not self._draw.randrange(10):
            return self._any()
        match kind:
            case "p":
                return self._draw.choice(self._paths)
            case "f":
                return ctypes.c_long(self._draw.randrange(12))
            case "n":
                return ctypes.c_long(self._draw.choice(self._processes))
            case "a":
                return ctypes.c_long(-100)
            case "b":
                return self._memory()
            case _:
                return self._number()

    def _any(self) -> object:
        return self._wanted(self._draw.choice("iiiipppnnffbbb"))

    def _number(self) -> object:
        if self._draw.randrange(4):
            return ctypes.c_long(self._draw.choice(NUMBERS))
        return ctypes.c_long(self._draw.getrandbits(self._draw.choice((4, 8, 16, 32, 63))))

    def _memory(self) -> object:
        buffer = self._draw.choice(self._buffers)
        if self._draw.randrange(2):
            words = [self._word() & (1 << 64) - 1 for _ in range(32)]
            mixed = b"".join(each.to_bytes(8, "little") for each in words)
            ctypes.memmove(buffer, mixed, len(mixed))
        return buffer

    def _word(self) -> int:
        """A number or where memory is, as in what describes pieces of it."""
        if self._draw.randrange(4):
            return self._draw.choice(NUMBERS)
        return ctypes.addressof(self._draw.choice(self._buffers))

    def _look(self, number: int) -> None:
        for buffer in self._buffers:
            if _tells(buffer.raw):
                os.write(1, b"GOT a secret by call %d\n" % number)


def _tells(content: bytes) -> bool:
    found = content.find(SECRET)
    return found >= 0 and not content.startswith(OWN, found)


def _hold_own_signals_back() -> None:
    file = libc.syscall(444, SIGNALS_ONLY, len(SIGNALS_ONLY), 0)
    libc.syscall(446, file, 0)
    os.close(file)


class Workers:
    """Keeps some of them at work."""

    def __init__(self, told: dict[str, object]) -> None:
        self._told, self._seed = told, int(str(told["seed"]))
        self._running: dict[int, tuple[float, mmap.mmap]] = {}
        self.ended = self.calls = 0

    def begin(self) -> None:
        self._seed += 1
        counter = mmap.mmap(-1, COUNTER.size)
        process = os.fork()
        if not process:
            os.setpgid(0, 0)
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if self._told["apart"]:
                _hold_own_signals_back()
            Worker(self._told, self._seed, counter).run()
            os._exit(0)
        self._running[process] = time.monotonic(), counter

    def look(self) -> None:
        """Begin what is missing, and end whoever takes too long with all that it has begun."""
        while len(self._running) < WORKERS:
            self.begin()
        for process, (began_s, _) in self._running.items():
            if time.monotonic() - began_s > WORKER_S:
                _end_all(process)
        ended, _ = os.waitpid(-1, os.WNOHANG)
        if ended in self._running:
            _end_all(ended)
            _, counter = self._running.pop(ended)
            self.ended += 1
            self.calls += COUNTER.unpack_from(counter)[0]
            counter.close()

    def tell(self) -> None:
        os.write(1, b"workers %d\ncalls %d\n" % (self.ended, self.calls))
        self.ended = self.calls = 0


def _end_all(process: int) -> None:
    for end in (os.killpg, os.kill):
        with suppress(OSError):
            end(process, signal.SIGKILL)


def _look_at_files(folder: Path) -> None:
    with suppress(OSError, RecursionError):
        for path in folder.iterdir():
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    _look_at_files(path)
                elif path.is_file() and not path.is_symlink():
                    with path.open("rb") as file:
                        if _tells(file.read(1 << 20)):
                            os.write(1, b"GOT a secret in a file\n")


def main(told: dict[str, object]) -> None:
    now_s = time.monotonic()
    until_s, told_s = now_s + float(str(told["seconds"])), now_s
    workers = Workers(told)
    while (now_s := time.monotonic()) < until_s:
        with suppress(OSError):  # what has been begun may be too much for now
            workers.look()
        if now_s > told_s + 0.5:
            workers.tell()
            told_s = now_s
        select.select([], [], [], 0.002)
    workers.tell()
    _look_at_files(Path())


if __name__ == "__main__":
    main(json.loads(sys.argv[sys.argv.index("-x") + 1]))
