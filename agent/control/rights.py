"""What a person may ask of an agent that is a service, beyond which verbs: of whom, and in whose name;
and what another member may, by its role in the flock.

A helper asks who is there, and no more. An operator submits, and acts on what was submitted from any of
his machines, or is shared with him; he reads what its tasks have printed. An administrator reads all of it,
and the settings and logs of machines, and cancels; he does nothing else in another's name.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agent.api.again import AGAIN
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.doorkeeping import OWN_ONLY, Person
from agent.control.naming import find_dataset, find_task, find_workflow
from agent.control.request_context import RequestContext
from agent.protocol.identity import is_shared_with, submitted_by
from agent.protocol.phrases import said

ADMINISTRATOR, HELPER = "administrator", "helper"
FOR_HELPERS = frozenset(["hello", "peers", "members", "programs", "meet"])
"""What a machine may ask of others that only helps: also to be its person's, for which it has the code."""
FOR_ADMINISTRATORS = frozenset(["settings", "agent_log", "audit"])
"""What is told of a machine to its owner and to administrators."""
OF_DATA = frozenset(["dataset_files", "read_dataset"])
ON_WORK = {
    "cancel": "workflow",
    "retry": "workflow",
    "priority": "workflow",
    "gate": "task",
    "task_log": "task",
}
"""What is for a workflow's submitter and those whom he named, and the parameter that names it."""
ALSO_ADMINISTRATORS = frozenset(["cancel", "task_log"])
P = TypeVar("P", bound=Struct)


def within_rights(call: RequestContext, method: str, params: P) -> P:
    """Return the parameters as this client may ask them: on an agent that is a service with the
    person's name for the submitter, and with the id of what is acted on where rights hang on whose
    it is. Raises ``RefusedError`` where another member's role or the work being somebody else's
    forbids it, what is acted on is not found or several are meant, or a service is to write into a
    folder."""
    person = call.neighbour
    if not isinstance(person, Person):
        return _of_member(call, method, params) if call.member else params
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


def _of_member(call: RequestContext, method: str, params: P) -> P:
    """Raise for what the member that asks may not, by its role or because the work is another's."""
    role = call.rooms.flock.role_of(call.member_node)
    if role == HELPER and method not in FOR_HELPERS:
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said(
                "{name} is a helper: it runs what others submit and asks for nothing",
                name=call.member,
            ),
        )
    if method in OF_DATA and not _may_read(call, getattr(params, "dataset", "")):
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said("these data are for whose work it is, and whom they share that with"),
        )
    people, now = call.rooms.flock.pairing.people, call.now
    own = people.of(call.member_node) == people.of(now.node)
    if method in FOR_ADMINISTRATORS and role != ADMINISTRATOR and not own:
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said(
                "{verb} is for the owner of {name} and the administrators of the flock",
                verb=method,
                name=call.now.name,
            ),
        )
    if method not in ON_WORK or (role == ADMINISTRATOR and method in ALSO_ADMINISTRATORS):
        return params
    place = ON_WORK[method]
    return replace(params, **{place: _theirs(call, role, place, getattr(params, place))})


def _may_read(call: RequestContext, reference: str) -> bool:
    dataset = find_dataset(call.now.table, reference).dataset
    return call.rooms.datasets.may_have(call.member_node, dataset)


def _theirs(call: RequestContext, role: str, place: str, reference: str) -> str:
    """The id of what is meant, so that the verb means the same; of what is in no table any more nobody
    knows whose it was."""
    table = call.now.table
    if place == "task":
        found = find_task(table, reference, typed=True).task
        spec = table.workflows[table.workflow_of[found]].spec
    else:
        spec = find_workflow(table, reference, typed=True).spec
        found = spec.workflow
    people, asking = call.rooms.flock.pairing.people, call.member_node
    own = people.owns(asking, submitted_by(spec)) or is_shared_with(spec, asking, role, people)
    if own and not people.is_lost(asking):
        return found
    raise RefusedError(
        ErrorCode.UNAUTHORISED,
        said(
            "{workflow} is work of {submitter} on {host}: they decide, or whom they share it with",
            workflow=spec.name,
            submitter=spec.submitter,
            host=call.now.name_of(submitted_by(spec)),
        ),
    )
