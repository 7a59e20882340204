"""What people call things, to ids and back.

A person types the beginning of a name, as far as it is unique; a program sends the id. An exact id
comes first, then an exact name, then a beginning, so that a longer name never takes a shorter
one's place. Of several workflows of one name the newest is meant, of the asker's own where it is known
who asks and there are any; whoever asks for a person has that said (``newest_of``).

A dataset is meant by its identifier, the beginning of one, or the task that made it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha1
from typing import Any, get_args

from msgspec import structs

from agent.api.errors import RefusedError
from agent.api.flock import MemberView
from agent.api.reasons import NO_REASON, NewestOf, Opaque, Reason, SetOff, ToldBy
from agent.api.rpc import ErrorCode
from agent.api.wording import near
from agent.control.request_context import RequestContext
from agent.protocol.events import Event
from agent.protocol.messages import Message
from agent.protocol.phrases import Phrase, hinted, said
from agent.protocol.records import Dataset, TaskId, TaskSpec, TaskState, Workflow, WorkflowId
from agent.protocol.table import Table

CHOICES_SHOWN_MAX = 4
MESSAGES = frozenset(kind.__name__ for kind in get_args(Message))
EVENTS = frozenset(kind.__name__ for kind in get_args(Event))
TASK_NAMES = uuid.UUID("6f0fa9c8-3b5e-5d0e-9a55-7d6f6e7a9b21")
PREFIXES = ("sha256:", "tree:")
LETTERS_MIN = 6


def task_id(workflow: WorkflowId, name: str) -> TaskId:
    """Return the id of the task that the workflow of this id calls so: the same one each time. It is
    what ``uuid.uuid5`` makes, in a third of the time, as it is asked for each task that comes."""
    digest = sha1(TASK_NAMES.bytes + f"{workflow}/{name}".encode(), usedforsecurity=False).digest()
    kind, variant = 0x50 | digest[6] & 0x0F, 0x80 | digest[8] & 0x3F
    text = bytes([*digest[:6], kind, digest[7], variant, *digest[9:16]]).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def with_names(fault: Phrase, names: Mapping[TaskId, str]) -> Phrase:
    """Return the fault with the names of tasks in place of the values that are their ids; ids
    without a name, and the template itself, stay as they are."""
    values = {
        key: names.get(value, value) if isinstance(value, str) else value
        for key, value in fault.values.items()
    }
    return structs.replace(fault, values=values)


_READY, _SUBMITTED, _WAITING, _RUNNING, _DONE, _CANCELLED, _GIVEN_UP = (
    each.value
    for each in (
        *(TaskState.READY, TaskState.SUBMITTED, TaskState.WAITING, TaskState.RUNNING),
        *(TaskState.TERMINATED, TaskState.CANCELLED, TaskState.ABORTED),
    )
)
GIVEN_UP = (_CANCELLED, _GIVEN_UP)
SUPPLYING = ("ChildSucceeded", "OutputsCopied", "MarkGate")
"""Ends of one task that let others begin."""
ENDS_OF_ONE: dict[str, tuple[str, ...]] = {
    "InputsFetched": (_RUNNING,),
    "FetchFailed": (_READY, _SUBMITTED),
    "ChildStarted": (_RUNNING,),
    "ChildNotStarted": (_READY, _SUBMITTED),
    "ChildProgressed": (),
    "ChildCheckpointed": (),
    "ChildSucceeded": (_DONE,),
    "ChildFailed": (_READY, _SUBMITTED, _GIVEN_UP),
    "ChildStopped": (_READY, _SUBMITTED, _CANCELLED),
    "OutputsCopied": (_DONE,),
    "MarkGate": (_DONE,),
    "Cancel": (_CANCELLED,),
    "Retry": (_READY, _SUBMITTED, _WAITING),
    "Prioritise": (),
}
"""Events that are about one task, or one wish, and to which states they bring it. At the same moment others
are claimed or begin, for which the event is no reason."""


def cause_of(cause: str, after: str, name_of: Callable[[str], str]) -> Reason:
    """Return why a task moved to the state ``after`` (empty for none), from the cause noted with
    the move: ``ToldBy`` for a message and its sender, ``SetOff`` for the name of an event,
    ``Opaque`` for any other text. For an event that brought another task to its end: that the
    inputs are there where that lets this one begin, else ``NO_REASON``, as the task's own reason
    says it."""
    ends = ENDS_OF_ONE.get(cause)
    if ends is not None and after not in ends:
        supplied = cause in SUPPLYING and after not in GIVEN_UP
        return SetOff("InputsThere") if supplied else NO_REASON
    message, _, sender = cause.partition(" from ")
    if message in MESSAGES and sender:
        return ToldBy(name_of(sender))
    return SetOff(cause) if cause in EVENTS else Opaque(cause)


def find_workflow(
    table: Table, reference: str, submitter: str = "", *, typed: bool = False
) -> Workflow:
    """Return the workflow with this id, else the one with this name, else the one whose id or name
    begins so; of several of one name the newest, of this submitter if it is not empty and has any.
    Raises ``RefusedError``, with what may be meant, where none or several do. ``typed``: a person
    says it, so that a text that is both an id and that workflow's name counts as the name."""
    there = table.workflows.get(reference)
    if there is not None and not (typed and there.spec.name == reference):
        return there
    known = [(each.spec.name, each.spec.workflow) for each in table.workflows.values()]

    def described(workflow: str) -> str:
        return table.workflows[workflow].spec.name

    rank = partial(_newness, table, submitter)
    none, several = said("no workflow"), said("the workflows")
    return table.workflows[_meant(none, several, reference, known, described, rank)]


def find_task(
    table: Table,
    reference: str,
    within: Workflow | None = None,
    submitter: str = "",
    *,
    typed: bool = False,
) -> TaskSpec:
    """Return the task with this id or name, or the one that begins so, in ``within`` or, for None,
    in any workflow; ``workflow/task`` names both. Of several the one of the newest workflow, of
    ``submitter`` first, is meant; ``typed``: a person says it. Raises ``RefusedError`` where none
    or several are meant, or a workflow is named."""
    if within is None and reference in table.workflows:
        _refuse_workflow(table, reference)
    if reference in table.specs and _is_in(table, reference, within):
        return table.specs[reference]
    workflow, slash, name = reference.rpartition("/")
    if slash and within is None:
        within, reference = find_workflow(table, workflow, submitter, typed=typed), name
    specs = within.spec.tasks if within is not None else table.specs.values()
    known = [(spec.name, spec.task) for spec in specs if spec.task in table.specs]
    none = said("no task of {workflow}", workflow=within.spec.name) if within else said("no task")

    def described(task: str) -> str:
        return f"{table.workflows[table.workflow_of[task]].spec.name}/{table.specs[task].name}"

    def rank(task: str) -> object:
        return _newness(table, submitter, table.workflow_of[task])

    return table.specs[_meant(none, said("the tasks"), reference, known, described, rank)]


def newest_of(table: Table, reference: str, workflow: WorkflowId) -> NewestOf | None:
    """Return that this workflow is the newest of several with its name, and of how many, where the
    reference meant it by name; None where it was meant by id or is the only one of its name."""
    spec, word = table.workflows[workflow].spec, reference.rpartition("/")[0] or reference
    if workflow.startswith(word) and not spec.name.startswith(word):
        return None
    count = sum(each.spec.name == spec.name for each in table.workflows.values())
    at_ms = spec.submitted[0]
    return NewestOf(spec.name, count, workflow, spec.submitter, at_ms) if count > 1 else None


def workflow_called(table: Table, name: str, submitter: str) -> Workflow | None:
    """Return the newest workflow of exactly this name, of this submitter if it has any; None where
    there is none."""
    found = [each.spec.workflow for each in table.workflows.values() if each.spec.name == name]
    newest = max(found, key=partial(_newness, table, submitter), default=None)
    return None if newest is None else table.workflows[newest]


def _newness(table: Table, submitter: str, workflow: WorkflowId) -> tuple[object, ...]:
    spec = table.workflows[workflow].spec
    return bool(submitter) and spec.submitter == submitter, spec.submitted, spec.host


def find_member(members: Iterable[MemberView], reference: str) -> MemberView:
    """Return the member with this id or name, else the only one whose id or name begins so. Raises
    ``RefusedError``, with what may be meant, where none or several do."""
    by_id = {member.node: member for member in members}
    known = [(member.name, member.node) for member in by_id.values()]

    def described(node: str) -> str:
        return f"{by_id[node].name} ({node})"

    return by_id[_meant(said("no member"), said("the members"), reference, known, described)]


def _refuse_workflow(table: Table, name: WorkflowId) -> None:
    """Who names a workflow where a task is wanted, and no task is called so, is told of them."""
    tasks, name = table.workflows[name].spec.tasks, table.workflows[name].spec.name
    if any(spec.name == name for spec in table.specs.values()):
        return
    fault = said("{name} is a workflow: name one of its tasks", name=name)
    if tasks:
        like = f"{name}/{tasks[0].name}"
        fault = said(
            "{name} is a workflow: name one of its tasks, like {like}", name=name, like=like
        )
    raise RefusedError(ErrorCode.UNKNOWN, fault)


def _is_in(table: Table, task: TaskId, within: Workflow | None) -> bool:
    return within is None or table.workflow_of[task] == within.spec.workflow


def _meant(
    none: Phrase,
    several: Phrase,
    reference: str,
    known: list[tuple[str, str]],
    described: Callable[[str], str] = str,
    rank: Callable[[str], Any] | None = None,
) -> str:
    """The id that a reference means among (name, id); of those that are described alike the one of
    the highest rank, if they have ranks."""
    exact = [one_id for name, one_id in known if reference in (name, one_id)]
    found = exact or [
        one_id
        for name, one_id in known
        if name.startswith(reference) or one_id.startswith(reference)
    ]
    if len(found) == 1:
        return found[0]
    if found and rank is not None and len(set(map(described, found))) == 1:
        return max(found, key=rank)
    if not found:
        sentence = said('{none} is called "{reference}"', none=none, reference=reference)
        hint = near(reference, (name for name, _ in known), 1)
        raise RefusedError(ErrorCode.UNKNOWN, hinted(sentence, hint))
    choices = sorted(set(map(described, found)))
    names = ", ".join(choices[:CHOICES_SHOWN_MAX])
    sentence = said(
        '"{reference}" may mean {several} {names}: write more of it',
        reference=reference,
        several=several,
        names=names,
    )
    if len(choices) > CHOICES_SHOWN_MAX:
        sentence = said(
            '"{reference}" may mean {several} {names} or others: write more of it',
            reference=reference,
            several=several,
            names=names,
        )
    raise RefusedError(ErrorCode.AMBIGUOUS, sentence)


def find_dataset(table: Table, reference: str) -> Dataset:
    """Return the dataset with this identifier, a whole hash even if it is unknown, or the only one
    that begins so (with six letters of the hash at least), or that a task made: ``workflow/task``
    is its first output, ``workflow/task/2`` the second. Raises ``RefusedError`` where none or
    several are meant."""
    known = known_datasets(table)
    if reference in known:
        return known[reference]
    if reference.startswith(PREFIXES):
        return _beginning(known, reference)
    task, slash, number = reference.rpartition("/")
    if slash and task and number.isascii() and number.isdecimal() and len(number) <= 5:
        return _output(table, task, int(number))
    return _output(table, reference, 1)


def known_datasets(table: Table) -> dict[str, Dataset]:
    """Return by identifier all datasets that the table names: what tasks were given, their
    published programs and what they made, those outside of the flock's own store too."""
    found: dict[str, Dataset] = {}
    for workflow in table.workflows.values():
        for spec in workflow.spec.tasks:
            found.update((each.dataset, each) for each in spec.raw)
            if spec.published is not None:
                found[spec.published.dataset] = spec.published
            reading = table.reading(spec.task)
            if reading is not None:
                found.update((each.dataset, each) for each in reading.outputs)
    return found


def _beginning(known: dict[str, Dataset], reference: str) -> Dataset:
    digest = reference.partition(":")[2]
    found = [each for name, each in known.items() if name.startswith(reference)]
    if len(digest) >= LETTERS_MIN and len(found) == 1:
        return found[0]
    if len(digest) == 64:
        return Dataset(reference)
    if len(found) > 1:
        raise RefusedError(
            ErrorCode.AMBIGUOUS,
            said(
                '"{reference}" may mean {count} datasets: write more of it',
                reference=reference,
                count=len(found),
            ),
        )
    raise RefusedError(
        ErrorCode.UNKNOWN, said('no dataset is called "{reference}"', reference=reference)
    )


def _output(table: Table, task: str, number: int) -> Dataset:
    spec = find_task(table, task)
    reading = table.reading(spec.task)
    outputs = reading.outputs if reading is not None else ()
    if 1 <= number <= len(outputs):
        return outputs[number - 1]
    made = f"it made {len(outputs)}" if outputs else "it has made none"
    raise RefusedError(
        ErrorCode.UNKNOWN,
        said("{name} has no output {number}: {made}", name=spec.name, number=number, made=made),
    )


async def bring_dataset(call: RequestContext, reference: str) -> Dataset:
    """Find the dataset that is meant, wait until it is on this disk, and return it. Raises
    ``RefusedError`` where it is unknown, not kept by the flock or cannot be had."""
    dataset = find_dataset(call.now.table, reference)
    if dataset.external or ":" not in dataset.dataset:
        sentence = said(
            "{dataset} is not kept by the flock: only its identifier is known",
            dataset=dataset.dataset,
        )
        raise RefusedError(ErrorCode.REFUSED, sentence)
    try:
        await call.rooms.datasets.bring(dataset.dataset)
    except OSError as error:
        sentence = said(
            "{dataset} cannot be had: {error}", dataset=dataset.dataset[:20], error=str(error)
        )
        raise RefusedError(ErrorCode.REFUSED, sentence) from error
    return dataset
