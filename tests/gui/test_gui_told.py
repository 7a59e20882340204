"""What is told of versions, of the past, of what runs again and of the audit: values in, words out."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec.structs import replace

from agent.api.again import AgainReply, Step
from agent.api.audit import AuditChecked, AuditEntry
from agent.api.flock import MembersReply, MemberView
from agent.api.past import PastDay
from agent.api.update import UpdateView
from agent.api.values import PRIORITY_NAMES, TaskState
from agent.client.errors import ClientError
from gui.bridge.inspecting import inspected, place_of_plan
from gui.model.again import difference_words, differing_text, steps_as_tasks
from gui.model.audit import checked_text, from_text, is_well, on_text, outcome_text, who_text
from gui.model.flock import may_run_here, own_member, waits_for_help
from gui.model.past import day_sums, past_facts, past_tip
from gui.model.times import exact
from gui.model.trouble import Remedy, update_notice
from tests.certain import certain
from tests.gui.values import NOW_S, connected, past_workflow, peer, peers, status, workflow

S = TaskState
OLDER = (
    "Wingbeat 3 is installed, which is older than what runs. It starts when you say so, and refuses "
    "data whose format it does not know."
)


@pytest.mark.parametrize(
    ("own", "others", "remedy", "told"),
    [
        ({}, (), None, ""),
        ({}, ("1", "0"), None, ""),
        ({"update": UpdateView("3", "asks")}, ("2",), Remedy.START_NEW_AGENT,
         "Wingbeat 3 is installed; it starts anew when you say so."),
        ({"update": UpdateView("3", "finishes")}, (), Remedy.START_NEW_AGENT,
         "Wingbeat 3 is installed; it starts anew when the running task ends."),
        ({"update": UpdateView("3", "finishes", older=True)}, (), Remedy.START_NEW_AGENT, OLDER),
        ({"version": "2"}, ("3",), Remedy.START_NEW_WINDOW,
         "The agent is of version 2 and this window of 1: start the window anew."),
        ({}, ("1", "3", "2"), Remedy.NONE,
         "Other machines run Wingbeat 3, this one runs 1: install the same version here when you can."),
    ],
)  # fmt: skip
def test_another_version_is_told_of_with_what_to_do(
    own: dict[str, Any], others: tuple[str, ...], remedy: Remedy | None, told: str
) -> None:
    rows = (peer(f"p{each}", version=each) for each in others)
    found = update_notice(connected(status(**own), peers(*rows, **own)), "1")
    assert (found and found.remedy, found.sentence if found else "") == (remedy, told)


PAST = past_workflow(attempts=5, tasks=4, machines=("acor", "brisa"))


def test_of_a_past_workflow_all_is_told_that_is_known() -> None:
    begun, ended = exact(NOW_S - 90), exact(NOW_S)
    assert past_tip(PAST).splitlines() == [
        "line-42",
        "done",
        f"Submitted {begun}",
        f"Ended {ended}",
        "by ana on acor",
        "Waited 10 s, ran 75 s, 2 min from submission to end",
        "5 attempts · 4 tasks",
        "acor, brisa",
    ]
    assert "" not in past_tip(replace(PAST, machines=())).splitlines()
    assert past_facts(PAST) == [
        ("Ended", ended),
        ("Waited", "10 s"),
        ("Ran", "75 s"),
        ("In all", "2 min"),
        ("Attempts", "5"),
        ("Machines", "acor, brisa"),
    ]


@pytest.mark.parametrize(
    ("day", "told"),
    [
        (PastDay(1, 0), ""),
        (PastDay(1, 3), "3 workflows"),
        (PastDay(1, 3, 1, 0.5, 2.0, 30.5),
         "3 workflows · 1 failed · used 30 min · waited 2 h · given by this computer 30 h 30 min"),
        (PastDay(1, 0, given_hours=1.0), "given by this computer 1 h"),
    ],
)  # fmt: skip
def test_a_day_is_summed_up(day: PastDay, told: str) -> None:
    assert day_sums(day) == told


def test_in_what_steps_differ_is_told_of_the_first_four() -> None:
    steps = tuple(Step(name, ("data",)) for name in "abcde")
    four = "a: other data; b: other data; c: other data; d: other data"
    assert differing_text(steps[:4]) == four
    assert differing_text(steps) == f"{four}; 1 more"
    assert differing_text(()) == ""
    words = difference_words(Step("a", ("new", "program", "parameters", "inputs", "step")))
    assert (
        words == "new, another script, other parameters, needs something else, asks something else"
    )


@pytest.mark.parametrize(
    ("how", "runs"),
    [({"anew": False}, "bcd"), ({"anew": True}, "abcd"), ({"anew": True, "retried": True}, "cd")],
)
def test_what_runs_again_is_drawn_as_ready_and_what_is_kept_hollow(
    how: dict[str, bool], runs: str
) -> None:
    steps = (
        Step("a", kept=True, before=S.TERMINATED),
        Step("b", ("data",), before=S.TERMINATED, needs=("a",)),
        Step("c", before=S.ABORTED),
        Step("d", gate=True),
    )
    drawn = steps_as_tasks(AgainReply("w", "w", steps), **how)
    assert "".join(name for name, each in drawn.items() if each.state is S.READY) == runs
    assert {each.state for each in drawn.values()} <= {S.READY, S.SUBMITTED}
    kept = "runs" if "a" in runs else "kept"
    assert [each.reason for each in drawn.values()][:2] == [kept, "other data"]
    assert (drawn["b"].needs, drawn["d"].gate, drawn["c"].gate) == (("a",), True, False)


BUSY = {"volunteering": True, "owner_present": True}
OFF = {"volunteering": False}
OWN = {"volunteering": False, "own_work": "all"}


@pytest.mark.parametrize(
    ("row", "own", "others", "waits", "here"),
    [
        ({}, OFF, (), True, True),
        ({}, OFF | {"own_work": "none"}, (), True, False),
        ({}, {}, (), False, False),
        ({}, BUSY, (), True, True),
        ({}, OWN, (), False, False),
        ({"host": "brisa"}, OWN, (), True, False),
        ({}, OFF, (peer("a"),), False, False),
        ({}, OFF, (peer("a", **BUSY), peer("b", state="away"), peer("c", **OFF)), True, True),
        ({"priority": PRIORITY_NAMES["interactive"]}, OFF, (), True, False),
        ({"counts": {S.SUBMITTED: 1}}, OFF, (), False, False),
        ({"state": "running"}, OFF, (), False, False),
    ],
)
def test_what_waits_for_help_could_run_here_now(
    row: dict[str, Any], own: dict[str, Any], others: tuple[Any, ...], waits: bool, here: bool
) -> None:
    told = {"own_work": "interactive", **own}
    screen = connected(status(workflow(**row), **told), peers(*others, **told))
    assert waits_for_help(screen, workflow(**row)) is waits
    assert may_run_here(screen, workflow(**row)) is here


WHOLE = "The audit of acor is whole, from entry 4 to 9"
ENTRY = AuditEntry(1, int(NOW_S * 1000), "owner", "cancel", "line-42", "this machine")


def test_an_entry_of_the_audit_is_told_in_words() -> None:
    members = tuple(
        MemberView(f"id-{name}", name, True, name == "b", 1) for name in ("a", "b", "c", "d")
    )
    screen = connected(
        status(replace(workflow("w"), name="line 44")), MembersReply("office", members, ())
    )
    assert certain(own_member(screen)).name == "b"
    for on, told in (
        ("", ""),
        ("w", "line 44"),
        ("id-a, w, elm (id-elm)", "a, line 44, elm"),
        ("id-a, id-b, id-c, id-d", "a, b, c and 1 more"),
    ):
        assert on_text(replace(ENTRY, on=on), screen) == told
    assert [who_text(replace(ENTRY, who=each)) for each in ("owner", "elm (id-elm)")] == [
        "its owner", "elm",
    ]  # fmt: skip
    places = ("this machine", "this machine, typed", "another machine", "the flock", "the moon")
    assert [from_text(replace(ENTRY, came_from=each)) for each in places] == [
        *("the computer itself", "the computer itself, typed", "another computer", "the flock"),
        "the moon",
    ]
    for outcome, told, well in (
        ("done", "done", True),
        ("failed", "failed", False),
        ("refused: it is not yours", "refused", False),
        ("half", "half", False),
    ):
        entry = replace(ENTRY, outcome=outcome)
        assert (outcome_text(entry), is_well(entry)) == (told, well)
    many = replace(ENTRY, what="not noted", outcome="7")
    assert (outcome_text(many), is_well(many)) == ("7 of them", True)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({}, f"{WHOLE}."),
        (
            {"witnessed": 7},
            f"{WHOLE}, and as this computer was told of entry 7 before.",
        ),
        (
            {"broken": 5, "why": "it was signed by another", "witnessed": 7},
            "Entry 5 of the audit of acor is wrong: it was signed by another.",
        ),
    ],
)
def test_a_checked_audit_is_told_in_a_sentence(found: dict[str, Any], told: str) -> None:
    assert checked_text(AuditChecked("n1", "acor", 6, 9, **found)) == told


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.1 -0.2 0.35", ["0.1", "-0.2", "0.35"]),
        (" 1; 2;3 ", ["1", "2", "3"]),
        ("1 2", None),
        ("1 2 3 4", None),
        ("1 2 x", None),
    ],
)
async def test_what_is_said_of_a_flight_is_three_numbers_where_it_has_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, numbers: list[str] | None
) -> None:
    look = AsyncMock(return_value="found")
    monkeypatch.setattr("gui.bridge.inspecting.look_at_flight", look)
    client: Any = AsyncMock()
    client.call.return_value = SimpleNamespace(shares={"flights": str(tmp_path)})
    said = {"lever-m": text, "sensor": " left ", "line": " "}
    flight = tmp_path / "f7"
    flight.mkdir()
    if numbers is None:
        with pytest.raises(ClientError, match=f"“{text}” has to be three numbers"):
            await inspected(client, flight, said)
    else:
        assert (await inspected(client, flight, said, tmp_path))[1] == "flights/f7"
        options = {"lever-m": numbers, "sensor": "left", "share": "flights/f7"}
        look.assert_awaited_once_with(flight, options, tmp_path)


def test_a_plan_lies_beside_its_flight_or_with_its_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place_of_plan(tmp_path / "f7") == tmp_path / "f7-inspection"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert place_of_plan(tmp_path / "f7") == Path.home() / "f7-inspection"
