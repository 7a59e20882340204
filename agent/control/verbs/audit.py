"""The audit of this machine, and whether that of any is whole."""

from msgspec.structs import replace

from agent.api.audit import (
    AUDIT,
    CHECK_AUDIT,
    Audit,
    AuditChecked,
    AuditEntry,
    AuditReply,
    CheckAudit,
)
from agent.api.phrases import as_raw, worded
from agent.control.membership import other_member
from agent.control.request_context import RequestContext, serves

PAGE = 1_000


@serves(AUDIT)
async def audit(call: RequestContext, params: Audit) -> AuditReply:
    """Return entries from a number on, or the latest. Raises ``OSError`` where they cannot be read."""
    entries, last = await call.rooms.audit.entries(params.first, params.limit)
    return AuditReply(call.now.node, call.now.name, entries, last)


@serves(CHECK_AUDIT)
async def check_audit(call: RequestContext, params: CheckAudit) -> AuditChecked:
    """Read all that is kept of this machine's audit, or of the named member's, and return which
    entry is the first that is wrong, 0 for none, by hashes, signatures and what this machine was
    told of it before. Raises ``RefusedError`` where the member is unknown, does not answer, or does
    not show it to this machine, ``OSError`` where this machine's cannot be read."""
    node, name = call.now.node, call.now.name
    if params.member and params.member not in (node, name):
        member = other_member(call, params.member)
        node, name = member.node, member.name
    found: list[AuditEntry] = []
    while True:
        wanted = Audit(found[-1].number + 1 if found else 1, PAGE)
        if node == call.now.node:
            page, last = await call.rooms.audit.entries(wanted.first, wanted.limit)
        else:
            reply = await call.members.ask(node, AUDIT, wanted)
            page, last = reply.entries, reply.last
        found += page
        if not page or page[-1].number >= last:
            break
    witnessed = call.rooms.flock.audit_heads(node)
    broken, fault = call.rooms.audit.first_broken(found, witnessed)
    last = found[-1].number if found else 0
    told = AuditChecked(node, name, len(found), last, witnessed=max(witnessed, default=0))
    if fault is None:
        return told
    return replace(told, broken=broken, why=worded(fault), fault=as_raw(fault))
