"""A flock while a new version is rolled out: machines of this one and of an earlier one work together."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent import __version__
from agent.api.history import RUNS, Runs
from agent.client import BlockingClient
from tests.hosts.machine import Machine
from tests.hosts.versions import Versions
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.style.source import REPOSITORY

EARLIER = "8db718af"
"""Before agents noticed what is installed, and before clients came by sockets."""
OLD = "0.0.9"
STEPS = """\
name: {name}
programs: {{say: say.sh}}
tasks:
  first: {{program: say, requirements: {{tags: ["{here}"]}}}}
  second: {{program: say, inputs: first, requirements: {{tags: ["{there}"]}}}}
"""
SAY = 'echo "said" > said.txt; echo TERMINATED said.txt\n'


@pytest.fixture
def old(tmp_path: Path) -> Versions:
    """The sources of before, as far as this clone has them."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    packed = subprocess.run(
        ["git", "archive", EARLIER, "agent", "gui", "tasks"],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    if packed.returncode:
        pytest.skip(f"this clone has no commit {EARLIER}")
    sources = tmp_path / "sources"
    sources.mkdir()
    subprocess.run(["tar", "-x"], cwd=sources, input=packed.stdout, check=True)
    versions = Versions(tmp_path / "opt")
    versions.lay(OLD, sources)
    versions.choose(OLD)
    return versions


def _environment(machine: Machine) -> Mapping[str, str]:
    return {**machine.environment, "PYTHONWARNINGS": ""}


def _older(old: Versions, machine: Machine, *words: str) -> Any:
    """What the older command says of its machine to programs; None where it fails."""
    done = subprocess.run(
        [str(old.bin / "wingbeat"), *words, "--json"],
        env=_environment(machine),
        cwd=machine.folder.parent,
        capture_output=True,
        text=True,
        timeout=EVENTUALLY_S_MAX,
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


@contextmanager
def _older_agent(old: Versions, machine: Machine) -> Iterator[subprocess.Popen[bytes]]:
    """The older agent of a machine, which is not waited for."""
    command = [str(old.bin / "wingbeat"), "agent"]
    started = subprocess.Popen(command, env=_environment(machine), cwd=machine.folder.parent)
    with ended(started):
        yield started


def _wait_in_log(machine: Machine, words: str) -> None:
    """Sooner told of than any question is answered by a command in a process of its own."""
    wait_for(lambda: words in machine.log(), EVENTUALLY_S_MAX, words, machine.last_words)


def test_work_goes_both_ways_and_the_older_is_seen(old: Versions, tmp_path: Path) -> None:
    ant, bee = Machine(tmp_path / "ant"), Machine(tmp_path / "bee")
    for each in (ant, bee):
        own = {"name": each.name, "tags": [each.name], "published_programs": "always"}
        each.settle(listen=["127.0.0.1"], port=0, **own)
    of_bee, environment = partial(_older, old, bee), _environment(bee)
    with _older_agent(old, bee) as started, ant.agent():
        _wait_in_log(bee, f"{OLD} runs as")
        assert of_bee("flock", "create", "office"), "founded before flocks signed"
        ant.said("flock", "join", of_bee("flock", "invite")["text"])
        wait_for(lambda: _versions(ant) == [OLD], EVENTUALLY_S_MAX, "they are linked")
        told = of_bee("peers")["peers"]
        assert [each["name"] for each in told] == ["ant"]
        (tmp_path / "say.sh").write_text(SAY)
        for name, here, there in (("from-ant", "ant", "bee"), ("from-bee", "bee", "ant")):
            file = tmp_path / f"{name}.wingbeat.yaml"
            file.write_text(STEPS.format(name=name, here=here, there=there))
        ant.said("submit", str(tmp_path / "from-ant.wingbeat.yaml"))
        assert of_bee("submit", str(tmp_path / "from-bee.wingbeat.yaml"))
        for name in ("from-ant", "from-bee"):
            wait_for(lambda name=name: _ended(ant, name), EVENTUALLY_S_MAX, name, ant.last_words)  # type: ignore[misc]
            runs = of_bee("status", name)["tasks"]
            assert {each["host"] for each in runs} == {"ant", "bee"}, "both see both"
        _an_older_client_goes_on(old, environment, ant, tmp_path / "heard")
        _acts_from_now_on(started, ant, bee, Machine(tmp_path / "cat"))


def test_a_flock_of_three_is_updated_with_work_under_way(old: Versions, tmp_path: Path) -> None:
    """One after the other, each while a task runs on it that no other machine can have; then it gets
    administrators. Nothing is lost, and nothing that has ended is done again."""
    three = [Machine(tmp_path / name) for name in ("cat", "bee", "ant")]
    for each in three:
        own = {"name": each.name, "tags": [each.name], "published_programs": "always"}
        each.settle(listen=["127.0.0.1"], port=0, **own)
    cat, _, ant = three
    (tmp_path / "slow.sh").write_text("sleep 1.5; " + SAY)
    (tmp_path / "roll.wingbeat.yaml").write_text(_rolled(three))
    with ExitStack() as older, ExitStack() as newer:
        agents = [older.enter_context(_older_agent(old, each)) for each in three]
        _make_older_flock(old, three)
        assert _older(old, cat, "submit", str(tmp_path / "roll.wingbeat.yaml"))

        def of_cat(*words: str) -> Any:
            """It is updated first."""
            return cat.answer(*words) if cat.alive else _older(old, cat, *words)

        def stands(task: str, state: str) -> bool:
            tasks = (of_cat("status", "roll") or {"tasks": ()})["tasks"]
            return any(each["name"] == task and each["state"] == state for each in tasks)

        for at, (each, agent) in enumerate(zip(three, agents, strict=True)):
            gate, task = f"go-{each.name}", f"on-{each.name}"
            wait_for(lambda gate=gate: stands(gate, "Waiting"), EVENTUALLY_S_MAX, gate)  # type: ignore[misc]
            assert of_cat("done", f"roll/{gate}")
            _wait_in_log(each, f"roll/{task} runs")
            agent.terminate()
            agent.wait(EVENTUALLY_S_MAX)
            newer.enter_context(each.agent())
            there = [OLD] * (2 - at) + [__version__] * at
            linked = lambda there=there: sorted(_versions(cat)) == there  # noqa: E731
            wait_for(linked, EVENTUALLY_S_MAX, f"{each.name} is linked", cat.last_words)
        assert "recovery phrase" in ant.said("flock", "upgrade")
        wait_for(lambda: stands("end", "Waiting"), EVENTUALLY_S_MAX, "all before", cat.last_words)
        cat.said("done", "roll/end")
        wait_for(lambda: stands("last", "Terminated"), EVENTUALLY_S_MAX, "last", cat.last_words)
        _each_ended_once(three)


STEPS_ROLLED = (
    *("go-cat", "go-bee", "go-ant", "end"),
    *("on-cat", "on-bee", "on-ant", "any", "last"),
)


def _make_older_flock(old: Versions, three: Sequence[Machine]) -> None:
    *others, founder = three
    for each in three:
        _wait_in_log(each, f"{OLD} runs as")
    assert _older(old, founder, "flock", "create", "office")
    text = _older(old, founder, "flock", "invite", "--uses", "2")["text"]
    for each in others:
        assert _older(old, each, "flock", "join", text)


def _rolled(three: Sequence[Machine]) -> str:
    """A task for each machine alone, behind a gate; one for any; and one that needs all, after a gate."""
    lines = ["name: roll", "programs: {slow: slow.sh}", "gates:"]
    lines += [f"  go-{each.name}: {{asks: go}}" for each in three]
    own = [f"on-{each.name}" for each in three]
    lines += [f"  end: {{asks: end, after: [{', '.join((*own, 'any'))}]}}", "tasks:"]
    lines += [
        f'  on-{each.name}: {{program: slow, after: [go-{each.name}], requirements: {{tags: ["{each.name}"]}}}}'
        for each in three
    ]
    lines += ["  any: {program: slow}"]
    lines += [f"  last: {{program: slow, inputs: [{', '.join((*own, 'any'))}], after: [end]}}"]
    return "\n".join(lines) + "\n"


def _each_ended_once(three: Sequence[Machine]) -> None:
    """As every machine sees it."""
    for each in three:
        with BlockingClient(each.home) as client:
            tasks = client.call(RUNS, Runs("roll")).tasks
        ends = {task.name: [run.phase for run in task.runs].count("Terminated") for task in tasks}
        assert ends == dict.fromkeys(STEPS_ROLLED, 1), each.name


def _acts_from_now_on(
    older: subprocess.Popen[bytes], ant: Machine, bee: Machine, cat: Machine
) -> None:
    """The older one is updated, and gives the flock administrators; so all sign. A newcomer takes in
    what was written before, as an administrator bears witness to it."""
    older.terminate()
    older.wait(EVENTUALLY_S_MAX)
    with bee.agent():
        _newcomer_takes_in_all(ant, bee, cat)


def _newcomer_takes_in_all(ant: Machine, bee: Machine, cat: Machine) -> None:
    linked = "they are linked again"
    wait_for(lambda: _versions(ant) == [__version__], EVENTUALLY_S_MAX, linked, ant.last_words)
    assert "recovery phrase" in bee.said("flock", "upgrade")
    cat.settle(listen=["127.0.0.1"], port=0, name="cat")
    with cat.agent():
        cat.said("flock", "join", bee.answer("flock", "invite")["text"])
        wait_for(lambda: _ended(cat, "from-bee"), EVENTUALLY_S_MAX, "it has come", cat.last_words)
        assert {each["host"] for each in cat.answer("status", "from-bee")["tasks"]} == {
            "ant",
            "bee",
        }
    told = ant.answer("flock", "members")["members"]
    assert {each["name"]: each["role"] for each in told}["bee"] == "administrator"


def _an_older_client_goes_on(
    old: Versions, environment: Mapping[str, str], ant: Machine, heard: Path
) -> None:
    """It follows the newer agent by way of its own, and hangs up at events that it cannot name."""
    command = [str(old.bin / "wingbeat"), "watch", "--json", "--node", "ant"]

    def heard_it() -> bool:
        ant.said("resume")
        ant.said("pause")
        return '"HelpsNotNow"' in heard.read_text()  # why is its owner's

    later = heard.parent / "later.wingbeat.yaml"
    later.write_text(STEPS.format(name="later", here="ant", there="bee"))
    with heard.open("wb") as out:
        watching = subprocess.Popen(command, env=environment, cwd=heard.parent, stdout=out)
    with ended(watching):
        wait_for(heard_it, EVENTUALLY_S_MAX, "it follows", ant.last_words)
        ant.said("remove", "from-ant")
        ant.said("submit", str(later))
        wait_for(lambda: "later" in heard.read_text(), EVENTUALLY_S_MAX, "it still follows")
    assert "workflow gone" not in heard.read_text()


def _versions(machine: Machine) -> list[str]:
    return [each["version"] for each in machine.answer("peers")["peers"]]


def _ended(machine: Machine, workflow: str) -> bool:
    ran = machine.run("status", workflow, "--json")
    states = [each["state"] for each in json.loads(ran.out)["tasks"]] if ran.code == 0 else []
    return states == ["Terminated"] * 2
