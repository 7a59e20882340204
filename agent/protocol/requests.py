"""What clients ask of a node: submit, cancel, retry, re-prioritise, mark a gate done.

A request is checked whole before anything is written; a refusal is one sentence that says what,
where and what to do. Acceptance is answered when the workflow is on this disk and, with peers
present, on one more; a peer that goes down meanwhile is not waited for, and what was accepted
"here only" becomes safe later, by a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from agent.protocol.admission import fault_of
from agent.protocol.core import Core, Part, Peer
from agent.protocol.effects import Answer, CancelFinished, Send, Verdict, WorkflowSafe
from agent.protocol.events import (
    Cancel,
    MarkGate,
    Prioritise,
    Remove,
    Retry,
    Submit,
)
from agent.protocol.identity import KEPT, asked_in
from agent.protocol.messages import Enqueue, Stored, TryDequeue
from agent.protocol.news import News
from agent.protocol.origins import with_shown
from agent.protocol.phrases import Phrase, RequestError, said
from agent.protocol.priorities import wished
from agent.protocol.pruning import needed_elsewhere
from agent.protocol.reading import effective_generation, next_attempt
from agent.protocol.records import (
    CANCEL,
    ENDED,
    RETRY,
    SUBMITTED_FAR,
    Claim,
    Dataset,
    Life,
    NodeId,
    PriorityWish,
    Pruning,
    RequestId,
    Run,
    TaskId,
    TaskLife,
    TaskState,
    Terminated,
    Wish,
    Workflow,
    WorkflowId,
    WorkflowSpec,
)
from agent.protocol.sharing_reasons import Prioritised
from agent.protocol.signing import Kind, Statement, wished_part

RECEIPT_REPEAT_S = 1.0
_encode = msgspec.msgpack.Encoder().encode
RECEIPTS_PER_REPEAT_MAX = 20
GIVEN_UP = (TaskState.CANCELLED, TaskState.ABORTED)


@dataclass(slots=True)
class _Receipt:
    """A submission that waits for a second disk. ``peers``: who may still confirm.

    ``requests`` are the clients that wait for the answer; the same workflow may be submitted
    again before the first is answered, or even on disk.
    """

    requests: list[RequestId]
    peers: dict[NodeId, None] = field(default_factory=dict)
    answered: bool = False


class Requests(Part):
    """Answers what clients ask of this node."""

    def __init__(
        self,
        core: Core,
        alive: Callable[[NodeId, int], bool],
    ) -> None:
        super().__init__(core)
        self._alive = alive
        self._receipts: dict[WorkflowId, _Receipt] = {}
        self._cancelling: dict[TaskId, None] = {}
        self._repeated_s = 0.0

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return, by the type of a message or event, the method that handles it; what is not named
        here, this part does not handle."""
        return {
            Submit: self._guarded(self._submit),
            Cancel: self._guarded(self._cancel),
            Retry: self._guarded(self._retry),
            Prioritise: self._guarded(self._prioritise),
            Remove: self._guarded(self._remove),
            MarkGate: self._guarded(self._mark_gate),
            Enqueue: self._enqueued,
            Stored: self._stored,
        }

    def _guarded(self, handler: Callable[..., None]) -> Callable[..., None]:
        def answer(event: Submit | Cancel | Retry | Prioritise | Remove | MarkGate) -> None:
            core = self.core
            try:
                if not core.able:
                    raise RequestError(_unable(core))
                handler(event)
            except RequestError as error:
                self.core.emit(Answer(event.request, Verdict.REFUSED, fault=error.fault))

        return answer

    # -- submission ----------------------------------------------------------------------

    def _submit(self, event: Submit) -> None:
        core = self.core
        if self._is_known(event, event.workflow):
            return
        spec = WorkflowSpec(
            *(event.workflow, event.name, core.stamp(), core.me, event.submitter, event.tasks),
            {**event.more, **(SUBMITTED_FAR if event.far else {})},
        )
        asked = None if event.again else asked_in(spec)
        before = "" if asked is None else core.table.asked_before(asked)
        if (event.far or before in core.own.noted) and self._is_known(event, before):
            return
        fault = fault_of(event, core.table) or core.checking.quotas.fault_of(spec, core.name)
        if fault:
            raise RequestError(fault)
        workflow = Workflow(spec, PriorityWish(1, core.me, event.priority))
        core.write(workflows=[workflow], lives=self._kept(event.keeps))
        if not event.far:
            core.own.note([event.workflow])
        self._receipts[event.workflow] = _Receipt([event.request], dict.fromkeys(core.voters()))
        core.tell_enqueued(receipt=True)
        self._answer_submission(event.workflow)

    def _kept(self, keeps: Iterable[tuple[TaskId, TaskId]]) -> Iterator[TaskLife]:
        """The lives of tasks that begin with the outcome of an earlier one; its outputs may be lost
        later like any others, and are made anew then."""
        core = self.core
        for task, earlier in keeps:
            reading = core.table.reading(earlier)
            if reading is None or reading.outcome is None:
                continue  # it was cleaned up meanwhile, and runs
            stamp, inputs = core.stamp(), reading.outcome.inputs
            more = reading.outcome.more | {KEPT: Raw(_encode(earlier))}
            run = Run(
                *(1, 1, core.me, core.incarnation, Claim(0, stamp, core.me), 0, inputs, 1),
                *(reading.outcome.phase, stamp, more),
            )
            yield TaskLife(task, Life(runs=(run,)))

    def _is_known(self, event: Submit, workflow: WorkflowId) -> bool:
        """Whether this is what is submitted, and known; it is answered with that, or soon will be."""
        core = self.core
        pending = self._receipts.get(workflow)
        if pending is not None and not pending.answered:
            pending.requests.append(event.request)
            return True
        if workflow not in core.table.workflows:
            return False
        shared = workflow not in self._receipts and any(
            peer.compared for peer in core.peers.values()
        )
        core.save_again(workflow)
        known = Verdict.ALREADY_KNOWN
        core.emit(Answer(event.request, known, disks=1 + shared, workflow=workflow))
        return True

    def _answer_submission(self, workflow: WorkflowId) -> None:
        """Say so when nobody is left who could confirm."""
        receipt = self._receipts[workflow]
        if not receipt.answered and not receipt.peers:
            self._accept(workflow, receipt, "here only", disks=1)
            receipt.answered = True

    def _accept(self, workflow: WorkflowId, receipt: _Receipt, text: str, disks: int) -> None:
        for request in receipt.requests:
            self.core.emit(Answer(request, Verdict.ACCEPTED, text, disks, workflow=workflow))

    def _enqueued(self, peer: Peer, message: Enqueue) -> None:
        core = self.core
        core.learn(peer.node, message.workflows, message.lives, pass_on=True)
        if message.receipt and core.disk_usable:
            told = [each.spec.workflow for each in message.workflows]
            names = tuple(each for each in told if core.table.holds_or_hides(each))
            core.send(peer.node, Stored(names))

    def _stored(self, peer: Peer, message: Stored) -> None:
        for workflow in message.workflows:
            receipt = self._receipts.pop(workflow, None)
            if receipt is None:
                continue
            if receipt.answered:
                self.core.emit(WorkflowSafe(workflow))
            else:
                self._accept(workflow, receipt, "", disks=2)

    def on_greeted(self, peer: Peer) -> None:
        self._ask_receipts(peer.node)

    def _ask_receipts(self, peer: NodeId) -> None:
        """What is here only is told again, until somebody confirms that it is there too."""
        table = self.core.table
        unsafe = [each for each in self._receipts if each in table.workflows]
        for workflow in unsafe[:RECEIPTS_PER_REPEAT_MAX]:
            lives = tuple(table.lives_of(workflow))
            self.core.send(peer, Enqueue((table.workflows[workflow],), lives, receipt=True))

    def on_gone(self, peer: Peer) -> None:
        """Wait for no receipt of a peer that has gone or is silent; where nobody is left to give
        one, answer that the workflow is here only."""
        for workflow, receipt in self._receipts.items():
            receipt.peers.pop(peer.node, None)
            self._answer_submission(workflow)

    on_suspected = on_gone

    def refuse_unsaved(self, dropped: Iterable[object]) -> list[WorkflowId]:
        """Undo and refuse the submissions whose acceptance is among ``dropped``, the effects that
        followed a refused record, or whose news is and that nobody was answered yet. Refuse also
        whom one of them would have told "known already". Return the workflows undone."""
        told: dict[WorkflowId | RequestId, None] = {}
        for effect in dropped:
            if isinstance(effect, Send) and isinstance(effect.message, Enqueue):
                told.update(dict.fromkeys(w.spec.workflow for w in effect.message.workflows))
            elif isinstance(effect, Answer) and effect.verdict is Verdict.ACCEPTED:
                told[effect.request] = None
        full = said("{host} has a full disk; submit on another machine", host=self.core.name)
        for effect in dropped:
            if isinstance(effect, Answer) and effect.verdict is Verdict.ALREADY_KNOWN:
                self.core.emit(Answer(effect.request, Verdict.REFUSED, fault=full))
        refused = [
            workflow
            for workflow, receipt in self._receipts.items()
            if (workflow in told and not receipt.answered)
            or any(request in told for request in receipt.requests)
        ]
        for workflow in refused:
            receipt = self._receipts.pop(workflow)
            self.core.take_in(self.core.table.withdraw(workflow))
            self.core.own.drop([workflow])
            for request in receipt.requests:
                self.core.emit(Answer(request, Verdict.REFUSED, fault=full))
        return refused

    def vouches(self, effect: object, refused: list[WorkflowId]) -> bool:
        """Tell whether the effect says, or relies on it, that something is on this disk: an
        acceptance, a receipt, a claim, or one of these refused workflows. It must not be done after
        a refusal."""
        if isinstance(effect, Answer):
            return effect.verdict in (Verdict.ACCEPTED, Verdict.ALREADY_KNOWN)
        if not isinstance(effect, Send):
            return False
        message = effect.message
        if isinstance(message, Enqueue):
            return any(each.spec.workflow in refused for each in message.workflows)
        return isinstance(message, Stored | TryDequeue)

    # -- wishes --------------------------------------------------------------------------

    def _workflow(self, workflow: WorkflowId) -> Workflow:
        found = self.core.table.workflows.get(workflow)
        if found is not None:
            return found
        if workflow in self.core.table.prunings:
            raise RequestError(
                said("workflow {workflow} is finished and was cleaned up", workflow=workflow)
            )
        raise RequestError(
            said(
                "no workflow {workflow} is known on {host}", workflow=workflow, host=self.core.name
            )
        )

    def _wishable(self, workflow: WorkflowId, kind: Kind) -> Workflow:
        """The workflow, where this node may say that of it: nobody else would believe it."""
        core, found = self.core, self._workflow(workflow)
        said_here = Statement(kind, core.me, found.spec.host)
        if core.checking.on and not core.checking.trust.may(core.me, said_here):
            raise RequestError(
                said(
                    "{workflow} was submitted on {host}: ask there, or an administrator of the flock",
                    workflow=found.spec.name,
                    host=core.name_of(found.spec.host),
                )
            )
        return found

    def _named(self, workflow: Workflow, tasks: tuple[TaskId, ...]) -> list[TaskId]:
        known = dict.fromkeys(spec.task for spec in workflow.spec.tasks)
        for task in tasks:
            if task not in known:
                name = workflow.spec.name
                raise RequestError(
                    said("workflow {workflow} has no task {task}", workflow=name, task=task)
                )
        return list(tasks or known)

    def _within(self, workflow: Workflow, tasks: Iterable[TaskId]) -> list[TaskId]:
        table, name = self.core.table, workflow.spec.workflow
        return [task for task in tasks if table.workflow_of.get(task) == name]

    def _cancel(self, event: Cancel) -> None:
        core = self.core
        workflow = self._wishable(event.workflow, Kind.CANCEL)
        named = self._named(workflow, event.tasks)
        open_tasks = [
            task
            for task in self._within(workflow, core.table.closure(named))
            if self._state(task) not in ENDED
        ]
        if not open_tasks:
            raise RequestError(
                said(
                    "nothing to cancel in {workflow}: all of it has ended",
                    workflow=workflow.spec.name,
                )
            )
        running = [task for task in open_tasks if self._live_runs(task)]
        core.write(
            lives=[
                wished_part(task, CANCEL, effective_generation(core.table.life(task)), core.me)
                for task in open_tasks
            ]
        )
        self._cancelling.update(dict.fromkeys(running))
        core.emit(Answer(event.request, Verdict.CANCELLING if running else Verdict.DONE))

    def _state(self, task: TaskId) -> TaskState:
        reading = self.core.table.reading(task)
        return TaskState.SUBMITTED if reading is None else reading.state

    def _live_runs(self, task: TaskId) -> bool:
        """Somebody alive still has the task on the machine."""
        runs = self.core.table.life(task).runs
        return any(run.live and self._alive(run.host, run.incarnation) for run in runs)

    def on_news(self, news: News) -> None:
        self._look_at_cancelling()

    def on_tick(self) -> None:
        """Tell clients which cancelled tasks nobody runs any more, and send peers the workflows
        that are here only once more, so that somebody confirms them."""
        self._look_at_cancelling()
        core = self.core
        if self._receipts and core.now_s - self._repeated_s >= RECEIPT_REPEAT_S:
            self._repeated_s = core.now_s
            for peer in core.voters():
                self._ask_receipts(peer)

    def _look_at_cancelling(self) -> None:
        for task in [task for task in self._cancelling if not self._live_runs(task)]:
            del self._cancelling[task]
            if self._state(task) is TaskState.CANCELLED:
                self.core.emit(CancelFinished(task))

    def _retry(self, event: Retry) -> None:
        core = self.core
        workflow = self._wishable(event.workflow, Kind.RETRY)
        named = self._named(workflow, event.tasks)
        reach = dict.fromkeys([*self._upstream(named), *core.table.closure(named)])
        tasks = [task for task in self._within(workflow, reach) if self._state(task) in GIVEN_UP]
        if not tasks:
            raise RequestError(
                said(
                    "nothing to retry in {workflow}: no task of it failed or was cancelled",
                    workflow=workflow.spec.name,
                )
            )
        lives = [core.table.life(task) for task in tasks]
        generation = 1 + max([workflow.generation, *map(effective_generation, lives)])
        core.write(
            workflows=[
                replace(workflow, generation=generation, retried=Wish(RETRY, generation, core.me))
            ],
            lives=[wished_part(task, RETRY, generation, core.me) for task in tasks],
        )
        what = "1 task is" if len(tasks) == 1 else f"{len(tasks)} tasks are"
        core.emit(Answer(event.request, Verdict.DONE, f"{what} tried again"))

    def _upstream(self, tasks: Iterable[TaskId]) -> list[TaskId]:
        """The tasks and everything that they need."""
        table = self.core.table
        found = dict.fromkeys(tasks)
        queue = list(found)
        for task in queue:
            for producer in table.producers.get(task, ()):
                if producer not in found:
                    found[producer] = None
                    queue.append(producer)
        return list(found)

    def _prioritise(self, event: Prioritise) -> None:
        core = self.core
        workflow = self._wishable(event.workflow, Kind.PRIORITY)
        if not core.table.unfinished.get(event.workflow):
            raise RequestError(
                said(
                    "workflow {workflow} has ended; its priority moves nothing",
                    workflow=workflow.spec.name,
                )
            )
        wish = PriorityWish(workflow.priority.revision + 1, core.me, event.priority)
        changed = replace(workflow, priority=wish)
        if event.tasks:
            tasks = [task for task in self._named(workflow, event.tasks) if self._waits(task)]
            changed = wished(workflow, tasks, core.me, event.priority)
        core.write(workflows=[changed])
        for task in event.tasks:
            core.note(task, Prioritised(event.priority))
        core.emit(Answer(event.request, Verdict.DONE))

    def _waits(self, task: TaskId) -> bool:
        """Whether how urgent it is can still move anything."""
        if self._state(task) not in ENDED:
            return True
        name = self.core.table.specs[task].name
        raise RequestError(said("{task} has ended; its priority moves nothing", task=name))

    def _remove(self, event: Remove) -> None:
        core = self.core
        workflow = self._wishable(event.workflow, Kind.PRUNING)
        name = workflow.spec.name
        if core.table.unfinished.get(event.workflow):
            raise RequestError(said("{workflow} still goes on: cancel it first", workflow=name))
        if any(self._live_runs(spec.task) for spec in workflow.spec.tasks):
            raise RequestError(
                said("{workflow} is still being stopped: remove it in a moment", workflow=name)
            )
        if needed_elsewhere(core.table, workflow):
            raise RequestError(
                said("{workflow} cannot be removed: unfinished work needs it", workflow=name)
            )
        core.write(prunings=[Pruning(event.workflow, workflow.generation, core.stamp(), core.me)])
        core.emit(Answer(event.request, Verdict.DONE))

    def _mark_gate(self, event: MarkGate) -> None:
        core = self.core
        spec = core.table.specs.get(event.task)
        if spec is None or not spec.gate:
            raise RequestError(
                said("{task} is no manual step known on {host}", task=event.task, host=core.name)
            )
        state = self._state(event.task)
        if state is TaskState.TERMINATED:
            raise RequestError(said("{task} is marked done already", task=spec.name))
        if state is not TaskState.WAITING:
            raise RequestError(
                said(
                    "{task} cannot be marked done yet: it is {state}",
                    task=spec.name,
                    state=_said_of_gate(state),
                )
            )
        done = with_shown(self._done_by_hand(event.task, event.outputs), event.shown)
        core.write(lives=[TaskLife(event.task, Life(0, runs=(done,)))])
        core.emit(Answer(event.request, Verdict.DONE))

    def _done_by_hand(self, task: TaskId, outputs: tuple[Dataset, ...]) -> Run:
        core = self.core
        reading = core.table.reading(task)
        inputs = (reading.inputs if reading is not None else None) or ()
        stamp = core.stamp()
        return Run(
            *next_attempt(core.table.life(task)),
            core.me,
            core.incarnation,
            Claim(0, stamp, core.me),
            0,
            inputs,
            1,
            Terminated(outputs, (core.me,)),
            stamp,
        )


def _unable(core: Core) -> Phrase:
    """Why a node takes no requests now."""
    if core.stopping:
        return said("{host} is stopping; ask another machine", host=core.name)
    return said("{host} has a full disk; ask another machine", host=core.name)


def _said_of_gate(state: TaskState) -> Phrase:
    """The state of a gate that waits for no person."""
    if state is TaskState.CANCELLED:
        return said("cancelled")
    return said("waiting") if state is TaskState.SUBMITTED else said("failed")
