"""What was done on a machine, and by whom: entries that are chained and signed, so that none is changed
or taken out unseen."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from agent.api.rpc import Method
from agent.api.values import Count, Millis, Page

CHECKPOINT = "checkpoint"
"""What the first entry is that is kept, where older ones were let go for want of room."""
_Text = Annotated[str, Meta(max_length=300)]


class AuditEntry(Struct, frozen=True):
    """Who did what, to what, asked from where, and how it ended. ``before`` is the hash of the entry
    before; ``signature`` that of the node with this ``key`` over all the rest."""

    number: Count
    at_ms: Millis
    who: _Text
    what: _Text
    on: _Text = ""
    came_from: _Text = ""
    outcome: _Text = "done"
    before: _Text = ""
    key: _Text = ""
    signature: _Text = ""


class Audit(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was done here, from this number of an entry on, or the latest for none?"""

    first: Count = 0
    limit: Page = 200


class AuditReply(Struct, frozen=True):
    """Entries in their order; the last that there is has the number ``last``."""

    node: str
    name: str
    entries: tuple[AuditEntry, ...]
    last: Count


class CheckAudit(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Is the audit of this machine, or of another ``member``, whole?"""

    member: Annotated[str, Meta(max_length=256)] = ""


class AuditChecked(Struct, frozen=True):
    """So many entries were checked. ``broken`` is the number of the first that is wrong, and ``why``,
    with ``fault`` as a value; 0 for none. ``witnessed`` is the highest number of which this machine
    knows the hash from before."""

    node: str
    name: str
    entries: Count
    last: Count
    broken: Count = 0
    why: str = ""
    witnessed: Count = 0
    fault: Raw | UnsetType = UNSET


AUDIT = Method("audit", Audit, AuditReply)
CHECK_AUDIT = Method("check_audit", CheckAudit, AuditChecked, by_members=False)
