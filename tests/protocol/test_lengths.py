"""What is learned of lengths: the sketch, who is compared with whom, hosts, short and long."""

from __future__ import annotations

from math import inf
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from agent.protocol.identity import PROGRAM, TOLD
from agent.protocol.lengths import (
    NONE,
    ROW_MAX,
    RUNS,
    SAID,
    Lengths,
)
from agent.protocol.likeness import Kind, PastRun
from agent.protocol.records import (
    Claim,
    Dataset,
    Evicted,
    InputRef,
    Life,
    Lost,
    Phase,
    PriorityWish,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.settings import Settings
from agent.protocol.sketch import Sketch, quantile_ms, quarter_octave, remaining_ms
from agent.protocol.table import Table
from agent.protocol.times import Took, took, with_took

LENGTHS_MS = st.integers(1, 2**40)
BEGAN_MS = 1_750_000_000_000


def spec(task: str = "t", told_ms: int = 0, **more: object) -> TaskSpec:
    return TaskSpec(task, "step", "mill", expected_ms=told_ms or 60_000, **more)  # type: ignore[arg-type]


def kind(told_ms: int = 0, step: int = 1, content: str = "mill") -> Kind:
    return Kind(content, "mill", told_ms, step, 0)


def learned(*runs: tuple[Kind, int], host: str = "ant") -> Lengths:
    """After these runs, each of which took so long."""
    found = Lengths(Table(Settings()))
    found.remember(PastRun(str(n), each, host, ran_ms) for n, (each, ran_ms) in enumerate(runs))
    return found


def kind_of(task: TaskSpec) -> Kind:
    return Lengths(Table(Settings())).kind(task)


def ended(
    task: str, phase: Phase, ran: Took | None, stamped_ms: int = 0, attempt: int = 1
) -> TaskLife:
    claim = Claim(1, (BEGAN_MS + 35_000 * (attempt - 1), 0), "ant")
    stamp = (BEGAN_MS + stamped_ms, 0)
    more = with_took({}, ran)
    return TaskLife(
        task, Life(1, runs=(Run(1, attempt, "ant", 1, claim, 0, (), 3, phase, stamp, more),))
    )


def joined(table: Table, *lives: TaskLife) -> Lengths:
    found = Lengths(table)
    found.on_news(table.join(lives=lives))
    return found


def table_of(*tasks: TaskSpec) -> Table:
    table = Table(Settings())
    table.join(
        [Workflow(WorkflowSpec("w", "w", (1, 0), "ant", "Ann", tasks), PriorityWish(1, "ant", 50))]
    )
    return table


# The sketch


@given(st.lists(LENGTHS_MS, min_size=1, max_size=300), st.integers(1, 999))
def test_a_quantile_is_within_a_quarter_octave_of_lengths_that_were_noted(
    lengths_ms: list[int], permille: int
) -> None:
    sketch = Sketch()
    for each in lengths_ms:
        sketch.note(each)
    found = quantile_ms(sketch.atoms(), permille)
    assert any(quarter_octave(each) == quarter_octave(found) for each in lengths_ms)
    assert quantile_ms(sketch.atoms(), 1) <= found <= quantile_ms(sketch.atoms(), 999)


@given(LENGTHS_MS, st.integers(1, 300))
def test_lengths_that_are_all_the_same_are_known_exactly(length_ms: int, runs: int) -> None:
    sketch = Sketch()
    for _ in range(runs):
        sketch.note(length_ms)
    assert [each[1] for each in sketch.atoms()] == [length_ms]


@given(st.lists(LENGTHS_MS, min_size=1, max_size=50), st.integers(0, 2**41))
def test_nothing_that_runs_is_thought_to_be_over(lengths_ms: list[int], ran_ms: int) -> None:
    sketch = Sketch()
    for each in lengths_ms:
        sketch.note(each)
    assert remaining_ms(sketch.atoms(), ran_ms) >= 1


@given(st.integers(1, 2**40))
def test_a_bin_is_a_quarter_of_a_doubling(ms: int) -> None:
    assert 2 ** (quarter_octave(ms) / 4) <= ms * (1 + 1e-9)
    assert ms < 2 ** ((quarter_octave(ms) + 1) / 4) * (1 + 1e-9)


def test_later_runs_outweigh_earlier_ones() -> None:
    sketch = Sketch()
    for length_ms in [1_000] * 1_000 + [9_000] * 70:
        sketch.note(length_ms)
    assert quantile_ms(sketch.atoms(), 500) == 9_000
    assert sketch.runs == 1_070


def test_what_ran_longer_than_all_others_takes_as_long_again() -> None:
    sketch = Sketch()
    sketch.note(2_000)
    assert remaining_ms(sketch.atoms(), 500) == 1_500
    assert remaining_ms(sketch.atoms(), 30_000) == 30_000
    assert (remaining_ms((), 5_000), remaining_ms((), 80_000)) == (55_000, 80_000)


def test_a_run_that_did_not_end_well_counts_as_those_that_took_longer() -> None:
    sketch = Sketch()
    for length_ms in (1_000, 1_000, 8_000):
        sketch.note(length_ms)
    sketch.note_longer(4_000)
    sketch.note_longer(4_000)
    assert (sketch.runs, quantile_ms(sketch.atoms(), 500)) == (3, 8_000)
    alone = Sketch()
    alone.note_longer(4_000)
    assert (alone.runs, [each[1] for each in alone.atoms()]) == (0, [8_000])


# Who is compared with whom


def test_nothing_told_and_nothing_learned_is_nothing_known() -> None:
    lengths = learned()
    assert (lengths.of(spec()).source, lengths.known(spec()), lengths.short(spec())) == (
        NONE,
        False,
        False,
    )
    assert lengths.longest_ms(spec()) == inf
    assert lengths.in_a_row(spec()) == 0
    marked = spec(more={TOLD: Raw(msgspec.msgpack.encode(60_000))})
    assert lengths.of(marked).source == SAID


@pytest.mark.parametrize(("runs", "middle_ms"), [(0, 10), (1, 10), (3, 2_000), (30, 2_000)])
def test_what_was_told_is_soon_outvoted(runs: int, middle_ms: int) -> None:
    task = spec(told_ms=10)
    found = learned(*[(kind_of(task), 2_000)] * runs).of(task)
    assert (found.q50_ms, found.runs, found.source) == (middle_ms, runs, RUNS if runs else SAID)


def test_what_was_told_a_little_more_is_thought_to_take_a_little_more() -> None:
    """All took twice what was told."""
    runs = [
        (kind_of(spec(told_ms=told_ms)), 2 * told_ms) for told_ms in (10_000, 10_200, 10_400) * 4
    ]
    assert abs(learned(*runs).of(spec(told_ms=10_300)).q50_ms - 20_600) <= 2


def test_the_most_alike_count_where_there_are_enough_of_them() -> None:
    task = spec()
    own, other = kind_of(task), kind_of(spec(parameters="other"))
    few = learned(*[(other, 1_000)] * 20, (own, 9_000))
    many = learned(*[(other, 1_000)] * 20, *[(own, 9_000)] * 4)
    assert [each.of(task).q50_ms for each in (few, many)] == [1_000, 9_000]
    mixed = learned(*[(other, ms) for ms in (100, 10_000) * 10], (own, 3_000))
    assert mixed.of(task).q50_ms == 3_000


def test_an_earlier_version_of_the_program_tells_something() -> None:
    def version(content: str) -> TaskSpec:
        return spec(more={PROGRAM: Raw(msgspec.msgpack.encode(content))})

    lengths = learned(*[(kind_of(version("old")), 5_000)] * 3)
    assert (lengths.of(version("new")).q50_ms, lengths.of(version("new")).runs) == (5_000, 3)


def test_a_size_of_inputs_is_told_from_others_once_they_are_there() -> None:
    first = spec("first")
    second = spec("second", inputs=(InputRef("first", 0),))
    lengths = joined(table := table_of(first, second))
    assert lengths.kind(second).size == -1
    outputs = Terminated((Dataset("d", 5_000),))
    lengths.on_news(table.join(lives=[ended("first", outputs, Took(7))]))
    assert lengths.kind(second).size == (5_000).bit_length()


# Short tasks


def test_the_fewer_runs_there_were_the_longer_the_next_may_take() -> None:
    longest = [learned(*[(kind_of(spec()), 100)] * runs).longest_ms(spec()) for runs in range(1, 6)]
    assert longest == [800, 400, 300, 200, 200]


def test_rows_are_as_long_as_their_tasks_are_short() -> None:
    known = [learned(*[(kind_of(spec()), ms)] * 9) for ms in (1, 10, 50, 400, 5_000)]
    assert [each.in_a_row(spec()) for each in known] == [ROW_MAX, ROW_MAX, 40, 5, 0]
    few_are_left = [each.in_a_row(spec(), share=2) for each in known]
    assert few_are_left == [ROW_MAX, 50, 10, 2, 0]


def test_a_second_time_the_steps_of_a_large_workflow_are_found_together() -> None:
    """Each has run by then, but none often enough to be judged by itself."""
    steps = [spec(f"t{n}", told_ms=10, parameters=str(n)) for n in range(200)]
    lengths = learned(*[(kind_of(each), 20) for each in steps])
    found = lengths.of(steps[0])
    assert all(lengths.of(each) is found for each in steps)
    lengths.remember(PastRun(f"again {n}", kind_of(steps[0]), "ant", 900) for n in range(4))
    assert (lengths.of(steps[0]).runs, lengths.of(steps[1]).q50_ms) == (5, 20)


def test_what_runs_tell_is_looked_at_after_each_and_later_after_several() -> None:
    task, lengths, seen = spec(), learned(), []
    for number in range(130):
        seen.append(lengths.of(task).runs)
        lengths.remember([PastRun(str(number), kind_of(task), "ant", 100)])
    assert seen[1:64] == [*range(1, 64)]
    assert seen[-8:] == [120, 123, 123, 123, 126, 126, 128, 128]


def test_what_was_short_stays_so_until_half_of_them_take_much_longer() -> None:
    task, lengths = spec(), learned(*[(kind_of(spec()), 100)] * 9)
    seen = []
    for number, ran_ms in enumerate([*[1_500] * 20, *[3_000] * 90]):
        lengths.remember([PastRun(f"later {number}", kind_of(task), "ant", ran_ms)])
        seen.append(lengths.short(task))
    assert (seen[19], seen[-1]) == (True, False)
    assert learned(*[(kind_of(task), 1_500)] * 29).short(task) is False


# Hosts


def test_a_slow_host_takes_longer_of_everything() -> None:
    draw, lengths = Random(1), learned()
    for number in range(200):
        slow = number % 4 == 0
        ran_ms = int(draw.uniform(900, 1_100) * (4 if slow else 1))
        program = f"p{number % 5}"
        run = PastRun(
            str(number), Kind(program, program, 0, 1, 0), "slow" if slow else "ant", ran_ms
        )
        lengths.remember([run])
    task = spec("x", parameters="unseen")
    assert 3.0 <= lengths.host_factor(task, "slow") <= 4.5
    assert 0.8 <= lengths.host_factor(task, "ant") <= 1.2
    assert lengths.host_factor(task, "unseen") == lengths.host_factor(task, "") == 1.0


def test_few_runs_hardly_tell_that_a_host_is_slow() -> None:
    lengths = learned(*[(kind_of(spec()), 1_000)] * 9)
    lengths.remember([PastRun("one", kind_of(spec()), "slow", 1_000_000)])
    assert lengths.host_factor(spec(), "slow") < 8
    assert lengths.of(spec(), "slow").q50_ms < 8_000


# Records


def test_a_run_says_what_it_took_and_nonsense_says_nothing() -> None:
    claim = Claim(1, (1, 0), "ant")
    run = Run(1, 1, "ant", 1, claim, 0, more=with_took({}, Took(1_500, 900)))
    assert took(run) == (1_500, 900)
    wrong = [{}, {"ran": Raw(b"\xc3")}, {"ran": Raw(msgspec.msgpack.encode([-1, 5]))}]
    assert [took(msgspec.structs.replace(run, more=each)) for each in wrong] == [None] * 3


def test_every_run_is_learned_from_once_however_often_it_is_told() -> None:
    table = table_of(spec("a"), spec("b"))
    lengths = joined(table, ended("a", Terminated(), Took(4_000)))
    for _ in range(3):
        lengths.on_news(table.join(lives=[ended("a", Terminated(), Took(4_000))]))
    assert lengths.of(table.specs["b"]) == lengths.of(table.specs["a"])
    assert (lengths.of(table.specs["b"]).q50_ms, lengths.of(table.specs["b"]).runs) == (4_000, 1)


@pytest.mark.parametrize(
    ("phase", "ran", "stamped_ms", "known"),
    [
        (Terminated(), Took(2_000), 50_000, (RUNS, 2_000)),
        (Terminated(), None, 30_000, (RUNS, 30_000)),
        (Terminated(), None, 9_000, (NONE, 60_000)),
        (Terminated(), Took(0, 700), 50_000, (NONE, 60_000)),
        (Evicted(), Took(2_000), 50_000, (NONE, 60_000)),
        (Running(), None, 50_000, (NONE, 60_000)),
    ],
    ids=[
        "measured",
        "by stamps",
        "stamps of short ones",
        "from a checkpoint",
        "handed back",
        "runs",
    ],
)
def test_what_is_learned_of_a_record(
    phase: Phase, ran: Took | None, stamped_ms: int, known: tuple[str, int]
) -> None:
    table = table_of(spec("a"), spec("b"))
    found = joined(table, ended("a", phase, ran, stamped_ms)).of(table.specs["b"])
    assert (found.source, found.q50_ms) == known


def test_what_was_lost_after_a_while_takes_longer_than_that() -> None:
    table = table_of(spec("a"), spec("b"))
    runs = (
        ended("a", Lost(), None, 40_000),
        ended("a", Terminated(), Took(50_000), 90_000, attempt=2),
    )
    lengths = joined(table, *runs)
    assert lengths.of(table.specs["b"]).runs == 1
    assert lengths.left_ms(table.specs["b"], 60_000) == 10_000


def test_what_is_in_the_table_is_not_remembered_twice() -> None:
    table = table_of(spec("a"), spec("b"))
    lengths = joined(table, ended("a", Terminated(), Took(4_000)))
    past = lengths.past_run("a")
    assert past is not None
    lengths.remember([past])
    assert lengths.of(table.specs["b"]).runs == 1
    assert lengths.past_run("b") is None
