"""Logs: the output of tasks wherever they run, and the agent's own.

Who follows a log asks with ``wait_s``: the answer comes as soon as there is more, or after so
long; nobody has to ask again and again for nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.api.rpc import Method
from agent.api.values import Count, Millis, Reference, ShortText

LOG_BYTES_MAX = 256 * 1024
LOG_LINES_MAX = 2_000
WAIT_S_MAX = 60.0

Offset = Annotated[int, Meta(ge=0, le=2**60)]
Severity = Literal["debug", "info", "normal", "warning", "error"]


class TaskLog(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a task has said so far, from this byte on; of its latest run if none is named.

    ``run`` is a number of ``runs``. ``wait_s``: wait for more while the run goes on.
    ``here_only``: do not ask another machine, as machines do among themselves.
    """

    task: Reference
    run: Annotated[str, Meta(max_length=64)] = ""
    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=LOG_BYTES_MAX)] = 64 * 1024
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_S_MAX)] = 0.0
    here_only: bool = False


class TaskLogPart(Struct, frozen=True):
    """Some of it. ``next_offset`` is where to go on; ``over``: the run has ended, and that was all.

    Bytes that are no text are shown by a replacement sign. ``copy_on`` is the machine that keeps
    this copy, as it was at ``copied_ms``, where the run's own could not be asked; what was before
    ``begins`` is not kept then.
    """

    task: str
    run: str
    host: str
    text: str
    offset: Offset
    next_offset: Offset
    size_bytes: Offset
    over: bool
    copy_on: str = ""
    copied_ms: Millis = 0
    begins: Offset = 0


class AgentLog(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Lines of the agent's log: the last so many, or those after a place.

    ``severity`` is the least that is wanted; ``containing`` a part of the line, in whatever case.
    """

    after: Annotated[str, Meta(max_length=64)] = ""
    severity: Severity = "info"
    containing: ShortText = ""
    limit: Annotated[int, Meta(ge=1, le=LOG_LINES_MAX)] = 200
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_S_MAX)] = 0.0


class LogLine(Struct, frozen=True):
    """A line with whatever belongs to it; the time by the clock of that machine."""

    at_ms: Millis
    severity: Severity
    text: str


class AgentLogReply(Struct, frozen=True):
    """``after`` is the place to go on from. ``skipped``: older files were removed meanwhile."""

    lines: tuple[LogLine, ...]
    after: str
    skipped: bool = False
    matching: Count = 0


# -- what is asked, and what is answered ----------------------------------------------------------

TASK_LOG = Method("task_log", TaskLog, TaskLogPart)
AGENT_LOG = Method("agent_log", AgentLog, AgentLogReply)
