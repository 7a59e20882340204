"""What holds for all tests of presence: who is asked may take its time.

A source waits a second for an answer, which is a long time for a desktop and may be a short one on a
machine that runs many tests. None of them is about how long a source waits.
"""

from __future__ import annotations

import sys

import pytest

from tests.hosts.waiting import EVENTUALLY_S_MAX

ASKING = () if sys.platform == "win32" else ("bus", "wayland", "x11")


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ASKING:
        monkeypatch.setattr(f"agent.presence.sources.{each}.ANSWER_WITHIN_S", EVENTUALLY_S_MAX)
