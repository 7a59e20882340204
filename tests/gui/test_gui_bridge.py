"""The bridge between two threads, with an agent that is held: what it asks, tells, and lets be."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import SIGNAL, QObject, Signal
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from agent.api.admission import NEARBY
from agent.api.audit import CHECK_AUDIT
from agent.api.datasets import DATASETS, DatasetsReply
from agent.api.flock import DOCTOR
from agent.api.history import RUNS, STATISTICS, Statistics
from agent.api.logs import TaskLog, TaskLogPart
from agent.api.past import PAST
from agent.api.permissions import SCRIPTS
from agent.api.reasons import CancelledStopping, as_why
from agent.api.values import TaskState
from agent.api.volunteering import RUNNING_PROGRAMS
from agent.api.work import WHY
from agent.client import ClientError, Home
from gui.bridge import bridge as bridge_module
from gui.bridge import following
from gui.bridge.bridge import ONLY_ASKING, SWITCH_S, Bridge
from gui.model.notices import Answering
from gui.model.screen import Screen
from gui.views.view_context import READ_AGAIN_MS, ViewContext
from tests.gui.acts import WITHIN_MS
from tests.gui.conftest import ended
from tests.gui.held import REPLIES, HeldAgent, WatchedBridge
from tests.gui.test_gui_following import JumpingLoop
from tests.gui.values import happened, moved, shown, status, task, workflow


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> HeldAgent:
    made = HeldAgent()
    for module in (bridge_module, following):
        monkeypatch.setattr(module, "Client", made)
    return made


@pytest.fixture
def bridge(agent: HeldAgent, qapp: QApplication, tmp_path: Path) -> Iterator[WatchedBridge]:
    made = WatchedBridge(Home.at(tmp_path), agent)
    made.start()
    yield made
    made.stop()


def until(qtbot: QtBot, true: Callable[[], bool]) -> None:
    qtbot.waitUntil(true, timeout=WITHIN_MS)


def part(text: str, end: int, *, over: bool) -> TaskLogPart:
    return TaskLogPart("t", "r", "acor", text, end - len(text), end, 12, over)


def test_a_log_is_followed_from_an_offset_to_its_end(
    qtbot: QtBot, agent: HeldAgent, bridge: WatchedBridge
) -> None:
    asker, heard = QObject(), list[str]()
    bridge.follow_log(
        asker, TaskLog("t", "r", 5), lambda each: heard.append(each.text), heard.append
    )
    for text, begin, end, over in (("and", 5, 8, False), ("so", 8, 10, True), ("on", 10, 12, True)):
        wish = TaskLog("t", "r", begin, 64 * 1024, 20.0)
        until(qtbot, lambda wish=wish: wish in agent.params())  # type: ignore[misc]
        agent.answer("task_log", part(text, end, over=over))
    until(qtbot, lambda: len(heard) == 3)
    until(qtbot, lambda: bridge.under_way() == 0)
    assert heard == ["and", "so", "on"]


def test_a_client_is_closed_with_its_asker_or_with_the_bridge(
    qtbot: QtBot, agent: HeldAgent, bridge: WatchedBridge
) -> None:
    first, second = QObject(), QObject()
    bridge.client(first)
    bridge.client(second)
    Shiboken.delete(first)
    until(qtbot, lambda: agent.closed == 1)
    bridge.stop()
    assert agent.closed == 2
    Shiboken.delete(second)
    assert agent.closed == 2


def test_work_has_a_client_of_its_own_of_the_machine_that_is_named(
    qtbot: QtBot, agent: HeldAgent, bridge: WatchedBridge
) -> None:
    asker, heard = QObject(), list[object]()

    async def told(client: object) -> object:
        return client is agent

    bridge.client_work(asker, told, heard.append, node="garajau")
    until(qtbot, lambda: heard == [True])
    assert ("window", "garajau") in agent.greeted()
    assert ("window", "") in agent.greeted()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ClientError("no"), "No."),
        (FileNotFoundError(2, "No such file", "a.las"), "a.las: No such file."),
        (OSError(28, "No space left"), "No space left."),
    ],
)
def test_why_work_failed_is_a_sentence(
    qtbot: QtBot, bridge: WatchedBridge, error: Exception, said: str
) -> None:
    asker, done, failed = QObject(), list[object](), list[str]()

    async def fail() -> None:
        raise error

    bridge.work(asker, fail, done.append, failed.append)
    until(qtbot, lambda: bool(failed))
    assert (done, failed) == ([], [said])


ASKS = (NEARBY, PAST, RUNNING_PROGRAMS, RUNS, SCRIPTS, STATISTICS, WHY)


def test_what_only_asks_is_known(qtbot: QtBot, agent: HeldAgent, bridge: WatchedBridge) -> None:
    assert {each.name for each in (*ASKS, CHECK_AUDIT, DATASETS, DOCTOR)} == ONLY_ASKING
    asker, heard = QObject(), list[object]()
    until(qtbot, lambda: bridge._follower._client is not None)
    bridge.ask(asker, STATISTICS, Statistics(4), heard.append)
    until(qtbot, lambda: Statistics(4) in agent.params())
    agent.release(good=True)
    until(qtbot, lambda: heard == [REPLIES["statistics"]])


def test_an_asker_is_listened_to_once(
    qtbot: QtBot, agent: HeldAgent, bridge: WatchedBridge
) -> None:
    asker, counts = QObject(), list[int]()
    for _ in range(3):
        bridge.work(asker, lambda: agent.hold("wait"))
        counts.append(asker.receivers(SIGNAL("destroyed()")))
    assert counts[0] == counts[1] == counts[2] > 0


def test_a_part_may_come_before_the_end_only(qtbot: QtBot, bridge: WatchedBridge) -> None:
    asker, heard = QObject(), list[object]()

    async def work() -> str:
        for number in range(3):
            bridge.tell(asker, heard.append, number)
        return "end"

    bridge.work(asker, work, heard.append)
    until(qtbot, lambda: len(heard) == 4)
    assert heard == [0, 1, 2, "end"]


def test_the_end_calls_all_off_and_tells_nothing(
    qtbot: QtBot, agent: HeldAgent, bridge: WatchedBridge
) -> None:
    asker, heard = QObject(), list[object]()
    bridge.bundle.connect(heard.append)
    bridge.want("line-42")  # what came first may have come before anybody listened
    until(qtbot, lambda: bool(heard))

    async def wait() -> object:
        return await agent.hold("wait")

    bridge.work(asker, wait, heard.append, heard.append, act=True)
    until(qtbot, lambda: "wait" in agent.waiting())
    heard.clear()
    bridge.tell(asker, heard.append, "on its way")
    bridge.stop()
    assert not bridge._thread.is_alive()
    assert "wait" in agent.called_off()
    bridge.work(asker, wait, heard.append, heard.append)
    bridge.tell(asker, heard.append, "too late")
    bridge.want("line-42")
    QApplication.processEvents()
    assert heard == []
    assert sys.getswitchinterval() <= SWITCH_S


def test_notices_come_in_bundles_ten_times_a_second_at_most(
    qapp: QApplication, tmp_path: Path
) -> None:
    bridge = Bridge(Home.at(tmp_path))
    bridge._loop.close()
    loop = JumpingLoop()
    loop._now_s = 100.0
    bridge._loop = loop
    bundles: list[tuple[float, int]] = []
    bridge.bundle.connect(lambda bundle: bundles.append((round(loop.time(), 3), len(bundle))))

    async def tell() -> None:
        for _ in range(10):
            bridge._tell(Answering())
            await asyncio.sleep(0.03)
        await asyncio.sleep(1.0)
        bridge._tell(Answering())
        await asyncio.sleep(1.0)

    loop.run_until_complete(tell())
    loop.close()
    assert bundles == [(100.005, 1), (100.105, 3), (100.205, 3), (100.305, 3), (101.305, 1)]


def test_starting_returns_when_it_can_be_asked(
    agent: HeldAgent, qapp: QApplication, tmp_path: Path
) -> None:
    bridge = Bridge(Home.at(tmp_path))
    begin_s = time.monotonic()
    bridge.start()
    assert bridge._ready.is_set()
    bridge.want_flock()
    bridge.stop()
    assert not bridge._thread.is_alive()
    assert time.monotonic() - begin_s < bridge_module.STOP_S_MAX
    bridge.stop()


# -- what is asked again of a workflow that is looked at: no more than events leave out ------


NAME = "line-42"


class Asked(QObject):
    """Stands for the bridge, and notes what it is asked."""

    bundle = Signal(object)
    unheard = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def want(self, name: str) -> None:
        self.noted.append(f"tasks of {name}")

    def want_outlook(self, name: str) -> None:
        self.noted.append(f"outlook of {name}")

    def ask(self, _asker: QObject, method: Any, _params: Any, done: Any, *_: Any) -> None:
        self.noted.append(method.name)
        done(DatasetsReply((), 0))


@pytest.fixture
def asked(qapp: QObject) -> Asked:
    del qapp
    return Asked()


@pytest.fixture
def context(asked: Asked, tmp_path: Path) -> Iterator[ViewContext]:
    made = ViewContext(Home.at(tmp_path), Screen(), cast("Bridge", asked))
    view = workflow(state="running", counts={TaskState.RUNNING: 3, TaskState.READY: 1})
    made.take((status(view), shown(view, task("a", TaskState.RUNNING), task("b"))))
    made.attend(NAME)
    yield made
    ended(made)


def move(context: ViewContext, sequence: int, *rows: Any) -> None:
    told = moved("a", TaskState.RUNNING, TaskState.SUSPENDED)
    context.take((happened(sequence, replace(told, rows=rows)),))


def test_what_a_row_tells_is_not_read_but_how_far_all_of_it_is(
    qtbot: QtBot, asked: Asked, context: ViewContext
) -> None:
    move(context, 1, task("a", TaskState.SUSPENDED))
    qtbot.waitUntil(lambda: asked.noted == [f"outlook of {NAME}"], timeout=WITHIN_MS)
    move(context, 2, task("a", TaskState.SUSPENDED))
    assert context._again.remainingTime() > READ_AGAIN_MS


def test_what_an_event_leaves_out_is_read_soon(
    qtbot: QtBot, asked: Asked, context: ViewContext
) -> None:
    move(context, 1, task("a", TaskState.SUSPENDED))
    qtbot.waitUntil(lambda: len(asked.noted) == 1, timeout=WITHIN_MS)
    move(context, 2, task("a", TaskState.SUSPENDED))
    move(context, 3)
    # A timer of Qt's may be set a twentieth later, to go off together with others.
    assert context._again.remainingTime() <= READ_AGAIN_MS * 1.05
    qtbot.waitUntil(lambda: asked.noted[1:] == [f"tasks of {NAME}"], timeout=WITHIN_MS)


def test_what_is_still_being_stopped_is_read_until_it_has_stopped(
    qtbot: QtBot, asked: Asked, context: ViewContext
) -> None:
    view = workflow(state="cancelled", counts={TaskState.CANCELLED: 1, TaskState.TERMINATED: 1})
    stopping = task("a", TaskState.CANCELLED, why=as_why(CancelledStopping(("acor",))))
    context.attend("")
    asked.noted.clear()
    context.take((shown(view, stopping, task("b"), sequence=1),))
    context.attend(NAME)
    assert asked.noted == [f"tasks of {NAME}"], "it may have stopped meanwhile"
    context._read_s = 0.0  # long ago
    context.take((shown(view, stopping, task("b"), sequence=2),))
    qtbot.waitUntil(lambda: asked.noted == 2 * [f"tasks of {NAME}"], timeout=WITHIN_MS)
    context._read_s = 0.0
    context.take((shown(view, task("a", TaskState.CANCELLED), task("b"), sequence=3),))
    qtbot.waitUntil(lambda: not context._again.isActive(), timeout=WITHIN_MS)
    assert len(asked.noted) == 2
