"""One task on two real nodes and a real window, all in this process, from a file to its row.

The program is on the first node only, so that its claim needs the other's consent and its output is
copied there. Each leg of the way is a step of this scene; who watches is told which leg has begun.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from agent.api.flock import FLOCK_CREATE, INVITE, JOIN, PEERS, FlockCreate, Invite, Join, Peers
from agent.api.values import TaskState
from agent.api.work import SHOW, Show
from agent.client import BlockingClient, Home
from agent.node.hosting import InsideAgent
from tests.hosts.waiting import wait_for

NAME = "walked"
WITHIN_S = 60.0
FILE = f"""\
name: {NAME}
tasks:
  {NAME}: {{program: {NAME}, parameters: "{NAME}", expected: 1s}}
"""
PROGRAM = """\
import pathlib
pathlib.Path("walked.txt").write_text("done")
print("PROGRESS 50", flush=True)
print("TERMINATED walked.txt", flush=True)
"""
Begin = Callable[..., None]
"""Told the names of the legs that the task is on from now on."""


@contextmanager
def nodes(folder: Path) -> Iterator[Home]:
    """Two nodes of one flock; the home of the first."""
    homes = [_home(folder / each, each) for each in ("first", "second")]
    program = homes[0].programs / NAME
    program.mkdir(parents=True)
    (program / "program.py").write_text(PROGRAM)
    (program / "program.yaml").write_text('command: ["{python}", program.py]\noutputs: [made]\n')
    with ExitStack() as undone:
        for home in homes:
            agent = InsideAgent(home)
            agent.start()
            undone.callback(agent.stop, "the walk is over")
        first, second = (undone.enter_context(BlockingClient(home)) for home in homes)
        first.call(FLOCK_CREATE, FlockCreate("office"))
        second.call(JOIN, Join(first.call(INVITE, Invite()).text))
        wait_for(lambda: _linked(first) and _linked(second), WITHIN_S, "both are linked")
        yield homes[0]


def walk(folder: Path, begin: Begin) -> None:
    """Do all of it once before, so that nothing is read, imported or linked for the first time."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tests.bench.gui_probe import until
    from tests.bench.gui_session import shown

    with nodes(folder) as home, shown(home) as whole:
        whole.bridge.start()
        whole.open()
        until(lambda: whole.screen.peers is not None and bool(whole.screen.peers.peers))
        _once(whole, folder, "before", lambda *_: None)
        answers: list[object] = []
        begin("one request")
        whole.bridge.ask(whole.window, SHOW, Show("before"), answers.append)
        until(lambda: bool(answers))
        _once(whole, folder, NAME, begin)


def _once(whole: Any, folder: Path, name: str, begin: Begin) -> None:
    from tests.bench.gui_probe import until

    path = folder / f"{name}.wingbeat.yaml"
    path.write_text(FILE.replace(f"name: {NAME}", f"name: {name}"), "utf-8")
    begin("preview")
    sheet = whole.window.submit([str(path)])
    until(sheet.submit.isEnabled)
    begin("submit to peers", "claim to outcome", "way back")
    sheet.submit.click()
    until(lambda: bool(_id_of(whole.screen, name)))
    workflow = _id_of(whole.screen, name)
    until(lambda: workflow in whole.screen.tasks)
    whole.window.workflows.choose(workflow)
    until(lambda: _state(whole.screen, workflow) is TaskState.TERMINATED)
    begin()


def _id_of(screen: Any, name: str) -> str:
    return next((each.workflow for each in screen.workflows.values() if each.name == name), "")


def _state(screen: Any, name: str) -> TaskState | None:
    tasks = screen.tasks_of(name)
    return tasks[0].state if tasks else None


def _linked(client: BlockingClient) -> bool:
    peers = client.call(PEERS, Peers()).peers
    return bool(peers) and all(each.version for each in peers)


def _home(folder: Path, name: str) -> Home:
    home = Home.at(folder)
    home.prepare()
    given = {"name": name, "port": 0, "listen": ["127.0.0.1"], "volunteer": "always"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
    home.settings_file.write_text("\n".join(lines))
    return home
