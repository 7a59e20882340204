"""What a keeper remembers of its invitations, over restarts and against guessing, and their text."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
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
    GUESSES_MAX,
    Entry,
    GuessLimit,
    InvitationBook,
    origin_of,
)
from tests.net.flocks import FullDisk

NOW_S = 1_800_000_000.0
DAY_S = 86_400


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
    """Which may ask again: it may have been cut off."""
    secret, _ = book.add(1, 60, NOW_S)
    assert book.redeem(secret, "first", NOW_S) is None
    for later in (book, InvitationBook(folder, "flock")):
        assert "used up" in str(later.redeem(secret, "second", NOW_S))
        assert later.redeem(secret, "first", NOW_S) is None


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


# -- how many, how long, how often: at the boundaries ----------------------------------------------


@pytest.mark.parametrize(
    ("uses", "valid_s", "fault"),
    [
        (1, 1, ""),
        (200, 30 * DAY_S, ""),
        (0, 60, "an invitation has 1 to 200 uses, not 0"),
        (201, 60, "an invitation has 1 to 200 uses, not 201"),
        (1, 0, "an invitation is valid for at most 30 days"),
        (1, 30 * DAY_S + 1, "an invitation is valid for at most 30 days"),
    ],
)
def test_what_an_invitation_may_be(
    book: InvitationBook, uses: int, valid_s: float, fault: str
) -> None:
    if not fault:
        assert book.add(uses, valid_s, NOW_S)[1] == NOW_S + valid_s
        return
    with pytest.raises(MembershipError) as found:
        book.add(uses, valid_s, NOW_S)
    assert str(found.value) == fault


def filled(book: InvitationBook, count: int, expires_s: float) -> None:
    book._entries = [Entry(n.to_bytes(32, "big"), 1, int(expires_s)) for n in range(count)]


@pytest.mark.parametrize(("count", "fits"), [(199, True), (200, False)])
def test_how_many_invitations_are_kept(book: InvitationBook, count: int, fits: bool) -> None:
    filled(book, count, NOW_S + 60)
    if not fits:
        with pytest.raises(MembershipError, match="too many open invitations"):
            book.add(1, 60, NOW_S)
        assert book.withdraw(book.entries[0].number), "as the sentence says"
    still_open = book.outstanding(NOW_S)
    book.add(1, 60, NOW_S)
    assert len(book.entries) == 200
    assert set(still_open) < set(book.outstanding(NOW_S))


@pytest.mark.parametrize(("ago_s", "kept"), [(30 * DAY_S - 1, 3), (30 * DAY_S, 1)])
def test_for_how_long_an_ended_invitation_is_remembered(
    book: InvitationBook, ago_s: int, kept: int
) -> None:
    filled(book, 2, NOW_S - ago_s)
    book.add(1, 60, NOW_S)
    assert len(book.entries) == kept


def test_what_other_keepers_say_is_believed_within_bounds(book: InvitationBook) -> None:
    told = Entry(b"a" * 32, 5, int(NOW_S) + 400 * DAY_S, made_s=int(NOW_S) + 60)
    assert book.join([told], NOW_S)
    (kept,) = book.entries
    assert (kept.made_s, kept.expires_s) == (NOW_S, NOW_S + 30 * DAY_S)
    assert not book.join([told], NOW_S + 60)
    many = [Entry(n.to_bytes(32, "big"), 1, int(NOW_S) + 60, made_s=n) for n in range(1, 201)]
    assert book.join(many, NOW_S)
    assert (len(book.entries), min(each.made_s for each in book.entries)) == (200, 2)


def test_an_invitation_is_open_until_it_ends_is_used_or_withdrawn(book: InvitationBook) -> None:
    secret, expires_s = book.add(2, 60, NOW_S)
    assert [len(book.outstanding(at)) for at in (expires_s - 1, expires_s)] == [1, 0]
    assert book.redeem(secret, "ant", expires_s - 1) is None
    assert "expired on 2027-01-15" in str(book.redeem(secret, "bee", expires_s))
    assert (len(book.outstanding(NOW_S)), book.redeem(secret, "bee", NOW_S)) == (1, None)
    assert book.outstanding(NOW_S) == []
    number = book.entries[0].number
    assert [book.withdraw(each) for each in ("00", number, number)] == [False, True, False]
    assert "withdrew it" in str(book.redeem(secret, "ant", NOW_S))


@pytest.mark.parametrize(("made_s", "ended"), [(99, True), (100, True), (101, False)])
def test_what_a_keeper_knew_that_has_gone_ends(
    book: InvitationBook, made_s: int, ended: bool
) -> None:
    book._entries = [Entry(bytes(32), 1, int(NOW_S), made_s=made_s)]
    assert book.end_made_until(100) is ended
    assert book.entries[0].withdrawn is ended


def test_of_more_uses_than_there_are_the_same_are_dropped_everywhere(book: InvitationBook) -> None:
    secret, _ = book.add(2, 60, NOW_S)
    (entry,) = book.entries
    told = Entry(entry.secret_hash, 2, entry.expires_s, ("cat", "bee", "ant"), entry.made_s)
    assert book.join([told], NOW_S)
    assert [book.is_one_too_many(secret, each) for each in ("ant", "bee", "cat", "dog")] == [
        False,
        False,
        True,
        True,
    ]
    assert book.is_one_too_many(b"unknown", "ant")


def test_five_wrong_secrets_in_a_minute_are_too_many() -> None:
    limit = GuessLimit()
    for at_s in range(4):
        limit.note_wrong("10.0.0.9", at_s)
    assert not limit.blocked("10.0.0.9", 4)
    limit.note_wrong("10.0.0.9", 4)
    assert limit.blocked("10.0.0.9", 4)
    assert not limit.blocked("10.0.0.8", 4)
    assert (limit.blocked("10.0.0.9", 59.9), limit.blocked("10.0.0.9", 60)) == (True, False)


def test_the_longest_silent_guesser_is_forgotten() -> None:
    limit = GuessLimit()
    hosts = [f"10.0.{number // 250}.{number % 250}" for number in range(1_025)]
    for host in hosts[:1_024] * 5:
        limit.note_wrong(host, 0)
    assert limit.blocked(hosts[0], 1)
    limit.note_wrong(hosts[1_024], 1)
    assert (limit.blocked(hosts[0], 1), limit.blocked(hosts[1], 1)) == (False, True)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("10.0.0.9", "10.0.0.9"),
        ("::ffff:10.0.0.9", "10.0.0.9"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("ant", "ant"),
    ],
)
def test_whose_address_it_is(host: str, origin: str) -> None:
    assert origin_of(host) == origin


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
TEXT = SAMPLE.text


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


PLACES = st.integers(len(PREFIX), len(SAMPLE.text) - 1)
LETTERS = st.sampled_from("abcdefghijklmnopqrstuvwxyz234567")


@settings(max_examples=300)
@given(
    st.one_of(
        st.builds(lambda at, letter: TEXT[:at] + letter + TEXT[at + 1 :], PLACES, LETTERS),
        PLACES.map(lambda at: TEXT[: at - 1] + TEXT[at] + TEXT[at - 1] + TEXT[at + 1 :]),
        PLACES.map(lambda length: TEXT[:length]),
    )
)
def test_a_wrong_letter_swapped_ones_and_lost_ones_are_found(mistyped: str) -> None:
    assume(mistyped.casefold() != TEXT)
    with pytest.raises(MembershipError, match=r"typing error or is not complete|begins with"):
        parse_invitation(mistyped)


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


HALF = len(TEXT) // 2
HEAD, TAIL = TEXT[:HALF], TEXT[HALF:]


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
