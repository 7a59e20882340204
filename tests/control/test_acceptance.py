"""Work with programs of its own: who submits it hears which machines wait for a person."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from agent.api.phrases import worded
from agent.api.reasons import AcceptanceNeeded
from agent.api.wording import near, suggestion
from agent.api.work import PENDING
from agent.control.dry_run import FitTable, Machine, acceptances
from agent.protocol.messages import Capabilities
from agent.protocol.records import Dataset, TaskSpec
from agent.wording.speech import english
from tests.control.serving import LineClient, Serving

FOLDER = Dataset("tree:" + "ab" * 32, 10)
COUNT = TaskSpec("1", "one", "count@abababababab", published=FOLDER)
SPLIT = msgspec.structs.replace(COUNT, task="2", program="split@abababababab")
BOTH, ONLY = "count and split", "only when somebody there accepts"
TO_DO = "`wingbeat programs accept count split`"
HAS_ALL = Machine("n", "alder", Capabilities(programs=(COUNT.program, SPLIT.program)), 1, True)


def machine(name: str, *programs: str, takes: bool = False) -> Machine:
    return replace(
        HAS_ALL, name=name, capabilities=Capabilities("", "", 0, 0, 0, programs, (), takes)
    )


@pytest.mark.parametrize(
    ("machines", "sentences"),
    [
        ([HAS_ALL, machine("birch", takes=True)], []),
        (
            [HAS_ALL, machine("birch", COUNT.program)],
            [f"birch runs split {ONLY} it: `wingbeat programs accept split`"],
        ),
        (
            [HAS_ALL, *(machine(f"m{number}") for number in range(6))],
            [f"m0, m1, m2 and 3 others run {BOTH} {ONLY} them: {TO_DO}"],
        ),
    ],
)
def test_the_sentences(machines: list[Machine], sentences: list[str]) -> None:
    installed = TaskSpec("3", "three", "convert")
    assert [
        english(each) for each in acceptances((COUNT, SPLIT, COUNT, installed), machines)
    ] == sentences


def test_what_another_machine_brings_is_not_accepted_here_by_itself() -> None:
    brought = msgspec.structs.replace(COUNT, published=Dataset(f"{PENDING}count", 0))
    machines = [machine("alder"), machine("birch", COUNT.program)]
    assert acceptances((brought,), machines) == []
    assert [each.name for each in FitTable(machines).of(brought).machines] == ["alder", "birch"]
    (told,) = acceptances((brought,), machines, far=True)
    assert told == AcceptanceNeeded(("alder",), ("count",))
    fits = FitTable(machines, far=True).of(brought)
    assert [each.name for each in fits.machines] == ["birch"]
    assert [each.name for each in fits.misfits] == ["alder"]


async def test_submit_and_why_tell_of_it(there: Serving, client: LineClient) -> None:
    dataset = {"dataset": FOLDER.dataset, "size_bytes": 10}
    task = {"id": "one", "program": COUNT.program, "published": dataset}
    told = await client.result("submit", {"name": "words", "tasks": [task]})
    waits = "birch and alder run count only when somebody there accepts it"
    assert told["waits"] == [f"{waits}: `wingbeat programs accept count`"]
    story = await client.result("why", {"task": "one"})
    assert story["now"] == (
        "one has all that it needs; it waits until somebody accepts its program count on "
        "birch and alder"
    )
    remedy = f"`wingbeat programs accept {COUNT.program}` there lets it"
    assert story["machines"] == [
        f"{name} does not take the published program {COUNT.program}: {remedy}"
        for name in ("birch", "alder")
    ]


def test_a_published_program_is_suggested_by_its_bare_name() -> None:
    known = ["county", "count@abababababab", "count@cdcdcdcdcdcd"]
    both = "; did you mean count@abababababab or count@cdcdcdcdcdcd?"
    assert suggestion("count", known) == both
    assert suggestion("cunty", known) == "; did you mean county?"
    hints = [near(word, known) for word in ("count", "cunty")]
    assert [f"; {worded(hint)}" for hint in hints if hint] == [both, "; did you mean county?"]
