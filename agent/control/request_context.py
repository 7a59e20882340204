"""What a verb gets besides its parameters: the node, the events, and the connection's own needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode, Method, P, R
from agent.api.session import Hello, Welcome
from agent.api.values import Position
from agent.api.wording import choices_at, parameters_fault
from agent.control.doorkeeping import Neighbour
from agent.control.estimates import TaskProgress
from agent.control.event_log import EventLog
from agent.control.members import Members
from agent.control.port import NodePort, Rooms, Snapshot
from agent.control.program_views import FlockPrograms
from agent.control.uploads import Uploads
from agent.control.views import Views
from agent.protocol.phrases import said
from agent.protocol.records import NodeId


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One request's surroundings. ``follow``: send events after a position from now on.

    ``pass_on``: have another member answer all that follows on this connection; None means that
    this node is meant. ``neighbour``: who of this machine is at the other end. ``member`` is the
    name of the machine that asks, ``member_node`` its id; empty: this one.
    """

    node: NodePort
    events: EventLog
    follow: Callable[[Position, tuple[str, ...]], None]
    stop: Callable[[str], None]
    progress: TaskProgress
    members: Members
    pass_on: Callable[[Hello], Awaitable[Welcome | None]]
    uploads: Uploads
    programs: FlockPrograms
    neighbour: Neighbour
    member: str = ""
    member_node: NodeId = ""

    @property
    def now(self) -> Snapshot:
        """Return the node as it is now."""
        return self.node.now()

    @property
    def views(self) -> Views:
        """Return what is to be shown of the node as it is now."""
        return Views(self.now, self.progress, far=bool(self.member))

    @property
    def rooms(self) -> Rooms:
        """Return who does what people ask for."""
        return self.node.rooms


@dataclass(frozen=True, slots=True)
class Verb:
    """A method with what serves it."""

    name: str
    params: type[Struct]
    decode: Callable[[Raw], Any]
    serve: Callable[[RequestContext, Any], Awaitable[Struct]]

    def read(self, raw: Raw) -> Any:
        """Return a request's parameters, decoded into the type that ``serve`` takes. Raises
        ``RefusedError``, with a sentence of what is wrong, where they do not fit."""
        try:
            return self.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            fields, choices = self.params.__struct_fields__, partial(choices_at, self.params)
            raise RefusedError(
                ErrorCode.WRONG_PARAMETERS, parameters_fault(self.name, str(error), fields, choices)
            ) from error
        except RecursionError as error:
            raise RefusedError(
                ErrorCode.WRONG_PARAMETERS,
                said("{name}: params are nested too deeply", name=self.name),
            ) from error


def serves(
    method: Method[P, R],
) -> Callable[[Callable[[RequestContext, P], Awaitable[R]]], Verb]:
    """Return a decorator that makes an async function the ``serve`` of a ``Verb`` for this method;
    the name below it stands for the verb, not the function."""
    return partial(Verb, method.name, method.params, method.read_params.decode)
