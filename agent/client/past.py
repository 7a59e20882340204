"""The whole past of a node, read page by page, and as a table for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from agent.api.past import PAST, Past, PastReply, PastWorkflow
from agent.client.connected import Client

PAGE = 2_000
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for one when a cell begins so; names are anybody's words."""


async def whole_past(client: Client, wanted: Past) -> PastReply:
    """Return all pages of the workflows that are wanted in one reply, with their sums, without
    those that are forgotten meanwhile, which its total still counts. Raises ``ClientError``."""
    reply = await client.call(PAST, replace(wanted, first=0, limit=PAGE, summed=True))
    found = list(reply.workflows)
    while len(found) < reply.total:
        more = await client.call(PAST, replace(wanted, first=len(found), limit=PAGE))
        if not more.workflows:  # some were forgotten meanwhile
            break
        found += more.workflows
    return replace(reply, workflows=tuple(found))


def past_csv(workflows: Iterable[PastWorkflow]) -> str:
    """Return the workflows as comma-separated values, a line each below a line with the names of
    the columns; times are those of this machine, empty where there is none, lengths are in seconds,
    and a text that a spreadsheet would take for a formula has an apostrophe before it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        (*("workflow", "name", "state", "submitter", "host", "submitted", "began", "ended"),
         *("waited_s", "ran_s", "makespan_s", "tasks", "attempts", "machines", "programs"),
         *("failed", "reason"))
    )  # fmt: skip
    for each in workflows:
        moments = map(_moment, (each.submitted_ms, each.begun_ms, each.ended_ms))
        writer.writerow(
            (*map(_plain, (each.workflow, each.name, each.state, each.submitter, each.host)),
             *moments,
             *(f"{length_s:.3f}" for length_s in (each.waited_s, each.ran_s, each.makespan_s)),
             *(each.tasks, each.attempts, _plain(" ".join(each.machines))),
             *map(_plain, (" ".join(each.programs), each.failed, each.reason)))
        )  # fmt: skip
    return text.getvalue()


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


def _moment(at_ms: int) -> str:
    if not at_ms:
        return ""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().isoformat(" ", "seconds")
