"""Submitting from the window: read files, ask for a dry run, send; all in the bridge's loop.

The same function of ``agent.workflow`` as the command line's, so that both understand a file alike.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.api.methods import PLAN, SUBMIT
from agent.api.plan import Plan, PlanReply
from agent.api.rpc import ErrorCode
from agent.api.work import Submitted
from agent.client import Client, ClientError, RequestError
from agent.workflow.faults import Fault, FaultsError
from agent.workflow.model import Workflow
from agent.workflow.reading import SUFFIX, variables_of
from agent.workflow.submission import Wanted, dry, prepare, read_for
from agent.workflow.variables import Variable

FILES_MAX = 200
XML = ".xml"


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
    """Return the files as they are and, for a folder, the workflow files directly in it;
    ``FILES_MAX`` at the most. Raises ``OSError``."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(
                each for each in path.iterdir() if each.name.endswith((SUFFIX, SUFFIX[:-4] + "yml"))
            )
        else:
            found.append(path)
    return found[:FILES_MAX]


async def checked(
    client: Client, path: Path, variables: Mapping[str, str], name: str = ""
) -> Checked:
    """Read a workflow file with these values and ask the agent for a dry run. Faults of the file
    come back in the result; other failures raise ``ClientError`` or ``OSError``."""
    declared = () if path.suffix.lower() == XML else variables_of(path)
    wanted = _wanted(variables, name, path)
    try:
        workflow = await read_for(client, path, wanted)
    except FaultsError as error:
        return Checked(path, declared, faults=error.faults)
    try:
        plan = await client.call(PLAN, Plan(dry(workflow, wanted)))
    except RequestError as error:
        served = error.code != ErrorCode.NO_SUCH_METHOD
        return Checked(path, declared, workflow, note=str(error) if served else "")
    return Checked(path, declared, workflow, plan=plan)


async def sent(
    client: Client,
    workflow: Workflow,
    variables: Mapping[str, str],
    name: str,
    path: Path,
    told: Callable[[str], None],
) -> Submitted:
    """Add the workflow's files, publish its programs and submit it; ``told`` hears each step.
    Raises ``ClientError``."""
    wanted = _wanted(variables, name, path)
    try:
        return await client.call(SUBMIT, await prepare(client, workflow, wanted, told))
    except FaultsError as error:
        raise ClientError(str(error)) from error


def _wanted(variables: Mapping[str, str], name: str, path: Path) -> Wanted:
    return Wanted(dict(variables), name, None, _user(), path.parent)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
