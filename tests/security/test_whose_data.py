"""Whose data something is does not depend on when or in which order that was heard, nor on what is dated
back: what a record shows of the content decides, wherever the content is."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw, msgpack, structs

from agent.data.possession import Possession
from agent.data.rights import DataRights
from agent.data.transfers import DatasetTransfers
from agent.net.acts import ADMINISTRATOR
from agent.protocol.identity import OPERATORS, SHARED
from agent.protocol.origins import HAS_SAVED, Origins, carrying, shown_for, with_shown
from agent.protocol.people import NO_PEOPLE, People, alone
from agent.protocol.records import (
    PRIORITY_LOW,
    Claim,
    Dataset,
    InputRef,
    Life,
    PriorityWish,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.second_runs import FIRST_COPY
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import points
from tests.protocol.stage import Stage, task

SECRET = b"what ant alone may read"
Record = Workflow | TaskLife
SHOWING = ["given", "made", "saved"]


class Holder:
    """A machine that has the data, and has heard these records one after the other."""

    def __init__(self, authors: Authors, *records: Record, settled: bool = False) -> None:
        """``settled``: it has started anew since."""
        self.store, self.data = authors.store, authors.data
        self.possession, self.table = Possession(self.store), Table(Settings())
        self.origins = Origins(SimpleNamespace(table=self.table))  # type: ignore[arg-type]
        for each in records:
            of_workflow = isinstance(each, Workflow)
            news = self.table.join([each] if of_workflow else [], [] if of_workflow else [each])  # type: ignore[list-item]
            self.origins.on_news(news)
        if settled:
            self.origins = Origins(SimpleNamespace(table=self.table))  # type: ignore[arg-type]
        self.people, self.counted = NO_PEOPLE, list[str]()
        self.node = SimpleNamespace(
            signs=True,
            table=self.table,
            origins=self.origins,
            people=self.people,
            promises=SimpleNamespace(given={}),
            work_of=lambda _: (),
            needed=lambda task: [each.dataset for each in self.table.specs[task].raw],
            refuse_data=self.counted.append,
        )
        role: Any = {"boss": ADMINISTRATOR}.get
        node: Any = self.node
        self.rights = DataRights(
            "bee", node, self.store, self.possession, lambda each: role(each, "operator")
        )

    async def may_have(self, peer: str) -> bool:
        """Asked as transfers do, until what is shown was looked at."""
        self.rights.may_have(peer, self.data.dataset)
        await self.looked()
        return self.rights.may_have(peer, self.data.dataset)

    async def may_take(self, task: str) -> bool:
        self.rights.may_take(task, self.data.dataset)
        await self.looked()
        return self.rights.may_take(task, self.data.dataset)

    async def looked(self) -> None:
        await asyncio.gather(*self.rights._looking.values())


class Authors:
    """Make the records: whoever has the content shows it, whoever has not shows something else."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.store = DatasetStore(folder / "author", 10**9)
        self.data = self.store.keep(points(folder, "author.txt", SECRET))
        self.possession = Possession(self.store)
        self.possession.look(self.data.dataset)

    def shown(self, whose: str) -> bytes:
        return self.possession.show([self.data.dataset], whose)

    def workflow(
        self, name: str, host: str, *, given: bool = False, shown: bytes = b""
    ) -> Workflow:
        raw = (self.data,) if given else ()
        tasks = (TaskSpec(f"{name}/1", "t", "p", raw=raw),)
        spec = WorkflowSpec(name, name, (1, 0), host, "me", tasks, carrying(shown))
        return Workflow(spec, PriorityWish(0, host, PRIORITY_LOW))

    def made(self, name: str, host: str, shown: bytes = b"", *, saved: bool = False) -> TaskLife:
        claim = Claim(1, (1, 0), host)
        if saved:
            run = Run(1, 1, host, 1, claim, 1, phase=Running(), checkpoint=self.data)
            run = with_shown(run, shown, HAS_SAVED)
        else:
            ended = Terminated((self.data,), (host,))
            run = with_shown(Run(1, 1, host, 1, claim, 1, phase=ended), shown)
        return TaskLife(f"{name}/1", Life(1, runs=(run,)))

    def records(self, how: str, name: str, host: str, *, has: bool) -> list[Record]:
        """A workflow that names the data in one way, with what shows it, or what shows nothing."""
        whose = shown_for(name, "" if how == "given" else f"{name}/1")
        shown = self.shown(whose if has else "another one")
        if how == "given":
            return [self.workflow(name, host, given=True, shown=shown)]
        made = self.made(name, host, shown, saved=how == "saved")
        return [self.workflow(name, host), made]


@pytest.fixture
def authors(tmp_path: Path) -> Iterator[Authors]:
    made = Authors(tmp_path / "authors")
    yield made
    made.store.close()


def orders(*each: list[Record]) -> Iterator[tuple[Record, ...]]:
    """All orders in which they can be heard; of a task that is unknown nothing is heard."""
    flat = list(itertools.chain(*each))
    for order in itertools.permutations(flat):
        if all(order.index(one) < order.index(two) for one, two in filter(_pair, each)):
            yield order


def _pair(records: list[Record]) -> bool:
    return len(records) > 1


@pytest.mark.parametrize("theirs", SHOWING)
@pytest.mark.parametrize("ants", SHOWING)
async def test_who_names_data_without_having_them_gets_none_in_whatever_order(
    ants: str, theirs: str, authors: Authors
) -> None:
    honest = authors.records(ants, "V", "ant", has=True)
    attack = authors.records(theirs, "W", "thief", has=False)
    machines = itertools.product(orders(honest, attack), (False, True))
    for heard, settled in machines:
        holder = Holder(authors, *heard, settled=settled)
        assert not await holder.may_have("thief"), heard
        assert await holder.may_have("ant"), heard
        assert await holder.may_take("V/1"), heard
        assert not await holder.may_take("W/1"), heard


@pytest.mark.parametrize(
    ("one", "other"), list(itertools.combinations_with_replacement(SHOWING, 2))
)
async def test_two_that_have_the_same_need_not_know_of_each_other(
    one: str, other: str, authors: Authors
) -> None:
    first = authors.records(one, "V", "ant", has=True)
    second = authors.records(other, "W", "cat", has=True)
    for heard in orders(first, second):
        holder = Holder(authors, *heard)
        for who, work in (("ant", "V/1"), ("cat", "W/1")):
            assert await holder.may_have(who)
            assert await holder.may_take(work)
        assert not await holder.may_have("thief")


async def test_of_work_of_before_the_first_that_was_heard_of_counts(authors: Authors) -> None:
    first, second = (authors.workflow(n, h, given=True) for n, h in (("V", "ant"), ("W", "cat")))
    holder = Holder(authors, first, second)
    assert await holder.may_have("ant")
    assert not await holder.may_have("cat")


async def test_a_refusal_is_counted_only_where_it_is_known_whose_data_it_is(
    authors: Authors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.data.transfers.ASKED_AGAIN_S", (0.0,))
    secret = authors.workflow("V", "ant", given=True)
    holder = Holder(authors, secret)
    transfers = DatasetTransfers("bee", holder.store, None)  # type: ignore[arg-type]
    transfers.may_have, transfers.refused = holder.rights.may_have, holder.rights.refused
    assert not await transfers._permit("cat", holder.data.dataset)
    assert holder.counted == ["cat"]
    holder.node.promises.given["V/1", "cat"] = None
    assert not await transfers._permit("cat", holder.data.dataset)
    assert holder.counted == ["cat"], "it was to run that, which was cancelled meanwhile"
    holder.node.promises.given.clear()
    holder.origins.on_news(holder.table.let_go(["V"], {}))
    assert not await transfers._permit("cat", holder.data.dataset)
    assert holder.counted == ["cat"], "that was removed meanwhile"
    await transfers.close()


async def test_a_machine_that_was_taken_away_reads_nothing_of_its_person(authors: Authors) -> None:
    holder = Holder(authors, authors.workflow("V", "lost", given=True))
    both = {"desk": "desk", "lost": "desk"}
    holder.node.people = People(both, both)
    assert await holder.may_have("lost")
    assert await holder.may_have("desk")
    holder.node.people = People({**both, "lost": alone("lost")}, both)
    assert await holder.may_have("desk")
    assert not await holder.may_have("lost")
    for_all = authors.workflow("V", "ant", given=True)
    shared = structs.replace(for_all.spec, more={SHARED: Raw(msgpack.encode(OPERATORS))})
    holder = Holder(authors, structs.replace(for_all, spec=shared))
    assert await holder.may_have("lost")
    holder.node.people = People({**both, "lost": alone("lost")}, both)
    assert not await holder.may_have("lost"), "nor what is shared with it"


def test_who_says_that_it_runs_a_task_without_consent_has_no_part_in_it() -> None:
    """Beside the run that counts; and copies are of who asked here."""
    stage = Stage("acor", "bee", "cat").flock("acor", "bee", "cat")
    stage.submit("acor", "W", task("T1")).play(1)
    owner, bystander, liar = sorted(
        stage.living(), key=lambda name: not stage.actors[name].programs
    )
    node = stage.living()[bystander]
    (said,) = node.table.life("T1").runs
    claim = Claim(0, (1, 0), liar)
    lie = structs.replace(said, host=liar, claim=claim, more=FIRST_COPY)
    node.table.join(lives=[TaskLife("T1", Life(0, runs=(lie,)))])
    assert list(node.work_of(owner)) == ["T1"]
    assert list(node.work_of(liar)) == []
    node.promises.given["T1", liar] = claim
    assert list(node.work_of(liar)) == ["T1"]


def test_questions_cost_no_walk_of_the_table(authors: Authors) -> None:
    """What an input is asked for with each plan, what is forgotten, and what is refused."""
    program = Dataset("sha256:program")
    specs = tuple(
        TaskSpec(f"{number}", "t", "p", raw=(authors.data, Dataset(f"sha256:{number}")))
        for number in range(20_000)
    )
    large = WorkflowSpec("V", "V", (1, 0), "ant", "me", specs)
    task = TaskSpec(
        "W/1", "t", "p", raw=(authors.data,), inputs=(InputRef("0", 0),), published=program
    )
    small = WorkflowSpec("W", "W", (2, 0), "ant", "me", (task,))
    wish = PriorityWish(0, "ant", PRIORITY_LOW)
    holder = Holder(authors, Workflow(large, wish), Workflow(small, wish))
    asked = time.perf_counter()
    for _ in range(100):
        assert holder.rights.may_take("W/1", holder.data.dataset)
        assert not holder.rights.may_have("cat", holder.data.dataset)
    each_ms = (time.perf_counter() - asked) * 10
    assert each_ms < 0.5, f"it was 1 ms for the first question alone: {each_ms:.3f} ms"
    news = holder.table.let_go(["W"], {})
    begun = time.perf_counter()
    holder.origins.on_news(news)
    took_ms = (time.perf_counter() - begun) * 1000
    assert took_ms < 2, f"it was 21 ms: {took_ms:.1f} ms"
