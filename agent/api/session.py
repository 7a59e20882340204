"""The conversation itself: its first word, events, and the end of the agent.

Events have numbers, without gaps, that begin at 1 with each start of an agent. A client that was
cut off names the last one that it saw and gets all that came after it, each once, as far back as
the agent remembers; else it is told that events are lost, reads what it shows again, and follows
from there.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

from agent.api.admission import AskChanged, JoinRequested, JoinRequestEnded
from agent.api.flock import PeerView
from agent.api.reasons import no_why
from agent.api.rpc import Method, decoder_of
from agent.api.values import (
    Count,
    Millis,
    Position,
    ShortText,
    TaskState,
    WorkflowId,
    WorkflowState,
)
from agent.api.volunteering import VolunteeringView
from agent.api.work import NodeView, TaskView

CONTROL_FILE = "control.json"
"""In the data folder of a node while its agent runs; only its owner can read it."""


class ControlFile(Struct, frozen=True):
    """Where the agent of this home listens, and what opens it.

    ``place`` is the path of a socket, on Windows the name of a pipe. ``port`` is the one of loopback
    for telnet and programs that know no sockets, 0 where the owner has not switched it on.
    """

    place: Annotated[str, Meta(min_length=1)]
    token: Annotated[str, Meta(min_length=16, max_length=256)]
    process: int
    port: Annotated[int, Meta(ge=0, le=65_535)] = 0
    address: str = "127.0.0.1"
    service: bool = False
    """Anybody on this machine may come, and the system tells who it is: no token is said."""


read_control = decoder_of(ControlFile).decode


class Prove(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask who listens to prove that it is the agent of this account, where the system does not tell:
    on a pipe or a port. ``nonce``: drawn by the client, never used before."""

    nonce: Annotated[str, Meta(min_length=16, max_length=64)]


class Proof(Struct, frozen=True):
    """What only the holder of the token can say of both nonces and the place, see
    ``agent.client.proof``. The client's own proof is the ``token`` of its hello then."""

    nonce: Annotated[str, Meta(min_length=16, max_length=64)]
    proof: str


class Hello(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first word: proof that the client may read the owner's files. ``client``: for the log.
    ``token`` is that of the control file on a socket, on a pipe or port the client's proof.

    With ``node``, the name of another member, all that follows is passed on to that one, and it
    answers, the greeting too.
    """

    token: Annotated[str, Meta(max_length=256)]
    client: ShortText = ""
    node: ShortText = ""


class Welcome(Struct, frozen=True):
    """Who answers; ``protocol`` is the version of this contract."""

    protocol: Count
    version: str
    node: str
    name: str
    position: Position


class Events(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Send events from now on: those after a position, or only new ones.

    ``also``: kinds of ``LATER`` that the client reads too; others of them are left out, and their
    numbers with them. To be said only where ``Welcome.protocol`` is 2 or more.
    """

    after: Position | None = None
    also: Annotated[tuple[ShortText, ...], Meta(max_length=100)] = ()


class Subscribed(Struct, frozen=True):
    """The events after this position follow, each as a notification."""

    position: Position


class Stop(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """End the agent: it hands back what it runs and says goodbye."""

    reason: ShortText = ""


class Stopping(Struct, frozen=True):
    """The agent is on its way out; the connection ends with it."""

    node: str


class TaskMoved(Struct, frozen=True, tag="task moved"):
    """A task is in another state; ``before`` is none when it is new.

    ``reason`` says why, where it was given up or cancelled. ``rows``: the task as `show` would tell
    it now, then those that wait on although it has ended; none from an agent that was not followed
    at that moment, or of before. ``more``: others wait on too, and `show` has to be asked for them.
    """

    task: str
    name: str
    workflow: WorkflowId
    before: TaskState | None
    after: TaskState
    host: str
    cause: str
    reason: str = ""
    rows: tuple[TaskView, ...] = ()
    why: Raw = field(default_factory=no_why)
    more: bool = False
    workflow_name: str = ""


class TaskProgressed(Struct, frozen=True, tag="task progressed"):
    """How far a running task is, by its own word; a hint, at most one a second for each task."""

    task: str
    name: str
    workflow: WorkflowId
    host: str
    permille: Count
    left_ms: Millis


class OutcomeChanged(Struct, frozen=True, tag="outcome changed"):
    """Another success of a task counts now; both sides of a partition had finished it."""

    task: str
    name: str
    workflow: WorkflowId
    before: str
    after: str
    cause: str


class WorkflowSafe(Struct, frozen=True, tag="workflow safe"):
    """A workflow that was on this disk only is on another one too."""

    workflow: WorkflowId


class WorkflowGone(Struct, frozen=True, tag="workflow gone"):
    """Event: a workflow is not in the flock's table any more; the history may have it. Told to who
    asks for it, see ``LATER``."""

    workflow: WorkflowId
    workflow_name: str = ""


class CancelFinished(Struct, frozen=True, tag="cancel finished"):
    """Nothing of a cancelled task runs any more."""

    task: str
    name: str
    workflow: WorkflowId


class PeerChanged(Struct, frozen=True, tag="peer changed"):
    """A machine came, went or says something else of itself.

    ``peer`` is its row, or ``own`` if it is the one that tells; neither where `peers` has to be asked.
    """

    node: str
    peer: PeerView | None = None
    own: NodeView | None = None


class FlockChanged(Struct, frozen=True, tag="flock changed", omit_defaults=True):
    """This machine joined, left or was sent away, or others were; ``members`` tells who.

    ``expelled``: this machine does not belong to it any more.
    """

    flock: str
    expelled: bool = False


class GateWaiting(Struct, frozen=True, tag="gate waiting"):
    """A person is asked to do a step; the method ``gate`` marks it done. ``submitter`` and
    ``host_node`` say whose workflow it is; both are empty from an agent of before."""

    task: str
    name: str
    workflow: WorkflowId
    asks: str
    workflow_name: str = ""
    submitter: str = ""
    host_node: str = ""


class WorkflowEnded(Struct, frozen=True, tag="workflow ended"):
    """Event: nothing of a workflow goes on any more; after a retry it may end again. ``submitter``
    and ``host_node`` say whose it is; both are empty from an agent of before."""

    workflow: WorkflowId
    state: WorkflowState
    counts: dict[TaskState, Count]
    workflow_name: str = ""
    submitter: str = ""
    host_node: str = ""


class VolunteeringChanged(Struct, frozen=True, tag="volunteering changed"):
    """This machine helps or does not, for this reason. ``view`` is all of it; none where
    `volunteering` has to be asked."""

    volunteering: bool
    owner_present: bool
    reason: str
    paused: bool
    view: VolunteeringView | None = None
    why: Raw = field(default_factory=no_why)


class ProgramWaiting(Struct, frozen=True, tag="program waiting"):
    """A workflow brings programs, and the owner of this machine is to say whether they may run;
    told once for each workflow, with the first of them and its person."""

    program: str
    publisher: str
    workflow: str = ""
    name: str = ""


Happening = (
    TaskMoved
    | TaskProgressed
    | OutcomeChanged
    | WorkflowSafe
    | WorkflowGone
    | CancelFinished
    | PeerChanged
    | FlockChanged
    | GateWaiting
    | WorkflowEnded
    | VolunteeringChanged
    | ProgramWaiting
    | JoinRequested
    | JoinRequestEnded
    | AskChanged
)


LATER: tuple[type[Struct], ...] = (WorkflowGone,)
"""Kinds of events that came after the first clients, which hang up at a kind that they do not know:
these are told only to who names them in ``Events``."""


def kind_of(happening: type[Struct]) -> str:
    """Return the name that this kind of event has in ``type`` on the wire."""
    return str(happening.__struct_config__.tag)


class Event(Struct, frozen=True):
    """Notification ``event``: something happened, at this place among all that did."""

    sequence: Annotated[int, Meta(ge=1, le=2**53)]
    at_ms: Millis
    happening: Happening


class Closing(Struct, frozen=True):
    """Notification ``closing``: why the agent ends the connection; nothing follows."""

    reason: str


# -- what is asked, and what is answered ----------------------------------------------------------

PROVE = Method("prove", Prove, Proof, by_members=False)
HELLO = Method("hello", Hello, Welcome)
EVENTS = Method("events", Events, Subscribed)
STOP = Method("stop", Stop, Stopping, repeatable=False, by_members=False)
