"""The audit of a node: a line for each act, chained by hashes and signed with the node's key.

What was written cannot be changed, taken out or put in without its being seen: each entry has the hash of
the one before, and whoever has the key of the node could at most write all anew from some entry on, which
others notice, because they know hashes of before (``agent.flock.audit_heads``).

Lines are JSON, in two files of at most two megabytes each; when the newer is full the older goes. The first
line of a file is a checkpoint: an entry like others, with the hash of what was let go.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec.structs import replace

from agent.api.audit import CHECKPOINT, AuditEntry
from agent.protocol.phrases import Phrase, said

FILE_BYTES_MAX = 2_000_000
TEXT_MAX = 200
PENDING_MAX = 10_000
REFUSED_MAX = 30
"""To one in a minute."""
NOW, BEFORE = "audit.jsonl", "audit.before.jsonl"
_SIGNED_AS = b"wingbeat audit 1\0"
_SIGNATURE = ec.ECDSA(hashes.SHA256())
_encode = msgspec.json.Encoder().encode
_read = msgspec.json.Decoder(AuditEntry).decode
Key = Callable[[], ec.EllipticCurvePrivateKey]

log = logging.getLogger(__name__)


class AuditLog:
    """The audit of one node, from its first entry on."""

    def __init__(self, folder: Path, key: Key) -> None:
        """``key`` returns the node's; it is asked once, in a thread."""
        self._folder, self._load = folder, key
        self._signing: tuple[ec.EllipticCurvePrivateKey, str] | None = None
        self._pending: list[AuditEntry] = []
        self._lost = 0
        self._refused_in, self._refused = 0, Counter[str]()
        self._last: AuditEntry | None = None
        self._opened = self._torn = False
        self._writing: asyncio.Task[None] | None = None
        self._disk = threading.Lock()
        self.grown: Callable[[], object] = int
        """Called in the loop when entries were written."""

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last entry that is written; 0 before one is known."""
        return (0, "") if self._last is None else (self._last.number, hash_of(self._last))

    def note(
        self, who: str, what: str, on: str = "", came_from: str = "", outcome: str = "done"
    ) -> None:
        """Write an entry a moment later, its texts cut to 200 characters; to be called in the loop. Of
        each ``who``, 30 entries a minute whose outcome is not "done" are written, and none while
        10,000 wait: an entry of its own says how many were left out."""
        if len(self._pending) >= PENDING_MAX or self._is_one_too_many(who, outcome):
            self._lost += 1
            return
        texts = (each[:TEXT_MAX] for each in (who, what, on, came_from, outcome))
        self._pending.append(AuditEntry(0, time.time_ns() // 1_000_000, *texts))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_all())

    def _is_one_too_many(self, who: str, outcome: str) -> bool:
        if outcome == "done":
            return False
        minute = int(time.monotonic() // 60)
        if self._refused_in != minute:
            self._refused_in, self._refused = minute, Counter()
        self._refused[who] += 1
        return self._refused[who] > REFUSED_MAX

    async def close(self) -> None:
        """Wait until all entries are written; what the disk does not take is logged and lost."""
        if self._writing is not None:
            await self._writing

    async def open(self) -> None:
        """Find the last entry; a line that makes no sense is logged. Raise ``OSError`` when the disk
        refuses."""
        await asyncio.to_thread(self._written, [])

    async def entries(self, first: int, limit: int) -> tuple[tuple[AuditEntry, ...], int]:
        """Wait until what was noted is written, and return at most ``limit`` entries, those from the
        number ``first`` on or, for 0, the latest, and the number of the last that is kept, 0 without
        any. Raise ``OSError`` when the files cannot be read."""
        await self.close()
        found = await asyncio.to_thread(self._kept)
        last = found[-1].number if found else 0
        chosen = (
            [each for each in found if each.number >= first][:limit] if first else found[-limit:]
        )
        return tuple(chosen), last

    @staticmethod
    def first_broken(
        entries: Iterable[AuditEntry], witnessed: Mapping[int, str]
    ) -> tuple[int, Phrase | None]:
        """Return the number of the first entry that is wrong, or is missing at the end as others know
        a later one, and why; 0 and None where all are right. ``witnessed`` are the hashes of
        entries, by number, that others know."""
        before: AuditEntry | None = None
        for entry in entries:
            wrong = _wrong(entry, before, witnessed)
            if wrong is not None:
                return entry.number, wrong
            before = entry
        highest, end = max(witnessed, default=0), before.number if before else 0
        if highest > end:
            return end + 1, said(
                "it is cut off: others know of entries up to {number}", number=highest
            )
        return 0, None

    async def _write_all(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            if self._lost:
                lost, self._lost = self._lost, 0
                batch.append(AuditEntry(0, batch[-1].at_ms, "", "not noted", str(lost)))
            try:
                await asyncio.to_thread(self._written, batch)
            except (OSError, ValueError) as error:
                log.error("the audit cannot be written: %s", error)
                self._lost += len(batch)
            else:
                self.grown()

    # -- in a thread -----------------------------------------------------------------------

    def _written(self, batch: list[AuditEntry]) -> None:
        with self._disk:
            if not self._opened:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                kept = self._lines(NOW) or self._lines(BEFORE)
                self._last, self._opened = (kept[-1] if kept else None), True
            if not batch:
                return
            if self._torn or self._size() > FILE_BYTES_MAX:
                self._torn = False
                (self._folder / NOW).replace(self._folder / BEFORE)
                batch = [AuditEntry(0, batch[0].at_ms, "", CHECKPOINT), *batch]
            last, lines = self._last, []
            for each in batch:
                last = self._signed(each, last)
                lines.append(_encode(last) + b"\n")
            descriptor = os.open(self._folder / NOW, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(b"".join(lines))
                file.flush()
                os.fsync(file.fileno())
            self._last = last

    def _size(self) -> int:
        path = self._folder / NOW
        return path.stat().st_size if path.exists() else 0

    def _signed(self, entry: AuditEntry, last: AuditEntry | None) -> AuditEntry:
        if self._signing is None:
            key = self._load()
            self._signing = key, public_text(key.public_key())
        key, name = self._signing
        number = 1 if last is None else last.number + 1
        entry = replace(entry, number=number, before=hash_of(last) if last else "", key=name)
        return replace(entry, signature=key.sign(_signed_part(entry), _SIGNATURE).hex())

    def _kept(self) -> list[AuditEntry]:
        with self._disk:
            return [*self._lines(BEFORE), *self._lines(NOW)]

    def _lines(self, name: str) -> list[AuditEntry]:
        """A line that cannot be read ends it: an unfinished one, or the first that is wrong."""
        path = self._folder / name
        found: list[AuditEntry] = []
        try:
            found.extend(map(_read, path.read_bytes().splitlines()))
        except FileNotFoundError:
            pass
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._torn |= name == NOW
            log.warning("%s has a line that cannot be read: %s", path, error)
        return found


def hash_of(entry: AuditEntry) -> str:
    """Return what the next entry knows of this one."""
    return hashlib.sha256(_signed_part(entry)).hexdigest()


def public_text(key: ec.EllipticCurvePublicKey) -> str:
    """Return a public key as entries have it."""
    encoding, form = serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint
    return key.public_bytes(encoding, form).hex()


def _wrong(
    entry: AuditEntry, before: AuditEntry | None, witnessed: Mapping[int, str]
) -> Phrase | None:
    if before is None:
        if entry.number != 1 and entry.what != CHECKPOINT:
            return said("the entries before it are missing")
    elif entry.number != before.number + 1 or entry.before != hash_of(before):
        return said("it does not follow the entry before")
    if witnessed.get(entry.number, hash_of(entry)) != hash_of(entry):
        return said("others know it otherwise: it was written anew")
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes.fromhex(entry.key))
        key.verify(bytes.fromhex(entry.signature), _signed_part(entry), _SIGNATURE)
    except (ValueError, InvalidSignature):
        return said("it is not signed with the key that it names")
    return None


def _signed_part(entry: AuditEntry) -> bytes:
    return _SIGNED_AS + _encode(replace(entry, signature=""))
