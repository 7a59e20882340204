"""What a person may ask of an agent that is a service, beyond which verbs: of whom, and in whose name."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agent.api.again import AGAIN
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.doorkeeping import OWN_ONLY, Person
from agent.control.naming import find_task, find_workflow
from agent.control.request_context import RequestContext
from agent.protocol.phrases import said

P = TypeVar("P", bound=Struct)


def within_rights(call: RequestContext, method: str, params: P) -> P:
    """Return what is asked, in the name of the person who asks where that is somebody whom the system
    names. Raises ``RefusedError`` where they act on work of others, or would have the agent write
    into a folder of its own choice of rights."""
    person = call.neighbour
    if not isinstance(person, Person):
        return params
    if "submitter" in params.__struct_fields__:
        params = replace(params, submitter=person.name)
    if any(getattr(each, "deliver", "") for each in (params, getattr(params, "wanted", None))):
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said(
                "deliver: an agent that is a service writes into no folders of people; fetch results"
            ),
        )
    if method in OWN_ONLY and not person.administers:
        place = OWN_ONLY[method]
        return replace(params, **{place: _own(call, person.name, method, getattr(params, place))})
    return params


def _own(call: RequestContext, name: str, method: str, reference: str) -> str:
    """The id of what is meant, so that the verb means the same."""
    table = call.now.table
    if OWN_ONLY[method] == "task":
        found = find_task(table, reference, None, name, typed=True).task
        spec = table.workflows[table.workflow_of[found]].spec
    else:
        try:
            spec = find_workflow(table, reference, name, typed=True).spec
        except RefusedError:
            if method == AGAIN.name:
                return reference  # of the past: what begins anew is this person's own
            raise
        found = spec.workflow
    if spec.submitter != name or spec.host != call.now.node:
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said(
                "{workflow} is work of {submitter}: they decide, or an administrator of this machine",
                workflow=spec.name,
                submitter=spec.submitter,
            ),
        )
    return found
