"""The verbs of the client protocol, a file for each noun, under the names of the contract."""

from agent.control.request_context import Verb
from agent.control.verbs import (
    administration,
    admission,
    again,
    audit,
    datasets,
    flock,
    history,
    logs,
    people,
    permissions,
    programs,
    secrets,
    session,
    submitting,
    tidying,
    volunteering,
    why,
    work,
)

_NOUNS = (
    session,
    submitting,
    again,
    work,
    why,
    flock,
    administration,
    people,
    admission,
    volunteering,
    programs,
    permissions,
    secrets,
    datasets,
    logs,
    history,
    audit,
    tidying,
)
VERBS: dict[str, Verb] = {
    each.name: each for noun in _NOUNS for each in vars(noun).values() if isinstance(each, Verb)
}
