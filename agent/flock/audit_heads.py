"""What peers have said of how far their audits go: the number and the hash of the last entry.

Who cuts entries off the end of his audit, or writes them anew, says less or otherwise then than he said
before; that is told here, and `wingbeat audit check` compares with all that is remembered. It is kept over
restarts, the latest of each peer.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from agent.protocol.records import NodeId

HEADS_MAX = 16
NODES_MAX = 1_000
FILE_BYTES_MAX = 4 * 1024 * 1024

log = logging.getLogger(__name__)


class AuditHeads:
    """By node, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[NodeId, dict[int, str]] = {}
        self.cut: dict[NodeId, int] = {}
        """Whose audit is shorter, or another, than it was: with the number of its last entry then."""

    def load(self) -> None:
        """Read the remembered ends of peers' audits from the file, of at most a thousand nodes;
        nothing where there is no file. What is damaged is logged, and what was read before stays."""
        try:
            with self._path.open("rb") as file:
                told = json.loads(file.read(FILE_BYTES_MAX))
            for node, heads in list(told.items())[:NODES_MAX]:
                self._known[node] = {int(number): str(value) for number, value in heads.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, AttributeError, TypeError) as error:
            log.warning("%s cannot be read (%s); it is written anew", self._path, error)

    def of(self, node: NodeId) -> dict[int, str]:
        """Return the hashes that are known of a node, by the numbers of entries."""
        return dict(self._known.get(node, {}))

    def heard(self, node: NodeId, number: int, value: str) -> bool:
        """Remember the number and hash of the last entry in a peer's audit, as it tells them; tell
        whether that is news to be saved. A lower number, or another hash for a known one, is not
        remembered but noted in ``cut``, and logged once; telling a known end again clears that."""
        known = self._known.setdefault(node, {})
        highest = max(known, default=0)
        if number < highest or known.get(number, value) != value:
            if node not in self.cut:
                log.error("the audit of %s ends at %d and had %d entries", node, number, highest)
            self.cut[node] = highest
            return False
        if number == 0 or number in known:
            self.cut.pop(node, None)
            return False
        known[number] = value
        for old in sorted(known)[:-HEADS_MAX]:
            del known[old]
        while len(self._known) > NODES_MAX:
            del self._known[next(iter(self._known))]
        return True

    def save(self) -> None:
        """Write all remembered ends in the place of the file; a failure is only logged."""
        fresh = self._path.with_suffix(".unfinished")
        try:
            fresh.write_text(json.dumps(self._known), encoding="utf-8")
            fresh.replace(self._path)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error.strerror)
