"""The tray in data: which shape, which sentence, which entries. Pure, so that each can be tested.

The menu is a plain list, because only that works on every desktop: no pop-up of our own that would
have to be placed, which GNOME and Wayland do not allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agent.api.values import TaskState
from agent.api.volunteering import NOT_YET
from agent.api.work import CurrentTask
from gui.model.hands import called
from gui.model.news import NewsKind, is_soon
from gui.model.screen import Screen
from gui.model.times import countdown, still
from gui.model.trouble import agent_trouble
from gui.wording import OwnSpeech, explained
from gui.words import tr, tr_n

TASKS_SHOWN_MAX = 5
PAUSES_S = (15 * 60, 3600, 4 * 3600)
NOT_NOW_S = 3600
"""So long who says *Not now* to the warning is left alone."""


class TrayState(Enum):
    """Each has a badge of its own shape."""

    IDLE = "idle"
    RUNNING = "running"
    OWNER = "owner"
    PAUSED = "paused"
    ALONE = "alone"
    TROUBLE = "trouble"
    NEEDS_YOU = "needs you"


class Act(Enum):
    """What pressing an entry of the menu does."""

    NOTHING = "nothing"
    OPEN = "open"
    PAUSE = "pause"
    PAUSE_TOMORROW = "pause until tomorrow"
    PAUSE_OPEN_ENDED = "pause until resumed"
    FINISH = "finish, then pause"
    RESUME = "resume"
    NOT_NOW = "not now"
    SUBMIT = "submit"
    QUIT = "quit"
    SEPARATOR = "separator"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the menu; with parts it is a menu of its own."""

    act: Act
    text: str = ""
    enabled: bool = True
    length_s: float = 0.0
    parts: tuple[Entry, ...] = ()
    leads_to: NewsKind | None = None


@dataclass(frozen=True, slots=True)
class Tray:
    """All of it at one moment."""

    state: TrayState
    permille: int | None
    sentence: str
    entries: tuple[Entry, ...]


def tray_of(screen: Screen, now_s: float) -> Tray:
    """Return all that the tray shows now: shape, sentence, menu entries, and the mean progress of
    all tasks that this computer has in hand, None without any."""
    state = state_of(screen)
    own = _own_tasks(screen)
    permille = sum(task.permille for task in own) // len(own) if own else None
    return Tray(state, permille, sentence_of(screen, now_s), _entries(screen, state, now_s))


def state_of(screen: Screen) -> TrayState:
    """Return the tray's state, the first that holds: trouble with the agent, a step or a machine
    that needs the person, paused, running, the owner is there, alone (no flock, or no link to the
    others), idle."""
    if agent_trouble(screen.absence) is not None:
        return TrayState.TROUBLE
    if gates_waiting(screen) or screen.join_requests():
        return TrayState.NEEDS_YOU
    if is_paused(screen):
        return TrayState.PAUSED
    if _own_tasks(screen):
        return TrayState.RUNNING
    if _owner_present(screen):
        return TrayState.OWNER
    if screen.node is not None and not screen.node.flock:
        return TrayState.ALONE
    linked = screen.peers and any(peer.state == "linked" for peer in screen.peers.peers)
    if screen.peers is not None and screen.peers.peers and not linked:
        return TrayState.ALONE
    return TrayState.IDLE


def sentence_of(screen: Screen, now_s: float) -> str:
    """Return what this computer does and why, in one sentence: for tool tip, side bar and first
    menu entry."""
    trouble = agent_trouble(screen.absence)
    if trouble is not None:
        return trouble.sentence
    if screen.node is None or screen.starting:
        early = tr("Starting …; pauses as soon as it is up")
        return tr("Starting …") if screen.early is None else early
    if is_paused(screen):
        return _pause_sentence(screen, now_s)
    own = _own_tasks(screen)
    if own:
        return _running_sentence(screen, own, now_s)
    now = screen.volunteering or screen.node
    if not now.volunteering:
        return explained(now.why, now.reason) or tr("Does not help at the moment")
    return tr("Ready to help; nothing to do at the moment")


def basis_of(screen: Screen) -> str:
    """Return what the guess stands on that the sentence tells, of the only task that runs here; empty where
    it tells none."""
    own = _own_tasks(screen)
    return OwnSpeech().basis(own[0].basis) if len(own) == 1 and not is_paused(screen) else ""


def is_paused(screen: Screen) -> bool:
    """Tell whether this computer is paused by its owner's word; while the agent starts, whether it
    is to be."""
    if screen.starting:
        return screen.early is not None
    return bool(screen.volunteering and screen.volunteering.paused)


def is_warning(screen: Screen) -> bool:
    """Tell whether this computer is about to help, and waits for its owner to say no."""
    told = screen.volunteering
    return told is not None and is_soon(told.why)


def is_answered(screen: Screen) -> bool:
    """Tell whether somebody has said when this computer may help, or that is not known yet."""
    return screen.volunteering is None or screen.volunteering.rules.mode != NOT_YET


def is_to_be_asked(screen: Screen) -> bool:
    """Tell whether a person here is to be asked when this computer may help: nobody has said it, or
    an administrator has for the time being."""
    told = screen.volunteering
    return told is not None and not (told.answered and is_answered(screen))


def gates_waiting(screen: Screen) -> int:
    """Return how many steps wait for a person, in the workflows that they mind."""
    return screen.minded.gates


def programs_waiting(screen: Screen) -> int:
    """Return how many workflows of others wait for the owner's word on their programs."""
    return len(screen.permissions.asked) if screen.permissions is not None else 0


def pause_entries(screen: Screen, now_s: float) -> tuple[Entry, ...]:
    """Return the entries that pause, or the one that resumes if it is paused, or that says not now
    while it warns; the same in tray and window. They are disabled while there is no agent, unless it is starting."""
    able = _can_be_told(screen)
    if is_paused(screen):
        return (Entry(Act.RESUME, _resume_text(screen, now_s), able),)
    if is_warning(screen):
        return (Entry(Act.NOT_NOW, tr("Not now"), able, NOT_NOW_S),)
    minutes, hour, hours = PAUSES_S
    finish = bool(_own_tasks(screen)) and not _is_finishing(screen)
    return (
        Entry(Act.PAUSE, tr("For 15 minutes"), able, minutes),
        Entry(Act.PAUSE, tr("For 1 hour"), able, hour),
        Entry(Act.PAUSE, tr("For 4 hours"), able, hours),
        Entry(Act.PAUSE_TOMORROW, tr("Until tomorrow"), able),
        Entry(Act.PAUSE_OPEN_ENDED, tr("Until I resume"), able),
        Entry(Act.SEPARATOR),
        Entry(Act.FINISH, tr("Finish what runs, then pause"), able and finish),
    )


def _can_be_told(screen: Screen) -> bool:
    """Now, or as soon as there is an agent."""
    return screen.absence is None or screen.starting


def _entries(screen: Screen, state: TrayState, now_s: float) -> tuple[Entry, ...]:
    told = [Entry(Act.OPEN, text, True) for text in _running_lines(screen, now_s)]
    gates = gates_waiting(screen)
    joining = len(screen.join_requests())
    if state is TrayState.NEEDS_YOU and joining:
        said = tr_n("%n machine(s) want to join the flock", "", joining)
        told.insert(0, Entry(Act.OPEN, said, leads_to=NewsKind.JOIN))
    if state is TrayState.NEEDS_YOU and gates:
        told.insert(0, Entry(Act.OPEN, tr_n("%n step(s) wait for you", "gates", gates)))
    programs = programs_waiting(screen)
    if programs:
        said = tr_n("%n workflow(s) wait for your permission", "", programs)
        told.append(Entry(Act.OPEN, said, leads_to=NewsKind.PROGRAM))
    pause: tuple[Entry, ...]
    if is_paused(screen) or is_warning(screen):
        pause = pause_entries(screen, now_s)
    else:
        able = _can_be_told(screen)
        pause = (Entry(Act.NOTHING, tr("Pause"), able, parts=pause_entries(screen, now_s)),)
    return (
        Entry(Act.OPEN, tr("Open Wingbeat")),
        Entry(Act.SEPARATOR),
        Entry(Act.NOTHING, sentence_of(screen, now_s), False),
        *told,
        Entry(Act.SEPARATOR),
        *pause,
        Entry(Act.SUBMIT, tr("Submit a workflow …"), screen.absence is None),
        Entry(Act.SEPARATOR),
        Entry(Act.QUIT, tr("Quit …")),
    )


def _running_lines(screen: Screen, now_s: float) -> list[str]:
    own = _own_tasks(screen)
    if len(own) < 2:
        return []
    lines = [_task_line(screen, task, now_s) for task in own[:TASKS_SHOWN_MAX]]
    if len(own) > TASKS_SHOWN_MAX:
        lines.append(tr_n("and %n more", "running tasks", len(own) - TASKS_SHOWN_MAX))
    return lines


def _task_line(screen: Screen, task: CurrentTask, now_s: float) -> str:
    said = _left(screen, task, now_s)
    rest = f" · {said}" if said else ""
    share = f" · {task.permille // 10} %" if task.permille else ""
    return f"{task.name} ({called(task)}){share}{rest}"


def _own_tasks(screen: Screen) -> tuple[CurrentTask, ...]:
    return screen.node.tasks if screen.node is not None else ()


def _owner_present(screen: Screen) -> bool:
    if screen.volunteering is not None:
        return screen.volunteering.owner_present and not screen.volunteering.volunteering
    return bool(screen.node and screen.node.owner_present and not screen.node.volunteering)


def _is_finishing(screen: Screen) -> bool:
    return bool(screen.volunteering and screen.volunteering.finishing)


def _left(screen: Screen, task: CurrentTask, now_s: float) -> str:
    return still(screen.end_ms(task) / 1000, task.begun_ms / 1000, now_s)


def _running_sentence(screen: Screen, own: tuple[CurrentTask, ...], now_s: float) -> str:
    first = own[0]
    if len(own) > 1:
        said = tr_n("Running %n task(s) for the flock", "", len(own))
    else:
        said = tr("Running {task} for {workflow}", task=first.name, workflow=called(first))
        rest = _left(screen, first, now_s)
        if rest:
            said += f", {rest}"
        elif first.permille:
            said += f", {first.permille // 10} %"
    if all(task.state is TaskState.SUSPENDED for task in own):
        said = tr("Holding {task}: you need this computer", task=first.name)
    if screen.quitting:
        return tr("{sentence}; quits after that", sentence=said)
    return tr("{sentence}; pauses after that", sentence=said) if _is_finishing(screen) else said


def _pause_sentence(screen: Screen, now_s: float) -> str:
    assert screen.volunteering is not None
    until_ms = screen.volunteering.paused_until_ms
    if until_ms is None:
        return tr("Paused until you resume")
    return tr("Paused, {countdown} left", countdown=countdown(until_ms / 1000, now_s))


def _resume_text(screen: Screen, now_s: float) -> str:
    known = screen.volunteering if not screen.starting else None
    until_ms = known.paused_until_ms if known is not None else None
    if until_ms is None:
        return tr("Resume")
    return tr("Resume ({countdown} left)", countdown=countdown(until_ms / 1000, now_s))
