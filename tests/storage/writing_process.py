"""A process that writes without end, for tests that kill it: says each change that is on disk.

Arguments: folder, number of the first change, pages of log before it is folded.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from agent.storage import writer
from agent.storage.journal import Journal
from tests.storage.samples import persist

IN_FLIGHT = 8


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def acknowledge(number: int, _: Future[None]) -> None:
    say(str(number))


def main(folder: str, first: str, log_pages: str) -> None:
    writer.LOG_PAGES_MAX = int(log_pages)
    writer.RESERVE_BYTES = 64 * 1024
    journal = Journal.open(Path(folder))
    say("open")
    flying: deque[Future[None]] = deque()
    number = int(first)
    while True:
        done = journal.writer.submit([persist(number)])
        done.add_done_callback(partial(acknowledge, number))
        flying.append(done)
        if len(flying) >= IN_FLIGHT:
            flying.popleft().result()
        number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
