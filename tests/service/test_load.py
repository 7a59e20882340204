"""The load that is told to the flock: measured, and told only where it has moved."""

from __future__ import annotations

import asyncio

import pytest

from agent.presence import load
from agent.presence.load import STEP_PERCENT, Load, watch_load
from tests.hosts.waiting import EVENTUALLY_S_MAX


class Meter:
    """A machine whose clock and use are set here."""

    def __init__(self) -> None:
        self.now_s = self.used_s = 100.0

    def load(self, cores: int) -> Load:
        return Load(lambda: self.now_s, lambda: self.used_s, cores)


@pytest.mark.parametrize(
    ("passed_s", "used_s", "percent"),
    [(10, 10, 25), (10, 0, 0), (10, 80, 100), (10, -5, 0), (0, 1, None)],
)
def test_the_load_is_what_all_programs_used(
    passed_s: float, used_s: float, percent: int | None
) -> None:
    meter = Meter()
    load = meter.load(4)
    meter.now_s += passed_s
    meter.used_s += used_s
    assert load.look() == percent


class Live:
    """Whoever is told, until it was told often enough."""

    def __init__(self, enough: int) -> None:
        self.percent = 0
        self.told: list[int] = []
        self.over, self._enough = asyncio.Event(), enough

    def set_load(self, percent: int) -> None:
        self.percent = percent
        self.told.append(percent)
        if len(self.told) == self._enough:
            self.over.set()


async def test_only_a_change_worth_saying_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([99, 40, 40 + STEP_PERCENT - 1, 40 - STEP_PERCENT + 1, None, 20, 100])
    monkeypatch.setattr(load, "LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(Load, "look", lambda _: next(looks))
    live = Live(3)
    absences = iter([None])

    async with asyncio.timeout(EVENTUALLY_S_MAX):
        await watch_load(lambda: next(absences, live.percent), live.set_load, live.over)
    assert live.told == [40, 20, 100]
