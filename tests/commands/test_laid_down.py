"""What was laid down for a machine before anybody sat at it: an invitation by which it joins by
itself, and how it is told of meanwhile.
"""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.machine import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a keeper is stopped by signals")


@pytest.fixture
def alder(tmp_path: Path) -> Iterator[Machine]:
    """A keeper."""
    alder = Machine(tmp_path / "alder")
    alder.settle(listen=["127.0.0.1"], port=0, name="alder")
    with alder.agent():
        alder.said("flock", "create", "meadow")
        yield alder


def _invited(alder: Machine) -> Path:
    path = alder.folder.parent / "office.wingbeat-invitation"
    alder.said("flock", "invite", "--uses", "2", "--file", str(path))
    return path


def _joins_by_itself(birch: Machine) -> str:
    (finding,) = json.loads(birch.run("doctor", "--json").out)["findings"]
    assert finding["kind"] == "invitation"
    assert birch.said("peers").startswith(finding["text"])  # told a moment later, with more
    return str(finding["text"])


def test_a_machine_that_was_invited_before_its_first_start_joins_when_the_keeper_is_there(
    alder: Machine, tmp_path: Path
) -> None:
    file = _invited(alder)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".office*"))
    birch = Machine(tmp_path / "birch")
    birch.settle(listen=["127.0.0.1"], port=0, name="birch")
    laid = birch.home.invitation
    laid.write_bytes(file.read_bytes())
    os.kill(alder.process_id, signal.SIGSTOP)
    with birch.agent():
        wait_for(lambda: "last: " in _joins_by_itself(birch), WITHIN_S, "a first try")
        assert f"joins a flock by the invitation in {laid} as soon as " in _joins_by_itself(birch)
        os.kill(alder.process_id, signal.SIGCONT)
        wait_for(lambda: "alder" in birch.said("peers"), WITHIN_S, "it belongs")
        wait_for(lambda: not laid.exists(), WITHIN_S, "it is deleted")


def test_an_invitation_may_come_by_standard_input(alder: Machine, tmp_path: Path) -> None:
    text = _invited(alder).read_text()
    birch = Machine(tmp_path / "birch")
    birch.settle(listen=["127.0.0.1"], port=0, name="birch")
    with birch.agent():
        assert "no invitation" in birch.refused("flock", "join", "-", told="good morning")
        assert "belongs to the flock meadow now" in birch.said("flock", "join", "-", told=text)
