"""Which workflows name a dataset: those that it was given to, and those whose runs made it."""

from __future__ import annotations

import pytest
from msgspec import Raw, msgpack
from msgspec.structs import replace

from agent.protocol.news import News
from agent.protocol.origins import HAS, HAS_SAVED, SHOWN_BYTES_MAX, Origins, shown_for, with_shown
from agent.protocol.records import (
    Claim,
    Dataset,
    Failed,
    Life,
    Phase,
    PriorityWish,
    Run,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from tests.protocol.worker import Worker

FLOUR, SALT, STATE = Dataset("flour", 10), Dataset("salt", 10), Dataset("state", 10)
FAR = Dataset("row 7", 1, external=True)
MILL = Dataset("mill", 10)
SHORT_BYTES = 5
"""What stands before the bytes themselves, where there are many."""


def given(name: str, *raw: Dataset, program: Dataset | None = None, tasks: int = 1) -> Workflow:
    names = [f"{name} {number}" for number in range(tasks)]
    specs = tuple(TaskSpec(each, each, "mill", raw=raw, published=program) for each in names)
    return Workflow(WorkflowSpec(name, name, (1, 0), "me", "ana", specs), PriorityWish(1, "me", 50))


def made(
    task: str, *outputs: Dataset, saved: Dataset | None = None, phase: Phase | None = None
) -> TaskLife:
    ended = Terminated(outputs, ("me",)) if phase is None else phase
    run = Run(1, 1, "me", 1, Claim(1, (1, 0), "me"), 1, phase=ended, revision=3, checkpoint=saved)
    return TaskLife(task, Life(1, runs=(run,)))


class Named:
    """The datasets of a table, and who names them."""

    def __init__(self, *workflows: Workflow, lives: tuple[TaskLife, ...] = ()) -> None:
        self.core = Worker().core
        self.origins = Origins(self.core)
        self.learn(*workflows, lives=lives)

    def learn(self, *workflows: Workflow, lives: tuple[TaskLife, ...] = ()) -> None:
        self.core.news.clear()
        self.core.learn("", workflows, lives)
        for news in self.core.news:
            self.origins.on_news(news)

    def by(self, dataset: Dataset) -> list[str]:
        return [each.workflow for each in self.origins.naming(dataset.dataset)]


def test_who_was_given_it_and_who_made_it_name_it_the_first_before() -> None:
    named = Named(given("a", FLOUR, FAR), given("b", SALT), given("c", FLOUR, program=MILL))
    named.learn(lives=(made("b 0", FLOUR, FAR, saved=STATE),))
    assert (named.by(FLOUR), named.by(SALT)) == (["a", "c", "b"], ["b"])
    assert (named.by(FAR), named.by(STATE), named.by(MILL)) == ([], ["b"], ["c"])
    assert [named.origins.is_program(each, "mill") for each in "abc"] == [False, False, True]
    assert not named.origins.is_program("c", "flour")
    found = [
        named.origins.is_alone(*each) for each in (("b", "salt"), ("a", "salt"), ("a", "flour"))
    ]
    assert found == [True, False, False]
    assert named.origins.is_alone("a", "nobody's")


def test_after_a_start_what_was_given_comes_before_what_was_made() -> None:
    named = Named(given("a"), given("b", FLOUR), lives=(made("a 0", FLOUR),))
    named.origins = Origins(named.core)
    assert named.by(FLOUR) == ["b", "a"]


def test_what_failed_made_nothing_but_what_it_saved() -> None:
    named = Named(given("a"), lives=(made("a 0", saved=STATE, phase=Failed("wet")),))
    assert named.by(STATE) == ["a"]
    assert list(named.origins.makers("a", "state")) == ["a 0"]


def test_no_more_than_eight_makers_of_the_same_are_told_each_once() -> None:
    lives = tuple(made(f"a {number}", FLOUR) for number in range(10))
    named = Named(given("a", tasks=10), lives=(*lives, *lives[:1]))
    named.learn(lives=lives[:2])
    assert list(named.origins.makers("a", "flour")) == [f"a {number}" for number in range(8)]
    assert not list(named.origins.makers("b", "flour"))


def test_what_is_forgotten_is_named_by_the_others_alone() -> None:
    named = Named(given("a", FLOUR, program=MILL), given("b", FLOUR))
    named.origins.on_news(News(forgotten_workflows=["a", "unknown"]))
    assert (named.by(FLOUR), named.by(MILL)) == (["b"], [])
    assert not named.origins.is_program("a", "mill")
    assert named.origins.is_alone("b", "flour")
    named.origins.on_news(News(forgotten_workflows=["b"]))
    assert named.origins._naming == {}


def test_what_was_replaced_names_what_it_names_now() -> None:
    named = Named(given("a", FLOUR))
    known = named.core.table.workflows
    known["a"] = given("a", SALT)
    named.origins.on_news(News(replaced=["a"]))
    assert (named.by(FLOUR), named.by(SALT)) == ([], ["a"])


@pytest.mark.parametrize(
    ("bytes_", "is_shown"), [(SHOWN_BYTES_MAX, True), (SHOWN_BYTES_MAX + 1, False)]
)
def test_what_is_shown_is_found_up_to_its_limit(bytes_: int, is_shown: bool) -> None:
    assert SHOWN_BYTES_MAX == 2**17
    told = b"x" * (bytes_ - SHORT_BYTES)
    carried = msgpack.encode(told)
    assert len(carried) == bytes_
    work, life = given("a", FLOUR), made("a 0", FLOUR, saved=STATE)
    work = replace(work, spec=replace(work.spec, more={HAS: Raw(carried)}))
    run = with_shown(with_shown(life.life.runs[0], told), told, HAS_SAVED)
    named = Named(work, given("b"), lives=(replace(life, life=Life(1, runs=(run,))),))
    found = list(named.origins.shown(work.spec, "flour"))
    assert found == ([("a", carried), *[("a/a 0", carried)] * 2] if is_shown else [])
    assert not list(named.origins.shown(given("b").spec, "flour"))
    assert with_shown(run, b"") is run
    assert (shown_for("a"), shown_for("a", "t")) == ("a", "a/t")
