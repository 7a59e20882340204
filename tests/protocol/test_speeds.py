"""When speeds of hosts are looked at again, from which runs, and what counts as another speed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agent.protocol import speeds as module
from agent.protocol.likeness import Kind, Likeness
from agent.protocol.sketch import Sketch
from agent.protocol.speeds import FITTED_KINDS_MAX, Fit, Speeds


class Learned:
    """Speeds of what ran, and how often some host was found to be another than was thought."""

    def __init__(self) -> None:
        self.sketches: dict[Likeness, Sketch] = {}
        self.changes = 0
        self.speeds = Speeds(self.sketches, self.changed)

    def changed(self) -> None:
        self.changes += 1

    def ran(self, times: int = 1, host: str = "a", size: int = 0, content: str = "p") -> None:
        kind = Kind(content, content, 0, 0, size)
        for _ in range(times):
            self.sketches.setdefault(kind.wide()[0][0], Sketch()).note(1_000, host)
            self.speeds.count(kind)

    def fit(self, content: str = "p") -> Fit:
        return self.speeds.of(content)


@pytest.mark.parametrize(("ran", "more"), [(14, 1), (15, 2), (160, 11), (2_000, 65)])
def test_speeds_are_looked_at_again_when_there_is_one_more_in_sixteen_or_64(
    ran: int, more: int
) -> None:
    learned = Learned()
    learned.ran(ran)
    first = learned.fit()
    for _ in range(more):
        assert learned.fit() is first
        learned.ran()
    again = learned.fit()
    assert (first.noted, again.noted) == (ran, ran + more)
    assert again.runs == {"a": ran + more}


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        ({}, {"a": 1.09}, False),
        ({}, {"a": 1.11}, True),
        ({}, {"a": 0.89}, True),
        ({"a": 2.0}, {"a": 2.0}, False),
        ({"a": 2.0}, {"a": 2.19}, False),
        ({"a": 2.0}, {"a": 2.21}, True),
        ({"a": 2.0}, {"a": 2.0, "b": 0.5}, True),
    ],
)
def test_plans_change_when_a_host_is_a_tenth_faster_or_slower_than_was_thought(
    monkeypatch: pytest.MonkeyPatch,
    before: Mapping[str, float],
    now: Mapping[str, float],
    changes: bool,
) -> None:
    learned = Learned()
    monkeypatch.setattr(module, "fitted", lambda _: before)
    assert learned.fit() == Fit(0, dict(before), {})
    assert learned.changes == 1, "what was never looked at is news"
    learned.ran()
    monkeypatch.setattr(module, "fitted", lambda _: now)
    assert learned.fit().factors == now
    assert learned.changes == 1 + changes


def test_speeds_come_from_the_kinds_that_ran_last() -> None:
    learned = Learned()
    for size in range(FITTED_KINDS_MAX):
        learned.ran(host=f"h{size}", size=size)
    assert len(learned.fit().runs) == FITTED_KINDS_MAX == 32
    learned.ran(2, host="again", size=0)
    learned.ran(2, host="new", size=99)
    ran = learned.fit().runs
    assert "h0" in ran, "its kind ran again"
    assert "h1" not in ran
    assert len(ran) == FITTED_KINDS_MAX + 1
    assert (ran["again"], ran["new"], ran["h2"]) == (2, 2, 1)


def test_of_each_program_by_itself_and_of_all_together() -> None:
    learned = Learned()
    learned.ran(2, host="a", content="p")
    learned.ran(3, host="a", content="q")
    learned.ran(1, host="b", content="q")
    found = {content: learned.fit(content) for content in ("p", "q", "", "nothing")}
    assert {content: (fit.noted, fit.runs) for content, fit in found.items()} == {
        "p": (2, {"a": 2}),
        "q": (4, {"a": 3, "b": 1}),
        "": (6, {"a": 5, "b": 1}),
        "nothing": (0, {}),
    }
    learned.sketches.clear()
    learned.ran(1, host="c", size=7)
    assert learned.fit().runs == {"c": 1}, "what is not kept any more is left out"
