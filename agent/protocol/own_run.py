"""A run on its own node, with what this node knows of it beyond the record.

The record tells peers what they must know; what only matters here stays here: the stage it is in
(``runs`` has their table), what its program said last and when, and what it still needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import msgspec

from agent.protocol.records import Dataset, DatasetId, Phase, Run, TaskId, TaskSpec, short_text


class Stage(Enum):
    """What this node is doing about a run of its own."""

    FETCHING = "fetching"
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COPYING = "copying"
    STOPPING = "stopping"


ON_THE_MACHINE = (Stage.STARTING, Stage.RUNNING, Stage.SUSPENDED, Stage.STOPPING)


@dataclass(slots=True)
class OwnRun:
    """A run that this node executes. ``then``: the phase to write when it has stopped."""

    task: TaskId
    spec: TaskSpec
    run: Run
    stage: Stage
    then: Phase | None = None
    outputs: tuple[Dataset, ...] = ()
    permille: int = 0
    left_ms: int | None = None
    left_said_s: float = 0.0
    needs: tuple[DatasetId, ...] = ()
    checkpoint: DatasetId = ""
    told_s: float = -1e9
    told_permille: int = -1

    def left_ms_at(self, now_s: float) -> int:
        """Return how many milliseconds the run still needs: what its program said last, else what
        was expected, less what has passed since."""
        said_ms = self.run.expected_ms if self.left_ms is None else self.left_ms
        return max(0, said_ms - int((now_s - self.left_said_s) * 1000))

    def nearly_done(self, now_s: float, limit_ms: int) -> bool:
        """Tell whether the program says that it ends within ``limit_ms``, and is not overdue by
        more than that."""
        if self.stage is not Stage.RUNNING or self.left_ms is None:
            return False
        overdue_ms = (now_s - self.left_said_s) * 1000 - self.left_ms
        return self.left_ms <= limit_ms and overdue_ms <= limit_ms


_encode = msgspec.msgpack.Encoder().encode
_decode_outputs = msgspec.msgpack.Decoder(tuple[Dataset, ...]).decode


def unreadable(outputs: tuple[Dataset, ...]) -> str:
    """Return why outputs that a program delivers cannot be a record that every peer reads; empty
    when they can."""
    try:
        _decode_outputs(_encode(outputs))
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError, TypeError) as error:
        return short_text(f"delivered an output that cannot be named: {error}")
    return ""
