"""The part of the door to a live node that is about programs: which run, and what they may have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from agent.api.permissions import (
    AskedFor,
    OwnerAnswer,
    PermissionAsked,
    Script,
    WantingProgram,
)
from agent.api.programs import Decision
from agent.api.secrets import SecretView
from agent.api.session import ProgramWaiting
from agent.protocol.records import Dataset, NodeId, WorkflowId


class ProgramRoom(Protocol):
    """Programs, those that come with the work too; ``agent.data.publishing.PublishedPrograms``."""

    @property
    def folder(self) -> Path:
        """Return where the installed ones are."""

    async def contents(self, names: Iterable[str]) -> dict[str, str]:
        """Return digests of what programs here are, by name; none of those that are not here."""

    async def look_for(self, tags: Iterable[str]) -> None:
        """Find out which of these tags this machine has, of those that nobody has set and it has not
        looked for yet; the flock is told of what it has."""

    async def publish(self, folder: Path, *, with_work: bool = ...) -> tuple[str, Dataset]:
        """Publish a folder; return the program's name for tasks, and its dataset. ``with_work``:
        nobody hears of it before ``confirm``. Raises ``ServiceError``."""

    async def confirm(self, names: Iterable[str]) -> None:
        """Let programs run here that were published with work that is accepted now."""

    def questions(self) -> list[PermissionAsked]:
        """Return what the owner is asked, the oldest first, without names of machines."""

    @property
    def trusted(self) -> dict[NodeId, str]:
        """Return the machines of which all is allowed, with the names that they had."""

    async def permit(self, workflow: WorkflowId, answer: OwnerAnswer, name: str = ...) -> None:
        """Answer one question; ``name`` is that of its machine. Raises ``ServiceError``."""

    async def distrust(self, node: NodeId) -> None:
        """Ask about what comes from this machine again."""

    async def scripts(self, workflow: WorkflowId) -> tuple[PermissionAsked, tuple[Script, ...]]:
        """Return one question with all files of its programs. Raises ``ServiceError``."""

    def remind(self, workflow: WorkflowId) -> bool:
        """Tell of a question again; return whether there is one."""

    def waiting(self) -> list[ProgramWaiting]:
        """Return the programs that nobody has decided about here."""

    def decision(self, name: str) -> Decision:
        """Return ``accepted``, ``refused`` or ``waiting``, whichever holds for a program here."""

    async def accept(self, name: str) -> None:
        """Fetch a program, and let it run here. Raises ``ServiceError`` where it is unknown or
        cannot be had."""

    async def forget(self, name: str, *, trial: bool) -> int:
        """Delete a program here with what was decided; return how many bytes that frees. Raises
        ``ServiceError`` where nothing is known of it, or it is needed."""

    async def refuse(self, name: str) -> None:
        """Delete a program here, and never let it run. Raises ``ServiceError`` where it is
        unknown."""


class SecretRoom(Protocol):
    """Values that programs may be given; ``agent.data.secrets.SecretValues``. All but ``listing``
    wait for the disk."""

    def look(self) -> None:
        """See anew what administrators have laid down."""

    def listing(self) -> tuple[SecretView, ...]:
        """Return all names, and where their values lie."""

    def set(self, name: str, value: bytes) -> SecretView:
        """Keep a value. Raises ``ServiceError``."""

    def forget(self, name: str) -> None:
        """Delete a value. Raises ``ServiceError``."""


class GrantRoom(Protocol):
    """What programs may have beyond what all have; ``agent.data.granting.Granting``."""

    def wanting(self) -> tuple[WantingProgram, ...]:
        """Return the programs here that ask for more."""

    async def grant(self, name: str) -> tuple[AskedFor, ...]:
        """Allow a program what it asks for. Raises ``ServiceError``."""

    async def revoke(self, name: str) -> tuple[AskedFor, ...]:
        """Take back what a program was allowed."""
