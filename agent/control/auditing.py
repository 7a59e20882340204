"""Which questions of clients are acts, and what the audit says of them: never a value, text or secret."""

from __future__ import annotations

from msgspec import Struct

from agent.api.errors import RefusedError, ServiceError
from agent.api.rpc import ErrorCode
from agent.control.doorkeeping import Person
from agent.control.request_context import RequestContext

READS = frozenset(
    [
        "hello",
        "prove",
        "events",
        "status",
        "show",
        "meant",
        "why",
        "plan",
        "peers",
        "members",
        "me",
        "doctor",
        "volunteering",
        "settings",
        "programs",
        "permissions",
        "datasets",
        "dataset_files",
        "read_dataset",
        "task_log",
        "agent_log",
        "runs",
        "history",
        "statistics",
        "past",
        "nearby",
        "asked",
        "requests",
        "running_programs",
        "scripts",
        "secrets",
        "at_hand",
        "audit",
        "begin_upload",
        "upload_chunk",
        "end_upload",
        "check_audit",
    ]
)
"""Verbs that change nothing, so that the audit leaves them out."""
TOLD_OF = frozenset(["settings", "agent_log", "audit"])
"""Of these, what is noted all the same when another machine asks."""
OBJECTS = (
    "workflow",
    "task",
    "workflows",
    "member",
    "program",
    "request",
    "machine",
    "name",
    "flock",
)


def note(
    call: RequestContext, method: str, params: Struct | None, error: Exception | None = None
) -> None:
    """Write what was asked, by whom, and how it ended into this machine's audit. Do nothing for
    methods that only read, but for those of ``TOLD_OF`` when another machine asks."""
    if method in READS and not (call.member and method in TOLD_OF):
        return
    person = call.neighbour
    who = person.name if isinstance(person, Person) else "owner"
    if call.member:
        who = f"{call.member} ({call.member_node})"
    came_from = "another machine" if call.member else "this machine"
    call.rooms.audit.note(who, method, _object(params), came_from, _outcome(error))


def note_line(call: RequestContext, line: bytes) -> None:
    """Write an act that somebody has typed."""
    said = line.decode("utf-8", "replace").split()
    if said and said[0] in ("SCHEDULE", "CANCEL"):
        call.rooms.audit.note("owner", said[0].lower(), " ".join(said[1:2]), "this machine, typed")


def _object(params: Struct | None) -> str:
    for name in OBJECTS:
        told = getattr(params, name, None)
        if isinstance(told, str) and told:
            return told
        if isinstance(told, tuple | list) and told:
            return ", ".join(map(str, told))
    return ""


def _outcome(error: Exception | None) -> str:
    if error is None:
        return "done"
    if isinstance(error, RefusedError):
        return f"refused: {ErrorCode(error.problem.code).name.lower()}".replace("_", " ")
    return "refused" if isinstance(error, ServiceError) else "failed"
