"""What every view is given: the model to read, the bridge to ask by, and where to complain.

Wishes go out by methods with names of what a person does; what fails comes back as one sentence to
the place that shows sentences. So no view knows how a wish is said to an agent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from agent.api.past import REMOVE, Remove, Removed
from agent.api.programs import FORGET_PROGRAM, ForgetProgram, Forgotten
from agent.api.rpc import Method, P, R
from agent.api.values import NamedPriority
from agent.api.volunteering import PAUSE, RESUME, Pause, Resume, VolunteeringView
from agent.api.work import CANCEL, PRIORITY, RETRY, Cancel, Retry, SetPriority, Wished
from agent.client import Home
from agent.client.own_agent import own_name
from agent.workflow.again import Changes as Wanted
from agent.workflow.again import Looked, look_again
from agent.workflow.submission import ProgressStep
from gui.bridge.bridge import Bridge
from gui.model.early import EarlyPause
from gui.model.notices import WorkflowsRemoved
from gui.model.screen import Changes, Screen
from gui.model.times import size
from gui.model.tray import Act, Entry
from gui.views.pieces import timer
from gui.wording import step_text
from gui.words import tr

READ_AGAIN_MS, OUTLOOK_EVERY_S = 700, 10.0
OUTLOOKS_EVERY_MS, OUTLOOKS_MAX = 4_000, 24


class ViewContext(QObject):
    """``changed`` with the changes of a bundle, after the model has them."""

    changed = Signal(object)
    failed = Signal(str)
    said = Signal(str)
    go_to = Signal(object, str)
    """A place, and what is to be chosen there."""
    submit = Signal(object)
    """Paths to submit, or none to ask for one."""
    removed = Signal(bool)
    """This computer has left its flock for good; whether its data is to be deleted too."""
    tidied = Signal()
    """After something of the past, or of today, was removed."""
    log_of = Signal(object)
    """A task whose output is to be shown."""
    decide = Signal(str)
    """A workflow of others whose programs wait for the owner's word; empty: the oldest."""
    run_again = Signal(str)
    """A past workflow that is to run again."""
    once_more = Signal(str, object)
    """A past workflow, and steps of it that are to be done once more, with what needs them."""
    differs = Signal(str, object, object)
    """A workflow that is to be tried again, in what it differs from what ran, and which tasks."""

    def __init__(self, home: Home, screen: Screen, bridge: Bridge) -> None:
        super().__init__()
        self.home, self.screen, self.bridge = home, screen, bridge
        self._attended = ""
        self._stale: set[str] = set()
        self._read_s = 0.0
        self._again = timer(self, READ_AGAIN_MS, self._read_again, once=True)
        self._moved: dict[str, None] = {}
        self._outlooks = timer(self, OUTLOOKS_EVERY_MS, self._read_outlooks, once=True)
        bridge.bundle.connect(self.take)
        bridge.unheard.connect(self.failed)

    def take(self, bundle: Sequence[Any]) -> None:
        """Fold notices into the model, ask for what they leave unknown, and later for what of the
        attended workflow is stale and when others end that moved; emit ``changed`` once if anything
        did. A pause that was asked for early is told to the agent once it is there."""
        changes = self.screen.fold(bundle)
        for workflow in changes.wanted:
            self.bridge.want(workflow)
        if changes.parts:
            self.bridge.want_parts(changes.parts)
        self._stale |= changes.stale
        if self._attended in changes.workflows | changes.stale:
            self._read_again_soon()
        self._moved |= dict.fromkeys(sorted(changes.moved))
        if self._moved and not self._outlooks.isActive():
            self._outlooks.start()
        if changes.anything or changes.news:
            self.changed.emit(changes)
        if self.screen.early is not None and self.screen.absence is None:
            self._say_early(self.screen.early)

    def attend(self, workflow: str) -> None:
        """Keep the tasks of this workflow up to date from now on, instead of those of the one
        before; ask for them at once if they are not known or stale."""
        self._attended = workflow
        if self._lacks(workflow):
            self._read_again()

    def _read_again(self) -> None:
        """All of it where events told less than there is; else only how far it is as a whole."""
        self._read_s = time.monotonic()
        if self._lacks(self._attended):
            self._stale.discard(self._attended)
            self.bridge.want(self._attended)
        elif self._runs(self._attended):
            self.bridge.want_outlook(self._attended)

    def _read_outlooks(self) -> None:
        """Of what runs, when it ends as things are by now; a few at a time."""
        running = [name for name in self._moved if self._runs(name) and name != self._attended]
        for name in running[:OUTLOOKS_MAX]:
            self.bridge.want_outlook(name)
        self._moved = dict.fromkeys(running[OUTLOOKS_MAX:])
        if self._moved:
            self._outlooks.start()

    def _runs(self, workflow: str) -> bool:
        known = self.screen.workflows.get(workflow)
        return known is not None and known.state == "running"

    def _lacks(self, workflow: str) -> bool:
        """Whether its tasks were not read, or are not as they were any more."""
        known = workflow in self.screen.tasks
        return not known or workflow in self._stale or self.screen.is_stopping(workflow)

    def _read_again_soon(self) -> None:
        """The outlook not more often than somebody would look at it anew; what is stale at once."""
        passed_s = time.monotonic() - self._read_s
        outlook_ms = max(READ_AGAIN_MS, round((OUTLOOK_EVERY_S - passed_s) * 1000))
        wait_ms = READ_AGAIN_MS if self._attended in self._stale else outlook_ms
        if not self._again.isActive() or self._again.remainingTime() > wait_ms:
            self._again.start(wait_ms)

    def ask(
        self,
        asker: QObject,
        method: Method[P, R],
        params: P,
        done: Callable[[R], object] | None = None,
    ) -> None:
        """Ask the agent what a person wishes, and return at once; ``done``, unless it is None, is
        called with the reply, ``failed`` is emitted with a sentence if it fails. Once the asker is
        gone, only the failure of an act is still told."""
        self.bridge.ask(asker, method, params, done, self.failed.emit)

    # -- wishes ------------------------------------------------------------------------------

    def cancel(self, workflow: str, tasks: tuple[str, ...] = ()) -> None:
        """Ask the agent to cancel these tasks, or the whole workflow if none are named."""
        self.ask(self, CANCEL, Cancel(workflow, tasks), self._wished)

    def retry(self, workflow: str, tasks: tuple[str, ...] = ()) -> None:
        """Have these tasks tried again, or all of the workflow that failed or was cancelled, and
        return at once: ``differs`` is emitted, and nothing tried, where a step in its file is not as
        it was; else, also where that cannot be read or compared, it is tried with the scripts and
        files that it had. ``said`` tells how far the look is."""

        def looked(found: Looked) -> None:
            if found.differing:
                self.differs.emit(workflow, found, tasks)
            else:
                self.retry_as_it_was(workflow, tasks)

        def told(step: ProgressStep) -> None:
            self.bridge.tell(self, self.said.emit, step_text(step))

        self.bridge.client_work(
            self,
            lambda client: look_again(client, workflow, Wanted(submitter=own_name()), told),
            looked,
            lambda _: self.retry_as_it_was(workflow, tasks),  # which tells what is wrong
        )

    def retry_as_it_was(self, workflow: str, tasks: tuple[str, ...] = ()) -> None:
        """Ask the agent to try these tasks again, or all of the workflow that failed or was
        cancelled, with the scripts and files that they had."""
        self.ask(self, RETRY, Retry(workflow, tasks), self._wished)

    def set_priority(
        self, workflow: str, priority: NamedPriority, tasks: tuple[str, ...] = ()
    ) -> None:
        """Ask the agent to give a workflow another priority, or these tasks of it alone."""
        self.ask(self, PRIORITY, SetPriority(workflow, priority, tasks), self._wished)

    def would_free(
        self, workflows: Sequence[str], past: bool, told: Callable[[Removed], object]
    ) -> None:
        """Ask what the removal of these workflows would free, with ``past`` also what is remembered
        of them, without removing them; ``told`` is called with the reply, and ``failed`` is emitted
        if there is none."""
        self.ask(self, REMOVE, Remove(tuple(workflows), past, trial=True), told)

    def remove(self, workflows: Sequence[str], past: bool) -> None:
        """Ask the agent to remove workflows from the flock, with ``past`` from the history, too, and
        say what that has freed."""
        self.ask(self, REMOVE, Remove(tuple(workflows), past), self._removed)

    def _removed(self, removed: Removed) -> None:
        self.take((WorkflowsRemoved(removed.workflows),))
        self.tidied.emit()
        freed = size(removed.all_bytes)
        names = ", ".join(removed.names.values())
        self.said.emit(tr("{names} removed; that freed {size} here.", names=names, size=freed))

    def forget_program(self, name: str, trial: bool, told: Callable[[Forgotten], object]) -> None:
        """Ask the agent to forget a published program, in a trial only what that would free; ``told``
        is called with the reply."""
        self.ask(self, FORGET_PROGRAM, ForgetProgram(name, trial), told)

    def press(self, entry: Entry) -> bool:
        """Ask the agent for what an entry of the pause menu means; while it starts, keep a pause
        until it is there, or forget the one that is kept. Return false, and do nothing, where the
        entry is none of those."""
        pauses = {
            Act.PAUSE: Pause(for_s=entry.length_s),
            Act.NOT_NOW: Pause(for_s=entry.length_s),
            Act.PAUSE_TOMORROW: Pause(until_tomorrow=True),
            Act.PAUSE_OPEN_ENDED: Pause(),
            Act.FINISH: Pause(finish_first=True),
        }
        if entry.act is Act.RESUME:
            self._volunteering(RESUME, Resume())
        elif entry.act in pauses:
            self._volunteering(PAUSE, pauses[entry.act])
        return entry.act is Act.RESUME or entry.act in pauses

    def _volunteering(self, method: Method[P, VolunteeringView], params: P) -> None:
        if self.screen.starting:
            early = EarlyPause(params, time.monotonic()) if isinstance(params, Pause) else None
            self.screen.early = early
            self.changed.emit(Changes(volunteering=True))
            return
        self.ask(self, method, params, lambda view: self.take((view,)))

    def _say_early(self, early: EarlyPause) -> None:
        self.screen.early = None
        pause = early.due(time.monotonic())
        if pause is not None:
            self._volunteering(PAUSE, pause)

    def _wished(self, wished: Wished) -> None:
        self.bridge.want(wished.workflow)
