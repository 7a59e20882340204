"""The text of an invitation: short, hard to mistype unnoticed, and told apart from all else."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import MembershipError
from agent.net.invitation import (
    PREFIX,
    TEXT_LENGTH_MAX,
    Invitation,
    parse_invitation,
    usable_addresses,
)

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
