"""One program and its time, on a clock that the test turns and a process that only notes down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.execution import child as under_test
from agent.execution.child import Broken, Child, Deprived, Ending, Stopped, Succeeded
from agent.execution.groups import Exit
from agent.execution.limits import NO_LIMITS, Limits
from agent.execution.output import OutputLog
from agent.protocol.reasons import CauseKind, EndCause
from tests.execution.places import NotedProcess

GRACE_S = 5.0
CALLS_MAX = 100


@pytest.fixture
async def here(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Running]:
    """A program with the limits that the test is ``limited`` to."""
    time = Time()
    loop = SimpleNamespace(get_running_loop=lambda: time, timeout=asyncio.timeout)
    monkeypatch.setattr(under_test, "time", time)
    monkeypatch.setattr(under_test, "asyncio", loop)
    with closing(Running(tmp_path, time, getattr(request, "param", NO_LIMITS))) as here:
        yield here


def limited(*limits: Limits) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("here", limits, indirect=True)


class Timer:
    """What a loop gives to whoever wants to be called later."""

    def __init__(self, at_s: float, call: Callable[[], None]) -> None:
        self.at_s, self.call, self.over = at_s, call, False

    def cancel(self) -> None:
        self.over = True


class Time:
    """A clock and the timers on it."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self._timers: list[Timer] = []
        self._calls = 0

    def monotonic(self) -> float:
        return self.now_s

    def call_later(self, delay_s: float, call: Callable[[], None]) -> Timer:
        self._timers.append(Timer(self.now_s + delay_s, call))
        return self._timers[-1]

    def get_running_loop(self) -> Time:
        return self

    def pass_s(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        while due := [each for each in self.waiting if each.at_s <= until_s]:
            timer = min(due, key=lambda each: each.at_s)
            self.now_s, timer.over = max(self.now_s, timer.at_s), True
            timer.call()
            self._calls += 1
            assert self._calls < CALLS_MAX, "it wakes again and again"
        self.now_s = until_s

    @property
    def waiting(self) -> list[Timer]:
        return [each for each in self._timers if not each.over]


class Running:
    """A child with its process, and what it told."""

    def __init__(self, folder: Path, time: Time, limits: Limits) -> None:
        self.time = time
        self.log = OutputLog(folder / "log", 10**6)
        self.progress: list[tuple[int, int]] = []
        self.saved: list[str] = []
        self.child = Child(
            self.log, limits, lambda *told: self.progress.append(told), self.saved.append, GRACE_S
        )
        self.process = NotedProcess()
        self.child.attach(self.process)

    def says(self, text: str) -> None:
        self.child.hear(1, f"{text}\n".encode())

    def close(self) -> None:
        self.log.close()

    async def ends(self, found: Exit = Exit(0)) -> Ending:  # noqa: B008 - frozen
        self.process.ended.set_result(found)
        self.process.silent.set_result(None)
        return (await self.child.run())[0]


# -- its time ------------------------------------------------------------------------------------


async def test_its_time_is_the_time_that_it_could_run(here: Running) -> None:
    here.time.pass_s(3)
    for ran_s in (3, 5):
        here.child.suspend()
        here.child.suspend()
        here.time.pass_s(100)
        assert here.child.ran_s == ran_s
        here.child.resume()
        here.child.resume()
        here.time.pass_s(2)
        assert here.child.ran_s == ran_s + 2
    assert here.process.done == ["suspend", "resume", "suspend", "resume"]


@pytest.mark.parametrize(
    ("here", "kind"),
    [
        (Limits(wall_s=60), "RanTooLong"),
        (Limits(silent_s=60), "WasSilent"),
    ],
    indirect=["here"],
    ids=["too long", "too silent"],
)
async def test_one_beyond_its_limit_hears_cancel_then_and_is_ended_after_the_grace_time(
    here: Running, kind: CauseKind
) -> None:
    here.time.pass_s(20)
    here.child.suspend()
    here.time.pass_s(1_000)
    here.child.resume()
    here.process.done.clear()
    cancelled, killed = ["CANCEL"], ["CANCEL", "kill"]
    for after_s, done in (
        (39.875, []),
        (0.125, cancelled),
        (GRACE_S - 0.125, cancelled),
        (0.125, killed),
    ):
        here.time.pass_s(after_s)
        assert here.process.done == done
    assert await here.ends(Exit(-9)) == Broken(EndCause(kind, limit=60))
    assert here.process.done == ["CANCEL", "kill", "close"]


@limited(Limits(silent_s=60))
async def test_whoever_prints_now_and_then_is_not_silent(here: Running) -> None:
    for file in (1, 2, 1):
        here.time.pass_s(50)
        here.child.hear(file, b".")
    here.time.pass_s(59)
    assert here.process.done == []
    here.time.pass_s(1)
    assert here.process.done == ["CANCEL"]


@limited(NO_LIMITS, Limits(wall_s=10**6, silent_s=10**6))
async def test_within_its_limits_nobody_disturbs_it(here: Running) -> None:
    here.time.pass_s(10**6 - 1)
    assert here.process.done == []
    assert await here.ends() == Succeeded(None)
    assert here.time.waiting == [], "nothing of it is waited for any more"


@limited(Limits(wall_s=2))
async def test_one_that_has_said_its_last_word_has_a_grace_time_and_no_other_limit(
    here: Running,
) -> None:
    here.says("TERMINATED 17")
    here.time.pass_s(GRACE_S - 1)
    here.says("ERROR but no")
    assert here.process.done == [], "its time is over, and it is not told so"
    here.time.pass_s(1)
    assert here.process.done == ["kill"]
    assert await here.ends(Exit(-9)) == Succeeded(("17",))


# -- its progress --------------------------------------------------------------------------------


async def test_progress_is_told_with_the_time_that_is_left_but_not_all_of_it(
    here: Running,
) -> None:
    """And so is a saved state."""
    for after_s, said in ((10, (0, 20)), (0.19, (21,)), (0.01, (0, 30, 31)), (9.8, (100,))):
        here.time.pass_s(after_s)
        for percent in said:
            here.says(f"PROGRESS {percent}")
    here.says("CHECKPOINT state")
    assert here.progress == [(200, 40_000), (300, 23_800), (1000, 0)]
    assert here.saved == ["state"]


@pytest.mark.parametrize("suspended", [True, False])
async def test_a_suspended_one_is_ended_at_once_and_killed_it_counts_as_stopped(
    here: Running, suspended: bool
) -> None:
    if suspended:
        here.child.suspend()
        here.child.stop()
    else:
        here.child.kill()
    assert here.process.done == ["suspend"] * suspended + ["kill"]
    assert await here.ends(Exit(-9)) == Stopped()


async def test_however_slow_it_is_what_is_left_fits_into_a_message(here: Running) -> None:
    here.time.pass_s(2.0**50)
    here.says("PROGRESS 0.1")
    assert here.progress == [(1, 2**50)]


# -- its end -------------------------------------------------------------------------------------


@limited(Limits(wall_s=3))
async def test_asked_to_stop_it_hears_so_once_and_is_ended_after_the_grace_time(
    here: Running,
) -> None:
    here.child.stop()
    here.time.pass_s(GRACE_S - 1)
    here.child.stop()
    here.child.suspend()
    assert here.process.done == ["CANCEL"]
    here.time.pass_s(1)
    assert here.process.done == ["CANCEL", "kill"]
    here.time.pass_s(100)
    assert here.process.done == ["CANCEL", "kill"]


def test_whatever_is_asked_before_it_is_there_does_nothing(tmp_path: Path) -> None:
    child = Child(OutputLog(tmp_path / "log", 1), NO_LIMITS, lambda *_: None, lambda _: None)
    for ask in (child.suspend, child.resume, child.stop):
        ask()
    assert child._suspended_at is None
    assert not child._stopping


@limited(Limits(memory_mb=1500, disk_mb=1200))
@pytest.mark.parametrize(
    ("said", "found", "ending"),
    [
        ("", Exit(0), Succeeded(None)),
        ("TERMINATED", Exit(3), Succeeded(None)),
        ("TERMINATED 17 18", Exit(0), Succeeded(("17", "18"))),
        ("", Exit(3), Broken(EndCause("ExitCode", count=3))),
        ("", Exit(-11), Broken(EndCause("Signal", count=11))),
        ("ERROR no such file", Exit(0), Broken(EndCause("SaidError", error="no such file"))),
        ("ERROR", Exit(0), Broken(EndCause("SaidOnlyError"))),
        ("CANCELLED", Exit(0), Broken(EndCause("EndedItself"))),
        (
            "",
            Exit(-9, "memory", 2_000_000_000),
            Broken(EndCause("TookMemory", took_bytes=2_000_000_000, limit_bytes=1_500_000_000)),
        ),
        (
            "",
            Exit(-9, "disk", 30_000_000),
            Broken(EndCause("WroteTooMuch", took_bytes=30_000_000, limit_bytes=1_200_000_000)),
        ),
        (
            "",
            Exit(-9, "full", 400_000),
            Deprived(EndCause("DiskLeft", took_bytes=400_000)),
        ),
        (
            "ERROR it is full",
            Exit(-9, "full", 1),
            Broken(EndCause("SaidError", error="it is full")),
        ),
    ],
)
async def test_how_it_ended_is_said_by_its_words_first(
    here: Running, said: str, found: Exit, ending: Ending
) -> None:
    if said:
        here.says(said)
    assert await here.ends(found) == ending


@pytest.mark.parametrize(
    ("said", "ending"),
    [
        ("TERMINATED 17", Succeeded(("17",))),
        ("ERROR no", Stopped()),
        ("CANCELLED", Stopped()),
        ("", Stopped()),
    ],
)
async def test_one_that_was_asked_to_stop_may_still_succeed(
    here: Running, said: str, ending: Ending
) -> None:
    here.child.stop()
    if said:
        here.says(said)
    assert await here.ends(Exit(1)) == ending


async def test_its_last_words_may_come_after_its_end_and_without_one(here: Running) -> None:
    here.process.ended.set_result(Exit(0))
    running = asyncio.create_task(here.child.run())
    await asyncio.sleep(0)
    here.child.hear(1, b"TERMINATED 17")
    here.process.silent.set_result(None)
    assert await running == (Succeeded(("17",)), Exit(0))


async def test_one_whose_pipes_stay_open_is_not_waited_for_for_ever(
    here: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "LAST_WORDS_S", 0.01)
    here.process.ended.set_result(Exit(0))
    assert await here.child.run() == (Succeeded(None), Exit(0))
    assert here.process.done == ["close"]


async def test_nobody_waits_for_it_any_more_so_it_is_ended(here: Running) -> None:
    running = asyncio.create_task(here.child.run())
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert here.process.done == ["kill"]
