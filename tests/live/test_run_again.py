"""What failed is tried again with what was mended, and past work runs again with what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.commands import exits
from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

WORKFLOW = """\
programs: {make: make.sh, check: check.sh}
variables:
  of: {default: words}
tasks:
  make: {program: make, parameters: first}
  other: {program: make, parameters: "${of}"}
  check: {program: check, inputs: [make], retries: 0}
"""
MAKE = 'echo "made $2" > out.txt && echo TERMINATED out.txt\n'
STAMP = "open('out.txt', 'w').write('{}')\nprint('TERMINATED out.txt')\n"
FAILS = "echo ERROR no film >&2; exit 1\n"
WORKS = 'echo "checked $(cat "$2")" > out.txt && echo TERMINATED out.txt\n'


@pytest.fixture(scope="module")
def alder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("one") / "alder")
    machine.settle(listen=["127.0.0.1"], volunteer="always", slots=2)
    machine.install("stamp", STAMP.format("first"))
    with machine.agent("--name", "alder", "--port", "0"):
        yield machine


class Work:
    """A workflow in a folder of its own, submitted and over."""

    def __init__(self, machine: Machine, folder: Path, check: str) -> None:
        self.machine, self.folder, self.name = machine, folder, folder.name
        self.file = folder / "work.wingbeat.yaml"
        self.file.write_text(f"name: {self.name}\n{WORKFLOW}")
        self.write(make=MAKE, check=check)
        ran = machine.run("submit", str(self.file), "--wait")
        assert ran.code == (exits.DONE if check == WORKS else exits.WORK_FAILED), ran
        self.first = self.newest()

    def write(self, **scripts: str) -> None:
        for name, text in scripts.items():
            (self.folder / f"{name}.sh").write_text(text)

    def newest(self) -> str:
        return str(next(iter(self.all())))

    def all(self) -> dict[str, str]:
        """The workflows of this name, the newest first, with how they stand."""
        listed = self.machine.answer("status", "--all")["workflows"]
        return {each["workflow"]: each["state"] for each in listed if each["name"] == self.name}

    def over(self, workflow: str) -> dict[str, tuple[str, bool]]:
        """How its steps ended, and whether they were kept, once all have."""
        wait_for(lambda: self.all()[workflow] in ("finished", "failed"), WITHIN_S, "the end")
        tasks = self.machine.answer("status", workflow)["tasks"]
        return {each["name"]: (each["state"], each["kept"]) for each in tasks}

    def result(self, what: str) -> str:
        into = self.folder / f"fetched-{len(list(self.folder.iterdir()))}"
        self.machine.said("fetch", what, "--into", str(into))
        (made,) = (each for each in into.rglob("*") if each.is_file())
        return made.read_text().strip()


DONE, KEPT = ("Terminated", False), ("Terminated", True)


def test_a_mended_script_is_what_retry_means(alder: Machine, tmp_path: Path) -> None:
    work = Work(alder, tmp_path, FAILS)
    work.write(check=WORKS)
    said = alder.said("retry", work.first)
    assert "check has another script: it runs as it is now; --as-it-was tries the old one" in said
    assert "2 of 3 steps are unchanged and kept" in said
    after = work.newest()
    assert after != work.first
    assert work.over(after) == {"make": KEPT, "other": KEPT, "check": DONE}
    assert work.result(f"{after}/check") == "checked made first"
    assert work.all()[work.first] == "failed"
    assert "kept from before" in alder.said("status", after)


def test_more_than_that_is_asked_for(alder: Machine, tmp_path: Path) -> None:
    work = Work(alder, tmp_path, FAILS)
    work.write(check=WORKS, make=MAKE.replace("made", "wrote"))
    said = alder.said("retry", work.first)
    assert "and it runs as it was; --now runs it as it is now" in said
    assert work.newest() == work.first
    wait_for(lambda: work.all()[work.first] == "failed", WITHIN_S, "the old script fails again")
    alder.said("retry", work.first, "--now")
    after = work.newest()
    assert work.over(after) == {"make": DONE, "other": DONE, "check": DONE}
    assert work.result(f"{after}/check") == "checked wrote first"


def test_past_work_runs_with_other_values_and_keeps_the_rest(
    alder: Machine, tmp_path: Path
) -> None:
    work = Work(alder, tmp_path, WORKS)
    would = alder.said("again", work.first, "--set", "of=lines", "--dry-run")
    assert would.splitlines()[:3] == [
        "make kept",
        "other runs: it has other parameters",
        "check kept",
    ]
    assert work.newest() == work.first
    said = alder.said("again", work.first, "--set", "of=lines", "--wait")
    assert "2 of 3 steps are unchanged and kept; `wingbeat again --all` runs them all" in said
    after = work.newest()
    assert work.over(after) == {"make": KEPT, "other": DONE, "check": KEPT}
    assert work.result(f"{after}/other") == "made lines"
    alder.said("again", after, "--set", "of=lines", "--all", "--wait")
    assert set(work.over(work.newest()).values()) == {DONE}


def test_an_installed_program_that_was_edited_runs_anew(alder: Machine, tmp_path: Path) -> None:
    """Its name says nothing of that."""
    file = tmp_path / "stamped.wingbeat.yaml"
    file.write_text(
        "name: stamped\nvariables: {of: {default: words}}\n"
        "tasks:\n  stamp: {program: stamp}\n  other: {program: stamp, parameters: '${of}'}\n"
    )
    alder.said("submit", str(file), "--wait")
    changed = ("again", "stamped", "--set", "of=lines", "--dry-run")
    assert alder.said(*changed).startswith("stamp kept\n")
    (alder.home.programs / "stamp/program.py").write_text(STAMP.format("second"))
    assert alder.said(*changed).startswith("stamp runs: it has another script\n")
    alder.said("again", "stamped", "--set", "of=lines", "--wait")
    assert alder.run("fetch", "stamped/stamp", "--into", str(tmp_path / "fetched")).code == 0
    (made,) = (each for each in (tmp_path / "fetched").rglob("*") if each.is_file())
    assert made.read_text() == "second"


def test_what_is_as_it_was_runs_whole_and_needs_no_file(alder: Machine, tmp_path: Path) -> None:
    work = Work(alder, tmp_path, WORKS)
    work.file.unlink()
    ran = alder.run("again", work.first, "--wait")
    assert ran.code == exits.DONE, ran
    assert "work.wingbeat.yaml cannot be read as it is now" in ran.err
    assert ran.err.endswith("; it runs as it was.\n")
    assert set(work.over(work.newest()).values()) == {DONE}
    assert len(work.all()) == 2
    assert "cannot be read as it is now" in alder.refused("again", work.first, "--set", "of=x")


def test_how_long_it_takes_is_told_where_it_ran_before(alder: Machine, tmp_path: Path) -> None:
    work = Work(alder, tmp_path, WORKS)
    assert alder.answer("again", work.first, "--dry-run")["lasts"]["runs"] > 0
    takes = "what runs takes less than a second, from "
    assert takes in alder.said("again", work.first, "--dry-run")
    work.write(check=WORKS + "# another\n")  # nobody knows how long this one takes
    assert "takes" not in alder.said("again", work.first, "--dry-run")
