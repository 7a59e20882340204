"""Two agents: a program stands still as its owner is back, and an idle machine begins it a second time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.machine import WITHIN_S, Machine, make_flock
from tests.hosts.waiting import wait_for

PROGRAM = """
import time, sys
for tenth in range(1, 121):
    time.sleep(0.1)
    print("PROGRESS", f"{tenth / 121:.2f}", flush=True)
print("TERMINATED", flush=True)
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Machine]]:
    """Two machines of one flock that always help, with the program on both."""
    folder = tmp_path_factory.mktemp("machines")
    ant, bee = (Machine(folder / name) for name in ("ant", "bee"))
    for each in (ant, bee):
        each.settle(confinement="off", slots=2)
        each.install("long", PROGRAM)
        each.install("mail", PROGRAM, once=True)
    with ant.agent("--name", "ant", "--port", "0"), bee.agent("--name", "bee", "--port", "0"):
        make_flock(ant, bee)
        yield {"ant": ant, "bee": bee}


def shown(machine: Machine, workflow: str) -> dict[str, object]:
    (task,) = machine.answer("status", workflow)["tasks"]
    return dict(task)


def runs_of(machine: Machine, workflow: str) -> list[dict[str, object]]:
    (task,) = machine.answer("show", f"{workflow}/a")["runs"]["tasks"]
    return list(task["runs"])


def test_an_idle_machine_begins_what_stands_still_once_more_but_not_what_is_for_once(
    pair: dict[str, Machine], tmp_path: Path
) -> None:
    ant, bee = pair["ant"], pair["bee"]
    bee.said("pause")
    for name, program in (("line", "long"), ("letter", "mail")):
        file = tmp_path / f"{name}.wingbeat.yaml"
        file.write_text(f"tasks: {{a: {{program: {program}}}}}")
        ant.said("submit", str(file))
        wait_for(lambda name=name: shown(ant, name)["state"] == "Running", WITHIN_S, "it runs")  # type: ignore[misc]
    bee.said("resume")
    ant.said("pause")
    wait_for(lambda: shown(bee, "line")["host"] == "bee", WITHIN_S, "a copy leads")
    assert shown(bee, "line")["copies"] == ["ant"]
    assert "a second run of it goes on on ant" in bee.said("why", "line/a")
    assert [each["host"] for each in runs_of(bee, "letter")] == ["ant"], "it was held as long"
    ant.said("resume")
    for name in ("line", "letter"):
        wait_for(lambda name=name: shown(bee, name)["state"] == "Terminated", WITHIN_S, "it ended")  # type: ignore[misc]
    assert shown(bee, "letter")["host"] == "ant"
    runs = {str(each["host"]): each for each in runs_of(bee, "line")}
    assert {host: (each["attempt"], each["copy"]) for host, each in runs.items()} == {
        "ant": (1, False),
        "bee": (1, True),
    }
    ends = sorted(str(each["phase"]) for each in runs.values())
    assert ends in (["Terminated", "Yielded"], ["Lost", "Terminated"]), "one of them counts"
    assert "bee (copy)" in bee.said("show", "line/a")
    wait_for(
        lambda: not any(each.answer("status")["node"]["running"] for each in pair.values()),
        WITHIN_S,
        "nothing runs any more",
    )
