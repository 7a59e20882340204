"""Data on real hosts: holders killed, transfers broken by kill -9, stores wiped."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.api import work
from agent.api.values import Dataset
from agent.storage.datasets.store import DatasetStore
from tests.datasets.nodes import MEGABYTE, a_file, install_shout
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

SAVER = """
import os, pathlib, sys, time
saved = os.environ.get("WINGBEAT_CHECKPOINT")
if saved:
    pathlib.Path("out.txt").write_text("went on from " + pathlib.Path(saved).read_text())
    sys.exit()
pathlib.Path("state").write_text("the middle")
print("CHECKPOINT state", flush=True)
sys.stdin.read()
"""
LARGE_BYTES = 400 * MEGABYTE


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with Hosts(3) as started:
        for host in started:
            install_shout(host.home.programs)
        yield started


def shout(hosts: Hosts, name: str, **more: object) -> work.Task:
    notes = str(hosts.folder / "notes")
    return work.Task(name, "shout", parameters=notes, **more)  # type: ignore[arg-type]


def chain(hosts: Hosts) -> list[work.Task]:
    """``first``, a person, ``last`` with the output of the first."""
    return [
        shout(hosts, "first"),
        work.Task("person", gate=True, asks="go on?", after=("first",)),
        shout(hosts, "last", inputs=(work.Input("first"),), after=("person",)),
    ]


def runs(hosts: Hosts) -> list[str]:
    """Which tasks ran, in order."""
    asked = next(host for host in hosts if host.alive)
    names = {each.task: each.name for each in asked.tasks("w")}
    return [names[each] for each in (hosts.folder / "notes").read_text().split()]


def view(host: Host, name: str) -> work.TaskView:
    return next(each for each in host.tasks("w") if each.name == name)


def finished(hosts: list[Host], name: str) -> bool:
    return all(view(host, name).state.value == "Terminated" for host in hosts)


def holding(host: Host, dataset: str) -> bool:
    digest = dataset.partition(":")[2]
    return (host.home.data / "datasets" / "objects" / digest[:2] / digest).exists()


def go_on(host: Host) -> None:
    wait_for(
        lambda: view(host, "person").state.value == "Waiting", EVENTUALLY_S_MAX, "the gate waits"
    )
    host.call(work.GATE, work.Gate("w/person"))


def test_the_holder_of_an_output_is_killed_right_after_it_finished(hosts: Hosts) -> None:
    hosts.make_flock()
    hosts[0].submit("w", chain(hosts))
    wait_for(lambda: finished(list(hosts), "first"), EVENTUALLY_S_MAX, "first is finished")
    maker = next(host for host in hosts if host.name == view(hosts[0], "first").host)
    maker.kill()
    others = [host for host in hosts if host is not maker]
    go_on(others[0])
    wait_for(
        lambda: finished(others, "last"), EVENTUALLY_S_MAX, "last is finished", others[0].last_words
    )
    assert runs(hosts) == ["first", "last"]


def test_with_all_copies_lost_the_producer_runs_again_and_the_log_says_why(hosts: Hosts) -> None:
    hosts.make_flock()
    hosts[0].submit("w", chain(hosts))
    wait_for(lambda: finished(list(hosts), "first"), EVENTUALLY_S_MAX, "first is finished")
    (output,) = view(hosts[0], "first").outputs
    for host in hosts:
        host.kill()
    holders = [host for host in hosts if holding(host, output.dataset)]
    assert len(holders) == 2
    for host in holders:
        shutil.rmtree(host.home.data / "datasets")
    hosts.restart()
    hosts.wait_linked()
    go_on(hosts[0])
    wait_for(lambda: finished(list(hosts), "last"), EVENTUALLY_S_MAX, "last is finished")
    assert runs(hosts) == ["first", "first", "last"]
    logs = "".join(log.read_text() for host in hosts for log in host.home.log.glob("*.log"))
    assert f"outputs lost: {output.dataset}" in logs


def test_kill_in_the_middle_of_a_transfer_and_it_goes_on(hosts: Hosts, tmp_path: Path) -> None:
    path, dataset = a_file(tmp_path, LARGE_BYTES)
    store = DatasetStore(hosts[0].home.data / "datasets")
    store.keep(path)
    store.close()
    pair = [hosts[0], hosts[1]]
    hosts.make_flock(pair)
    gate = work.Task("person", gate=True, asks="go on?")
    given = (Dataset(dataset, LARGE_BYTES),)
    hosts[0].submit("w", [gate, shout(hosts, "first", raw=given, after=("person",))])
    place = hosts[1].home.data / "datasets" / "partial" / dataset.partition(":")[2]

    def under_way() -> bool:
        return place.exists() and place.stat().st_blocks * 512 > LARGE_BYTES // 4

    wait_for(under_way, EVENTUALLY_S_MAX, "a quarter has come", poll_s=0.002)
    hosts[1].kill()
    assert place.exists()
    hosts.restart([hosts[1]])
    hosts.wait_linked(pair)
    wait_for(
        lambda: holding(hosts[1], dataset), EVENTUALLY_S_MAX, "all has come", hosts[1].last_words
    )
    logs = "".join(log.read_text() for log in hosts[1].home.log.glob("*.log"))
    found = re.search(r"(\d+) of (\d+) pieces of sha256:\S+ were here already", logs)
    assert found is not None
    assert 0 < int(found[1]) < int(found[2])


def test_a_saved_state_survives_the_machine_that_made_it(hosts: Hosts) -> None:
    for host in hosts:
        folder = host.home.programs / "saver"
        folder.mkdir()
        (folder / "saver.py").write_text(SAVER)
        description = 'command: ["{python}", saver.py]\noutputs: [out.txt]\n'
        (folder / "program.yaml").write_text(description)
    hosts.make_flock()
    hosts[0].submit("w", [work.Task("first", "saver")])
    saved = f"sha256:{hashlib.sha256(b'the middle').hexdigest()}"

    def holders() -> list[Host]:
        return [host for host in hosts if holding(host, saved)]

    def explain() -> str:
        told = "\n".join(host.last_words() for host in hosts)
        return f"{[host.name for host in holders()]} of\n{told}"

    wait_for(lambda: len(holders()) >= 2, EVENTUALLY_S_MAX, "two disks have the state", explain)
    maker = next(host for host in hosts if host.name == view(hosts[0], "first").host)
    maker.kill()
    others = [host for host in hosts if host is not maker]
    wait_for(
        lambda: finished(others, "first"), EVENTUALLY_S_MAX, "it is finished", others[0].last_words
    )
    (output,) = view(others[0], "first").outputs
    made = hashlib.sha256(b"went on from the middle").hexdigest()
    assert output.dataset == f"sha256:{made}"
