"""`wingbeat submit`: a workflow from a file to the flock, or a dry run of it."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from agent.api.flock import PEERS, Peers, PeerView
from agent.api.phrases import composed, worded, wrong_name
from agent.api.reasons import reason_of
from agent.api.values import NAME_CHARACTERS_MAX, PRIORITY_NAMES
from agent.api.wording import choices_at, parameters_fault
from agent.api.work import (
    PLAN,
    STATUS,
    NodeView,
    Plan,
    PlanReply,
    Status,
    Submit,
    Submitted,
)
from agent.client import Client
from agent.client import submit as send
from agent.client.own_agent import own_name
from agent.commands import exits
from agent.commands.asking import fail, is_far, tell, with_loop
from agent.commands.parsing import Options, argument, command, number_of
from agent.commands.planned import known_told, show_plan
from agent.commands.questions import STEP_PRIORITY, priority
from agent.commands.showing import (
    counted,
    plain,
    show_json,
    show_lines,
    size,
)
from agent.commands.waiting import wait_for
from agent.regular_files import open_regular
from agent.wording.speech import english
from agent.workflow.faults import WHOLE_FILE, Fault, Faults, FaultsError
from agent.workflow.leaving import Leaving, leaving
from agent.workflow.one_program import RUNS_MAX, Alone, is_program
from agent.workflow.submission import ProgressStep, Wanted, dry, new_key, prepare, read_for

FILE_BYTES_MAX = 32 * 1024 * 1024
JSON_ENDS = (".json",)
DESCRIPTION = """\
Submit a workflow to the flock, and print its id. What you have had run already, with the same
scripts, inputs and values, is not run twice: that is said, and --again runs it anew. The name is a
label, and may repeat; where several have it, the newest of yours is meant.

FILE is a workflow file (name.wingbeat.yaml, or XML of the older systems), or JSON as the client
protocol has it; `-` reads JSON from standard input. A script, a program or a program's folder is a
workflow of one step: --with, --each, --times and --parameters say how it runs. Files of this machine that a workflow names
become datasets of the flock, so that this machine may go away then."""
LEAVING_SHOWN_MAX = 20
EXTRA = "wingbeat["
"""How a tag begins that is what pip installs beside Wingbeat."""
ALONE_OPTIONS = "--with, --each, --times or --parameters"


def name_of_workflow(text: str) -> str:
    """Return the text, with its letters composed as names are kept, if a workflow may be called so;
    else raise ``ArgumentTypeError``."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a workflow needs a name that can be seen")
    if len(text) > NAME_CHARACTERS_MAX:
        limit = f"has at most {NAME_CHARACTERS_MAX} characters"
        raise argparse.ArgumentTypeError(f"a name {limit}, and this has {len(text)}")
    name = composed(text)
    if wrong := wrong_name(name):
        raise argparse.ArgumentTypeError(wrong)
    return name


def setting(text: str) -> tuple[str, str]:
    """Return name, without blanks around it, and value, which may be empty, of what is typed as
    NAME=VALUE; raise ``ArgumentTypeError`` where it is not."""
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value


@command(
    "submit",
    DESCRIPTION,
    "wingbeat submit survey.wingbeat.yaml",
    "wingbeat submit survey.wingbeat.yaml --set flight=7 --set photos=/data/7 --wait",
    "wingbeat submit survey.wingbeat.yaml --dry-run",
    "wingbeat submit survey.json --name survey-2 --priority interactive",
    "wingbeat submit count.sh --with book.txt notes.txt --each",
    "wingbeat submit simulate.py --times 100 --parameters fast",
    "wingbeat submit survey.wingbeat.yaml --again",
    argument("file", metavar="FILE", help="the workflow"),
    argument("--name", type=name_of_workflow, help="submit it under this name, not its own"),
    argument("--priority", type=priority, help="low, interactive, or 0 to 100"),
    STEP_PRIORITY,
    argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="the value of a variable of the workflow; may be given again",
    ),
    argument(
        "--with",
        dest="files",
        nargs="+",
        action="extend",
        default=[],
        metavar="INPUT",
        help="files and folders that a script or program gets",
    ),
    argument("--each", action="store_true", help="run it once for each of these files"),
    argument(
        "--times",
        type=number_of("number of runs", 1, RUNS_MAX),
        default=1,
        metavar="N",
        help="run it so often; each run is told its number, behind the parameters",
    ),
    argument("--parameters", default="", metavar="TEXT", help="what a script or program is told"),
    argument(
        "--dry-run",
        action="store_true",
        help="check it, and tell where each task could run and when it would end; submit nothing",
    ),
    argument(
        "--allow-file",
        dest="allowed",
        action="append",
        default=[],
        metavar="PATH",
        help="a file or folder beyond the workflow's own folder that it may take along; may be "
        "given again",
    ),
    argument("--again", action="store_true", help="run it anew, although the same was run before"),
    argument(
        "--shared-with",
        action="append",
        default=[],
        metavar="MACHINE",
        help="whose people may cancel, retry and read it too: a machine, operators, everybody; or "
        "nobody",
    ),
    argument("--wait", action="store_true", help="until it has ended"),
)
@with_loop
async def run(options: Options, client: Client) -> int:
    """Submit a workflow, or in a dry run show where it could run and submit nothing; with
    ``--wait`` wait until it has ended, which the exit code then tells. Return that code: of a
    failure for a file with faults, which are printed, one that cannot be read or is no workflow,
    one that takes along what lies outside its folder and was not allowed, and a dry run that would
    be refused."""
    source = "what was read" if options.file == "-" else options.file
    try:
        workflow, leaves = await _workflow(options, client)
    except OSError as error:
        return fail(options, f"{error.filename or source} cannot be read: {error.strerror}")
    except FaultsError as error:
        return _faulty(options, error)
    except _UnconfirmedError as error:
        return _ask_to_confirm(options, error)
    except _JsonError as error:
        return fail(options, f"{source} is no workflow: {error}")
    if options.dry_run:
        plan = await client.call(PLAN, Plan(workflow))
        if options.json:
            show_json(_DryRun(**structs.asdict(plan), leaves=tuple(leaves)))
        else:
            show_plan(plan)
            show_lines([*await _wanting(client, workflow, "would wait"), *leaving_told(leaves)])
        if workflow.deliver and not (plan.faults or options.json):
            show_lines([f"its last results go to {workflow.deliver}"])
        return exits.FAILED if plan.faults else exits.DONE
    position = (await client.call(STATUS, Status(limit=1))).position
    submitted = await send(client, workflow)
    if not (options.json and options.wait):
        told = [
            *_told(submitted, workflow.name, workflow.deliver),
            *await _unhelped(options, client, workflow),
            *await _wanting(client, workflow),
        ]
        tell(options, submitted, told)
    if not options.wait:
        return exits.DONE
    return await wait_for(client, submitted.workflow, position, as_json=options.json)


class _DryRun(PlanReply, frozen=True):
    """What `--dry-run --json` shows: the plan, and what would leave this computer."""

    leaves: tuple[Leaving, ...] = ()


async def _workflow(options: Options, client: Client) -> tuple[Submit, list[Leaving]]:
    """The request, with files added and programs published unless it is a dry run, and what leaves
    this computer with it."""
    alone = _alone(options)
    if options.file == "-" or options.file.endswith(JSON_ENDS):
        return _shared(_read_json(options), options), []
    wanted = Wanted(
        variables=dict(options.set),
        name=options.name or "",
        priority=options.priority,
        submitter=own_name(),
        again=options.again,
        start=Path.cwd(),
        far=is_far(options),
        alone=alone,
        path=Path(options.file),
        allowed=tuple(map(Path, options.allowed)),
        step_priorities=dict(options.step_priority),
    )
    read = await read_for(client, Path(options.file), wanted)
    leaves = await asyncio.to_thread(leaving, read, Path(options.file).parent)
    if read.outside and not (options.dry_run and not options.node):
        raise _UnconfirmedError(read.outside, leaves)
    if options.dry_run:
        return _shared(dry(read, wanted), options), leaves

    def told(step: ProgressStep) -> None:
        """Steps that take a while are told to whoever watches."""
        if not options.json and sys.stderr.isatty():
            sys.stderr.write(f"{worded(step)}\n")

    return _shared(await prepare(client, read, wanted, told), options), leaves


def _shared(workflow: Submit, options: Options) -> Submit:
    named = tuple(options.shared_with)
    return structs.replace(workflow, shared_with=named) if named else workflow


class _UnconfirmedError(Exception):
    """It takes along what nobody has confirmed."""

    def __init__(self, outside: tuple[Path, ...], leaves: list[Leaving]) -> None:
        super().__init__()
        self.outside, self.leaves = outside, leaves


class _Unconfirmed(Struct, frozen=True):
    """What `--json` shows then."""

    error: str
    outside: tuple[str, ...]
    leaves: tuple[Leaving, ...]


def _ask_to_confirm(options: Options, error: _UnconfirmedError) -> int:
    """Show what would leave this computer, and how that is confirmed."""
    outside = tuple(map(str, error.outside))
    sentence = (
        f"{options.file} takes along what lies outside of its folder; nothing was sent. If that may "
        f"leave this computer, say"
    )
    said = " ".join(f"--allow-file {shlex.quote(each)}" for each in outside)
    if options.json:
        show_json(_Unconfirmed(f"{sentence} {said}", outside, tuple(error.leaves)))
    else:
        lines = [*leaving_told(error.leaves), f"{sentence}:", said]
        sys.stderr.writelines(f"{plain(line)}\n" for line in lines)
    return exits.FAILED


def leaving_told(leaves: Sequence[Leaving]) -> list[str]:
    """Return the lines that list what would leave this computer: each file or folder, those outside
    the workflow's folder first, and how many more there are; empty when nothing leaves."""
    if not leaves:
        return []
    ordered = sorted(leaves, key=lambda each: not each.outside)
    total = size(sum(each.size_bytes for each in leaves))
    lines = [f"leaves this computer, {total} in all:"]
    for each in ordered[:LEAVING_SHOWN_MAX]:
        files = "" if each.files == 1 else f"{'more than ' * each.more}{each.files} files, "
        where = "  (outside of its folder)" if each.outside else ""
        lines.append(f"  {each.path}  {files}{size(each.size_bytes)}{where}")
    hidden = len(ordered) - LEAVING_SHOWN_MAX
    return [*lines, f"  and {hidden} more"] if hidden > 0 else lines


def _alone(options: Options) -> Alone:
    """How it runs that is no workflow. Raises ``FaultsError`` where it is one, and says so itself."""
    alone = Alone(tuple(options.files), options.each, options.times, options.parameters)
    faults, path = Faults(options.file), Path(options.file)
    if alone != Alone() and path.exists() and not is_program(path):
        faults.at(WHOLE_FILE).said(
            "{given} is for scripts and programs: a workflow says itself how each of its steps runs",
            given=ALONE_OPTIONS,
        )
        raise FaultsError(faults.listing())
    return alone


def _read_json(options: Options) -> Submit:
    """The workflow in the file, with what the command line says otherwise."""
    if options.set:
        raise _JsonError("it is JSON, which has no variables: --set is for workflow files")
    if options.file == "-":
        data = sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
    else:
        with open_regular(Path(options.file)) as file:
            data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise _JsonError(f"it is larger than {FILE_BYTES_MAX // 2**20} MB")
    document = _json_object(data)
    told = {"name": options.name, "priority": options.priority}
    document.update({name: value for name, value in told.items() if value is not None})
    document.setdefault("submitter", own_name())
    document.setdefault("key", new_key())
    if options.again:
        document["again"] = True
    try:
        return msgspec.convert(document, Submit)
    except msgspec.ValidationError as error:
        choices = partial(choices_at, Submit)
        said = parameters_fault("", str(error), Submit.__struct_fields__, choices)
        raise _JsonError(said.removeprefix(": ")) from error


def _json_object(data: bytes) -> dict[str, object]:
    """What Windows saves has a mark at its beginning, which is no part of JSON."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _JsonError(f"it is not UTF-8 (byte {error.start})") from error
    if not text.strip():
        raise _JsonError("there is nothing in it")
    try:
        document = msgspec.json.decode(text)
    except msgspec.MsgspecError as error:
        said = str(error).removeprefix("JSON is malformed: ")
        raise _JsonError(f"it is not JSON: {said}") from error
    except RecursionError as error:
        raise _JsonError("it is nested too deeply") from error
    if not isinstance(document, dict):
        raise _JsonError("it has to be an object with name and tasks")
    return document


class _JsonError(Exception):
    """What is wrong with a workflow in JSON."""


class _Faulty(Struct, frozen=True):
    """What `--json` shows of a file with faults; ``details`` for programs that read no sentences."""

    error: str
    faults: tuple[str, ...]
    details: tuple[Fault, ...]


def _faulty(options: Options, error: FaultsError) -> int:
    """Each fault in a line of its own, as compilers write them, so that editors find the place."""
    sentences = tuple(fault.sentence() for fault in error.faults)
    if options.json:
        show_json(_Faulty(f"{options.file} has faults", sentences, error.faults))
    else:
        sys.stderr.writelines(f"{sentence}\n" for sentence in sentences)
    return exits.FAILED


def _told(submitted: Submitted, name: str, delivered: str) -> list[str]:
    workflow = submitted.workflow
    meant = [english(reason_of(each, "")) for each in submitted.meant]
    if submitted.known:
        return [*meant, f"{known_told(name, workflow, submitted.there)}; --again runs it anew"]
    disks = "this disk only, as nobody else is there" if submitted.disks < 2 else "two disks"
    return [
        *meant,
        f"{name} is accepted as {workflow} and kept on {disks}",
        *([f"its last results go to {delivered}"] if delivered else []),
        *submitted.waits,
    ]


async def _wanting(client: Client, workflow: Submit, wait: str = "will wait") -> list[str]:
    """A line for each extra of Wingbeat that tasks need and no machine that is seen has."""
    tags = Counter(tag for each in workflow.tasks for tag in set(each.requirements.tags))
    if not any(tag.startswith(EXTRA) for tag in tags):
        return []
    reply = await client.call(PEERS, Peers())
    machines: list[NodeView | PeerView] = [reply.node, *reply.peers]
    has = {tag for each in machines for tag in each.capabilities.tags}
    return [
        f"no machine has {tag}; the command that brings it is pip install '{tag}' "
        f"({counted(count, 'task')} of this {wait})"
        for tag, count in sorted(tags.items())
        if tag.startswith(EXTRA) and tag not in has
    ]


async def _unhelped(options: Options, client: Client, workflow: Submit) -> list[str]:
    """A line where it will wait because no machine helps, with what would run it all the same."""
    if options.json or workflow.priority in ("interactive", PRIORITY_NAMES["interactive"]):
        return []
    reply = await client.call(PEERS, Peers())
    machines: list[NodeView | PeerView] = [each for each in reply.peers if each.state == "linked"]
    helping = any(each.volunteering and not each.owner_present for each in [*machines, reply.node])
    if helping or reply.node.own_work == "all":
        return []
    soon = "no machine helps at the moment: it starts as soon as one does"
    if reply.node.own_work == "none":
        return [f"{soon}; {reply.node.name} is paused"]
    now = f"wingbeat priority {shlex.quote(workflow.name)} interactive"
    return [f"{soon}, or with `{now}` now on {reply.node.name}"]
