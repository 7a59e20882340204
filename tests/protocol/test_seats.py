"""How busy a machine counts in a plan, and whether its row of short tasks is to be filled up."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from agent.protocol.messages import Capabilities
from agent.protocol.needs import Seat, with_needs
from agent.protocol.records import Claim, Failed, Life, Run
from agent.protocol.seats import SeatPlan, Seats, helps
from tests.protocol.stage import task


def seats(slots: int, busy: int, **more: Any) -> Seats:
    return Seats("acor", Capabilities(), slots, busy, busy, willing=True, **more)


@pytest.mark.parametrize(
    ("had", "dealt", "fills"),
    [(0, 0, True), (4, 0, True), (5, 0, False), (4, 3, True), (4, 4, False), (0, 8, False)],
)
def test_a_row_is_filled_up_from_half_and_not_beyond(had: int, dealt: int, fills: bool) -> None:
    two = seats(2, had)
    for _ in range(dealt):
        two.take()
    assert two.fills_up(4) is fills


def test_a_row_is_as_long_as_the_machine_lets_it_be_for_the_slots_that_may_have_one() -> None:
    assert seats(2, 3, in_a_row_max=3).fills_up(9)
    assert not seats(2, 4, in_a_row_max=3).fills_up(9)
    half = seats(2, 2)
    half.for_rows = 1
    assert half.fills_up(4)
    assert not half.fills_up(3)


def test_what_is_dealt_makes_busier_and_what_is_over_does_not_any_more() -> None:
    one = seats(2, 1)
    assert (one.open, one.level) == (True, (0, 1))
    one.take()
    assert (one.open, one.level, one.active, one.had) == (False, (1, 2), 2, 1)
    one.take()
    one.leave()
    one.leave()
    assert (one.open, one.level, one.active) == (True, (0, 1), 1)
    assert (seats(0, 0).open, seats(0, 3).level) == (False, (3, 3))


def test_who_has_named_nobody_helps_everybody() -> None:
    assert helps((), "ana")
    assert helps(("Ana", "bia"), "caio", "ANA")
    assert not helps(("Ana",), "caio")


class Machines:
    """A plan of machines, and all that it is asked about one task."""

    def __init__(self, *all_seats: Seats, **told: Any) -> None:
        self.spec = task("T", *told.pop("needs", ()), more=told.pop("more", {}))
        self.given: list[tuple[str, str, int]] = []
        self.ends_ms: dict[str, int] = told.pop("ends_ms", {})
        self.told: dict[str, Any] = {"row": 0, "urgent": False, "weighs": True, "keeps": {}, **told}
        self.plan = self.plan_of(list(all_seats))

    def plan_of(self, all_seats: list[Seats]) -> SeatPlan:
        def told(name: str, else_: Any = None) -> Any:
            return self.told.get(name, else_)

        table = SimpleNamespace(
            ready=["T"] * told("ready", 1),
            interactive=lambda _: told("urgent"),
            producers={"T": [each.task for each in self.spec.inputs] + list(self.spec.after)},
            reading=lambda need: told("readings", {}).get(need),
            lives={"T": told("life", Life())},
            workflow_of={"T": "w", "U": "v"},
            workflows={
                name: SimpleNamespace(spec=SimpleNamespace(submitter=submitter, host="b"))
                for name, submitter in (("w", "ana"), ("v", "bia"))
            },
            specs={"T": self.spec},
        )
        lengths = SimpleNamespace(
            in_a_row=lambda *_: told("row"),
            of=lambda *_: SimpleNamespace(q90_ms=600_000),
            short=lambda _: told("row") > 0,
            known=lambda _: told("known", True),
        )
        people = SimpleNamespace(others=lambda _: ["other"])
        core: Any = SimpleNamespace(
            table=table,
            lengths=lengths,
            thrown_away=SimpleNamespace(keeps=lambda node, _: told("keeps").get(node, 1.0)),
            own=SimpleNamespace(home=lambda _: "b", home_of=lambda _: "b"),
            checking=SimpleNamespace(trust=SimpleNamespace(people=people)),
            name_of=lambda node: f"{node}'s name",
        )
        placing: Any = SimpleNamespace(
            weighs=told("weighs"),
            differs=lambda *_: True,
            ends_ms=self.ends_ms,
            best=lambda _, __, seats, *___: seats[::-1],
            take=lambda spec, _, node, ready=0: self.given.append((spec.task, node, ready)),
        )
        passed = {"T": dict.fromkeys(told("passed", ()))}
        return SeatPlan(core, all_seats, passed, placing, lambda _: told("taken", 0))


def named(node: str, busy: int = 0, slots: int = 2, **more: Any) -> Seats:
    able = Capabilities(programs=("mill",)) if more.pop("able", True) else Capabilities()
    return Seats(node, able, slots, busy, more.pop("active", busy), willing=True, **more)


LONG, SOON = (1000, 1000, 1000), (500, 200, 10)


@pytest.mark.parametrize(
    ("machines", "told", "order"),
    [
        ((named("a", 1), named("b")), {}, "ba"),
        ((named("a", 1), named("b"), named("c", 2)), {}, "ba"),
        ((named("a", lasts=SOON), named("b", 1, lasts=LONG)), {}, "ba"),
        ((named("a", slots=4), named("b", 3, slots=4), named("c", 1)), {}, "acb"),
        ((named("a"), named("b"), named("c")), {"passed": "b"}, "ac"),
        ((named("a"), named("b")), {"keeps": {"a": 0.5}}, "ba"),
        ((named("a"), named("b", able=False)), {}, "a"),
    ],
)
def test_the_least_busy_is_asked_first_then_who_lasts(
    machines: tuple[Seats, ...], told: dict[str, Any], order: str
) -> None:
    found = Machines(*(replace(each) for each in machines), **told)
    assert "".join(each.node for each in found.plan.free(found.spec)) == order


def test_who_made_what_is_needed_and_who_failed_are_known() -> None:
    made = SimpleNamespace(outcome=SimpleNamespace(host="b"))
    found = Machines(named("a"), named("b"), needs=("N",), readings={"N": made})
    assert [each.node for each in found.plan.free(found.spec)] == ["b", "a"]
    failed = Life(1, runs=(Run(1, 1, "b", 1, Claim(1, (1, 0), "b"), 1, phase=Failed()),))
    for machines, left in ((("a", "b"), ["a"]), (("b",), ["b"])):
        found = Machines(*map(named, machines), life=failed)
        assert [each.node for each in found.plan.free(found.spec)] == left


def test_a_machine_stays_as_likely_as_it_says_and_as_its_owner_lets_things_end() -> None:
    found = Machines(named("a", lasts=(600, 300, 100)), keeps={"a": 0.5})
    (mine,) = found.plan.seats
    assert found.plan.survives(mine, found.spec) == pytest.approx(0.5 * 0.6)
    assert found.plan.survives(mine, found.spec, 1_200.0) == pytest.approx(0.5 * 0.3)
    assert found.plan.lasts("a", 600.0) == pytest.approx(0.5 * 0.6)
    assert found.plan.lasts("unknown", 600.0) == 0.9
    assert found.plan.rank(mine, found.spec) == (0, -6, 0)


@pytest.mark.parametrize(
    ("machine", "told", "room"),
    [
        (named("a", 1), {}, True),
        (named("a", 2), {}, False),
        (named("a", 2), {"row": 2}, True),
        (named("a", 3), {"row": 2}, False),
        (named("a", 2, active=1), {"urgent": True}, True),
        (named("a", 2, active=2), {"urgent": True, "row": 2}, False),
    ],
)
def test_a_machine_has_room_in_a_slot_in_its_row_or_for_who_waits(
    machine: Seats, told: dict[str, Any], room: bool
) -> None:
    found = Machines(replace(machine), **told)
    assert found.plan.has_room(found.plan.mine, found.spec) is room
    assert found.plan.has_place(found.spec) is room


@pytest.mark.parametrize(
    ("home", "told", "there"),
    [
        (named("b", 2), {"urgent": True}, True),
        (named("b"), {}, False),
        (named("b", paused=True), {"urgent": True}, False),
        (named("b"), {"urgent": True, "passed": "b"}, False),
        (named("b", able=False), {"urgent": True}, False),
        (named("c"), {"urgent": True}, False),
    ],
)
def test_who_waits_is_served_at_home_where_that_can_be(
    home: Seats, told: dict[str, Any], there: bool
) -> None:
    found = Machines(named("a"), replace(home), **told)
    at = found.plan.home(found.spec)
    assert (at is not None and at.node == "b") is there


@pytest.mark.parametrize(
    ("ends_ms", "outcome", "kept"),
    [
        ({"N": 700, "M": 900}, None, [("T", "b", 900)]),
        ({"N": 700}, None, []),
        ({"M": 900}, SimpleNamespace(host="a"), [("T", "b", 900)]),
    ],
)
def test_a_place_is_kept_for_what_is_ready_at_a_known_time(
    ends_ms: dict[str, int], outcome: object, kept: list[object]
) -> None:
    readings = {"N": SimpleNamespace(outcome=outcome)}
    told: dict[str, Any] = {"needs": ("N", "M"), "ends_ms": ends_ms, "readings": readings}
    found = Machines(named("a"), named("b"), **told)
    found.plan.keep_place(found.spec)
    assert found.given == kept


@pytest.mark.parametrize(("weighs", "given"), [(True, [("T", "a", 0)]), (False, [])])
def test_what_is_dealt_is_weighed_where_machines_differ(weighs: bool, given: list[object]) -> None:
    found = Machines(named("a"), named("b"), weighs=weighs)
    found.plan.take(found.plan.mine, found.spec)
    assert (found.plan.mine.busy, found.given) == (1, given)
    assert found.plan.differs(found.spec) is weighs
    found.told["row"] = 3
    assert found.plan.differs(found.spec) is False


def test_short_tasks_and_those_of_unknown_length_are_drawn_where_there_are_plenty() -> None:
    for ready, plenty in ((7, False), (8, True)):
        assert Machines(named("a"), named("b"), ready=ready).plan.plenty is plenty
    known, unknown = Machines(named("a")), Machines(named("a"), known=False)
    assert [each.plan.by_lot(each.spec) for each in (known, unknown)] == [False, True]
    short = Machines(named("a"), row=1)
    assert short.plan.by_lot(short.spec)
    drawn = Machines(named("a"), named("b"), passed="a").plan.drawn(known.spec)
    assert drawn is not None
    assert drawn.node == "b"
    assert Machines(named("a"), passed="a").plan.drawn(known.spec) is None


@pytest.mark.parametrize(
    ("machine", "fits"),
    [
        (named("a"), True),
        (named("a", own_only=True), False),
        (named("b", own_only=True), True),
        (named("a", people=("Ana",)), True),
        (named("a", people=("other's name",)), True),
        (named("a", people=("bia",)), False),
        (named("a", bans=("ana",)), False),
        (named("a", bans=("other",)), False),
        (named("a", bans=("MILL",)), False),
        (named("a", bans=("bia",)), True),
        (named("b", bans=("ana",), people=("bia",)), True),
        (replace(named("b"), willing=False), False),
        (replace(named("b", own_only=True), willing=False), False),
    ],
)
def test_owners_say_whose_work_they_take_and_always_take_their_own(
    machine: Seats, fits: bool
) -> None:
    found = Machines(replace(machine))
    assert bool(found.plan.fitting(found.spec)) is fits


def test_of_what_is_needed_and_not_made_yet_nobody_is_the_maker() -> None:
    readings = {"N": None, "M": SimpleNamespace(outcome=None)}
    found = Machines(named("b"), named("a"), needs=("N", "M"), readings=readings)
    assert [each.node for each in found.plan.free(found.spec)] == ["a", "b"]


def test_who_waits_is_given_what_is_free_now_others_what_ends_first() -> None:
    machines = named("a", 2), named("b")
    for urgent, order in ((True, ["b"]), (False, ["b", "a"])):
        found = Machines(*(replace(each) for each in machines), urgent=urgent)
        assert [each.node for each in found.plan.first_to_end(found.spec)] == order


def test_seats_of_the_flock_are_counted_with_those_that_are_dealt() -> None:
    needs = with_needs((), (Seat("acme", 3),))
    for taken, left in ((1, 2), (2, 1), (3, 0)):
        found = Machines(named("a"), more=needs, taken=taken)
        for _ in range(left):
            assert found.plan.has_seats(found.spec)
            found.plan.take_seats(found.spec)
        assert not found.plan.has_seats(found.spec)


def test_tasks_that_are_alike_fit_elsewhere_where_it_matters_whose_they_are() -> None:
    found = Machines(named("a", people=("ana",)), named("b", people=("bia",)), named("c"))
    assert not found.plan.held_back
    others = structs.replace(found.spec, task="U")
    assert [each.node for each in found.plan.fitting(found.spec)] == ["a", "b", "c"], (
        "b is its home"
    )
    found.plan.seats[1].node = "d"
    assert [each.node for each in found.plan.fitting(others)] == ["c", "d"]
