"""Who gets which task by a rule of the documents, played through on a table of scores."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol.contests import WAITING_MAX, Contests
from agent.protocol.news import News
from agent.protocol.policy import Evidence
from agent.protocol.policy.competition import PASSED_OVER_MAX
from agent.protocol.policy.placing import Placing
from agent.protocol.policy.reaching import Lasting
from tests.protocol.stage import task


class ByTable(Placing):
    """The score is the length that the evidence names."""

    name, group = "by table", 2

    def score(self, waiting: Any, host: Any) -> float:
        del host
        return float(waiting.length_s)


class AtTheHead(ByTable):
    group = 1


class Game:
    """Free hosts, tasks in order, and how well each suits each: 1 where nothing else is said."""

    def __init__(self, rule: Placing | None, hosts: str, tasks: int = 3, **scores: int) -> None:
        self.tasks = [f"T{number}" for number in range(tasks)]
        self.scores = scores
        self.lasts: dict[str, int] = {}
        self.lengths: dict[str, float] = {}
        self.short: tuple[str, ...] = ()
        self.interactive: tuple[str, ...] = ()
        self.seats = [SimpleNamespace(node=name, level=(0, 0)) for name in hosts]
        self.all = [*self.seats]
        self.refuses: set[tuple[str, str]] = set()
        table = SimpleNamespace(
            specs={name: task(name) for name in self.tasks},
            interactive=lambda name: name in self.interactive,
        )
        core = SimpleNamespace(rule=SimpleNamespace(placing=rule), table=table)
        knowledge = SimpleNamespace(
            of=self._evidence, usual_ms=lambda spec: 1000 * self.lengths.get(spec.task, 100.0)
        )
        self.contests = Contests(cast("Any", core), cast("Any", knowledge))
        self.plan: Any = SimpleNamespace(
            room=self._room,
            fitting=lambda _: [*self.all],
            short=lambda spec: spec.task in self.short,
        )

    def _evidence(self, spec: Any, node: str) -> Evidence:
        score_ms = 1000 * self.scores.get(f"{spec.task}{node}", 1)
        return Evidence(score_ms, score_ms, lasts_permille=self.lasts.get(node, 1000))

    def _room(self, spec: Any) -> list[Any]:
        return [each for each in self.seats if (spec.task, each.node) not in self.refuses]

    def deals(self) -> list[tuple[str, str]]:
        """Play it through; each task with the host that is asked first, or with none."""
        dealt = []
        for name in self.contests.in_turn(self.plan, self.tasks):
            best = self.contests.best_first(self.plan, self.contests.core.table.specs[name])
            dealt.append((name, best[0].node if best else ""))
            if best:
                self.seats.remove(cast("Any", best[0]))
        return dealt


def test_without_a_rule_and_at_the_head_the_order_stays() -> None:
    game = Game(None, "ba")
    assert game.deals() == [("T0", "b"), ("T1", "a"), ("T2", "")]
    best = Game(AtTheHead(), "abc", T0b=3, T1c=2)
    assert best.deals()[:2] == [("T0", "b"), ("T1", "c")]


def test_each_host_goes_for_what_it_suits_best_and_the_best_gets_it() -> None:
    game = Game(ByTable(), "abc", T0a=2, T0b=3, T1a=5, T1b=4, T0c=1, T1c=9, T2a=99)
    assert game.deals() == [("T1", "c"), ("T0", "b"), ("T2", "a")]


def test_of_equals_the_first_in_order_and_of_hosts_the_first_by_name() -> None:
    assert Game(ByTable(), "ab").deals()[0] == ("T0", "a")
    assert Game(ByTable(), "ba").deals()[0] == ("T0", "a")


def test_only_as_many_as_the_group_are_chosen_among() -> None:
    game = Game(ByTable(), "a", T2a=9, T1a=5)
    assert game.deals() == [("T1", "a"), ("T0", ""), ("T2", "")]


def test_what_nobody_may_run_comes_last() -> None:
    game = Game(ByTable(), "a")
    game.refuses = {("T0", "a"), ("T1", "a")}
    assert game.deals() == [("T0", ""), ("T1", ""), ("T2", "a")]
    game = Game(ByTable(), "a")
    game.refuses = {("T0", "a")}
    assert game.deals() == [("T1", "a"), ("T0", ""), ("T2", "")]


@pytest.mark.parametrize("kind", ["short", "interactive"])
def test_what_is_short_or_somebody_waits_for_is_in_no_contest(kind: str) -> None:
    game = Game(ByTable(), "a", T1a=9)
    setattr(game, kind, ("T0",))
    assert game.deals()[0] == ("T0", "a")


def test_the_winner_is_asked_first_then_who_suits_better_then_who_has_less_to_do() -> None:
    game = Game(AtTheHead(), "abc", T0a=2, T0b=3, T0c=2)
    game.seats[0].level, game.seats[2].level = (1, 1), (0, 5)
    order = game.contests.best_first(game.plan, game.contests.core.table.specs["T0"])
    assert [each.node for each in order] == ["b", "c", "a"]
    game = Game(ByTable(), "ab", T1a=2, T1b=9)
    assert next(game.contests.in_turn(game.plan, game.tasks)) == "T1"
    game.scores["T1a"] = 99
    best = game.contests.best_first(game.plan, game.contests.core.table.specs["T1"])
    assert best[0].node == "b", "it has won it"


def began(name: str, owner: object = "a", before: object = None) -> News:
    now = SimpleNamespace(owner=owner, outcome=None)
    then = SimpleNamespace(owner=before, outcome=None)
    return News(moved=[cast("Any", (name, then, now))])


def test_who_was_passed_over_twenty_times_is_the_only_one_to_go_for() -> None:
    game = Game(ByTable(), "ab", T1a=9, T1b=9)
    for times in range(1, PASSED_OVER_MAX + 1):
        assert next(game.contests.in_turn(game.plan, game.tasks)) == "T1"
        game.contests.on_news(began("T1"))
        assert game.contests.passed_over == {"T0": times}
    game.scores["T2b"] = 20
    assert game.deals() == [("T0", "a"), ("T2", "b"), ("T1", "")], "then all choose again"
    assert PASSED_OVER_MAX == 20


def test_only_a_later_one_of_the_group_that_begins_passes_the_first_over() -> None:
    game = Game(ByTable(), "ab", tasks=4)
    next(game.contests.in_turn(game.plan, game.tasks))
    for news in (began("T3"), began("T0", None), began("T1", "b", "a"), began("T1", None, "a")):
        game.contests.on_news(news)
        next(game.contests.in_turn(game.plan, game.tasks))
    assert game.contests.passed_over == {}
    game.contests.on_news(began("T1"))
    game.contests.on_news(began("T1"))
    assert game.contests.passed_over == {"T0": 1}, "it is in the group no more"
    new = cast("Any", ("T1", None, SimpleNamespace(owner="a", outcome=None)))
    next(game.contests.in_turn(game.plan, game.tasks))
    game.contests.on_news(News(moved=[new]))
    assert game.contests.passed_over == {"T0": 2}


def test_the_group_is_the_one_before_anything_was_dealt() -> None:
    game = Game(ByTable(), "a", T1a=9)
    game.deals()
    game.contests.on_news(began("T1"))
    assert game.contests.passed_over == {"T0": 1}
    game.contests.on_news(began("T0", None))
    assert game.contests.passed_over == {"T0": 1}, "it waits as before"


def test_who_begins_ends_or_is_removed_is_forgotten() -> None:
    ended = cast("Any", ("T0", None, SimpleNamespace(owner=None, outcome="a")))
    for news in (began("T0"), News(moved=[ended]), News(forgotten_tasks=["T0"])):
        game = Game(ByTable(), "ab")
        next(game.contests.in_turn(game.plan, game.tasks))
        game.contests.on_news(began("T1"))
        assert game.contests.passed_over == {"T0": 1}
        game.contests.on_news(news)
        assert game.contests.passed_over == {}


def reaching(tasks: int = 2) -> Game:
    """By day a lasts and z does not; T0 takes a minute, T1 an hour."""
    game = Game(Lasting(), "az", tasks)
    game.lengths, game.lasts = {"T0": 60.0, "T1": 3600.0}, {"a": 1000, "z": 500}
    for name in game.tasks:
        game.scores |= {f"{name}{host}": round(game.lengths.get(name, 100.0)) for host in "az"}
    return game


def test_who_lasts_reaches_for_the_longest_and_who_does_not_for_the_shortest() -> None:
    assert reaching().deals() == [("T1", "a"), ("T0", "z")]
    game = reaching()
    game.seats.reverse()
    assert game.deals() == [("T1", "a"), ("T0", "z")]


def test_what_is_long_is_left_to_a_host_that_lasts_though_that_is_not_free_yet() -> None:
    game = reaching(100)
    game.lengths = {**dict.fromkeys(game.tasks, 60.0), "T0": 3600.0}
    game.lasts["z"] = 1
    game.seats = game.seats[1:]
    assert game.deals()[0] == ("T1", "z")
    game.seats = game.all[:1]
    assert game.deals()[0] == ("T0", "a")


def test_what_may_run_on_nobody_free_is_not_reached_for() -> None:
    game = reaching()
    game.refuses = {("T1", "a"), ("T1", "z")}
    assert game.deals()[0][0] == "T0"
    game = reaching()
    game.seats = []
    assert game.deals() == [("T0", ""), ("T1", "")]


def test_a_host_reaches_among_a_hundred_tasks() -> None:
    for place, reached in ((WAITING_MAX - 1, True), (WAITING_MAX, False)):
        game = reaching(WAITING_MAX + 1)
        game.lengths = {f"T{place}": 3600.0}
        game.lasts = {"a": 1000}
        game.seats = game.seats[:1]
        assert (game.deals()[0] == (f"T{place}", "a")) is reached
    assert WAITING_MAX == 100
