"""The demo as people run it: real agents, one killed, everything compared; and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent.commands import demo, exits
from agent.commands.demo import leftovers
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for

REPOSITORY = Path(demo.__file__).resolve().parents[3]
PLAY_S_MAX, END_S_MAX = 400.0, EVENTUALLY_S_MAX

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="looks at processes as Linux shows them"
)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where the demo makes its folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


WITHOUT = "from agent.commands import demo; demo.place_of_inspection = lambda: None; "
WITHOUT += "demo.primes.BELOW //= 2; import sys; sys.exit(demo.run(sys.argv[1:]))"
"""The demo as where the inspection is not installed, with a third of the work."""


def start(
    temporary: Path, *words: str, how: tuple[str, ...] = ("-m", "agent", "demo")
) -> AbstractContextManager[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *how, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )
    return ended(process)


def told(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    for line in certain(process.stdout):
        yield json.loads(line)


def of(happenings: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    return [each for each in happenings if each["what"] == what]


def living(processes: list[int]) -> list[int]:
    return [each for each in processes if Path(f"/proc/{each}").exists()]


def working_below(folder: Path) -> list[str]:
    """What still runs with something of this folder in its environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = place.read_bytes()
        except OSError:
            continue
        if f"{folder}/wingbeat-demo-".encode() in environment:
            found.append(place.parent.name)
    return found


def assert_nothing_left(temporary: Path, agents: list[int]) -> None:
    wait_for(lambda: not living(agents), END_S_MAX, "all agents have ended")
    wait_for(lambda: not working_below(temporary), END_S_MAX, "nothing of them runs")
    assert list(temporary.iterdir()) == []


def test_the_demo_finds_everything_and_leaves_nothing(temporary: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with start(temporary, "--json", "--keep", str(kept), "--seed", "5") as process:
        happenings = list(told(process))
        errors = certain(process.stderr).read()
        assert process.wait(PLAY_S_MAX) == exits.DONE, (happenings[-3:], errors)
    agents = [each["process"] for each in of(happenings, "joined")]
    assert len(agents) == 5
    (killed,) = of(happenings, "killed")
    assert killed["process"] in agents
    just_ended = {
        each["task"]
        for each in of(happenings, "moved")
        if each["state"] == "Terminated" and each["machine"] == killed["machine"]
    }
    recovered = {each["task"] for each in of(happenings, "recovered")}
    assert recovered == set(killed["tasks"]) - just_ended
    assert all(each["machine"] != killed["machine"] for each in of(happenings, "recovered"))
    assert all(each["right"] for each in of(happenings, "checked"))
    ended = happenings[-1]
    assert ended["what"] == "ended"
    assert ended["right"] is True
    assert len(ended["plants"]) == of(happenings, "submitted")[0]["planted"]
    assert sum(ended["tasks_by_machine"].values()) == of(happenings, "submitted")[0]["tasks"]
    assert (kept / "report.md").read_text() == ended["report"]
    assert (kept / "report.html").stat().st_size > 500
    assert {each.name for each in (kept / "logs").iterdir()} == set(happenings[0]["machines"])
    assert_nothing_left(temporary, agents)


def test_without_the_inspection_the_demo_counts_primes(temporary: Path) -> None:
    with start(temporary, "--json", how=("-c", WITHOUT)) as process:
        happenings = list(told(process))
        errors = certain(process.stderr).read()
        assert process.wait(PLAY_S_MAX) == exits.DONE, (happenings[-3:], errors)
    assert of(happenings, "starting")[0]["sections"] == 0
    assert len(of(happenings, "killed")) == 1
    (counted,) = (each for each in of(happenings, "checked") if "primes" in each["check"])
    assert counted["right"] is True
    assert happenings[-1]["report"] == counted["found"] == "63951"
    assert_nothing_left(temporary, [each["process"] for each in of(happenings, "joined")])


def joined_until(process: subprocess.Popen[str], when: str) -> list[int]:
    """The agents, once this is told."""
    agents: list[int] = []
    for each in told(process):
        agents += [each["process"]] if each["what"] == "joined" else []
        if each["what"] == when:
            break
    return agents


@pytest.mark.parametrize(
    ("number", "when"),
    [(signal.SIGINT, "submitted"), (signal.SIGTERM, "joined")],
    ids=["ctrl-c", "terminated"],
)
def test_an_interrupted_demo_leaves_nothing(
    temporary: Path, number: signal.Signals, when: str
) -> None:
    with start(temporary, "--json", "--machines", "3") as process:
        agents = joined_until(process, when)
        process.send_signal(number)
        process.communicate(timeout=END_S_MAX)
        assert process.returncode == exits.INTERRUPTED
    assert_nothing_left(temporary, agents)


def test_somebody_who_cannot_wait_for_the_end_leaves_nothing_either(temporary: Path) -> None:
    with start(temporary, "--json", "--machines", "3") as process:
        agents = joined_until(process, "submitted")
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        _, errors = process.communicate(timeout=END_S_MAX)
    assert "Traceback" not in errors
    assert_nothing_left(temporary, agents)


def test_the_agents_of_a_killed_demo_end_and_the_next_demo_removes_its_folder(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(temporary, "--json", "--machines", "3") as process:
        agents = joined_until(process, "submitted")
        process.kill()
        process.communicate(timeout=END_S_MAX)
    assert len(agents) == 3
    wait_for(lambda: not living(agents), END_S_MAX, "all agents have ended")
    wait_for(lambda: not working_below(temporary), END_S_MAX, "nothing of them runs")
    (left,) = temporary.iterdir()
    assert "whoever started it has ended" in (left / "heron" / "output").read_text()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    leftovers.remove_leftovers()
    assert list(temporary.iterdir()) == []


def test_the_interrupted_start_of_a_demo_leaves_nothing(temporary: Path) -> None:
    with start(temporary, "--machines", "3") as process:
        assert "starting 3 agents" in certain(process.stdout).readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=END_S_MAX)
        assert process.returncode == exits.INTERRUPTED
    assert "Traceback" not in errors
    assert_nothing_left(temporary, [])


def test_where_nothing_can_be_kept_nothing_is_begun(temporary: Path) -> None:
    kept = temporary.parent / "a-file" / "kept"
    kept.parent.write_text("this is no folder")
    with start(temporary, "--keep", str(kept)) as process:
        output, errors = process.communicate(timeout=END_S_MAX)
    assert (process.returncode, output) == (exits.FAILED, "")
    assert errors == f"wingbeat: {kept} cannot be used: Not a directory.\n"
    assert_nothing_left(temporary, [])
