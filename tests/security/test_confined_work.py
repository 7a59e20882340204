"""What confined programs can do, and what becomes of those that cannot be confined."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("confinement is for Linux", allow_module_level=True)

from agent.execution.confinement import proof as proving
from agent.execution.confinement import seccomp
from agent.execution.confinement.boundary import NO_MEANS, NO_WISHES, Boundary, Means
from agent.execution.confinement.landlock import version
from agent.execution.confinement.proof import Proof, prove
from agent.execution.confinement.reachable import reads_of
from agent.execution.groups import Hear, Launch
from agent.execution.groups_linux import LinuxGroup, LinuxGroups
from agent.execution.node_permissions import option_of
from agent.protocol.events import ChildFailed, ChildNotStarted, ChildSucceeded
from agent.protocol.reasons import EndCause
from agent.protocol.records import Dataset
from tests.security.scene import Machine
from tests.workflow.agents import JAVASCRIPT, needs_node

ORDINARY = """
import json, multiprocessing, os, pathlib, shutil, subprocess, sys, tempfile, threading, zipfile
def doubled(number):
    return 2 * number
if __name__ == "__main__":
    given = pathlib.Path(sys.argv[sys.argv.index("-i") + 1])
    shutil.copy(given, "copy")
    shutil.copystat(given, "copy")
    os.chmod("copy", 0o700)
    os.utime("copy")
    with zipfile.ZipFile("all.zip", "w") as packed:
        packed.write("copy")
    os.makedirs("a/b")
    os.rename("copy", "a/b/copy")
    os.link("a/b/copy", "again")
    os.symlink("again", "link")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "x").write_text("x")
        shutil.move(pathlib.Path(folder, "x"), "moved")
    pathlib.Path("tool").write_text("#!/bin/sh\\necho works\\n")
    os.chmod("tool", 0o755)
    assert subprocess.check_output(["./tool"]) == b"works\\n"
    assert subprocess.check_output("cat < /dev/stdin | tee /dev/stderr", shell=True, input=b"x") == b"x"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(doubled, [1, 2]) == [2, 4]
    thread = threading.Thread(target=print, args=("from a thread",))
    thread.start()
    thread.join()
    assert os.getrandom(4) and pathlib.Path("/dev/urandom").open("rb").read(1)
    assert pathlib.Path.home().is_dir() and os.cpu_count()
    sleeping = subprocess.Popen(["sleep", "100"])
    sleeping.terminate()
    assert sleeping.wait() == -15
    print("all of it")
"""


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    machine = Machine(tmp_path, "on")
    yield machine
    await machine.children.close()


async def test_a_program_works_as_ever(machine: Machine) -> None:
    machine.install("work", ["{python}", "work.py"], {"work.py": ORDINARY})
    ended = await machine.run("work")
    assert isinstance(ended, ChildSucceeded), (ended, machine.log())
    assert "all of it" in machine.log()


@pytest.mark.parametrize("means", list(proving._candidates()), ids=str)
async def test_each_means_holds_and_lets_programs_work(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, means: Means
) -> None:
    monkeypatch.setattr(proving, "_candidates", lambda: iter([means]))
    text = ORDINARY
    if not means.mounts:  # the price: modes and times stay, and there is no shared memory
        without = (
            "os.chmod",
            "os.utime",
            "shutil.copystat",
            "./tool",
            "multiprocessing.get",
            "pool.map",
        )
        lines = [each for each in text.splitlines() if not any(word in each for word in without)]
        text = "\n".join(lines).replace("shutil.copy(", "shutil.copyfile(")
    machine.install("work", ["{python}", "work.py"], {"work.py": text})
    ended = await machine.run("work")
    assert isinstance(ended, ChildSucceeded), (ended, machine.log())
    found = machine.confinement.proof
    assert found == Proof(means, holds=True)
    assert found.by[:2] == (f"Landlock {version()}", "seccomp")


async def test_a_signal_that_ends_a_program_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Means(version(), mounts=True, processes=True)
    monkeypatch.setattr(proving, "_candidates", lambda: iter([own]))
    machine.install("crash", ["sh", "crash.sh"], {"crash.sh": "kill -SEGV $$"})
    ended = await machine.run("crash")
    assert isinstance(ended, ChildFailed)
    assert ended.why == EndCause("Signal", count=11, program="crash", last="")


@pytest.mark.parametrize("means", list(proving._candidates()), ids=str)
async def test_what_cannot_be_started_is_told_and_the_next_one_starts(
    tmp_path: Path, means: Means
) -> None:
    """The child that gives up its rights has its parent's memory, which must be as before."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "text").write_text("no program")
    (work / "text").chmod(0o700)
    groups = LinuxGroups()

    async def start(command: str, boundary: Boundary) -> int:
        launch = Launch((command,), work, {}, spare=False, boundary=boundary)
        process = await groups.start(launch, lambda *_: None)
        found = await process.ended
        process.close()
        return found.code

    boundary = Boundary(
        means, reads_of(NO_WISHES, work, ("/bin/true",), ()), str(tmp_path), (str(work),)
    )
    failed = []
    for _ in range(3):
        for command in ("/bin/gone", str(work / "text"), "/bin/true"):
            with suppress(OSError):
                assert await start(command, boundary) == 0
                continue
            failed.append(command)
        with pytest.raises(OSError, match="No such file"):
            await start("/bin/true", replace(boundary, writes=(str(tmp_path / "gone"),)))
    await groups.close()
    assert failed == 3 * ["/bin/gone", str(work / "text")]


# -- what was found out ------------------------------------------------------------------------


async def test_what_is_open_is_found_by_trying_not_by_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that says yes to everything and holds nothing back."""
    groups = LinuxGroups()
    secret = tmp_path / "secret"
    secret.write_text("x")
    everything = seccomp._step(seccomp.RETURN, seccomp.ALLOW)
    monkeypatch.setattr(seccomp, "assembled", lambda *_, **__: everything)
    found = await prove(groups, [secret], [])
    await groups.close()
    assert not found.holds
    past = dict(found.past)
    assert {"AF_INET SOCK_STREAM", "AF_UNIX SOCK_STREAM"} <= set(past["network"])
    assert found.open("network")
    assert not found.open("files") or "mode" in past["files"]
    assert "network: AF_INET" in found.told()


async def test_what_an_agent_tries_lies_where_the_next_one_clears(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever kills it meanwhile leaves nothing that stays."""
    left: list[Path] = []

    async def killed(launch: Launch, _: Hear) -> LinuxGroup:
        left.extend(machine.home.scratch.glob("trial-*"))
        assert launch.folder.is_relative_to(left[-1])
        machine.children.clear_scratch()
        assert list(machine.home.scratch.iterdir()) == []
        raise ProcessLookupError

    monkeypatch.setattr(machine.groups, "start", killed)
    assert not (await machine.children.prove()).holds
    assert len(left) == len(list(proving._candidates()))


async def test_a_boundary_holds_where_the_agents_group_was_begun_outside_its_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is 0 there, by which a program signals nobody but itself."""
    monkeypatch.setattr(os, "getpgid", lambda _: 0)
    groups = LinuxGroups()
    found = await prove(groups, [], [tmp_path])
    await groups.close()
    assert found.holds, found.told()


async def test_a_means_that_the_system_refuses_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that forbids namespaces."""
    last = list(proving._candidates())[-1]
    impossible = Means(99, mounts=True)
    monkeypatch.setattr(proving, "_candidates", lambda: iter([impossible, last]))
    monkeypatch.setattr(
        "agent.execution.confinement.boundary.Boundary.told",
        lambda self, filters, told=Boundary.told: {
            **told(self, filters),
            **({"home": "/gone"} if self.means is impossible else {}),
        },
    )
    groups = LinuxGroups()
    found = await prove(groups, [], [tmp_path])
    await groups.close()
    assert (found.holds, found.means) == (True, last)


@pytest.mark.parametrize(
    ("rule", "runs"),
    [("on", False), ("own work", True), ("when possible", True), ("off", True)],
    ids=str,
)
async def test_what_cannot_be_confined_runs_only_where_its_owner_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, runs: bool
) -> None:
    monkeypatch.setattr(proving, "_candidates", lambda: iter(()))
    known: list[Proof] = []
    machine = Machine(tmp_path, rule)  # type: ignore[arg-type]
    machine.confinement.known = known.append
    machine.install("work", ["sh", "work.sh"], {"work.sh": "echo works"})
    ended = await machine.run("work")
    await machine.children.close()
    if runs:
        assert isinstance(ended, ChildSucceeded)
    else:
        assert isinstance(ended, ChildNotStarted)
        assert ended.why == EndCause("Unconfined", program="work")
    none = Proof(error="this system has no Landlock")
    assert known == ([] if rule == "off" else [none])
    assert none.by == ()
    assert none.open("signals")
    assert none.means == NO_MEANS


@needs_node
async def test_a_job_in_javascript_runs_confined_and_with_the_permissions_of_its_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, ...]] = []
    start = LinuxGroups.start

    async def noted(self: LinuxGroups, launch: Launch, hear: Hear) -> LinuxGroup:
        started.append(launch.command)
        return await start(self, launch, hear)

    monkeypatch.setattr(LinuxGroups, "start", noted)
    machine = Machine(tmp_path, "on")
    code = (JAVASCRIPT / "run.js").read_text("utf-8")
    machine.install("javascript", ["node", "run.js"], {"run.js": code})
    try:
        ended = await machine.run("javascript", '{"constant": [1, 2]}')
        assert isinstance(ended, ChildSucceeded), machine.log()
    finally:
        await machine.children.close()
    option = option_of(started[-1][0])
    assert not option or option in started[-1]


ESCAPES = """
function weevil_main(path) {
  const host = this.constructor.constructor("return process")();
  const found = host.mainModule.require("fs").readFileSync(path, "utf8");
  host.mainModule.require("fs").writeSync(1, "GOT " + found);
  return 1;
}
"""


@needs_node
@pytest.mark.parametrize("rule", ["on", "off"])
async def test_javascript_reads_no_host_file(tmp_path: Path, rule: str) -> None:
    """Leaving the engine of a job is easy; what holds is that its process is confined."""
    machine, job = Machine(tmp_path, rule), f"sha256:{64 * 'b'}"  # type: ignore[arg-type]
    (machine.store.folder / f"{job.replace(':', '-')}.job.js").write_text(ESCAPES)
    shipped = (JAVASCRIPT / "run.js").read_text()
    machine.install("js", ["node", "run.js"], {"run.js": shipped})
    secret = str(machine.owner / ".ssh" / "id")
    argument = {"name": "path", "value": secret}
    told = {"entry": "weevil_main", "parameters": ["path"], "returns": "Number"}
    try:
        machine.start("js", json.dumps({**told, "arguments": [argument]}), raw=(Dataset(job),))
        await machine.end()
    finally:
        await machine.children.close()
    assert ("GOT secret of id" in machine.log()) == (rule == "off"), machine.log()
