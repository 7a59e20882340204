"""Records of a member that lies, over a real link: none of them counts, and the link stays.

Each attack is made twice: once as it is, and once with the check of records taken out, where it has to
succeed; so none is refused for another reason than the one that it is here for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from agent.protocol import records
from agent.protocol.checking import Checking, Fault, Refusal
from agent.protocol.events import Cancel
from agent.protocol.messages import ClaimOffer, Enqueue, Message, State, TryDequeue
from agent.protocol.promises import Promises
from agent.protocol.records import (
    CANCEL,
    FLOOR,
    NO_LIFE,
    PRIORITY_INTERACTIVE,
    RETRY,
    Claim,
    Failed,
    Life,
    Lost,
    PriorityWish,
    Pruning,
    Run,
    Running,
    Scheduled,
    TaskLife,
    TaskPriority,
    TaskSpec,
    TaskState,
    Wish,
    Workflow,
)
from agent.protocol.signing import priority_leaf, pruning_leaf, run_leaf, wish_leaf, with_proof
from tests.hosts.waiting import eventually
from tests.security.forger import Scene, lied_to, success

Attack = Callable[[Scene], list[Message]]
Success = Callable[[Scene], bool]


def _lives(scene: Scene, *runs: Run) -> list[Message]:
    return [State(lives=(TaskLife(scene.task, Life(0, runs=runs)),))]


def _forged_success(scene: Scene) -> list[Message]:
    """Of a host that is away: unsigned, signed by the liar, and as if the liar were a witness."""
    run = scene.run(scene.away.node_id, success("poison"))
    liar = scene.forger.node_id
    forged = (run, scene.signed(run), scene.signed(run, signer=liar))
    return [message for each in forged for message in _lives(scene, each)]


def _forged_failures(scene: Scene) -> list[Message]:
    away = scene.away.node_id
    failed = [scene.run(away, Failed("no"), attempt=attempt) for attempt in range(1, 4)]
    return _lives(scene, *map(scene.signed, failed))


def _forged_losses(scene: Scene) -> list[Message]:
    away = scene.away.node_id
    return _lives(scene, *(scene.signed(scene.run(away, Lost(), attempt=n)) for n in range(1, 6)))


def _forged_gate(scene: Scene) -> list[Message]:
    """Passed in the name of the very machine that is lied to."""
    done = scene.run(scene.victim, success())
    proof = scene.proof(run_leaf(scene.gate, done))
    done = replace(done, more=with_proof(done.more, proof))
    return [State(lives=(TaskLife(scene.gate, Life(0, runs=(done,))),))]


def _wished(scene: Scene, kind: int, value: int, by: str) -> Wish:
    wish = Wish(kind, value, by)
    return replace(wish, proof=scene.proof(wish_leaf(scene.task, wish)))


def _cancel(scene: Scene) -> list[Message]:
    """In the liar's own name, in the submitter's, and in nobody's."""
    own, others = (_wished(scene, CANCEL, 1, by) for by in (scene.forger.node_id, scene.victim))
    lives = (Life(0, cancel=1, wishes=(own,)), Life(0, cancel=1, wishes=(others,)))
    told = (*lives, Life(0, cancel=1))
    return [State(lives=(TaskLife(scene.task, life),)) for life in told]


def _retry(scene: Scene) -> list[Message]:
    """A task that needs no retry, and the workflow, so that no pruning would ever hide it."""
    life = Life(7, wishes=(_wished(scene, RETRY, 7, scene.forger.node_id),))
    now, wish = scene.workflow_now, Wish(RETRY, 7, scene.forger.node_id)
    wish = replace(wish, proof=scene.proof(wish_leaf(scene.workflow, wish)))
    raised = replace(now, generation=7, retried=wish)
    return [State(lives=(TaskLife(scene.task, life),), workflows=(raised,))]


def _workflow_raised_as_a_floor(scene: Scene) -> list[Message]:
    """Anybody may raise the floor of a task; not so the generation of a workflow."""
    now, wish = scene.workflow_now, Wish(FLOOR, 7, scene.forger.node_id)
    wish = replace(wish, proof=scene.proof(wish_leaf(scene.workflow, wish)))
    return [State(workflows=(replace(now, generation=7, retried=wish),))]


def _priority(scene: Scene) -> list[Message]:
    wishes = [
        PriorityWish(9, host, PRIORITY_INTERACTIVE) for host in (scene.victim, scene.forger.node_id)
    ]
    proven = [
        replace(each, proof=scene.proof(priority_leaf(scene.workflow, each))) for each in wishes
    ]
    now = scene.workflow_now
    told = (*wishes, *proven)
    return [State(workflows=(replace(now, priority=each),)) for each in told]


def _priority_of_a_task(scene: Scene) -> list[Message]:
    """The same of one task alone; and with the proof of a wish for the whole workflow."""
    liar, now = scene.forger.node_id, scene.workflow_now
    told = []
    for host, of_task in ((scene.victim, scene.task), (liar, scene.task), (liar, "")):
        wish = PriorityWish(9, host, PRIORITY_INTERACTIVE)
        wish = replace(wish, proof=scene.proof(priority_leaf(scene.workflow, wish, of_task)))
        told.append(replace(now, tasks=(TaskPriority(scene.task, wish),)))
    return [State(workflows=(each,)) for each in told]


def _earlier_spec(scene: Scene) -> list[Message]:
    """The same id, another program, submitted at the beginning of time."""
    evil = tuple(replace(each, program="evil") for each in scene.spec.tasks)
    spec = replace(scene.spec, submitted=(0, 0), host=scene.forger.node_id, tasks=evil)
    wish = PriorityWish(1, scene.forger.node_id, 50)
    return [Enqueue((Workflow(scene.signed_spec(spec), wish),))]


def _tasks_of_another(scene: Scene) -> list[Message]:
    """Another workflow, that claims to have had this task first."""
    tasks = (TaskSpec(scene.task, "step", "evil"),)
    host = scene.forger.node_id
    spec = replace(scene.spec, workflow="0" * 32, submitted=(0, 0), host=host, tasks=tasks)
    return [Enqueue((Workflow(scene.signed_spec(spec), PriorityWish(1, host, 50)),))]


def _pruning(scene: Scene) -> list[Message]:
    stamp = (int(time.time() * 1000), 0)
    own, others = (
        Pruning(scene.workflow, 5, stamp, by) for by in (scene.forger.node_id, scene.victim)
    )
    unsigned = Pruning(scene.workflow, 500_000, stamp)
    signed = (replace(each, proof=scene.proof(pruning_leaf(each))) for each in (own, others))
    return [State(prunings=(each,)) for each in (unsigned, *signed)]


def _floor(scene: Scene) -> list[Message]:
    """In the name of another member, and in nobody's."""
    forged = Life(0, floor=3, wishes=(_wished(scene, FLOOR, 3, scene.away.node_id),))
    return [State(lives=(TaskLife(scene.task, life),)) for life in (forged, Life(0, floor=3))]


def _state(scene: Scene, task: str) -> TaskState:
    reading = scene.agent.table.reading(task)
    assert reading is not None
    return reading.state


def _is(state: TaskState, *, gate: bool = False) -> Success:
    return lambda scene: _state(scene, scene.gate if gate else scene.task) is state


ATTACKS: dict[str, tuple[Attack, Success]] = {
    "forged_success_of_other_host_refused": (_forged_success, _is(TaskState.TERMINATED)),
    "forged_failure_of_other_host_refused": (_forged_failures, _is(TaskState.ABORTED)),
    "forged_lost_of_other_host_refused": (_forged_losses, _is(TaskState.ABORTED)),
    "forged_gate_refused": (_forged_gate, _is(TaskState.TERMINATED, gate=True)),
    "cancel_by_non_submitter_refused": (_cancel, _is(TaskState.CANCELLED)),
    "retry_generation_by_non_submitter_refused": (
        _retry,
        lambda scene: (
            scene.agent.table.life(scene.task).generation == 7
            and scene.workflow_now.generation == 7
        ),
    ),
    "workflow_raised_as_a_floor_refused": (
        _workflow_raised_as_a_floor,
        lambda scene: scene.workflow_now.generation == 7,
    ),
    "priority_in_other_name_refused": (
        _priority,
        lambda scene: scene.workflow_now.priority.value == PRIORITY_INTERACTIVE,
    ),
    "priority_of_a_task_in_other_name_refused": (
        _priority_of_a_task,
        lambda scene: scene.agent.table.interactive(scene.task),
    ),
    "spec_with_earlier_stamp_does_not_replace": (
        _earlier_spec,
        lambda scene: scene.agent.table.specs[scene.task].program == "evil",
    ),
    "tasks_of_another_workflow_are_not_taken": (
        _tasks_of_another,
        lambda scene: scene.agent.table.specs[scene.task].program == "evil",
    ),
    "pruning_of_running_work_refused": (
        _pruning,
        lambda scene: scene.workflow not in scene.agent.table.workflows,
    ),
    "floor_raised_by_stranger_refused": (
        _floor,
        lambda scene: scene.agent.table.life(scene.task).floor == 3,
    ),
}
guards = pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "without the guard"])


def take_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checking, "on", property(lambda _: False))


def linked(scene: Scene) -> bool:
    return [each.name for each in scene.agent.now().peers] == ["forger"]


@guards
@pytest.mark.parametrize("name", ATTACKS)
async def test_a_forged_record(
    name: str, guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack, succeeded = ATTACKS[name]
    if not guarded:
        take_out(monkeypatch)
    async with lied_to(tmp_path) as scene:
        told = attack(scene)
        scene.tell(*told)
        if not guarded:
            await eventually(lambda: succeeded(scene))
            return
        refused = scene.agent.live.node.refused
        await eventually(lambda: sum(refused.values()) >= len(told))
        assert not succeeded(scene)
        await _honest_word_counts(scene)
        assert not succeeded(scene)
        assert linked(scene), "whoever passes something on pays nothing for it"


async def _honest_word_counts(scene: Scene) -> None:
    """What the member that is away has signed itself counts, whoever tells it."""
    run = scene.signed(scene.run(scene.away.node_id, Running(), attempt=9), scene.away)
    scene.tell(*_lives(scene, run))
    await eventually(lambda: run in scene.agent.table.life(scene.task).runs)


@guards
async def test_pruning_by_stranger_refused(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of work that has ended, but lately."""
    if not guarded:
        take_out(monkeypatch)
    async with lied_to(tmp_path) as scene:
        await scene.agent.ask(Cancel("", scene.workflow))
        told = _pruning(scene)
        scene.tell(*told)
        if not guarded:
            await eventually(lambda: scene.workflow not in scene.agent.table.workflows)
            return
        await eventually(lambda: sum(scene.agent.live.node.refused.values()) >= len(told))
        assert scene.workflow in scene.agent.table.workflows


async def test_what_is_refused_is_told_by_whom_and_why(tmp_path: Path) -> None:
    async with lied_to(tmp_path) as scene:
        scene.tell(*_forged_success(scene), *_cancel(scene))
        refused = scene.agent.live.node.refused
        forged = Refusal(Fault.FORGED, scene.away.node_id)
        wished = Refusal(Fault.NOT_THEIRS, scene.forger.node_id)
        await eventually(lambda: forged in refused and wished in refused)
        found = [each.text for each in scene.agent.now().findings() if each.kind == "forged"]
        for words in ("records in the name of away", "wishes of forger", "records of away without"):
            assert any(each.startswith(words) for each in found), found


@guards
async def test_replayed_signed_record_changes_nothing(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old revision of a run, signed by its own host, told again after a newer one."""
    if not guarded:
        take_out(monkeypatch)
        monkeypatch.setattr(records, "join_runs", lambda _, theirs: theirs)
    async with lied_to(tmp_path) as scene:
        first = scene.run(scene.away.node_id, Scheduled())
        old = scene.signed(first, scene.away)
        new = scene.signed(replace(first, revision=2, phase=Running()), scene.away)
        scene.tell(*_lives(scene, old), *_lives(scene, new))
        await eventually(lambda: scene.agent.table.life(scene.task).runs == (new,))
        changes = scene.agent.table.changes
        scene.tell(*(_lives(scene, old) * 50), *(_lives(scene, new) * 50 if guarded else ()))
        if not guarded:
            await eventually(lambda: scene.agent.table.life(scene.task).runs == (old,))
            return
        checked = scene.agent.live.node._core.checking.roots.checked
        await _honest_word_counts(scene)
        assert scene.agent.table.changes == changes + 1, "only the honest word was new"
        assert new in scene.agent.table.life(scene.task).runs
        assert scene.agent.live.node._core.checking.roots.checked == checked + 1


@guards
async def test_claim_in_another_name_ignored(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would have all promise the task to a member that is away."""
    if not guarded:
        ask = Promises._answer

        def believing(self: Promises, peer: Any, offer: ClaimOffer) -> None:
            ask(self, SimpleNamespace(node=offer.claim.host), offer)  # type: ignore[arg-type]

        monkeypatch.setattr(Promises, "_answer", believing)
    async with lied_to(tmp_path) as scene:
        claim = Claim(1, (int(time.time() * 1000), 0), scene.away.node_id)
        scene.tell(TryDequeue((ClaimOffer(scene.task, claim, NO_LIFE),)))
        promises = scene.agent.live.node.promises.by_task
        if not guarded:
            await eventually(lambda: scene.task in promises)
            return
        await _honest_word_counts(scene)
        assert scene.task not in promises
