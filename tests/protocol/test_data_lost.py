"""When an input counts as lost for good, so that what made it runs again, and what is told of data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.protocol.core import Peer
from agent.protocol.datasets import Datasets
from agent.protocol.events import DatasetsChanged
from agent.protocol.messages import Holdings
from agent.protocol.reasons import OutputsLost
from agent.protocol.records import (
    FLOOR,
    Claim,
    Dataset,
    InputRef,
    Life,
    Run,
    TaskLife,
    TaskState,
    Terminated,
    Wish,
)
from agent.protocol.settings import Settings
from tests.protocol.stage import task

DATA, OUTSIDE = Dataset("d", 1), Dataset("/share/x", 1, external=True)
LOST_AFTER_S = Settings().outputs_lost_after_s


class Here:
    """Acor waits for an output that pato made and grifo had a copy of; both have told that it is gone."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.noted: list[Any] = []
        self.wrote: list[TaskLife] = []
        self.down_s: dict[str, float] = {}
        phase = Terminated((DATA, OUTSIDE), holders=("grifo", "pato"))
        self.outcome = Run(4, 1, "pato", 7, Claim(4, (1, 0), "pato"), 0, (), phase=phase)
        self.made: Any = SimpleNamespace(outcome=self.outcome, outputs=(DATA, OUTSIDE))
        self.needing: Any = SimpleNamespace(
            outcome=None, outputs=(), state=TaskState.READY, supplied=True
        )
        self.pato, self.grifo = (
            Peer(name, 0.0, 0.0, 0.5, greeted=True, holdings_complete=True)
            for name in ("pato", "grifo")
        )
        self.spec = task("T2", "T1")
        self.specs = {"T2": self.spec}
        self.core: Any = SimpleNamespace(
            me="acor",
            now_s=100.0,
            joined=True,
            able=True,
            wake=False,
            holdings={},
            members=dict.fromkeys(("acor", "pato", "grifo")),
            presence=SimpleNamespace(volunteering=True),
            settings=Settings(),
            peers={"pato": self.pato, "grifo": self.grifo},
            table=SimpleNamespace(specs=self.specs, reading=self._reading),
            broadcast=self.said.append,
            send=lambda to, message: self.said.append((to, message)),
            note=lambda *fact: self.noted.append(fact),
            write=self._write,
        )
        liveness = SimpleNamespace(down_for_s=lambda host: self.down_s.get(host, 0.0))
        self.datasets = Datasets(cast("Any", self.core), cast("Any", liveness))

    def _reading(self, name: str) -> Any:
        return {"T1": self.made, "T2": self.needing}.get(name)

    def _write(self, lives: list[TaskLife]) -> None:
        self.wrote += lives

    def search(self, for_s: float = 3.0) -> int:
        """Miss it and look for it so long; how often its producer is to run again."""
        self.datasets.missing_input(self.spec)
        self.core.now_s += for_s
        self.datasets.on_tick()
        return len(self.wrote)

    def tick(self) -> list[Any]:
        self.said.clear()
        self.core.wake = False
        self.datasets.on_tick()
        return self.said


def test_what_is_nowhere_for_three_seconds_is_made_again() -> None:
    here = Here()
    assert here.search(2.9) == 0
    assert here.search(0.1) == 1
    wish = Wish(FLOOR, 5, "acor")
    assert here.wrote == [TaskLife("T1", Life(floor=5, wishes=(wish,)))]
    assert here.noted == [("T1", OutputsLost(5))]
    assert here.core.cause == "outputs lost: d, needed by T2"


def changed(here: Here, where: str, value: Any) -> None:
    *path, name = where.split(".")
    thing: Any = here
    for each in path:
        thing = getattr(thing, each)
    setattr(thing, name, value)


@pytest.mark.parametrize(
    ("again", "changes"),
    [
        (1, {}),
        (0, {"core.joined": False}),
        (0, {"core.able": False}),
        (0, {"made": None}),
        (0, {"made.outcome": None}),
        (0, {"made.outputs": ()}),
        (0, {"needing": None}),
        (0, {"needing.state": TaskState.CANCELLED}),
        (0, {"needing.supplied": False}),
        (0, {"pato.suspected": True}),
        (0, {"pato.holdings_complete": False}),
        (0, {"grifo.holdings_complete": False}),
        (0, {"pato.greeted": False}),
        (1, {"pato.greeted": False, "down_s": {"pato": LOST_AFTER_S}}),
        (0, {"pato.greeted": False, "down_s": {"pato": LOST_AFTER_S - 0.1}}),
        (
            0,
            {
                "pato.greeted": False,
                "down_s": {"pato": LOST_AFTER_S},
                "core.presence.volunteering": False,
            },
        ),
        (1, {"pato.greeted": False, "core.members": {"acor": None, "grifo": None}}),
        (1, {"core.members": {}}),
        (0, {"pato.greeted": False, "core.members": {}}),
        (0, {"pato.holdings": {"d"}, "pato.suspected": True}),
        (0, {"core.peers": {}}),
    ],
)
def test_only_what_every_holder_has_lost_for_good_is_made_again(
    again: int, changes: dict[str, Any]
) -> None:
    here = Here()
    here.datasets.missing_input(here.spec)
    for where, value in changes.items():
        changed(here, where, value)
    assert here.search() == again


def test_a_holder_that_nobody_knows_of_any_more_is_this_node_or_the_one_that_made_it() -> None:
    here = Here()
    phase = Terminated((DATA,), holders=("acor",))
    here.made.outcome = Run(4, 1, "acor", 7, Claim(4, (1, 0), "acor"), 0, (), phase=phase)
    assert here.search() == 1, "this node had it, and has lost it"
    here = Here()
    here.made.outcome = Run(4, 1, "pato", 7, Claim(4, (1, 0), "pato"), 0, (), phase=Terminated())
    here.pato.holdings_complete = False
    assert here.search() == 0


def test_what_some_disk_has_is_not_made_again_though_it_cannot_be_had_just_now() -> None:
    here = Here()
    cat = Peer("cat", 0.0, 0.0, 0.5, greeted=True, suspected=True, holdings={"d"})
    here.core.peers["cat"] = cat
    assert here.search() == 0
    here = Here()
    here.core.holdings = {"d": None}
    here.datasets.may_take = lambda *_: False
    assert here.search() == 0


def test_what_lies_outside_or_was_never_made_is_not_missed() -> None:
    here = Here()
    given = (InputRef("T1", 1), InputRef("T1", 2), InputRef("never", 0))
    here.spec = replace(here.spec, inputs=given)
    assert here.datasets.needed(here.spec) == []
    assert here.datasets.missing_input(here.spec) is None
    assert here.datasets.needed(task("T2", "T1")) == ["d"]


def test_what_is_there_again_is_not_searched_for_any_more() -> None:
    here = Here()
    assert here.search(2.0) == 0
    here.grifo.holdings.add("d")
    assert here.tick() == []
    assert here.core.wake
    here.grifo.holdings.clear()
    assert here.search(2.0) == 0
    assert here.search(1.0) == 1, "it is missed from now on"
    del here.specs["T2"]
    here.tick()
    assert here.datasets._wanted == {}


def test_a_thousand_are_searched_for_at_a_tick() -> None:
    here = Here()
    for number in range(1_001):
        name = f"N{number}"
        here.specs[name] = task(name, "T1")
        here.datasets.missing_input(here.specs[name])
    here.needing = None
    here.specs.clear()
    here.tick()
    assert len(here.datasets._wanted) == 1


def test_what_comes_and_goes_here_is_told_once() -> None:
    here = Here()
    changed = here.datasets.handlers()[DatasetsChanged]
    for event, told in (
        (DatasetsChanged(added=("a", "b")), [Holdings(("a", "b"))]),
        (DatasetsChanged(added=("b", "c")), [Holdings(("c",))]),
        (DatasetsChanged(added=("a",)), []),
        (DatasetsChanged(removed=("a",)), [Holdings(removed=("a",))]),
        (DatasetsChanged(), []),
    ):
        here.said.clear()
        here.core.wake = False
        changed(event)
        assert (here.said, here.core.wake) == (told, bool(told))


def test_who_may_have_missed_something_is_told_the_whole_list() -> None:
    here = Here()
    here.core.holdings = {"a": None}
    assert here.tick() == []
    here.pato.stale = here.grifo.stale = True
    here.grifo.greeted = False
    assert here.tick() == [("pato", Holdings(("a",), complete=True))]


def test_who_was_refused_is_asked_again_and_that_wakes() -> None:
    here = Here()
    here.pato.holdings.add("d")
    here.datasets.refuse("d", ("pato",), 0)
    here.tick()
    assert (here.core.wake, here.datasets.holders("d")) == (False, ())
    here.core.now_s += 5.0
    here.tick()
    assert (here.core.wake, here.datasets.holders("d")) == (True, ("pato",))
    here.tick()
    assert not here.core.wake
    here.datasets.on_gone(here.pato)
    assert here.core.wake


@pytest.mark.parametrize(
    ("wakes", "message", "wanted"),
    [
        (False, Holdings(("x",)), False),
        (True, Holdings(("x",)), True),
        (True, Holdings(removed=("x",)), False),
        (True, Holdings(complete=True), False),
    ],
)
def test_what_others_tell_wakes_whoever_waits(wakes: bool, message: Holdings, wanted: bool) -> None:
    here = Here()
    here.grifo.holdings_complete = False
    if wanted:
        here.datasets.missing_input(here.spec)
    here.datasets.handlers()[Holdings](here.grifo, message)
    assert here.core.wake is wakes
    assert here.grifo.holdings_complete is message.complete
