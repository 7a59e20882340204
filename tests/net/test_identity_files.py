"""Files of an identity: whole or not at all, for their owner only, and never mended by guessing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.api.errors import MembershipError
from agent.host.private_files import FILE_BYTES_MAX, FileGuard, PrivateFolder, native_guard
from agent.host.private_windows import REPLACE_TRIES_MAX, WindowsGuard
from agent.net import certificates, identity
from agent.net.membership import Membership, create_flock, forget_membership
from agent.net.roster import ROSTER_FILE
from tests.net.flocks import FullDisk, reopened

WHOAMI = b'"office\\S-1-5-99-1","S-1-5-21-11-22-33-1001"\r\n'
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")


class Commands:
    """Windows' commands: what was called, and what they say."""

    def __init__(self, said: bytes = WHOAMI) -> None:
        self.called: list[Sequence[str]] = []
        self.said = said

    def __call__(self, command: Sequence[str]) -> bytes:
        self.called.append(command)
        return self.said if "whoami" in command[0] else b""


def prepared(path: Path, guard: FileGuard | None = None) -> PrivateFolder:
    folder = PrivateFolder(path, guard)
    folder.prepare()
    return folder


@posix_only
def test_the_folder_and_all_in_it_are_their_owners_only(tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        create_flock(tmp_path / "identity", "Office", "host")
    finally:
        os.umask(old_mask)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "identity").iterdir()}
    assert (modes, len(modes)) == (dict.fromkeys(modes, 0o600), 5)
    assert (tmp_path / "identity").stat().st_mode & 0o777 == 0o700


@posix_only
def test_a_key_that_others_can_read_is_named_with_its_cure(tmp_path: Path) -> None:
    create_flock(tmp_path, "Office", "host")
    (tmp_path / identity.KEY_FILE).chmod(0o640)
    with pytest.raises(MembershipError, match=r"identity\.key can be read by other.*chmod 600"):
        Membership.open(tmp_path)


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path: Path) -> None:
    prepared(tmp_path).write("roster", b"old")
    with pytest.raises(MembershipError, match=r"cannot write .*roster \(No space left.*full"):
        prepared(tmp_path, FullDisk()).write("roster", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["roster"]
    assert (tmp_path / "roster").read_bytes() == b"old"


def test_what_an_interrupted_write_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "roster.0badcafe.unfinished").write_bytes(b"half")
    assert prepared(tmp_path).read("roster") is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_too_large_is_not_read_into_memory(tmp_path: Path) -> None:
    folder = prepared(tmp_path)
    folder.write("roster", b"")
    with (tmp_path / "roster").open("r+b") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    with pytest.raises(MembershipError, match="too large"):
        folder.read("roster")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(MembershipError, match=r"cannot make .*file.identity \("):
        prepared(tmp_path / "file" / "identity")


def test_windows_protects_the_folder_by_one_list_without_inheritance(tmp_path: Path) -> None:
    commands = Commands()
    prepared(tmp_path, WindowsGuard(commands))
    programs = [Path(command[0].replace("\\", "/")).name for command in commands.called]
    assert programs == ["whoami.exe", "icacls.exe", "icacls.exe"]
    assert commands.called[1][1:] == [str(tmp_path), "/reset", "/q"]
    assert commands.called[2][1:] == [
        str(tmp_path),
        "/inheritance:r",
        "/grant:r",
        "*S-1-5-21-11-22-33-1001:(OI)(CI)F",
        "*S-1-5-18:(OI)(CI)F",
        "/q",
    ]


def test_windows_that_does_not_say_whose_account_it_is(tmp_path: Path) -> None:
    with pytest.raises(MembershipError, match="which account this is"):
        prepared(tmp_path, WindowsGuard(Commands(b"?")))


@pytest.mark.parametrize("held", [3, REPLACE_TRIES_MAX])
def test_windows_replaces_as_soon_as_a_scanner_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    refusals, really = [PermissionError(5, "Access is denied")] * held, Path.replace
    pauses: list[float] = []

    def stubborn(source: Path, target: Path) -> Path:
        if refusals:
            raise refusals.pop()
        return really(source, target)

    monkeypatch.setattr(Path, "replace", stubborn)
    folder = PrivateFolder(tmp_path, WindowsGuard(Commands(), pauses.append))
    if held < REPLACE_TRIES_MAX:
        folder.write("roster", b"new")
        assert (len(pauses), folder.read("roster")) == (held, b"new")
    else:
        with pytest.raises(MembershipError, match=r"cannot write .*Access is denied"):
            folder.write("roster", b"new")
        assert list(tmp_path.iterdir()) == []


def test_no_identity_is_no_error(tmp_path: Path) -> None:
    assert Membership.open(tmp_path / "nothing") is None


def test_a_node_killed_before_its_certificate_was_written_is_no_member(tmp_path: Path) -> None:
    create_flock(tmp_path, "Office", "host")
    (tmp_path / identity.CERTIFICATE_FILE).unlink()
    assert Membership.open(tmp_path) is None


def test_an_identity_outlives_a_restart(tmp_path: Path) -> None:
    made = create_flock(tmp_path, "Büro 3", "werkstatt-1")
    opened = reopened(tmp_path)
    assert (opened.node_id, opened.flock.name) == (made.node_id, "Büro 3")
    assert (opened.member.host_name, opened.keeper) == ("werkstatt-1", True)
    assert opened.roster.to_bytes() == made.roster.to_bytes()


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (identity.KEY_FILE, "holds no readable key"),
        (identity.CERTIFICATE_FILE, "holds no readable certificate"),
        (identity.FLOCK_FILE, "holds no readable certificate"),
        (identity.AUTHORITY_KEY_FILE, "holds no readable key"),
        (ROSTER_FILE, "holds no readable roster"),
        ("invitations", "cannot be read"),
    ],
)
def test_a_broken_file_is_named_with_a_cure(tmp_path: Path, name: str, complaint: str) -> None:
    create_flock(tmp_path, "Office", "host")
    PrivateFolder(tmp_path).write(name, b"\x00garbage")
    with pytest.raises(MembershipError) as caught:
        Membership.open(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name} {complaint}")
    assert "restore it" in str(caught.value)
    assert f"move the folder {tmp_path} away" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (identity.KEY_FILE, "is not for the key"),
        (identity.CERTIFICATE_FILE, "is not for the key"),
        (identity.FLOCK_FILE, "is not of the authority"),
        (identity.AUTHORITY_KEY_FILE, "holds the key of another flock"),
        (ROSTER_FILE, "roster of another flock"),
    ],
)
def test_a_file_of_another_node_is_found_out(tmp_path: Path, name: str, complaint: str) -> None:
    create_flock(tmp_path / "own", "Office", "host")
    create_flock(tmp_path / "other", "Studio", "host")
    foreign = (tmp_path / "other" / name).read_bytes()
    PrivateFolder(tmp_path / "own").write(name, foreign)
    with pytest.raises(MembershipError, match=complaint):
        Membership.open(tmp_path / "own")


@pytest.mark.parametrize("name", [identity.KEY_FILE, identity.FLOCK_FILE])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    create_flock(tmp_path, "Office", "host")
    (tmp_path / name).unlink()
    with pytest.raises(MembershipError, match=f"{name} is missing"):
        Membership.open(tmp_path)


def test_a_node_belongs_to_one_flock_until_it_forgets_it(tmp_path: Path) -> None:
    first = create_flock(tmp_path, "Office", "host")
    with pytest.raises(MembershipError, match="belongs to the flock Office already"):
        create_flock(tmp_path, "Studio", "host")
    forget_membership(PrivateFolder(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert create_flock(tmp_path, "Studio", "host").node_id != first.node_id


def test_a_key_of_another_kind_is_refused() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    pem = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with pytest.raises(MembershipError, match="another kind"):
        certificates.read_private(pem)


@posix_only
def test_the_guard_is_the_systems_own() -> None:
    assert type(native_guard()).__name__ == "PosixGuard"
