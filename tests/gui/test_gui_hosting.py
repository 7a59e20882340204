"""The agent in the tray's process: its end, also in the moment in which it begins."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent.client import Home
from agent.client.own_agent import OwnAgent
from gui import hosting
from gui.hosting import Hosting
from tests.hosts.waiting import EVENTUALLY_S_MAX


class Agent:
    """Remembers why it was stopped; satisfies ``OwnAgent``."""

    def __init__(self) -> None:
        self.alive = True
        self.stopped: list[str] = []

    def stop(self, reason: str, within_s: float = 30.0) -> bool:
        self.alive = False
        self.stopped.append(f"{reason}, within {within_s} s")
        return True


def test_a_session_that_ends_while_the_agent_begins_has_it_hand_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, begins, may_begin = Agent(), threading.Event(), threading.Event()

    def host(home: Home) -> OwnAgent:
        begins.set()
        assert may_begin.wait(EVENTUALLY_S_MAX)
        return agent

    monkeypatch.setattr(hosting, "host", host)
    hosted = Hosting(Home.at(tmp_path))
    hosted.begin()
    assert begins.wait(EVENTUALLY_S_MAX)
    assert hosted.starting
    assert hosted._thread is not None
    waited = hosted._thread.join

    def join(limit_s: float | None = None) -> None:
        may_begin.set()  # it begins only because its end waits for it
        waited(limit_s)

    monkeypatch.setattr(hosted._thread, "join", join)
    hosted.end_now("the session ends")
    may_begin.set()
    assert [each.partition(",")[0] for each in agent.stopped] == 2 * ["the session ends"]
    assert not hosted.hosts
