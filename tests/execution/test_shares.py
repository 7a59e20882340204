"""Shares: one name in the flock, a path on each machine, and no way out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.execution.confinement.boundary import Wishes
from agent.execution.grants import Grants
from agent.execution.programs import Program, ProgramError
from agent.execution.shares import opened, place_of
from agent.protocol.messages import Withheld

WISHES = Wishes(reads=("share:flights", "/srv/maps"))


@pytest.fixture
def shares(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "mnt" / "flights" / "line-7").mkdir(parents=True)
    (tmp_path / "mnt" / "secret").write_text("no")
    (tmp_path / "mnt" / "flights" / "out").symlink_to(tmp_path / "mnt")
    return {"flights": str(tmp_path / "mnt" / "flights")}


def test_what_lies_in_a_share_is_found_where_it_lies_here(shares: dict[str, str]) -> None:
    assert place_of("share:flights/line-7", WISHES, shares) == f"{shares['flights']}/line-7"
    assert place_of("share:flights", WISHES, shares) == shares["flights"]
    assert opened(WISHES, shares).reads == (shares["flights"], "/srv/maps")


@pytest.mark.parametrize("dataset", ["DB-12", "share:maps/a", "sha256:00", ""])
def test_what_is_none_of_its_shares_goes_as_it_is(shares: dict[str, str], dataset: str) -> None:
    assert place_of(dataset, WISHES, {**shares, "maps": "/"}) == dataset


@pytest.mark.parametrize(
    ("dataset", "why"),
    [
        ("share:flights/line-8", "is not there"),
        ("share:flights/../secret", "leads out"),
        ("share:flights/out/secret", "leads out"),
        ("share:flights/line-7/../../secret", "leads out"),
    ],
)
def test_nothing_leads_out_of_a_share(shares: dict[str, str], dataset: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        place_of(dataset, WISHES, shares)


def test_a_share_is_granted_where_it_is_and_told_where_it_is_not(
    tmp_path: Path, shares: dict[str, str]
) -> None:
    program = Program("import", tmp_path, ("run",), wishes=Wishes(reads=("share:flights",)))
    here = Grants(tmp_path / "here.json", shares=shares)
    elsewhere = Grants(tmp_path / "there.json")
    for each in (here, elsewhere):
        each.load()
    assert here.lacks_leave(program)
    assert here.withheld([program]) == (Withheld("import", "AllowsNoReading", "share:flights"),)
    here.grant([program])
    assert here.withheld([program]) == ()
    assert not elsewhere.lacks_leave(program)  # nobody is asked about what is not there
    assert elsewhere.withheld([program]) == (Withheld("import", "HasNoShare", "share:flights"),)


def test_a_share_that_opens_the_agents_own_is_refused(tmp_path: Path) -> None:
    program = Program("import", tmp_path, ("run",), wishes=Wishes(reads=("share:all",)))
    grants = Grants(tmp_path / "grants.json", (tmp_path / "agent",), shares={"all": str(tmp_path)})
    grants.load()
    assert [each.refused for each in grants.asked(program)] == [True]
