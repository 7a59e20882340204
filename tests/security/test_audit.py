"""The audit: what was done stands in it, and nothing is changed, taken out, put in or cut off unseen."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from agent.api import audit as api
from agent.api import settings, work
from agent.api.audit import CHECKPOINT, AuditEntry
from agent.client.errors import RequestError
from agent.flock.audit_heads import AuditHeads
from agent.history import audit
from agent.history.audit import NOW, REFUSED_MAX, AuditLog, hash_of
from agent.net import certificates
from agent.node.agent import Agent
from tests.certain import certain
from tests.driver.nodes import submit
from tests.hosts.waiting import eventually
from tests.security.test_member_rights import asked, client, there

__all__ = ["there"]
KEY = certificates.new_key()


async def written(folder: Path, *acts: str) -> AuditLog:
    log = AuditLog(folder, lambda: KEY)
    for each in acts:
        log.note("ada", each, "survey", "this machine")
        await log.close()
    return log


async def all_of(log: AuditLog) -> list[AuditEntry]:
    return list((await log.entries(1, 10_000))[0])


async def test_entries_are_chained_and_go_on_after_a_restart(tmp_path: Path) -> None:
    await written(tmp_path, "cancel", "retry")
    log = await written(tmp_path, "remove")
    found = await all_of(log)
    assert [(each.number, each.what) for each in found] == [
        (1, "cancel"),
        (2, "retry"),
        (3, "remove"),
    ]
    assert [each.before for each in found] == ["", hash_of(found[0]), hash_of(found[1])]
    assert log.first_broken(found, {}) == (0, None)
    assert log.head == (3, hash_of(found[2]))
    assert (await log.entries(0, 2))[0] == tuple(found[1:])


Change = Callable[[list[AuditEntry]], Sequence[AuditEntry]]


@pytest.mark.parametrize(
    ("change", "number", "why"),
    [
        (lambda told: [told[0], replace(told[1], who="eve"), *told[2:]], 2, "signed"),
        (lambda told: [told[0], *told[2:]], 3, "does not follow"),
        (lambda told: [told[0], told[2], told[1], told[3]], 3, "does not follow"),
        (lambda told: [told[0], told[0], *told[1:]], 1, "does not follow"),
        (lambda told: told[1:], 2, "missing"),
        (lambda told: told[:3], 4, "cut off"),
        (lambda _: [], 1, "cut off"),
        (lambda told: [*told[:3], replace(told[3], signature="00")], 4, "signed"),
    ],
)
async def test_the_first_entry_that_is_wrong_is_named(
    tmp_path: Path, change: Change, number: int, why: str
) -> None:
    log = await written(tmp_path, *"abcd")
    found = await all_of(log)
    witnessed = dict([log.head])
    assert log.first_broken(found, witnessed) == (0, None)
    broken, told = log.first_broken(change(found), witnessed)
    assert (broken, why in str(told)) == (number, True), told


async def test_what_is_written_anew_with_the_right_key_is_known_by_others(tmp_path: Path) -> None:
    """Whoever has the machine's account has its key, too."""
    log = await written(tmp_path / "a", *"abcd")
    forged = await all_of(await written(tmp_path / "b", *"abxyz"))
    assert log.first_broken(forged, {}) == (0, None)
    broken, told = log.first_broken(forged, dict([log.head]))
    assert (broken, "written anew" in str(told)) == (4, True)


async def test_it_takes_no_more_room_than_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "FILE_BYTES_MAX", 3_000)
    log = await written(tmp_path, *(str(number) for number in range(40)))
    found = await all_of(log)
    assert found[0].number > 1
    assert found[0].what == CHECKPOINT
    assert log.first_broken(found, dict([log.head])) == (0, None)
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 3 * 3_000
    assert log.first_broken(found[1:], {})[0] == found[1].number


async def test_a_torn_line_is_kept_apart_and_the_chain_goes_on(tmp_path: Path) -> None:
    await written(tmp_path, *"abc")
    path = tmp_path / NOW
    path.write_bytes(path.read_bytes()[:-20])
    log = await written(tmp_path, "d")
    found = await all_of(log)
    assert [each.what for each in found] == ["a", "b", CHECKPOINT, "d"]
    assert log.first_broken(found, {}) == (0, None)


async def test_who_is_refused_again_and_again_pushes_nothing_out(tmp_path: Path) -> None:
    log = await written(tmp_path, "cancel")
    for _ in range(10 * REFUSED_MAX):
        log.note("eve", "stop", "", "another machine", "refused: unauthorised")
    log.note("ada", "retry")
    await log.close()
    found = await all_of(log)
    assert len(found) <= REFUSED_MAX + 3
    assert (found[0].what, found[-2].what, found[-1].what) == ("cancel", "retry", "not noted")
    assert found[-1].on == str(9 * REFUSED_MAX)


def test_a_shorter_or_another_end_is_told_and_remembered(tmp_path: Path) -> None:
    heads = AuditHeads(tmp_path / "heads.json")
    assert heads.heard("bee", 5, "e5")
    assert heads.heard("bee", 9, "e9")
    assert not heads.heard("bee", 9, "e9")
    heads.save()
    again = AuditHeads(tmp_path / "heads.json")
    again.load()
    assert again.of("bee") == {5: "e5", 9: "e9"}
    for number, value in ((7, "e7"), (9, "other"), (0, "")):
        again.cut.clear()
        assert not again.heard("bee", number, value)
        assert again.cut == {"bee": 9}


# -- live ------------------------------------------------------------------------------------------


async def noted(agent: Agent) -> list[tuple[str, str, str]]:
    found, _ = await agent.live.audit.entries(1, 1_000)
    return [(each.what, each.on, each.outcome) for each in found]


async def test_what_members_do_and_are_refused_stands_in_the_audit(
    there: tuple[Agent, Agent, Agent],
) -> None:
    ant, bee, cat = there
    assert not await asked(cat, ant, work.CANCEL, work.Cancel("bees"))
    assert not await asked(cat, ant, settings.SETTINGS, settings.Settings())
    assert await asked(bee, ant, work.CANCEL, work.Cancel("bees"))
    await ant.flock.administration.upgrade()
    await ant.flock.administration.set_role("cat", "helper", "")
    found = await noted(ant)
    workflow = next(iter(ant.table.workflows))
    assert ("cancel", "bees", "refused: unauthorised") in found
    assert ("settings", "", "refused: unauthorised") in found
    assert ("cancel", "bees", "done") in found or ("cancel", workflow, "done") in found
    assert ("flock: role helper", "cat", "done") in found
    assert any(what == "flock: let in" for what, _, _ in found)
    by, _ = await ant.live.audit.entries(1, 1_000)
    assert {each.who for each in by if each.what == "cancel"} == {
        f"cat ({cat.node_id})",
        f"bee ({bee.node_id})",
    }


async def test_a_tail_that_is_cut_off_is_noticed_by_others(
    there: tuple[Agent, Agent, Agent],
) -> None:
    """Ant shortens its own audit, with all rights on its machine, and starts anew."""
    ant, bee, _ = there
    for number in range(3):
        await submit(ant, "say TERMINATED", workflow=f"own{number}")
        ant.live.audit.note("owner", "cancel", f"own{number}")
    await ant.live.audit.close()
    certain(ant.network)._tell_audit()
    heads = certain(bee.network).audits
    had, _ = ant.live.audit.head
    await eventually(lambda: had in heads.of(ant.node_id))
    path = ant.home.data / "audit" / NOW
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    shortened = AuditLog(path.parent, lambda: certain(ant.network).membership._own.key)
    await shortened.open()
    certain(ant.network).follow_audit(shortened)
    certain(ant.network)._tell_audit()
    await eventually(lambda: ant.node_id in heads.cut)
    told = [str(each) for each in bee.flock.administration.waiting()]
    assert any("AuditCut" in each for each in told)
    broken, why = shortened.first_broken(
        (await shortened.entries(1, 100))[0], heads.of(ant.node_id)
    )
    assert (broken, "cut off" in str(why)) == (had - 1, True)


async def test_an_administrator_checks_the_audit_of_another_machine(
    there: tuple[Agent, Agent, Agent],
) -> None:
    ant, bee, cat = there
    bee.live.audit.note("owner", "remove", "survey")
    await bee.live.audit.close()
    async with client(ant, bee) as link:
        reply = await link.call(api.AUDIT, api.Audit(1))
    assert reply.entries[-1].what == "remove"
    async with client(cat, bee) as link:
        with pytest.raises(RequestError, match="administrators of the flock"):
            await link.call(api.AUDIT, api.Audit())
    lines = (bee.home.data / "audit" / NOW).read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(1, len(lines) + 1))
    assert msgspec.json.decode(lines[-1], type=AuditEntry) is not None
