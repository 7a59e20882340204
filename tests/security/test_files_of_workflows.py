"""Workflow files of people whom nobody knows: what they take along, and how they hang a reader."""

from __future__ import annotations

import asyncio
import glob
import os
import socket
import time
from pathlib import Path

import pytest

from agent.paths import VARIABLE, Home
from agent.regular_files import NOT_REGULAR, open_regular
from agent.workflow import patterns
from agent.workflow.faults import FaultsError
from agent.workflow.leaving import leaving
from agent.workflow.model import Workflow
from agent.workflow.one_program import Alone, describe_file
from agent.workflow.reading import Asked, Description
from agent.workflow.submission import Wanted, prepare
from tests.certain import certain

SOON_S = 5.0
TASK = "name: w\nprograms: {run: run.sh}\ntasks:\n  a:\n    program: run\n    data: %s\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a workflow, beside a folder with a secret."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("of the bank")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "run.sh").write_text("#!/bin/sh\necho done\n")
    (folder / "scan.las").write_text("points")
    return folder


def read(folder: Path, data: str, granted: tuple[Path, ...] = (), **values: str) -> Description:
    path = folder / "w.wingbeat.yaml"
    text = TASK % data
    if values:
        declared = "".join(f"  {name}: {{type: text}}\n" for name in values)
        text = f"variables:\n{declared}{text}"
    path.write_text(text)
    return describe_file(path, Asked(values, granted=granted, start=folder), Alone())


def workflow(found: Description) -> Workflow:
    assert found.faults == ()
    return certain(found.workflow)


class NobodyMayAsk:
    """A client to which nothing may be said."""

    async def call(self, method: object, params: object) -> object:
        raise AssertionError(f"{method} was asked {params}")


@pytest.mark.parametrize(
    "data", ["../secrets/key", "../secrets", "../secrets/*", "{whole}", "link", "[scan.las, link]"]
)
def test_file_outside_folder_needs_confirmation(folder: Path, data: str) -> None:
    secrets = folder.parent / "secrets"
    (folder / "link").symlink_to(secrets / "key")
    found = workflow(read(folder, data.format(whole=secrets / "key")))
    asked = secrets / "key" if data not in ("../secrets", "../secrets/*") else secrets
    assert found.outside == (asked,)
    with pytest.raises(FaultsError, match="lies outside of its folder"):
        asyncio.run(prepare(NobodyMayAsk(), found, Wanted()))  # type: ignore[arg-type]
    told = [each for each in leaving(found, folder) if each.outside]
    assert [each.size_bytes for each in told] == [len("of the bank")]
    assert workflow(read(folder, data.format(whole=secrets / "key"), (asked,))).outside == ()


def test_confirming_one_does_not_confirm_another(folder: Path) -> None:
    (folder.parent / "other").write_text("another secret")
    (folder.parent / "third").write_text("a third one")
    granted = (folder.parent / "other",)
    found = workflow(read(folder, "[../other, ../secrets/key, ../third]", granted))
    assert found.outside == (folder.parent / "secrets" / "key", folder.parent / "third")


def test_what_lies_below_the_folder_needs_none(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "b.las").touch()
    found = workflow(read(folder, "[scan.las, inner, inner/*.las]"))
    assert found.outside == ()
    assert [(Path(each.path).name, each.size_bytes) for each in leaving(found, folder)] == [
        ("scan.las", 6),
        ("inner", 0),
        ("b.las", 0),
        ("run.sh", 20),
    ]


def test_what_the_person_has_typed_needs_none(folder: Path) -> None:
    given = str(folder.parent / "secrets")
    found = workflow(read(folder, "${place}/key", place=given))
    assert found.outside == ()
    alone = Alone(files=(f"{given}/*",))
    found = workflow(describe_file(folder / "run.sh", Asked({}, start=folder), alone))
    assert (len(found.files), found.outside) == (1, ())


@pytest.mark.parametrize(
    "field", ["parameters_file: ../secrets/key", "for_each: {l: {lines: ../secrets/key}}"]
)
def test_a_text_from_outside_is_asked_for_too(folder: Path, field: str) -> None:
    path = folder / "w.wingbeat.yaml"
    used = "\n    parameters: ${l}" if "lines" in field else ""
    path.write_text(f"{TASK % 'scan.las'}    {field}{used}\n")
    found = workflow(describe_file(path, Asked({}), Alone()))
    assert found.outside == (folder.parent / "secrets" / "key",)
    assert folder.parent / "secrets" / "key" in [
        Path(each.path).resolve() for each in leaving(found, folder)
    ]


def test_a_program_from_outside_is_asked_for_too(folder: Path) -> None:
    (folder / "run.sh").rename(folder.parent / "run.sh")
    path = folder / "w.wingbeat.yaml"
    path.write_text((TASK % "scan.las").replace("run.sh", "../run.sh"))
    found = workflow(describe_file(path, Asked({}), Alone()))
    assert found.outside == (folder.parent / "run.sh",)


@pytest.mark.parametrize(
    "data", ["../home/data/identity/node.key", "../home/data", "../home", ".."]
)
def test_the_agents_own_folders_never_go_along(
    folder: Path, monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    home = Home.at(folder.parent / "home")
    home.prepare()
    home.identity.mkdir()
    (home.identity / "node.key").write_text("secret")
    monkeypatch.setenv(VARIABLE, str(folder.parent / "home"))
    for granted in ((), (folder.parent,)):
        found = read(folder, data, granted)
        assert "its keys are never sent" in found.faults[0].sentence()
        assert found.workflow is None


# -- what would hang or drown a reader -------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes in folders")
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize(
    "place", ["workflow", "script", "parameters_file", "lines", "data", "alone"]
)
def test_fifo_and_device_do_not_hang(folder: Path, kind: str, place: str) -> None:
    strange = folder / ("w.wingbeat.yaml" if place == "workflow" else "strange.sh")
    listening = socket.socket(socket.AF_UNIX) if kind == "socket" else None
    if listening is not None:
        here = Path.cwd()
        os.chdir(folder)  # its name may have 107 letters
        listening.bind(strange.name)
        os.chdir(here)
        listening.close()
    elif kind == "pipe":
        os.mkfifo(strange)
    else:
        strange.symlink_to("/dev/zero")
    path = folder / "w.wingbeat.yaml"
    fields = {
        "parameters_file": "    parameters_file: strange.sh\n",
        "lines": "    for_each: {l: {lines: strange.sh}}\n    parameters: ${l}\n",
    }
    if place in ("script", "data", *fields):
        text = TASK % ("strange.sh" if place == "data" else "scan.las")
        text = text.replace("run.sh", "strange.sh") if place == "script" else text
        path.write_text(text + fields.get(place, ""))
    begin = time.monotonic()
    found = describe_file(strange if place == "alone" else path, Asked({}), Alone())
    assert time.monotonic() - begin < SOON_S
    assert found.workflow is None
    assert found.faults
    assert all("\n" not in each.sentence() for each in found.faults)


def test_what_is_opened_is_what_was_looked_at(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=NOT_REGULAR):
        open_regular(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(20):
        with pytest.raises(OSError, match=NOT_REGULAR):
            open_regular(Path("/dev/null"))
    assert not before or len(list(Path("/proc/self/fd").iterdir())) == before


def test_recursive_pattern_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "ENTRIES_MAX", 5_000)
    begin_s = time.process_time()
    found = read(folder, "/**/*")
    assert time.process_time() - begin_s < SOON_S
    assert "looks through more files than a workflow may" in found.faults[0].sentence()


def test_patterns_together_are_bounded_by_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "SECONDS_MAX", 0.0)
    monkeypatch.setattr(patterns, "ENTRIES_MAX", 10_240)
    assert "looks through" in read(folder, "/**/*").faults[0].sentence()


def test_a_circle_of_links_ends(folder: Path) -> None:
    (folder / "round").mkdir()
    (folder / "round" / "again").symlink_to(folder)
    found = {each.name for each in patterns.fitting(folder, "**/*.las", patterns.Budget())}
    assert found == {"scan.las"}


def test_patterns_fit_as_those_of_glob(folder: Path) -> None:
    for name in ("a/b/c.las", "a/d.las", ".hidden/e.las", "a/.f.las", "a/b/g.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    for pattern in (
        "*",
        "**",
        "**/*.las",
        "a/*",
        "*/*/*",
        "a/**/*.las",
        "?can.las",
        "[sa]*",
        "a/b",
        ".hidden/*",
    ):
        own = sorted(map(str, patterns.fitting(folder, pattern, patterns.Budget())))
        found = glob.glob(str(folder / pattern), recursive=True)  # noqa: PTH207 - to compare with
        theirs = {str(Path(each)) for each in found}
        assert own == sorted(theirs - {str(folder)}), pattern


def test_more_tasks_than_a_workflow_may_have_are_refused_at_once(folder: Path) -> None:
    text = "name: w\nprograms: {run: run.sh}\ntasks:\n" + "".join(
        f"  t{number}: {{program: run, for_each: {{i: {{from: 1, to: 99999}}}}, parameters: '${{i}}'}}\n"
        for number in range(40)
    )
    path = folder / "w.wingbeat.yaml"
    path.write_text(text)
    begin_s = time.process_time()
    found = describe_file(path, Asked({}), Alone())
    assert time.process_time() - begin_s < SOON_S
    assert any("at most" in each.sentence() for each in found.faults)


LAUGHS = "\n".join(
    [
        "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)),
        "tasks: {a: {program: copy, parameters: *a9}}",
    ]
)
ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMBS = {
    "laughs.yaml": LAUGHS,
    "itself.yaml": "a: &a [*a]\ntasks: {a: {program: copy}}",
    "merged.yaml": "a: &a {x: 1}\nb: &b {<<: [" + ", ".join(["*a"] * 100_000) + "]}\n",
    "deep.yaml": "a: " + "[" * 50_000,
    "tags.yaml": "tasks: !!python/object/apply:os.system [true]",
    "holes.yaml": "tasks: {a: {program: copy, parameters: '" + "${" * 200_000 + "'}}",
    "laughs.xml": f'<!DOCTYPE x [<!ENTITY l0 "lol">{ENTITIES}]><workflow>&l9;</workflow>',
    "outside.xml": '<!DOCTYPE x [<!ENTITY l SYSTEM "file:///etc/passwd">]><workflow>&l;</workflow>',
    "deep.xml": "<a>" * 200_000,
    "many.xml": "<workflow>" + "<a/>" * 1_000_000 + "</workflow>",
}
BOMB_S = 5.0
"""So long a reader may take for the worst of them on a busy machine; unbounded, hours."""


@pytest.mark.parametrize("name", BOMBS)
def test_yaml_and_xml_bombs_refused(folder: Path, name: str) -> None:
    path = folder / f"w.wingbeat.{name.rpartition('.')[2]}"
    path.write_text(BOMBS[name])
    begun_s = time.process_time()
    found = describe_file(path, Asked({}), Alone())
    assert found.workflow is None
    assert found.faults
    assert all(len(each.sentence()) < 2_000 for each in found.faults)
    assert "root:" not in "".join(each.sentence() for each in found.faults)
    assert time.process_time() - begun_s < BOMB_S
