"""`wingbeat inspect` and `wingbeat demo --real` on what is no flight, and what is told of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.client.inspecting import Flight
from agent.commands import exits
from agent.commands.demo.lines import Starting, sentences
from agent.commands.demo.machines import DemoError
from agent.commands.demo.real import LINE, Real
from agent.commands.inspect import run, told_of


def test_what_was_found_is_told_with_what_was_lived_with(tmp_path: Path) -> None:
    found = Flight(
        files={"scans": 2, "videos": 0}, tiles=125, length_m=50_000, points=7, size_bytes=2_000_000,
        survived={"no route was named": 1, "points without a time": 12}, workflow="line.yaml",
    )  # fmt: skip
    lines = told_of(found, tmp_path / "line-7", "")
    assert lines == [
        "line-7: scans 2, points 7",
        "125 tiles along 50000 m of line",
        "  no route was named",
        "  points without a time: 12",
        "plan and workflow: line.yaml",
        "the whole folder, 2.0 MB, is brought into the flock; of one that lies in a share only tiles are",
    ]
    assert told_of(found, tmp_path, "flights/line-7") == [
        f"{tmp_path.name}: scans 2, points 7",
        *lines[1:5],
    ]


def test_without_an_agent_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WINGBEAT_HOME", str(tmp_path / "home"))
    assert run([str(tmp_path)]) == exits.NO_AGENT
    assert capsys.readouterr().err.count("\n") == 1


async def test_a_demo_of_what_is_no_flight_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="there is no scan, no file named"):
        await Real(tmp_path / "plan", tmp_path, {}).prepare()


@pytest.mark.parametrize(("wires", "right"), [([0, 0, 1], [True, True]), ([], [False, True])])
def test_a_real_scan_is_judged_by_what_was_found(
    tmp_path: Path, wires: list[int], right: list[bool]
) -> None:
    line = {"wire_of_curve": wires, "towers": [], "points": [{"id": "a"}, {"id": "b"}]}
    judged = Real(tmp_path, tmp_path, {}).judge({LINE: json.dumps(line).encode()})
    assert [each.holds for each in judged] == right


def test_the_demo_says_whether_its_landscape_is_made() -> None:
    made, real = Starting(0.0, ("a", "b"), 4, "/x"), Starting(0.0, ("a", "b"), 0, "/x", "line-7")
    assert [*sentences(made)] == [
        "starting 2 agents, and a survey of 4 sections: the landscape is made, not flown"
    ]
    assert [*sentences(real)] == ["starting 2 agents, and a plan for the real scan in line-7"]
