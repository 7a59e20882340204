"""When the next call is made, of whom how much is known, and who calls whom."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from agent.net.addresses import Address
from agent.net.dialling import Dialler, Target
from agent.net.link_refusals import Cause, LinkRefusal

A, B, C = (Address("127.0.0.1", port) for port in (1, 2, 3))


class Longest(Random):
    """Draws the longest delay."""

    def uniform(self, a: float, b: float) -> float:
        assert (a, b) == (0.5, 1.0)
        return b


class Caller:
    """Answers each call as it is told, and keeps them."""

    def __init__(self, *answers: tuple[str, Cause | None]) -> None:
        self.calls: list[tuple[tuple[Address, ...], str | None]] = []
        self.links: set[str] = set()
        self._answers = list(answers)
        self.over = asyncio.Event()
        self.dialler = Dialler("mid", self.call, self.links.__contains__, Longest())

    async def call(
        self, addresses: Sequence[Address], expected: str | None
    ) -> tuple[str, LinkRefusal | None]:
        self.calls.append((tuple(addresses), expected))
        if not self._answers:
            self.over.set()
            await asyncio.Event().wait()
        peer, cause = self._answers.pop(0)
        if cause is None:
            self.links.add(peer)
            self.over.set()
            return peer, None
        return peer, LinkRefusal(peer, str(addresses[0]), cause, "no", 0.0)


def target(peer: str | None = "zebra", *, typed: bool = False, failures: int = 0) -> Target:
    return Target([A], peer, typed, failures)


@pytest.mark.parametrize(
    ("known", "lasting", "delay_s"),
    [
        (target("zebra"), False, 0.0),
        (target("ant"), False, 3.0),
        (target("ant", typed=True), False, 0.0),
        (target(None), False, 0.0),
        (target(failures=1), False, 0.05),
        (target(failures=2), False, 0.1),
        (target(failures=6), False, 1.6),
        (target(failures=7), False, 2.0),
        (target(failures=10_000), False, 2.0),
        (target(failures=1), True, 1.0),
        (target(failures=4), True, 8.0),
        (target(failures=5), True, 15.0),
    ],
)
async def test_calls_that_fail_are_made_later_and_later(
    known: Target, lasting: bool, delay_s: float
) -> None:
    known.lasting = lasting
    assert Caller().dialler._delay_s(known) == pytest.approx(delay_s)


@pytest.mark.parametrize(("lived_s", "failures"), [(0.1, 3), (4.99, 3), (5.0, 0), (3_600.0, 0)])
async def test_a_link_that_lives_for_five_seconds_is_no_failure(
    lived_s: float, failures: int
) -> None:
    caller = Caller()
    known = target(failures=2)
    caller.dialler._targets["zebra"] = known
    caller.dialler.unlinked("zebra", lived_s, lasting=True)
    assert (known.failures, known.lasting, known.news.is_set()) == (failures, True, True)
    caller.dialler.unlinked("other", 0.0)
    assert known.failures == failures


async def test_the_next_address_is_tried_where_somebody_else_answers() -> None:
    caller = Caller(("", Cause.UNREACHABLE), ("yak", Cause.OTHER_NODE), ("zebra", Cause.DUPLICATE))
    caller.dialler.found("zebra", [A, B])
    await caller.over.wait()
    assert [each[0] for each in caller.calls] == [(A, B), (A, B), (B, A), (B, A)]
    assert {each[1] for each in caller.calls} == {"zebra"}
    await caller.dialler.stop()


async def test_who_answers_at_a_typed_address_is_known_from_then_on() -> None:
    caller = Caller(("zebra", None))
    caller.dialler.found(None, [A, B][:1])
    await caller.over.wait()
    assert (caller.calls, caller.dialler.addresses_of("zebra")) == ([((A,), None)], [A])
    caller.dialler.withdrawn(A)
    assert caller.dialler.addresses_of("zebra") == []
    await caller.dialler.stop()


async def test_addresses_are_learnt_and_forgotten() -> None:
    caller = Caller()
    dialler = caller.dialler
    dialler.found("mid", [A])
    assert dialler.addresses_of("mid") == []
    dialler.found("ant", [A])
    dialler.found("ant", [B, C])
    assert dialler.addresses_of("ant") == [B, C, A]
    dialler.found("ant", [Address("127.0.0.1", port) for port in range(10, 30)])
    assert [each.port for each in dialler.addresses_of("ant")] == list(range(10, 26))
    caller.links.add("ant")
    dialler.gone("ant")
    assert len(dialler.addresses_of("ant")) == 16
    caller.links.clear()
    dialler.gone("ant")
    assert dialler.addresses_of("ant") == []
    await dialler.stop()
    dialler.found("ant", [A])
    assert dialler.addresses_of("ant") == []


async def test_of_so_many_peers_addresses_are_kept() -> None:
    dialler = Caller().dialler
    for number in range(513):
        dialler.found(f"ant{number}", [A])
    known = [bool(dialler.addresses_of(f"ant{number}")) for number in (0, 511, 512)]
    assert known == [True, True, False]
    dialler.gone("ant0")
    dialler.found("ant512", [A])
    assert dialler.addresses_of("ant512") == [A]
    await dialler.stop()
