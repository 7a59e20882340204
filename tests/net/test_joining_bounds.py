"""How often, how long and how many: what protects a keeper, at its boundaries, as it is shipped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net import certificates
from agent.net.certificates import Applicant
from agent.net.invitation_book import Entry, GuessLimit, InvitationBook, origin_of
from agent.net.join_requests import JoinRequest, JoinRequests

NOW_S = 1_800_000_000.0
DAY_S = 86_400
KEY = certificates.new_key().public_key()


# -- invitations -------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> InvitationBook:
    folder = PrivateFolder(tmp_path)
    folder.prepare()
    return InvitationBook(folder, "flock")


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
    filled(book, count, NOW_S)
    if fits:
        book.add(1, 60, NOW_S)
        assert len(book.entries) == 200
    else:
        with pytest.raises(MembershipError, match="too many open invitations"):
            book.add(1, 60, NOW_S)


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
    assert "expired" in str(book.redeem(secret, "bee", expires_s))
    assert (len(book.outstanding(NOW_S)), book.redeem(secret, "bee", NOW_S)) == (1, None)
    assert book.outstanding(NOW_S) == []
    number = book.entries[0].number
    assert (book.withdraw("00"), book.withdraw(number), book.withdraw(number)) == (
        False,
        True,
        False,
    )


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


# -- requests of machines that have no invitation ----------------------------------------------


class Stepped(asyncio.SelectorEventLoop):
    """A loop whose clock a test sets forward."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s

    async def later(self, seconds: float) -> None:
        """What is due by then is done."""
        self.ahead_s += seconds
        await asyncio.sleep(0.001)


class Keeper:
    """The requests of one keeper, and what it told of them."""

    def __init__(self, loop: Stepped) -> None:
        self.loop, self.told = loop, list[JoinRequest]()
        self.requests = JoinRequests("flock", b"k" * 32, self.told.append, lambda: NOW_S)

    def ask(self, name: str = "ant", host: str = "10.0.0.1", *, show: bool = True) -> bytes:
        applicant = Applicant(name, name.title(), KEY)
        number, _ = self.requests.begin(b"sent", applicant, "ada", host)
        if show:
            self.requests.show(number, b"n" * 16)
        return number

    def state(self, number: bytes) -> str:
        found = self.requests.outcome(number)
        return found.state if found else "unknown"


def play(scene: Callable[[Keeper], Awaitable[None]]) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Stepped)
        keeper = Keeper(loop)
        try:
            await scene(keeper)
        finally:
            keeper.requests.close()

    with asyncio.Runner(loop_factory=Stepped) as runner:
        runner.run(run())


@pytest.mark.parametrize(
    ("show", "valid_s", "told"),
    [(False, 15, []), (True, 600, ["waiting", "ended"])],
)
def test_how_long_a_request_lasts(show: bool, valid_s: float, told: list[str]) -> None:
    async def scene(keeper: Keeper) -> None:
        number = keeper.ask(show=show)
        await keeper.loop.later(valid_s - 0.5)
        assert keeper.state(number) == ("waiting" if show else "begun")
        assert len(keeper.requests.open()) == show
        await keeper.loop.later(0.5)
        assert (keeper.state(number), keeper.requests.open()) == ("ended", [])
        assert [each.state for each in keeper.told] == told

    play(scene)


def test_who_was_let_in_has_ten_minutes_more() -> None:
    async def scene(keeper: Keeper) -> None:
        number = keeper.ask()
        await keeper.loop.later(500)
        (request,) = keeper.requests.open()
        assert 99 < keeper.requests.left_s(request) <= 100
        admitted = keeper.requests.decide(request.request, "", admit=True)
        assert 599 < keeper.requests.left_s(admitted) <= 600
        await keeper.loop.later(599)
        with keeper.requests.collecting(number):
            assert keeper.state(number) == "admitted"
            with pytest.raises(MembershipError, match="is joining at this moment"):
                keeper.requests.decide(request.request, "", admit=False)
        assert (keeper.state(number), keeper.requests.open()) == ("joined", [])
        with keeper.requests.collecting(number):
            pass
        assert [each.state for each in keeper.told] == ["waiting", "admitted", "joined"]
        await keeper.loop.later(2)
        with (
            pytest.raises(MembershipError, match="came too late"),
            keeper.requests.collecting(number),
        ):
            pass

    play(scene)


def test_who_was_not_let_in_gets_nothing() -> None:
    async def scene(keeper: Keeper) -> None:
        number = keeper.ask()
        for each in (number, b"unknown"):
            with (
                pytest.raises(MembershipError, match="nobody has let"),
                keeper.requests.collecting(each),
            ):
                pass
        (request,) = keeper.requests.open()
        with pytest.raises(MembershipError, match="Ant shows another code"):
            keeper.requests.decide(request.request, "000 0000", admit=True)
        with pytest.raises(MembershipError, match="is over"):
            keeper.requests.decide("another", "", admit=True)
        assert keeper.requests.decide(request.request, request.code, admit=False).state == "refused"
        with pytest.raises(MembershipError, match="is over"):
            keeper.requests.decide(request.request, "", admit=True)
        again = keeper.ask()
        keeper.requests.withdraw(again)
        keeper.requests.withdraw(b"unknown")
        assert (keeper.state(number), keeper.state(again)) == ("refused", "ended")
        with pytest.raises(MembershipError, match="does not know the request"):
            keeper.requests.show(again, b"n" * 16)

    play(scene)


def refused(keeper: Keeper, name: str, host: str) -> str:
    try:
        keeper.ask(name, host)
    except MembershipError as error:
        return str(error).partition(":")[0]
    return ""


def test_three_of_one_address_and_twelve_in_all_may_wait() -> None:
    async def scene(keeper: Keeper) -> None:
        told = [refused(keeper, f"a{number}", "10.0.0.1") for number in range(4)]
        assert told == ["", "", "", "too many requests from this address wait"]
        told = [refused(keeper, f"b{number}", f"10.0.1.{number}") for number in range(10)]
        assert told == [*[""] * 9, "too many machines ask to join"]

    play(scene)


def test_a_machine_asks_once_at_a_time() -> None:
    """From one address; whoever has its request could end another by sending it again."""

    async def scene(keeper: Keeper) -> None:
        first, second = keeper.ask(), keeper.ask()
        elsewhere = keeper.ask(host="10.0.0.2")
        states = [keeper.state(each) for each in (first, second, elsewhere)]
        assert states == ["ended", "waiting", "waiting"]

    play(scene)


def test_six_attempts_of_one_address_and_thirty_in_all_in_five_minutes() -> None:
    async def scene(keeper: Keeper) -> None:
        told = [refused(keeper, "ant", "10.0.0.1") for _ in range(7)]
        assert told == [*[""] * 6, "this address asked too often"]
        for number in range(24):
            assert refused(keeper, "bee", f"10.0.1.{number}") == ""
            keeper.requests.withdraw(keeper.requests.open()[-1].number)
        assert refused(keeper, "cat", "10.0.2.1") == "too many machines ask to join"
        await keeper.loop.later(299)
        assert refused(keeper, "cat", "10.0.2.1") == "too many machines ask to join"
        await keeper.loop.later(1)
        assert refused(keeper, "cat", "10.0.2.1") == ""

    play(scene)


def test_of_requests_that_are_over_the_last_are_remembered() -> None:
    async def scene(keeper: Keeper) -> None:
        numbers = []
        for number in range(65):
            numbers.append(keeper.ask(host=f"10.0.0.{number}", show=False))
            keeper.requests.withdraw(numbers[-1])
            await keeper.loop.later(300)
        assert [keeper.state(each) for each in numbers[:2]] == ["unknown", "ended"]
        assert keeper.told == []

    play(scene)
