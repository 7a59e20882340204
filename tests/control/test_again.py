"""What differs from how it ran, and what of it is kept."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw, msgpack
from msgspec.structs import replace

from agent.api.again import Difference
from agent.api.errors import RefusedError
from agent.control.verbs.again import by_names, compare, differences
from agent.protocol.identity import PROGRAM, called, with_programs
from agent.protocol.records import Dataset, InputRef, PriorityWish, TaskSpec, Workflow
from tests.control.serving import SURVEY, LineClient, Serving, workflow

BEFORE = TaskSpec("b", "b", "sum@1", (InputRef("a", 0),), (Dataset("sha256:1", 1),), ("c",))


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({}, ()),
        ({"program": "sum@2"}, ("program",)),
        ({"published": Dataset("tree:2", 9)}, ("program",)),
        ({"raw": (Dataset("sha256:2", 1),)}, ("data",)),
        ({"parameters": "3", "raw": ()}, ("data", "parameters")),
        ({"inputs": (InputRef("a", 1),)}, ("inputs",)),
        ({"after": ()}, ("inputs",)),
        ({"gate": True, "program": ""}, ("program", "step")),
        ({"expected_ms": 5, "failures_max": 9}, ()),  # its result has to be the same
    ],
)
def test_in_what_a_step_differs(changes: dict[str, Any], differs: tuple[Difference, ...]) -> None:
    assert differences(BEFORE, replace(BEFORE, **changes)) == differs
    assert differences(None, BEFORE) == ("new",)


@pytest.mark.parametrize(
    ("was", "now", "differs"),
    [("", "", ()), ("1", "1", ()), ("1", "2", ("program",)), ("", "2", ()), ("1", "", ())],
)
def test_an_installed_program_is_what_it_is_and_its_name(
    was: str, now: str, differs: tuple[Difference, ...]
) -> None:
    """Where either says nothing, as records of before do, its name is all there is."""
    told = [
        with_programs([BEFORE], {"sum@1": {PROGRAM: Raw(msgpack.encode(each))}} if each else {})[0]
        for each in (was, now)
    ]
    assert differences(told[0], told[1]) == differs


async def test_what_is_kept_ended_well_and_needs_only_what_is_kept(
    there: Serving, client: LineClient
) -> None:
    """copy and spare are done, check is a person's; merge needs copy, and comes behind check."""
    await client.result("submit", workflow())
    there.node.volunteer()
    there.node.succeed_all()
    table = there.node.node.table
    past = table.workflows[SURVEY]
    specs = by_names(past.spec)

    def kept(*changed: str, anew: bool = False) -> set[str]:
        now = [replace(e, parameters="9") if e.name in changed else e for e in specs]
        found = compare(table, past, now, anew=anew)
        assert {step.name for step in found.steps if step.kept} == set(found.kept)
        assert {step.name for step in found.steps if step.differs} == set(changed)
        return set(found.kept)

    assert kept() == {"copy", "spare"}
    assert kept("spare") == {"copy"}
    assert kept("copy") == {"spare"}
    assert kept(anew=True) == set()
    once_more = compare(table, past, specs, anew=False, steps=("copy",))
    assert set(once_more.kept) == {"spare"}
    with pytest.raises(RefusedError, match="survey has no step cpy"):
        compare(table, past, specs, anew=False, steps=("cpy",))
    gone = compare(table, past, specs[:1], anew=False)
    assert gone.gone == ("check", "merge", "spare")
    assert gone.kept == {}  # all that is left had ended well, and runs
    shown = await client.result("again", {"workflow": "survey", "submitter": "ada"})
    tasks = (await client.result("show", {"workflow": shown["workflow"]}))["tasks"]
    assert {each["name"] for each in tasks if each["kept"]} == {"copy", "spare"}


async def test_files_are_read_again_only_of_what_was_submitted_here(
    there: Serving, client: LineClient
) -> None:
    """A record that says so is no proof: its paths are those that its writer wanted to be read."""
    await client.result("submit", workflow() | {"origin": {"path": "/home/ada/survey.yaml"}})
    core = there.node.node._core
    mine = core.table.workflows[SURVEY].spec
    ids = {spec.task: f"forged/{spec.name}" for spec in mine.tasks}
    forged = replace(
        mine, workflow="forged", name="forged", tasks=called(mine.tasks, ids.__getitem__)
    )
    core.learn("elmnode", [Workflow(forged, PriorityWish(1, mine.host, 50))])
    told = {
        name: (await client.result("again", {"workflow": name, "dry": True}))["origin"]["path"]
        for name in (SURVEY, "forged")
    }
    assert told == {SURVEY: "/home/ada/survey.yaml", "forged": "survey.yaml"}
