"""What people type: names of work, hours of helping, and an invitation as a text or a file however it was saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api.flock import INVITATION_SUFFIX
from agent.api.volunteering import Hours
from agent.cli import COMMANDS
from agent.commands import exits
from agent.commands.choosing import loaded
from agent.commands.flock.invitations import invitation_in
from agent.commands.parsing import CommandLine, Options
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


@pytest.mark.parametrize(
    ("typed", "looked_up"),
    [
        ("status words", {"workflow": (False,)}),
        ("fetch words/top", {"what": (False, True)}),
        ("logs words/top", {"task": (True,)}),
        ("cancel words top", {"workflow": (False,), "tasks": (True,)}),
        ("remove words lines", {"workflows": (False,)}),
        ("permissions show words", {}),  # of somebody else
        ("datasets add words", {}),  # a file
        ("submit words.wingbeat.yaml", {}),
    ],
)
def test_whose_words_mean_the_persons_own_work(
    typed: str, looked_up: dict[str, tuple[bool, ...]]
) -> None:
    name, *words = typed.split()
    line = loaded(name, COMMANDS[name].place[1])
    assert isinstance(line, CommandLine)
    found: list[Options] = []

    def use(options: Options) -> int:
        found.append(options)
        return exits.DONE

    CommandLine(name, "", (), line.arguments, use)(words)
    assert found[0].references == looked_up
