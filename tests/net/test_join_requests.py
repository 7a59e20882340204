"""Requests of machines that have no invitation: how often, how long and how many, as it is shipped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.certificates import Applicant
from agent.net.join_requests import JoinRequest, JoinRequests

NOW_S = 1_800_000_000.0
KEY = certificates.new_key().public_key()


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
        assert told == [""] * 10
        names = [each.applicant.node_id for each in keeper.requests.open()]
        assert names == ["a1", "a2", *(f"b{number}" for number in range(10))], "of whom has most"

    play(scene)


def test_who_was_let_in_makes_room_for_nobody() -> None:
    async def scene(keeper: Keeper) -> None:
        for number in range(12):
            keeper.ask(f"b{number}", f"10.0.1.{number}")
            request = keeper.requests.open()[-1]
            keeper.requests.decide(request.request, request.code, admit=True)
        assert refused(keeper, "late", "10.0.2.1") == "too many machines ask to join"

    play(scene)


def test_a_machine_asks_once_at_a_time() -> None:
    """From one address; whoever has its request could end another by sending it again."""

    async def scene(keeper: Keeper) -> None:
        first, second = keeper.ask(), keeper.ask()
        elsewhere = keeper.ask(host="10.0.0.2")
        states = [keeper.state(each) for each in (first, second, elsewhere)]
        assert states == ["ended", "waiting", "waiting"]

    play(scene)


def test_six_attempts_of_one_address_thirty_again_and_ninety_first_in_five_minutes() -> None:
    async def scene(keeper: Keeper) -> None:
        told = [refused(keeper, "ant", "10.0.0.1") for _ in range(7)]
        assert told == [*[""] * 6, "this address asked too often"]
        for number in range(84):
            assert refused(keeper, "bee", f"10.0.1.{number}") == "", "for the first time"
            keeper.requests.withdraw(keeper.requests.open()[-1].number)
            if number >= 24:
                assert refused(keeper, "bee", "10.0.1.0") == "too many machines ask to join"
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
