"""What a keeper remembers of its invitations, over restarts and against guessing, and their text."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net.invitation import (
    PREFIX,
    TEXT_LENGTH_MAX,
    Invitation,
    parse_invitation,
    usable_addresses,
)
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


# -- their text: short, hard to mistype unnoticed, told apart from all else ------------------------


FLOCK = "abcdefghijklmnopqrstuvwxya"


def flock_ids() -> st.SearchStrategy[str]:
    import base64

    return st.binary(min_size=16, max_size=16).map(
        lambda data: base64.b32encode(data).decode().rstrip("=").lower()
    )


def hosts() -> st.SearchStrategy[str]:
    names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,20}[A-Za-z](\.office)?", fullmatch=True)
    return st.one_of(st.ip_addresses(v=4).map(str), st.ip_addresses(v=6).map(str), names).filter(
        usable
    )


def usable(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return True
    local = address.version == 6 and address.is_link_local
    return not (local or address.is_unspecified or address.is_multicast)


@st.composite
def invitations(draw: st.DrawFn) -> Invitation:
    port = draw(st.integers(1, 65_535))
    return Invitation(
        flock_id=draw(flock_ids()),
        keeper=draw(st.binary(min_size=8, max_size=8)),
        secret=draw(st.binary(min_size=12, max_size=12)),
        expires_s=draw(st.integers(0, 2**32 - 1)),
        addresses=usable_addresses(draw(st.lists(hosts(), min_size=1, max_size=9)), port),
    )


SAMPLE = Invitation(
    FLOCK, b"keeperid", b"twelve bytes", 1_800_000_000, usable_addresses(["192.168.1.17"], 4711)
)


@given(invitations())
def test_an_invitation_is_the_same_after_its_text(invitation: Invitation) -> None:
    assert parse_invitation(invitation.text) == invitation
    assert len(invitation.text) <= TEXT_LENGTH_MAX


@given(invitations(), st.data())
def test_what_mail_and_people_do_to_a_text_does_no_harm(
    invitation: Invitation, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from([str.upper, str.lower, str.title]))(invitation.text)
    cut = data.draw(st.integers(0, len(text)))
    space = data.draw(st.sampled_from([" ", "\n", "\r\n", "\u00a0", "\t"]))
    frame = data.draw(st.sampled_from(["{}", "<{}>", '"{}"', "  {}.\n"]))
    assert parse_invitation(frame.format(text[:cut] + space + text[cut:])) == invitation


@given(
    st.integers(len(PREFIX), len(SAMPLE.text) - 1),
    st.sampled_from("abcdefghijklmnopqrstuvwxyz234567"),
)
def test_every_single_wrong_character_is_found(place: int, character: str) -> None:
    text = SAMPLE.text[:place] + character + SAMPLE.text[place + 1 :]
    if text != SAMPLE.text:
        with pytest.raises(MembershipError, match="typing error"):
            parse_invitation(text)


@given(st.integers(len(PREFIX), len(SAMPLE.text) - 2))
def test_every_swap_of_neighbours_is_found(place: int) -> None:
    text = SAMPLE.text
    swapped = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    if swapped != text:
        with pytest.raises(MembershipError, match="typing error"):
            parse_invitation(swapped)


@given(st.integers(len(PREFIX), len(SAMPLE.text) - 1))
def test_every_text_cut_short_is_found(length: int) -> None:
    with pytest.raises(MembershipError, match="typing error or is not complete"):
        parse_invitation(SAMPLE.text[:length])


@given(st.text(max_size=200))
def test_no_text_brings_the_parser_down(text: str) -> None:
    for tried in (text, PREFIX + text):
        with pytest.raises(MembershipError) as caught:
            parse_invitation(tried)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "this is no invitation"),
        ("hello", 'begins with "wingbeat-"'),
        (SAMPLE.text.replace(SAMPLE.text[20], "0", 1), 'the character "0" does not occur'),
        (SAMPLE.text + "a" * 200, "longer than an invitation"),
    ],
)
def test_each_way_to_be_wrong_has_its_sentence(text: str, sentence: str) -> None:
    with pytest.raises(MembershipError, match=sentence):
        parse_invitation(text)


def test_a_later_version_asks_for_an_update() -> None:
    import base64
    import hashlib

    body = bytes([2]) + bytes(60)
    checksum = hashlib.sha256(PREFIX.encode() + body).digest()[:4]
    text = PREFIX + base64.b32encode(body + checksum).decode().rstrip("=")
    with pytest.raises(MembershipError, match="later version: update"):
        parse_invitation(text)


def test_a_usual_invitation_has_93_characters() -> None:
    assert len(SAMPLE.text) == 93


def test_addresses_are_taken_in_order_while_they_fit() -> None:
    many = [f"2001:db8::{number}" for number in range(1, 9)]
    assert [str(one) for one in usable_addresses(many, 5)] == ["[2001:db8::1]:5", "[2001:db8::2]:5"]
    mixed = ["10.0.0.1", "10.0.0.1", "fe80::1", "0.0.0.0", "ff02::1", "not a host", "pc-7.office"]
    assert [one.host for one in usable_addresses(mixed, 5)] == ["10.0.0.1", "pc-7.office"]


@pytest.mark.parametrize(("names", "port"), [([], 5), (["fe80::1"], 5), (["10.0.0.1"], 0)])
def test_an_invitation_to_nowhere_is_not_made(names: list[str], port: int) -> None:
    with pytest.raises(MembershipError, match="needs an address"):
        usable_addresses(names, port)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_invitation_is_the_same_after_its_file(line_end: str) -> None:
    text = SAMPLE.file.decode().replace("\n", line_end)
    assert parse_invitation("\ufeff" + text) == SAMPLE


HALF = len(SAMPLE.text) // 2
HEAD, TAIL = SAMPLE.text[:HALF], SAMPLE.text[HALF:]


@pytest.mark.parametrize(
    "message",
    [
        f"\u201c{SAMPLE.text}\u201d",
        f"\u201e{SAMPLE.text}\u201c",
        f"\u00ab {SAMPLE.text} \u00bb",
        f"*{SAMPLE.text}*",
        f"({SAMPLE.text})",
        f"```\n{SAMPLE.text}\n```",
        f"> {HEAD}\n> {TAIL}",
        f"{HEAD}=\n{TAIL}",
        f"{HEAD}\u200b{TAIL}",
        f"{HEAD}\u00ad{TAIL}",
        SAMPLE.text.replace("-", "\u2011"),
        f"please run wingbeat flock join {SAMPLE.text} and tell me",
        f"open wingbeat-tray, then paste {SAMPLE.text}",
        f"[10:32] Anna: {SAMPLE.text}\n[10:33] Bob: done!",
        f"{SAMPLE.text}\n\n-- \nAnna",
        f"{SAMPLE.text} {SAMPLE.text}",
        SAMPLE.text.encode("utf-16").decode("utf-8", "replace"),
    ],
)
def test_an_invitation_is_found_in_what_chat_and_mail_make_of_it(message: str) -> None:
    assert parse_invitation(message) == SAMPLE
