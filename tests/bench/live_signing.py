"""What signed records cost: the check of each, the table of a newcomer, bytes in a journal.

``python -m tests.bench live_signing [--json] [--quick]``. Nine real agents end 2,000 tasks that do
nothing, as in ``live_throughput``. A tenth, in this process, is a member that helps nobody and hears
all of it; what its thread takes in the check of records is measured around each call, and divided by
the records that came. Ten agents on few cores take the caches from each other, so the same messages
are checked once more, by the same keys into an empty table, when all is done: that is the figure with
the limit, and the other stands beside it. Beside both: a table of 20,000 ended tasks of nine hosts, in the messages in
which a newcomer gets it, read, checked and joined; once signed and once not. The batches in which its
records were signed are as small as one, which is the worst that can be.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import msgspec
from msgspec.structs import replace

from agent.api import flock
from agent.control.naming import task_id
from agent.net import certificates
from agent.protocol import messages
from agent.protocol.checking import Checking
from agent.protocol.identity import carried, content_of, workflow_id
from agent.protocol.messages import Records
from agent.protocol.quotas import Quotas
from agent.protocol.records import (
    Claim,
    Dataset,
    Life,
    PriorityWish,
    Run,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.settings import Settings
from agent.protocol.signing import (
    NoKeys,
    Trust,
    priority_leaf,
    run_leaf,
    signed_batch,
    spec_leaf,
    with_proof,
)
from agent.protocol.table import Table
from tests.bench import live_throughput
from tests.bench.report import Figures, Limit
from tests.driver.nodes import services
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually, let_pass
from tests.net.flocks import Node, new_authority, new_node

WHAT: Final = "signed records: what their check takes, a newcomer's table, bytes"
NODES, TASKS, TABLE_TASKS, PER_MESSAGE = 9, 2_000, 20_000, 500
CHECK_MS_MAX, NEWCOMER_S_MAX = 0.02, 3.0
CHECKED, NEWCOMER = "check, ms a record", "newcomer's table, s"
LIMITS: Final = (
    Limit("processor time of the check a record", CHECKED, CHECK_MS_MAX, "ms"),
    Limit("a table of 20,000 tasks, joined by a newcomer", NEWCOMER, NEWCOMER_S_MAX, "s"),
)


class Observer:
    """What came to a member that only listens, and what it took to check it."""

    def __init__(self) -> None:
        self._original = Checking.counting
        self.reset()

    def reset(self) -> None:
        self.records, self.messages, self.taken_s, self.signatures = 0, 0, 0.0, 0
        self._told: list[tuple[Checking, tuple[Any, ...]]] = []

    def again_s(self) -> float:
        """What the check of the same messages takes for a node that knows nothing."""
        taken_s, table = 0.0, Table(Settings())
        first, _ = self._told[0]
        checking = Checking(*(table, first.keys, lambda: 0, table.forget_pruning), _quotas(table))
        checking.trust = first.trust
        for _, parts in self._told:
            began_s = time.thread_time()
            found = self._original(checking, *parts)
            taken_s += time.thread_time() - began_s
            table.join(*found)
        assert not checking.refused, checking.refused
        return taken_s

    def counting(self, checking: Checking, *told: Any) -> Any:
        """Around the check itself."""
        parts = tuple(tuple(each) for each in told)
        before, began_s = checking.roots.checked, time.thread_time()
        found = self._original(checking, *parts)
        self.taken_s += time.thread_time() - began_s
        self.signatures += checking.roots.checked - before
        workflows, lives, prunings = parts
        self.records += len(workflows) + len(prunings)
        self.records += sum(len(part.life.runs) for part in lives)
        self.messages += 1
        self._told.append((checking, parts))
        return found


@contextmanager
def observing(invitation: str) -> Iterator[Observer]:
    """A member in a thread of this process, from when it is linked."""
    observer, linked, over = Observer(), threading.Event(), threading.Event()

    async def live(folder: Path) -> None:
        async with services(folder, "observer", volunteer="paused") as (agent,):
            await agent.flock.join(invitation)
            await eventually(lambda: len(agent.now().peers) == NODES)
            linked.set()
            await asyncio.to_thread(over.wait)

    def counting(checking: Checking, *told: Any) -> Any:
        return observer.counting(checking, *told)

    with TemporaryDirectory() as folder, patch.object(Checking, "counting", counting):
        thread = threading.Thread(target=lambda: asyncio.run(live(Path(folder))))
        thread.start()
        try:
            assert linked.wait(EVENTUALLY_S_MAX), "the observer is not linked"
            yield observer
        finally:
            over.set()
            thread.join(EVENTUALLY_S_MAX)


def measure(*, quick: bool) -> Figures:
    count = 100 if quick else TASKS
    load = os.getloadavg()[0]
    with Hosts(NODES, namespaces=False) as hosts:
        hosts.make_flock()
        invitation = hosts[0].call(flock.INVITE, flock.Invite()).text
        with observing(invitation) as observer:
            live_throughput._run(hosts, 50)
            let_pass(1.0)
            observer.reset()
            _, ended_s = live_throughput._run(hosts, count)
            let_pass(1.0)
            again_s = observer.again_s()
    return {
        CHECKED: 1000 * again_s / max(1, observer.records),
        "the same live, ms a record": 1000 * observer.taken_s / max(1, observer.records),
        "records": observer.records,
        "records a message": observer.records / max(1, observer.messages),
        "records a signature checked": observer.records / max(1, observer.signatures),
        "tasks a second meanwhile": count / ended_s,
        **_newcomer(TABLE_TASKS // 20 if quick else TABLE_TASKS),
        "load before": load,
        "load after": os.getloadavg()[0],
    }


# -- a table from end to end --------------------------------------------------------------------------


class RosterKeys(NoKeys):
    """Keys of some members, as certificates tell them."""

    flock = "bench"

    def __init__(self, nodes: Sequence[Node], own: Node) -> None:
        self._known = {node.node_id: node.member.certificate for node in nodes}
        self._own = own

    def sign(self, data: bytes) -> bytes:
        """As a node does."""
        return self._own.key.sign(data, certificates.SIGNATURE)

    def is_signed(self, signer: str, data: bytes, signature: bytes) -> bool:
        """As an agent does."""
        return certificates.has_signed(self._known[signer], signature, data)


def _newcomer(count: int) -> Figures:
    authority = new_authority()
    nodes = [new_node(authority, f"host{number}") for number in range(NODES)]
    workflow, lives = _workflow(nodes[0], count), _lives(nodes, count)
    signed = [part for n, node in enumerate(nodes) for part in _signed(nodes, node, lives[n])]
    plain = [part for parts in lives for part in parts]
    figures: Figures = {}
    for name, told in (("unsigned", plain), ("signed", signed)):
        pieces = _pieces(_signed_workflow(nodes, workflow), told)
        trust = Trust(0) if name == "signed" else Trust()
        began_s = time.process_time()
        table = _joined(pieces, RosterKeys(nodes, nodes[0]), trust)
        taken_s = time.process_time() - began_s
        assert len(table.lives) == count, f"only {len(table.lives)} of {count} lives count"
        figures[NEWCOMER if name == "signed" else "the same unsigned, s"] = taken_s
    bytes_of = [sum(len(msgspec.msgpack.encode(part)) for part in told) for told in (plain, signed)]
    batch = _signed(nodes, nodes[0], lives[0][:8], 8)
    figures["bytes of a run"] = bytes_of[0] / count
    figures["bytes of it signed alone"] = bytes_of[1] / count
    figures["bytes of it signed with seven"] = len(msgspec.msgpack.encode(batch)) / 8
    return figures


def _workflow(node: Node, count: int) -> Workflow:
    named = tuple(TaskSpec(f"t{n}", f"t{n}", "true") for n in range(count))
    content = content_of("table", named)
    name = workflow_id("me", "key", content, node.node_id)
    tasks = tuple(replace(each, task=task_id(name, each.name)) for each in named)
    more = carried("key", content)
    spec = WorkflowSpec(name, "table", (1, 0), node.node_id, "me", tasks, more)
    return Workflow(spec, PriorityWish(1, node.node_id, 50))


def _lives(nodes: Sequence[Node], count: int) -> list[list[TaskLife]]:
    """Of each node its share of the tasks, which it has ended."""
    tasks = [spec.task for spec in _workflow(nodes[0], count).spec.tasks]
    found: list[list[TaskLife]] = [[] for _ in nodes]
    for number, task in enumerate(tasks):
        node = nodes[number % len(nodes)].node_id
        stamp = (1_750_000_000_000 + number, 0)
        phase = Terminated((Dataset("0" * 64, 10),), (node,))
        run = Run(1, 1, node, 1, Claim(1, stamp, node), 0, (), 3, phase, stamp)
        found[number % len(nodes)].append(TaskLife(task, Life(runs=(run,))))
    return found


def _signed(
    nodes: Sequence[Node], node: Node, lives: Sequence[TaskLife], at_once: int = 1
) -> list[TaskLife]:
    keys, found = RosterKeys(nodes, node), []
    for start in range(0, len(lives), at_once):
        batch = lives[start : start + at_once]
        runs = [part.life.runs[0] for part in batch]
        leaves = [run_leaf(part.task, run) for part, run in zip(batch, runs, strict=True)]
        for part, run, proof in zip(batch, runs, signed_batch(keys, leaves), strict=True):
            proven = replace(run, more=with_proof(run.more, proof))
            found.append(TaskLife(part.task, Life(runs=(proven,))))
    return found


def _signed_workflow(nodes: Sequence[Node], workflow: Workflow) -> Workflow:
    spec, wish = workflow.spec, workflow.priority
    leaves = [spec_leaf(spec), priority_leaf(spec.workflow, wish)]
    of_spec, of_wish = signed_batch(RosterKeys(nodes, nodes[0]), leaves)
    spec = replace(spec, more=with_proof(spec.more, of_spec))
    return Workflow(spec, replace(wish, proof=of_wish))


def _quotas(table: Table) -> Quotas:
    return Quotas(table, lambda *_: None, table.forget_pruning, lambda: 0.0)


def _pieces(workflow: Workflow, lives: Sequence[TaskLife]) -> list[bytes]:
    told = [Records(workflows=(workflow,))]
    starts = range(0, len(lives), PER_MESSAGE)
    told += [Records(lives=tuple(lives[start : start + PER_MESSAGE])) for start in starts]
    return [messages.encode(each) for each in told]


def _joined(pieces: Sequence[bytes], keys: RosterKeys, trust: Trust) -> Table:
    table = Table(Settings())
    checking = Checking(table, keys, lambda: 0, table.forget_pruning, _quotas(table))
    checking.trust = trust
    for piece in pieces:
        message = messages.decode(piece)
        assert isinstance(message, Records)
        table.join(*checking.counting(message.workflows, message.lives, message.prunings))
    return table
