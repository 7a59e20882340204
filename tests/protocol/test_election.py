"""Who calls an election, who stands in it, who wins, and whom the others believe."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol.clock import TimerKind, Timers
from agent.protocol.election import Election
from agent.protocol.messages import (
    Heartbeat,
    NewMaster,
    StartNewMasterElection,
    TryToBeMaster,
    WhoIsMaster,
)
from agent.protocol.records import Stamp
from agent.protocol.sanity import STAMP_SANE_MAX
from agent.protocol.settings import Settings

MINE = TryToBeMaster(10, 3, (500, 0), "acor")
WINDOW_S, BEAT_S = Settings().election_window_s, Settings().heartbeat_s
PATO = SimpleNamespace(node="pato")


class Voter:
    """Acor has joined, is linked with pato and grifo, and knows of no master."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.counted: list[str] = []
        self.down: tuple[str, ...] = ()
        self.core = SimpleNamespace(
            me="acor",
            name=MINE.name,
            reputation=MINE.reputation,
            table=SimpleNamespace(specs=dict.fromkeys(["T1", "T2", "T3"])),
            stamp=lambda: MINE.stamp,
            settings=Settings(),
            timers=Timers(),
            joined=True,
            now_s=100.0,
            broadcast=self.said.append,
            send=lambda peer, message: self.said.append((peer, message)),
            count=self.counted.append,
        )
        self.liveness = SimpleNamespace(
            master="", elected=(0, 0), up=lambda node: node not in self.down
        )
        self.election = Election(cast("Any", self.core), cast("Any", self.liveness))

    def hears(self, message: Any, peer: str = "pato") -> list[Any]:
        """What it says to that."""
        handler = self.election.handlers()[type(message)]
        handler(cast("Any", SimpleNamespace(node=peer)), message)
        return self.takes()

    def ticks(self) -> list[Any]:
        self.election.on_tick()
        return self.takes()

    def closes(self) -> list[Any]:
        self.election.close()
        return self.takes()

    def takes(self) -> list[Any]:
        said = [*self.said]
        self.said.clear()
        return said


def test_without_a_master_one_is_called_for_once() -> None:
    voter = Voter()
    assert voter.ticks() == [StartNewMasterElection(), MINE]
    assert voter.core.timers.armed(TimerKind.ELECTION)
    assert voter.core.timers.next == voter.core.now_s + WINDOW_S
    assert voter.ticks() == [], "one is under way"
    assert voter.closes() == [NewMaster("acor", MINE.stamp)]
    assert (voter.election.master, voter.ticks(), voter.closes()) == ("acor", [], [])


def test_nobody_calls_before_it_has_joined_nor_while_a_master_is_up() -> None:
    voter = Voter()
    voter.core.joined = False
    assert voter.ticks() == []
    assert voter.hears(StartNewMasterElection()) == voter.hears(MINE) == []
    assert voter.closes() == []
    voter.core.joined = True
    voter.liveness.master = "pato"
    assert (voter.election.master, voter.ticks()) == ("pato", [])
    voter.down = ("pato",)
    assert (voter.election.master, voter.ticks()) == ("", [StartNewMasterElection(), MINE])


def test_who_is_called_stands_once_and_does_not_call_again() -> None:
    voter = Voter()
    assert voter.hears(StartNewMasterElection()) == [MINE]
    assert voter.hears(StartNewMasterElection()) == []
    other = Voter()
    assert other.hears(TryToBeMaster(9, 9, (1, 0), "pato")) == [MINE], "the call was lost"
    assert other.hears(TryToBeMaster(9, 9, (1, 0), "grifo"), "grifo") == []
    assert len(other.closes()) == 1


@pytest.mark.parametrize(
    ("wins", "other"),
    [
        (True, TryToBeMaster(9, 9, (1, 0), "a")),
        (False, TryToBeMaster(11, 0, (900, 0), "z")),
        (True, TryToBeMaster(10, 2, (1, 0), "a")),
        (False, TryToBeMaster(10, 4, (900, 0), "z")),
        (True, TryToBeMaster(10, 3, (501, 0), "a")),
        (False, TryToBeMaster(10, 3, (499, 9), "z")),
        (True, TryToBeMaster(10, 3, (500, 0), "b")),
        (False, TryToBeMaster(10, 3, (500, 0), "a")),
        (True, TryToBeMaster(10, 3, (500, 0), "acor")),
    ],
)
def test_reputation_wins_then_the_larger_table_the_older_candidacy_and_the_name(
    wins: bool, other: TryToBeMaster
) -> None:
    voter = Voter()
    voter.ticks()
    voter.hears(other)
    assert voter.closes() == ([NewMaster("acor", MINE.stamp)] if wins else [])


def test_the_winner_is_given_a_beat_to_say_so() -> None:
    voter = Voter()
    voter.ticks()
    voter.hears(TryToBeMaster(11, 0, (1, 0), "pato"))
    assert voter.closes() == []
    voter.core.now_s += BEAT_S - 0.01
    assert voter.ticks() == []
    voter.core.now_s = 100.0 + BEAT_S
    assert voter.ticks() == [StartNewMasterElection(), MINE]


def test_who_has_left_meanwhile_wins_nothing() -> None:
    voter = Voter()
    voter.ticks()
    voter.core.joined = False
    assert voter.closes() == []


@pytest.mark.parametrize(
    ("before", "elected"), [((7, 7), MINE.stamp), ((500, 0), (500, 1)), ((9_000, 4), (9_000, 5))]
)
def test_an_election_is_later_than_the_one_before_whatever_the_clocks_say(
    before: Stamp, elected: Stamp
) -> None:
    voter = Voter()
    voter.liveness.elected = before
    voter.ticks()
    assert voter.closes() == [NewMaster("acor", elected)]
    assert (voter.liveness.master, voter.liveness.elected) == ("acor", elected)


@pytest.mark.parametrize(
    ("master", "elected", "believed"),
    [
        ("grifo", (41, 0), True),
        ("grifo", (40, 1), True),
        ("grifo", (39, 9), False),
        ("zebra", (40, 0), True),
        ("grifo", (40, 0), False),
        ("grifo", (41, STAMP_SANE_MAX + 1), False),
    ],
)
def test_of_two_masters_the_one_elected_later_stands(
    master: str, elected: Stamp, believed: bool
) -> None:
    beat = cast("Any", SimpleNamespace(master=master, elected=elected))
    for kind, message in ((NewMaster, NewMaster(master, elected)), (Heartbeat, beat)):
        voter = Voter()
        voter.liveness.master, voter.liveness.elected = "pato", (40, 0)
        voter.election.handlers()[kind](cast("Any", PATO), message)
        after = (voter.liveness.master, voter.liveness.elected)
        assert after == ((master, elected) if believed else ("pato", (40, 0)))
        assert bool(voter.counted) is (elected[1] > STAMP_SANE_MAX)


def test_a_beat_that_names_no_master_changes_nothing() -> None:
    voter = Voter()
    beat = SimpleNamespace(master="", elected=(90, 0))
    voter.election.handlers()[Heartbeat](cast("Any", PATO), cast("Any", beat))
    assert voter.liveness.elected == (0, 0)


def test_who_knows_the_master_tells_who_does_not_asks() -> None:
    voter = Voter()
    assert voter.hears(WhoIsMaster()) == []
    voter.election.on_greeted(cast("Any", PATO))
    assert voter.takes() == [("pato", WhoIsMaster())]
    voter.hears(NewMaster("grifo", (40, 0)))
    assert voter.hears(WhoIsMaster()) == [("pato", NewMaster("grifo", (40, 0)))]
    voter.election.on_greeted(cast("Any", PATO))
    assert voter.takes() == []
