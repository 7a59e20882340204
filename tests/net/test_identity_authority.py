"""What an authority issues and states, and what is none of its."""

from __future__ import annotations

import time
import warnings
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.authority import EXPELLED, KEEPER, Authority, Flock
from agent.net.certificates import BACKDATED_S, member_of, read_request, request_certificate
from tests.net.flocks import DAY_S, new_authority, new_node

AUTHORITY = new_authority()
OTHER = new_authority()
DAMAGED = 2_000


def test_a_flock_is_named_by_its_authoritys_key() -> None:
    again = Flock.read(AUTHORITY.flock.der)
    assert (again.flock_id, again.name) == (AUTHORITY.flock.flock_id, "Office")
    assert OTHER.flock.flock_id != again.flock_id
    assert len(again.flock_id) == certificates.FLOCK_ID_LENGTH
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
            said = certificates.read_certificate(bytes(changed)).tbs_certificate_bytes
            assert said == original
    except MembershipError:
        pass


@pytest.mark.parametrize(("size", "told"), [(4_096, "cannot be read"), (4_097, "at most 4096")])
def test_a_request_is_read_up_to_its_limit(size: int, told: str) -> None:
    with pytest.raises(MembershipError, match=told):
        read_request(b"x" * size)
