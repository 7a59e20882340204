"""What people type: hours of helping, and an invitation as a text or a file however it was saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api.flock import INVITATION_SUFFIX
from agent.api.volunteering import Hours
from agent.commands.flock.invitations import invitation_in
from agent.commands.volunteering import _hours as hours
from agent.net.invitation import Invitation, parse_invitation, usable_addresses


@pytest.mark.parametrize(
    ("typed", "begins", "ends"),
    [
        ("mon=8:00-17:30", "08:00", "17:30"),
        ("mon = 18:00 - 7:00", "18:00", "07:00"),
        ("mon=:00-24:00", ":00", "24:00"),
        ("mon=noon-8", "noon", "08"),
    ],
)
def test_an_hour_may_have_one_digit(typed: str, begins: str, ends: str) -> None:
    """What is no time is left to the agent, which says so."""
    assert hours(typed) == [Hours("monday", begins, ends)]


INVITATION = Invitation(
    "abcdefghijklmnopqrstuvwxya",
    b"keeperid",
    b"twelve bytes",
    1_800_000_000,
    usable_addresses(["192.168.1.17"], 4711),
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_in_whatever_a_shell_or_editor_saved_it(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / f"office{INVITATION_SUFFIX}"
    path.write_bytes(INVITATION.file.decode().encode(encoding))
    assert parse_invitation(invitation_in(str(path))) == INVITATION


def test_a_text_that_is_too_long_to_name_a_file_is_a_text() -> None:
    text = "good morning, " * 40 + INVITATION.text
    assert parse_invitation(invitation_in(text)) == INVITATION


def test_a_file_that_is_not_there_is_missed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        invitation_in(str(tmp_path / f"office{INVITATION_SUFFIX}"))
