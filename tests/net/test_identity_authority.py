"""What an authority issues and states, and what is none of its; and the files of an identity."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import MembershipError
from agent.host.private_files import FILE_BYTES_MAX, FileGuard, PrivateFolder, native_guard
from agent.host.private_windows import REPLACE_TRIES_MAX, WindowsGuard
from agent.net import certificates, identity
from agent.net.authority import EXPELLED, KEEPER, Authority, Flock
from agent.net.certificates import BACKDATED_S, member_of, read_request, request_certificate
from agent.net.membership import Membership, create_flock, forget_membership
from agent.net.roster import ROSTER_FILE
from tests.net.flocks import DAY_S, FullDisk, new_authority, new_node, reopened

AUTHORITY = new_authority()
OTHER = new_authority()
DAMAGED = 2_000


def test_a_flock_is_named_by_its_authoritys_key() -> None:
    again = Flock.read(AUTHORITY.flock.der)
    assert (again.flock_id, again.name) == (AUTHORITY.flock.flock_id, "Office")
    assert OTHER.flock.flock_id != again.flock_id
    assert len(again.flock_id) == 26
    assert again.flock_id.isalnum()
    assert again.flock_id.islower()


def test_a_node_keeps_its_id_when_its_certificate_is_renewed() -> None:
    first = new_node(AUTHORITY, "before")
    second = new_node(AUTHORITY, "after", key=first.key)
    assert first.node_id == second.node_id
    assert (first.member.host_name, second.member.host_name) == ("before", "after")
    assert len(first.node_id) == certificates.NODE_ID_LENGTH


def test_a_certificate_is_dated_back_and_due_after_two_thirds() -> None:
    now_s = int(time.time())
    member = new_node(AUTHORITY, issued_s=now_s, life_s=3 * DAY_S).member
    assert member.valid_from_s == now_s - BACKDATED_S
    assert member.valid_until_s == now_s + 3 * DAY_S
    assert member.renewal_due_s == now_s + 2 * DAY_S


def test_no_certificate_outlives_its_authority() -> None:
    end_s = AUTHORITY.flock.certificate.not_valid_after_utc.timestamp()
    assert new_node(AUTHORITY, issued_s=end_s - DAY_S).member.valid_until_s == end_s


def test_only_its_own_certificates_of_nodes_are_issued_by_an_authority() -> None:
    assert AUTHORITY.flock.has_issued(new_node(AUTHORITY).member.certificate)
    assert not AUTHORITY.flock.has_issued(new_node(OTHER).member.certificate)
    assert not AUTHORITY.flock.has_issued(AUTHORITY.flock.der)


def test_a_nodes_certificate_makes_no_flock() -> None:
    with pytest.raises(MembershipError, match="no certificate of a flock"):
        Flock.read(new_node(AUTHORITY).member.certificate)


def test_a_statement_counts_for_what_it_says_only() -> None:
    statement = AUTHORITY.state(EXPELLED, "a", 5)
    assert AUTHORITY.flock.has_stated(statement)
    assert not OTHER.flock.has_stated(statement)
    for changed in ({"kind": KEEPER}, {"node_id": "b"}, {"time_s": 6}, {"signature": b""}):
        assert not AUTHORITY.flock.has_stated(msgspec.structs.replace(statement, **changed))


def test_a_keeper_with_the_key_is_the_same_authority() -> None:
    again = Authority.read(Flock.read(AUTHORITY.flock.der), AUTHORITY.key_file)
    assert AUTHORITY.flock.has_issued(new_node(again).member.certificate)
    with pytest.raises(MembershipError, match="another flock"):
        Authority.read(OTHER.flock, AUTHORITY.key_file)


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "two\nlines"])
def test_a_flock_needs_a_name(name: str) -> None:
    with pytest.raises(MembershipError, match="1 to 64 printable characters"):
        Authority.create(name, time.time())


@given(st.text(max_size=100))
def test_any_host_name_fits_a_certificate(host_name: str) -> None:
    applicant = read_request(request_certificate(NODE.key, host_name))
    assert applicant.host_name == certificates.clean_name(host_name)
    assert 1 <= len(applicant.host_name.encode()) <= certificates.NAME_BYTES_MAX


@pytest.mark.parametrize(
    "name", ["\u3164\u2800", "\u202e\u200b", "\x1b\r\n", "\u00a0 \u115f\u1160\uffa0"]
)
def test_a_name_of_which_nothing_is_seen_is_none(name: str) -> None:
    assert certificates.clean_name(name) == "unnamed"
    assert certificates.clean_name(f"{name}laptop{name}") == "laptop"


def test_of_a_strangers_certificate_that_is_damaged_nothing_but_a_sentence_comes() -> None:
    whole, random = bytearray(NODE.member.certificate), Random(7)
    told = set[str]()
    for _ in range(DAMAGED):
        damaged = whole.copy()
        damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            with warnings.catch_warnings(action="ignore"):  # of serial numbers, for developers
                certificates.key_hash_of(bytes(damaged))
        except MembershipError as error:
            told.add(str(error))
    assert "the key in its certificate cannot be read" in told


NODE = new_node(AUTHORITY)
REQUEST = request_certificate(NODE.key, "host")


@given(st.integers(0, len(REQUEST) - 1), st.integers(1, 255))
def test_a_request_changed_on_its_way_is_refused(place: int, mask: int) -> None:
    changed = bytearray(REQUEST)
    changed[place] ^= mask
    with pytest.raises(MembershipError):
        read_request(bytes(changed))


@given(st.one_of(st.binary(max_size=300), st.binary(min_size=4097, max_size=4200)))
def test_no_bytes_bring_a_reader_of_certificates_down(data: bytes) -> None:
    for read in (member_of, read_request, Flock.read, certificates.from_pem):
        with pytest.raises(MembershipError):
            read(data)


@pytest.mark.filterwarnings("ignore")  # the library warns of numbers and names that it takes
@given(st.data())
def test_a_changed_certificate_is_read_or_refused(data: st.DataObject) -> None:
    """A signature has more than one spelling; what it vouches for must be what was issued."""
    original = certificates.read_certificate(NODE.member.certificate).tbs_certificate_bytes
    changed = bytearray(NODE.member.certificate)
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= data.draw(st.integers(1, 255))
    try:
        member_of(bytes(changed))
        if AUTHORITY.flock.has_issued(bytes(changed)):
            assert certificates.read_certificate(bytes(changed)).tbs_certificate_bytes == original
    except MembershipError:
        pass


def test_a_name_in_an_unknown_kind_of_text_is_refused() -> None:
    changed = NODE.member.certificate.replace(b"\x0c\x04host", b"\x0d\x04host")
    assert changed != NODE.member.certificate
    with pytest.raises(MembershipError, match="cannot be read"):
        member_of(changed)


@pytest.mark.parametrize(("size", "told"), [(4_096, "cannot be read"), (4_097, "at most 4096")])
def test_a_request_is_read_up_to_its_limit(size: int, told: str) -> None:
    with pytest.raises(MembershipError, match=told):
        read_request(b"x" * size)


# -- files: whole or not at all, for their owner only, never mended by guessing --------------------


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
