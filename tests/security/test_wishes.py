"""A program has what it asked for and was allowed, and nothing else: each wish with a real process."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("confinement is for Linux", allow_module_level=True)

from agent.protocol.events import ChildNotStarted, ChildSucceeded, Event
from agent.protocol.reasons import EndCause
from tests.hosts.waiting import eventually
from tests.security.scene import Machine

TRIES = """
import json, os, socket, sys
told = json.loads(sys.argv[sys.argv.index("-x") + 1])
def connects():
    socket.create_connection(("127.0.0.1", told["port"]), 5).close()
def asks_by_datagrams():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
def uses_a_path():
    socket.socket(socket.AF_UNIX).close()
def reads_maps():
    open(told["maps"] + "/a").read()
def writes_maps():
    open(told["maps"] + "/b", "w").write("x")
def reads_keys():
    open(told["keys"]).read()
for name, each in list(globals().items()):
    if getattr(each, "__code__", None):
        try:
            each()
            print("GOT", name)
        except OSError as error:
            print("refused", name, error)
"""


async def tried(
    folder: Path, asks: Mapping[str, Any], *, grant: bool = True
) -> tuple[Event, set[str]]:
    """What a program gets that asks for this."""
    machine = Machine(folder / "machine", "on")
    maps = folder / "maps"
    maps.mkdir()
    (maps / "a").write_text("a map")
    reads = [each.replace("MAPS", str(maps)).replace("KEYS", str(machine.home.identity))
             for each in asks.get("reads", ())]  # fmt: skip
    machine.install("report", ["{python}", "try.py"], {"try.py": TRIES}, {**asks, "reads": reads})
    if grant:
        machine.grants.grant(machine.programs.all())
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            told = {
                "port": listening.getsockname()[1],
                "maps": str(maps),
                "keys": str(machine.home.identity / "node.key"),
            }
            ended = await machine.run("report", json.dumps(told))
        log = machine.log()
        return ended, {line[4:] for line in log.splitlines() if line.startswith("GOT ")}
    finally:
        await machine.children.close()


@pytest.mark.parametrize(
    ("asks", "got"),
    [
        ({}, set()),
        ({"network": "lan"}, {"connects", "asks_by_datagrams"}),
        ({"network": "internet"}, {"connects", "asks_by_datagrams"}),
        ({"reads": ["MAPS"]}, {"reads_maps"}),
        ({"devices": ["gpu"]}, set()),
    ],
    ids=["nothing", "lan", "internet", "reads", "gpu"],
)
async def test_a_program_has_what_it_was_allowed(
    tmp_path: Path, asks: Mapping[str, Any], got: set[str]
) -> None:
    ended, found = await tried(tmp_path, asks)
    assert isinstance(ended, ChildSucceeded), ended
    assert found == got


@pytest.mark.parametrize("asks", [{"network": "lan"}, {"reads": ["MAPS"]}, {"secrets": ["a"]}])
async def test_nothing_begins_before_it_was_allowed(
    tmp_path: Path, asks: Mapping[str, Any]
) -> None:
    ended, found = await tried(tmp_path, asks, grant=False)
    assert isinstance(ended, ChildNotStarted)
    assert ended.why == EndCause("NotGranted", program="report")
    assert found == set()


async def test_keys_stay_closed_to_whoever_was_allowed_them_by_a_forged_file(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path / "machine", "on")
    identity = str(machine.home.identity)
    machine.install("report", ["{python}", "try.py"], {"try.py": TRIES}, {"reads": [identity]})
    machine.grants._granted = {"report": (("reads", identity),)}
    try:
        told = {"port": 1, "maps": identity, "keys": identity + "/node.key"}
        ended = await machine.run("report", json.dumps(told))
    finally:
        await machine.children.close()
    assert isinstance(ended, ChildNotStarted)
    assert "GOT" not in machine.log()


READS_SECRET = """
import hashlib, os, sys
folder = os.environ["WINGBEAT_SECRETS"]
path = folder + "/survey-db"
print("DIGEST", hashlib.sha256(open(path, "rb").read()).hexdigest())
print("MODE", oct(os.stat(path).st_mode & 0o777))
value = open(path).read()
print("TOLD", value in repr(os.environ) or value in repr(sys.argv))
for each in (lambda: open(path, "w"), lambda: os.unlink(path), lambda: os.listdir("../..")):
    try:
        each()
        print("GOT more")
    except OSError as error:
        print("refused", error)
"""


async def test_a_secret_is_a_file_that_only_its_task_reads_and_stands_nowhere_else(
    tmp_path: Path,
) -> None:
    value = f"{os.urandom(16).hex()} of the office"
    machine = Machine(tmp_path / "machine", "on")
    machine.grants.has_secret = {"survey-db"}.__contains__
    machine.grants.secret = {"survey-db": value.encode()}.__getitem__
    machine.install(
        "report", ["{python}", "try.py"], {"try.py": READS_SECRET}, {"secrets": ["survey-db"]}
    )
    machine.grants.grant(machine.programs.all())
    try:
        ended = await machine.run("report", "{}")
        log = machine.log()
        assert isinstance(ended, ChildSucceeded), log
        assert f"DIGEST {hashlib.sha256(value.encode()).hexdigest()}" in log
        assert "MODE 0o400" in log
        assert "TOLD False" in log
        assert "GOT" not in log
        await eventually(lambda: value.encode() not in everything_below(tmp_path))
        assert value not in repr(machine.told)
    finally:
        await machine.children.close()


def everything_below(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


async def test_another_task_does_not_find_the_secret_of_one_that_runs(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine", "on")
    machine.grants.has_secret = {"survey-db"}.__contains__
    machine.grants.secret = lambda _: b"the password"
    waits = "import sys, time\nprint('RUNS', flush=True)\ntime.sleep(60)\n"
    machine.install("holds", ["{python}", "a.py"], {"a.py": waits}, {"secrets": ["survey-db"]})
    looks = "import sys\nprint('READ', open(sys.argv[-1]).read())\n"
    machine.install("looks", ["{python}", "b.py"], {"b.py": looks})
    machine.grants.grant(machine.programs.all())
    try:
        machine.start("holds", task="a")
        await eventually(lambda: "RUNS" in machine.log("a"))
        found = next(machine.home.scratch.rglob("survey-db"))
        assert found.read_bytes() == b"the password"
        await machine.run("looks", str(found), task="b")
        assert "PermissionError" in machine.log("b")
        assert "the password" not in machine.log("b")
    finally:
        await machine.children.close()
