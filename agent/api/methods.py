"""The methods of the client protocol, by their names. Server and client read this table.

A method stands beside what is asked and what is answered, in the module of its noun. It has the same
name everywhere: there, as the function in ``agent.control.verbs`` that serves it, on the command
line where there is a command for it.
"""

from __future__ import annotations

from typing import Any

from agent.api import (
    administration,
    admission,
    again,
    audit,
    datasets,
    flock,
    history,
    logs,
    past,
    people,
    permissions,
    programs,
    secrets,
    session,
    settings,
    update,
    volunteering,
    work,
)
from agent.api.rpc import Method

AnyMethod = Method[Any, Any]
_NOUNS = (
    session,
    work,
    again,
    flock,
    administration,
    people,
    admission,
    volunteering,
    settings,
    update,
    programs,
    permissions,
    secrets,
    datasets,
    logs,
    history,
    audit,
    past,
)
METHODS: dict[str, AnyMethod] = {
    each.name: each for noun in _NOUNS for each in vars(noun).values() if isinstance(each, Method)
}
