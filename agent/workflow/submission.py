"""From a workflow file to the flock: read, add its files, publish its programs, send it.

The command line and the window both come through here, with whatever client they have; it is asked
by the methods of the contract and nothing else. Nothing is sent before all of the file was
read without a fault.

An agent on this machine is given paths and reads them itself. An agent on another one is sent the
contents in pieces, and a program is then named as its own node would name it: the name, an @, and
the beginning of its folder's digest.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from msgspec import structs

from agent.api import datasets, programs, work
from agent.api.datasets import (
    CHUNK_BYTES_MAX,
    AddDataset,
    BeginUpload,
    DatasetAdded,
    EndUpload,
    UploadChunk,
)
from agent.api.programs import Programs, ProgramsReply, Publish, Published, published_name
from agent.api.rpc import Method, P, R
from agent.api.values import Dataset, NamedPriority
from agent.api.work import PENDING, Origin, Submit, Submitted, Task
from agent.protocol.phrases import Phrase, said
from agent.regular_files import open_regular
from agent.workflow.faults import WHOLE_FILE, Fault, Faults, FaultsError, shown
from agent.workflow.model import KnownProgram, LocalProgram, Workflow
from agent.workflow.one_program import Alone, describe_file
from agent.workflow.program_description import PROGRAM_YAML
from agent.workflow.program_folder import read_program
from agent.workflow.reading import Asked, Known

Sent = Callable[[int], object]
"""Told how many bytes are on the other side now, more than before."""

ProgressStep = Phrase
"""What is done next; words are made of it where it is shown."""
ProgressCallback = Callable[[ProgressStep], None]


class Client(Protocol):
    """As much of a client as is needed; ``agent.client.Client`` is one."""

    async def call(self, method: Method[P, R], params: P) -> R:
        """Ask, and wait for the answer."""


async def add(client: Client, path: Path, *, far: bool, sent: Sent = lambda _: None) -> Dataset:
    """Wait until a file or folder is in the flock's store, and return its dataset. The agent reads
    it by its path; with ``far`` it is sent in pieces, and only then ``sent`` hears the bytes of
    each. Raises ``ClientError``; with ``far`` ``OSError`` too, also for devices and links out of
    the folder: pieces that were sent then go with the connection."""
    if not far:
        return (await client.call(datasets.ADD_DATASET, AddDataset(_told(path)))).dataset
    return (await _upload(client, path, sent)).dataset


async def publish(client: Client, program: LocalProgram, *, far: bool) -> Published:
    """Publish a program's folder, or one made of a script and its description; return its name in
    the flock and its dataset. With ``far`` the folder is only added, under the name that it would
    get. Raises ``ClientError`` or ``OSError``, and with ``far`` ``FaultsError`` of a wrong
    description; nothing is published then, though its folder may have been added."""
    if not program.description:
        return await _publish(client, program.path, far)
    with tempfile.TemporaryDirectory(prefix="wingbeat-") as made:
        folder = Path(made) / program.name
        folder.mkdir()
        shutil.copy(program.path, folder / program.path.name)
        (folder / PROGRAM_YAML).write_text(program.description, "utf-8")
        return await _publish(client, folder, far)


async def _publish(client: Client, folder: Path, far: bool) -> Published:
    if not far:
        return await client.call(programs.PUBLISH, Publish(_told(folder), with_work=True))
    name = read_program(folder).name
    dataset = await add(client, folder, far=True)
    return Published(published_name(name, dataset.dataset), dataset)


async def _upload(client: Client, path: Path, sent: Sent) -> DatasetAdded:
    files = await asyncio.to_thread(_files, path)
    folder = files[0][1] != "" if files else True
    begun = await client.call(datasets.BEGIN_UPLOAD, BeginUpload(path.name, folder))
    for file, name in files:
        pieces = _pieces(file)  # read beside the loop, because a file may be on a slow disk
        while (found := await asyncio.to_thread(next, pieces, None)) is not None:
            piece, offset = found
            chunk = UploadChunk(begun.upload, piece, name, offset, _executable(file))
            await client.call(datasets.UPLOAD_CHUNK, chunk)
            sent(len(piece))
    for name in await asyncio.to_thread(_empty_folders, path):
        await client.call(datasets.UPLOAD_CHUNK, UploadChunk(begun.upload, b"", name, folder=True))
    return await client.call(datasets.END_UPLOAD, EndUpload(begun.upload))


def _executable(path: Path) -> bool:
    """Tell whether a file may be executed, as the store of datasets sees it; Windows has no such
    right."""
    return os.name == "posix" and bool(path.stat().st_mode & stat.S_IXUSR)


def _told(path: Path) -> str:
    """How the agent, which works elsewhere, finds it."""
    return str(path.absolute())


def _files(path: Path) -> list[tuple[Path, str]]:
    """What is to be sent, each with its path within the folder; a file alone has none.

    Raises ``OSError`` for what an agent of this machine would not take either.
    """
    if not path.is_dir():
        return [(_checked(path), "")]
    found = (each for each in path.rglob("*") if each.is_symlink() or not each.is_dir())
    files = sorted(_checked(file, path) for file in found)
    return [(file, file.relative_to(path).as_posix()) for file in files]


def _empty_folders(path: Path) -> list[str]:
    """What an agent of this machine would keep of a folder besides its files."""
    folders = (each for each in path.rglob("*") if each.is_dir() and not each.is_symlink())
    return sorted(each.relative_to(path).as_posix() for each in folders if not any(each.iterdir()))


def _checked(path: Path, folder: Path | None = None) -> Path:
    """A file that may be sent, alone or as a part of that folder."""
    known = path.stat()
    if path.is_symlink() and stat.S_ISDIR(known.st_mode):
        reason = "it is a link to a folder: put the folder itself there"
    elif not stat.S_ISREG(known.st_mode):
        reason = "it is no file but a device or a pipe"
    elif folder is not None and not path.resolve().is_relative_to(folder.resolve()):
        reason = "it is a link that leads out of the folder: put the file there"
    else:
        return path
    raise OSError(errno.EINVAL, reason, str(path))


def _pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    """The contents of a file; an empty one has one empty piece."""
    offset = 0
    with open_regular(path) as file:
        while (piece := file.read(CHUNK_BYTES_MAX)) or not offset:
            yield piece, offset
            offset += len(piece)
            if not piece:
                return


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person says beside the file.

    ``start`` is where typed names of files begin; ``far``: the agent is on another machine;
    ``alone``: how a program runs that is no workflow; ``again``: run it anew, although the same was
    run before; ``path``: where it was read, so that it can be read again; ``allowed``: files and
    folders beyond that of the workflow that may be sent, with all that lies below;
    ``step_priorities``: of steps by name, a fan-out's by that of the whole.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    priority: NamedPriority | None = None
    submitter: str = ""
    start: Path | None = None
    far: bool = False
    alone: Alone = field(default_factory=Alone)
    again: bool = False
    path: Path | None = None
    allowed: tuple[Path, ...] = ()
    step_priorities: Mapping[str, NamedPriority] = field(default_factory=dict)


async def read_for(client: Client, path: Path, wanted: Wanted) -> Workflow:
    """Ask the flock for its programs, and return the workflow in a file, or of a program that comes
    alone, checked against them. Raises ``FaultsError`` with all that is wrong, and
    ``ClientError``."""
    asked = asked_with(wanted, await programs_of(client))
    found = await asyncio.to_thread(describe_file, path, asked, wanted.alone)
    if found.workflow is None:
        raise FaultsError(found.faults)
    return found.workflow


def asked_with(wanted: Wanted, programs: Known) -> Asked:
    """Return what is said beside a file, with the programs that the flock has."""
    return Asked(wanted.variables, programs, wanted.name, wanted.start, wanted.allowed)


async def submit_file(
    client: Client, path: Path, wanted: Wanted, told: ProgressCallback = lambda _: None
) -> Submitted:
    """Read a workflow file, or the folder or file of one program that is to run alone, add its
    files, publish its programs and submit it, without waiting for the work; return the answer.
    ``told`` hears of each file and each program before it goes.

    Raises ``FaultsError``, ``OSError`` and what the client raises; what was added until then stays.
    """
    wanted = replace(wanted, path=path)
    workflow = await read_for(client, path, wanted)
    return await client.call(work.SUBMIT, await prepare(client, workflow, wanted, told))


def new_key() -> str:
    """Return a name for one click or command, such as no other has."""
    return secrets.token_hex(16)


async def prepare(
    client: Client, workflow: Workflow, wanted: Wanted, told: ProgressCallback = lambda _: None
) -> Submit:
    """Add the workflow's files, publish its programs, and return the request, which is not sent yet
    and has a key of its own. ``told`` hears of each of them before it goes. Raises ``FaultsError``
    where it takes along what nobody has confirmed, and what ``add`` and ``publish`` raise; what was
    added until then stays."""
    if workflow.outside:
        raise FaultsError(_unconfirmed(workflow, wanted))
    files: dict[str, Dataset] = {}
    count = len(workflow.files)
    for number, (placeholder, path) in enumerate(workflow.files.items(), 1):
        told(
            said("adding {name} ({number} of {count})", name=path.name, number=number, count=count)
        )
        files[placeholder] = await add(client, path, far=wanted.far)
    programs: dict[str, Published] = {}
    for name, program in workflow.programs.items():
        told(said("publishing {name}", name=name))
        programs[name] = await publish(client, program, far=wanted.far)
    found = ready(workflow.submit, wanted, files, programs)
    return structs.replace(found, key=new_key(), again=wanted.again, origin=_origin(wanted))


def _unconfirmed(workflow: Workflow, wanted: Wanted) -> list[Fault]:
    faults = Faults(str(wanted.path or workflow.submit.name))
    for each in workflow.outside:
        faults.at(WHOLE_FILE).said(
            "takes {path} along, which lies outside of its folder: look whether that may leave this "
            "computer, and confirm it",
            path=str(each),
        )
    return list(faults.listing())


def _origin(wanted: Wanted) -> Origin | None:
    """Where it was read, for the machine that submits it; another one finds nothing there."""
    if wanted.path is None or wanted.far:
        return None
    alone, start = wanted.alone, wanted.start
    return Origin(
        str(wanted.path.absolute()),
        "" if start is None else str(start.absolute()),
        dict(wanted.variables),
        wanted.name,
        *(alone.files, alone.each, alone.times, alone.parameters),
        tuple(str(each.absolute()) for each in wanted.allowed),
    )


def ready(
    submit: Submit,
    wanted: Wanted,
    files: Mapping[str, Dataset],
    programs: Mapping[str, Published],
) -> Submit:
    """Return the request with the flock's datasets and programs in the place of names that only the
    file knows; a name without one stays. A priority or submitter that is wanted goes before the
    file's. Raises ``FaultsError`` for a step with a wanted priority that is not there."""
    tasks = tuple(_ready_task(task, files, programs) for task in submit.tasks)
    return structs.replace(
        submit,
        tasks=_prioritised(tasks, wanted),
        priority=submit.priority if wanted.priority is None else wanted.priority,
        submitter=wanted.submitter or submit.submitter,
    )


def _prioritised(tasks: tuple[Task, ...], wanted: Wanted) -> tuple[Task, ...]:
    """The same, those steps with another priority that a person named."""
    own: dict[str, NamedPriority] = {}
    faults = Faults(str(wanted.path or "-"))
    for name, value in wanted.step_priorities.items():
        meant = [each.id for each in tasks if each.id == name or each.id.startswith(f"{name}.")]
        own |= dict.fromkeys(meant, value)
        if not meant:
            hint = faults.hint_or_all(name, [each.id for each in tasks])
            faults.at(WHOLE_FILE).said("there is no step {name}", name=shown(name), hint=hint)
    if faults:
        raise FaultsError(list(faults.listing()))
    return tuple(
        structs.replace(each, priority=own[each.id]) if each.id in own else each for each in tasks
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
    """Return what would be sent, for asking which machines could run it: files and programs have
    placeholders yet. Nothing is added, published or sent."""
    programs = {name: Published(name, Dataset(f"{PENDING}{name}")) for name in workflow.programs}
    return ready(workflow.submit, wanted, {}, programs)


async def programs_of(client: Client) -> Known:
    """Ask the flock what it can run, and return by name what is known of each program; its
    requirements are not told. Raises ``ClientError``."""
    reply: ProgramsReply = await client.call(programs.PROGRAMS, Programs())
    return {
        each.name: KnownProgram(each.outputs or None, each.expected_s, published=each.published)
        for each in reply.programs
    }
