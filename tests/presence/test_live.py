"""A live node on a real X display: whoever touches it is given way, in the node itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from agent.api.presence_reasons import HeldBlind, HeldByInput, HelpsIdle
from agent.api.reasons import Reason, reason_of
from agent.api.session import VolunteeringChanged
from agent.control.port import Notice
from agent.node.agent import Agent
from agent.node.options import Options
from agent.paths import Home
from agent.presence.sources.linux import terminal_last_input
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually
from tests.presence.displays import display, own_number, start_display, tidy_up_after

SETTINGS = """
volunteer = "when idle"
[presence]
idle_s = 1
others_cpu_percent = 100
free_memory_mb = 0
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Without terminals: other tests type in some at the same time, as does who runs these."""
    with display(tmp_path) as number:
        none = tmp_path / "no terminals"
        terminals = partial(terminal_last_input, pseudo=none, console=none)
        monkeypatch.setattr("agent.presence.sources.linux.terminal_last_input", terminals)
        monkeypatch.setenv("DISPLAY", number)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        found = Home.at(tmp_path / "home")
        found.prepare()
        found.settings_file.write_text(SETTINGS)
        yield found


async def touch() -> None:
    process = await asyncio.create_subprocess_exec("xdotool", "key", "a")
    assert await process.wait() == 0


async def test_input_on_a_display_reaches_the_node_and_everybody_who_listens(home: Home) -> None:
    service = await Agent.start(home, Options(discovery=False, log_to_files=False))
    told: list[Notice] = []
    service.subscribe(told.append)
    try:
        await eventually(lambda: service.live.presence.volunteering)
        assert isinstance(why(service), HelpsIdle)
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            while not service.live.presence.owner_present:  # with so short an idle time
                await touch()  # one touch may be forgotten before a busy machine looks
        assert isinstance(why(service), HeldByInput)
        await eventually(lambda: service.live.presence.volunteering)
        service.presence.pause(time.time() + 3_600)
        assert service.live.presence.owner_present
        assert [each for each in told if isinstance(each, VolunteeringChanged)][-1].paused
    finally:
        await service.stop()


async def test_a_display_that_goes_away_holds_the_node_back_and_does_not_end_it(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server, number = start_display(tmp_path, f":{own_number()}")
    monkeypatch.setenv("DISPLAY", f":{number}")

    try:
        service = await Agent.start(home, Options(discovery=False, log_to_files=False))
        try:
            await eventually(lambda: service.live.presence.volunteering)
            server.kill()
            await eventually(lambda: service.live.presence.owner_present)
            assert isinstance(why(service), HeldBlind)
        finally:
            await service.stop()
    finally:
        server.kill()
        server.wait()
        tidy_up_after(int(number))


def why(service: Agent) -> Reason:
    """Why this machine helps or not."""
    status = service.now().status
    return reason_of(status.why, status.reason)
