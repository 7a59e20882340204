"""Settings: what a client changes is kept in the file, and shown again."""

from __future__ import annotations

import json
import threading
from itertools import count
from pathlib import Path

import pytest

from agent.settings import editing as viewing
from agent.settings.node_settings import NodeSettings, read_settings
from tests.control.serving import LineClient, Serving

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


async def test_of_changes_that_are_asked_at_once_no_reply_comes_after_one_that_tells_more(
    there: Serving, client: LineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the disk is slow for the first of them."""
    reads = count()

    def slow_at_first(path: Path) -> NodeSettings:
        found = read_settings(path)
        if next(reads) == 0:
            threading.Event().wait(SLOW_S)
        return found

    monkeypatch.setattr(viewing, "read_settings", slow_at_first)
    changes = [{"slots": 3}, {"processor": "share"}, {"memory_gb": 2.5}]
    for number, given in enumerate(changes):
        asked = {"method": "change_settings", "params": given, "id": number}
        client.send(json.dumps({"jsonrpc": "2.0"} | asked))
    heard = [(await client.heard())["result"]["restart"] for _ in changes]
    assert heard == sorted(heard, key=len)
    assert {"slots", "processor", "memory_gb"} <= set(heard[-1])
