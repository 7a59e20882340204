"""What holds for every test.

Examples have no deadline, drawing them neither: a shared machine may stall in any of them, and a test
that fails for it says nothing about the code. A failing example prints what repeats it.

Whoever starts the tests in the background has Ctrl-C ignored by all that they start; here it means
what it always means, because programs are interrupted by it.

Nothing is taken from the person who runs the tests: neither the screen and the bus of the desktop,
nor a database, nor the home of a Wingbeat that works for them. A test that forgets to name a home
gets one that must never come to be.

Numeric libraries have one thread: the workers are as many as the processors, and threads that wait
for each other there only burn them.

What is left out stands at the very end, each test with what it lacks: a check that is silent about it
promises more than it tried.

A test that is a coroutine has a loop of its own, which ends with it, and a limit; what the loop had to
complain of fails it, also while its last tasks are cancelled.

``-n auto`` starts three workers for each core, for many tests wait for what they have started; where
those are left out, three for two cores.

What takes long is known by its file, by what that imports, and marked: ``installers/check --fast`` and
``pytest -m "not live"`` leave such tests out.
"""

import asyncio
import gc
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from functools import cache, wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.repeat.plugin import without_group
from tests.sharing import Sharing, places

PERSONAL = ("DBUS_", "DISPLAY", "PG", "QT_", "SWAYSOCK", "WAYLAND_", "XAUTHORITY", "XDG_")
"""Beginnings of what tells programs of the session of whoever runs the tests."""
FORGOTTEN = Path(tempfile.gettempdir()) / f"no-home-of-wingbeat-{os.getpid()}"

EXAMPLES = int(os.environ.get("WINGBEAT_EXAMPLES", "40"))
"""Every run draws others; ``python -m tests.repeat`` draws more."""

settings.register_profile(
    "wingbeat",
    deadline=None,
    print_blob=True,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("wingbeat")
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in [each for each in os.environ if each.startswith(PERSONAL)]:
    del os.environ[name]
os.environ["WINGBEAT_HOME"] = str(FORGOTTEN)
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

WORKERS_MAX, WORKERS_PER_CORE = 8, 3

MARKS = {
    "live": (
        "live nodes, as processes of their own or with real sockets in the process of the test",
        (
            "tests/live/",
            "tests.hosts.machine",
            "tests.driver.nodes",
            "tests.security.forger",
            "tests.security.test_flock_rights",
            "tests.hosts.hosts",
            "tests.workflow.agents",
            "tests/control/test_recipe",
        ),
    ),
    "attacks": (
        "programs that attack or take more than they may, as processes of their own",
        ("tests.security.scene", "tests.security.held", "tests/execution/test_misbehaviour"),
    ),
    "display": (
        "a display, its windows or its desktop, or every view of the window",
        ("tests/desktop/", "tests.gui.under_way", "tests.presence.displays"),
    ),
    "scans": (
        "laser scans: those of others, thousands of broken ones, and whole lines that nobody built",
        (
            "tests/tasks/test_line_labelled",
            "tests.tasks.line_outcomes",
            "tests/tasks/test_line_scene",
            "tests/tasks/test_line_obstacles",
            "tests/tasks/test_line_cut",
        ),
    ),
    "hunting": (
        "what draws new seeds, plays long work of flocks, hunts for faults in the tests, or measures",
        (
            "tests/repeat/",
            "tests/protocol/test_bench",
            "tests.sim.variants",
            "tests.sim.hostile",
            "tests/protocol/test_sim_liars",
            "tests/protocol/test_scenarios_lasting",
            '"-m", "pytest"',
        ),
    ),
}
"""What the tests have that are marked so, and where their files are or what they import for it."""
COMPLAINTS = pytest.StashKey[list[dict[str, Any]]]()
STARTS_AN_AGENT = frozenset(["machine", "context_on"])
"""What tests of the window take as a fixture, or call themselves."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Each collects all tests once more: where few wait, that costs more than it wins."""
    cores = os.cpu_count() or 1
    computes = "not live" in config.getoption("markexpr")
    return min(WORKERS_MAX, (3 * cores + 1) // 2 if computes else WORKERS_PER_CORE * cores)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Sharing | None:
    return Sharing(config, log) if config.getvalue("dist") == "load" else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where all tests of a file are left out, neither it nor what it imports is read."""
    if not collection_path.match("test_*.py"):
        return None
    left_out = config.getoption("markexpr")
    return any(f"not {name}" in left_out for name in _marks(collection_path)) or None


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on, but not in what all the tests are made of: a tenth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    asyncio.set_event_loop(None)  # or one is made for whoever asks which there is, closed by nobody
    for name, (told, _) in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {told}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if " at 0x" in item.name:  # the workers must agree on names; this is another in each
            raise pytest.UsageError(f"{item.nodeid}: give this case an id")
        for name in _marks(item.path):
            item.add_marker(name)
        if not STARTS_AN_AGENT.isdisjoint(_taken(item)):
            item.add_marker("live")
    if config.getoption("drawn_order", None) is None:
        waits: dict[Path, bool] = {}
        for item in items:
            marked = any(map(item.get_closest_marker, MARKS))
            waits[item.path] = waits.get(item.path, False) or marked
        place = places(waits)
        items.sort(key=lambda item: place[item.path])


def _taken(item: pytest.Item) -> tuple[str, ...]:
    """The fixtures of a test, and what it names itself."""
    if not isinstance(item, pytest.Function):
        return ()
    code = getattr(item.function, "__code__", None)
    return (*item.fixturenames, *(code.co_names if code is not None else ()))


@cache
def _marks(path: Path) -> list[str]:
    text = f"{path.as_posix()}\n{path.read_text(encoding='utf-8')}"
    return [name for name, (_, signs) in MARKS.items() if any(each in text for each in signs)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
        item.stash[COMPLAINTS] = []
        item.obj = _within_limit(item.obj, item.stash[COMPLAINTS])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    yield
    assert item.stash.get(COMPLAINTS, []) == [], "what its loop complained of"


def _within_limit(
    test: Callable[..., Awaitable[None]], complaints: list[dict[str, Any]]
) -> Callable[..., Awaitable[None]]:
    def complain(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        complaints.append(told)
        loop.default_exception_handler(told)

    @wraps(test)
    async def limited(**fixtures: object) -> None:
        asyncio.get_running_loop().set_exception_handler(complain)
        async with asyncio.timeout(3 * EVENTUALLY_S_MAX):
            await test(**fixtures)

    return limited


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        for line in left_out(terminal.stats.get("skipped", [])):
            terminal.write_line(line)


def left_out(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """Return a line for each test, or for each file or folder of which no test could be read."""
    lines = {f"  {without_group(each.nodeid)}: {_reason(each)}" for each in reports}
    return [f"Left out: {len(lines)}", *sorted(lines)] if lines else []


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return told.removeprefix("Skipped: ")


@pytest.fixture(scope="session", autouse=True)
def _every_test_names_its_home() -> Iterator[None]:
    yield
    assert not FORGOTTEN.exists(), "a test let Wingbeat write where a person's files are"
