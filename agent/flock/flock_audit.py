"""What is done to the flock, by whomever, as the audit of this node has it; and how far that goes is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent.flock.network import FlockNetwork
from agent.net.acts import Act
from agent.net.certificates import voucher_of


class Audit(Protocol):
    """Where acts are written; ``agent.history.audit.AuditLog``."""

    grown: Callable[[], object]

    async def open(self) -> None:
        """Find the last entry."""

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last entry."""

    def note(self, who: str, what: str, on: str = "", came_from: str = "") -> None:
        """Write an entry soon."""


class FlockAudit:
    """The audit of the present node, for the network that it has."""

    def __init__(self) -> None:
        self._audit: Audit | None = None
        self._noted: tuple[frozenset[Act], frozenset[str]] | None = None

    async def follow(self, audit: Audit) -> None:
        """Write acts on the flock into this audit from now on."""
        self._audit, self._noted = audit, None
        await audit.open()

    def told_by(self, network: FlockNetwork) -> None:
        """Have a network tell peers how far the audit goes."""
        if self._audit is not None:
            network.follow_audit(self._audit)
            self._audit.grown = network.audit_grown

    def note_news(self, network: FlockNetwork) -> None:
        """Write acts on the flock and new members into this machine's audit that came since the
        last call; the first call after ``follow`` writes none. Do nothing before ``follow``."""
        if self._audit is None:
            return
        roster = network.membership.roster
        acts, members = frozenset(roster.charter.acts), frozenset(network.member_ids)
        before, self._noted = self._noted, (acts, members)
        if before is None:
            return
        for act in sorted(acts - before[0], key=lambda each: each.time_s):
            what = " ".join(filter(None, ("flock:", act.kind, act.value)))
            self._audit.note(network.name_of(act.by), what, network.name_of(act.whom), "the flock")
        for node in sorted(members - before[1]):
            member = roster.known(node)
            voucher = voucher_of(member.certificate) if member else None
            by = network.name_of(voucher.keeper) if voucher else ""
            self._audit.note(by, "flock: let in", f"{network.name_of(node)} ({node})", "the flock")
