"""What property tests of the protocol are drawn from: any record, any message, any history.

The strategies are read off the annotations of the records, so a new field or message is drawn
from the day it exists, up to the limits it states. Only names are drawn from few, because news
that never meets other news of the same run tests no join.

A *history* is what one correct writer says about one run, revision by revision. It knows its own
last word, so what a join of its pieces must give is known without asking the join.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, product
from typing import Any, TypeVar, cast, get_args

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from msgspec import inspect

from agent.protocol.messages import Message
from agent.protocol.records import (
    Claim,
    Dataset,
    Evicted,
    Failed,
    Life,
    Lost,
    More,
    Phase,
    PriorityWish,
    Proof,
    Pruning,
    Run,
    RunName,
    Running,
    Scheduled,
    Suspended,
    TaskSpec,
    Terminated,
    Wish,
    Workflow,
    WorkflowSpec,
    Yielded,
    run_name,
)

# What is cheap to try is tried twice as often as other things.
examples = settings(
    max_examples=2 * settings().max_examples,
    deadline=None,
    derandomize=False,
    print_blob=True,
)
fewer_examples = settings(examples, max_examples=examples.max_examples // 8)

Record = TypeVar("Record", bound=msgspec.Struct)
MESSAGE_KINDS: tuple[type[msgspec.Struct], ...] = get_args(Message)
HOSTS = ("ant", "bee", "cat", "dog")
NAMES = st.sampled_from((*HOSTS, "t1", "t2", "é", "\x00", "a b"))
LENGTH_DRAWN_MAX = 3
FIXED_LENGTH_MIN = 16


def _as_later_version(more: dict[str, Any]) -> More:
    """Entries as they stand in a record that was decoded, whatever type holds them there."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(more), type=More)


def _sorted_by_key(value: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(value.items()))


_plain_values = st.recursive(
    st.none() | st.integers(2, 2**63) | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3).map(_sorted_by_key)
    ),
    max_leaves=4,
)
_wild_values = st.recursive(
    _plain_values | st.booleans() | st.integers(-(2**63), 1) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.integers(-2, 2) | st.binary(max_size=2) | st.text(max_size=2), inner, max_size=3
        )
    ),
    max_leaves=4,
)


def plain_entries() -> st.SearchStrategy[More]:
    """``more`` of a later version, plain: whatever is equal is equal in bytes too."""
    names = st.sampled_from(("colour", "shape", "ж"))
    return (
        st.dictionaries(names, _plain_values, max_size=2).map(_sorted_by_key).map(_as_later_version)
    )


def wild_entries() -> st.SearchStrategy[More]:
    """``more`` as a careless or hostile later version may fill it."""
    entries = st.dictionaries(st.text(max_size=3), _wild_values, min_size=1, max_size=2)
    return entries.map(_sorted_by_key).map(_as_later_version)


def _texts(kind: inspect.StrType) -> st.SearchStrategy[str]:
    least, most = kind.min_length or 0, kind.max_length
    names = NAMES.map(lambda name: name.ljust(least, "."))
    if least == 0:
        names |= st.just("")
    if most is None:
        return names
    # The longest that is valid, at the price of a repetition rather than of thousands of draws.
    return st.one_of(names, names, names, st.sampled_from("xé").map(lambda x: x * most))


def _integers(kind: inspect.IntType) -> st.SearchStrategy[int]:
    least = kind.ge if kind.ge is not None else (kind.gt or 0) + 1
    most = kind.le if kind.le is not None else (kind.lt or 0) - 1
    assert least <= most, kind
    few = st.integers(int(least), min(int(least) + 3, int(most)))
    return few | few | st.integers(int(least), int(most)) | st.sampled_from((int(least), int(most)))


def _sequences(kind: inspect.VarTupleType) -> st.SearchStrategy[tuple[Any, ...]]:
    items = _values(kind.item_type)
    least = kind.min_length or 0
    if least < FIXED_LENGTH_MIN:
        return st.lists(items, min_size=least, max_size=LENGTH_DRAWN_MAX).map(tuple)
    few = st.lists(items, min_size=1, max_size=3)
    return few.map(lambda drawn: tuple(drawn[place % len(drawn)] for place in range(least)))


def _entries(kind: inspect.DictType) -> st.SearchStrategy[dict[str, Any]]:
    if not isinstance(kind.value_type, inspect.IntType):
        return plain_entries()
    keys, values = _values(kind.key_type), _values(kind.value_type)
    return st.dictionaries(keys, values, max_size=LENGTH_DRAWN_MAX).map(_sorted_by_key)


_STRATEGIES: dict[type[inspect.Type], Callable[[Any], st.SearchStrategy[Any]]] = {
    inspect.StrType: _texts,
    inspect.IntType: _integers,
    inspect.BytesType: lambda kind: st.binary(
        min_size=kind.min_length or 0, max_size=min(kind.max_length or 8, 8)
    ),
    inspect.BoolType: lambda _kind: st.booleans(),
    inspect.VarTupleType: _sequences,
    inspect.TupleType: lambda kind: st.tuples(*map(_values, kind.item_types)),
    inspect.DictType: _entries,
    inspect.NoneType: lambda _: st.none(),
    inspect.UnionType: lambda kind: st.one_of(*map(_values, kind.types)),
    inspect.StructType: lambda kind: records(kind.cls),
}


def _values(kind: inspect.Type) -> st.SearchStrategy[Any]:
    return _STRATEGIES[type(kind)](kind)


def records(kind: type[Record]) -> st.SearchStrategy[Record]:
    """Any valid value of this record or message."""
    return _records(kind)


@cache
def _records(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return st.builds(kind, **{field.name: _values(field.type) for field in described.fields})


@cache
def messages() -> st.SearchStrategy[Message]:
    return st.one_of(*(cast("st.SearchStrategy[Message]", records(kind)) for kind in MESSAGE_KINDS))


# ---- Runs, lives, workflows and prunings that collide ----

FEW = st.integers(1, 2)
STAMPS = st.sampled_from([(0, 0), (0, 1), (1, 0), (2, 0)])
ENDS: list[Phase] = [
    Terminated(),
    Terminated((Dataset("d1", 1),), ("ant",)),
    Terminated((Dataset("d2", 2),), ("ant", "bee")),
    Failed("no"),
    Failed("é"),
    Evicted(),
    Yielded("late"),
    Lost(),
    Lost(ran=False),
]
LIVE: list[Phase] = [Running(), Suspended(), Suspended(offered=True)]
CLAIMS = [Claim(score, (1, 0), host) for score in (0, 7) for host in HOSTS[:2]]
RUN_NAMES = st.sampled_from(list(product((1, 2), (1, 2), HOSTS[:2], (1, 2))))
# Drawn from few, not only to collide: a run of free content takes ten times as long to draw.
ENTRIES = st.sampled_from(
    [_as_later_version(more) for more in ({}, {"colour": 2}, {"colour": {"of": [3, "é"]}})]
)


def colliding_runs(names: st.SearchStrategy[RunName] = RUN_NAMES) -> st.SearchStrategy[Run]:
    """Runs whose writers may contradict themselves: the same revision, different content."""
    return names.flatmap(
        lambda name: st.builds(
            named_run,
            st.just(name),
            claim=st.sampled_from(CLAIMS),
            expected_ms=st.integers(0, 2),
            inputs=st.sampled_from([(), ("d1",), ("d1", "d2")]),
            revision=st.integers(1, 3),
            phase=st.sampled_from([Scheduled(), *LIVE, *ENDS]),
            more=ENTRIES,
        )
    )


def named_run(name: RunName, **fields: Any) -> Run:
    generation, attempt, host, incarnation = name
    return Run(generation, attempt, host, incarnation, **fields)


def runs_named(name: RunName) -> st.SearchStrategy[Run]:
    """Versions of one run, of any content."""
    generation, attempt, host, incarnation = name
    return records(Run).map(
        lambda run: msgspec.structs.replace(
            run, generation=generation, attempt=attempt, host=host, incarnation=incarnation
        )
    )


def colliding_lives() -> st.SearchStrategy[Life]:
    """Lives of one task as any replicas may hold them, contradictions included."""
    runs = st.lists(colliding_runs(), max_size=4, unique_by=run_name)
    few = st.integers(0, 3)
    wishes = st.lists(colliding_wishes(), max_size=3, unique_by=lambda wish: wish.kind)
    return st.builds(
        Life,
        *(few, few, few, runs.map(lambda drawn: tuple(sorted(drawn, key=run_name)))),
        wishes.map(lambda drawn: tuple(sorted(drawn, key=lambda wish: wish.kind))),
    )


def colliding_proofs() -> st.SearchStrategy[Proof | None]:
    return st.none() | st.builds(Proof, st.sampled_from((b"a", b"b")), st.integers(0, 1))


def colliding_wishes() -> st.SearchStrategy[Wish]:
    who = st.sampled_from(HOSTS[:2])
    return st.builds(Wish, st.integers(0, 2), FEW, who, colliding_proofs())


def colliding_priorities() -> st.SearchStrategy[PriorityWish]:
    who = st.sampled_from(HOSTS[:2])
    return st.builds(PriorityWish, FEW, who, st.integers(0, 2), colliding_proofs())


def colliding_workflows() -> st.SearchStrategy[Workflow]:
    """Submissions under one name, with what people wished since."""
    one, other = TaskSpec("t1", "one", "program"), TaskSpec("t2", "two", "program", after=("t1",))
    spec = st.builds(
        WorkflowSpec,
        workflow=st.just("w"),
        name=NAMES,
        submitted=STAMPS,
        host=st.sampled_from(HOSTS[:2]),
        submitter=NAMES,
        tasks=st.sampled_from([(one,), (other,), (one, other)]),
        more=ENTRIES,
    )
    wishes = st.none() | colliding_wishes()
    return st.builds(Workflow, spec, colliding_priorities(), FEW, retried=wishes)


def colliding_prunings() -> st.SearchStrategy[Pruning]:
    who = st.sampled_from(HOSTS[:2])
    return st.builds(Pruning, st.just("w"), FEW, STAMPS, who, colliding_proofs())


# ---- Histories ----


@st.composite
def run_histories(draw: st.DrawFn, names: st.SearchStrategy[RunName] = RUN_NAMES) -> list[Run]:
    """What one writer says about one run: each word a higher revision, after an end no more."""
    name = draw(names)
    claim, expected = draw(st.sampled_from(CLAIMS)), draw(st.integers(0, 2))
    phases: list[Phase] = [Scheduled()]
    phases += draw(st.lists(st.sampled_from(LIVE), max_size=3))
    phases += draw(st.lists(st.sampled_from(ENDS), max_size=1))
    more, steps = draw(ENTRIES), [draw(FEW) for _ in phases]
    return [
        named_run(
            name, claim=claim, expected_ms=expected, revision=revision, phase=phase, more=more
        )
        for phase, revision in zip(phases, accumulate(steps), strict=True)
    ]


@dataclass(frozen=True)
class Scattered:
    """A life, and the parts of it that are found on several replicas."""

    whole: Life
    parts: tuple[Life, ...]


@st.composite
def scattered_lives(draw: st.DrawFn) -> Scattered:
    """A life cut into parts: each last word is on some replica, and older ones on others."""
    names = draw(st.lists(RUN_NAMES, max_size=4, unique=True).map(sorted))
    histories = [draw(run_histories(st.just(name))) for name in names]
    wishes = draw(st.tuples(*[st.integers(1, 3)] * 3))
    replicas = range(draw(st.integers(1, 4)))
    keepers = [draw(st.sampled_from(replicas)) for _ in (*histories, *wishes)]
    parts = []
    for replica in replicas:
        runs = [
            history[-1] if keeper == replica else draw(st.sampled_from([None, *history]))
            for history, keeper in zip(histories, keepers, strict=False)
        ]
        known = [
            wish if keeper == replica else draw(st.integers(0, wish))
            for wish, keeper in zip(wishes, keepers[len(histories) :], strict=True)
        ]
        generation, floor, cancel = known
        held = tuple(run for run in runs if run is not None)
        parts.append(Life(generation, floor, cancel, held))
    generation, floor, cancel = wishes
    last = tuple(said[-1] for said in histories)
    return Scattered(Life(generation, floor, cancel, last), tuple(parts))
