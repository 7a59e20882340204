"""Running a workflow once more: how its steps differ from those of before, and what is kept of these."""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, Struct

from agent.api.rpc import Method
from agent.api.values import Count, Reference, ShortText, TaskState, WorkflowId
from agent.api.work import Basis, Origin, Submit


class Again(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Have a workflow run again as another one: as it is ``wanted`` now, or as it was. Steps whose
    program, inputs and parameters are as they were keep what they have made, unless ``anew``, or in
    ``steps``, by name. ``dry``: it is only told. ``submitter``, ``key``: as in a submission.
    """

    workflow: Reference
    wanted: Submit | None = None
    anew: bool = False
    dry: bool = False
    submitter: ShortText = ""
    key: ShortText = ""
    steps: tuple[ShortText, ...] = ()


Difference = Literal["new", "program", "data", "parameters", "inputs", "step"]
"""Why a step is not as it was: it was not there, or what it runs, is given, told, needs, or asks."""


class Step(Struct, frozen=True):
    """A step of what would run: how it differs, how it ended before, and whether that is kept."""

    name: str
    differs: tuple[Difference, ...] = ()
    before: TaskState | None = None
    kept: bool = False
    needs: tuple[str, ...] = ()
    gate: bool = False


class AgainReply(Struct, frozen=True):
    """What runs again: the workflow, its steps in the order of their author, and those that are
    ``gone``. Where nothing is kept although nothing differs, all of it had ended well.
    ``origin`` is where it was read on ``host``. A dry answer tells how long it ``lasts``, ``all`` of it too.
    """

    workflow: WorkflowId
    name: str
    steps: tuple[Step, ...]
    gone: tuple[str, ...] = ()
    disks: Count = 0
    waits: tuple[str, ...] = ()
    whys: tuple[Raw, ...] = ()
    origin: Origin | None = None
    host: str = ""
    lasts_s: float = 0.0
    lasts: Basis | None = None
    all_s: float = 0.0
    all_lasts: Basis | None = None


AGAIN = Method("again", Again, AgainReply)
