"""What programs ask for is asked of each machine's owner, as a person does it: real agents, real programs.

alder is paused, so its work runs on birch or nowhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.machine import WITHIN_S, Machine, make_flock
from tests.hosts.waiting import wait_for

SCRIPT = (
    "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()\nprint('TERMINATED')\n"
)
PLAIN = "print('TERMINATED')\n"
NETWORK = "network (all of it: no machine can keep a program to the local one)"


def program(folder: Path, **asks: Any) -> Path:
    folder.mkdir(parents=True)
    described = {"name": "report", "command": ["{python}", "report.py"], "outputs": [], **asks}
    (folder / "program.yaml").write_text(json.dumps(described))
    (folder / "report.py").write_text(SCRIPT if "network" in asks else PLAIN)
    return folder


def settled(folder: Path, **settings: object) -> Machine:
    machine = Machine(folder)
    machine.settle(listen=["127.0.0.1"], port=0, name=folder.name, **settings)
    return machine


@pytest.fixture
def flock(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    alder, birch = settled(tmp_path / "alder"), settled(tmp_path / "birch")
    with alder.agent(), birch.agent():
        make_flock(alder, birch)
        alder.said("pause")
        yield alder, birch


def submit(machine: Machine, name: str, **asks: Any) -> None:
    folder = machine.folder.parent / name
    program(folder / "report", **asks)
    words = "programs: {report: report}\ntasks: {report: {program: report, expected: 1s}}\n"
    (folder / "w.wingbeat.yaml").write_text(words)
    machine.said("submit", str(folder / "w.wingbeat.yaml"), "--name", name)


def ended(machine: Machine, name: str) -> None:
    def done() -> bool:
        tasks = machine.answer("status", name)["tasks"]
        return [task["state"] for task in tasks] == ["Terminated"]

    wait_for(done, WITHIN_S, f"{name} ends")


def asked(machine: Machine) -> list[str]:
    return [each["name"] for each in machine.answer("permissions")["asked"]]


def test_an_installed_program_begins_when_its_owner_allows_what_it_asks_for(
    tmp_path: Path,
) -> None:
    alder = settled(tmp_path / "alder")
    program(alder.home.programs / "report", network="lan")
    (tmp_path / "w.wingbeat.yaml").write_text("tasks: {a: {program: report, expected: 1s}}\n")
    with alder.agent():
        alder.said("submit", str(tmp_path / "w.wingbeat.yaml"), "--name", "first")
        why = alder.said("why", "first/a")
        assert "no machine allows network to report" in why
        assert "alder does not allow network to report" in why
        shown = alder.said("permissions")
        assert NETWORK in shown
        assert "`wingbeat permissions grant report` allows it" in shown
        assert alder.said("permissions", "grant", "report") == f"report is allowed {NETWORK}\n"
        ended(alder, "first")
        told = alder.said("permissions", "revoke", "report")
        assert told == f"report is not allowed {NETWORK}\n"
        alder.said("submit", str(tmp_path / "w.wingbeat.yaml"), "--name", "second")
        assert "no machine allows network to report" in alder.said("why", "second/a")


def test_what_comes_with_work_asks_for_it_too_also_where_its_machine_is_trusted(
    flock: tuple[Machine, Machine],
) -> None:
    alder, birch = flock
    submit(alder, "plain")
    wait_for(lambda: asked(birch) == ["plain"], WITHIN_S, "plain asks")
    birch.said("permissions", "trust-machine", "plain")
    ended(alder, "plain")

    submit(alder, "reaching", network="internet")
    wait_for(lambda: asked(birch) == ["reaching"], WITHIN_S, "reaching asks")
    shown = birch.said("permissions", "show", "reaching")
    assert f"report asks for {NETWORK}\n" in shown
    birch.said("permissions", "allow-once", "reaching")
    ended(alder, "reaching")


def test_own_work_asks_before_it_reaches_further_and_nobody_opens_what_is_closed(
    tmp_path: Path,
) -> None:
    alder = settled(tmp_path / "alder")
    with alder.agent():
        submit(alder, "own", network="lan")
        wait_for(lambda: asked(alder) == ["own"], WITHIN_S, "its own work asks")
        alder.said("permissions", "allow-once", "own")
        ended(alder, "own")

        submit(alder, "keys", reads=[str(alder.home.identity)])
        wait_for(lambda: asked(alder) == ["keys"], WITHIN_S, "it asks")
        refused = alder.refused("permissions", "allow-once", "keys")
        assert "which no program may: keys, settings or somebody's own things lie there" in refused
        assert asked(alder) == ["keys"]


def test_where_all_is_taken_what_asks_for_more_is_asked_about(tmp_path: Path) -> None:
    alder = settled(tmp_path / "alder", published_programs="always")
    with alder.agent():
        submit(alder, "own", network="lan")
        wait_for(lambda: asked(alder) == ["own"], WITHIN_S, "it asks")
        alder.said("permissions", "allow-programs", "own")
        ended(alder, "own")


def test_a_secret_is_given_by_standard_input_and_stands_in_no_file_but_its_own(
    tmp_path: Path,
) -> None:
    alder, value = settled(tmp_path / "alder"), f"{os.urandom(16).hex()} of the office"
    asks = {"secrets": ["survey-db"]}
    script = "import os\nprint(len(open(os.environ['WINGBEAT_SECRETS'] + '/survey-db').read()))\n"
    (program(alder.home.programs / "report", **asks) / "report.py").write_text(script)
    (tmp_path / "w.wingbeat.yaml").write_text("tasks: {a: {program: report, expected: 1s}}\n")
    with alder.agent():
        alder.said("permissions", "grant", "report")
        alder.said("submit", str(tmp_path / "w.wingbeat.yaml"), "--name", "first")
        assert "no machine has the secret survey-db" in alder.said("why", "first/a")
        said = alder.said("secrets", "set", "survey-db", told=f"{value}\n")
        assert said.startswith("survey-db is kept: ")
        assert value not in alder.said("secrets")
        ended(alder, "first")
        assert alder.said("logs", "first/a").strip() == str(len(value))
        assert "a name of letters" in alder.refused("secrets", "set", "../up", told="x")
        assert "there is nothing where the value" in alder.refused("secrets", "set", "a", told="")
    holders = [
        each
        for each in alder.folder.rglob("*")
        if each.is_file() and value.encode() in each.read_bytes()
    ]
    assert holders in ([], [alder.home.data / "secrets" / "survey-db"])
    with alder.agent():
        alder.said("secrets", "forget", "survey-db")
        assert alder.answer("secrets")["secrets"] == []
    assert value.encode() not in b"".join(
        each.read_bytes() for each in alder.folder.rglob("*") if each.is_file()
    )


def test_what_lies_in_a_share_is_read_where_that_is_and_its_owner_allows_it(
    tmp_path: Path,
) -> None:
    """alder, which runs its own work, has no such share; birch has it somewhere."""
    (tmp_path / "mnt" / "line-7").mkdir(parents=True)
    (tmp_path / "mnt" / "line-7" / "scan").write_text("points")
    alder = settled(tmp_path / "alder")
    birch = settled(tmp_path / "birch", shares={"flights": str(tmp_path / "mnt")})
    folder = tmp_path / "work"
    described = program(folder / "report", reads=["share:flights"], outputs=["told"])
    (described / "report.py").write_text(
        "import pathlib, sys\n"
        "read = (pathlib.Path(sys.argv[2]) / 'scan').read_text()\n"
        "pathlib.Path('told').write_text(read)\nprint('TERMINATED told')\n"
    )
    task = "{program: report, expected: 1s, data: ['share:flights/line-7']}"
    text = f"programs: {{report: report}}\ntasks: {{report: {task}}}\n"
    (folder / "w.wingbeat.yaml").write_text(text)
    with alder.agent(), birch.agent():
        make_flock(alder, birch)
        alder.said("submit", str(folder / "w.wingbeat.yaml"), "--name", "shared")
        wait_for(lambda: asked(birch) == ["shared"], WITHIN_S, "its owner is asked")
        wants = "reading share:flights"
        wait_for(lambda: wants in birch.said("permissions"), WITHIN_S, "its program has come")
        sentence = "alder does not have share:flights, which report reads"
        wait_for(lambda: sentence in alder.said("why", "shared/report"), WITHIN_S, sentence)
        assert asked(alder) == []
        birch.said("permissions", "allow-once", "shared")
        ended(alder, "shared")
        assert alder.said("status", "shared").count("birch") == 1
        alder.said("fetch", "shared/report", "--into", str(tmp_path / "got"))
        assert next((tmp_path / "got").rglob("told")).read_text() == "points"
