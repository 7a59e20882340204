"""What a keeper remembers of its invitations, over restarts and against guessing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net.invitation_book import (
    BOOK_FILE,
    ENTRIES_MAX,
    GUESSERS_MAX,
    GUESSES_MAX,
    GUESSES_WINDOW_S,
    REMEMBERED_S,
    USES_MAX,
    VALID_S_MAX,
    Entry,
    GuessLimit,
    InvitationBook,
)
from tests.net.flocks import FullDisk

NOW_S = 1_800_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> PrivateFolder:
    made = PrivateFolder(tmp_path)
    made.prepare()
    return made


@pytest.fixture
def book(folder: PrivateFolder) -> InvitationBook:
    return InvitationBook(folder, "flock")


def test_one_use_lets_in_one_machine_also_after_a_restart(
    folder: PrivateFolder, book: InvitationBook
) -> None:
    secret, _ = book.add(1, 60, NOW_S)
    assert book.redeem(secret, "first", NOW_S) is None
    for later in (book, InvitationBook(folder, "flock")):
        assert "used up" in str(later.redeem(secret, "second", NOW_S))


def test_the_machine_that_was_cut_off_may_ask_again(
    folder: PrivateFolder, book: InvitationBook
) -> None:
    secret, _ = book.add(1, 60, NOW_S)
    assert book.redeem(secret, "first", NOW_S) is None
    assert InvitationBook(folder, "flock").redeem(secret, "first", NOW_S) is None


def test_thirty_machines_and_not_one_more(book: InvitationBook) -> None:
    secret, _ = book.add(30, 60, NOW_S)
    refusals = [book.redeem(secret, f"host-{number}", NOW_S) for number in range(31)]
    assert refusals[:30] == [None] * 30
    assert "used up" in str(refusals[30])


def test_an_invitation_expires_and_is_forgotten_much_later(book: InvitationBook) -> None:
    secret, expires_s = book.add(1, 60, NOW_S)
    assert expires_s == NOW_S + 60
    assert "expired on 2027-01-15" in str(book.redeem(secret, "a", NOW_S + 60))
    book.add(1, 60, NOW_S + 61 + REMEMBERED_S)
    assert "does not know" in str(book.redeem(secret, "a", NOW_S + 61 + REMEMBERED_S))


def test_the_book_does_not_hold_the_secret(folder: PrivateFolder, book: InvitationBook) -> None:
    import base64

    secret, _ = book.add(1, 60, NOW_S)
    written = (folder.path / BOOK_FILE).read_bytes()
    assert secret not in written
    assert base64.b64encode(secret) not in written


def test_a_use_that_cannot_be_burnt_is_not_given(tmp_path: Path, book: InvitationBook) -> None:
    secret, _ = book.add(1, 60, NOW_S)
    broken = InvitationBook(PrivateFolder(tmp_path, FullDisk()), "flock")
    for _ in range(2):
        with pytest.raises(MembershipError, match="cannot write"):
            broken.redeem(secret, "a", NOW_S)
    assert InvitationBook(PrivateFolder(tmp_path), "flock").redeem(secret, "b", NOW_S) is None


def test_an_invitation_can_be_withdrawn(book: InvitationBook) -> None:
    secret, _ = book.add(1, 60, NOW_S)
    (open_one,) = book.outstanding(NOW_S)
    assert not book.withdraw("nothing")
    assert book.withdraw(open_one.number)
    assert "withdrew" in str(book.redeem(secret, "a", NOW_S))
    assert book.outstanding(NOW_S) == []


def test_only_what_still_lets_in_is_outstanding(book: InvitationBook) -> None:
    used, _ = book.add(1, 60, NOW_S)
    book.redeem(used, "a", NOW_S)
    book.add(1, 10, NOW_S)
    book.add(2, 60, NOW_S)
    assert [entry.uses for entry in book.outstanding(NOW_S + 20)] == [2]


@pytest.mark.parametrize(
    ("uses", "valid_for_s"), [(0, 60), (USES_MAX + 1, 60), (1, 0), (1, VALID_S_MAX + 1)]
)
def test_count_and_life_are_limited(book: InvitationBook, uses: int, valid_for_s: float) -> None:
    with pytest.raises(MembershipError, match=r"^an invitation (has|is valid)"):
        book.add(uses, valid_for_s, NOW_S)


def test_the_book_is_limited(book: InvitationBook) -> None:
    book._entries = [Entry(bytes(32), 1, int(NOW_S))] * (ENTRIES_MAX - 1)
    book.add(1, 60, NOW_S)
    with pytest.raises(MembershipError, match="too many open invitations"):
        book.add(1, 60, NOW_S)


def test_guesses_are_limited_and_forgiven_after_a_while() -> None:
    limit = GuessLimit()
    for _ in range(GUESSES_MAX):
        assert not limit.blocked("10.0.0.9", 0)
        limit.note_wrong("10.0.0.9", 0)
    assert limit.blocked("10.0.0.9", GUESSES_WINDOW_S - 1)
    assert limit.blocked("::ffff:10.0.0.9", GUESSES_WINDOW_S - 1)
    assert not limit.blocked("10.0.0.8", 0)
    assert not limit.blocked("10.0.0.9", GUESSES_WINDOW_S)


def test_a_machine_with_many_addresses_is_one_guesser() -> None:
    limit = GuessLimit()
    for number in range(GUESSES_MAX):
        limit.note_wrong(f"2001:db8::{number}", 0)
    assert limit.blocked("2001:db8::ffff", 0)
    assert not limit.blocked("2001:db8:0:1::1", 0)


@given(st.lists(st.text(max_size=8), max_size=50))
def test_any_host_counts(hosts: list[str]) -> None:
    limit = GuessLimit()
    for host in hosts:
        limit.note_wrong(host, 0)
    assert all(limit.blocked(host, 0) == (hosts.count(host) >= GUESSES_MAX) for host in hosts)


def test_guessers_cost_a_bounded_memory() -> None:
    limit = GuessLimit()
    for number in range(GUESSERS_MAX + 10):
        limit.note_wrong(f"host-{number}", number)
    assert len(limit._wrong) == GUESSERS_MAX
