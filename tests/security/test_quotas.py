"""A member that tells, and asks, more than any machine has to: tables, disks and time of others are bounded.

Each attack is made twice, with the guard and without, where it has to succeed. The limits are lowered, as
what floods at their size takes minutes.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw, msgpack
from msgspec.structs import replace

from agent.api.flock import PEERS, Peers
from agent.client.link import Link
from agent.control.limits import Limits, Pace
from agent.control.members import hello_for
from agent.control.server import ControlServer
from agent.control.verbs.submitting import submission_of
from agent.protocol import allowance, quotas
from agent.protocol.allowance import Allowance
from agent.protocol.checking import Fault, Refusal
from agent.protocol.effects import Verdict
from agent.protocol.messages import (
    BUCKETS,
    AskRecords,
    BucketList,
    Digest,
    Enqueue,
    GetTask,
    Message,
    Records,
    State,
    TakeTask,
)
from agent.protocol.quotas import Quotas, Told
from agent.protocol.records import (
    PRIORITY_LOW,
    Claim,
    Life,
    PriorityWish,
    Pruning,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Workflow,
    WorkflowSpec,
    run_name,
)
from agent.protocol.settings import Settings
from agent.protocol.signing import pruning_leaf
from agent.protocol.table import Table
from agent.storage import writer
from agent.storage.places import write_ahead_log
from agent.storage.writer import Store
from tests.driver.nodes import members
from tests.hosts.waiting import eventually
from tests.security.forger import NOWHERE, Scene, lied_to
from tests.security.test_records import _honest_word_counts, guards, linked

MANY = 60
LIMIT_BYTES = 40_000


def _lower(monkeypatch: pytest.MonkeyPatch, guarded: bool, *names: str) -> None:
    if not guarded:
        monkeypatch.setattr(Quotas, "within", lambda _, told: (told, []))
    for name in names:
        monkeypatch.setattr(quotas, name, LIMIT_BYTES)


async def _all_refused(scene: Scene) -> None:
    """And told of, with who floods; the link stays, and what others say counts."""
    flood = Refusal(Fault.TOO_MUCH, scene.forger.node_id)
    await eventually(lambda: flood in scene.agent.live.node.refused)
    await _honest_word_counts(scene)
    found = [each.text for each in scene.agent.now().findings() if each.kind == "forged"]
    assert any(each.startswith("forger fills the table of the flock") for each in found), found
    assert linked(scene)


def _own_workflow(scene: Scene, number: int) -> Workflow:
    """Work of the forger, in due form, submitted before what came earlier."""
    node = scene.forger.node_id
    tasks = (TaskSpec("step", "step", "tell", parameters="x" * 1_000, requirements=NOWHERE),)
    event = submission_of(f"flood {number}", "me", node, PRIORITY_LOW, tasks)
    at = (int(time.time() * 1000) - number, 0)
    spec = WorkflowSpec(event.workflow, event.name, at, node, "me", event.tasks, event.more)
    return Workflow(scene.signed_spec(spec), PriorityWish(0, node, PRIORITY_LOW))


@guards
async def test_record_quota_per_signer(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lower(monkeypatch, guarded, "WORKFLOWS_BYTES_MAX")
    async with lied_to(tmp_path) as scene:
        table = scene.agent.table
        scene.tell(*(Enqueue((_own_workflow(scene, number),)) for number in range(MANY)))
        if not guarded:
            await eventually(lambda: len(table.workflows) == 1 + MANY)
            return
        await _all_refused(scene)
        flood = [each.spec for each in table.workflows.values() if each.spec.host != scene.victim]
        assert 0 < sum(map(quotas._bytes_of, flood)) <= LIMIT_BYTES
        assert scene.workflow in table.workflows, "nobody else gives way"


@guards
async def test_runs_quota_per_signer(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attempts without end at the work of another, each of them large."""
    _lower(monkeypatch, guarded, "RUNS_OF_A_WORKFLOW_BYTES")
    async with lied_to(tmp_path) as scene:
        ballast = {"ballast": Raw(msgpack.encode("x" * 2_000))}
        for attempt in range(1, MANY + 1):
            run = scene.run(scene.forger.node_id, Running(), attempt=attempt)
            run = scene.signed(replace(run, more=ballast))
            scene.tell(State(lives=(TaskLife(scene.task, Life(0, runs=(run,))),)))
        table = scene.agent.table
        if not guarded:
            await eventually(lambda: len(table.life(scene.task).runs) == MANY)
            return
        await _all_refused(scene)
        runs = [each for each in table.life(scene.task).runs if each.host == scene.forger.node_id]
        assert 0 < len(runs) <= 2 * LIMIT_BYTES / 2_000


@guards
async def test_prunings_quota_per_signer(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of work that nobody has ever had, each kept for more than a year."""
    _lower(monkeypatch, guarded, "PRUNINGS_BYTES_MAX")
    async with lied_to(tmp_path) as scene:
        table, many = scene.agent.table, 200
        for number in range(many):
            stamp = (int(time.time() * 1000), number)
            pruning = Pruning(f"invented {number}", 1, stamp, scene.forger.node_id)
            proof = scene.proof(pruning_leaf(pruning))
            scene.tell(State(prunings=(replace(pruning, proof=proof),)))
        if not guarded:
            await eventually(lambda: len(table.prunings) == many)
            return
        await _all_refused(scene)
        assert 0 < len(table.prunings) <= LIMIT_BYTES / quotas.RUN_BYTES


@guards
async def test_what_is_written_again_and_again_fills_no_disk(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of a record is replaced, and the log of the journal folded."""
    pages = 100
    monkeypatch.setattr(writer, "LOG_PAGES_MAX", pages)
    if not guarded:
        monkeypatch.setattr(Store, "_log_is_long", lambda _: False)
    async with lied_to(tmp_path) as scene:
        log = write_ahead_log(next(tmp_path.rglob("journal.db")))
        grown_bytes = 3 * pages * 4096
        ballast = {"ballast": Raw(msgpack.encode("x" * 60_000))}
        first, written = scene.run(scene.forger.node_id, Running()), 0
        while written < 2 * grown_bytes and log.stat().st_size < grown_bytes:
            revision, before_ns = 1 + written // 60_000, log.stat().st_mtime_ns
            run = scene.signed(replace(first, revision=revision, more=ballast))
            scene.tell(State(lives=(TaskLife(scene.task, Life(0, runs=(run,))),)))
            await eventually(partial(_is_written, scene, revision))
            await eventually(partial(_is_newer, log, before_ns))  # else the next goes with it
            written += 60_000
        assert (log.stat().st_size < grown_bytes) == guarded


def _is_newer(log: Path, before_ns: int) -> bool:
    return log.stat().st_mtime_ns != before_ns


def _is_written(scene: Scene, revision: int) -> bool:
    runs = scene.agent.table.life(scene.task).runs
    return max((each.revision for each in runs), default=0) == revision


@guards
async def test_a_machine_refuses_in_words_what_others_would_leave_out(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of other machines sooner: they leave room to whoever sits there."""
    if not guarded:
        monkeypatch.setattr(Quotas, "fault_of", lambda *_: None)
    async with lied_to(tmp_path) as scene:
        monkeypatch.setattr(quotas, "WORKFLOWS_BYTES_MAX", LIMIT_BYTES)
        scene.agent.live.node._core.checking.quotas._rooms.clear()

        async def accepted(*, far: bool) -> int:
            for number in range(MANY):
                tasks = (TaskSpec("a", "a", "tell", parameters="x" * 1_000, requirements=NOWHERE),)
                name = f"{'far' if far else 'own'} {number}"
                asked = submission_of(name, "me", scene.victim, PRIORITY_LOW, tasks, far=far)
                answer = await scene.agent.ask(asked)
                if answer.verdict is Verdict.REFUSED:
                    assert "one machine may have" in str(answer.fault)
                    return number
            return MANY

        far, own = await accepted(far=True), await accepted(far=False)
        assert (0 < far < MANY and 0 < own < MANY) == guarded
        if guarded:
            assert far <= LIMIT_BYTES / 2 / 2_000 < far + own <= LIMIT_BYTES / 2_000


class Replica:
    """A table that is told records in some order, by way of the quotas alone."""

    def __init__(self) -> None:
        self.table, self.now_s = Table(Settings()), 0.0
        self.quotas = Quotas(
            *(self.table, self._let_go, self.table.forget_pruning), lambda: self.now_s
        )

    def _let_go(self, *gone: Any) -> None:
        self.table.let_go(*gone)

    def hear(self, told: Told) -> None:
        self.now_s += 2 * quotas.COUNTED_ANEW_S
        self.table.join(*self.quotas.within(told)[0])

    def all(self) -> Told:
        table = self.table
        return Told([*table.workflows.values()], [*table.all_lives()], [*table.prunings.values()])


def _flood(draw: random.Random) -> list[Told]:
    told = []
    for number in range(25):
        task = TaskSpec(f"t{number}", "t", "p", parameters="x" * draw.randrange(3_000))
        spec = WorkflowSpec(f"w{number}", "w", (draw.randrange(50), 0), "ant", "me", (task,))
        told.append(Told([Workflow(spec, PriorityWish(0, "ant", 50))], [], []))
    for attempt in range(40):
        claim = Claim(1, (draw.randrange(50), 0), "ant")
        inputs = ("d" * draw.randrange(1, 200),) * 8
        run = Run(1, attempt, "ant", 1, claim, 0, inputs, 1, Running(), (5, 0))
        told.append(Told([], [TaskLife(f"t{draw.randrange(3)}", Life(runs=(run,)))], []))
    for number in range(40):
        stamp = (draw.randrange(50), 0)
        told.append(Told([], [], [Pruning(f"gone{number}", 1, stamp, "ant")]))
    return told


@pytest.mark.parametrize("seed", range(10))
def test_all_leave_out_the_same_in_whatever_order_they_hear(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in (
        ("WORKFLOWS_BYTES_MAX", 20_000),
        ("RUNS_BYTES_MAX", 15_000),
        ("RUNS_OF_A_WORKFLOW_BYTES", 4_000),
        ("PRUNINGS_BYTES_MAX", 5_000),
    ):
        monkeypatch.setattr(quotas, name, limit)
    draw = random.Random(seed)
    told, replicas = _flood(draw), [Replica(), Replica(), Replica()]
    for replica in replicas:
        for each in draw.sample(told, len(told)):
            replica.hear(each)
    for _ in range(12):
        for one in replicas:
            for other in replicas:
                other.hear(one.all())
    tables = [each.table for each in replicas]
    assert len({table.hash for table in tables}) == 1
    assert 0 < len(tables[0].workflows) < 25
    assert 0 < len(tables[0].prunings) < 40
    names = [{run_name(r) for part in t.all_lives() for r in part.life.runs} for t in tables]
    assert names[0] == names[1] == names[2]
    assert 0 < len(names[0]) < 40


def test_what_a_member_has_too_much_of_is_counted_anew_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once it has made room it is taken in again; nobody has to begin anew for that."""
    monkeypatch.setattr(quotas, "PRUNINGS_BYTES_MAX", 3_000)
    replica, counted = Replica(), list[quotas.Scope]()
    known = replica.quotas._known

    def counting(scope: quotas.Scope) -> Iterator[quotas.Item]:
        counted.append(scope)
        return known(scope)

    monkeypatch.setattr(replica.quotas, "_known", counting)
    for number in range(200):
        replica.now_s = number / 1000
        replica.table.join(
            *replica.quotas.within(Told([], [], [Pruning(f"p{number}", 1, (5, number), "ant")]))[0]
        )
    assert len(counted) <= 3
    for workflow in list(replica.table.prunings):
        replica.table.forget_pruning(workflow)
    replica.hear(Told([], [], [Pruning("new", 1, (900, 0), "ant")]))
    assert list(replica.table.prunings) == ["new"]


@guards
async def test_tables_are_told_no_faster_than_anybody_needs(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question of a few bytes asks for all of it, again and again."""
    if not guarded:
        monkeypatch.setattr(Allowance, "takes", lambda *_: True)
    monkeypatch.setattr(allowance, "RECORDS_AT_ONCE_MAX", MANY)
    monkeypatch.setattr(allowance, "RECORDS_PER_S", 1)
    async with lied_to(tmp_path) as scene:
        core = scene.agent.live.node._core
        told: list[Message] = []
        send = core.send

        def sending(peers: Any, message: Message) -> None:
            told.extend([message] * isinstance(message, BucketList | Records | TakeTask))
            send(peers, message)

        monkeypatch.setattr(core, "send", sending)
        keys = ("w" + scene.workflow,)
        asking = (Digest((1,) * BUCKETS), AskRecords(keys), GetTask(scene.task))
        scene.tell(*asking * MANY)
        if not guarded:
            await eventually(lambda: len(told) >= 3 * MANY)
            return
        await eventually(
            lambda: bool(core.counters.get("asks for more records than one member may"))
        )
        await _honest_word_counts(scene)
        assert 0 < len(told) < 3 * MANY
        assert linked(scene)


@guards
async def test_questions_of_a_member_come_at_a_pace(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On all its connections together; clients of this machine ask on."""
    if not guarded:
        monkeypatch.setattr(Pace, "keep", lambda _: asyncio.sleep(0))
    async with members(tmp_path, "ant", "bee") as (ant, bee):
        limits = Limits(of_member_per_s=20.0, of_member_at_once_max=10)
        server = ControlServer(ant, ant.home.data, limits)
        await server.start()
        ant.member_clients.serve(server.serve_member)
        links = [Link(*await bee.member_clients.open(ant.node_id)) for _ in range(2)]
        for link in links:
            await link.greet(hello_for("attack", "bee"))
        began_s = time.monotonic()
        await asyncio.gather(*(link.call(PEERS, Peers()) for link in links for _ in range(15)))
        assert (time.monotonic() - began_s > 0.9) == guarded
        for link in links:
            await link.close()
        await server.stop()
