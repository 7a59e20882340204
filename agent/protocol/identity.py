"""What a submission is called by machines: an id made of who asks, a key, and what is asked for.

The name of a workflow is a label for people, and may repeat. Its id is a digest, so that two
submissions are one only if the same person asks for the same content with the same key: one request
that is told twice. The key is drawn anew for each click or command; without it nobody could have the
same work done again on purpose. The node that is asked signs what it makes of it (``signing``), and is
part of the digest: another one that is asked the same makes other work.

The content is the name with all that could change what comes of the work: tasks by the names that
their author gave them, programs and data by their own content. How long a task is expected to take is
a guess about the work, its priority a wish, and of how many seats it takes one a word about the flock;
none is part of it. Where an id is derived from
other things, as those of the versions before are from the name alone, it is an id all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol.needs import ONCE, SEATS
from agent.protocol.people import People
from agent.protocol.priorities import PRIORITY
from agent.protocol.records import (
    InputRef,
    More,
    NodeId,
    ShortText,
    TaskId,
    TaskSpec,
    WorkflowId,
    WorkflowSpec,
)

KEY, CONTENT = "key", "content"
"""By which name a workflow carries them under ``more``."""
ORIGIN = "origin"
"""By which name a workflow carries where its client read it."""
SHARED = "shared"
"""By which name a workflow carries who else may act on it."""
KEPT = "kept"
"""By which name a run carries the earlier task whose outcome it is."""
TOLD = "told"
"""By which name a task carries that somebody told its length."""
PROGRAM = "program"
"""By which name a task carries what its program is, where that is installed on the node that was asked."""
NOT_CONTENT = (TOLD, SEATS, ONCE, PRIORITY)
"""What a task carries that changes nothing of what comes of it."""
ID_LETTERS = 32

_encode = msgspec.msgpack.Encoder().encode
_read_text = msgspec.msgpack.Decoder(str).decode


def called(tasks: Iterable[TaskSpec], ids: Callable[[TaskId], TaskId]) -> tuple[TaskSpec, ...]:
    """Return a workflow's tasks with their ids, and those of each other that they name, replaced by
    ``ids``; ids of other workflows' tasks stay."""
    tasks = tuple(tasks)
    now = {spec.task: ids(spec.task) for spec in tasks}
    return tuple(
        replace(
            spec,
            task=now[spec.task],
            inputs=tuple(InputRef(now.get(ref.task, ref.task), ref.output) for ref in spec.inputs),
            after=tuple(now.get(each, each) for each in spec.after),
        )
        for spec in tasks
    )


def with_programs(tasks: Iterable[TaskSpec], told: Mapping[str, More]) -> tuple[TaskSpec, ...]:
    """Return tasks that carry what is told of their installed programs, by name: their digests and
    needs. What a task says itself of its needs stays, and so does all that it carries of a program of
    which nothing is told, or that came with the work."""
    return tuple(map(partial(_with_program, told=told), tasks))


def _with_program(spec: TaskSpec, told: Mapping[str, More]) -> TaskSpec:
    more = None if spec.published is not None else told.get(spec.program)
    if not more:
        return spec
    digest = {PROGRAM: more[PROGRAM]} if PROGRAM in more else {}
    return replace(spec, more=more | spec.more | digest)


def content_of(name: ShortText, tasks: Iterable[TaskSpec]) -> str:
    """Return the digest of a submission's content: its name and its tasks in this order, without how
    long they are expected to take and the rest of ``NOT_CONTENT``. The tasks given must have names for ids, in ``inputs`` and
    ``after`` too, as their ids are made from the digest."""
    digest = sha256(_encode(name))
    for spec in tasks:
        more = {name: raw for name, raw in spec.more.items() if name not in NOT_CONTENT}
        digest.update(_encode(replace(spec, expected_ms=0, more=more)))
    return digest.hexdigest()


def workflow_id(submitter: ShortText, key: str, content: str, host: NodeId) -> WorkflowId:
    """Return the id of the submission of this content by this person with this key on this node,
    which signs it: nobody else can make a workflow of this id, or another one of it."""
    return sha256(_encode((submitter, key, content, host))).hexdigest()[:ID_LETTERS]


def carried(key: str, content: str) -> More:
    """Return what a workflow carries along, so that its id can be made again from it, and so that
    the same content is found."""
    return {KEY: Raw(_encode(key)), CONTENT: Raw(_encode(content))}


def text_in(more: More, name: str) -> str:
    """Return a text that a record carries by this name; empty where there is none that can be
    read."""
    told = more.get(name)
    if told is None:
        return ""
    try:
        return _read_text(told)
    except msgspec.MsgspecError:
        return ""


def shared_in(more: More) -> tuple[str, ...]:
    """Return the ids of members, or which of all, who may act on a workflow as its submitter may."""
    return tuple(filter(None, text_in(more, SHARED).split(",")))


Asked = tuple[str, str, str]
"""A content, who asked for it, and on which machine: two people of one name are two."""


def asked_in(spec: WorkflowSpec) -> Asked | None:
    """Return what a workflow was asked for and by whom; None where its content is not told, as
    versions before did not."""
    content = text_in(spec.more, CONTENT)
    return (content, spec.submitter, spec.host) if content else None


# ---- Whose work it is, and who else may act on it and read what it prints and makes ----
#
# It is its submitter's: of the person on whose machine it was submitted, or from whose it was submitted
# there. Whom he named may do what he may; nobody else, whatever name he goes by. Members are named by
# their ids, which are their keys; names of people are what they typed.

BY = "by"
"""By which name a record carries the member that has submitted it elsewhere."""
OPERATORS, EVERYBODY, NOBODY = "operators", "everybody", "nobody"


def submitted_by(spec: WorkflowSpec) -> NodeId:
    """Return the member whose work it is."""
    return text_in(spec.more, BY) or spec.host


def is_shared_with(spec: WorkflowSpec, node: NodeId, role: str, people: People) -> bool:
    """Tell whether a member of this role may act on a workflow as its submitter may: the workflow
    names everybody, operators (any role but ``helper``), or a machine that is or was of the person
    for whom the member's machine speaks."""
    named = shared_in(spec.more)
    if EVERYBODY in named or any(people.of(node) == people.owner(each) for each in named):
        return True
    return OPERATORS in named and role != "helper"
