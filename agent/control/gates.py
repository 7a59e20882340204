"""What a person may attach to a gate: kept beside what the flock itself knows of a task.

The names travel with the task under ``more``, which every version keeps and hands on. They are in
the order of the outputs, so that the first name is output 0 for the tasks behind the gate.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from agent.api.errors import RefusedError
from agent.api.phrases import LEFT_OPEN, NOT_ATTACHED
from agent.api.rpc import ErrorCode
from agent.api.values import Dataset
from agent.api.work import ATTACHED_MAX
from agent.protocol.phrases import said
from agent.protocol.records import More, TaskSpec

ATTACH = "attach"
_decoder = msgspec.msgpack.Decoder(tuple[str, ...])


def with_attached(names: Sequence[str]) -> More:
    """Return what a task carries along for these names; nothing where there are none."""
    return {ATTACH: Raw(msgspec.msgpack.encode(tuple(names)))} if names else {}


def attach_names(spec: TaskSpec) -> tuple[str, ...]:
    """Return the names of what a person may attach to a gate, at most ``ATTACHED_MAX``; empty where
    its author said none, and where it cannot be read."""
    told = spec.more.get(ATTACH)
    if told is None:
        return ()
    try:
        return _decoder.decode(told)[:ATTACHED_MAX]
    except msgspec.MsgspecError:
        return ()


def outputs_of(gate: TaskSpec, attached: Sequence[Dataset]) -> tuple[Dataset, ...]:
    """Return a gate's outputs: what a person attached, then a placeholder for each name left
    without a file, up to the last one that may be left open (``?``)."""
    names = attach_names(gate)
    open_ = [at for at, name in enumerate(names) if name.endswith(LEFT_OPEN)]
    lacking = max(open_, default=-1) + 1 - len(attached)
    return (*attached, *(lacking * [Dataset(NOT_ATTACHED, external=True)]))


def misfit(gate: TaskSpec, count: int, tasks: Sequence[TaskSpec]) -> RefusedError | None:
    """Return, not raise, why a gate cannot be done with ``count`` attached datasets: more than it
    names, if it names any, or too few for what one of ``tasks`` needs of it and may not be left
    open (a code of its own); None where it can."""
    names = attach_names(gate)
    if names and count > len(names):
        only = said("one thing") if len(names) == 1 else said("{count} things", count=len(names))
        many = said(
            "{gate} takes {only} ({names}), and {count} are attached",
            gate=gate.name,
            only=only,
            names=", ".join(names),
            count=count,
        )
        return RefusedError(ErrorCode.REFUSED, many)
    for task in tasks:
        for each in task.inputs:
            if each.task == gate.task and each.output >= count:
                known = each.output < len(names)
                if known and names[each.output].endswith(LEFT_OPEN):
                    continue
                lacking = said(
                    "{task} needs {what} of {gate}: attach it",
                    task=task.name,
                    what=names[each.output] if known else said("something"),
                    gate=gate.name,
                )
                return RefusedError(ErrorCode.ATTACH_FIRST, lacking)
    return None
