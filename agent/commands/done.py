"""`wingbeat done`: a person has done the step that a gate waits for."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from agent.api.phrases import LEFT_OPEN, NOT_ATTACHED
from agent.api.values import Dataset, TaskState
from agent.api.work import GATE, WHY, Gate, TaskView, Why
from agent.client import Client
from agent.client.connected import whole_workflow
from agent.commands.asking import fail, is_far, tell, typed_for, with_loop
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import counted
from agent.commands.status import to_look_at
from agent.workflow.submission import add

EXTERNAL = "id:"


class Attachment(Struct, frozen=True):
    """What was typed: for which of the gate's names, empty for the next one, and what."""

    name: str
    what: str


class Done(Struct, frozen=True):
    """What `--json` shows where several gates are marked done."""

    gates: tuple[str, ...]


@command(
    "done",
    "Mark a gate done, so that the tasks behind it go on. What may be attached, and by what\n"
    "name, is told by `wingbeat show`.",
    "wingbeat done survey/check",
    "wingbeat done survey/check --attach corrected.csv",
    "wingbeat done survey/check --attach corrected=new.csv --attach notes=notes.txt",
    "wingbeat done survey/check --attach id:checked-list-7",
    "wingbeat done 'survey/check.*'    # all that wait, with nothing attached",
    argument("task", metavar="GATE", help="its name, or workflow/name"),
    argument(
        "--attach",
        action="append",
        default=[],
        metavar="[NAME=]FILE|id:ID",
        help="a file or folder, or an identifier of your own, that the tasks behind it get; may be "
        "given again",
    ),
)
@with_loop
async def run(options: Options, client: Client) -> int:
    """Mark a gate done, after adding what is attached to the flock's keeping, or with a ``*`` in
    its name all gates of a workflow that fit and wait for a person. Return the exit code, that of a
    failure, with nothing done, where a file is missing, what is attached does not fit the gate, or
    no gate fits the ``*``."""
    if "*" in options.task:
        return await _all_done(options, client)
    gate = (await client.call(WHY, Why(options.task))).task
    given = [_typed(text, gate.attach) for text in options.attach]
    missing = next((each.what for each in given if not _there(each.what)), None)
    if missing is not None:
        sentence = f"{missing} cannot be attached: there is no such file; id:{missing} names it"
        return fail(options, f"{sentence} as is")
    try:
        ordered = in_order(gate, given)
    except ValueError as error:
        return fail(options, str(error))
    outputs = [await _attached(options, client, each) for each in ordered]
    wished = await client.call(GATE, Gate(gate.task, tuple(outputs)))
    called, shown = typed_for(options, options.task), await whole_workflow(client, gate.workflow)
    if "/" not in called:
        called = f"{shown.workflow.name}/{gate.name}"
    return tell(options, wished, [f"{called} is marked done", *to_look_at(options, shown, gate)])


async def _all_done(options: Options, client: Client) -> int:
    """All gates of a workflow that fit a pattern and wait for a person; nothing is attached."""
    workflow, slash, pattern = options.task.partition("/")
    if not slash or "*" in workflow:
        return fail(options, f"{options.task} names no workflow: write it as survey/check.*")
    if options.attach:
        return fail(options, "several gates are marked done at once with nothing attached")
    shown = await whole_workflow(client, workflow)
    waits = [each for each in shown.tasks if each.gate and each.state is TaskState.WAITING]
    meant = [each for each in waits if fnmatchcase(each.name, pattern)]
    if not meant:
        return fail(options, f"no gate of {workflow} that fits {pattern} waits for a person")
    for each in meant:
        await client.call(GATE, Gate(each.task))
    names = tuple(each.name for each in meant)
    told = [f"{counted(len(meant), 'gate')} of {workflow} marked done: {', '.join(names)}"]
    return tell(options, Done(names), told)


def _typed(text: str, names: Sequence[str]) -> Attachment:
    given, equals, what = text.partition("=")
    name = next((each for each in names if given == each.removesuffix(LEFT_OPEN)), given)
    return Attachment(name, what) if equals and name in names else Attachment("", text)


def in_order(gate: TaskView, given: Sequence[Attachment]) -> list[str]:
    """Return what is attached, in the order of the gate's names; what has no name takes the first
    that is left. Names at the end, and those with a ``?``, may get nothing. Raise ``ValueError``
    with a sentence for too many, a name given twice, or a gap. What has a name that the gate lacks
    is left out."""
    named: dict[str, str] = {}
    for each in given:
        if each.name in named:
            raise ValueError(f"{each.name} is attached twice: choose one")
        if each.name:
            named[each.name] = each.what
    left = [name for name in gate.attach if name not in named]
    unnamed = [each.what for each in given if not each.name]
    if gate.attach and len(unnamed) > len(left):
        raise ValueError(
            f"{gate.name} takes {', '.join(gate.attach)}, and {len(given)} things are attached"
        )
    if not gate.attach:
        return unnamed
    named |= dict(zip(left, unnamed, strict=False))
    last = max((place for place, name in enumerate(gate.attach) if name in named), default=0)
    lacking = [name for name in gate.attach[:last] if name not in named]
    needed = next((name for name in lacking if not name.endswith(LEFT_OPEN)), None)
    if needed is not None:
        raise ValueError(f"{needed} comes before what is attached: attach it too")
    named |= dict.fromkeys(lacking, EXTERNAL + NOT_ATTACHED)
    return [named[name] for name in gate.attach if name in named]


async def _attached(options: Options, client: Client, what: str) -> Dataset:
    identifier = what.removeprefix(EXTERNAL)
    if what != identifier:
        return Dataset(identifier, external=True)
    return await add(client, _whole(what), far=is_far(options))


def _whole(text: str) -> Path:
    return Path(text).absolute()


def _there(what: str) -> bool:
    return what.startswith(EXTERNAL) or _whole(what).exists()
