"""Why a task may not be claimed or copied here and now: each reason alone, in the words told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.protocol.claimability import Claimability
from agent.protocol.messages import Capabilities
from agent.protocol.needs import Seat, with_needs
from agent.protocol.own_run import Stage
from agent.protocol.reasons import HelpsOthers
from agent.protocol.records import Claim, Requirements, Run, Running, Suspended, TaskState
from agent.protocol.second_runs import FIRST_COPY
from agent.protocol.settings import Settings
from agent.protocol.sharing_reasons import OwnerTakesNoWork
from tests.protocol.stage import task

ONCE, SEATED = with_needs((), (), once=True), with_needs((), (Seat("acme", 1),))


def run(host: str, **more: Any) -> Run:
    made = Run(0, 1, host, 7, Claim(0, (1, 0), host), 0, (), phase=Running())
    return replace(made, **more)


PATO, COPY = run("pato"), run("grifo", more=FIRST_COPY)
OFFERED, HELD = (run("pato", phase=Suspended(offered=each)) for each in (True, False))


def told_in_words(fact: Any) -> str:
    return repr(fact) if fact else ""


class Here:
    """Acor could claim T1, which waits for nothing and belongs to nobody."""

    def __init__(self, *runs: Run) -> None:
        owner = runs[0] if runs else None
        self.down: tuple[str, ...] = ()
        self.missing: str | None = None
        self.mine: dict[str, Any] = {}
        self.resting: dict[str, float] = {}
        self.busy, self.at_home, self.submitter, self.interactive = 0, False, "ana", False
        self.reading: Any = SimpleNamespace(
            state=TaskState.READY, owner=owner, outcome=None, supplied=True, inputs=(), reason=None
        )
        self.producer: Any = SimpleNamespace(outcome=None)
        spec = SimpleNamespace(submitter="ana", host="pato")
        self.table: Any = SimpleNamespace(
            specs={"T1": task("T1")},
            reading=self._reading,
            life=lambda _: SimpleNamespace(runs=runs),
            owned={"T1": owner} if owner else {},
            producers={"T1": ["T0"]},
            interactive=lambda _: self.interactive,
            workflow_of={"T1": "w"},
            workflows={"w": SimpleNamespace(spec=spec)},
        )
        self.asked = self._wired()

    def _wired(self) -> Claimability:
        self.core: Any = SimpleNamespace(
            me="acor",
            name="acor",
            slots=1,
            table=self.table,
            capabilities=Capabilities(programs=("mill",)),
            settings=Settings(copies_max=1, words=told_in_words),
            rule=SimpleNamespace(copies=SimpleNamespace(most=0)),
            presence=SimpleNamespace(own_only=False, bans=(), people=(), paused=False, reason=None),
            stopping=False,
            willing=True,
            own=SimpleNamespace(has=lambda _: self.at_home),
            name_of=lambda node: node,
            checking=SimpleNamespace(
                trust=SimpleNamespace(people=SimpleNamespace(others=lambda _: []))
            ),
        )
        parts = (
            SimpleNamespace(alive=lambda host, _: host not in self.down),
            SimpleNamespace(missing_input=lambda _: self.missing),
            SimpleNamespace(
                mine=self.mine,
                resting=self.resting,
                executing=lambda: self.busy,
                idle=lambda: self.busy == 0,
            ),
        )
        return Claimability(cast("Any", self.core), *cast("Any", parts))

    def _reading(self, name: str) -> Any:
        return {"T1": self.reading, "T0": self.producer}.get(name)

    def needs(self, **more: Any) -> Here:
        self.table.specs["T1"] = task("T1", **more)
        return self

    def with_(self, **values: Any) -> Here:
        """With these things changed; two underscores lead from a thing to one of its own."""
        for path, value in values.items():
            *through, name = path.split("__")
            thing: Any = self
            for each in through:
                thing = getattr(thing, each)
            setattr(thing, name, value)
        return self


@pytest.mark.parametrize(
    ("taken", "runs", "down"),
    [
        (False, (), ()),
        (True, (PATO,), ()),
        (False, (PATO,), ("pato",)),
        (False, (OFFERED,), ()),
        (True, (HELD,), ()),
        (True, (PATO, COPY), ("pato",)),
        (False, (PATO, COPY), ("pato", "grifo")),
        (True, (OFFERED, COPY), ()),
        (True, (COPY, PATO), ("grifo",)),
        (False, (PATO, run("grifo", attempt=2, more=FIRST_COPY)), ("pato",)),
    ],
)
def test_a_task_is_taken_while_its_run_or_a_copy_goes_on(
    taken: bool, runs: tuple[Run, ...], down: tuple[str, ...]
) -> None:
    here = Here(*runs).with_(down=down)
    assert here.asked.is_taken("T1") is taken
    assert here.asked.is_taken("unknown") is False
    here.reading.state = TaskState.CANCELLED
    assert here.asked.is_taken("T1") is True


def test_whether_a_copy_was_ever_made_is_known() -> None:
    cases: list[tuple[tuple[Run, ...], bool]] = [
        ((), False),
        ((PATO,), False),
        ((PATO, COPY), True),
    ]
    for runs, copied in cases:
        assert Here(*runs).asked.copied("T1") is copied


def words(here: Here) -> str:
    return here.asked.obstacle("T1")


def test_what_is_free_may_be_claimed() -> None:
    assert words(Here()) == ""
    assert Here().asked.obstacle("unknown") == "it is not known here"
    assert words(Here().with_(reading=None)) == "it is not known here"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"reading__state": TaskState.CANCELLED}, "it is Cancelled"),
        ({"mine": {"T1": None}}, "an earlier run of it is still here"),
        ({"resting": {"T1": 1.0}}, "it could not be started here lately"),
        ({"reading__supplied": False}, "what it needs is not finished"),
        ({"reading__inputs": None}, "what it needs is not finished"),
        ({"missing": "d"}, "input d is nowhere reachable"),
        ({"core__stopping": True}, "the agent stops"),
        ({"core__presence__own_only": True}, "acor helps only with its own work now"),
        ({"core__presence__bans": ("ana",)}, repr(OwnerTakesNoWork("ana", "acor"))),
        ({"core__presence__bans": ("bob",)}, ""),
        ({"core__presence__people": ("bob",)}, repr(HelpsOthers(("bob",), "acor"))),
        ({"core__presence__people": ("ana",)}, ""),
        ({"core__willing": False}, "this machine does not volunteer now"),
    ],
)
def test_each_obstacle_is_told(change: dict[str, Any], told: str) -> None:
    here = Here()
    for name in ("mine", "resting"):
        getattr(here, name).update(change.pop(name, {}))
    assert words(here.with_(**change)) == told


def test_a_gate_is_claimed_by_nobody_and_what_does_not_fit_is_told_with_the_host() -> None:
    assert words(Here().needs(gate=True)) == "what it needs is not finished"
    why = words(Here().needs(requirements=Requirements(tags=("gpu",))))
    assert "gpu" in why
    assert "host='acor'" in why
    waits = Here().with_(reading__supplied=False, reading__reason=HelpsOthers((), "x"))
    assert words(waits) == repr(HelpsOthers((), "x"))


def test_own_work_is_not_held_up_by_whom_the_owner_helps() -> None:
    for change in (
        {"core__presence__own_only": True},
        {"core__presence__bans": ("ana",)},
        {"core__presence__people": ("bob",)},
    ):
        assert words(Here().with_(at_home=True, **change)) == ""


@pytest.mark.parametrize(
    ("begins", "change"),
    [
        (True, {}),
        (False, {"at_home": False}),
        (False, {"interactive": False}),
        (False, {"core__presence__paused": True}),
        (False, {"busy": 1}),
    ],
)
def test_what_somebody_waits_for_begins_at_home_though_he_is_there(
    begins: bool, change: dict[str, Any]
) -> None:
    here = Here().with_(core__willing=False, at_home=True, interactive=True)
    here.core.presence.reason = HelpsOthers((), "y")
    assert words(here.with_(**change)) == ("" if begins else repr(HelpsOthers((), "y")))


def test_a_claim_ahead_stands_while_what_it_needs_ends_here() -> None:
    for stage, stands in (
        (Stage.RUNNING, True),
        (Stage.COPYING, True),
        (Stage.SUSPENDED, False),
        (None, False),
    ):
        here = Here().with_(reading__supplied=False, busy=1, missing="d")
        if stage is not None:
            here.mine["T0"] = SimpleNamespace(stage=stage)
        assert (here.asked.obstacle_ahead("T1") == "") is stands
        assert here.asked.obstacle_ahead("unknown") == "it is not known here"
    here = Here().with_(reading__supplied=False, busy=1)
    here.producer.outcome = PATO
    assert here.asked.obstacle_ahead("T1") == ""
    here.core.stopping = True
    assert here.asked.obstacle_ahead("T1") == "the agent stops"
    here.resting["T1"] = 1.0
    assert here.asked.obstacle_ahead("T1") == "it could not be started here lately"


def test_once_what_it_needs_is_there_a_claim_ahead_is_like_any_other() -> None:
    here = Here()
    assert here.asked.obstacle_ahead("T1") == ""
    here.busy = 1
    assert here.asked.obstacle_ahead("T1") == "the place is taken by now"
    here.core.slots = 2
    assert here.asked.obstacle_ahead("T1") == ""
    here.missing = "d"
    assert here.asked.obstacle_ahead("T1") == "input d is nowhere reachable"


def copying(here: Here) -> str:
    return here.asked.obstacle_to_copy_here("T1")


def test_each_obstacle_to_a_copy_is_told() -> None:
    assert copying(Here(PATO)) == ""
    assert copying(Here()) == "nobody has it"
    assert copying(Here(PATO).with_(reading=None)) == "nobody has it"
    assert copying(Here(PATO).with_(reading__state=TaskState.CANCELLED)) == "nobody has it"
    for more in (ONCE, SEATED):
        assert copying(Here(PATO).needs(more=more)) == "it must not run twice at once"
    assert copying(Here(PATO).with_(down=("pato",))) == "anybody may take it"
    assert copying(Here(PATO, COPY)) == "it has its copies"
    assert copying(Here(PATO, COPY).with_(core__rule__copies__most=2)) == ""
    assert copying(Here(PATO, run("acor"))) == "it has run here"
    assert copying(Here(PATO, run("acor", attempt=2))) == ""
    assert copying(Here(PATO).with_(missing="d")) == "input d is nowhere reachable"
    assert copying(Here(PATO).with_(core__stopping=True)) == "the agent stops"
    for change in ({"reading__supplied": False}, {"reading__inputs": None}):
        assert copying(Here(PATO).with_(**change)) == "what it needs is not there"
    here = Here(PATO)
    here.resting["T1"] = 1.0
    assert copying(here) == "it could not be started here lately"
    here.mine["T1"] = None
    assert copying(here) == "it has run here"
