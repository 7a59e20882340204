"""Whether a task had better wait for another machine, asked of that question alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol.better_machines import BetterMachines
from agent.protocol.clock import TimerKind, Timers
from agent.protocol.policy.lasting import survival
from tests.protocol.stage import task

LONG, SHORT = "long", "short"
LUNCH, LASTS = (900, 300, 50), (1000, 1000, 1000)
HERE = survival(LUNCH, 900.0)


class Office:
    """Acor is free, but not for long; pato lasts and runs something. A long task is about to begin."""

    def __init__(self) -> None:
        self.lengths = {LONG: 900.0, SHORT: 60.0}
        self.priorities: dict[str, int] = {}
        self.waiting = [LONG]
        self.chances = {"acor": HERE, "pato": 0.95}
        self.ends = {"pato": 100.0}
        self.interactive: tuple[str, ...] = ()
        self.acor, self.pato = (
            SimpleNamespace(node=name, lasts=lasts)
            for name, lasts in (("acor", LUNCH), ("pato", LASTS))
        )
        self.fit = {LONG: [self.acor, self.pato], SHORT: [self.acor]}
        self.table = SimpleNamespace(
            specs={name: task(name) for name in self.lengths},
            interactive=lambda name: name in self.interactive,
            priority=lambda name: self.priorities.get(name, 50),
            owned={f"run on {name}": SimpleNamespace(host=name) for name in self.chances},
        )
        self.core = SimpleNamespace(table=self.table, now_s=0.0, timers=Timers(), wake=False)
        queue = SimpleNamespace(
            in_order=lambda: iter(self.waiting),
            due_s=lambda run: self.ends.get(run.removeprefix("run on "), 1e9),
        )
        self.better = BetterMachines(cast("Any", self.core), cast("Any", queue))
        self.new_plan()

    def new_plan(self) -> None:
        self.plan = SimpleNamespace(
            survives=self._survives,
            length_s=lambda spec, _: self.lengths[spec.task],
            fitting=lambda spec: self.fit[spec.task],
        )

    def _survives(self, seats: Any, _: Any, after_s: float = 0.0) -> float:
        return self.chances[seats.node] - after_s / 1e6

    def waits(self, at_s: float = 0.0, name: str = LONG, free: list[Any] | None = None) -> bool:
        """Whether it had better wait, as a new plan sees it at that time."""
        self.core.now_s = at_s
        self.new_plan()
        seats = [self.acor] if free is None else free
        spec = self.table.specs[name]
        answer = self.better.had_better_wait(spec, cast("Any", self.plan), cast("Any", seats))
        assert isinstance(answer, bool)
        assert answer == self.core.timers.armed(TimerKind.BETTER)
        self.core.timers = Timers()
        return answer


def test_a_machine_that_lasts_is_waited_for_and_looked_for_again_in_a_quarter_of_a_minute() -> None:
    office = Office()
    assert office.waits()
    spec, plan = office.table.specs[LONG], cast("Any", office.plan)
    assert office.better.had_better_wait(spec, plan, cast("Any", [office.acor]))
    assert office.core.timers.next == 15.0
    office.better.look_again()
    assert office.core.wake


@pytest.mark.parametrize(
    ("waits", "change"),
    [
        (True, {}),
        (False, {"interactive": (LONG,)}),
        (False, {"chances": {"acor": 0.9, "pato": 0.95}}),
        (True, {"chances": {"acor": 0.899, "pato": 0.9001}}),
        (False, {"chances": {"acor": HERE, "pato": 0.899}}),
        (False, {"chances": {"acor": HERE, "pato": 0.90005}}),  # not once the other has ended
        (True, {"ends": {"pato": 300.0}}),
        (False, {"ends": {"pato": 300.1}}),
        (True, {"ends": {"pato": -30.0}}),
        (False, {"ends": {"pato": -30.1}}),
        (True, {"chances": {"acor": HERE, "pato": 0.9}, "ends": {"pato": -1.0}}),
        (True, {"chances": {"acor": HERE, "pato": 0.9}, "ends": {"pato": 0.0}}),
        (False, {"ends": {"acor": 100.0}}),
    ],
)
def test_only_what_is_much_better_and_comes_soon_is_waited_for(waits: bool, change: Any) -> None:
    office = Office()
    vars(office).update(change)
    assert office.waits() is waits


def test_a_machine_on_which_it_may_not_run_or_that_is_free_is_not_waited_for() -> None:
    office = Office()
    assert not office.waits(free=[])
    assert not office.waits(free=[office.acor, office.pato]), "it may begin there at once"
    office.fit[LONG] = [office.acor]
    assert not office.waits()


def test_the_best_free_machine_is_looked_at() -> None:
    office = Office()
    worst = SimpleNamespace(node="worst", lasts=())
    office.chances |= {"acor": 0.95, "worst": 0.1}
    assert not office.waits(free=[office.acor, worst])
    assert office.waits(free=[worst, office.acor])


def test_the_time_of_a_task_is_not_given_twice() -> None:
    office = Office()
    assert office.waits(0.0)
    assert office.waits(200.0), "for another 100 s"
    office.ends["pato"] = 50.0
    assert office.waits(250.0)
    assert not office.waits(250.1)
    office.ends["pato"] = 0.0
    assert office.waits(299.5)
    assert not office.waits(300.0)
    office.ends["pato"] = -20.0
    assert not office.waits(310.0)


def overtaken() -> Office:
    """Nothing comes free, and a short task would fill what is left at acor's."""
    office = Office()
    office.ends, office.waiting = {}, [LONG, SHORT]
    return office


@pytest.mark.parametrize(
    ("waits", "change"),
    [
        (True, {}),
        (False, {"waiting": [LONG]}),
        (False, {"priorities": {SHORT: 49}}),
        (False, {"priorities": {SHORT: 51}}),
        (False, {"lengths": {LONG: 900.0, SHORT: 800.0}, "chances": {"acor": 0.77}}),
        (True, {"lengths": {LONG: 900.0, SHORT: 500.0}, "chances": {"acor": 0.77}}),
    ],
)
def test_a_shorter_task_of_the_same_priority_takes_the_place(waits: bool, change: Any) -> None:
    office = overtaken()
    vars(office).update(change)
    assert office.waits() is waits


def test_only_what_could_begin_there_and_is_among_the_next_forty_overtakes() -> None:
    office = overtaken()
    office.fit[SHORT] = [office.pato]
    assert not office.waits()
    office = overtaken()
    office.waiting = [*[LONG] * 39, SHORT]
    assert office.waits()
    office.waiting = [*[LONG] * 40, SHORT]
    assert not office.waits()


def test_nobody_is_overtaken_for_more_than_half_an_hour() -> None:
    office = overtaken()
    assert office.waits(0.0)
    assert office.waits(1_799.0)
    assert not office.waits(1_800.0)


def test_no_more_than_forty_are_left_waiting_in_one_plan() -> None:
    office = Office()
    plan, spec = cast("Any", office.plan), office.table.specs[LONG]
    asked = [
        office.better.had_better_wait(spec, plan, cast("Any", [office.acor])) for _ in range(41)
    ]
    assert asked == [True] * 40 + [False]
    office.core.timers = Timers()
    assert office.waits(), "another plan begins anew"
