"""What would become of a submission: which machine each task goes to, when, and where a person decides."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from agent.api.flock import PeerView
from agent.api.phrases import worded
from agent.api.reasons import AcceptanceNeeded
from agent.api.values import Capabilities
from agent.api.wording import near, suggestion
from agent.api.work import PENDING, Basis, Submit
from agent.control.dry_run import acceptances, plan_tasks
from agent.control.estimates import TaskProgress
from agent.control.fitting import FitTable, seen, slots_of, takes_work
from agent.control.verbs.submitting import specs_of
from agent.control.views import Views, peer_view
from agent.protocol.likeness import PastRun
from agent.protocol.records import (
    Claim,
    Dataset,
    Life,
    Requirements,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    TaskState,
)
from agent.wording.speech import english
from tests.control.serving import LineClient, Serving
from tests.control.surface import ALDER, WALL_MS, FakeNode


def task(name: str, expected_s: float = 10, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "program": "copy", "expected_s": expected_s, "after": list(after), **more}


def planned(
    node: FakeNode, *tasks: dict[str, Any], priority: int = 50
) -> tuple[dict[str, tuple[float, float]], float]:
    """When each task would begin and end, and the end of all, in seconds from now."""
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    specs = specs_of(msgspec.convert({"name": "new", "tasks": tasks}, Submit), str)
    plans, end = plan_tasks(views, specs, priority, "ana")
    return {each.task: (each.begins_s, each.ends_s) for each in plans}, end.s


def flock(node: FakeNode, *slots: int, own: int = 1, own_helps: bool = True) -> None:
    """This machine, and others with so many slots, all of which can copy."""
    peers = tuple(
        structs.replace(
            ALDER,
            node=f"peer{number}",
            name=f"peer{number}",
            slots=each,
            capabilities=Capabilities(programs=("copy",)),
        )
        for number, each in enumerate(slots)
    )
    node.known = replace(node.known, peers=peers, slots=own, volunteering=own_helps)


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    made = FakeNode(tmp_path)
    flock(made)
    return made


def test_one_after_the_other_where_there_is_one_slot(node: FakeNode) -> None:
    times, end_s = planned(node, task("a", 10), task("b", 4), task("c", 6, "b"))
    assert times == {"a": (0.0, 10.0), "b": (10.0, 14.0), "c": (14.0, 20.0)}
    assert end_s == 20.0


def test_the_longest_remaining_path_goes_first(node: FakeNode) -> None:
    times, end_s = planned(node, task("short", 5), task("long", 3), task("rest", 4, "long"))
    assert (times["long"], times["short"], times["rest"]) == ((0, 3), (3, 8), (8, 12))
    assert end_s == 12


def test_slots_run_beside_each_other(node: FakeNode) -> None:
    flock(node, 1, own=2)
    times, end_s = planned(node, *(task(name, 10) for name in "abcd"))
    assert sorted(times.values()) == [(0, 10), (0, 10), (0, 10), (10, 20)]
    assert end_s == 20


def slow(node: FakeNode, *slowness: float) -> None:
    """Have it known by how much longer this machine and the others take for what takes 20 s."""
    (spec,) = specs_of(msgspec.convert({"name": "old", "tasks": [task("a", 0)]}, Submit), str)
    lengths = node.node.lengths
    kind, hosts = lengths.kind(spec), [each.node for each in seen(node.now())]
    for number in range(64):
        runs = [
            PastRun(f"{host} {number}", kind, host, round(20_000 * factor))
            for host, factor in zip(hosts, slowness, strict=True)
        ]
        lengths.remember(runs)


@pytest.mark.parametrize(
    ("slowness", "tasks", "ends"),
    [
        ((1, 1, 1), 4, [20, 20, 20, 40]),
        ((1, 1, 4), 3, [20, 20, 40]),
        ((1, 4, 1), 4, [20, 20, 40, 40]),
        ((2, 2, 1), 1, [20]),
        ((2, 2, 1), 4, [20, 40, 40, 40]),
    ],
)
def test_a_task_goes_to_the_machine_that_ends_it_first(
    node: FakeNode, slowness: tuple[float, ...], tasks: int, ends: list[float]
) -> None:
    """Also to one that is at work still, where one that is free takes longer."""
    flock(node, 1, 1)
    slow(node, *slowness)
    times, end_s = planned(node, *(task(name, 0) for name in "abcd"[:tasks]))
    assert sorted(end for _, end in times.values()) == pytest.approx(ends, rel=0.06)
    assert end_s == pytest.approx(ends[-1], rel=0.06)


def test_a_gate_takes_no_time_and_no_slot(node: FakeNode) -> None:
    gate = {"id": "look", "gate": True, "after": ["a"]}
    times, end_s = planned(node, task("a", 10), gate, task("b", 5, "look"))
    assert (times["look"], times["b"], end_s) == ((10, 10), (10, 15), 15)


@pytest.mark.parametrize(("own_helps", "end_s"), [(True, 10.0), (False, 20.0)])
def test_who_does_not_help_gets_nothing(node: FakeNode, own_helps: bool, end_s: float) -> None:
    flock(node, 1, own_helps=own_helps)
    assert planned(node, task("a"), task("b"))[1] == end_s


@pytest.mark.parametrize(
    ("wanted", "own_helps", "ends", "basis"),
    [
        ((task("a"),), False, inf, None),
        ((task("a"), task("b", 0)), True, inf, None),
        ((task("b", 60),), True, 60, Basis(told=True)),
        ((task("short", 0),), True, 4, Basis(runs=3, low_ms=3_000, high_ms=5_000)),
        ((task("a"), task("short", 7)), True, 15, Basis(told=True, runs=3)),
    ],
    ids=["nobody helps", "nobody knows", "told the usual", "earlier runs", "both"],
)
def test_no_end_is_invented(
    node: FakeNode, wanted: tuple[dict[str, Any], ...], own_helps: bool, ends: float, basis: Basis
) -> None:
    """Three earlier runs of a step took 3 s to 5 s; what is told counts as two of 7 s."""
    flock(node, own_helps=own_helps)
    (short,) = specs_of(msgspec.convert({"name": "old", "tasks": [task("short", 0)]}, Submit), str)
    lengths = node.node.lengths
    if ends != inf:
        kind = lengths.kind(short)
        lengths.remember(PastRun(str(ms), kind, "elm", ms) for ms in (3_000, 5_000, 4_000))
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    specs = specs_of(msgspec.convert({"name": "new", "tasks": wanted}, Submit), str)
    plans, end = plan_tasks(views, specs, 50, "ana")
    assert (end.s, end.told) == (ends, basis)
    assert any(each.ends is None for each in plans) is (ends == inf)


@pytest.mark.parametrize(("priority", "begins_s"), [(50, 8.0), (51, 0.0), (49, 8.0)])
def test_what_is_there_already_goes_before(node: FakeNode, priority: int, begins_s: float) -> None:
    """Two tasks of 8 s in all on this machine, which has one slot."""
    tasks = [task("x", 3), task("y", 5)]
    node.handle_submission({"name": "old", "tasks": tasks, "priority": 50})
    times, _ = planned(node, task("a"), priority=priority)
    assert times["a"] == (begins_s, begins_s + 10)


def test_what_waits_is_shared_and_what_runs_is_its_machines_own(node: FakeNode) -> None:
    """One of 6 s runs here, one of 6 s waits; two slots here, and two elsewhere."""
    node.handle_submission({"name": "old", "tasks": [task("x", 6), task("y", 6, "x")]})
    flock(node, 2, own=2)
    assert planned(node, task("a"))[0]["a"][0] == 3.0
    node.volunteer()
    run = next(iter(node.table.owned.values()))
    at_s = run.stamp[0] / 1000
    views = Views(node.now(), TaskProgress(lambda: at_s))
    specs = specs_of(msgspec.convert({"name": "new", "tasks": [task("a")]}, Submit), str)
    (plan,), _ = plan_tasks(views, specs, 50, "ana")
    assert plan.begins_s == 1.5
    flock(node, own=2)
    views = Views(node.now(), TaskProgress(lambda: at_s))
    (plan,), _ = plan_tasks(views, specs, 50, "ana")
    assert (plan.begins_s, plan.begins) == (6.0, Basis(told=True))


def test_where_a_task_could_run_and_why_not_elsewhere(node: FakeNode) -> None:
    flock(node, 1)
    (peer,) = node.known.peers
    other = structs.replace(peer, name="bare", node="bare", capabilities=Capabilities())
    node.known = replace(node.known, peers=(peer, other))
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    told = {"name": "new", "tasks": [task("a"), {"id": "g", "gate": True}]}
    (plan, gate), _ = plan_tasks(views, specs_of(msgspec.convert(told, Submit), str), 50, "ana")
    assert plan.fits == ("birch", "peer0")
    assert [(each.name, each.reason) for each in plan.misfits] == [("bare", "has no program copy")]
    assert (gate.fits, gate.misfits) == ((), ())


def test_this_machine_is_the_first_that_is_seen(node: FakeNode) -> None:
    flock(node, 0, 3, own=0, own_helps=False)
    told = [(each.name, slots_of(each), each.volunteering) for each in seen(node.now())]
    assert told == [("birch", 1, False), ("peer0", 1, True), ("peer1", 3, True)]
    assert seen(node.now())[0].capabilities.programs == ("copy",)


FOLDER = Dataset("tree:" + "ab" * 32, 10)
COUNT = TaskSpec("1", "one", "count@abababababab", published=FOLDER)
SPLIT = msgspec.structs.replace(COUNT, task="2", program="split@abababababab")
BOTH, ONLY = "count and split", "only when somebody there accepts"
TO_DO = "`wingbeat permissions` there tells who asks"
HAS_ALL = PeerView(
    "n", "alder", "linked", capabilities=Capabilities(programs=(COUNT.program, SPLIT.program))
)


def machine(name: str, *programs: str, takes: bool = False) -> PeerView:
    return structs.replace(
        HAS_ALL, name=name, capabilities=Capabilities("", "", 0, 0, 0, programs, (), takes)
    )


@pytest.mark.parametrize(
    ("machines", "sentences"),
    [
        ([HAS_ALL, machine("birch", takes=True)], []),
        (
            [HAS_ALL, machine("birch", COUNT.program)],
            [f"birch runs split {ONLY} it: {TO_DO}"],
        ),
        (
            [HAS_ALL, *(machine(f"m{number}") for number in range(6))],
            [f"m0, m1, m2 and 3 others run {BOTH} {ONLY} them: {TO_DO}"],
        ),
    ],
)
def test_the_sentences(machines: list[PeerView], sentences: list[str]) -> None:
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


def test_what_is_brought_here_and_needs_an_extra_says_which() -> None:
    needs = Requirements(tags=("wingbeat[x]",))
    brought = msgspec.structs.replace(
        COUNT, published=Dataset(f"{PENDING}count", 0), requirements=needs
    )
    (told,) = FitTable([machine("alder")]).of(brought).misfits
    assert told.reason == (
        "has no wingbeat[x]; the command that brings it is pip install 'wingbeat[x]'"
    )


async def test_whether_an_extra_is_here_is_found_out_before_that_is_told(
    there: Serving, client: LineClient
) -> None:
    tagged = {**task("one"), "requirements": {"tags": ["wingbeat[inspection]"]}}
    await client.result("plan", {"workflow": {"name": "line", "tasks": [tagged]}})
    assert there.node.published.looked_for == {"wingbeat[inspection]"}


async def test_submit_and_why_tell_of_it(there: Serving, client: LineClient) -> None:
    dataset = {"dataset": FOLDER.dataset, "size_bytes": 10}
    task = {"id": "one", "program": COUNT.program, "published": dataset}
    told = await client.result("submit", {"name": "words", "tasks": [task]})
    waits = "birch and alder run count only when somebody there accepts it"
    assert told["waits"] == [f"{waits}: {TO_DO}"]
    story = await client.result("why", {"task": "one"})
    assert story["now"] == (
        "one has all that it needs; birch and alder could run it, but nobody there has allowed "
        "count yet"
    )
    remedy = f"{TO_DO}, and lets it"
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


def test_a_machine_whose_owner_has_named_others_is_no_place_for_it(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    flock(node, 1, 1, own_helps=False)
    first, second = node.known.peers
    node.known = replace(node.known, peers=(structs.replace(first, people=("Bia",)), second))
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    specs = specs_of(msgspec.convert({"name": "new", "tasks": [task("A")]}, Submit), str)
    places = {name: plan_tasks(views, specs, 50, name)[0][0] for name in ("ana", "bia")}
    assert {"peer0", "peer1"}.issubset(places["bia"].fits)
    assert "peer0" not in places["ana"].fits
    (told,) = [each.reason for each in places["ana"].misfits if each.name == "peer0"]
    assert told.endswith("helps only Bia")


def test_a_machine_whose_owner_bans_them_is_no_place_for_it(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    flock(node, 1, 1, own_helps=False)
    first, second = node.known.peers
    node.known = replace(node.known, peers=(structs.replace(first, bans=("Bia", "copy")), second))
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    (spec,) = specs_of(msgspec.convert({"name": "new", "tasks": [task("A")]}, Submit), str)
    other = structs.replace(spec, program="count")
    (banned, _), _ = plan_tasks(views, (spec, other), 50, "ana")
    (told,) = [each.reason for each in banned.misfits if each.name == "peer0"]
    assert told == "takes no work of copy"
    (plan,), _ = plan_tasks(views, (other,), 50, "bia")
    assert "peer0" not in plan.fits


def test_seats_of_the_flock_are_shared_among_the_tasks_that_need_them(node: FakeNode) -> None:
    """Three machines would run three at once; of acme there are two."""
    flock(node, 1, 1)
    seats = {"requirements": {"seats": [{"name": "acme", "most": 2}]}}
    tasks = [task(name, 10) | seats for name in "abc"] + [task("d", 10)]
    times, _ = planned(node, *tasks)
    assert sorted(times[name][0] for name in "abc") == [0.0, 0.0, 10.0]


def test_what_waits_for_a_seat_says_so_with_who_has_it(node: FakeNode) -> None:
    seats = {"requirements": {"seats": [{"name": "acme", "most": 1}]}}
    node.handle_submission({"name": "w", "tasks": [task(name, 10) | seats for name in "ab"]})
    node.volunteer()
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    told = [views.task(spec) for spec in node.table.specs.values()]
    (waiting,) = [each.reason for each in told if each.state is TaskState.READY]
    assert waiting == "waits for a seat of acme (1 of 1 taken: by birch)"


@pytest.mark.parametrize(
    ("stamp_ms", "reason"),
    [(0, "waits for a seat of acme (1 of 1 taken: by alder)"), (WALL_MS + 1, "")],
)
def test_a_machine_that_is_gone_holds_no_seat(node: FakeNode, stamp_ms: int, reason: str) -> None:
    seats = {"requirements": {"seats": [{"name": "acme", "most": 1}]}}
    node.handle_submission({"name": "w", "tasks": [task(name, 10) | seats for name in "ab"]})
    claim = Claim(1, (1, 0), "aldernode")
    run = Run(1, 1, "aldernode", 1, claim, 1, phase=Running(), stamp=(stamp_ms, 0))
    first, second = node.table.specs.values()
    node.table.join(lives=[TaskLife(first.task, Life(runs=(run,)))])
    assert Views(node.now(), TaskProgress(lambda: 1.7e9)).task(second).reason == reason


@pytest.mark.parametrize(
    ("own", "others", "priority"),
    [
        ({"volunteering": True}, True, ""),
        ({"volunteering": False}, False, ""),
        ({"volunteering": False, "own_work": "all"}, False, "any"),
        ({"volunteering": False, "own_work": "interactive"}, False, "interactive"),
        ({"volunteering": True, "people": ("Ana", "rui")}, True, ""),
        ({"volunteering": True, "people": ("rui",)}, False, ""),
        ({"volunteering": True, "people": ("ana's",)}, True, ""),
        ({"volunteering": True, "bans": ("ANA",)}, False, ""),
        ({"volunteering": True, "own_work": "all", "bans": ("ana",)}, False, "any"),
    ],
)
def test_a_machine_lets_work_begin_for_whom_it_helps_and_its_own_as_its_owner_says(
    own: dict[str, Any], others: bool, priority: str
) -> None:
    """Of ana, whose other machine is called ana's; what is her machine's own, and how urgent."""
    machine = structs.replace(ALDER, **own)
    for home in ("elmnode", ALDER.node, ""):
        for urgent in (False, True):
            at_home = home == ALDER.node and (priority == "any" or (urgent and priority != ""))
            takes = takes_work(machine, (home, "ana", "ana's"), interactive=urgent)
            assert takes is (others or at_home), (home, urgent)


def test_who_is_away_has_a_row_too(node: FakeNode) -> None:
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    rows = {name: peer_view(views, name) for name in ("aldernode", "cedarnode", "birchnode", "no")}
    states = {name: row.state for name, row in rows.items() if row is not None}
    assert states == {"aldernode": "away", "cedarnode": "away"}


def test_the_end_of_many_in_a_chain_is_that_of_the_chain(node: FakeNode) -> None:
    """However many places there are; beside what could run at the same time."""
    flock(node, own=8)
    chain = [task(str(n), 1, *([str(n - 1)] if n else [])) for n in range(150)]
    beside = [task(f"b{n}", 1) for n in range(100)]
    node.handle_submission({"name": "many", "tasks": chain + beside})
    views = Views(node.now(), TaskProgress(lambda: 1.7e9))
    assert views.estimates.rest(node.table.workflows["many"]).s == 150
