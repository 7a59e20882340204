"""What is wrong between the window and its agent, in a sentence with the remedy.

And what is wrong in the flock as far as work is concerned: machines that cannot be reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agent.api.reasons import Diagnosis, reason_of
from agent.api.update import UpdateView, newer_elsewhere
from gui.model.notices import Absence, Absent
from gui.model.screen import Screen
from gui.wording import sentences
from gui.words import tr, tr_n


class Remedy(Enum):
    """What the button of a trouble's bar does."""

    NONE = "none"
    START_AGENT = "start agent"
    RESTART_AGENT = "restart agent"
    JOIN = "join"
    DOCTOR = "doctor"
    OPEN_PROGRAMS = "open programs"
    START_NEW_AGENT = "start new agent"
    START_NEW_WINDOW = "start new window"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A bar above the list that it concerns."""

    sentence: str
    remedy: Remedy = Remedy.NONE
    button: str = ""


def agent_trouble(absence: Absent | None) -> Trouble | None:
    """Return what is wrong with the agent, with its remedy; None while it answers, and while it
    starts."""
    if absence is None or absence.why is Absence.STARTING:
        return None
    match absence.why:
        case Absence.NO_AGENT:
            return Trouble(
                tr("The agent of this computer does not run, so what you see is from before."),
                Remedy.START_AGENT,
                tr("Start it"),
            )
        case Absence.SILENT:
            return Trouble(
                tr(
                    "The agent does not answer. It may be busy and come back by itself; if it "
                    "does not, start it anew."
                ),
                Remedy.RESTART_AGENT,
                tr("Start it anew"),
            )
        case _:
            return Trouble(absence.sentence or tr("The agent refuses this window."))


def flock_trouble(screen: Screen) -> Trouble | None:
    """Return the trouble of having no flock, of machines that cannot be reached, or that go by other
    rules; None where there is none, or nothing is known yet."""
    if screen.node is None:
        return None
    if not screen.node.flock:
        own = screen.peers
        told = sentences((own.why,), (own.warning,)) if own and own.warning else ""
        return Trouble(
            told or tr("This computer belongs to no flock yet, so it works alone."),
            Remedy.JOIN,
            tr("Join or create a flock"),
        )
    away = [peer for peer in screen.peers.peers if peer.state == "away"] if screen.peers else []
    if not away:
        return _mixed(screen)
    return Trouble(
        tr_n(
            "%n machine(s) cannot be reached; work there may run twice.",
            "machines of the flock without a link",
            len(away),
        ),
        Remedy.DOCTOR,
        tr("Find out why"),
    )


def _mixed(screen: Screen) -> Trouble | None:
    """Machines that decide by other rules than this one who runs what."""
    own = screen.peers
    told = reason_of(own.why, own.warning) if own is not None and own.warning else None
    if own is None or not isinstance(told, Diagnosis) or told.kind != "RulesDiffer":
        return None
    return Trouble(sentences((own.why,), (own.warning,)), Remedy.DOCTOR, tr("Find out why"))


def joins_by_itself(screen: Screen) -> bool:
    """Tell whether this computer is about to join a flock by an invitation that was laid down for
    it."""
    own = screen.peers
    told = reason_of(own.why, own.warning) if own is not None else None
    return isinstance(told, Diagnosis) and told.kind == "JoinsByInvitation"


def programs_trouble(screen: Screen) -> Trouble | None:
    """Return the trouble that work of others waits for the owner's permission; None where none
    does, or nothing is known yet."""
    waiting = len(screen.permissions.asked) if screen.permissions is not None else 0
    if not waiting:
        return None
    return Trouble(
        tr_n("%n workflow(s) of others wait for your permission to run here.", "", waiting),
        Remedy.OPEN_PROGRAMS,
        tr("Decide"),
    )


def update_notice(screen: Screen, own: str) -> Trouble | None:
    """Return what is told of versions: that another is installed and when it begins, that the agent
    runs another than this window, of version ``own``, or that other machines run a later one; None
    where there is nothing to tell."""
    node = screen.node
    if node is None:
        return None
    if node.update is not None:
        return Trouble(_update_told(node.update, screen), Remedy.START_NEW_AGENT, tr("Now"))
    if node.version != own:
        return Trouble(
            tr(
                "The agent is of version {version} and this window of {own}: start the window anew.",
                version=node.version,
                own=own,
            ),
            Remedy.START_NEW_WINDOW,
            tr("Now"),
        )
    peers = screen.peers.peers if screen.peers is not None else ()
    newer = newer_elsewhere(((each.name, each.version) for each in peers), own)
    if not newer:
        return None
    return Trouble(
        tr(
            "Other machines run Wingbeat {version}, this one runs {own}: install the same version "
            "here when you can.",
            version=newer[-1].version,
            own=own,
        )
    )


def _update_told(update: UpdateView, screen: Screen) -> str:
    version = update.installed
    if update.older:
        return tr(
            "Wingbeat {version} is installed, which is older than what runs. It starts when you say "
            "so, and refuses data whose format it does not know.",
            version=version,
        )
    if update.standing == "finishes":
        return tr(
            "Wingbeat {version} is installed; it starts anew when the running task ends.",
            version=version,
        )
    if screen.settings is not None and screen.settings.updates == "by itself":
        return tr(
            "Wingbeat {version} is installed; it starts anew when this window is closed and no task "
            "runs here.",
            version=version,
        )
    return tr("Wingbeat {version} is installed; it starts anew when you say so.", version=version)
