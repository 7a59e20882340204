"""Programs that try to outlive their pause, their stop and their agent.

Each writes a beat into a file of its own name, a letter every hundredth of a second, by which is seen
whether it goes on.
"""

from __future__ import annotations

_BEATS = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
def work(annoy=lambda: None):
    while True:
        with open("beats-%d" % os.getpid(), "a") as file:
            file.write(".")
        annoy()
        time.sleep(0.01)
def tried(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        pass
"""
HIDES = (
    _BEATS
    + """
for _ in range(2):
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        work()
work()
"""
)
"""Forks twice, with sessions of their own, deaf to signals."""
STOPS_ITS_KEEPERS = (
    _BEATS
    + """
def stop():
    process = PARENT
    for _ in range(3):
        tried(os.kill, process, signal.SIGSTOP)
        try:
            with open("/proc/%d/stat" % process) as file:
                process = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            break
PARENT = os.getppid()
if not os.fork():
    work(stop)
work(stop)
"""
)
"""Stops whoever started it, and whoever started that."""
TRACES_ITS_KEEPER = (
    _BEATS
    + """
import ctypes
libc = ctypes.CDLL(None)
PARENT = os.getppid()
os.setsid() if os.getpgrp() != os.getpid() else None
for request in (16, 0x4206):
    libc.ptrace(request, PARENT, 0, 0)
libc.prctl(1, 0, 0, 0, 0)
libc.prctl(36, 1, 0, 0, 0)
if not os.fork():
    work()
work()
"""
)
"""Would hold its keeper as a debugger does, and keep its orphans for itself."""
MULTIPLIES = (
    _BEATS
    + """
for _ in range(8):
    tried(os.fork)
tried(os.setsid)
work(lambda: time.sleep(0.2))
"""
)
"""As many processes as it may have."""
JAVASCRIPT = """
const { spawn } = require("child_process");
const fs = require("fs");
for (const each of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(each, () => {});
if (process.argv[2] !== "again") {
  const options = { detached: true, stdio: "ignore" };
  try { spawn(process.execPath, [__filename, "again"], options).unref(); } catch {}
}
setInterval(() => fs.appendFileSync(`beats-${process.pid}`, "."), 10);
"""
"""A job in JavaScript that leaves a process behind it."""
