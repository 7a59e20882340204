"""The view model: everything that the screen shows, folded from notices, told in changes.

It asks nobody: where an event names what it does not know, it says so in ``Changes.wanted`` and
the bridge reads it. Rows are the contract's own values, replaced and never changed, so a view finds
out by identity which rows are new. Events older than the page they meet are already in it, and a page
that they have overtaken changes nothing of what they told: answers come by another connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agent.api import session
from agent.api.admission import AskView, JoinRequestView, RequestsReply
from agent.api.flock import MembersReply, PeersReply
from agent.api.permissions import PermissionsReply
from agent.api.programs import ProgramsReply
from agent.api.reasons import CancelledStopping, reason_of
from agent.api.settings import SettingsView
from agent.api.values import UNDER_WAY, TaskState
from agent.api.volunteering import VolunteeringView
from agent.api.work import CurrentTask, NodeView, ShowReply, TaskView, WorkflowView
from gui.model import notices
from gui.model.early import EarlyPause
from gui.model.folding import (
    is_open,
    task_moved,
    task_progressed,
    workflow_moved,
    workflow_overtaken,
)
from gui.model.hands import parts_behind, peers_with_task, with_peer, with_task
from gui.model.news import News, is_soon, news_of, soon_news
from gui.model.notices import Absence, FlockPart, Notice
from gui.model.workflows import Totals


@dataclass(slots=True)
class Changes:
    """What to paint anew, and what to ask for."""

    workflows: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)
    flock: bool = False
    node: bool = False
    volunteering: bool = False
    programs: bool = False
    settings: bool = False
    connection: bool = False
    everything: bool = False
    news: list[News] = field(default_factory=list)
    stale: set[str] = field(default_factory=set)
    """Workflows of which an event tells less than the agent knows: results, reasons, attempts."""
    wanted: set[str] = field(default_factory=set)
    """Workflows that are named and not known, or whose counts an event does not fit to."""
    moved: set[str] = field(default_factory=set)
    """Workflows of which another end may be expected now: a task moved, or other machines help."""
    parts: set[FlockPart] = field(default_factory=set)
    """What is to be read of the flock, because a row that was told does not fit to it."""

    @property
    def anything(self) -> bool:
        """Tell whether something on the screen changed, so that a repaint is due; news, and what is
        only to be asked for, do not count."""
        flags = (self.flock, self.node, self.volunteering, self.programs, self.settings)
        return bool(
            self.workflows or self.tasks or self.connection or self.everything or any(flags)
        )


def _newest_first(item: tuple[str, WorkflowView]) -> int:
    """Answers about several that came at once come in any order."""
    return -item[1].submitted_ms


KEPT: dict[type, tuple[str, str]] = {
    MembersReply: ("members", "flock"),
    VolunteeringView: ("volunteering", "volunteering"),
    ProgramsReply: ("programs", "programs"),
    PermissionsReply: ("permissions", "programs"),
    SettingsView: ("settings", "settings"),
    RequestsReply: ("requests", "flock"),
    AskView: ("asked", "flock"),
}
"""Answers that are kept as they are: under which name of the screen, and what of it changes then."""


class Screen:
    """All that is known; read by views, written by ``fold`` only."""

    permissions: PermissionsReply | None = None

    def __init__(self, me: str = "") -> None:
        self.me = me
        """Who looks; empty where nobody knows, and then all that was submitted here is theirs."""
        self.minds_all = False
        """Whether badge, tray and news are about everybody's work."""
        self.absence: notices.Absent | None = notices.Absent(Absence.STARTING)
        self.welcome: session.Welcome | None = None
        self.node: NodeView | None = None
        self.workflows: dict[str, WorkflowView] = {}
        """The newest first."""
        self.totals, self.mine = Totals(), Totals()
        self.total = 0
        self.tasks: dict[str, dict[str, TaskView]] = {}
        self.past: dict[str, dict[str, TaskView]] = {}
        """Of a workflow of the past that is looked at; the table may have forgotten it."""
        self.past_names: dict[str, str] = {}
        self.peers: PeersReply | None = None
        self.members: MembersReply | None = None
        self.volunteering: VolunteeringView | None = None
        self.early: EarlyPause | None = None
        self.quitting = False
        """Whether the program ends as soon as what runs here has ended."""
        self.programs: ProgramsReply | None = None
        self.settings: SettingsView | None = None
        self.requests: RequestsReply | None = None
        self.asked: AskView | None = None
        self._read_at: dict[str, int] = {}
        """By which event the counts of each workflow are known."""
        self._rows_at: dict[str, dict[str, int]] = {}
        """By which event each row of a task is known; answers tell counts without rows."""
        self._folds: dict[type, Callable[[Any, Changes], None]] = {
            session.Welcome: self._connected,
            notices.Absent: self._absent,
            notices.Answering: self._absent,
            notices.StatusPage: self._status,
            ShowReply: self._shown,
            PeersReply: self._peers,
            notices.WorkflowsRemoved: self._removed,
            session.Event: self._happened,
            **dict.fromkeys(KEPT, self._keep),
        }

    def fold(self, bundle: Iterable[Notice]) -> Changes:
        """Take in notices in their order; return what has to be painted anew, or asked for, after
        them. Where another number of machines helps than before, all workflows count as moved."""
        changes, helpers = Changes(), self._helpers()
        for notice in bundle:
            self._folds[type(notice)](notice, changes)
        if self._helpers() != helpers:
            changes.moved.update(self.workflows)
        return changes

    def _helpers(self) -> list[str]:
        """Who helps now, as far as it was told."""
        others = self.peers.peers if self.peers is not None else ()
        own = [self.node.node] if self.node is not None and self.node.volunteering else []
        return [*own, *(each.node for each in others if each.volunteering)]

    @property
    def starting(self) -> bool:
        """Whether the agent is expected, and not there yet."""
        return self.absence is not None and self.absence.why is Absence.STARTING

    def join_requests(self) -> tuple[JoinRequestView, ...]:
        """Return the machines that ask to be let in and wait for an answer; empty where this node
        may not give it, or none were read."""
        if self.requests is None or not self.requests.may_admit:
            return ()
        return tuple(each for each in self.requests.requests if not each.admitted)

    def tasks_of(self, workflow: str) -> list[TaskView]:
        """Return the tasks of a workflow, of today or of the past, in the author's order; empty where
        they were not read yet."""
        return list((self.tasks.get(workflow) or self.past.get(workflow, {})).values())

    def called(self, workflow: str) -> str:
        """Return what people call the workflow of this id; the id where it is not known."""
        known = self.workflows.get(workflow)
        return self.past_names.get(workflow, workflow) if known is None else known.name

    def is_stopping(self, workflow: str) -> bool:
        """Tell whether a cancelled task of a workflow was still being ended somewhere when it was
        read: only one machine tells when that is over. False where its tasks were not read."""
        return any(
            isinstance(reason_of(each.why, each.reason), CancelledStopping)
            for each in self.tasks_of(workflow)
            if each.state is TaskState.CANCELLED
        )

    def end_ms(self, task: CurrentTask) -> int:
        """Return when what a machine has in hand is expected to end; 0 where nobody knows. The row of the
        task itself is newer, where it was read."""
        known = self.tasks.get(task.workflow, {}).get(task.task)
        return task.expected_end_ms if known is None else known.expected_end_ms

    @property
    def minded(self) -> Totals:
        """What badge and tray count: what is mine, or all where the person wants to mind all."""
        return self.totals if self.minds_all else self.mine

    def is_mine(self, workflow: WorkflowView) -> bool:
        """Tell whether who looks has submitted a workflow, from this machine (any, while it is not
        known which this is); what nobody has put a name to counts as theirs. An agent of before
        tells no machine's id, only its name."""
        node = self.node
        here = node is None or (workflow.host_node or workflow.host) in (node.node, node.name)
        return here and self._is_me(workflow.submitter)

    def _is_me(self, submitter: str) -> bool:
        unnamed = submitter == (self.node.name if self.node else "")
        return not (self.me and submitter) or unnamed or submitter == self.me

    def _minds(self, happening: session.Happening) -> bool:
        """Whether news of it are for who looks."""
        if self.minds_all or not isinstance(happening, session.WorkflowEnded | session.GateWaiting):
            return True
        known = self.workflows.get(happening.workflow)
        if known is not None:
            return self.is_mine(known)
        here = happening.host_node in ("", self.node.node if self.node else "")
        return here and self._is_me(happening.submitter)

    def _put(self, workflow: WorkflowView) -> None:
        """The only way for one to be replaced."""
        self._count_again(self.workflows.get(workflow.workflow), workflow)
        self.workflows[workflow.workflow] = workflow

    def _count_again(self, before: WorkflowView | None, after: WorkflowView) -> None:
        self.totals.replace(before, after)
        if self.is_mine(after):
            self.mine.replace(before, after)

    # -- one function for each kind of notice ----------------------------------------------

    def _connected(self, welcome: session.Welcome, changes: Changes) -> None:
        self.welcome, self.absence = welcome, None
        changes.connection = True

    def _absent(self, notice: notices.Absent | notices.Answering, changes: Changes) -> None:
        absence = notice if isinstance(notice, notices.Absent) else None
        changes.connection = changes.connection or self.absence != absence
        self.absence = absence

    def _status(self, notice: notices.StatusPage, changes: Changes) -> None:
        reply = notice.reply
        if notice.first == 0:
            self._read_at.clear()
            self._rows_at.clear()
            changes.everything = True
        self.node, self.total = reply.node, reply.total
        for workflow in reply.workflows:
            self._put(workflow)
            self._read_at[workflow.workflow] = reply.position.sequence
            changes.workflows.add(workflow.workflow)
        if not reply.workflows or notice.first + len(reply.workflows) >= reply.total:
            self._forget_others()
            changes.everything = True
        changes.node = True

    def _forget_others(self) -> None:
        """All pages are there, the newest first: what is in none of them is gone. Until now it was
        kept, so that a list that is read again after a break neither shrinks nor jumps."""
        self.workflows = {name: self.workflows[name] for name in self._read_at}
        self.tasks = {name: own for name, own in self.tasks.items() if name in self.workflows}
        self._count_all()

    def _shown(self, reply: ShowReply, changes: Changes) -> None:
        name, at = reply.workflow.workflow, reply.position.sequence
        known, known_at = self.workflows.get(name), self._read_at.get(name, 0)
        if known is None:
            known_first = {name: reply.workflow, **self.workflows}
            self.workflows = dict(sorted(known_first.items(), key=_newest_first))
            self._count_again(None, reply.workflow)
            self.total = max(self.total, len(self.workflows))
        else:
            overtaken = at < known_at
            self._put(workflow_overtaken(reply.workflow, known) if overtaken else reply.workflow)
        self._read_at[name] = max(at, known_at)
        if len(reply.tasks) > 1 or reply.workflow.tasks <= 1 or reply.first:
            self._put_page(reply)
        changes.workflows.add(name)
        changes.tasks.add(name)

    def _put_page(self, reply: ShowReply) -> None:
        """The tasks of a page, but those of which a later event has told."""
        name, at = reply.workflow.workflow, reply.position.sequence
        known, rows_at = self.tasks.get(name, {}), self._rows_at.setdefault(name, {})
        own = known if reply.first else {}
        for row in reply.tasks:
            later = row.task in known and rows_at.get(row.task, 0) > at
            own[row.task] = known[row.task] if later else row
            rows_at[row.task] = rows_at[row.task] if later else at
        self.tasks[name] = own

    def _peers(self, reply: PeersReply, changes: Changes) -> None:
        changes.flock = changes.flock or self.peers != reply
        changes.node = changes.node or self.node != reply.node
        self.peers, self.node = reply, reply.node

    def _keep(self, told: Any, changes: Changes) -> None:
        name, part = KEPT[type(told)]
        if getattr(self, name) != told:
            setattr(changes, part, True)
        setattr(self, name, told)

    def _removed(self, notice: notices.WorkflowsRemoved, changes: Changes) -> None:
        gone = set(notice.workflows)
        self.workflows = {name: each for name, each in self.workflows.items() if name not in gone}
        self.tasks = {name: own for name, own in self.tasks.items() if name not in gone}
        self.total = len(self.workflows)
        self._count_all()
        changes.everything = True

    def _count_all(self) -> None:
        self.totals, self.mine = Totals(), Totals()
        for workflow in self.workflows.values():
            self._count_again(None, workflow)

    def _happened(self, event: session.Event, changes: Changes) -> None:
        match event.happening:
            case session.TaskMoved() as moved:
                self._task_moved(moved, event, changes)
            case session.TaskProgressed() as progressed:
                self._task_progressed(progressed, event, changes)
            case session.PeerChanged() as told:
                self._peer_changed(told, changes)
            case session.FlockChanged():
                changes.flock = True
            case session.VolunteeringChanged() as told:
                self._volunteering_changed(told, changes)
            case session.ProgramWaiting():
                changes.programs = True
            case session.CancelFinished(workflow=name):
                changes.stale.add(name)
            case session.WorkflowGone(workflow=name) if name in self.workflows:
                self._removed(notices.WorkflowsRemoved((name,)), changes)
            case _:
                pass
        if not self._is_our_own_joining(event) and self._minds(event.happening):
            changes.news.extend(news_of(event, self.workflows))

    def _is_our_own_joining(self, event: session.Event) -> bool:
        """Whoever just joined a flock with this computer need not be told of it."""
        happening = event.happening
        if not isinstance(happening, session.FlockChanged):
            return False
        return self.node is None or self.node.flock != happening.flock

    def _task_moved(self, moved: session.TaskMoved, event: session.Event, changes: Changes) -> None:
        """Whoever has it in hand is told by every move; counts and rows may have been read later."""
        name = moved.workflow
        if moved.rows:
            self._hand_over(moved.rows[0], moved.workflow_name, changes)
        if name not in self.workflows:
            changes.wanted.add(name)
            return
        changes.moved.add(name)
        known = self.tasks.get(name, {}).get(moved.task)
        if event.sequence > self._read_at.get(name, 0):
            self._count(moved, known, event, changes)
        for row in moved.rows:
            self._put_row(row.workflow, row, event.sequence, changes)
        if not moved.rows and known is not None:
            row = task_moved(known, moved, event.at_ms)
            if self._put_row(name, row, event.sequence, changes):
                changes.stale.add(name)
        is_ended = moved.after is TaskState.CANCELLED and moved.before in UNDER_WAY
        if moved.more or is_ended:  # its program may go on for a while
            changes.stale.add(name)
        changes.flock = changes.flock or TaskState.RUNNING in (moved.before, moved.after)

    def _count(
        self,
        moved: session.TaskMoved,
        known: TaskView | None,
        event: session.Event,
        changes: Changes,
    ) -> None:
        name = moved.workflow
        workflow = self.workflows[name]
        before = moved.before if moved.before is not None else (known.state if known else None)
        if before is None and sum(workflow.counts.values()) >= workflow.tasks:
            changes.wanted.add(name)
            return
        if before is not None and not workflow.counts.get(before):
            changes.wanted.add(name)  # the answer was ahead of its events, and counts this one
            return
        self._put(workflow_moved(workflow, before, moved.after, event.at_ms))
        self._read_at[name] = event.sequence
        changes.workflows.add(name)

    def _put_row(self, workflow: str, row: TaskView, at: int, changes: Changes) -> bool:
        """Put the row of a task by an event, where one was read that is older; return whether."""
        own, rows_at = self.tasks.get(workflow, {}), self._rows_at.setdefault(workflow, {})
        if row.task not in own or at <= rows_at.get(row.task, 0):
            return False
        own[row.task], rows_at[row.task] = row, at
        changes.tasks.add(workflow)
        return True

    def _hand_over(self, row: TaskView, workflow: str, changes: Changes) -> None:
        """A machine has the task in hand while it is under way, and nobody else has."""
        node = self.node and with_task(self.node, row, workflow)
        peers = self.peers and peers_with_task(self.peers, row, workflow)
        changes.flock = changes.flock or peers != self.peers
        changes.node = changes.node or node != self.node
        self.node, self.peers = node, peers

    def _peer_changed(self, told: session.PeerChanged, changes: Changes) -> None:
        """Take a machine's row as it was told; what else depends on it is asked for."""
        changes.flock = True
        if told.own is not None:
            changes.parts |= parts_behind(self.node, told.own)
            changes.node, self.node = True, told.own
        elif told.peer is not None and self.peers is not None:
            known = next((each for each in self.peers.peers if each.node == told.node), None)
            changes.parts |= parts_behind(known, told.peer)
            self.peers = with_peer(self.peers, told.peer)
            if known is None or known.state != told.peer.state:
                changes.wanted.update(self._in_hand_of(told.node))

    def _in_hand_of(self, node: str) -> Iterable[str]:
        """The workflows of which a machine that came or went has a task in hand: it does nothing while
        it is gone."""
        for name, own in self.tasks.items():
            if any(each.host_node == node and each.state in UNDER_WAY for each in own.values()):
                yield name

    def _task_progressed(
        self, progressed: session.TaskProgressed, event: session.Event, changes: Changes
    ) -> None:
        own = self.tasks.get(progressed.workflow, {})
        known = own.get(progressed.task)
        rows_at = self._rows_at.get(progressed.workflow, {})
        if known is None or event.sequence <= rows_at.get(progressed.task, 0):
            return
        own[progressed.task] = row = task_progressed(known, progressed, event.at_ms)
        changes.tasks.add(progressed.workflow)
        workflow = self.workflows.get(progressed.workflow)
        if workflow is not None and 0 < workflow.expected_end_ms < row.expected_end_ms:
            later = msgspec.structs.replace(workflow, expected_end_ms=row.expected_end_ms)
            self.workflows[progressed.workflow] = later
            changes.workflows.add(progressed.workflow)
        if row.host_node:  # else machines are read again
            self._hand_over(row, self.called(progressed.workflow), changes)

    def _volunteering_changed(self, told: session.VolunteeringChanged, changes: Changes) -> None:
        known = self.volunteering
        if is_soon(told.why) and not (known and is_soon(known.why)) and self._is_work_left():
            changes.news.append(soon_news(told.why, told.reason))
        if self.node is not None:
            self.node = msgspec.structs.replace(
                self.node,
                volunteering=told.volunteering and not told.owner_present,
                owner_present=told.owner_present,
                reason=told.reason,
                why=told.why,
            )
            changes.node = True
        if told.view is not None:
            self.volunteering = told.view
        elif self.volunteering is not None:
            self.volunteering = msgspec.structs.replace(
                self.volunteering,
                volunteering=told.volunteering,
                owner_present=told.owner_present,
                reason=told.reason,
                paused=told.paused,
                why=told.why,
            )
        changes.volunteering = True

    def _is_work_left(self) -> bool:
        """Whether any workflow of anybody is unfinished: only then a warning is worth a message."""
        return any(map(is_open, self.workflows.values()))
