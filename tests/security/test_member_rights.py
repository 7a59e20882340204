"""What a member may ask of another machine, by its role and by whose work it is: asked over real links by a
client that asks nobody's leave, with each guard in place and taken out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.api import audit, flock, logs, session, settings, volunteering, work
from agent.api.methods import METHODS
from agent.api.rpc import ErrorCode, Method
from agent.client.errors import RequestError
from agent.client.link import Link
from agent.control import connection
from agent.control.members import hello_for
from agent.control.server import ControlServer
from agent.node.agent import Agent
from tests.driver.nodes import flock_of, services, submit
from tests.hosts.waiting import eventually

GUARDED = pytest.mark.parametrize("guarded", [True, False], ids=["as it is", "guard taken out"])


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[tuple[Agent, Agent, Agent]]:
    """Ant has founded it and serves clients of others; bee and cat are operators; work of bee waits."""
    async with services(tmp_path, "ant", "bee", "cat") as (ant, bee, cat):
        await flock_of(ant, bee, cat)
        servers = [ControlServer(each, each.home.data) for each in (ant, bee)]
        for server, each in zip(servers, (ant, bee), strict=True):
            await server.start()
            each.member_clients.serve(server.serve_member)
        await submit(bee, "wait", workflow="bees")
        await eventually(lambda: all("bees" in each.table.workflows for each in (ant, bee, cat)))
        yield ant, bee, cat
        for server in servers:
            await server.stop()


@asynccontextmanager
async def client(of: Agent, to: Agent) -> AsyncIterator[Link]:
    link = Link(*await of.member_clients.open(to.node_id))
    await link.greet(hello_for("attack", of.name))
    try:
        yield link
    finally:
        await link.close()


async def asked(of: Agent, to: Agent, method: Method[Any, Any], params: Any) -> bool:
    """Whether it was let; any refusal but that of rights counts, so that nothing hides it."""
    async with client(of, to) as link:
        try:
            await link.call(method, params)
        except RequestError as error:
            return bool(error.code != ErrorCode.UNAUTHORISED)
        return True


def unguarded(monkeypatch: pytest.MonkeyPatch, guarded: bool) -> None:
    if not guarded:
        monkeypatch.setattr(connection, "within_rights", lambda _call, _method, params: params)


Question = tuple[Method[Any, Any], Any]
ON_WORK: list[Question] = [
    (work.CANCEL, work.Cancel("bees")),
    (work.RETRY, work.Retry("bees")),
    (work.PRIORITY, work.SetPriority("bees", "interactive")),
    (work.GATE, work.Gate("bees/task 0")),
    (logs.TASK_LOG, logs.TaskLog("bees/task 0", here_only=True)),
]


@GUARDED
@pytest.mark.parametrize(("method", "params"), ON_WORK, ids=[each.name for each, _ in ON_WORK])
async def test_member_acts_on_no_others_work(
    there: tuple[Agent, Agent, Agent],
    monkeypatch: pytest.MonkeyPatch,
    guarded: bool,
    method: Method[Any, Any],
    params: Any,
) -> None:
    unguarded(monkeypatch, guarded)
    ant, bee, cat = there
    assert await asked(cat, ant, method, params) is not guarded
    assert await asked(bee, ant, method, params)  # its own


@GUARDED
async def test_administrator_stops_work_and_forges_no_word_of_its_submitter(
    there: tuple[Agent, Agent, Agent], monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguarded(monkeypatch, guarded)
    ant, bee, _ = there
    for method, params in ON_WORK[1:4]:
        assert await asked(ant, bee, method, params) is not guarded
    assert await asked(ant, bee, *ON_WORK[4])
    assert await asked(ant, bee, *ON_WORK[0])


@pytest.mark.parametrize("with_whom", ["cat", "operators", "everybody"])
async def test_who_is_named_may(there: tuple[Agent, Agent, Agent], with_whom: str) -> None:
    ant, bee, cat = there
    task = work.Task("one", "tell", parameters="wait")
    shared = work.Submit("shared", (task,), shared_with=(with_whom,))
    async with client(bee, ant) as link:
        submitted = await link.call(work.SUBMIT, shared)
    assert await asked(cat, ant, work.CANCEL, work.Cancel(submitted.workflow))


async def test_what_was_submitted_from_elsewhere_is_the_members_that_did(
    there: tuple[Agent, Agent, Agent],
) -> None:
    ant, bee, cat = there
    task = work.Task("one", "tell", parameters="wait")
    async with client(bee, ant) as link:
        submitted = await link.call(work.SUBMIT, work.Submit("far", (task,), submitter="cat"))
    assert not await asked(cat, ant, work.CANCEL, work.Cancel(submitted.workflow))
    assert await asked(bee, ant, work.CANCEL, work.Cancel(submitted.workflow))


@GUARDED
async def test_member_cannot_read_agent_log_or_settings(
    there: tuple[Agent, Agent, Agent], monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguarded(monkeypatch, guarded)
    ant, bee, cat = there
    reads: list[Question] = [
        (logs.AGENT_LOG, logs.AgentLog()),
        (settings.SETTINGS, settings.Settings()),
        (audit.AUDIT, audit.Audit()),
    ]
    for method, params in reads:
        assert await asked(cat, ant, method, params) is not guarded
        assert await asked(cat, bee, method, params) is not guarded
        assert await asked(ant, bee, method, params)  # an administrator's


@GUARDED
async def test_member_cannot_pause_stop_or_set_other_node(
    there: tuple[Agent, Agent, Agent], monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Nor an administrator."""
    ant, bee, cat = there
    if not guarded:
        for name in ("pause", "change_settings"):
            monkeypatch.setitem(METHODS, name, work.STATUS)
    changes: list[Question] = [
        (volunteering.PAUSE, volunteering.Pause(60.0)),
        (settings.CHANGE_SETTINGS, settings.ChangeSettings(slots=2)),
    ]
    for method, params in changes:
        assert await asked(cat, bee, method, params) is not guarded
        assert await asked(ant, bee, method, params) is not guarded
    ends: list[Question] = [
        (session.STOP, session.Stop()),
        (flock.EXPEL, flock.Expel("cat")),
        (flock.INVITE, flock.Invite()),
        (flock.LEAVE, flock.Leave()),
    ]
    for method, params in ends:
        assert not await asked(cat, ant, method, params)


HELPERS: list[Question] = [
    (work.SUBMIT, work.Submit("mine", (work.Task("one", "tell"),))),
    (work.STATUS, work.Status()),
    (work.SHOW, work.Show("bees")),
    (work.CANCEL, work.Cancel("bees")),
    (session.EVENTS, session.Events()),
    (logs.TASK_LOG, logs.TaskLog("bees/task 0", here_only=True)),
    (settings.SETTINGS, settings.Settings()),
]


@GUARDED
async def test_helper_submits_nothing_and_reads_nothing(
    there: tuple[Agent, Agent, Agent], monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    unguarded(monkeypatch, guarded)
    ant, _, cat = there
    assert await asked(cat, ant, *HELPERS[1])
    await ant.flock.administration.upgrade()
    await ant.flock.administration.set_role("cat", "helper", "")
    for method, params in HELPERS:
        assert await asked(cat, ant, method, params) is not guarded
    assert await asked(cat, ant, flock.PEERS, flock.Peers())


async def test_helper_submits_nothing_at_its_own_machine(
    there: tuple[Agent, Agent, Agent],
) -> None:
    """Its agent says so; what a modified one writes into the table is another matter."""
    ant, bee, _ = there
    await ant.flock.administration.upgrade()
    await ant.flock.administration.set_role("bee", "helper", "")
    await eventually(lambda: bee.flock.role_of(bee.node_id) == "helper")
    async with client(ant, bee) as link:
        with pytest.raises(RequestError, match="it runs what others submit, and submits nothing"):
            await link.call(*HELPERS[0])
