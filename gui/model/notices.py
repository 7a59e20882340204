"""What comes from the agent's side to the screen: plain values, folded in the order they come.

The bridge makes them in its own thread and hands them over in bundles; nothing of them is changed
afterwards, so no lock is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agent.api.admission import AskView, RequestsReply
from agent.api.flock import MembersReply, PeersReply
from agent.api.permissions import PermissionsReply
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
class WorkflowsRemoved:
    """These workflows are not in the flock's table any more."""

    workflows: tuple[str, ...]


Notice = (
    Welcome
    | Absent
    | Answering
    | StatusPage
    | ShowReply
    | PeersReply
    | MembersReply
    | VolunteeringView
    | ProgramsReply
    | PermissionsReply
    | SettingsView
    | RequestsReply
    | AskView
    | WorkflowsRemoved
    | Event
)
"""Where an answer of the agent, or what it tells, says all by itself, that is the notice: a greeting
says that it is there, and all that was shown before is read again."""
