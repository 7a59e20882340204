"""The methods of the client protocol: name, parameters, result. Server and client read this list.

A method has the same name everywhere: here, in the file that serves it, on the command line where
there is a command for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct

from agent.api import flock, session, work

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)


@dataclass(frozen=True, slots=True)
class Method(Generic[P, R]):
    """``repeatable``: a client that lost the connection may ask again; twice is as good as once."""

    name: str
    params: type[P]
    result: type[R]
    repeatable: bool = True


HELLO = Method("hello", session.Hello, session.Welcome)
SUBMIT = Method("submit", work.Submit, work.Submitted)
CANCEL = Method("cancel", work.Cancel, work.Wished, repeatable=False)
RETRY = Method("retry", work.Retry, work.Wished, repeatable=False)
PRIORITY = Method("priority", work.SetPriority, work.Wished)
GATE = Method("gate", work.Gate, work.Wished, repeatable=False)
STATUS = Method("status", work.Status, work.StatusReply)
SHOW = Method("show", work.Show, work.ShowReply)
WHY = Method("why", work.Why, work.Story)
PEERS = Method("peers", flock.Peers, flock.PeersReply)
MEMBERS = Method("members", flock.Members, flock.MembersReply)
FLOCK_CREATE = Method("flock_create", flock.FlockCreate, flock.Joined, repeatable=False)
INVITE = Method("invite", flock.Invite, flock.Invitation, repeatable=False)
JOIN = Method("join", flock.Join, flock.Joined, repeatable=False)
EXPEL = Method("expel", flock.Expel, flock.Expelled, repeatable=False)
LEAVE = Method("leave", flock.Leave, flock.Left, repeatable=False)
DOCTOR = Method("doctor", flock.Doctor, flock.DoctorReply)
EVENTS = Method("events", session.Events, session.Subscribed)
STOP = Method("stop", session.Stop, session.Stopping, repeatable=False)

AnyMethod = Method[Any, Any]

METHODS: dict[str, AnyMethod] = {
    method.name: method
    for method in (
        HELLO,
        SUBMIT,
        CANCEL,
        RETRY,
        PRIORITY,
        GATE,
        STATUS,
        SHOW,
        WHY,
        PEERS,
        MEMBERS,
        FLOCK_CREATE,
        INVITE,
        JOIN,
        EXPEL,
        LEAVE,
        DOCTOR,
        EVENTS,
        STOP,
    )
}
