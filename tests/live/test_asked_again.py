"""The same work asked for again, and other work under the same name, by real agents and commands.

Each line of the table is a thing that people change before they submit again under the same name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.commands import exits
from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

WORKFLOW = """\
name: words
programs: {count: count.sh}
variables:
  of: {default: words}
tasks:
  count: {program: count, data: [book.txt], parameters: "${of} once"}
"""
SCRIPT = 'echo "$4 of $(cat "$2")" > out.txt && echo TERMINATED out.txt\n'
READER = """\
name: reading
programs: {count: count.sh}
tasks:
  read: {program: count, inputs: [{workflow: words, task: count}], parameters: read}
"""


class Office:
    """A machine, a folder with a workflow, and what its person types."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine, self.folder = machine, folder
        folder.mkdir(parents=True)
        self.file = folder / "words.wingbeat.yaml"
        self.file.write_text(WORKFLOW)
        self.write("count.sh", SCRIPT)
        self.write("book.txt", "a book")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def submit(self, *words: str, file: str = "") -> str:
        """The id of what is submitted, once it has ended well."""
        told = self.machine.answer("submit", file or str(self.file), *words)["workflow"]
        assert self.machine.answer("submit", file or str(self.file), *words, "--wait")
        return str(told)

    def result(self, what: str) -> str:
        into = self.folder / f"fetched-{len(list(self.folder.iterdir()))}"
        ran = self.machine.run("fetch", what, "--into", str(into))
        assert ran.code == exits.DONE, ran
        (made,) = (each for each in into.rglob("*") if each.is_file())
        return made.read_text().strip()


@pytest.fixture(scope="module")
def alder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("one") / "alder")
    machine.settle(listen=["127.0.0.1"], volunteer="always")
    with machine.agent("--name", "alder", "--port", "0"):
        yield machine


CHANGES: dict[str, tuple[Callable[[Office], object], tuple[str, ...], str]] = {
    "script": (
        lambda office: office.write("count.sh", SCRIPT.replace(" of ", " in ")),
        (),
        "words once in a book",
    ),
    "input": (lambda office: office.write("book.txt", "a letter"), (), "words once of a letter"),
    "variable": (Office.submit, ("--set", "of=lines"), "lines once of a book"),
    "parameter": (
        lambda office: office.file.write_text(WORKFLOW.replace("once", "twice")),
        (),
        "words twice of a book",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_is_other_work(alder: Machine, tmp_path: Path, change: str) -> None:
    act, words, wanted = CHANGES[change]
    office = Office(alder, tmp_path / change)
    before = office.submit()
    assert office.result(before) == "words once of a book"
    act(office)
    after = office.submit(*words)
    assert office.result(after) == wanted
    assert office.result(before) == "words once of a book"


def test_the_same_is_answered_with_what_there_is_and_run_anew_when_that_is_wanted(
    alder: Machine, tmp_path: Path
) -> None:
    office = Office(alder, tmp_path / "again")
    office.write("book.txt", "the same book")
    first = office.submit()
    said = alder.said("submit", str(office.file), "--wait")
    assert f"the same is known as {first}, submitted " in said
    assert "which is done, and not run twice; --again runs it anew" in said
    known = alder.answer("submit", str(office.file))
    assert (known["workflow"], known["known"], known["there"]["state"]) == (first, True, "finished")
    anew = alder.answer("submit", str(office.file), "--again")
    assert known["workflow"] != anew["workflow"]
    assert anew["known"] is False
    named = alder.run("status", "words")
    newest = f"called words is meant: {anew['workflow']}, submitted "
    assert newest in named.err
    shown = json.loads(alder.run("status", "words", "--json").out)
    assert shown["workflow"]["workflow"] == anew["workflow"]
    assert shown["meant"]["reason"] == "NewestOf"
    assert alder.answer("status", anew["workflow"]).get("meant") is None
    wait_for(
        lambda: alder.answer("status", anew["workflow"])["workflow"]["state"] == "finished",
        WITHIN_S,
        "the end of the second one",
    )
    watched = [json.loads(alder.run("watch", each, "--json").out) for each in ("words", first)]
    assert [each.get("meant") for each in watched] == [shown["meant"], None]
    office.write("reading.wingbeat.yaml", READER)
    reading = office.submit(file=str(office.folder / "reading.wingbeat.yaml"))
    assert office.result(reading) == "read of words once of the same book"


def test_own_programs_that_found_no_room_are_taken_when_it_is_asked_again(
    alder: Machine, tmp_path: Path
) -> None:
    office, place = Office(alder, tmp_path / "no room"), alder.home.data / "published"
    office.write("count.sh", SCRIPT.replace("out.txt", "roomy.txt"))
    there = place.is_dir()
    if there:
        place.rename(tmp_path / "aside")
    place.touch()
    assert "cannot be taken" in alder.run("submit", str(office.file)).err
    place.unlink()
    if there:
        (tmp_path / "aside").rename(place)
    assert office.result(office.submit()) == "words once of a book"
    assert alder.answer("permissions")["asked"] == []


def test_another_persons_work_of_the_same_name_is_his_own(alder: Machine, tmp_path: Path) -> None:
    office = Office(alder, tmp_path / "two")
    mine = office.submit()
    task = {"id": "count", "gate": True, "asks": "anything"}
    theirs = {"name": "words", "tasks": [task], "submitter": "somebody else"}
    told = json.loads(alder.run("submit", "-", "--json", told=json.dumps(theirs)).out)
    assert told["known"] is False
    shown = json.loads(alder.run("status", "words", "--json").out)["workflow"]
    assert shown["workflow"] != told["workflow"]  # theirs is newer, and mine is meant
    assert shown["submitter"] != "somebody else"
    assert office.result(mine) == "words once of a book"


def test_joining_a_flock_replaces_nobodys_results(tmp_path: Path) -> None:
    machines = [Machine(tmp_path / name) for name in ("birch", "cedar")]
    for machine in machines:
        machine.settle(listen=["127.0.0.1"], volunteer="always")
    birch, cedar = machines
    with (
        birch.agent("--name", "birch", "--port", "0"),
        cedar.agent("--name", "cedar", "--port", "0"),
    ):
        offices = [Office(each, tmp_path / f"of-{each.name}") for each in machines]
        ids = []
        for office in offices:
            office.write("book.txt", f"the book of {office.machine.name}")
            ids.append(office.submit())
        birch.said("flock", "create", "meadow")
        cedar.said("flock", "join", birch.answer("flock", "invite")["text"])
        wait_for(
            lambda: all(each.answer("status")["total"] == 2 for each in machines),
            WITHIN_S,
            "both machines know both workflows",
        )
        administrator, other = offices  # who is none reads what is his alone
        for office, workflow in ((administrator, ids[0]), (administrator, ids[1]), (other, ids[1])):
            owner = machines[ids.index(workflow)].name
            assert office.result(workflow) == f"words once of the book of {owner}"


def test_what_a_gate_asks_about_is_named_with_the_command_that_fetches_it(
    alder: Machine, tmp_path: Path
) -> None:
    office = Office(alder, tmp_path / "look")
    gate = "gates:\n  look: {asks: is it right?, after: [count]}\n"
    office.file.write_text(WORKFLOW.replace("name: words", "name: look at it") + gate)
    told = alder.answer("submit", str(office.file))["workflow"]
    said = "look asks about out.txt: `wingbeat fetch 'look at it/count'`\n"
    wait_for(lambda: said in alder.said("status", told), WITHIN_S, "it waits for a person")
    assert office.result("look at it/count") == "words once of a book"
    assert alder.said("done", "look at it/look") == f"look at it/look is marked done\n{said}"
    assert "asks about" not in alder.said("status", told)
