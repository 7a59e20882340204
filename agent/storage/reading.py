"""What a start reads back, row by row, so that no more than one row is held twice.

A row whose checksum holds and that still is no record comes from another version of the program:
it stays on disk, untouched, and is told about.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

import msgspec

from agent.protocol.effects import Identity
from agent.protocol.records import Pruning, TaskLife, Workflow
from agent.storage.database import stored_rows
from agent.storage.rows import IDENTITY, LIFE, PRUNING, WORKFLOW


@dataclass(frozen=True, slots=True)
class Remembered:
    """All that the journal holds, and what a person should know about it, in sentences."""

    identity: Identity | None = None
    workflows: tuple[Workflow, ...] = ()
    lives: tuple[TaskLife, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    notices: tuple[str, ...] = ()


class Stored:
    """The records as they are read: by kind, and how many were not understood."""

    def __init__(self) -> None:
        self.identities: list[Identity] = []
        self.workflows: list[Workflow] = []
        self.lives: list[TaskLife] = []
        self.prunings: list[Pruning] = []
        self.strange = 0

    def read(self, connection: sqlite3.Connection) -> None:
        """Read all rows of the database into this object; rows that are no known record are only
        counted."""
        take: dict[bytes, tuple[msgspec.msgpack.Decoder[Any], list[Any]]] = {
            IDENTITY.encode(): (msgspec.msgpack.Decoder(Identity), self.identities),
            WORKFLOW.encode(): (msgspec.msgpack.Decoder(Workflow), self.workflows),
            LIFE.encode(): (msgspec.msgpack.Decoder(TaskLife), self.lives),
            PRUNING.encode(): (msgspec.msgpack.Decoder(Pruning), self.prunings),
        }
        for kind, _, _, content in stored_rows(connection):
            try:
                decoder, records = take[kind]
                records.append(decoder.decode(content))
            except (KeyError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                self.strange += 1
