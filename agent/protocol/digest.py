"""Comparing two tables without sending them: a hash per record, summed in buckets.

A record's hash covers its key, its names, revisions and phases, not its contents: two versions of
the program that know different fields still agree. Sums make the hash of a bucket independent of
order and cheap to keep up: subtract the old record, add the new one.
"""

from __future__ import annotations

from hashlib import blake2b
from zlib import crc32

import msgspec

from agent.protocol.messages import BUCKETS
from agent.protocol.records import Life, Pruning, Workflow

_MASK = 2**63 - 1
_encode = msgspec.msgpack.Encoder().encode


def bucket_of(key: str) -> int:
    """Return the bucket in which a record is counted."""
    return crc32(key.encode()) % BUCKETS


def _hash(names_and_revisions: object) -> int:
    digest = blake2b(_encode(names_and_revisions), digest_size=8).digest()
    return int.from_bytes(digest, "little") & _MASK


def life_version(key: str, life: Life) -> int:
    """Return a hash of the record's key, the life's maxima and the names, revisions, phases and
    stamps of its runs, for comparison with a peer; contents such as outputs do not count."""
    runs = [
        (
            run.generation,
            run.attempt,
            run.host,
            run.incarnation,
            run.revision,
            type(run.phase).__struct_config__.tag,
            run.stamp,
        )
        for run in life.runs
    ]
    return _hash((key, life.generation, life.floor, life.cancel, runs))


def workflow_version(key: str, workflow: Workflow) -> int:
    """Return a hash of the record's key, which submission the workflow is and the wishes on it, for
    comparison with a peer; its tasks do not count."""
    spec, priority = workflow.spec, workflow.priority
    told = (priority.revision, priority.host, priority.value)
    of_tasks = [
        (each.task, each.wish.revision, each.wish.host, each.wish.value) for each in workflow.tasks
    ]
    wishes = (*told, of_tasks) if of_tasks else told
    return _hash((key, spec.submitted, spec.host, workflow.generation, *wishes))


def pruning_version(key: str, pruning: Pruning) -> int:
    """Return a hash of what the pruning hides, for comparison with a peer."""
    return _hash((key, pruning.generation, pruning.stamp))


class DigestTree:
    """The hashes of all records of a table, their sums per bucket, and the sum of those."""

    def __init__(self) -> None:
        self.total = 0
        self.buckets = [0] * BUCKETS
        self._records: list[dict[str, int]] = [{} for _ in range(BUCKETS)]

    def put(self, key: str, version: int) -> None:
        """Count the version of a new or changed record in the sums, in place of the one that the
        key had before."""
        bucket = bucket_of(key)
        records = self._records[bucket]
        change = version - records.get(key, 0)
        records[key] = version
        self._add(bucket, change)

    def remove(self, key: str) -> None:
        """Take a record that is forgotten out of the sums; an unknown key changes nothing."""
        bucket = bucket_of(key)
        self._add(bucket, -self._records[bucket].pop(key, 0))

    def version(self, key: str) -> int | None:
        """Return the hash of a record, None when it is not held."""
        return self._records[bucket_of(key)].get(key)

    def records(self, bucket: int) -> list[tuple[str, int]]:
        """Return all records of a bucket with their versions, sorted."""
        return sorted(self._records[bucket].items())

    def differing(self, buckets: tuple[int, ...]) -> list[int]:
        """Return the buckets in which another table is not as this one."""
        return [i for i, theirs in enumerate(buckets) if theirs != self.buckets[i]]

    def _add(self, bucket: int, change: int) -> None:
        self.buckets[bucket] = (self.buckets[bucket] + change) & _MASK
        self.total = (self.total + change) & _MASK
