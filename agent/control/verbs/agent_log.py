"""agent_log: lines of the agent's own log, the last ones or those that come."""

import asyncio
from pathlib import Path

from agent.api.errors import ServiceError
from agent.api.logs import AgentLog, AgentLogReply, LogLine
from agent.api.methods import AGENT_LOG
from agent.control.call import Call, verb
from agent.history.log_reading import Filter, Lines, read_lines

LOOK_EVERY_S = 0.25


async def serve(call: Call, params: AgentLog) -> AgentLogReply:
    """Who waits is answered as soon as there is a line that it wants."""
    folder = Path(call.surface.facts().log_folder)
    deadline_s = asyncio.get_running_loop().time() + params.wait_s
    while True:
        found = await asyncio.to_thread(_read, folder, params)
        left_s = deadline_s - asyncio.get_running_loop().time()
        if found.lines or not params.after or left_s <= 0:
            break
        await asyncio.sleep(min(LOOK_EVERY_S, left_s))
    return AgentLogReply(
        tuple(LogLine(each.at_ms, each.severity, each.text) for each in found.lines),  # type: ignore[arg-type]
        found.after,
        found.skipped,
        found.matching,
    )


def _read(folder: Path, params: AgentLog) -> Lines:
    wanted = Filter(params.severity, params.containing)
    try:
        return read_lines(folder, params.after, wanted, params.limit)
    except OSError as error:
        sentence = f"the log in {folder} cannot be read: {error.strerror}"
        raise ServiceError(sentence) from error


VERB = verb(AGENT_LOG, serve)
