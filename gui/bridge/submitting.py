"""Submitting from the window: read files, ask for a dry run, send; all in the bridge's loop.

The same function of ``agent.workflow`` as the command line's, so that both understand a file alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from agent.api.rpc import ErrorCode
from agent.api.values import NamedPriority
from agent.api.work import PLAN, Plan, PlanReply, Submitted
from agent.client import Client, ClientError, Home, RequestError, submit
from agent.client.link import service_of
from agent.client.own_agent import own_name
from agent.workflow.faults import Fault, FaultsError
from agent.workflow.leaving import Leaving, leaving
from agent.workflow.model import Workflow
from agent.workflow.one_program import Alone, describe_file, is_program
from agent.workflow.reading import SUFFIX, Known
from agent.workflow.submission import Wanted, asked_with, dry, prepare, programs_of
from agent.workflow.variables import Variable
from gui.wording import error_text, sentence_of, step_text
from gui.words import tr, tr_n

FILES_MAX = 200
SUFFIXES = (SUFFIX, f"{SUFFIX[:-4]}yml")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person says in the sheet beside a file: values of its variables, another name, how
    urgent it is (None: as the file says), and how a program runs that comes alone; ``again``: that
    it runs although the same was run before; ``allowed``: what may be taken along from outside of
    its folder; ``shared_with`` others, or nothing: as the agent's setting has it."""

    values: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    priority: NamedPriority | None = None
    alone: Alone = field(default_factory=Alone)
    again: bool = False
    allowed: tuple[Path, ...] = ()
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of one file before it is sent."""

    path: Path
    variables: tuple[Variable, ...] = ()
    workflow: Workflow | None = None
    faults: tuple[Fault, ...] = ()
    plan: PlanReply | None = None
    note: str = ""
    leaves: tuple[Leaving, ...] = ()
    """What of this computer would be sent."""


@dataclass(frozen=True, slots=True)
class Sending:
    """One workflow that is to be sent, and what its person says beside it."""

    path: Path
    workflow: Workflow
    choices: Choices


def workflow_files(paths: list[Path]) -> tuple[list[Path], int]:
    """Return the files in their order, each once, whether they can be read or not, and in place of
    each folder that is no program the workflow files directly in it, by name; and how many beyond
    ``FILES_MAX`` were left out. Raises ``OSError`` for a folder that cannot be read."""
    found: dict[Path, None] = {}
    for path in paths:
        whole = path.is_dir() and not is_program(path)
        inside = path.iterdir() if whole else ()
        named = sorted(each for each in inside if each.name.endswith(SUFFIXES))
        found.update(dict.fromkeys(named if whole else [path]))
    return list(found)[:FILES_MAX], max(0, len(found) - FILES_MAX)


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

    async def check(self, path: Path, choices: Choices) -> Checked:
        """Read a workflow file as its person wants it, or make one of a program that comes alone,
        and ask the agent for a dry run; what programs there are is asked once and kept. What is
        wrong with the file (then there is no workflow), or what the agent says against it, comes
        back in the result; an agent that knows no dry runs leaves both plan and note empty. Raises
        ``ClientError``."""
        wanted = _wanted(choices, path)
        async with self._asking:
            known = self._programs  # forgotten in another thread
            if known is None:
                known = self._programs = await programs_of(self._client)
        asked = asked_with(wanted, known)
        found = await asyncio.to_thread(describe_file, path, asked, wanted.alone)
        if found.workflow is None:
            return Checked(path, found.variables, faults=found.faults)
        leaves = await asyncio.to_thread(leaving, found.workflow, path.parent)
        read = Checked(path, found.variables, found.workflow, leaves=tuple(leaves))
        try:
            plan = await self._client.call(PLAN, Plan(dry(found.workflow, wanted)))
        except RequestError as error:
            served = error.code != ErrorCode.NO_SUCH_METHOD
            return replace(read, note=error_text(error) if served else "")
        return replace(read, plan=plan)


async def send(
    client: Client,
    sendings: Sequence[Sending],
    told: Callable[[tuple[int, Submitted | str]], None],
    step: Callable[[str], None],
) -> None:
    """Add the files of workflows, publish their programs and submit them, one after the other, so
    that they are submitted in this order; go on where one is refused. ``told`` hears of each by its
    number what the agent answers, or why it was not submitted, in a line for each fault that shows
    only now; ``step`` hears what is done next, in the person's language. Raises ``ClientError`` at
    the end if one was not; the others are submitted all the same."""
    refused: list[str] = []
    for number, each in enumerate(sendings):
        answer: Submitted | str
        wanted = _wanted(each.choices, each.path)
        try:
            ready = await prepare(client, each.workflow, wanted, lambda done: step(step_text(done)))
            answer = await submit(
                client, structs.replace(ready, shared_with=each.choices.shared_with)
            )
        except FaultsError as error:  # those that show only now
            answer = "\n".join(fault.sentence(tr) for fault in error.faults)
        except (ClientError, OSError) as error:
            answer = sentence_of(error)
        if isinstance(answer, str):
            refused.append(answer)
        told((number, answer))
    if len(refused) > 1:
        raise ClientError(
            tr_n("%n workflow(s) were not submitted. {first}", "", len(refused), first=refused[0])
        )
    if refused:
        raise ClientError(refused[0])


def _wanted(choices: Choices, path: Path) -> Wanted:
    values = {name: text for name, text in choices.values.items() if text.strip()}
    return Wanted(
        values,
        choices.name,
        choices.priority,
        own_name(),
        path.parent,
        alone=choices.alone,
        again=choices.again,
        path=path,
        far=service_of(Home.of()) is not None,
        allowed=choices.allowed,
    )
