"""The client contract: what a client may ask of a node and what it is told, as data.

Windows, command line and programs of others know a node only by this. It is data without
behaviour, so that a schema can be read off it (``python -m agent.api`` prints one, as an OpenRPC
document) and both ends decode against the same types. Nodes are stricter than clients: a field
that a node does not know is refused, for it may be a typing error in a wish; a client leaves out
what it does not know, so that it may be older than the node.
"""

from agent.api import (
    admission,
    datasets,
    flock,
    history,
    logs,
    methods,
    permissions,
    programs,
    rpc,
    session,
    settings,
    values,
    volunteering,
    work,
)

__all__ = [
    "admission",
    "datasets",
    "flock",
    "history",
    "logs",
    "methods",
    "permissions",
    "programs",
    "rpc",
    "session",
    "settings",
    "values",
    "volunteering",
    "work",
]
