"""Work of before, once more: with its files as they are now, or as they were.

The window and the command line both come through here. A workflow remembers where its client read it;
on that machine it is read again, its files are added and its programs published as at a submission,
and the agent says which steps differ from what ran. Elsewhere, and where the file is gone or has
faults by now, it can run as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.api.again import AGAIN, Again, AgainReply, Step
from agent.api.values import TaskState
from agent.api.work import STATUS, Origin, Status, Submit
from agent.workflow.faults import FaultsError
from agent.workflow.one_program import Alone
from agent.workflow.submission import Client, ProgressCallback, Wanted, new_key, prepare, read_for
from agent.workflow.variables import Variable

FAILED = (TaskState.ABORTED, TaskState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a person wants otherwise: values of variables, another name, and steps that are done once
    more although they are as they were."""

    variables: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    submitter: str = ""
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Looked:
    """A workflow of before: how it was, and how it would be now.

    ``now`` and ``wanted`` are None where its file cannot be had here; ``trouble`` is why it cannot be
    read.
    """

    was: AgainReply
    now: AgainReply | None = None
    wanted: Submit | None = None
    variables: tuple[Variable, ...] = ()
    trouble: Exception | None = None

    @property
    def differing(self) -> tuple[Step, ...]:
        """The steps that are not as they were."""
        return tuple(step for step in self.now.steps if step.differs) if self.now else ()

    @property
    def mended(self) -> bool:
        """Tell whether only programs of steps that did not end well differ from what ran: somebody
        has mended them and wants those to run."""
        return (
            bool(self.differing)
            and not (self.now and self.now.gone)
            and all(
                step.differs == ("program",) and step.before in FAILED for step in self.differing
            )
        )


async def look_again(
    client: Client,
    workflow: str,
    changes: Changes | None = None,
    told: ProgressCallback = lambda _: None,
) -> Looked:
    """Ask how a workflow was; where it was submitted on this machine, from a file, read that again
    with what is wanted otherwise, with None as it was, and compare, for which files are added and
    programs published. What cannot be read is the ``trouble`` of what is returned. ``told`` hears
    each step. Raises what the client raises; what was added until then stays."""
    changes = changes or Changes()
    steps = changes.steps
    was = await client.call(AGAIN, Again(workflow, dry=True, steps=steps))
    here = (await client.call(STATUS, Status(limit=1))).node.name
    if was.origin is None or was.host != here or not Path(was.origin.path).is_absolute():
        return Looked(was)
    wanted = wanted_again(was.origin, changes)
    try:
        read = await read_for(client, Path(was.origin.path), wanted)
        submit = await prepare(client, read, wanted, told)
    except (FaultsError, OSError) as error:
        return Looked(was, trouble=error)
    now = await client.call(AGAIN, Again(was.workflow, submit, dry=True, steps=steps))
    return Looked(was, now, submit, read.variables)


def wanted_again(origin: Origin, changes: Changes) -> Wanted:
    """Return how a past workflow was submitted (variables, name, start and so on), with a person's
    changes in place of those values."""
    return Wanted(
        {**origin.variables, **changes.variables},
        changes.name or origin.name,
        submitter=changes.submitter,
        start=Path(origin.start) if origin.start else None,
        alone=Alone(origin.files, origin.each, origin.times, origin.parameters),
        path=Path(origin.path),
        allowed=tuple(map(Path, origin.allowed)),
    )


async def run_again(
    client: Client, looked: Looked, changes: Changes | None = None, *, now: bool, anew: bool
) -> AgainReply:
    """Have a past workflow run again as a new one, with its files as they are ``now`` or, also
    where those could not be read, as they were; with ``anew`` also the steps that would be kept.
    ``changes`` may name submitter and steps. Return the agent's answer; raise what ``Client.call``
    raises."""
    submitter = changes.submitter if changes is not None else ""
    wanted = looked.wanted if now else None
    steps = changes.steps if changes is not None else ()
    asked = Again(looked.was.workflow, wanted, anew, False, submitter, new_key(), steps)
    return await client.call(AGAIN, asked)
