"""The envelope: JSON-RPC 2.0, one message a line.

Ids are numbers or texts; a request without one is refused, because everything here has an answer
that somebody must read. Several requests in one array are not served: a line each is as good.

Error codes below -32000 are the standard's, positive ones are ours. Their numbers are fixed;
their sentences are for people and may change.
"""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.json import Decoder

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)
T = TypeVar("T")
_one_at_a_time = threading.Lock()


def decoder_of(kind: type[T]) -> Decoder[T]:
    """Return a decoder of JSON into this type. Call it while a module is loaded, not when a value
    has come: msgspec fills in what it knows of a type while other threads see it, and two that meet
    a type for the first time end the process."""
    with _one_at_a_time:
        return Decoder(kind)


class ErrorCode(IntEnum):
    """What kind of trouble it is, for programs."""

    NOT_JSON = -32700
    NOT_A_REQUEST = -32600
    NO_SUCH_METHOD = -32601
    WRONG_PARAMETERS = -32602
    AGENT_FAILED = -32603
    REFUSED = 1
    UNAUTHORISED = 2
    UNKNOWN = 3
    AMBIGUOUS = 4
    NO_FLOCK = 5
    EVENTS_LOST = 6
    TOO_LONG = 7
    TOO_MANY = 8
    STOPPING = 9
    ATTACH_FIRST = 10
    PHRASE_WANTED = 11


NOTHING = Raw(b"")
RequestId = Annotated[int, Meta(ge=-(2**53), le=2**53)] | Annotated[str, Meta(max_length=64)]


class Request(Struct, frozen=True):
    """A question of the client; the answer has the same id."""

    jsonrpc: Literal["2.0"]
    id: RequestId
    method: str
    params: Raw = field(default_factory=lambda: Raw(b"{}"))


class Problem(Struct, frozen=True, omit_defaults=True):
    """Why a question has no answer: one sentence; ``fault`` carries the same as a ``Phrase``,
    where it is what is wrong with something that a person wrote."""

    code: int
    message: str
    fault: Raw | UnsetType = UNSET


class Answer(Struct, frozen=True):
    """The answer to the request with this id."""

    id: RequestId
    result: Raw
    jsonrpc: Literal["2.0"] = "2.0"


class Failure(Struct, frozen=True):
    """No answer; ``id`` is none when the question could not be read so far."""

    id: RequestId | None
    error: Problem
    jsonrpc: Literal["2.0"] = "2.0"


class Notification(Struct, frozen=True):
    """Said unasked: ``event`` or ``closing``."""

    method: Literal["event", "closing"]
    params: Raw
    jsonrpc: Literal["2.0"] = "2.0"


class Incoming(Struct, frozen=True):
    """Whatever a client may receive, to be told apart by what is there."""

    id: RequestId | None = None
    result: Raw = NOTHING
    error: Problem | None = None
    method: str = ""
    params: Raw = NOTHING


@dataclass(frozen=True, slots=True)
class Method(Generic[P, R]):
    """``repeatable``: a client that lost the connection may ask again; twice is as good as once.

    ``by_members``: other members of the flock may ask it too, not only the account that runs the
    agent. What is the owner's of a machine (whether it helps, its files, its membership) is not.
    """

    name: str
    params: type[P]
    result: type[R]
    repeatable: bool = True
    by_members: bool = True
    read_params: Decoder[P] = dataclasses.field(init=False, repr=False, compare=False)
    read_result: Decoder[R] = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "read_params", decoder_of(self.params))
        object.__setattr__(self, "read_result", decoder_of(self.result))
