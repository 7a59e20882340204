"""A script alone at the command line, and what is said where no machine helps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for


@pytest.fixture(scope="module")
def ant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """It helps when nobody uses it, and cannot see whether anybody does."""
    made = Machine(tmp_path_factory.mktemp("machines") / "ant", answer="when idle")
    with made.agent("--name", "ant", "--port", "0"):
        yield made


def test_a_script_waits_for_help_or_runs_now_and_is_told_its_files(
    ant: Machine, tmp_path: Path
) -> None:
    script = tmp_path / "my count.sh"
    script.write_text('cat "$2" > all.txt; echo "$@"; echo TERMINATED all.txt\n')
    pages = [tmp_path / f"page {number}.txt" for number in (1, 2)]
    for each in pages:
        each.write_text(each.stem)
    files = [str(each) for each in pages]
    said = ant.said("submit", str(script), "--with", *files, "--each", "--parameters", "fast")
    first = "no machine helps at the moment: it starts as soon as one does, or with "
    assert f"{first}`wingbeat priority my-count interactive` now on ant" in said
    ant.said("pause")
    paused = ant.said("submit", str(script), "--name", "another")
    assert paused.endswith("it starts as soon as one does; ant is paused\n")
    ant.said("resume")
    now = ant.said("submit", str(script), "--name", "now", "--priority", "interactive", "--wait")
    assert "no machine helps" not in now
    ant.said("priority", "my-count", "interactive")
    wait_for(lambda: "2/2" in ant.said("status"), WITHIN_S, "both have ended")
    ant.said("fetch", "my-count", "--all", "--into", str(tmp_path / "fetched"))
    texts = {each.read_text() for each in (tmp_path / "fetched").rglob("*") if each.is_file()}
    assert texts == {"page 1", "page 2"}


def test_a_step_has_a_priority_of_its_own(ant: Machine, tmp_path: Path) -> None:
    """Nobody helps here: what is interactive runs all the same, on the machine of its person."""
    (tmp_path / "work.sh").write_text("echo TERMINATED\n")
    steps = "{a: {program: w, priority: interactive}, b: {program: w}, c: {program: w, once: yes}}"
    file = tmp_path / "steps.wingbeat.yaml"
    file.write_text(f"programs: {{w: work.sh}}\ntasks: {steps}")
    ant.said("submit", str(file), "--step-priority", "b=20")

    def told() -> dict[str, tuple[str, int | None]]:
        tasks = ant.answer("status", "steps")["tasks"]
        return {each["name"]: (each["state"], each["priority"]) for each in tasks}

    wait_for(lambda: told()["a"][0] == "Terminated", WITHIN_S, "the interactive step has ended")
    assert told() == {"a": ("Terminated", 100), "b": ("Ready", 20), "c": ("Ready", None)}
    said = ant.said("priority", "steps", "interactive", "--step", "b", "--step", "c")
    assert said == "b and c of steps are of priority interactive now\n"
    wait_for(lambda: told()["c"][0] == told()["b"][0] == "Terminated", WITHIN_S, "all have ended")
    assert "its own priority is 100 now\n" in ant.said("why", "steps/b")
    wrong = ant.refused("submit", str(file), "--again", "--step-priority", "d=20")
    assert 'there is no step "d"' in wrong


def test_what_needs_an_extra_that_nobody_has_says_how_to_bring_it(
    ant: Machine, tmp_path: Path
) -> None:
    (tmp_path / "work.sh").write_text("echo TERMINATED\n")
    text = "programs: {w: work.sh}\ntasks: {a: {program: w, requirements: {tags: ['wingbeat[x]']}}}"
    (tmp_path / "flow.wingbeat.yaml").write_text(text)
    said = ant.said("submit", str(tmp_path / "flow.wingbeat.yaml"))
    brings = "no machine has wingbeat[x]; the command that brings it is pip install 'wingbeat[x]'"
    assert f"{brings} (1 task of this will wait)" in said


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("flow.wingbeat.yaml", "--each"), "a workflow says itself how each of its steps runs"),
        (("photo.jpg",), "is neither a workflow nor a program"),
        (("count.sh", "--each"), "choose the files for each of which it is to run"),
        (("count.sh", "--with", "none.txt"), "there is no file"),
    ],
)
def test_what_cannot_run_alone_is_said(
    ant: Machine, tmp_path: Path, words: tuple[str, ...], because: str
) -> None:
    for name in ("flow.wingbeat.yaml", "photo.jpg", "count.sh"):
        (tmp_path / name).write_text("tasks: {a: {program: imprt}}\n")
    name, *more = words
    assert because in ant.refused("submit", str(tmp_path / name), *more)
