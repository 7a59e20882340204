"""What the window asks of its agent in a minute while a workflow of fifty tasks runs in its sight.

A real agent with real programs of one to two seconds, each of which tells how far it is, and the real
window before a screen in memory, at the place where a person watches that workflow. Counted are the
requests that leave the window's side, by method, greetings and subscriptions included, from the
moment when the first task runs; what the agent tells of itself is no request.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from msgspec import Struct

from agent.api.rpc import Method
from agent.api.values import TaskState
from agent.api.work import SUBMIT, Submit, Task
from agent.client import BlockingClient, Home
from agent.client.link import Link
from tests.bench.report import Figures, Limit, Sheet
from tests.hosts.machine import Machine

WHAT: Final = "requests of the window in a minute while a workflow of 50 tasks runs"
TASKS: Final = 50
MINUTE_S, QUICK_S = 60.0, 10.0
A_MINUTE_MAX: Final = 53.0
"""A fifth of what it was (268) when whatever an event named was read again."""
LIMITS: Final = (Limit("requests in a minute", "a_minute", A_MINUTE_MAX),)
WORKFLOW: Final = "watched"
NAP: Final = """\
import random, time
length_s = 1 + random.random()
for part in range(4):
    time.sleep(length_s / 4)
    print("PROGRESS", (part + 1) / 4, flush=True)
print("TERMINATED", flush=True)
"""


def measure(*, quick: bool) -> Figures:
    watch_s = QUICK_S if quick else MINUTE_S
    with tempfile.TemporaryDirectory() as name:
        machine = Machine(Path(name))
        machine.install("nap", NAP)
        with machine.agent():
            asked, moved = _watched(machine.home, watch_s)
    minutes = watch_s / MINUTE_S
    return {
        "seconds": watch_s,
        "ended": moved,
        "a_minute": sum(asked.values()) / minutes,
        "methods": {method: asked[method] / minutes for method in sorted(asked)},
    }


def sheets(figures: Figures) -> list[Sheet]:
    rows: list[list[Any]] = [[method, count] for method, count in figures["methods"].items()]
    note = f"{figures['ended']} of {TASKS} tasks ended in these {figures['seconds']:g} s"
    return [Sheet("Requests of the window in a minute", ["method", "requests"], rows, note)]


def _watched(home: Home, watch_s: float) -> tuple[Counter[str], int]:
    """What was asked, and how many tasks ended meanwhile."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tests.bench.gui_probe import until, wait
    from tests.bench.gui_session import shown

    with shown(home) as whole:
        whole.bridge.start()
        whole.open()
        until(lambda: whole.screen.node is not None)
        with BlockingClient(home) as client:
            nap = tuple(Task(f"nap {each:02}", "nap") for each in range(TASKS))
            client.call(SUBMIT, Submit(WORKFLOW, nap))
        until(lambda: len(whole.screen.tasks) > 0)
        (workflow,) = whole.screen.tasks
        from gui.views.side_bar import Place

        whole.window.show_there(Place.WORKFLOWS, workflow)
        until(lambda: _count(whole.screen, TaskState.RUNNING) > 0)
        before = _count(whole.screen, TaskState.TERMINATED)
        with _counted() as asked:
            wait(watch_s)
        return asked, _count(whole.screen, TaskState.TERMINATED) - before


def _count(screen: Any, state: TaskState) -> int:
    return sum(each.counts.get(state, 0) for each in screen.workflows.values())


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    asked: Counter[str] = Counter()
    call = Link.call

    async def counting(link: Link, method: Method[Any, Any], params: Struct) -> Struct:
        asked[method.name] += 1
        answer: Struct = await call(link, method, params)
        return answer

    with patch.object(Link, "call", counting):
        yield asked
