"""Somebody stands between a machine that asks and the keeper, or answers in its place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.admission import CODE_DIGITS, same_code
from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.addresses import Address
from agent.net.asking import begin_request, find_door
from agent.net.enrolment_messages import (
    QUESTION_BYTES_MAX,
    Answer,
    AskAuthority,
    AskToJoin,
    AuthorityIs,
    Question,
    Refused,
    RequestBegun,
    RequestShown,
    ShowNonce,
    decode_question,
    encode,
    receive,
    send,
)
from agent.net.join_requests import code_of, commitment_of
from agent.net.joining import exchange, join_flock
from agent.net.membership import Membership
from agent.net.tls import JOIN, client_context
from tests.net.flocks import LOOPBACK, Hands, first, invited, open_door, serving
from tests.net.test_asking import asked_at, begun


async def test_a_flock_that_only_calls_itself_the_same_shows_another_code(tmp_path: Path) -> None:
    """It stands between with keys of its own: a flock towards the machine, a machine towards the
    flock."""

    false = first(tmp_path / "false")
    async with asked_at(first(tmp_path)) as there, asked_at(false) as between:
        request = await begun(between, tmp_path / "new")
        await begun(there, tmp_path / "in its place")
        assert there.only.name == "newcomer"
        assert request.code != there.only.code


async def test_a_member_that_passes_all_words_on_shows_another_code(
    tmp_path: Path, keeper: Membership
) -> None:
    """It has a certificate of the flock and changes nothing; only its own key gives it away."""

    async with asked_at(keeper) as there:
        async with open_door(keeper) as door:
            between = await join_flock(tmp_path / "between", await invited(keeper, door), "between")
        context = client_context(keeper.flock, None, JOIN)

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            question = decode_question(await receive(reader, QUESTION_BYTES_MAX))
            answer = await exchange(there.address, context, question, lambda _: None)
            await send(writer, encode(answer))

        async with serving(pass_on, between.tls.server) as port:
            found = await find_door([Address(LOOPBACK, port)])
            request = await begin_request(tmp_path / "new", found, "newcomer", "ada")
            assert there.only.name == "newcomer"
            assert request.code != there.only.code


async def test_no_code_is_known_to_anybody_before_people_are_told_of_it(tmp_path: Path) -> None:
    """Who could see codes that nobody is told of would look at many, and show the one that fits."""

    async with asked_at(first(tmp_path)) as there:
        door = await there.door()
        context = client_context(door.flock, None, JOIN)

        async def ask(question: Question) -> object:
            return await exchange(there.address, context, question, lambda _: None)

        sent = certificates.request_certificate(certificates.new_key(), "newcomer")
        begun = await ask(AskToJoin(sent, "ada", int(Hands()())))
        assert isinstance(begun, RequestBegun)
        assert there.requests.open() == there.told == []
        shown = await ask(ShowNonce(begun.number, b"a" * 16))
        assert isinstance(shown, RequestShown)
        assert commitment_of(shown.nonce) == begun.commitment
        assert [each.state for each in there.told] == ["waiting"]
        seen = there.only.code
        assert "does not know" in str(await ask(ShowNonce(begun.number, b"b" * 16)))
        assert there.only.code == seen


async def test_a_keeper_that_chooses_its_number_when_it_has_seen_the_other_is_found_out(
    tmp_path: Path,
) -> None:
    false = first(tmp_path)

    async def choose(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer: Answer
        match decode_question(await receive(reader, QUESTION_BYTES_MAX)):
            case AskAuthority():
                answer = AuthorityIs(false.flock.der, int(Hands()()))
            case AskToJoin():
                answer = RequestBegun(b"n" * 16, commitment_of(b"a" * 16))
            case _:
                answer = RequestShown(b"b" * 16)
        await send(writer, encode(answer))

    async with serving(choose, false.tls.server) as port:
        found = await find_door([Address(LOOPBACK, port)])
        with pytest.raises(MembershipError, match="tries to choose the code"):
            await begin_request(tmp_path / "new", found, "newcomer", "ada")


async def test_what_a_stranger_says_steers_no_terminal_and_forges_no_line_of_a_log(
    tmp_path: Path,
) -> None:
    false = first(tmp_path)

    async def steer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        question = decode_question(await receive(reader, QUESTION_BYTES_MAX))
        known = AuthorityIs(false.flock.der, int(Hands()()))
        told = Refused("no\x1b]0;owned\x07\r\n\u202eall is well")
        await send(writer, encode(known if isinstance(question, AskAuthority) else told))

    async with serving(steer, false.tls.server) as port:
        found = await find_door([Address(LOOPBACK, port)])
        with pytest.raises(MembershipError) as caught:
            await begin_request(tmp_path / "new", found, "newcomer", "ada")
        assert str(caught.value).isprintable()


@given(st.binary(min_size=32, max_size=32), st.text(max_size=64))
def test_codes_are_short_and_depend_on_all_that_was_seen(keeper: bytes, user: str) -> None:
    nonces = (b"a" * 16, b"b" * 16)
    code = code_of("flock", keeper, b"request", user, nonces)
    assert len(code.replace(" ", "")) == CODE_DIGITS
    assert code == code_of("flock", keeper, b"request", user, nonces)
    assert same_code(code, code.replace(" ", "-"))
    assert not same_code(code, code[:-1])
    assert not same_code("", "")
