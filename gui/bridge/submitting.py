"""Submitting from the window: read files, ask for a dry run, send; all in the bridge's loop.

The same function of ``agent.workflow`` as the command line's, so that both understand a file alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent.api.rpc import ErrorCode
from agent.api.work import PLAN, SUBMIT, Plan, PlanReply, Submitted
from agent.client import Client, ClientError, RequestError
from agent.client.own_agent import own_name
from agent.workflow.faults import Fault, FaultsError
from agent.workflow.model import Workflow
from agent.workflow.reading import SUFFIX, Known, describe
from agent.workflow.submission import Wanted, asked_with, dry, prepare, programs_of
from agent.workflow.variables import Variable
from gui.wording import error_text
from gui.words import tr

FILES_MAX = 200


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of one file before it is sent."""

    path: Path
    variables: tuple[Variable, ...] = ()
    workflow: Workflow | None = None
    faults: tuple[Fault, ...] = ()
    plan: PlanReply | None = None
    note: str = ""


def workflow_files(paths: list[Path]) -> list[Path]:
    """Return the files in their order, looked at by nobody yet, and in place of each folder the
    workflow files directly in it, by name; what exceeds ``FILES_MAX`` is left out. Raises
    ``OSError`` for a folder that cannot be read."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(
                each for each in path.iterdir() if each.name.endswith((SUFFIX, SUFFIX[:-4] + "yml"))
            )
        else:
            found.append(path)
    return found[:FILES_MAX]


class Preview:
    """Looks at the files of one sheet, with one client; what programs there are is asked once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._programs: Known | None = None
        self._asking = asyncio.Lock()

    def forget_programs(self) -> None:
        """Have the programs asked for anew at the next check: one may have been changed in an
        editor."""
        self._programs = None

    async def check(self, path: Path, variables: Mapping[str, str], name: str = "") -> Checked:
        """Read a workflow file with these values, under another name if one is given, and ask the
        agent for a dry run. What is wrong with the file (then there is none), or what the agent
        says against it, comes back in the result; an agent that knows no dry runs leaves both plan
        and note empty. Raises ``ClientError``."""
        wanted = _wanted(variables, name, path)
        async with self._asking:
            known = self._programs  # forgotten in another thread
            if known is None:
                known = self._programs = await programs_of(self._client)
        asked = asked_with(wanted, known)
        found = await asyncio.to_thread(describe, path, asked)
        if found.workflow is None:
            return Checked(path, found.variables, faults=found.faults)
        read = Checked(path, found.variables, found.workflow)
        try:
            plan = await self._client.call(PLAN, Plan(dry(found.workflow, wanted)))
        except RequestError as error:
            served = error.code != ErrorCode.NO_SUCH_METHOD
            return replace(read, note=error_text(error) if served else "")
        return replace(read, plan=plan)


async def send(
    client: Client,
    workflow: Workflow,
    variables: Mapping[str, str],
    name: str,
    path: Path,
    told: Callable[[str], None],
) -> Submitted:
    """Add the workflow's files, publish its programs and submit it; return the agent's answer.
    ``told`` hears each step. Raises ``ClientError``, with a line for each fault that shows only
    now, or ``OSError`` for a file that cannot be read."""
    wanted = _wanted(variables, name, path)
    try:
        return await client.call(SUBMIT, await prepare(client, workflow, wanted, told))
    except FaultsError as error:
        raise ClientError("\n".join(each.sentence(tr) for each in error.faults)) from error


def _wanted(variables: Mapping[str, str], name: str, path: Path) -> Wanted:
    return Wanted(dict(variables), name, None, own_name(), path.parent)
