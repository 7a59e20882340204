"""Nine real agents, rules chosen by the command, a workflow of 30 tasks, two agents killed.

Two of the rules, of which one chooses among a group; ``python -m tests.bench live_policies`` has all.
"""

from collections.abc import Iterator

import pytest

from tests.bench.live_policies import HOSTS, QUICK, judge, under
from tests.hosts.hosts import Hosts


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(HOSTS, namespaces=False) as made:
        made.make_flock()
        yield made


@pytest.mark.parametrize("rules", QUICK)
def test_work_ends_right_under_rules_that_the_command_chose(hosts: Hosts, rules: str) -> None:
    verdicts = judge({"rules": {rules: under(hosts, rules)}})
    assert [each.what for each in verdicts if each.measured] == []
