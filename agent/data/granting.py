"""What programs of this machine may have beyond what all have: asked for, allowed, taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.api.errors import ServiceError
from agent.api.permissions import AskedFor, WantingProgram
from agent.api.programs import bare_name
from agent.execution.grants import Grants
from agent.execution.programs import Programs


class Granting:
    """The owner's word on installed and accepted programs; ``changed`` is called when it changes."""

    def __init__(self, programs: Programs, grants: Grants, changed: Callable[[], None]) -> None:
        self._programs, self._grants, self._changed = programs, grants, changed

    def wanting(self) -> tuple[WantingProgram, ...]:
        """Return the programs here that ask for more than all programs may have, by name, with what
        they ask for; those brought by work that waits for its own question are left out."""
        found = []
        for each in self._programs.all():
            came = bare_name(each.name) != each.name
            wants = self._grants.asked(each)
            if wants and not (came and self._grants.lacks_leave(each)):
                found.append(WantingProgram(each.name, wants))
        return tuple(found)

    async def grant(self, name: str) -> tuple[AskedFor, ...]:
        """Allow a program what it asks for now, and return that. Raise ``ServiceError`` where it is
        not here, asks for nothing, or for what nobody can allow, ``OSError`` where that cannot be
        written."""
        program = self._programs.get(name)
        if program is None:
            raise ServiceError(f"No program {name} is here: see `wingbeat programs`.")
        if not self._grants.asked(program):
            raise ServiceError(f"{name} asks for nothing that it does not have by itself.")
        await asyncio.to_thread(self._grants.grant, [program])
        self._changed()
        return self._grants.asked(program)

    async def revoke(self, name: str) -> tuple[AskedFor, ...]:
        """Take back what a program was allowed, so that it does not start any more; what runs of it
        goes on. Return what it asks for, empty where it is not here any more. Raise ``OSError``
        where that cannot be written."""
        await asyncio.to_thread(self._grants.revoke, [name])
        self._changed()
        program = self._programs.get(name)
        return self._grants.asked(program) if program is not None else ()
