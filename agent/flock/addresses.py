"""Where members can be reached, by their own word or by that of others, kept on disk.

Whoever joined with an invitation knows one address and no other way to it where multicast is
blocked; after a restart it must still find its flock. It is a hint and not more: who answers there
is decided by TLS. A file that cannot be read or written costs a slower start, so it is only said.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from agent.net.addresses import Address, AddressError, parse_address
from agent.protocol.records import NodeId

NODES_MAX = 1_000
ADDRESSES_MAX = 8
FILE_BYTES_MAX = 1024 * 1024

log = logging.getLogger(__name__)


class AddressBook:
    """Addresses by node, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[NodeId, tuple[Address, ...]] = {}

    def load(self) -> None:
        """Read the addresses from the file, if there is one; one that cannot be read is logged and
        counts as empty."""
        try:
            with self._path.open("rb") as file:
                entries = json.loads(file.read(FILE_BYTES_MAX))
            for node, texts in list(entries.items())[:NODES_MAX]:
                self._known[node] = tuple(parse_address(text) for text in texts[:ADDRESSES_MAX])
        except FileNotFoundError:
            return
        except (OSError, ValueError, AttributeError, TypeError, AddressError) as error:
            log.warning("%s cannot be read (%s); it is written anew", self._path, error)
            self._known.clear()

    def known(self) -> dict[NodeId, tuple[Address, ...]]:
        """Return all known addresses, by node."""
        return dict(self._known)

    def of(self, node: NodeId) -> tuple[Address, ...]:
        """Return the addresses of one node, the last one first; empty when none is known."""
        return self._known.get(node, ())

    def note(self, node: NodeId, addresses: Sequence[Address], *, first_hand: bool) -> bool:
        """Note addresses of a node and tell whether they are news. What a node says of itself
        (``first_hand``) replaces the rest."""
        known = self.of(node)
        if first_hand:
            merged = tuple(addresses)[:ADDRESSES_MAX]
        else:
            merged = tuple(dict.fromkeys((*known, *addresses)))[:ADDRESSES_MAX]
        if merged == known:
            return False
        self._known.pop(node, None)
        self._known[node] = merged
        while len(self._known) > NODES_MAX:
            del self._known[next(iter(self._known))]
        return True

    def save(self) -> None:
        """Write the addresses to the file; a failure is only logged."""
        text = json.dumps(
            {node: [str(each) for each in found] for node, found in self._known.items()}
        )
        fresh = self._path.with_suffix(".unfinished")
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self._path)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error.strerror)

    def forget(self) -> None:
        """Forget all addresses and delete the file, as this node belongs to that flock no more."""
        self._known.clear()
        self._path.unlink(missing_ok=True)
