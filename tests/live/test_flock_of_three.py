"""Three real agents on three hosts: they find each other, share work, and survive what happens.

One flock serves all scenarios of a kind, because starting it is what takes time; each scenario
leaves it whole, or has one of its own. ``pytest -m "not live"`` leaves them out. Waiting is for conditions; the limits
are generous, because a shared machine may stall. How fast it is, the benchmarks say.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator

import pytest
from msgspec import structs

from agent.api import flock, session, work
from agent.api.values import Requirements, TaskState
from agent.net.addresses import DEFAULT_PORT
from agent.net.dialling import listening_sockets
from tests.hosts.hosts import Hosts, hold_loopback, nap
from tests.hosts.lan import processes_in
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="hosts are made on POSIX systems"),
    pytest.mark.xdist_group("live"),
]


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """They find each other: the invitation names one address, so the third pair can only have found
    itself."""
    with Hosts(3) as made:
        made.make_flock()
        yield made


def test_work_submitted_on_one_runs_on_the_others_too(hosts: Hosts) -> None:
    # Two rounds of these: an agent that the machine holds up meanwhile still comes in time.
    hosts[0].submit("shared", [nap(f"shared{number}", 1.5) for number in range(6)])
    hosts.wait_finished(hosts[1], "shared", EVENTUALLY_S_MAX)
    hosts.wait_equal()
    started = [
        trace
        for trace in hosts.traces()
        if trace.word == "start" and trace.name.startswith("shared")
    ]
    assert (len(started), {trace.host for trace in started}) == (6, {0, 1, 2})


def test_who_submitted_may_be_switched_off_and_finds_all_done_at_its_return(hosts: Hosts) -> None:
    submitter, stays = hosts[0], hosts[1]
    submitter.submit("left", [nap(f"left{number}", 1.0) for number in range(6)])
    wait_for(
        lambda: "left" in {view.name for view in stays.workflows()}, EVENTUALLY_S_MAX, "it is known"
    )
    submitter.kill()
    hosts.wait_finished(stays, "left", EVENTUALLY_S_MAX)
    hosts.restart([submitter])
    hosts.wait_linked()
    hosts.wait_finished(submitter, "left", EVENTUALLY_S_MAX)
    hosts.wait_equal()


def test_a_hundred_tasks_are_matched_by_all_that_they_require(hosts: Hosts) -> None:
    """By operating system, processor, memory, disk and program: those that fit run, the others wait."""
    enough = Requirements(system="linux", memory_mb=1, disk_mb=1, cores=1)
    unfit = (
        Requirements(system="windows"),
        Requirements(architecture="of-tomorrow"),
        Requirements(memory_mb=10**8),
        Requirements(disk_mb=10**8),
        Requirements(cores=10_000),
    )
    fits = [structs.replace(nap(f"fits{n}", 0.01), requirements=enough) for n in range(15)]
    not_fit = [
        structs.replace(nap(f"unfit{n}", 0.01), requirements=unfit[n % len(unfit)])
        for n in range(75)
    ]
    nowhere = [structs.replace(nap(f"nowhere{n}", 0.01), program="nowhere") for n in range(10)]
    hosts[0].submit("bucket", [*not_fit, *nowhere, *fits])
    assert {*_finished_in(hosts, "bucket", 15)} == {task.id for task in fits}
    started = {trace.name for trace in hosts.traces() if trace.word == "start"}
    assert not [name for name in started if name.startswith(("unfit", "nowhere"))]
    hosts[0].call(work.CANCEL, work.Cancel("bucket"))
    hosts.wait_equal()


def test_both_sides_of_a_cut_agree_after_healing(hosts: Hosts) -> None:
    if not hosts.cables:
        pytest.skip(f"cables cannot be pulled: {hosts.why_no_cables}")
    lonely, others = hosts[2], [hosts[0], hosts[1]]
    hosts.cut(lonely)
    wait_for(lambda: not lonely.linked(), EVENTUALLY_S_MAX, "the cut is noticed")
    lonely.submit("alone", [nap("alone", 0.2)])
    others[0].submit("together", [nap("together", 0.2)])
    hosts.wait_finished(lonely, "alone", EVENTUALLY_S_MAX)
    hosts.wait_finished(others[1], "together", EVENTUALLY_S_MAX)
    hosts.mend(lonely)
    hosts.wait_linked()
    hosts.wait_equal()
    assert {view.name for view in lonely.workflows()} >= {"alone", "together"}


def test_all_killed_and_restarted_finish_the_workflow(hosts: Hosts) -> None:
    chain = [nap(f"step{n}", 0.3, inputs=[f"step{n - 1}"] if n else []) for n in range(6)]
    hosts[1].submit("outage", chain)
    finished = _finished_in(hosts, "outage", 2)
    for host in hosts:
        host.kill()
    before = {trace.name for trace in hosts.traces() if trace.word == "start"}
    hosts.restart()
    hosts.wait_finished(hosts[0], "outage", EVENTUALLY_S_MAX)
    hosts.wait_linked()
    hosts.wait_equal()
    assert finished <= before
    assert [len(_starts(hosts, name)) for name in sorted(finished)] == [1] * len(finished)


def test_who_is_expelled_is_cut_off_and_stays_out() -> None:
    """In a flock of its own: nothing brings this host back."""
    with Hosts(3) as hosts:
        hosts.make_flock()
        expelled, others = hosts[2], [hosts[0], hosts[1]]
        hosts[0].call(flock.EXPEL, flock.Expel(expelled.name))
        wait_for(lambda: not expelled.linked(), EVENTUALLY_S_MAX, "it is cut off")
        hosts.wait_linked(others)
        expelled.stop()
        hosts.restart([expelled])
        hosts[1].submit("without", [nap("without", 0.2)])
        hosts.wait_finished(hosts[0], "without", EVENTUALLY_S_MAX)
        assert expelled.linked() == set()
        assert "without" not in {view.workflow for view in expelled.workflows()}


def test_nothing_is_left_behind() -> None:
    """Whatever a scenario did, its processes and namespaces are gone."""
    with Hosts(1) as made:
        made[0].start()
        made[0].up()
        process = made[0].process_id
        namespace = made[0].spot.namespace
        with pytest.raises(AssertionError):
            made[0].start()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert namespace is None or not processes_in(namespace)


def _starts(hosts: Hosts, name: str) -> list[int]:
    return [trace.host for trace in hosts.traces() if trace.name == name and trace.word == "start"]


def _finished_in(hosts: Hosts, workflow: str, at_least: int) -> set[str]:
    """The tasks that all hosts have seen finished, once there are so many."""

    def finished() -> set[str]:
        seen = [
            {
                moved.name
                for _, moved in host.happenings(session.TaskMoved)
                if moved.workflow_name == workflow and moved.after is TaskState.TERMINATED
            }
            for host in hosts
        ]
        return set.intersection(*seen)

    wait_for(
        lambda: len(finished()) >= at_least, EVENTUALLY_S_MAX, f"{at_least} tasks are finished"
    )
    return finished()


# -- hosts without namespaces: whoever else is at work here keeps its ports, and they theirs -------


on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="all of 127.0.0.0/8 is here on Linux only"
)


@on_linux
def test_each_set_of_hosts_has_a_port_that_agents_get_and_others_do_not() -> None:
    held = [*hold_loopback(3), *hold_loopback(3)]
    places = [each.getsockname() for each in held]
    assert len(set(places)) == 6
    for set_of_hosts in (places[:3], places[3:]):
        assert len({port for _, port in set_of_hosts}) == 1
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(places[0])
    for _ in range(2):  # an agent, and the same started again
        (agent,) = listening_sockets([places[0][0]], places[0][1])
        agent.close()
    for each in held:
        each.close()


@on_linux
def test_the_port_that_every_agent_takes_by_itself_is_left_to_others() -> None:
    with Hosts(2, namespaces=False) as hosts:
        assert [each.spot.port for each in hosts] == [hosts[0].spot.port] * 2
        assert hosts[0].spot.port != DEFAULT_PORT
        hosts.make_flock()
