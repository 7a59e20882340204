"""Machines say how likely they stay free, and plans go by it without anybody waiting for ever."""

from __future__ import annotations

from zlib import crc32

from tests.sim.children import SAVING_ONE_IN
from tests.sim.lan import Flock, Step

LASTS, LUNCH, BREAK = (1000, 1000, 1000), (900, 300, 50), (300, 50, 0)
LONG_S, SHORT_S = 900.0, 60.0
WAITS_S_MAX, OVERTAKEN_S_MAX = 300.0, 1800.0


def flock(*told: tuple[int, ...]) -> Flock:
    made = Flock(len(told))
    for machine, lasts in zip(made.simulation.machines, told, strict=True):
        machine.lasts = lasts
        machine.tell_presence()
    made.run_until(made.world.now + 1.0)
    return made


def began(made: Flock, task: str) -> tuple[float, int]:
    """When, since it was submitted, and on which machine."""
    at_s, name = made.times[task].started[0]
    names = [each.plan.name for each in made.simulation.machines]
    return at_s - made.submitted_s[task.partition("/")[0]], names.index(name)


def test_a_long_task_goes_where_nobody_is_expected() -> None:
    made = flock(BREAK, LUNCH, LASTS, ())
    (task,) = made.submit("w", [Step(LONG_S)])
    made.run()
    waited_s, where = began(made, task)
    assert where == 2
    assert waited_s < 1.0


def test_what_is_short_goes_anywhere_as_before() -> None:
    made = flock((1000, 1000, 950), LASTS)
    (task,) = made.submit("w", [Step(5.0)])
    made.run()
    assert began(made, task)[1] == 0


def test_a_short_task_fills_the_lunch_and_the_long_one_waits_for_a_machine_that_lasts() -> None:
    made = flock(LUNCH, LASTS)
    made.submit("first", [Step(LONG_S)])
    made.run_until(made.world.now + 700.0)
    long, short = made.submit("w", [Step(LONG_S), Step(SHORT_S)])
    made.run()
    assert began(made, "first/0")[1] == 1
    assert began(made, short)[1] == 0
    assert began(made, short)[0] < 1.0
    assert began(made, long)[1] == 1


def test_nobody_waits_where_nothing_is_better() -> None:
    made = flock(BREAK, BREAK)
    tasks = made.submit("w", [Step(LONG_S)] * 2)
    made.run()
    assert max(began(made, each)[0] for each in tasks) < 1.0


def test_a_better_machine_that_does_not_come_free_is_not_waited_for_beyond_a_bound() -> None:
    """It was told to end soon, and does not."""
    made = flock(BREAK, LASTS)
    made.submit("first", [Step(7200.0, told_s=WAITS_S_MAX / 2)])
    made.run_until(made.world.now + 5.0)
    (task,) = made.submit("w", [Step(LONG_S)])
    made.run()
    waited_s, where = began(made, task)
    assert where == 0
    assert waited_s <= WAITS_S_MAX + 20.0


def test_a_stream_of_short_tasks_does_not_keep_a_long_one_out_for_ever() -> None:
    made = flock(LUNCH)
    (task,) = made.submit("w", [Step(LONG_S)])
    start_s = made.world.now
    for number in range(80):
        made.submit(f"s{number:02}", [Step(SHORT_S)], at=start_s + number * 50.0)
    made.run()
    assert began(made, task)[0] <= OVERTAKEN_S_MAX + SHORT_S + 60.0


def test_a_saved_state_is_handed_over_at_once_where_the_owner_stays() -> None:
    for stays, within_s in ((True, 5.0), (False, 400.0)):
        made = flock(LASTS, BREAK)
        name = next(f"w{n}" for n in range(99) if not crc32(f"w{n}/0".encode()) % SAVING_ONE_IN)
        (task,) = made.submit(name, [Step(600.0)])
        made.run_until(made.world.now + 400.0)  # it saves its state halfway
        machine = made.simulation.machines[0]
        machine.owner_present, machine.volunteering, machine.stays = True, False, stays
        machine.tell_presence()
        back_s = made.world.now
        made.run()
        moments = [at_s - back_s for at_s, _ in made.times[task].started[1:]]
        assert len(moments) == 1
        assert moments[0] <= within_s
        assert stays == (moments[0] < 5.0)


def test_a_place_is_taken_again_while_results_are_copied() -> None:
    """Copying takes ten seconds, so two rows of two tasks would take forty if places waited for it."""
    flock = Flock(2, data_s=(5.0, 5.0))
    flock.submit("w", [Step(10.0)] * 4)
    assert flock.run()
    assert flock.makespan_s("w") < 31.0
