"""What programs ask for and what they were allowed: by name, no more than was said, kept in a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.api.errors import ServiceError
from agent.api.permissions import AskedFor
from agent.execution.confinement.boundary import NO_WISHES, Wishes
from agent.execution.confinement.reachable import is_private, reads_of
from agent.execution.grants import Grants
from agent.execution.programs import Program
from agent.protocol.messages import Withheld

EVERYTHING = Wishes("lan", ("/srv/maps",), ("gpu",), ("survey-db",))


def program(wishes: Wishes = EVERYTHING, name: str = "report") -> Program:
    return Program(name, Path("/programs/report"), ("run",), wishes=wishes)


@pytest.fixture
def grants(tmp_path: Path) -> Grants:
    found = Grants(tmp_path / "grants.json", (tmp_path / "agent",))
    found.load()
    return found


def test_what_was_allowed_is_exactly_that_and_lasts(grants: Grants) -> None:
    assert grants.asked(program(NO_WISHES)) == ()
    assert not grants.lacks_leave(program(NO_WISHES))
    assert grants.withheld([program()]) == (Withheld("report", "AllowsNoNetwork", "lan"),)
    grants.grant([program()])
    again = Grants(grants.file, grants.kept)
    again.load()
    assert again.asked(program()) == (
        AskedFor("network", "lan", granted=True),
        AskedFor("reads", "/srv/maps", granted=True),
        AskedFor("device", "gpu", granted=True),
        AskedFor("secret", "survey-db", granted=True, missing=True),
    )
    assert again.lacks_leave(program(name="other"))
    assert again.withheld([program()]) == (Withheld("report", "HasNoSecret", "survey-db"),)
    again.has_secret = {"survey-db"}.__contains__
    assert again.withheld([program()]) == ()


@pytest.mark.parametrize(
    ("more", "kind", "name"),
    [
        (replace(EVERYTHING, network="internet"), "AllowsNoNetwork", "internet"),
        (replace(EVERYTHING, reads=("/srv/maps", "/srv/all")), "AllowsNoReading", "/srv/all"),
        (replace(EVERYTHING, secrets=("payroll",)), "AllowsNoSecret", "payroll"),
    ],
)
def test_whoever_asks_for_more_is_asked_about_anew(
    grants: Grants, more: Wishes, kind: str, name: str
) -> None:
    grants.grant([program()])
    assert grants.withheld([program(more)]) == (Withheld("report", kind, name),)
    assert not grants.lacks_leave(program(Wishes("lan")))


def test_leave_for_everybody_is_leave_for_neighbours_and_is_taken_back(grants: Grants) -> None:
    grants.grant([program(Wishes("internet"))])
    assert not grants.lacks_leave(program(Wishes("lan")))
    grants.revoke(["report", "unknown"])
    assert grants.lacks_leave(program(Wishes("lan")))


def test_what_nobody_can_allow_is_refused_and_changes_nothing(grants: Grants) -> None:
    asks = program(Wishes("lan", ("/etc",)))
    with pytest.raises(ServiceError, match="report asks to read /etc, which no program may"):
        grants.grant([program(name="other"), asks])
    assert grants.asked(asks)[1] == AskedFor("reads", "/etc", refused=True)
    assert grants.lacks_leave(program(name="other"))
    assert not grants.file.exists()


@pytest.mark.parametrize("content", ["{", '{"report": 3}', '{"report": [["weapons", "all"]]}'])
def test_a_file_that_cannot_be_read_allows_nothing(grants: Grants, content: str) -> None:
    grants.file.write_text(content)
    grants.load()
    assert grants.lacks_leave(program())


def test_what_a_network_and_a_card_need_is_read_only_by_who_asks_for_them(tmp_path: Path) -> None:
    def read(wishes: Wishes) -> set[str]:
        return {*reads_of(wishes, tmp_path, ["/bin/sh"], [])}

    names, cards = "/etc/resolv.conf", "/proc/driver/nvidia"
    assert read(Wishes()).isdisjoint({names, cards})
    assert read(Wishes("lan")) & {names, cards} == {names}
    assert read(Wishes("internet")) & {names, cards} == {names}
    assert read(Wishes(devices=("gpu",))) & {names, cards} == {cards}
    assert str(tmp_path) in read(Wishes())


@pytest.mark.skipif(sys.platform == "win32", reason="these are places of Linux")
def test_closed_places_stay_closed_whoever_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, agent = tmp_path / "home" / "anna", tmp_path / "state" / "wingbeat"
    for each in (home / ".ssh", home / "maps", agent / "identity", tmp_path / "srv"):
        each.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "srv" / "link").symlink_to(home / ".ssh")
    closed = (
        *("/", "/home", "/home/somebody", "/home/somebody/maps", "/root", "/etc/shadow", "/proc/1"),
        *(
            "/dev/sda",
            "/var/lib/postgresql",
            "/var",
            "/run/user/1000",
            "~",
            "~/.ssh",
            "~/.config/x",
        ),
        *(str(tmp_path), str(agent), str(agent / "identity"), str(agent.parent)),
        *(str(tmp_path / "srv" / "link"), str(tmp_path / "srv" / ".." / "home")),
    )
    for place in closed:
        assert is_private(place, [agent]), place
    for place in ("~/maps", "/srv/maps", "/mnt/office/plans", str(tmp_path / "srv")):
        assert not is_private(place, [agent]), place
    wishes = Wishes(reads=("~/maps", "~/.ssh", str(agent)))
    found = reads_of(wishes, tmp_path / "program", ["/bin/sh"], [agent])
    assert str(home / "maps") in found
    assert not any(".ssh" in each or each == str(agent) for each in found)
