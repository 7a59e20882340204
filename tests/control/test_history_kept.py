"""What is kept and told again: what became of tasks, lines of the log, and settings in their file."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from agent.api.errors import ServiceError
from agent.api.logs import AgentLog
from agent.api.rpc import ErrorCode
from agent.history.log_reading import read_lines
from agent.history.task_history import OF_A_PROGRAM_MAX, TaskHistory
from agent.host import logs
from agent.paths import TASK_LOGS, task_log
from agent.protocol.likeness import Kind
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.settings import editing as viewing
from agent.settings.editing import Value, keep_changes, with_values
from agent.settings.layers import Settled, read_settings, settle
from agent.storage.history import FILE, History, TaskRow
from tests.certain import certain
from tests.control.serving import LineClient, Serving, greeted, serving, workflow


async def test_what_became_of_tasks_is_kept_with_why_they_moved(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await client.result("submit", workflow())
        there.node.volunteer()
        for _ in range(3):
            there.node.fail(next(iter(there.node.runs)))
        there.node.succeed(next(iter(there.node.runs)))
        tasks = (await client.result("history"))["tasks"]
        failed = next(each for each in tasks if each["state"] == "Aborted" and each["moved"])
        assert failed["attempts"] == 3
        assert failed["moved"] == ["it failed on birch: no film in the camera"] * 3
        runs = await client.result("runs", {"task": failed["task"]})
        assert [run["phase"] for run in runs["tasks"][0]["runs"]] == ["Failed"] * 3
        end = runs["tasks"][0]["runs"][0]["why"]
        no_film = {"reason": "EndCause", "kind": "SaidError", "error": "no film in the camera"}
        assert end == {"reason": "RunEnd", "kind": "Failed", "host": "birch", "why": no_film}
        assert failed["whys"] == [end] * 3
        assert failed["why"]["cause"] == no_film
        assert runs["tasks"][0]["runs"][0]["spans"][-1]["phase"] == "Failed"
    async with serving(tmp_path) as there, greeted(there) as client:
        assert (await client.result("history"))["total"] == len(tasks)


async def test_a_disk_that_refuses_is_told_in_one_sentence(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await client.result("submit", workflow())
        there.node.volunteer()
        task = next(iter(there.node.runs))
        printed = task_log(Path(there.node.known.log_folder) / TASK_LOGS, task, 1, 1)
        printed.mkdir(parents=True)
        code, sentence = await client.refusal("task_log", {"task": task})
        assert code == ErrorCode.REFUSED
        assert sentence.startswith("the system refuses what task_log needs here: ")
        assert sentence.endswith(f": {printed}")
        certain(there.node.history._history)._connection.execute("DROP TABLE past")
        sentence = "the history on this disk cannot be read: no such table: past"
        assert await client.refusal("past") == (ErrorCode.REFUSED, sentence)
        await client.result("status")


async def test_what_earlier_runs_took_is_known_after_a_restart(tmp_path: Path) -> None:
    """Of each program the latest, the latest of them last."""
    table = Table(Settings())
    kept = TaskHistory(tmp_path, tmp_path, lambda: table, str, str)
    await kept.start()
    assert kept.remembered == ()
    await kept.stop()
    history = History.open(tmp_path / FILE)
    row: dict[str, Any] = dict.fromkeys(TaskRow._fields, 0) | {"host_node": "elm"}
    lengths = [json.dumps(["copy", "copy", 0, 7, 3, n + 1]) for n in range(OF_A_PROGRAM_MAX + 9)]
    lengths[-2:] = ["", "{"]
    rows = [
        TaskRow(**row | {"task": str(n), "ended_ms": n, "length": length})
        for n, length in enumerate(lengths)
    ]
    history.write(rows, {})
    history.close()
    kept = TaskHistory(tmp_path, tmp_path, lambda: table, str, str)
    await kept.start()
    await kept.stop()
    told = kept.remembered
    assert (len(told), told[0].ran_ms, told[-1].ran_ms) == (
        OF_A_PROGRAM_MAX,
        8,
        OF_A_PROGRAM_MAX + 7,
    )
    assert told[-1][1:3] == (Kind("copy", "copy", 0, 7, 3), "elm")


async def test_why_a_task_moved_is_known_after_the_agent_has_begun_anew(tmp_path: Path) -> None:
    async with serving(tmp_path) as there, greeted(there) as client:
        await client.result("submit", {"name": "one", "tasks": [{"id": "a", "program": "copy"}]})
        there.node.volunteer()
        there.node.fail(next(iter(there.node.runs)))
        there.node.succeed(next(iter(there.node.runs)))
        before = (await client.result("why", {"task": "one/a"}))["moves"]
        assert [move["what"] for move in before] == [
            *("ready", "claimed by birch", "fetching inputs on birch", "running on birch"),
            *("ready", "claimed by birch", "fetching inputs on birch", "running on birch"),
            "done on birch",
        ]
        task = (await client.result("history"))["tasks"][0]["task"]
    async with serving(tmp_path) as there, greeted(there) as client:  # its table is gone, too
        after = await client.result("why", {"task": task})
        assert after["moves"] == before
        assert after["now"] == "a finished on birch"


def test_lines_of_the_log_are_filtered_and_followed_over_a_change_of_files(tmp_path: Path) -> None:
    end = logs.begin(tmp_path)
    log = logging.getLogger("agent.something")
    try:
        for number in range(5):
            log.info("step %d", number)
        log.warning("the disk is\nfull")
        log.log(logs.NORMAL, "done")
        found = read_lines(tmp_path, AgentLog(limit=3))
        assert [each.text for each in found.lines] == ["step 4", "the disk is\n    full", "done"]
        assert [each.severity for each in found.lines] == ["info", "warning", "normal"]
        severe = read_lines(tmp_path, AgentLog("", "warning", "DISK"))
        assert (len(severe.lines), severe.matching) == (1, 1)
        (tmp_path / logs.FILE).rename(tmp_path / f"{logs.FILE}.1")
        (tmp_path / logs.FILE).write_text("[2026-01-02 03:04:05]: <error> later\n")
        later = read_lines(tmp_path, AgentLog(found.after))
        assert [each.text for each in later.lines] == ["later"]
        assert not later.skipped
        assert read_lines(tmp_path, AgentLog(later.after)).lines == ()
        assert read_lines(tmp_path, AgentLog("1:0")).skipped
    finally:
        end()


def test_settings_are_changed_and_everything_else_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('# mine\nslots = 2 # two\ntags = [\n  "gpu",\n]\n[presence]\nidle_s = 60\n')
    kept = keep_changes(path, {"slots": 4, "tags": ["fast", "gpu"]})
    assert (kept.slots, kept.tags, kept.presence.idle_s) == (4, ("fast", "gpu"), 60)
    assert "# mine" in path.read_text()
    with pytest.raises(ServiceError, match="slots is 900"):
        keep_changes(path, {"slots": 900})
    assert keep_changes(path, {"name": "oak"}).slots == 4
    text = 'note = """\nslots = 1\n"""\n'
    assert with_values(text, {"slots": 2}) == "slots = 2\n" + text


def test_a_file_with_the_line_ends_of_windows_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b'# mine\r\nslots = 2\r\nname = "oak"\r\n')
    keep_changes(path, {"slots": 4, "tags": ["gpu"]})
    assert path.read_bytes() == b'tags = ["gpu"]\r\n# mine\r\nslots = 4\r\nname = "oak"\r\n'


def test_a_writer_that_would_lose_something_else_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('slots = 2\nname = "oak"\n')
    whole = tomlkit.dumps
    monkeypatch.setattr(
        tomlkit, "dumps", lambda document: whole(document).replace('name = "oak"\n', "")
    )
    with pytest.raises(ServiceError, match="something else in it would change"):
        keep_changes(path, {"slots": 4})
    assert path.read_text() == 'slots = 2\nname = "oak"\n'


def test_settings_that_are_changed_at_once_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.toml"
    changes: list[dict[str, Value]] = [
        {"slots": 3},
        {"tags": ["gpu"]},
        {"processor": "share"},
        {"memory_gb": 2.5},
        {"datasets_gb": 7.0},
    ]
    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(lambda change: keep_changes(path, change), changes))
    kept = keep_changes(path, {})
    assert (kept.slots, kept.tags, kept.processor) == (3, ("gpu",), "share")
    assert (kept.memory_gb, kept.datasets_gb) == (2.5, 7.0)


SLOW_S = 0.3


async def test_the_share_of_a_program_is_shown_and_changed(
    there: Serving, client: LineClient
) -> None:
    before = await client.result("settings")
    assert (before["processor"], before["memory_gb"]) == ("spare", 0)
    given = {"processor": "share", "memory_gb": 1.5}
    after = await client.result("change_settings", given)
    assert {name: after[name] for name in given} == given
    assert after["restart"][-2:] == ["processor", "memory_gb"]
    assert after == await client.result("settings")
    kept = read_settings(there.node.home.settings_file)
    assert (kept.processor, kept.memory_gb) == ("share", 1.5)


async def test_whether_machines_may_ask_to_be_let_in_is_shown_and_changed(
    there: Serving, client: LineClient
) -> None:
    assert (await client.result("settings"))["join_requests"] is True
    after = await client.result("change_settings", {"join_requests": False})
    assert after["join_requests"] is False
    assert "join_requests" in after["restart"]
    assert not read_settings(there.node.home.settings_file).join_requests


async def test_whether_a_machine_stays_awake_for_work_is_shown_and_changed(
    there: Serving, client: LineClient
) -> None:
    assert (await client.result("settings"))["keep_awake"] is True
    after = await client.result("change_settings", {"keep_awake": False})
    assert (after["keep_awake"], after["restart"][-1]) == (False, "keep_awake")
    assert not read_settings(there.node.home.settings_file).keep_awake


async def test_whether_others_may_wake_a_machine_is_shown_and_changed(
    there: Serving, client: LineClient
) -> None:
    assert (await client.result("settings"))["wakeable"] is False
    after = await client.result("change_settings", {"wakeable": True})
    assert (after["wakeable"], after["restart"][-1]) == (True, "wakeable")
    assert read_settings(there.node.home.settings_file).wakeable


async def test_of_changes_that_are_asked_at_once_no_reply_comes_after_one_that_tells_more(
    there: Serving, client: LineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the disk is slow for the first of them."""
    reads = count()

    def slow_at_first(path: Path, *others: Any) -> Settled:
        found = settle(path, *others)
        if next(reads) == 0:
            threading.Event().wait(SLOW_S)
        return found

    monkeypatch.setattr(viewing, "settle", slow_at_first)
    changes = [{"slots": 3}, {"processor": "share"}, {"memory_gb": 2.5}]
    for number, given in enumerate(changes):
        asked = {"method": "change_settings", "params": given, "id": number}
        client.send(json.dumps({"jsonrpc": "2.0"} | asked))
    heard = [(await client.heard())["result"]["restart"] for _ in changes]
    assert heard == sorted(heard, key=len)
    assert {"slots", "processor", "memory_gb"} <= set(heard[-1])
