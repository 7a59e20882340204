"""Two nodes and their one link: coming about, carrying, ending."""

from __future__ import annotations

import asyncio
import errno

import pytest

from agent.net import dialling
from agent.net.link_refusals import Cause
from agent.protocol.link_reasons import NoLink, RefusesThis
from agent.protocol.messages import AskStatus, Goodbye, Heartbeat, Message
from agent.wording.speech import english
from tests.certain import certain
from tests.hosts.waiting import eventually
from tests.net.test_links_nodes import (
    Node,
    contexts,
    linked,
    nodes,
)

SILENT = NoLink("Silent", length_ms=5_500)


def beat(number: int) -> Heartbeat:
    return Heartbeat(number, 0, 0, 0, 0, "", (0, 0))


async def test_messages_and_gossip_arrive_in_order_both_ways(ant: Node, bee: Node) -> None:
    messages: list[Message] = [beat(number) for number in range(50)]
    for message in messages:
        ant.links.send(["bee"], message)
    assert ant.links.gossip("bee", b"roster")
    bee.links.send(["ant"], Goodbye("late"))
    await bee.until(lambda: len(bee.told) == 52)
    await ant.until(lambda: len(ant.told) == 2)
    expected = [("received", "ant", message) for message in messages]
    assert bee.told == [("linked", "ant"), *expected, ("gossip", "ant", b"roster")]
    assert ant.told == [("linked", "bee"), ("received", "bee", Goodbye("late"))]


async def test_one_message_goes_to_all_who_are_linked() -> None:
    async with nodes("ant", "bee", "cat") as (ant, bee, cat):
        await linked(ant, bee)
        await linked(ant, cat)
        ant.links.send(["bee", "nobody", "cat"], AskStatus())
        await bee.until(lambda: bee.heard("received") == [("received", "ant", AskStatus())])
        await cat.until(lambda: cat.heard("received") == [("received", "ant", AskStatus())])


async def test_what_is_sent_on_being_linked_arrives_first() -> None:
    """The side that decides says its first word behind the welcome."""
    async with nodes("ant", "bee") as (ant, bee):
        bee.on_linked = lambda peer: bee.links.send([peer], AskStatus())
        await linked(ant, bee)
        await ant.until(lambda: len(ant.told) == 2)
        assert ant.told == [("linked", "bee"), ("received", "bee", AskStatus())]


async def test_the_report_tells_of_the_link(ant: Node, bee: Node) -> None:
    ant.links.send(["bee"], AskStatus())
    await bee.until(lambda: bool(bee.heard("received")))
    await eventually(lambda: ant.links.report()[0].round_trip_s is not None)
    (here,), (there,) = ant.links.report(), bee.links.report()
    assert (here.peer, here.name, here.dialled) == ("bee", "Bee", True)
    assert (there.peer, there.name, there.dialled) == ("ant", "Ant", False)
    assert here.address == bee.address
    assert here.traffic.messages_out == there.traffic.messages_in == 1


async def test_why_a_link_is_gone_is_known_until_there_is_another(ant: Node, bee: Node) -> None:
    ant.links.unlink("bee", SILENT)
    (refusal,) = ant.links.refusals()
    assert (refusal.peer, refusal.cause) == ("bee", Cause.LOST)
    assert english(refusal.why) == "its link is gone: silent for 5.5 s"
    await ant.until(lambda: "bee" in ant.links.linked)
    assert ant.links.refusals() == ()


# -- one link per pair -------------------------------------------------------------------------


async def both_dial(ant: Node, bee: Node, *, typed: bool) -> None:
    ant.links.dialler.found(None if typed else "bee", [bee.address])
    bee.links.dialler.found(None if typed else "ant", [ant.address])
    await ant.until(lambda: "bee" in ant.links.linked)
    await bee.until(lambda: "ant" in bee.links.linked)
    ant.links.send(["bee"], AskStatus())
    bee.links.send(["ant"], AskStatus())
    await ant.until(lambda: bool(ant.heard("received")))
    await bee.until(lambda: bool(bee.heard("received")))
    assert ant.comings_and_goings("bee") == bee.comings_and_goings("ant") == ["linked"]


@pytest.mark.parametrize(("typed", "times"), [(True, 30), (False, 10)])
async def test_there_is_one_link_when_both_dial_at_once(typed: bool, times: int) -> None:
    for _ in range(times):
        async with nodes("ant", "bee") as (ant, bee):
            await both_dial(ant, bee, typed=typed)
            assert ant.links.report()[0].dialled or typed


async def test_a_second_connection_does_not_replace_a_link_that_lives(ant: Node, bee: Node) -> None:
    _, refusal = await ant.links._reception.dial([bee.address], "bee")
    assert certain(refusal).cause is Cause.DUPLICATE
    assert ant.comings_and_goings("bee") == bee.comings_and_goings("ant") == ["linked"]


async def test_a_copied_identity_does_not_throw_the_first_one_out() -> None:
    async with nodes("ant", "bee", "ant") as (ant, bee, copy):
        await linked(ant, bee)
        copy.links.dialler.found("bee", [bee.address])
        await eventually(lambda: bool(copy.links.refusals()))
        assert "copied disk" in english(copy.links.refusals()[0].why)
        assert copy.links.refusals()[0].cause is Cause.COPIED
        assert bee.comings_and_goings("ant") == ["linked"]
        assert [each.node for each in bee.links.copies()] == ["ant"]


async def test_two_of_one_identity_do_not_take_the_link_from_each_other_for_ever() -> None:
    """Where they decide themselves. The one that has the link when it is seen keeps it."""
    async with nodes("cat", "bee", "cat") as (cat, bee, copy):
        for _ in range(2):
            for each in (cat, copy):
                each.links.dialler.found(None, [bee.address])
                each.links.dialler.retry()
        await eventually(lambda: bool(bee.links.copies()))
        (copied,) = bee.links.copies()
        assert (copied.node, copied.hosts) == ("cat", ("127.0.0.1", "127.0.0.1"))
        await eventually(
            lambda: (
                Cause.COPIED in [*causes_at(cat), *causes_at(copy)] and "cat" in bee.links.linked
            )
        )
        settled = bee.links.report()[0].age_s
        refused = cat if Cause.COPIED in causes_at(cat) else copy
        refused.links.dialler.retry()
        refused.links.dialler.found("bee", [bee.address])
        await refused.until(lambda: refused.comings_and_goings("bee")[-1:] == ["unlinked"])
        assert bee.links.report()[0].age_s >= settled


async def test_an_agent_that_starts_anew_is_no_copy() -> None:
    async with nodes("cat", "bee") as (cat, bee):
        for _ in range(3):
            bee.links.dialler.found("cat", [cat.address])
            await bee.until(lambda: "cat" in bee.links.linked)
            await cat.links.stop()
            await bee.until(lambda: "cat" not in bee.links.linked)
            await cat.start()
        assert bee.links.copies() == ()


async def test_who_greets_with_the_own_identity_is_told_from_oneself() -> None:
    async with nodes("ant", "ant") as (ant, copy):
        ant.links.dialler.found(None, [ant.address])
        (target,) = ant.links.dialler._targets.values()
        await eventually(lambda: target.peer == "ant")
        assert ant.links.copies() == ()
        ant.links.dialler.found(None, [copy.address])
        await eventually(lambda: bool(ant.links.copies()) and bool(copy.links.copies()))
        assert ant.links.copies()[0].node == copy.links.copies()[0].node == "ant"
        assert ant.links.copies()[0].hosts == (str(copy.address),)


async def test_nobody_links_with_itself() -> None:
    async with nodes("ant") as (ant,):
        ant.links.dialler.found(None, [ant.address])
        (target,) = ant.links.dialler._targets.values()
        await eventually(lambda: target.peer == "ant")
        assert ant.told == []
        _, refusal = await ant.links._reception.dial([ant.address], "bee")
        assert certain(refusal).cause is Cause.MYSELF


async def test_the_higher_node_dials_when_the_lower_does_not_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dialling, "LOWER_COMES_WITHIN_S", 0.1)
    async with nodes("ant", "bee") as (ant, bee):
        bee.links.dialler.found("ant", [ant.address])
        await bee.until(lambda: "ant" in bee.links.linked)
        assert bee.links.report()[0].dialled


# -- ends --------------------------------------------------------------------------------------


async def test_unlinking_is_told_here_as_found_and_there_as_said(ant: Node, bee: Node) -> None:
    ant.links.send(["bee"], Goodbye("tired"))
    ant.links.unlink("bee", NoLink("SaidGoodbye", error="tired"))
    assert ant.heard("unlinked") == []
    await ant.until(lambda: ant.heard("unlinked") == [("unlinked", "bee", False)])
    await bee.until(lambda: bee.heard("unlinked") == [("unlinked", "ant", True)])
    assert bee.heard("received") == [("received", "ant", Goodbye("tired"))]


async def test_a_connection_that_times_out_was_not_reset_by_the_peer(ant: Node, bee: Node) -> None:
    """What the system reports of a cable that was cut."""
    connection = bee.links._links["ant"]._connection
    connection.error = TimeoutError(errno.ETIMEDOUT, "timed out")
    certain(connection.raw).abort()
    await bee.until(lambda: ("unlinked", "ant", False) in bee.told)
    await ant.until(lambda: ("unlinked", "bee", True) in ant.told)


async def test_a_link_comes_back_after_it_was_unlinked(ant: Node, bee: Node) -> None:
    bee.links.unlink("ant", SILENT)
    await ant.until(lambda: len(ant.comings_and_goings("bee")) == 3)
    await bee.until(lambda: len(bee.comings_and_goings("ant")) == 3)
    assert ant.comings_and_goings("bee") == ["linked", "unlinked", "linked"]
    assert bee.comings_and_goings("ant") == ["linked", "unlinked", "linked"]


def causes_at(node: Node) -> list[Cause]:
    return [each.cause for each in node.links.refusals()]


async def test_a_stopped_peer_is_a_reset_and_is_dialled_until_it_is_back(
    ant: Node, bee: Node
) -> None:
    port = bee.links.port
    await bee.links.stop()
    await ant.until(lambda: ant.heard("unlinked") == [("unlinked", "bee", True)])
    await eventually(lambda: causes_at(ant) not in ([], [Cause.LOST]))
    assert ant.links.refusals()[0].cause is Cause.UNREACHABLE
    await bee.start(port)
    await ant.until(lambda: ant.comings_and_goings("bee") == ["linked", "unlinked", "linked"])
    assert ant.links.refusals() == ()


async def test_the_expelled_are_cut_off_and_told_why(ant: Node, bee: Node) -> None:
    bee.expelled.add("ant")
    bee.links.expel("ant", NoLink("WasExpelled"))
    await ant.until(lambda: ant.heard("unlinked") == [("unlinked", "bee", True)])
    await eventually(lambda: causes_at(ant) not in ([], [Cause.LOST]))
    refusal = ant.links.refusals()[0]
    assert refusal.peer == "bee"
    assert refusal.why == RefusesThis(NoLink("ExpelledFrom", "ant", "flock"))


async def test_strangers_are_refused_in_words_on_both_sides() -> None:
    cases = [
        (contexts("ant", "other"), Cause.OTHER_FLOCK, Cause.OTHER_FLOCK),
        (contexts("ant", "flock", -3, -2), Cause.EXPIRED, Cause.EXPIRED),
        (contexts("ant", "flock", 2, 3), Cause.NOT_YET_VALID, None),
    ]
    for own, here, there in cases:
        ant, bee = Node("ant"), Node("bee")
        await ant.start(own=own)
        await bee.start()
        ant.links.dialler.found("bee", [bee.address])
        try:
            await eventually(lambda: bool(ant.links.refusals()))  # noqa: B023
            seen = ant.links.refusals()[0]
            assert seen.peer == "bee", "who was meant is known, though it did not come to a name"
            if here is Cause.OTHER_FLOCK:
                assert seen.cause is here
            else:
                await eventually(lambda: bool(bee.links.refusals()))  # noqa: B023
                assert bee.links.refusals()[0].cause is here
                assert there is None or seen.cause is there
            assert ant.told == bee.told == []
        finally:
            await asyncio.gather(ant.links.stop(), bee.links.stop())
