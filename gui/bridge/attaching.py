"""Marking a gate done with files: they are sent in pieces, then the gate is told which they are.

In pieces, although an agent of this machine could read them itself: it may run as a service that
must not read what its person may, and a person sees how far a large file is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.api.phrases import NOT_ATTACHED
from agent.api.values import Dataset
from agent.api.work import GATE, Gate, Wished
from agent.client import Client
from agent.workflow.submission import Sent, add

Stamp = tuple[Path, int, int]
Kept = dict[Stamp, Dataset]
"""What was sent before, as long as the file is still the same: a second try sends nothing twice."""


async def finish_gate(
    client: Client,
    task: str,
    paths: Sequence[Path | None],
    kept: Kept,
    told: Callable[[tuple[int, int]], object],
) -> Wished:
    """Send the files that are not in ``kept`` yet and note them there, then mark the gate done with
    all of them, and nothing where a name is left open (None); return the agent's answer. ``told`` hears the bytes sent and the bytes in all.
    Raises ``ClientError`` or ``OSError``; what was sent by then stays in ``kept``."""
    stamps = [await asyncio.to_thread(_stamp, path) if path else None for path in paths]
    whole, before = sum(stamp[2] for stamp in stamps if stamp), 0
    outputs = []
    for stamp in stamps:
        if stamp is None:
            outputs.append(Dataset(NOT_ATTACHED, external=True))
            continue
        path, _, size = stamp
        if stamp not in kept:
            kept[stamp] = await add(client, path, far=True, sent=_counter(before, whole, told))
        outputs.append(kept[stamp])
        before += size
        told((before, whole))
    return await client.call(GATE, Gate(task, tuple(outputs)))


def _counter(before: int, whole: int, told: Callable[[tuple[int, int]], object]) -> Sent:
    sent = before

    def count(more: int) -> None:
        nonlocal sent
        sent += more
        told((sent, whole))

    return count


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder: folders in it that cannot be read
    and broken links count as 0. Raises ``OSError`` if the path itself is missing."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def _stamp(path: Path) -> Stamp:
    return path, path.stat().st_mtime_ns, size_of(path)
