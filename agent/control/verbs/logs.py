"""What tasks have printed, and the agent's own log.

The output of a task lies on the machine of the run, so that one is asked; where it is off, one that
keeps a copy of the end. Whoever is asked answers of its own runs and of what it keeps, and questions
go no further than one step.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from msgspec.structs import replace

from agent.api.errors import RefusedError
from agent.api.logs import AGENT_LOG, TASK_LOG, AgentLog, AgentLogReply, TaskLog, TaskLogPart
from agent.api.rpc import ErrorCode
from agent.control.naming import find_task
from agent.control.recalling import with_past
from agent.control.request_context import RequestContext, serves
from agent.protocol.phrases import said
from agent.protocol.records import Run, TaskSpec
from agent.wording.run_ends import run_id

LOOK_EVERY_S = 0.2
COPY_LOOK_EVERY_S = 5.0
COPIES_ASKED_MAX = 8
UTF8_BYTES_MAX = 4
AGENT_LOG_LOOK_EVERY_S = 0.25


@serves(TASK_LOG)
async def task_log(call: RequestContext, params: TaskLog) -> TaskLogPart:
    """Return a piece of what a run of a task, the latest by default, has printed, asked of its
    machine; before the first run it is empty. With ``wait_s`` above 0 it waits so long for a first
    run, and for more while the run goes on. Where that machine is off it is the end of it, as
    another one keeps it. Raises ``RefusedError`` where task or run is unknown, or neither answers,
    ``sqlite3.Error`` where the history has to be asked and cannot be read."""
    call = await with_past(call, "", params.task)
    now = call.now
    spec = find_task(now.table, params.task)
    deadline_s = asyncio.get_running_loop().time() + params.wait_s
    while True:
        run = _find_run(spec, now.table.life(spec.task).runs, params.run)
        if run is not None:
            break
        left_s = deadline_s - asyncio.get_running_loop().time()
        if left_s <= 0:
            return TaskLogPart(spec.task, "", "", "", 0, 0, 0, over=_ended(call, spec))
        await asyncio.sleep(min(LOOK_EVERY_S, left_s))
    if run.host != now.node:
        return await _elsewhere(call, params, spec, run)
    return await _here(call, params, spec, run, deadline_s)


def _find_run(spec: TaskSpec, runs: Sequence[Run], wanted: str) -> Run | None:
    """The run that is called so, or the latest; None before the first."""
    if not wanted:
        return max(runs, key=lambda run: (run.generation, run.attempt, run.stamp), default=None)
    found = next((run for run in runs if run_id(run) == wanted), None)
    if found is None:
        known = ", ".join(run_id(run) for run in runs) or "none"
        raise RefusedError(
            ErrorCode.UNKNOWN,
            said(
                '{name} has no run "{wanted}"; its runs: {known}',
                name=spec.name,
                wanted=wanted,
                known=known,
            ),
        )
    return found


async def _elsewhere(
    call: RequestContext, params: TaskLog, spec: TaskSpec, run: Run
) -> TaskLogPart:
    if params.here_only:
        return await _copy_here(call, params, spec, run) or _refuse(call, spec, run)
    asked = replace(params, task=spec.task, run=run_id(run), here_only=True)
    linked = any(peer.node == run.host for peer in call.now.peers)
    refused: RefusedError | None = None
    for of_copy in (False, True) if linked else (True, False):
        if of_copy:
            found = await _kept(call, asked, spec, run)
            if found is not None:
                if not (found.text or found.over):  # whoever follows asks again
                    await asyncio.sleep(min(params.wait_s, COPY_LOOK_EVERY_S))
                return found
            continue
        try:
            return await call.members.ask(run.host, TASK_LOG, asked)
        except RefusedError as error:
            refused = error
    assert refused is not None
    raise refused


def _refuse(call: RequestContext, spec: TaskSpec, run: Run) -> NoReturn:
    host, here = call.now.name_of(run.host), call.now.name
    raise RefusedError(
        ErrorCode.REFUSED,
        said("{name} ran on {host}, not on {here}", name=spec.name, host=host, here=here),
    )


async def _kept(
    call: RequestContext, asked: TaskLog, spec: TaskSpec, run: Run
) -> TaskLogPart | None:
    """A copy, here or where one most likely is; None where nobody has any."""
    found = await _copy_here(call, asked, spec, run)
    others = [peer.node for peer in call.now.peers if peer.node != run.host]
    for member in call.rooms.copies.keepers(run.host, others)[:COPIES_ASKED_MAX]:
        if found is not None:
            break
        with suppress(RefusedError):
            found = await call.members.ask(member, TASK_LOG, asked)
    return found


async def _copy_here(
    call: RequestContext, params: TaskLog, spec: TaskSpec, run: Run
) -> TaskLogPart | None:
    kept = await call.rooms.copies.kept(spec.task, run, params.offset, params.limit)
    if kept is None:
        return None
    now, live = call.now, _live(call, spec, run)
    whole = kept.offset + len(kept.data) >= kept.size
    data = _whole_letters(kept.data, last=whole and not live)
    end = kept.offset + len(data)
    return TaskLogPart(
        spec.task,
        run_id(run),
        now.name_of(run.host),
        data.decode("utf-8", "replace"),
        kept.offset,
        end,
        kept.size,
        not live and end >= kept.size,
        now.name,
        kept.at_ms,
        kept.begins,
    )


async def _here(
    call: RequestContext, params: TaskLog, spec: TaskSpec, run: Run, deadline_s: float
) -> TaskLogPart:
    while True:
        live = _live(call, spec, run)
        data, size = await call.rooms.history.printed(spec.task, run, params.offset, params.limit)
        left_s = deadline_s - asyncio.get_running_loop().time()
        if data or not live or left_s <= 0:
            break
        await asyncio.sleep(min(LOOK_EVERY_S, left_s))
    data = _whole_letters(data, last=not live)
    offset = min(params.offset, size)
    end = offset + len(data)
    host, text = call.now.name, data.decode("utf-8", "replace")
    over = not live and end >= size
    return TaskLogPart(spec.task, run_id(run), host, text, offset, end, size, over)


def _live(call: RequestContext, spec: TaskSpec, run: Run) -> bool:
    """Asked anew each time: the table holds new values, not changed ones."""
    runs = call.now.table.life(spec.task).runs
    return any(each.live for each in runs if run_id(each) == run_id(run))


def _ended(call: RequestContext, spec: TaskSpec) -> bool:
    reading = call.now.table.reading(spec.task)
    return reading is not None and (reading.outcome is not None or bool(reading.reason))


def _whole_letters(data: bytes, *, last: bool) -> bytes:
    """Without a letter at the end of which more is to come."""
    for cut in range(1, min(UTF8_BYTES_MAX, len(data)) + 1):
        lead = data[-cut]
        if lead & 0xC0 == 0x80:
            continue
        length = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        return data[:-cut] if length > cut and not last and cut < len(data) else data
    return data


@serves(AGENT_LOG)
async def agent_log(call: RequestContext, params: AgentLog) -> AgentLogReply:
    """Return the last lines of the agent's own log, or those after a place; for these it waits up
    to ``wait_s``, 0 being not at all, until one comes, and is empty when none does. Raises
    ``ServiceError`` where the log cannot be read."""
    deadline_s = asyncio.get_running_loop().time() + params.wait_s
    while True:
        found = await call.rooms.history.log_lines(params)
        left_s = deadline_s - asyncio.get_running_loop().time()
        if found.lines or not params.after or left_s <= 0:
            break
        await asyncio.sleep(min(AGENT_LOG_LOOK_EVERY_S, left_s))
    return found
