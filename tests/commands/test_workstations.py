"""A machine that its administrator has set up: what its commands say of whose word holds, what they
refuse, and what becomes of a policy that is wrong or changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.lan import Lan, ip, why_no_namespaces
from tests.hosts.machine import WITHIN_S
from tests.hosts.waiting import wait_for
from tests.hosts.workstation import Workstation

pytestmark = [
    pytest.mark.skipif(bool(why_no_namespaces()), reason=f"no hosts here: {why_no_namespaces()}"),
    pytest.mark.xdist_group("live"),
]
DEFAULTS = 'volunteer = "when idle"\ndatasets_gb = 50\n'
POLICY = "slots = 1\n[presence]\non_mains_only = true\n"


def test_a_keeper_that_has_another_address_by_then_is_heard(tmp_path: Path) -> None:
    lan = Lan(2)
    try:
        keeper = Workstation(tmp_path / "keeper", lan.namespace(0))
        keeper.settle()
        with keeper.agent():
            keeper.said("flock", "create", "office")
            keeper.said("flock", "invite", "--file", str(tmp_path / "invitation"))
        ip("-n", lan.namespace(0), "addr", "flush", "dev", "eth0")
        ip("-n", lan.namespace(0), "addr", "add", "10.77.0.99/24", "brd", "+", "dev", "eth0")
        ip("-n", lan.namespace(0), "route", "add", "224.0.0.0/4", "dev", "eth0")
        laid_down = {"invitation": (tmp_path / "invitation").read_bytes()}
        desk = Workstation(tmp_path / "desk", lan.namespace(1), laid_down)
        desk.settle()
        with keeper.agent(), desk.agent():
            wait_for(lambda: "keeper" in desk.said("peers"), WITHIN_S, "it belongs", desk.log)
        assert "is tried again" in desk.log()
    finally:
        lan.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Workstation]:
    lan = Lan(1)
    try:
        laid_down = {"settings.toml": DEFAULTS, "policy.toml": POLICY}
        yield Workstation(tmp_path / "desk", lan.namespace(0), laid_down)
    finally:
        lan.close()


def _policy(desk: Workstation) -> Path:
    assert desk.home.machine is not None
    return desk.home.machine.policy


def test_whose_word_holds_is_said_and_a_fixed_one_is_refused(desk: Workstation) -> None:
    with desk.agent():
        said = desk.said("settings")
        assert "slots               1  (fixed by the policy)\n" in said
        assert "datasets            50 GB  (default of this machine)\n" in said
        assert "fixed by the policy: /etc/wingbeat/policy.toml\n" in said
        assert "name                desk\n" in said
        refused = desk.refused("settings", "--slots", "4")
        assert refused == (
            "wingbeat: slots is fixed by /etc/wingbeat/policy.toml, which only an administrator of "
            "this machine changes.\n"
        )
        desk.said("settings", "--datasets-gb", "7")
        origins = desk.answer("settings")["origins"]
        assert (origins["datasets_gb"], origins["slots"]) == ("owner", "policy")
        rules = desk.said("volunteering")
        assert "  mode               when idle\n" in rules
        assert "  on mains only      yes  (fixed)\n" in rules
        assert "fixed by /etc/wingbeat/policy.toml, which only an administrator changes" in rules
        assert "is fixed by" in desk.refused("volunteering", "--mains-only", "no")
        assert not desk.answer("volunteering")["answered"]
        desk.said("volunteering", "--mode", "not now")
        assert desk.answer("volunteering")["answered"]


def test_a_policy_that_is_mended_while_the_agent_runs_holds_soon(desk: Workstation) -> None:
    _policy(desk).write_text('volunteer = "alway"\n')
    with desk.agent():
        findings = json.loads(desk.run("doctor", "--json").out)["findings"]
        (wrong,) = [each["text"] for each in findings if each["kind"] == "settings"]
        assert wrong.startswith("/etc/wingbeat/policy.toml: volunteer is 'alway': choose always, ")
        assert f"<warning> {wrong}" in desk.log()
        assert f"warning: {wrong}" in desk.said("settings")
        assert desk.answer("volunteering")["rules"]["mode"] == "not now"
        _policy(desk).write_text('volunteer = "always"\n')
        mended = desk.answer("settings")
        assert (mended["wrong"], mended["origins"]["volunteer"]) == ([], "policy")
        wait_for(
            lambda: desk.answer("volunteering")["rules"].get("mode", "always") == "always",
            WITHIN_S,
            "the mended policy is followed",
        )
