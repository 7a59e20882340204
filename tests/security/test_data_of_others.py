"""Data are for whose work it is, whom that is shared with, and who runs it: a hash opens nothing.

Live members of a flock that signs. Each attack is made twice, with the guard and without, where it has to
succeed; what honest people do goes on.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw, msgpack

from agent.api.datasets import DATASET_FILES, READ_DATASET, DatasetFiles, ReadDataset
from agent.api.errors import RefusedError
from agent.client.errors import RequestError
from agent.client.link import Link
from agent.control import rights as control_rights
from agent.control.members import hello_for
from agent.control.server import ControlServer
from agent.control.sharing import attached
from agent.control.verbs.submitting import submission_of
from agent.data.rights import DataRights
from agent.net import transfer_words
from agent.net.transfer_words import AskBytes, AskHashes, Refused
from agent.node.agent import Agent
from agent.protocol.checking import Fault, Refusal
from agent.protocol.effects import Verdict
from agent.protocol.events import Submit
from agent.protocol.identity import BY, OPERATORS, SHARED
from agent.protocol.origins import HAS, Origins, carrying
from agent.protocol.records import (
    PRIORITY_LOW,
    Dataset,
    InputRef,
    PriorityWish,
    TaskSpec,
    TaskState,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from tests.datasets.nodes import here, install_shout, points, raw, until
from tests.driver.nodes import QUIET, home_of, in_state, meshed, reading, services_of_homes
from tests.security.test_records import guards

SECRET = b"what ant alone may read"


@asynccontextmanager
async def three(
    folder: Path, *, copies: int = 1, pause: tuple[str, ...] = ("boss",)
) -> AsyncIterator[list[Agent]]:
    """``boss`` has founded the flock; ant and cat are operators. Nobody is given copies to keep, where
    ``copies`` is 1."""
    for name in ("boss", "ant", "cat"):
        volunteer = "paused" if name in pause else "always"
        install_shout(home_of(folder, name, volunteer=volunteer).programs)
    options = dataclasses.replace(QUIET, protocol=Settings(copies=copies))
    async with services_of_homes(folder, "boss", "ant", "cat", options=options) as all_of:
        boss, *others = all_of
        await boss.flock.create("office")
        for each in others:
            await each.flock.join((await boss.flock.invite()).text)
        await until(lambda: all(meshed(each, 2) for each in all_of))
        yield all_of


def work(agent: Agent, name: str, *tasks: TaskSpec, **more: Raw) -> Submit:
    event = submission_of(name, "me", agent.node_id, PRIORITY_LOW, tasks)
    return dataclasses.replace(event, more={**event.more, **more})


async def taken(agent: Agent, event: Submit) -> list[str]:
    """The ids of its tasks, once it is submitted."""
    answer = await agent.ask(event)
    assert answer.verdict is Verdict.ACCEPTED, answer
    return [each.task for each in event.tasks]


def shout(folder: Path, *given: Dataset, name: str = "a", **more: Any) -> TaskSpec:
    return TaskSpec(
        name,
        name,
        "shout",
        raw=tuple(each for one in given for each in raw(one)),
        parameters=str(folder / "notes"),
        **more,
    )


async def secret_of(ant: Agent, folder: Path) -> Dataset:
    """Handed in with work that waits, so that everybody knows its hash."""
    given = await ant.live.datasets.add(points(folder, "secret.txt", SECRET))
    gate = TaskSpec("g", "g", "", gate=True, asks="now?")
    await taken(ant, work(ant, "ants", gate, shout(folder, given, after=("g",))))
    return given


async def fetched(agent: Agent, dataset: str, *holders: Agent) -> bool:
    try:
        await agent.live.datasets.transfers.bring(dataset, [each.node_id for each in holders])
    except OSError as error:
        return "who runs it" not in str(error)
    return here(agent, dataset)


def known_by(agent: Agent, name: str) -> bool:
    return any(each.spec.name == name for each in agent.table.workflows.values())


def let_all(monkeypatch: pytest.MonkeyPatch, guarded: bool) -> None:
    if not guarded:
        monkeypatch.setattr(DataRights, "may_have", lambda *_: True)
        monkeypatch.setattr(DataRights, "may_take", lambda *_: True)


@guards
async def test_member_cannot_read_foreign_dataset(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_all(monkeypatch, guarded)
    async with three(tmp_path) as (boss, ant, cat):
        given = await secret_of(ant, tmp_path)
        await until(lambda: known_by(cat, "ants"))
        assert await fetched(cat, given.dataset, ant) == (not guarded)
        if guarded:
            refusal = Refusal(Fault.DATA, cat.node_id)
            await until(lambda: ant.live.node.refused.get(refusal, 0) == 1)
            told = [each.text for each in ant.now().findings()]
            assert any(each.startswith("cat asked 1 times for data") for each in told), told
            assert await fetched(boss, given.dataset, ant), "administrators read"


@guards
async def test_contents_are_not_had_by_their_hash_alone(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that no agent says in that order."""
    let_all(monkeypatch, guarded)
    async with three(tmp_path) as (_, ant, cat):
        given = await secret_of(ant, tmp_path)
        digest = given.dataset.partition(":")[2]
        pipe = await cat.live.datasets.transfers.reach(ant.node_id)

        def ask() -> list[type]:
            heard = []
            for word in (AskHashes(digest), AskBytes(digest, 0, len(SECRET))):
                transfer_words.say(pipe, word)
                heard.append(type(transfer_words.hear(pipe)))
            pipe.close()
            return heard

        assert (await asyncio.to_thread(ask) == [Refused, Refused]) == guarded


@guards
async def test_a_client_of_a_member_reads_no_foreign_dataset(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not guarded:
        monkeypatch.setattr(control_rights, "OF_DATA", ())
    async with three(tmp_path) as (_, ant, cat):
        given = await secret_of(ant, tmp_path)
        server = ControlServer(ant, ant.home.data)
        await server.start()
        ant.member_clients.serve(server.serve_member)
        link = Link(*await cat.member_clients.open(ant.node_id))
        await link.greet(hello_for("attack", "cat"))
        questions: tuple[tuple[Any, Any], ...] = (
            (DATASET_FILES, DatasetFiles(given.dataset)),
            (READ_DATASET, ReadDataset(given.dataset)),
        )
        for method, params in questions:
            try:
                await link.call(method, params)
                refused = False
            except RequestError as error:
                refused = "whose work it is" in str(error)
            assert refused == guarded
        await link.close()
        await server.stop()


@guards
@pytest.mark.parametrize("here_only", [True, False], ids=["runs it itself", "has it run"])
async def test_work_that_names_data_of_others_is_given_none(
    here_only: bool, guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submitted by an agent made by hand, that asks nobody: its own task would tell what is in them,
    run by itself or by the machine that has them."""
    let_all(monkeypatch, guarded)
    async with three(tmp_path, pause=("boss", "ant" if here_only else "cat")) as (_, ant, cat):
        given = await secret_of(ant, tmp_path)
        await until(lambda: known_by(cat, "ants"))
        in_her_name = {BY: Raw(msgpack.encode(ant.node_id))}
        (task,) = await taken(cat, work(cat, "attack", shout(tmp_path, given), **in_her_name))
        if not guarded:
            await until(lambda: in_state([cat], task, TaskState.TERMINATED))
            return
        (honest,) = await taken(cat, work(cat, "honest", shout(tmp_path)))
        await until(lambda: in_state([ant, cat], honest, TaskState.TERMINATED))
        if here_only:
            refusal = Refusal(Fault.DATA, cat.node_id)
            await until(lambda: ant.live.node.refused.get(refusal, 0) > 0)
        assert not in_state([cat], task, TaskState.TERMINATED)


async def test_who_runs_it_and_whom_it_is_shared_with_may_read(tmp_path: Path) -> None:
    """Its machine is paused: another one runs it, copies are kept, and its person reads them."""
    async with three(tmp_path, copies=2, pause=("boss", "ant")) as (_, ant, cat):
        given = await ant.live.datasets.add(points(tmp_path, "secret.txt", SECRET))
        second = TaskSpec(
            "b", "b", "shout", (InputRef("a", 0),), parameters=str(tmp_path / "notes")
        )
        event = work(ant, "ants", shout(tmp_path, given), second)
        first, last = await taken(ant, event)
        await until(lambda: in_state([ant, cat], last, TaskState.TERMINATED))
        outputs = [reading(ant, each).outputs[0] for each in (first, last)]
        for output in outputs:
            await ant.live.datasets.bring(output.dataset)
        for each in (first, last):
            outcome = reading(ant, each).outcome
            assert outcome is not None
            assert HAS in outcome.more, "its machine shows that it has made it"
        assert await ant.live.datasets.read(outputs[1].dataset, "", 0, 99) == SECRET.upper() + b"!!"


@pytest.mark.parametrize("with_whom", ["", "operators", "cat"])
async def test_shared_data_are_read_and_taken(with_whom: str, tmp_path: Path) -> None:
    async with three(tmp_path, pause=("boss", "ant")) as (_, ant, cat):
        given = await ant.live.datasets.add(points(tmp_path, "secret.txt", SECRET))
        gate = TaskSpec("g", "g", "", gate=True, asks="now?")
        named = cat.node_id if with_whom == "cat" else with_whom
        shared = {SHARED: Raw(msgpack.encode(named))} if named else {}
        await taken(ant, work(ant, "ants", gate, shout(tmp_path, given, after=("g",)), **shared))
        await until(lambda: known_by(cat, "ants"))
        assert await fetched(cat, given.dataset, ant) == bool(with_whom)


@guards
async def test_who_has_the_same_file_needs_nobodys_leave(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people hand in one file; the machine that has it from the first works for the second, whose own
    machine is paused. Without what shows that he has it, it waits."""
    async with three(tmp_path, pause=("boss", "cat")) as (_, ant, cat):
        given = await secret_of(ant, tmp_path)
        await until(lambda: known_by(cat, "ants"))
        same = await cat.live.datasets.add(points(tmp_path, "mine.txt", SECRET))
        assert same.dataset == given.dataset
        event = work(cat, "cats", shout(tmp_path, same))
        whose = event.workflow if guarded else "another workflow"
        shown = await cat.live.datasets.shown(cat.node_id, [same.dataset], whose)
        assert shown
        event = dataclasses.replace(event, more={**event.more, **carrying(shown)})
        (task,) = await taken(cat, event)
        if guarded:
            await until(lambda: in_state([ant, cat], task, TaskState.TERMINATED))
            return
        (honest,) = await taken(cat, work(cat, "honest", shout(tmp_path)))
        await until(lambda: in_state([ant, cat], honest, TaskState.TERMINATED))
        assert not in_state([ant], task, TaskState.TERMINATED)


async def test_a_submission_that_takes_data_of_others_is_refused_in_words(tmp_path: Path) -> None:
    async with three(tmp_path) as (_, ant, cat):
        given = await secret_of(ant, tmp_path)
        await until(lambda: known_by(cat, "ants"))
        theirs = next(iter(cat.table.workflows.values())).spec.tasks[-1].task
        call: Any = SimpleNamespace(
            member="",
            member_node="",
            now=cat.now(),
            rooms=SimpleNamespace(datasets=cat.live.datasets),
        )
        asked = work(cat, "attack", shout(tmp_path, given))
        results = TaskSpec("b", "b", "shout", (InputRef(theirs, 0),))
        for event in (asked, dataclasses.replace(asked, tasks=(results,))):
            with pytest.raises(RefusedError, match="data of ants, which are for me on ant"):
                await attached(call, event, [OPERATORS])
        own = await cat.live.datasets.add(points(tmp_path, "own.txt", b"what cat has"))
        told = await attached(call, work(cat, "own", shout(tmp_path, own)), [OPERATORS])
        assert HAS in told, (
            "whatever comes shows that its submitter has it, also where he is the first"
        )


def test_data_are_named_by_what_is_here_the_first_at_first() -> None:
    table = Table(Settings())
    origins = Origins(SimpleNamespace(table=table))  # type: ignore[arg-type]

    def naming() -> list[str]:
        return [each.name for each in origins.naming("sha256:data")]

    for name in ("first", "second"):
        tasks = (TaskSpec(f"task of {name}", "t", "p", raw=(Dataset("sha256:data"),)),)
        spec = WorkflowSpec(name, name, (1, 0), "ant", "me", tasks)
        origins.on_news(table.join([Workflow(spec, PriorityWish(0, "ant", PRIORITY_LOW))]))
    assert naming() == ["first", "second"]
    origins.on_news(table.let_go(["first"], {}))
    assert naming() == ["second"]
    table.withdraw("second")
    assert naming() == []
