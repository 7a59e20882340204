"""Which copies this node begins, and which it gives back, asked of ``Copies`` alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.protocol.copies import Copies
from agent.protocol.lengths import RUNS
from agent.protocol.news import News
from agent.protocol.own_run import OwnRun, Stage
from agent.protocol.policy import Evidence
from agent.protocol.records import Claim, Run, Running, Suspended, Terminated
from agent.protocol.second_runs import FIRST_COPY
from agent.protocol.settings import Settings
from tests.protocol.stage import task


def run(host: str, **more: Any) -> Run:
    made = Run(0, 1, host, 7, Claim(0, (1, 0), host), 0, (), phase=Running())
    return replace(made, **more)


class Idle:
    """Acor has nothing to do; pato and grifo run T0 and T1, of which copies are worth it."""

    def __init__(self, tasks: int = 2, slots: int = 1, share: float = 1.0) -> None:
        names = [f"T{number}" for number in range(tasks)]
        self.worth: dict[str, bool] = {}
        self.views: list[Any] = []
        self.claimed: list[str] = []
        self.given_back: list[tuple[list[str], str]] = []
        self.started: list[str] = []
        self.fits_waiting = self.closed_here = ""
        self.closed: tuple[str, ...] = ()
        self.source = RUNS
        self.lives = {
            name: [run(("pato", "grifo")[number % 2])] for number, name in enumerate(names)
        }
        self.mine: dict[str, OwnRun] = {}
        self.seats = [
            SimpleNamespace(node=name, slots=1, busy=0, willing=True, own_only=False)
            for name in ("acor", "bora", "grifo", "pato")
        ]
        self.free = self.seats[:2]
        self.table: Any = SimpleNamespace(
            owned={name: runs[0] for name, runs in self.lives.items()},
            ready=[],
            specs={name: task(name) for name in names},
            life=lambda name: SimpleNamespace(runs=tuple(self.lives[name])),
            unfinished={"w": dict.fromkeys(names)},
            workflow_of=dict.fromkeys(names, "w"),
        )
        self.core: Any = SimpleNamespace(
            me="acor",
            now_s=100.0,
            slots=slots,
            joined=True,
            able=True,
            stopping=False,
            presence=SimpleNamespace(helps=True),
            table=self.table,
            settings=Settings(copies_share=share, copy_after_s=15.0),
            rule=SimpleNamespace(copies=SimpleNamespace(share=0.0, worth=self._worth)),
            lengths=SimpleNamespace(of=lambda _: SimpleNamespace(source=self.source)),
        )
        self.copies = self._wired()

    def _wired(self) -> Copies:
        self.busy = 0
        self.runs: Any = SimpleNamespace(
            mine=self.mine,
            executing=self._executing,
            give_back=lambda given, why: self.given_back.append((given, why)),
            start=lambda own: self.started.append(own.task),
        )
        self.claims: Any = SimpleNamespace(open={}, contested={}, go_for_copy=self.claimed.append)
        plan = SimpleNamespace(
            seats=self.seats,
            free=lambda _: self.free,
            fitting=lambda spec: [spec] if spec.task == self.fits_waiting else [],
            lasts=lambda node, seconds: (node, seconds),
        )
        return Copies(
            cast("Any", self.core),
            cast("Any", self.runs),
            cast("Any", self.claims),
            cast("Any", SimpleNamespace(left_ms=lambda _: 90_000)),
            cast("Any", SimpleNamespace(seat_plan=lambda: plan)),
            cast("Any", SimpleNamespace(of=lambda *_: Evidence(1, 60_000, 5_000))),
            lambda name: "closed" if name in self.closed else "",
            lambda _: self.closed_here,
        )

    def _executing(self) -> int:
        return self.busy

    def _worth(self, view: Any, after_s: float) -> bool:
        assert after_s == 15.0
        self.views.append(view)
        return self.worth.get("all", True)

    def claims_now(self, later_s: float = 10.0) -> list[str]:
        self.core.now_s += later_s
        self.copies.on_tick()
        claimed = [*self.claimed]
        self.claimed.clear()
        return claimed

    def has(self, name: str, stage: Stage, copy: bool = True) -> OwnRun:
        """Acor has a run of it, beside the one that owns it."""
        own = OwnRun(
            name, self.table.specs[name], run("acor", more=FIRST_COPY if copy else {}), stage
        )
        self.mine[name] = own
        return own


def test_an_idle_machine_goes_for_one_copy_and_looks_every_two_seconds() -> None:
    idle = Idle()
    assert idle.claims_now() == ["T0"]
    assert (idle.claims_now(1.9), idle.claims_now(0.2)) == ([], ["T0"])
    idle.closed_here = "it has run here"
    assert idle.claims_now() == []


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("core.joined", False),
        ("core.able", False),
        ("core.presence.helps", False),
        ("claims.open", {"x": 1}),
        ("claims.contested", {"x": 1}),
        ("core.slots", 0),
        ("worth", {"all": False}),
        ("closed", ("T0", "T1")),
        ("free", []),
        ("table.owned", {}),
    ],
)
def test_who_has_something_to_do_or_finds_nothing_worth_it_makes_none(
    what: str, value: Any
) -> None:
    idle = Idle()
    *path, name = what.split(".")
    thing: Any = idle
    for each in path:
        thing = getattr(thing, each)
    setattr(thing, name, value)
    assert idle.claims_now() == []


def test_own_runs_take_a_place_but_for_those_that_only_copy_outputs() -> None:
    for stage, claims in ((Stage.RUNNING, []), (Stage.COPYING, ["T0"])):
        idle = Idle()
        idle.has("T1", stage)
        assert idle.claims_now() == claims


def test_none_is_made_while_anything_that_waits_fits_somewhere() -> None:
    idle = Idle(202)
    idle.table.owned = {"T0": idle.table.owned["T0"]}
    idle.table.ready = [f"T{number}" for number in range(1, 202)]
    idle.fits_waiting = "T200"
    assert idle.claims_now() == []
    idle.fits_waiting = "T201"
    assert idle.claims_now() == ["T0"], "no further than that is looked"
    idle.fits_waiting = "T1"
    idle.table.specs["T1"] = task("T1", gate=True, program="")
    assert idle.claims_now() == ["T0"]


def test_what_stands_still_goes_first_then_what_has_fewest_copies() -> None:
    idle = Idle(3)
    idle.lives["T0"].append(run("bora", more=FIRST_COPY))
    idle.free = idle.seats[:1]
    assert idle.claims_now() == ["T1"]
    held = replace(idle.table.owned["T2"], phase=Suspended())
    held_now = cast("Any", ("T2", None, SimpleNamespace(owner=held)))
    idle.copies.on_news(News(moved=[held_now]))
    assert idle.claims_now() == ["T2"]
    goes_on = cast("Any", ("T2", None, SimpleNamespace(owner=run("pato"))))
    idle.copies.on_news(News(moved=[goes_on]))
    assert idle.claims_now() == ["T1"]
    idle.copies.on_news(News(moved=[held_now]))
    idle.copies.on_news(News(forgotten_tasks=["T2"]))
    assert idle.claims_now() == ["T1"]


def test_what_falls_to_another_machine_is_left_to_it() -> None:
    idle = Idle()
    idle.free = [idle.seats[1], idle.seats[0]]
    assert idle.claims_now() == ["T1"], "bora takes the first"
    idle = Idle(share=0.25)
    idle.free = [idle.seats[1], idle.seats[0]]
    assert idle.claims_now() == [], "one of four places"
    idle = Idle(share=0.5)
    idle.free = [idle.seats[1], idle.seats[0]]
    assert idle.claims_now() == ["T1"], "the second of two"
    idle = Idle()
    idle.closed = ("T0",)
    assert idle.claims_now() == ["T1"]
    idle = Idle(share=0.25)
    idle.lives["T0"] += [run("acor"), run("bora")]
    assert idle.claims_now() == ["T1"], "nobody is left for the first"
    idle = Idle()
    idle.lives["T0"].append(run("far", more=FIRST_COPY, phase=Terminated()))
    assert idle.claims_now() == ["T0"], "what has ended is no copy any more"


@pytest.mark.parametrize(
    ("share", "by_rule", "copied", "claims"),
    [
        (0.25, 0.0, 0, 1),
        (0.01, 0.0, 0, 1),  # one in any case
        (0.25, 0.0, 1, 0),
        (0.5, 0.0, 1, 1),
        (0.5, 0.0, 2, 0),
        (0.25, 1.0, 3, 1),
        (0.25, 1.0, 4, 0),
        (0.74, 0.0, 2, 0),
    ],
)
def test_copies_take_a_share_of_the_places(
    share: float, by_rule: float, copied: int, claims: int
) -> None:
    idle = Idle(6, share=share)
    idle.core.rule.copies.share = by_rule
    idle.seats += [
        SimpleNamespace(node="cat", slots=9, busy=0, willing=False, own_only=False),
        SimpleNamespace(node="dog", slots=9, busy=0, willing=True, own_only=True),
    ]
    for number in range(copied):
        idle.lives[f"T{number}"].append(run("far", more=FIRST_COPY))
    idle.lives["T5"].append(run("far", more=FIRST_COPY, phase=Terminated()))
    assert len(idle.claims_now()) == claims


def test_a_copy_goes_where_no_run_of_it_is_and_a_place_is_free() -> None:
    idle = Idle(1)
    idle.lives["T0"].append(run("acor"))
    assert idle.claims_now() == [], "it runs here"
    idle = Idle(1)
    idle.free[0].busy = 1
    assert idle.claims_now() == []
    idle = Idle(3)
    idle.lives["T0"].append(run("acor", more=FIRST_COPY))
    idle.lives["T1"].append(run("bora", more=FIRST_COPY))
    assert idle.claims_now() == [], "each has its one place taken"
    idle.free[0].slots = 2
    assert idle.claims_now() == ["T2"]


def test_what_is_known_of_a_run_is_weighed() -> None:
    idle = Idle(1)
    idle.claims_now()
    (view,) = idle.views
    assert (view.held_s, view.left_s, view.here_s) == (None, 90.0, 65.0)
    assert (view.lasts, view.lasts_here, view.last) == (("pato", 90.0), ("acor", 60.0), True)
    idle.source = "told"
    held = replace(idle.table.owned["T0"], phase=Suspended())
    news = News(moved=[cast("Any", ("T0", None, SimpleNamespace(owner=held)))])
    idle.copies.on_news(news)
    idle.core.now_s += 5.0
    idle.copies.on_news(news)
    idle.table.specs |= {"U": task("U"), "V": task("V", gate=True, program="")}
    for waits, last in (("U", False), ("V", True)):
        idle.table.unfinished = {"w": {"T0": None, waits: None}}
        idle.claims_now(4.0)
        assert idle.views[-1].last is last
    view = idle.views[-1]
    assert (view.held_s, view.left_s, view.here_s) == (13.0, None, None)


# -- copies that are here ----------------------------------------------------------------


def test_copies_begin_where_places_are_left_over() -> None:
    idle = Idle(3, slots=2)
    idle.has("T0", Stage.QUEUED)
    idle.has("T1", Stage.QUEUED)
    idle.has("T2", Stage.QUEUED, copy=False)
    idle.copies.make_room()
    assert (idle.started, idle.given_back) == (["T0", "T1"], [])
    idle.core.stopping = True
    idle.copies.make_room()
    assert idle.started == ["T0", "T1"]


def test_the_youngest_give_way_first_those_that_have_not_begun() -> None:
    idle = Idle(4, slots=3)
    for name, stage in (("T0", Stage.RUNNING), ("T1", Stage.QUEUED), ("T2", Stage.RUNNING)):
        idle.has(name, stage)
    for busy, given in ((0, []), (1, ["T1"]), (2, ["T2", "T1"]), (3, ["T0", "T2", "T1"])):
        idle.busy = busy
        idle.given_back.clear()
        idle.copies.make_room()
        assert idle.given_back == ([(given, "GaveWay")] if given else [])
    idle.busy = 9
    idle.given_back.clear()
    idle.copies.make_room()
    assert idle.given_back == [(["T0", "T2", "T1"], "GaveWay")]


def test_who_has_given_it_back_or_stops_is_not_begun() -> None:
    idle = Idle(2, slots=1)
    idle.has("T0", Stage.STOPPING)
    own = idle.has("T1", Stage.QUEUED)
    idle.copies.make_room()
    assert (idle.given_back, idle.started) == ([], ["T1"]), "what stops has given its place up"
    idle.started.clear()
    idle.busy = 1
    idle.runs.give_back = lambda names, _: [idle.mine.pop(name) for name in names]
    idle.copies.make_room()
    assert idle.started == []
    idle.mine["T1"] = own
    idle.runs.give_back = lambda *_: setattr(own, "stage", Stage.STOPPING)
    idle.copies.make_room()
    assert idle.started == []
