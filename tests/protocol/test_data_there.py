"""What a node knows of where data are: who is asked again when, how fast they come, what is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.protocol.clock import Instant
from agent.protocol.core import Core, Peer
from agent.protocol.datasets import HOLDINGS_PER_MEMBER_MAX, REFUSED_S, REFUSED_S_MAX, Datasets
from agent.protocol.events import DatasetsChanged, InputsFetched
from agent.protocol.evidence import FETCH_RATE, Knowledge, with_number
from agent.protocol.messages import Holdings
from agent.protocol.records import Dataset, Requirements, TaskState
from agent.protocol.settings import Settings
from tests.protocol.stage import Stage, task

NOWHERE = Requirements(tags=("nobody's",))


class Here:
    """What acor knows, whom pato is linked with."""

    def __init__(self) -> None:
        self.core: Core = Stage("acor", "pato").flock().living()["acor"]._core
        self.told = 0
        self.datasets = Datasets(self.core, cast("Any", SimpleNamespace(tell_status=self._tell)))
        self.pato: Peer = self.core.peers["pato"]

    def _tell(self) -> None:
        self.told += 1

    def later(self, seconds: float) -> None:
        self.core.set_now(Instant(self.core.now_s + seconds, 0), "")

    def hears(self, message: Holdings) -> None:
        self.datasets.handlers()[Holdings](self.pato, message)

    def fetched(self, came_bytes: int, took_ms: int) -> int:
        event = InputsFetched("T", cast("Any", None), came_bytes, took_ms)
        self.datasets.handlers()[InputsFetched](event)
        return self.core.fetch_rate


@pytest.mark.parametrize(("times", "for_s"), [(0, 5.0), (1, 10.0), (6, 320.0), (7, 600.0)])
def test_who_could_not_deliver_is_asked_later_and_later(times: int, for_s: float) -> None:
    here = Here()
    here.hears(Holdings(("d", "e")))
    here.datasets.refuse("d", ("pato",), times)
    here.later(for_s - 0.5)
    assert (here.datasets.holders("d"), here.datasets.holders("e")) == ((), ("pato",))
    here.later(0.5)
    assert here.datasets.holders("d") == ("pato",)
    here.datasets.refuse("d", ("pato",), times)
    here.hears(Holdings(("d",)))
    assert here.datasets.holders("d") == ("pato",), "it says so again"
    assert (REFUSED_S, REFUSED_S_MAX) == (5.0, 600.0)


@pytest.mark.parametrize(
    "change", [{"greeted": False}, {"suspected": True}, {"holdings": set()}, {}]
)
def test_data_are_where_they_can_be_fetched(change: dict[str, object]) -> None:
    here = Here()
    here.hears(Holdings(("d",)))
    for name, value in change.items():
        setattr(here.pato, name, value)
    assert here.datasets.holders("d") == (() if change else ("pato",))


def test_a_whole_list_stands_for_what_was_told_before() -> None:
    here = Here()
    here.hears(Holdings(("a", "b", "c")))
    here.hears(Holdings(("d",), removed=("a",)))
    assert {each for each in "abcd" if here.datasets.holders(each)} == set("bcd")
    here.hears(Holdings(("a",), complete=True))
    assert {each for each in "abcd" if here.datasets.holders(each)} == {"a"}


def test_one_member_offers_no_more_than_it_may() -> None:
    here, most = Here(), HOLDINGS_PER_MEMBER_MAX
    here.hears(Holdings(tuple(map(str, range(most)))))
    assert not here.core.counters
    here.hears(Holdings(("more",)))
    assert (here.datasets.holders("more"), here.datasets.holders(str(most - 1))) == ((), ("pato",))
    assert here.core.counters == {"more datasets offered than one member may": 1}
    assert most == 200_000


def test_how_fast_data_come_is_told_in_powers_of_two_and_smoothed() -> None:
    here = Here()
    assert [here.fetched(3_999_999, 10), here.fetched(9_000_000, 0)] == [0, 0]
    assert here.told == 0
    assert here.fetched(4_000_000, 2_000) == 1_024
    assert here.fetched(40_000_000, 2_000) == 4_096, "a quarter of the way"
    assert here.fetched(4_000_000, 8_000_000) == 4_096
    assert here.told == 3


def test_what_a_task_needs_is_asked_for_where_it_is_in_the_flock() -> None:
    here = Here()
    outside, inside = Dataset("/share/x", 1, external=True), Dataset("in", 1)
    spec = task("T", raw=(outside, inside), published=Dataset("program", 1))
    assert here.datasets.needed(spec) == ["in", "program"]
    assert here.datasets.missing_input(spec) == "in"
    here.hears(Holdings(("in",)))
    assert here.datasets.missing_input(spec) == "program"
    here.datasets.hold(["program"])
    assert here.datasets.missing_input(spec) is None
    here.datasets.may_take = lambda _, dataset: dataset != "program"
    assert here.datasets.missing_input(spec) == "program", "it may not have it"
    here.datasets.handlers()[DatasetsChanged](DatasetsChanged(removed=("program",)))
    assert here.core.holdings == {}


def test_what_is_here_needs_no_time_to_be_brought() -> None:
    here = Here()
    knowledge, spec = Knowledge(here.core), task("T", raw=(Dataset("d", 90_000_000),))
    here.core.fetch_rate = 1_000
    assert knowledge.fetch_ms(spec, "acor") == 90_000
    here.hears(Holdings(("d",)))
    assert knowledge.fetch_ms(spec, "acor") == 90_000, "it is at pato's"
    here.datasets.hold(["d"])
    assert knowledge.fetch_ms(spec, "acor") == 0
    assert knowledge.fetch_ms(task("T"), "acor") == 0


def test_all_that_is_not_there_has_to_be_brought_as_fast_as_data_come() -> None:
    here = Here()
    knowledge, status = Knowledge(here.core), here.pato.status
    assert status is not None
    brought = task("T", raw=(Dataset("d", 3_000_000),), published=Dataset("p", 5_000_000))
    outside = task("T", raw=(Dataset("/share/x", 9_000_000, external=True),))
    assert knowledge.fetch_ms(brought, "pato") == 0, "nobody knows how fast"
    here.pato.status = replace(status, more=with_number(FETCH_RATE, 1))
    assert knowledge.fetch_ms(brought, "pato") == 8_000_000
    assert knowledge.data_matter(brought, ["acor", "pato"])
    assert not knowledge.data_matter(brought, ["pato", "pato"])
    assert not knowledge.data_matter(task("T"), ["acor", "pato"])
    here.hears(Holdings(("d",)))
    assert knowledge.fetch_ms(brought, "pato") == 5_000_000
    assert knowledge.fetch_ms(brought, "stranger") == knowledge.fetch_ms(outside, "pato") == 0


def of_two_workflows(needs: bool) -> Stage:
    """Bread is done; cake waits for a machine that nobody has."""
    stage = Stage("acor", settings=Settings(retention_ms=20_000)).flock()
    stage.submit("acor", "bread", task("T1")).play(4)
    assert stage.state("T1") is TaskState.TERMINATED
    before = ("T1",) if needs else ()
    return stage.submit("acor", "cake", task("T2", *before, requirements=NOWHERE))


@pytest.mark.parametrize("needs", [True, False])
def test_what_unfinished_work_needs_is_not_cleaned_up(needs: bool) -> None:
    stage = of_two_workflows(needs).play(60)
    assert [*stage.living()["acor"].table.workflows] == ["bread", "cake"][not needs :]
    disk = stage.actors["acor"].disk
    assert ([*disk.workflows], "T1" in disk.lives) == (["bread", "cake"][not needs :], needs)
