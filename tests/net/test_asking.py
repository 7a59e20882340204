"""Asking to be let in: as it should be, its bounds, and somebody who stands between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.admission import CODE_DIGITS, same_code
from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net import certificates
from agent.net.addresses import Address
from agent.net.administration import expel
from agent.net.asking import Door, Request, begin_request, find_door
from agent.net.enrolment import EnrolmentServer, requests_of
from agent.net.enrolment_messages import (
    QUESTION_BYTES_MAX,
    Answer,
    AskAuthority,
    AskToJoin,
    AuthorityIs,
    Collect,
    DecideRequest,
    Question,
    Refused,
    RequestBegun,
    RequestIs,
    RequestShown,
    ShowNonce,
    Welcome,
    decode_question,
    encode,
    receive,
    send,
)
from agent.net.identity import IdentityFolder
from agent.net.join_requests import (
    ATTEMPTS_PER_ORIGIN_MAX,
    REQUESTS_PER_ORIGIN_MAX,
    JoinRequest,
    JoinRequests,
    code_of,
    commitment_of,
)
from agent.net.joining import ask_keeper, exchange, join_flock
from agent.net.membership import Membership
from agent.net.tls import JOIN, client_context
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually
from tests.net.flocks import (
    LOOPBACK,
    FullDisk,
    Hands,
    appointed,
    first,
    invited,
    members,
    open_door,
    serving,
)


@dataclass
class Asked:
    """A keeper that can be asked, and what its people are told."""

    keeper: Membership
    requests: JoinRequests
    address: Address
    told: list[JoinRequest]

    async def door(self) -> Door:
        return await find_door([self.address])

    @property
    def only(self) -> JoinRequest:
        (found,) = self.requests.open()
        return found


@asynccontextmanager
async def asked_at(
    keeper: Membership, *, may_ask: bool = True, name: str = ""
) -> AsyncIterator[Asked]:
    told: list[JoinRequest] = []
    requests = requests_of(keeper, told.append)
    desk = EnrolmentServer(keeper, requests=requests, may_ask=may_ask, name=name)
    async with serving(desk.serve, keeper.tls.server) as port:
        try:
            yield Asked(keeper, requests, Address(LOOPBACK, port), told)
        finally:
            requests.close()


async def begun(there: Asked, folder: Path, name: str = "newcomer", user: str = "ada") -> Request:
    return await begin_request(folder, await there.door(), name, user)


@pytest.fixture
async def asked(tmp_path: Path, there: Asked) -> Request:
    """One that waits."""
    return await begun(there, tmp_path / "new")


@pytest.fixture
async def admitted(tmp_path: Path, there: Asked) -> Request:
    """One that has not come yet."""
    request = await begun(there, tmp_path / "new")
    there.requests.decide(there.only.request, "", admit=True)
    return request


async def refused(there: Asked, folder: Path, hands: Hands | None = None) -> str:
    with pytest.raises(MembershipError) as caught:
        await begin_request(folder, await there.door(), "newcomer", "ada", hands or Hands())
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- as it should be ---------------------------------------------------------------------------


async def test_a_keeper_that_is_not_to_be_asked_says_so_and_tells_nobody(tmp_path: Path) -> None:
    async with asked_at(first(tmp_path), may_ask=False) as there:
        sentence = await refused(there, tmp_path / "new")
        assert "let nobody in without an invitation" in sentence
        assert "ask somebody of the flock for one" in sentence
        assert (there.told, there.requests.open()) == ([], [])


async def test_a_keeper_that_was_renamed_is_asked_by_the_name_that_it_has_now(
    tmp_path: Path,
) -> None:
    async with asked_at(first(tmp_path), name="library\x1b[2J") as there:
        assert (await there.door()).keeper == "library[2J"


async def test_both_sides_see_one_code_and_two_people_let_a_machine_in(
    tmp_path: Path, keeper: Membership, there: Asked
) -> None:
    door = await there.door()
    assert (door.flock.name, door.keeper) == ("Office", "first")
    request = await begun(there, tmp_path / "new")
    waiting = there.only
    assert waiting.code == request.code
    assert (waiting.name, waiting.user, waiting.address) == ("newcomer", "ada", LOOPBACK)
    assert (await request.outcome()).state == "waiting"
    with pytest.raises(MembershipError, match="nobody has let this machine in"):
        await request.collect()
    there.requests.decide(waiting.request, request.code, admit=True)
    assert (await request.outcome()).state == "admitted"
    assert len(keeper.roster.members()) == 1  # it is let in, and has not come
    member = await request.collect()
    assert member.flock.flock_id == keeper.flock.flock_id
    assert {each.host_name for each in keeper.roster.members()} == {"first", "newcomer"}
    assert not member.keeper
    assert [each.state for each in there.told] == ["waiting", "admitted", "joined"]
    assert there.requests.open() == []
    assert Membership.open(tmp_path / "new") is not None


async def test_an_answer_that_was_lost_is_asked_for_again(
    tmp_path: Path, keeper: Membership, there: Asked, admitted: Request
) -> None:
    assert isinstance(await admitted._ask(Collect(admitted._number)), Welcome)
    await admitted.collect()
    assert len(keeper.roster.members()) == 2


async def test_whom_a_full_disk_cannot_keep_is_not_let_in_and_may_come_again(
    tmp_path: Path, keeper: Membership, there: Asked, admitted: Request
) -> None:
    disk, keeper.folder = keeper.folder, PrivateFolder(keeper.folder.path, FullDisk())
    with pytest.raises(MembershipError, match="disk is not full"):
        await admitted.collect()
    assert len(keeper.roster.members()) == 1
    assert Membership.open(tmp_path / "new") is None
    keeper.folder = disk
    await admitted.collect()
    assert len(keeper.roster.members()) == 2


class SlowDisk(FullDisk):
    """Writes when it is let go on."""

    def __init__(self) -> None:
        self.writing, self.go_on = threading.Event(), threading.Event()

    def replace(self, source: Path, target: Path) -> None:
        self.writing.set()
        self.go_on.wait(EVENTUALLY_S_MAX)
        source.replace(target)


async def test_who_is_just_being_made_a_member_is_not_said_to_be_refused_or_too_late(
    tmp_path: Path, keeper: Membership, there: Asked, admitted: Request
) -> None:
    disk = SlowDisk()
    keeper.folder = PrivateFolder(keeper.folder.path, disk)
    coming = asyncio.create_task(admitted.collect())
    await eventually(disk.writing.is_set)
    with pytest.raises(MembershipError, match="is joining at this moment"):
        there.requests.decide(there.only.request, "", admit=False)
    there.requests._too_late(there.only.number)
    disk.go_on.set()
    await coming
    assert (await admitted.outcome()).state == "joined"
    assert len(keeper.roster.members()) == 2


async def test_refused_withdrawn_and_too_late_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: Asked
) -> None:
    request = await begun(there, tmp_path / "new")
    there.requests.decide(there.only.request, "", admit=False)
    assert (await request.outcome()).state == "refused"
    request = await begun(there, tmp_path / "new")
    await request.withdraw()
    assert (await request.outcome()).state == "ended"
    monkeypatch.setattr(there.requests, "_valid_s", 0.05)
    request = await begun(there, tmp_path / "new")
    await eventually(lambda: there.requests.open() == [])
    assert (await request.outcome()).state == "ended"
    with pytest.raises(MembershipError, match="this request is over"):
        there.requests.decide("0" * 16, "", admit=True)
    with pytest.raises(MembershipError, match="nobody has let"):
        await request.collect()


async def test_let_in_and_come_too_late_is_not_let_in(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keeper: Membership,
    there: Asked,
    asked: Request,
) -> None:
    monkeypatch.setattr(there.requests, "_valid_s", 0.05)
    there.requests.decide(there.only.request, "", admit=True)
    await eventually(lambda: there.requests.open() == [])
    with pytest.raises(MembershipError, match="ask again"):
        await asked.collect()
    assert len(keeper.roster.members()) == 1


async def test_another_keeper_passes_the_answer_on_and_nobody_else_may(
    tmp_path: Path, keeper: Membership
) -> None:
    async with asked_at(keeper) as there, open_door(keeper) as door:
        second, _, plain = await members(tmp_path, keeper, door, *"bcd")
        await appointed(keeper, second)
        assert (second.keeper, plain.keeper) == (True, False)
        request = await begun(there, tmp_path / "new")
        question = DecideRequest(there.only.request, request.code, True)
        told = await ask_keeper(plain, there.address, question)
        assert getattr(told, "reason", "") == "only administrators may ask this"
        wrong = DecideRequest(there.only.request, "000 000", True)
        assert "shows another code" in str(await ask_keeper(second, there.address, wrong))
        assert isinstance(await ask_keeper(second, there.address, question), RequestIs)
        await request.collect()


# -- bounds ------------------------------------------------------------------------------------


async def test_a_machine_asks_once_at_a_time_and_an_address_a_few_times(
    tmp_path: Path, there: Asked
) -> None:
    await begun(there, tmp_path / "a")
    await begun(there, tmp_path / "a")
    assert len(there.requests.open()) == 1
    for name in ("b", "c")[: REQUESTS_PER_ORIGIN_MAX - 1]:
        await begun(there, tmp_path / name)
    assert "have one answered" in await refused(there, tmp_path / "d")
    for each in there.requests.open():
        there.requests.decide(each.request, "", admit=False)
    for _ in range(ATTEMPTS_PER_ORIGIN_MAX - 4):
        await begun(there, tmp_path / "a")
    assert "asked too often" in await refused(there, tmp_path / "a")


async def test_the_same_holds_as_for_the_invited(
    tmp_path: Path, keeper: Membership, there: Asked, admitted: Request
) -> None:
    """Clocks, keys that were sent away, and a second flock."""
    assert "2 h ahead" in await refused(there, tmp_path / "new", Hands(7_200))
    member = await admitted.collect()
    assert "leave that first" in await refused(there, tmp_path / "new")
    await expel(keeper, member.node_id)
    (tmp_path / "new" / "identity.crt").unlink()
    assert "does not any more" in await refused(there, tmp_path / "new")


async def test_who_is_sent_away_after_it_was_let_in_gets_no_certificate(
    tmp_path: Path, keeper: Membership, there: Asked, admitted: Request
) -> None:
    await admitted._ask(Collect(admitted._number))
    await expel(keeper, there.told[0].applicant.node_id)
    with pytest.raises(MembershipError, match="does not any more"):
        await admitted.collect()


async def test_a_keeper_that_was_started_anew_says_that_it_forgot(
    tmp_path: Path, there: Asked, asked: Request
) -> None:
    there.requests._requests.clear()
    with pytest.raises(MembershipError, match="started anew and forgot"):
        await asked.outcome()


async def test_a_number_of_nobody_opens_nothing(tmp_path: Path, there: Asked) -> None:
    door = await there.door()
    stranger = Request(IdentityFolder(tmp_path / "x"), certificates.new_key(), door, b"x" * 16, "")
    with pytest.raises(MembershipError):
        await stranger.outcome()
    with pytest.raises(MembershipError):
        await stranger.collect()


async def test_where_no_keeper_answers_it_is_said_of_each_address(keeper: Membership) -> None:
    async with asked_at(keeper) as there:
        with pytest.raises(MembershipError, match="of the flock Office now"):
            await find_door([there.address], "another flock")
    with pytest.raises(MembershipError, match="no Wingbeat listens there"):
        await find_door([there.address])
    with pytest.raises(MembershipError, match="no address"):
        await find_door([])


# -- somebody stands between, or answers in its place ----------------------------------------------


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
        await appointed(keeper, between)
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
        context = client_context((await there.door()).flock, None, JOIN)

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
