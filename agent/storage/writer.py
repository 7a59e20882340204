"""The thread that writes, so that the loop of the agent never waits for a disk.

What is submitted while a commit runs is committed together next: the slower the disk, the more one
flush carries, and the order stays. A submission is done when it is on disk; futures are completed
in the order of submission, before the thread turns to tidying. If a transaction is refused, all
submissions in it are, and those behind it are tried: records are whole, so none needs another.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from agent.protocol.effects import Persist
from agent.storage.errors import JournalBusy, JournalClosed, JournalRefused
from agent.storage.store import Store

PENDING_PERSISTS_MAX = 10_000
TRANSACTION_PERSISTS_MAX = 1_000


@dataclass(slots=True)
class Submission:
    """Persists that belong together, and whoever waits for them."""

    persists: Sequence[Persist]
    done: Future[None] = field(default_factory=Future)


class Writer:
    """Owns the store and its thread, from start to ``close``."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._changed = threading.Condition()
        self._waiting: deque[Submission] = deque()
        self._waiting_persists = 0
        self._probes: list[Future[bool]] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, persists: Sequence[Persist]) -> Future[None]:
        """Queue records for the writing thread and return a future that is done when they are on
        disk. Never blocks; when the queue is too long or closed the future ends with the
        refusal."""
        submission = Submission(persists)
        # From now on nobody can cancel it: it may be on disk already.
        submission.done.set_running_or_notify_cancel()
        with self._changed:
            refusal = self._why_not()
            if refusal is None:
                self._waiting.append(submission)
                self._waiting_persists += len(persists)
                self._changed.notify()
        if refusal is not None:
            submission.done.set_exception(refusal)
        return submission.done

    def probe(self) -> Future[bool]:
        """Ask the writing thread whether the disk takes records again; the future's result is False
        when the writer is closing."""
        answer: Future[bool] = Future()
        answer.set_running_or_notify_cancel()
        with self._changed:
            closing = self._closing
            if not closing:
                self._probes.append(answer)
                self._changed.notify()
        if closing:
            answer.set_result(False)
        return answer

    def close(self) -> None:
        """Write what waits, then end the thread and wait for its end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _why_not(self) -> JournalRefused | None:
        if self._closing:
            return JournalClosed(f"The journal in {self._folder} is closed; the agent is stopping.")
        if self._waiting_persists >= PENDING_PERSISTS_MAX:
            return JournalBusy(
                f"The disk that holds the journal in {self._folder} is too slow:"
                f" {self._waiting_persists} changes wait for it; see what else keeps it busy."
            )
        return None

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting or self._probes or self._closing)
                    group = self._next_group()
                    probes, self._probes = self._probes, []
                if not group and not probes:
                    return
                self._write(group)
                for answer in probes:
                    answer.set_result(self._store.is_usable())
                self._store.tidy()
        finally:
            self._store.close()

    def _next_group(self) -> list[Submission]:
        group: list[Submission] = []
        persists = 0
        while self._waiting and (
            not group or persists + len(self._waiting[0].persists) <= TRANSACTION_PERSISTS_MAX
        ):
            submission = self._waiting.popleft()
            persists += len(submission.persists)
            group.append(submission)
        self._waiting_persists -= persists
        return group

    def _write(self, group: list[Submission]) -> None:
        if not group:
            return
        try:
            self._store.commit([persist for each in group for persist in each.persists])
        except JournalRefused as refused:
            for each in group:
                each.done.set_exception(refused)
        except Exception as fault:  # noqa: BLE001 - whoever waits is told; the thread must live
            if len(group) == 1:
                group[0].done.set_exception(fault)
                return
            # One of them is at fault: the others must not pay for it.
            for each in group:
                self._write([each])
        else:
            for each in group:
                each.done.set_result(None)
