"""A real full disk: runs in a mount namespace of its own, so that nothing of it can stay behind.

Fills a small file system with the journal's own records, then with somebody else's file, and makes
room again. Says what it saw as JSON; the test judges. Argument: an empty folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from agent.protocol.effects import Persist
from agent.storage.database import Key, Record
from agent.storage.errors import JournalFull
from agent.storage.journal import Journal
from tests.storage.samples import held, identity, life, persist, replayed, workflow

DISK_BYTES = 12 * 1024 * 1024
MORE_BYTES = 512 * 1024


def large(number: int) -> Persist:
    return Persist(identity(number), (workflow(f"x{number}", 800),), (life(f"t{number}", number),))


def fill(path: Path) -> None:
    """Somebody else takes all that is left."""
    with path.open("ab", buffering=0) as file:
        for size in (65_536, 4096, 1):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue


def write_until_full(journal: Journal) -> tuple[dict[Key, Record], str]:
    kept: dict[Key, Record] = {}
    for number in range(1, 10_000):
        try:
            journal.writer.submit([large(number)]).result()
        except JournalFull as full:
            return kept, str(full)
        kept = replayed([large(number)], kept)
    raise AssertionError("the disk does not end")


def refused(journal: Journal, number: int) -> bool:
    try:
        journal.writer.submit([large(number)]).result()
    except JournalFull:
        return True
    return False


def first_day(folder: Path) -> dict[str, object]:
    """The disk fills up, somebody else makes it worse, then there is room again."""
    (folder / "more").write_bytes(os.urandom(MORE_BYTES))
    with Journal.open(folder / "journal") as journal:
        kept, sentence = write_until_full(journal)
        saw: dict[str, object] = {
            "sentence": sentence,
            "kept": len(kept),
            "reserve given up": not (folder / "journal" / "reserve").exists(),
            "intact": held(journal.read()) == kept,
        }
        fill(folder / "other")
        saw["refused while full"] = refused(journal, 20_000)
        saw["usable while full"] = journal.writer.probe().result()
        saw["still intact"] = held(journal.read()) == kept
        (folder / "other").unlink()
        saw["not usable with the reserve only"] = not journal.writer.probe().result()
        (folder / "more").unlink()
        saw["usable with a little more"] = journal.writer.probe().result()
        saw["written after that"] = not refused(journal, 20_001)
    return saw


def second_day(folder: Path) -> dict[str, object]:
    """A start on a disk that is full but for the reserve, and one with nothing left at all."""
    with Journal.open(folder / "journal") as journal:
        before = held(journal.read())
    fill(folder / "other")
    try:
        with Journal.open(folder / "journal") as journal:
            saw: dict[str, object] = {"read on a full disk": held(journal.read()) == before}
            fill(folder / "other")
            saw["refused at start"] = refused(journal, 30_000)
    except JournalFull as full:
        saw = {"start on a full disk": str(full)}
    (folder / "other").unlink()
    with Journal.open(folder / "journal") as journal:
        saw["pruned"] = prune(journal)
        saw["usable after pruning"] = journal.writer.probe().result()
        journal.writer.submit([persist(10)]).result()
        saw["written again"] = journal.read().identity == identity(10)
    return saw


def prune(journal: Journal) -> int:
    """Forgetting needs room, too. The first refusal gives up the reserve, and then there is."""
    names = [workflow.spec.workflow for workflow in journal.read().workflows]
    portions = [tuple(names[first : first + 10]) for first in range(0, len(names), 10)]
    forgets = [Persist(identity(9), forgotten_workflows=portion) for portion in portions]
    for forget in forgets:
        try:
            journal.writer.submit([forget]).result()
        except JournalFull:
            journal.writer.submit([forget]).result()
    return len(names)


def main(folder: Path) -> None:
    options = f"size={DISK_BYTES},mode=700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True)
    saw = first_day(folder) | second_day(folder)
    os.write(1, json.dumps(saw).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
