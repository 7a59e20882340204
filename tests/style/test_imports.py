"""Who may import whom.

The rules are read over whatever modules exist, so that a new package is held to them from its
first line. The protocol's rule is a list of what is allowed, because a list of what is forbidden
never ends; the others name what is forbidden. `lint-imports` adds what a single file does not
show: imports through third modules.
"""

import ast
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.style.source import Import, Source, inside, parse, sources

PROTOCOL = "agent.protocol"
PURE = frozenset(
    {"__future__", "abc", "bisect", "collections", "collections.abc", "dataclasses", "enum"}
    | {
        "fractions",
        "functools",
        "graphlib",
        "hashlib",
        "heapq",
        "itertools",
        "math",
        "operator",
        "types",
    }
    | {"typing", "unicodedata", "zlib"}
)
# What needs no import and still reaches the world, or depends on the process that runs it.
IMPURE_BUILTINS = frozenset(
    {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}
)
SEPARATE = ("agent.net", "agent.storage", "agent.execution", "agent.presence", "agent.workflow")
COMMAND_LINE = ("agent.cli", "agent.__main__", "agent.commands")
CLIENT_CONTRACT = (
    *("agent.client", "agent.api", "agent.wording", "agent.workflow"),
    "agent.regular_files",
)
QT = ("PySide6", "PySide2", "PyQt6", "PyQt5", "shiboken6", "qtpy")
# Those that are no clients: they run what clients talk to, or run a program by hand.
NO_CLIENTS = {
    "agent.client.own_agent": ("agent.node.hosting",),
    "agent.client.attending": ("agent.presence.words",),
    "agent.commands.agent": ("agent.node.hosting",),
    "agent.commands.program": ("agent.node.trial",),
}

Rule = Callable[[Source, Import], bool]


def impure(source: Source, imported: Import) -> bool:
    """1. The protocol imports pure standard library, its codec and itself."""
    if not inside(source.module, PROTOCOL) or inside(imported.module, PROTOCOL):
        return False
    if imported.module == "agent" and imported.taken == "protocol":
        return False
    return imported.module not in PURE and not inside(imported.module, "msgspec")


def sideways(source: Source, imported: Import) -> bool:
    """2. The folders of outside things know neither each other nor the driver."""
    own = [package for package in SEPARATE if inside(source.module, package)]
    others = [package for package in (*SEPARATE, "agent.driver") if package not in own]
    return bool(own) and any(inside(name, *others) for name in imported.candidates)


def around_the_client(source: Source, imported: Import) -> bool:
    """3. Windows and command line reach a node through the client contract only."""
    if not inside(source.module, "gui", *COMMAND_LINE) or not inside(imported.module, "agent"):
        return False
    if set(NO_CLIENTS.get(source.module, ())) & set(imported.candidates):
        return False
    if imported.module == "agent":
        return imported.taken is None or not _allowed_from_agent(imported.taken)
    allowed = CLIENT_CONTRACT if inside(source.module, "gui") else CLIENT_CONTRACT + COMMAND_LINE
    return not inside(imported.module, *allowed)


def wrong_side(source: Source, imported: Import) -> bool:
    """4. The agent never imports Qt; programs import neither the agent nor the windows."""
    forbidden = {"agent": QT, "tasks": ("agent", "gui")}.get(source.module.partition(".")[0], ())
    return any(inside(name, *forbidden) for name in imported.candidates)


def leaning_on_tests(source: Source, imported: Import) -> bool:
    """5. Nothing that is installed knows the tests, which are not."""
    return inside(imported.module, "tests") and not inside(source.module, "tests")


# Which rooms of the agent a room may know, the protocol's values and ``api`` apart: those may be
# known by every room, and they know none. The top row are the modules of the agent itself.
KNOWS = {
    "": "client commands",
    "api": "",
    "client": "host",
    "commands": "client wording workflow",
    "control": "client host wording workflow",
    "data": "execution host net settings storage",
    "driver": "",
    "execution": "host wording",
    "flock": "host net settings wording",
    "history": "host storage wording",
    "host": "",
    "net": "host wording",
    "node": "control data driver execution flock history host net presence settings storage wording "
    "workflow",
    "presence": "host",
    "protocol": "",
    "settings": "host net presence wording",
    "storage": "",
    "wording": "",
    "workflow": "",
}
VALUES = frozenset({"api", "protocol", ""})


def unknown_room(source: Source, imported: Import) -> bool:
    """6. A room of the agent knows those that its row names."""
    if not inside(source.module, "agent") or not inside(imported.module, "agent"):
        return False
    if set(NO_CLIENTS.get(source.module, ())) & set(imported.candidates):
        return False
    own, other = _room(source.module), _room(imported.candidates[-1])
    return other not in {own, *VALUES, *KNOWS[own].split()}


# The same for the window: the rooms, and the modules beside them, that each room may know.
WINDOW_KNOWS = {
    "bridge": "model wording words",
    "editing": "",
    "model": "wording words",
    "theme": "model",
    "translations": "wording words",
    "views": "bridge editing example model settings startup theme translations wording words",
}


def unknown_room_of_the_window(source: Source, imported: Import) -> bool:
    """7. A room of the window knows those that its row names, and what is beside them there."""
    own, other = (f"{name}..".split(".")[1] for name in (source.module, imported.candidates[-1]))
    if not inside(source.module, "gui") or not inside(imported.module, "gui"):
        return False
    return own in WINDOW_KNOWS and other not in {own, *WINDOW_KNOWS[own].split()}


def _room(module: str) -> str:
    """The room that a module is in; an empty name for what lies beside the rooms."""
    name = f"{module}.".split(".")[1]
    return name if name in KNOWS else ""


RULES: tuple[Rule, ...] = (
    impure,
    sideways,
    around_the_client,
    wrong_side,
    leaning_on_tests,
    unknown_room,
    unknown_room_of_the_window,
)


@pytest.fixture(scope="module")
def code() -> list[Source]:
    return sources("agent", "gui", "tasks")


@pytest.mark.parametrize("rule", RULES)
def test_nothing_imports_what_it_must_not_know(rule: Rule, code: list[Source]) -> None:
    assert list(violations(rule, code)) == []


def test_no_module_knows_itself_by_way_of_others(code: list[Source]) -> None:
    """Nor under ``TYPE_CHECKING``, nor by an import inside a function."""
    try:
        TopologicalSorter(knowledge(code)).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_way_back_is_seen() -> None:
    ring = [parse("gui/a.py", "from gui import b"), parse("gui/b.py", "def f():\n    import gui.a")]
    with pytest.raises(CycleError):
        TopologicalSorter(knowledge(ring)).prepare()


def test_every_folder_of_the_window_is_a_room(code: list[Source]) -> None:
    own = {each.module for each in code if inside(each.module, "gui")}
    assert {each.split(".")[1] for each in own if each.count(".") > 1} <= {*WINDOW_KNOWS}
    assert {f"gui.{each}" for each in WINDOW_KNOWS} <= own


def test_every_part_of_the_agent_is_a_room(code: list[Source]) -> None:
    own = [each.module for each in code if inside(each.module, "agent")]
    beside = {each for each in own if each.count(".") < 2 and _room(each) == ""}
    assert beside == {"agent", "agent.__main__", "agent.cli", "agent.paths", "agent.regular_files"}
    assert {_room(each) for each in own} == set(KNOWS)


def test_the_door_to_a_node_is_narrow(code: list[Source]) -> None:
    """Who needs another member of the port asks a room, or takes it from the snapshot."""
    (port,) = [source for source in code if source.module == "agent.control.port"]
    members = {
        each.name
        for node in port.nodes
        if isinstance(node, ast.ClassDef) and node.name == "NodePort"
        for each in node.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert members == {"rooms", "now", "ask", "subscribe", "reach", "stop"}


def test_the_protocol_calls_no_builtin_that_reaches_the_world(code: list[Source]) -> None:
    protocol = [source for source in code if inside(source.module, PROTOCOL)]
    assert [found for source in protocol for found in impure_calls(source)] == []


@pytest.mark.parametrize(
    ("rule", "path", "statement"),
    [
        (impure, "agent/protocol/claims.py", "import time"),
        (impure, "agent/protocol/claims.py", "import os.path"),
        (impure, "agent/protocol/claims.py", "from random import random"),
        (impure, "agent/protocol/claims.py", "def f():\n    import socket"),
        (impure, "agent/protocol/claims.py", "from agent import storage"),
        (impure, "agent/protocol/policy/order.py", "from ... import net"),
        (impure, "agent/protocol/__init__.py", "from ..net import links"),
        (impure, "agent/protocol/claims.py", "import msgspeculation"),
        (sideways, "agent/net/links.py", "from agent.storage import journal"),
        (sideways, "agent/net/links.py", "from agent import driver"),
        (sideways, "agent/workflow.py", "import agent.presence.windows"),
        (unknown_room_of_the_window, "gui/model/queue.py", "from gui.views.rows import Rows"),
        (unknown_room_of_the_window, "gui/theme/look.py", "from gui import settings"),
        (around_the_client, "gui/tray.py", "from agent.protocol import node"),
        (around_the_client, "gui/tray.py", "from agent import driver"),
        (around_the_client, "gui/tray.py", "import agent"),
        (around_the_client, "agent/cli.py", "from agent.protocol.table import Table"),
        (around_the_client, "agent/commands/why.py", "from agent.control import naming"),
        (around_the_client, "agent/commands/stop.py", "from agent.node import hosting"),
        (around_the_client, "agent/commands/agent.py", "from agent.node import agent"),
        (around_the_client, "agent/cli.py", "from agent.node.hosting import run"),
        (wrong_side, "agent/presence/screen.py", "from PySide6.QtCore import QTimer"),
        (wrong_side, "tasks/count/main.py", "from agent.api import State"),
        (wrong_side, "tasks/count/main.py", "import gui"),
        (leaning_on_tests, "agent/driver.py", "import_module('tests.sim.lan')"),
        (unknown_room, "agent/flock/network.py", "from agent.node.agent import Service"),
        (unknown_room, "agent/paths.py", "from agent.control import server"),
    ],
)
def test_a_trespass_is_seen(rule: Rule, path: str, statement: str) -> None:
    assert list(violations(rule, [parse(path, statement)]))


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("agent/protocol/claims.py", "from agent.protocol import table"),
        ("agent/protocol/claims.py", "from agent import protocol"),
        ("agent/protocol/claims.py", "from collections.abc import Mapping"),
        ("agent/protocol/wire.py", "import msgspec.msgpack"),
        ("agent/net/links.py", "import ssl"),
        ("agent/net/links.py", "from agent.net import discovery"),
        ("agent/node/running.py", "from agent.net import links"),
        ("gui/tray.py", "from agent import __version__, client"),
        ("agent/commands/submit.py", "from agent.workflow import model"),
        ("agent/__main__.py", "from agent.cli import main"),
        ("agent/cli.py", "from agent.commands import exits"),
        ("agent/commands/why.py", "from agent.api.methods import WHY"),
        ("agent/commands/agent.py", "from agent.node import hosting"),
    ],
)
def test_what_is_allowed_passes(path: str, statement: str) -> None:
    source = parse(path, statement)
    assert [found for rule in RULES for found in violations(rule, [source])] == []


def test_an_impure_call_is_seen() -> None:
    assert list(impure_calls(parse("agent/protocol/claims.py", "print(open('x'))")))


def violations(rule: Rule, code: list[Source]) -> Iterator[str]:
    for source in code:
        for imported in source.imports:
            if rule(source, imported):
                yield f"{source.path}:{imported.line} imports {imported.candidates[-1]}"


def knowledge(code: list[Source]) -> dict[str, set[str]]:
    """Which modules each imports; of a name taken from a package, the module behind it."""
    modules = {source.module for source in code}
    return {
        source.module: {
            next((name for name in reversed(each.candidates) if name in modules), "")
            for each in source.imports
        }
        - {source.module, ""}
        for source in code
    }


def impure_calls(source: Source) -> Iterator[str]:
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_BUILTINS:
                yield f"{source.path}:{node.lineno} calls {name}"
            case _:
                pass


def _allowed_from_agent(name: str) -> bool:
    return name == "__version__" or f"agent.{name}" in CLIENT_CONTRACT
