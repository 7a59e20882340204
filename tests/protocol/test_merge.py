"""The join of records: its three laws, and what it promises to the tables that rely on it.

Equality is also asked of the bytes, because nodes compare and pass on bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol import messages
from agent.protocol.messages import State
from agent.protocol.output_names import OUTPUT_NAMES_MAX, output_names, with_output_names
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import (
    NO_LIFE,
    Claim,
    Life,
    PriorityWish,
    Pruning,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
    join_lives,
    join_priorities,
    join_prunings,
    join_runs,
    join_workflows,
    run_name,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from tests.protocol.generation import (
    Scattered,
    colliding_lives,
    colliding_priorities,
    colliding_prunings,
    colliding_runs,
    colliding_workflows,
    examples,
    run_histories,
    runs_named,
    scattered_lives,
)

Value = TypeVar("Value")
Join = Callable[[Any, Any], Any]
NAME = (1, 1, "ant", 1)
ONE_RUN = colliding_runs(st.just(NAME))

joins = pytest.mark.parametrize(
    ("join", "versions"),
    [
        pytest.param(join_runs, ONE_RUN, id="runs"),
        pytest.param(join_runs, runs_named(NAME), id="runs of any content"),
        pytest.param(join_lives, colliding_lives(), id="lives"),
        pytest.param(join_workflows, colliding_workflows(), id="workflows"),
        pytest.param(join_priorities, colliding_priorities(), id="priorities"),
        pytest.param(join_prunings, colliding_prunings(), id="prunings"),
    ],
)


def content(record: msgspec.Struct) -> bytes:
    return msgspec.msgpack.encode(record)


def in_order(record: msgspec.Struct) -> tuple[Any, ...]:
    """Sorts records by their fields, the first one first."""
    return msgspec.structs.astuple(record)


def same(one: msgspec.Struct, other: msgspec.Struct) -> bool:
    return one == other and content(one) == content(other)


def copy_of(record: Value) -> Value:
    """The same content in another object, as it comes from a peer."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=type(record))


# ---- The laws ----


@joins
@examples
@given(data=st.data())
def test_order_does_not_matter(
    join: Join, versions: st.SearchStrategy[msgspec.Struct], data: st.DataObject
) -> None:
    one, other = data.draw(versions), data.draw(versions)
    assert same(join(one, other), join(other, one))


@joins
@examples
@given(data=st.data())
def test_grouping_does_not_matter(
    join: Join, versions: st.SearchStrategy[msgspec.Struct], data: st.DataObject
) -> None:
    one, two, three = (data.draw(versions) for _ in range(3))
    assert same(join(join(one, two), three), join(one, join(two, three)))


@joins
@examples
@given(data=st.data())
def test_what_adds_nothing_gives_the_very_same_object(
    join: Join, versions: st.SearchStrategy[msgspec.Struct], data: st.DataObject
) -> None:
    one, other = data.draw(versions), data.draw(versions)
    joined = join(one, other)
    assert join(one, one) is one
    assert join(one, copy_of(one)) is one
    assert join(joined, one) is joined
    assert join(joined, copy_of(other)) is joined
    assert join(joined, copy_of(joined)) is joined


# ---- Lives ----


@examples
@given(scattered=scattered_lives(), data=st.data())
def test_parts_give_the_life_in_any_order_and_number(
    scattered: Scattered, data: st.DataObject
) -> None:
    repeated = data.draw(st.lists(st.sampled_from(scattered.parts), max_size=4))
    news = data.draw(st.permutations([*scattered.parts, *repeated]))
    assert same(reduce(join_lives, news), scattered.whole)
    assert same(reduce(join_lives, news, NO_LIFE), scattered.whole)
    assert join_lives(scattered.whole, reduce(join_lives, news)) is scattered.whole


@examples
@given(history=run_histories(), data=st.data())
def test_the_last_word_of_a_writer_stands(history: list[Run], data: st.DataObject) -> None:
    assert reduce(join_runs, data.draw(st.permutations(history + history[:2]))) == history[-1]


@examples
@given(one=colliding_lives(), other=colliding_lives())
def test_no_run_is_lost_and_none_invented(one: Life, other: Life) -> None:
    joined = join_lives(one, other).runs
    known = (*one.runs, *other.runs)
    assert {run_name(run) for run in joined} == {run_name(run) for run in known}
    assert all(any(run is version for version in known) for run in joined)


@examples
@given(one=colliding_lives(), other=colliding_lives())
def test_nothing_goes_back(one: Life, other: Life) -> None:
    joined = join_lives(one, other)
    assert joined.generation == max(one.generation, other.generation)
    assert joined.floor == max(one.floor, other.floor)
    assert joined.cancel == max(one.cancel, other.cancel)
    newest = {run_name(run): run for run in joined.runs}
    for run in (*one.runs, *other.runs):
        stands = newest[run_name(run)]
        assert stands.revision >= run.revision or isinstance(stands.phase, Terminated)


@examples
@given(lives=st.lists(colliding_lives(), min_size=1, max_size=4))
def test_runs_stay_sorted_and_single(lives: list[Life]) -> None:
    names = [run_name(run) for run in reduce(join_lives, lives).runs]
    assert names == sorted(set(names))


@examples
@given(runs=st.lists(colliding_runs(), max_size=6), data=st.data())
def test_a_disorderly_life_is_put_in_order_when_it_arrives(
    runs: list[Run], data: st.DataObject
) -> None:
    """A peer may send runs unsorted or twice; what is new joins what is known, not the reverse."""
    shuffled = data.draw(st.permutations(runs))
    arrived = join_lives(NO_LIFE, Life(runs=tuple(runs)))
    names = [run_name(run) for run in arrived.runs]
    assert names == sorted(set(names))
    assert same(arrived, join_lives(NO_LIFE, Life(runs=tuple(shuffled))))


@examples
@given(versions=st.lists(ONE_RUN, min_size=1, max_size=5))
def test_terminated_absorbs(versions: list[Run]) -> None:
    seen = any(isinstance(run.phase, Terminated) for run in versions)
    assert isinstance(reduce(join_runs, versions).phase, Terminated) == seen


# ---- What stands of two ----


@examples
@given(one=colliding_workflows(), other=colliding_workflows())
def test_the_earlier_submission_stands_with_the_newest_wishes(
    one: Workflow, other: Workflow
) -> None:
    joined = join_workflows(one, other)
    earlier = min((one.spec.submitted, one.spec.host), (other.spec.submitted, other.spec.host))
    assert (joined.spec.submitted, joined.spec.host) == earlier
    assert joined.spec in (one.spec, other.spec)
    assert joined.generation == max(one.generation, other.generation)
    assert joined.priority == join_priorities(one.priority, other.priority)


def wished(wish: PriorityWish) -> tuple[int, str, int]:
    return (wish.revision, wish.host, wish.value)


def removed(pruning: Pruning) -> tuple[int, tuple[int, int], str]:
    return (pruning.generation, pruning.stamp, pruning.by)


@examples
@given(one=colliding_priorities(), other=colliding_priorities())
def test_the_newer_priority_stands(one: PriorityWish, other: PriorityWish) -> None:
    joined = join_priorities(one, other)
    assert joined in (one, other)
    assert wished(joined) == max(map(wished, (one, other)))


@examples
@given(one=colliding_prunings(), other=colliding_prunings())
def test_the_pruning_that_hides_more_stands(one: Pruning, other: Pruning) -> None:
    joined = join_prunings(one, other)
    assert joined in (one, other)
    assert removed(joined) == max(map(removed, (one, other)))


# ---- Two nodes ----


class News(NamedTuple):
    """A record or a part of one, with the key under which a table keeps it."""

    key: str
    record: msgspec.Struct
    join: Join


def news() -> st.SearchStrategy[News]:
    tasks = st.sampled_from(("t1", "t2"))
    return st.one_of(
        st.builds(News, tasks, colliding_lives(), st.just(join_lives)),
        st.builds(News, st.just("w"), colliding_workflows(), st.just(join_workflows)),
        st.builds(News, st.just("p"), colliding_prunings(), st.just(join_prunings)),
    )


def table(heard: Iterable[News]) -> bytes:
    """What a node holds that heard all this, in bytes."""
    held: dict[str, msgspec.Struct] = {}
    for key, record, join in heard:
        held[key] = join(held[key], record) if key in held else record
    return msgspec.msgpack.encode(sorted(held.items(), key=lambda item: item[0]))


@examples
@given(heard=st.lists(news(), max_size=8), data=st.data())
def test_two_nodes_that_heard_the_same_hold_the_same_bytes(
    heard: list[News], data: st.DataObject
) -> None:
    otherwise = data.draw(st.permutations(heard + heard[:3]))
    assert table(heard) == table(otherwise)


# ---- Entries of a later version ----


def run_with(entry: bytes, more: bytes = b"\x81\xa1x%s") -> Run:
    """A run with entries of a later version, given in msgpack, as a peer sends it."""
    run = Run(*NAME, Claim(1, (1, 0), "ant"), 5, phase=Running())
    tail = content(State(lives=(TaskLife("t", Life(runs=(run,))),)))
    empty = tail.rindex(b"\x80")
    decoded = messages.decode(tail[:empty] + more % entry + tail[empty + 1 :])
    assert isinstance(decoded, State)
    return decoded.lives[0].life.runs[0]


ALIKE = [
    pytest.param(b"\xc3", b"\x01", id="true and one"),
    pytest.param(b"\x01", b"\xcb\x3f\xf0" + bytes(6), id="one as integer and as float"),
    pytest.param(b"\xcb" + bytes(8), b"\xcb\x80" + bytes(7), id="zeros of either sign"),
    pytest.param(b"\x82\xa1a\x01\xa1b\x02", b"\x82\xa1b\x02\xa1a\x01", id="maps ordered otherwise"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_entries_that_are_alike_join_to_the_same_bytes(one: bytes, other: bytes) -> None:
    mine, theirs = run_with(one), run_with(other)
    assert content(join_runs(mine, theirs)) == content(join_runs(theirs, mine))


def test_entries_in_another_order_join_to_the_same_bytes() -> None:
    mine, theirs = (
        run_with(b"\x01", b"\x82\xa1a\x01\xa1b%s"),
        run_with(b"\x01", b"\x82\xa1b%s\xa1a\x01"),
    )
    assert content(join_runs(mine, theirs)) == content(join_runs(theirs, mine))


@pytest.mark.parametrize("key", [b"\x01", b"\xc4\x01k", b"\xc0", b"\x91\x01"])
def test_entries_with_keys_of_any_type_can_be_joined(key: bytes) -> None:
    mine, theirs = run_with(b"\x81" + key + b"\x01"), run_with(b"\x81" + key + b"\x02")
    assert same(join_runs(mine, theirs), join_runs(theirs, mine))


def deeper(frames: int, action: Callable[[], Value]) -> Value:
    """The action, called from further inside the program."""
    return action() if frames == 0 else deeper(frames - 1, action)


def test_entries_that_could_be_decoded_can_be_joined_and_encoded() -> None:
    depth, arrived = 1000, None
    while arrived is None:
        depth -= 5
        try:
            arrived = [run_with(b"\x91" * depth + last) for last in (b"\x01", b"\x02")]
        except RemoteProtocolError:
            continue
    mine, theirs = arrived
    joined = deeper(50, lambda: join_runs(mine, theirs))
    deeper(50, lambda: content(joined))


def test_a_table_keeps_no_message_for_the_entries_in_it() -> None:
    run = run_with(b"\x01")
    spec = WorkflowSpec("w", "w", (1, 0), "ant", "ada", (TaskSpec("t", "t", "copy"),))
    message = content(TaskLife("t", Life(runs=(run,))))
    held = Table(Settings())
    held.join([Workflow(spec, PriorityWish(0, "ant", 50))])
    before = sys.getrefcount(message)
    held.join([], [msgspec.msgpack.decode(message, type=TaskLife)])
    assert held.life("t").runs == (run,)
    assert sys.getrefcount(message) == before


@pytest.mark.parametrize("where", ["workflow", "task"])
def test_a_table_keeps_no_message_for_the_entries_in_a_workflow(where: str) -> None:
    more = run_with(b"\x01").more
    task = TaskSpec("t", "t", "copy", more=more if where == "task" else {})
    own = more if where == "workflow" else {}
    spec = WorkflowSpec(
        "w", "w", (1, 0), "ant", "ada", (task, TaskSpec("u", "u", "copy")), more=own
    )
    message = content(Workflow(spec, PriorityWish(0, "ant", 50)))
    held = Table(Settings())
    before = sys.getrefcount(message)
    held.join([msgspec.msgpack.decode(message, type=Workflow)])
    assert held.workflows["w"].spec == spec
    assert sys.getrefcount(message) == before


def test_names_of_outputs_travel_with_a_run_where_there_are_not_too_many() -> None:
    run = Run(1, 1, "a", 1, Claim(1, (1, 0), "a"), 0)
    named = with_output_names(run, ("top.txt", "", 300 * "x"))
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(named), type=Run)
    assert output_names(again) == ("top.txt", "", 256 * "x")
    many = ("x",) * (OUTPUT_NAMES_MAX + 1)
    assert [with_output_names(run, names) for names in ((), ("", ""), many)] == [run] * 3
    assert output_names(run) == ()
