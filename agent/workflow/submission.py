"""From a workflow file to the flock: read, add its files, publish its programs, send it.

The command line and the window both come through here, with whatever client they have; it is asked
by the methods of the contract and nothing else. Nothing is sent before all of the file was
read without a fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from agent.api import methods
from agent.api.plan import PENDING
from agent.api.programs import Programs, ProgramsReply, Published
from agent.api.values import Dataset, NamedPriority
from agent.api.work import Submit, Submitted, Task
from agent.workflow.model import KnownProgram, Workflow
from agent.workflow.reading import Asked, Known, read_workflow_file
from agent.workflow.uploading import Client, add, publish

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person says beside the file.

    ``start`` is where typed names of files begin; ``far``: the agent is on another machine.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    priority: NamedPriority | None = None
    submitter: str = ""
    start: Path | None = None
    far: bool = False


async def read_for(client: Client, path: Path, wanted: Wanted) -> Workflow:
    """Return the workflow in a file, checked against what the flock has. Raises ``FaultsError``,
    and what the client raises."""
    asked = asked_with(wanted, await programs_of(client))
    return await asyncio.to_thread(read_workflow_file, path, asked)


def asked_with(wanted: Wanted, programs: Known) -> Asked:
    """Return what is said beside a file, with the programs that the flock has."""
    return Asked(wanted.variables, programs, wanted.name, wanted.start)


async def submit_file(
    client: Client, path: Path, wanted: Wanted, told: ProgressCallback = lambda _: None
) -> Submitted:
    """Read a workflow file, add its files, publish its programs and submit it; ``told`` hears a
    line for each step that may take a while.

    Raises ``FaultsError``, and what the client raises.
    """
    workflow = await read_for(client, path, wanted)
    return await client.call(methods.SUBMIT, await prepare(client, workflow, wanted, told))


async def prepare(
    client: Client, workflow: Workflow, wanted: Wanted, told: ProgressCallback = lambda _: None
) -> Submit:
    """Add the workflow's files and publish its programs, and return the request, which is not sent
    yet. Raises ``ClientError`` or ``OSError``."""
    files: dict[str, Dataset] = {}
    for number, (placeholder, path) in enumerate(workflow.files.items(), 1):
        told(f"adding {path.name} ({number} of {len(workflow.files)})")
        files[placeholder] = await add(client, path, far=wanted.far)
    programs: dict[str, Published] = {}
    for name, program in workflow.programs.items():
        told(f"publishing {name}")
        programs[name] = await publish(client, program, far=wanted.far)
    return ready(workflow.submit, wanted, files, programs)


def ready(
    submit: Submit,
    wanted: Wanted,
    files: Mapping[str, Dataset],
    programs: Mapping[str, Published],
) -> Submit:
    """Return the request with the datasets and programs of the flock in the place of names that
    only the file knows."""
    return structs.replace(
        submit,
        tasks=tuple(_ready_task(task, files, programs) for task in submit.tasks),
        priority=submit.priority if wanted.priority is None else wanted.priority,
        submitter=wanted.submitter or submit.submitter,
    )


def _ready_task(
    task: Task, files: Mapping[str, Dataset], programs: Mapping[str, Published]
) -> Task:
    published = programs.get(task.program)
    if published is None and not any(each.dataset in files for each in task.raw):
        return task
    raw = tuple(files.get(each.dataset, each) for each in task.raw)
    if published is None:
        return structs.replace(task, raw=raw)
    return structs.replace(task, raw=raw, program=published.program, published=published.dataset)


def dry(workflow: Workflow, wanted: Wanted) -> Submit:
    """Return what would be sent, for asking which machines could run it; files have placeholders
    yet."""
    programs = {name: Published(name, Dataset(f"{PENDING}{name}")) for name in workflow.programs}
    return ready(workflow.submit, wanted, {}, programs)


async def programs_of(client: Client) -> Known:
    """Return what the flock can run, with what is known of each program. Raises ``ClientError``."""
    reply: ProgramsReply = await client.call(methods.PROGRAMS, Programs())
    return {
        each.name: KnownProgram(each.outputs or None, each.expected_s, published=each.published)
        for each in reply.programs
    }
