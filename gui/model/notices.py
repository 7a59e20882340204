"""What comes from the agent's side to the screen: plain values, folded in the order they come.

The bridge makes them in its own thread and hands them over in bundles; nothing of them is changed
afterwards, so no lock is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from agent.api.admission import AskView, RequestsReply
from agent.api.flock import MembersReply, PeersReply
from agent.api.programs import ProgramsReply
from agent.api.session import Event, Welcome
from agent.api.settings import SettingsView
from agent.api.volunteering import VolunteeringView
from agent.api.work import ShowReply, StatusReply


class Absence(Enum):
    """Why there is no conversation; each has its own remedy."""

    STARTING = "starting"
    NO_AGENT = "no agent"
    SILENT = "silent"
    REFUSED = "refused"


class FlockPart(Enum):
    """What is known of the flock, each part read by a question of its own."""

    PEERS = "peers"
    MEMBERS = "members"
    PROGRAMS = "programs"
    SETTINGS = "settings"


ALL_PARTS = frozenset(FlockPart)


@dataclass(frozen=True, slots=True)
class Connected:
    """The agent greeted back. All that was shown before is read again."""

    welcome: Welcome


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no agent, or it does not answer; what the screen shows is of before."""

    why: Absence
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Answering:
    """The agent answers again after a silence; nothing was lost."""


@dataclass(frozen=True, slots=True)
class StatusPage:
    """A page of workflows; the first page comes first, after the last one the list is whole."""

    first: int
    reply: StatusReply


@dataclass(frozen=True, slots=True)
class TasksPage:
    """A page of the tasks of one workflow was read."""

    reply: ShowReply


@dataclass(frozen=True, slots=True)
class PeersRead:
    """The machines of the flock were read."""

    reply: PeersReply


@dataclass(frozen=True, slots=True)
class MembersRead:
    """Who belongs to the flock was read."""

    reply: MembersReply


@dataclass(frozen=True, slots=True)
class VolunteeringRead:
    """Whether this machine helps, and why."""

    view: VolunteeringView


@dataclass(frozen=True, slots=True)
class ProgramsRead:
    """What the flock can run was read."""

    reply: ProgramsReply


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """How this node is set up."""

    view: SettingsView


@dataclass(frozen=True, slots=True)
class RequestsRead:
    """Which machines ask to be let in; none where this agent does not know of asking."""

    reply: RequestsReply


@dataclass(frozen=True, slots=True)
class AskRead:
    """What became of this machine's own request to be let in."""

    view: AskView


@dataclass(frozen=True, slots=True)
class DatasetsNamed:
    """What the datasets of a workflow are called."""

    workflow: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Happened:
    """The agent has told an event."""

    event: Event


Notice = (
    Connected
    | Absent
    | Answering
    | StatusPage
    | TasksPage
    | PeersRead
    | MembersRead
    | VolunteeringRead
    | ProgramsRead
    | SettingsRead
    | RequestsRead
    | AskRead
    | DatasetsNamed
    | Happened
)
