"""Settings: what a client changes is kept in the file, and shown again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.service_settings import read_settings
from tests.control.serving import greeted, serving


def test_the_share_of_a_program_is_shown_and_changed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving(tmp_path) as there, greeted(there) as client:
            before = await client.result("settings")
            assert (before["processor"], before["memory_gb"]) == ("spare", 0)
            given = {"processor": "share", "memory_gb": 1.5}
            after = await client.result("change_settings", given)
            assert {name: after[name] for name in given} == given
            assert after["restart"][-2:] == ["processor", "memory_gb"]
            assert after == await client.result("settings")
            kept = read_settings(there.node.home.settings_file)
            assert (kept.processor, kept.memory_gb) == ("share", 1.5)

    asyncio.run(scene())


def test_whether_machines_may_ask_to_be_let_in_is_shown_and_changed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving(tmp_path) as there, greeted(there) as client:
            assert (await client.result("settings"))["join_requests"] is True
            after = await client.result("change_settings", {"join_requests": False})
            assert after["join_requests"] is False
            assert "join_requests" in after["restart"]
            assert not read_settings(there.node.home.settings_file).join_requests

    asyncio.run(scene())
