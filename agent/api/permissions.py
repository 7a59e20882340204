"""The leave of a machine's owner for what others publish: one question for each workflow.

A question names who wants what from where, and every script that comes with it; what changed since
the version that was allowed last is told beside. Whoever waits for such a leave may have the question
brought up where it waits.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.api.flock import ConfinementView
from agent.api.rpc import Method
from agent.api.values import Count, Dataset, Millis, Reference, WorkflowId

OwnerAnswer = Literal["once", "machine", "programs", "never"]
"""``once``: until this workflow has ended. ``machine``: it, and all that is submitted on that machine.
``programs``: these very programs, whoever brings them. ``never``: these programs never."""
Change = Literal["new", "changed", "same", "gone"]
"""What became of a file since the version that was allowed here last; without one all are new."""


SECRET_LENGTH_MAX = 64
SECRET_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
WishKind = Literal["network", "reads", "device", "secret"]


class AskedFor(Struct, frozen=True):
    """Something that a program asks for beyond its folder, its inputs and the system: ``name`` is
    ``lan`` or ``internet``, a path, a device or what a secret is called.

    ``refused``: nobody can allow it, as it lies where keys, settings or people's own things are.
    ``missing``: a secret that is not here.
    """

    kind: WishKind
    name: str
    granted: bool = False
    refused: bool = False
    missing: bool = False


class AskedProgram(Struct, frozen=True):
    """A program that comes with the work. ``before`` is the folder of the version that was allowed
    here last; empty where none was. ``wants`` is what it asks for, as far as it is here."""

    program: str
    folder: Dataset
    before: str = ""
    wants: tuple[AskedFor, ...] = ()


class WantingProgram(Struct, frozen=True):
    """A program that can run here and asks for more than programs have by themselves."""

    program: str
    wants: tuple[AskedFor, ...]


class PermissionAsked(Struct, frozen=True):
    """What waits for the owner's word: a workflow with its programs.

    ``machine`` and ``node`` are the one that its person submitted it on; empty where that was done
    from elsewhere, so that no machine can be trusted for it.
    """

    workflow: WorkflowId
    name: str
    submitter: str
    machine: str
    node: str
    submitted_ms: Millis
    programs: tuple[AskedProgram, ...]


class TrustedMachine(Struct, frozen=True):
    """All that is submitted there is allowed here."""

    node: str
    name: str


class Permissions(Struct, frozen=True, forbid_unknown_fields=True):
    """What waits for the owner of this machine, and whom does it trust?"""


class PermissionsReply(Struct, frozen=True):
    """The questions, the oldest first, the machines of which all is allowed, and the programs here
    that ask for more than programs have, with what holds programs back here, where that is known."""

    asked: tuple[PermissionAsked, ...]
    trusted: tuple[TrustedMachine, ...] = ()
    wanting: tuple[WantingProgram, ...] = ()
    confinement: ConfinementView | None = None


class Scripts(Struct, frozen=True, forbid_unknown_fields=True):
    """What is in the programs that a workflow asks for?"""

    workflow: Reference


class Script(Struct, frozen=True):
    """A file of a program, and what it was in the version before. A text is none where it is no
    text, too long to be shown, or was not there."""

    program: str
    path: str
    size_bytes: Count
    change: Change
    text: str | None = None
    before: str | None = None


class ScriptsReply(Struct, frozen=True):
    """The question, and every file of its programs."""

    asked: PermissionAsked
    scripts: tuple[Script, ...]


class Permit(Struct, frozen=True, forbid_unknown_fields=True):
    """OwnerAnswer the question about a workflow."""

    workflow: Reference
    answer: OwnerAnswer


class Permitted(Struct, frozen=True):
    """It is answered; so many other questions wait."""

    workflow: WorkflowId
    name: str
    answer: OwnerAnswer
    waiting: Count = 0


class Grant(Struct, frozen=True, forbid_unknown_fields=True):
    """Let a program of this machine have what its description asks for now."""

    program: Reference


class Revoke(Struct, frozen=True, forbid_unknown_fields=True):
    """Take back all that a program was allowed; it does not begin any more, what runs goes on."""

    program: Reference


class Granted(Struct, frozen=True):
    """What it asks for, and what of that is allowed now."""

    program: str
    wants: tuple[AskedFor, ...]


class Distrust(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask about what is submitted on this machine again."""

    machine: Reference


class Distrusted(Struct, frozen=True):
    """It is not trusted any more; what was allowed of it stays until its work has ended."""

    machine: str


class AskOwners(Struct, frozen=True, forbid_unknown_fields=True):
    """Bring the question about a workflow up on the machines whose owners have not allowed it."""

    workflow: Reference


class OwnersAsked(Struct, frozen=True):
    """On these machines it is up now; the others did not answer, or their owners said no."""

    asked: tuple[str, ...]
    silent: tuple[str, ...] = ()


class RemindOwner(Struct, frozen=True, forbid_unknown_fields=True):
    """Another machine wants the question about its work brought up here."""

    workflow: WorkflowId


class Reminded(Struct, frozen=True):
    """Whether there is such a question here; it is shown at most once a minute."""

    asks: bool


# -- what is asked, and what is answered ----------------------------------------------------------

PERMISSIONS = Method("permissions", Permissions, PermissionsReply)
SCRIPTS = Method("scripts", Scripts, ScriptsReply, by_members=False)
PERMIT = Method("permit", Permit, Permitted, by_members=False)
GRANT = Method("grant", Grant, Granted, by_members=False)
REVOKE = Method("revoke", Revoke, Granted, by_members=False)
DISTRUST = Method("distrust", Distrust, Distrusted, by_members=False)
ASK_OWNERS = Method("ask_owners", AskOwners, OwnersAsked)
REMIND_OWNER = Method("remind_owner", RemindOwner, Reminded)
