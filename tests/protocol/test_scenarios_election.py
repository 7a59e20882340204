"""Scenes about the master: each condition that breaks a tie, its loss, and two of them."""

from __future__ import annotations

from itertools import combinations

from agent.protocol import messages as msg
from agent.protocol.effects import Identity
from agent.protocol.settings import Settings
from tests.protocol.stage import Stage, both_ways, task

NAMES = ("acor", "pato", "grifo")
ELECTION = ("WHO_IS_MASTER", "START_ELECTION", "TRY_TO_BE_MASTER", "NEW_MASTER")


def first_election(stage: Stage) -> None:
    """All are linked a moment after the last has started, and elect their first master."""
    for pair in combinations(stage.actors, 2):
        stage.link(*pair)
    stage.play(2.5)


def candidacies(stage: Stage) -> dict[str, msg.TryToBeMaster]:
    return {e.who: e.what for e in stage.entries if isinstance(e.what, msg.TryToBeMaster)}


def scene_election_by_reputation() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION)
    stage.actors["acor"].disk.identity = Identity(1, 8, (0, 0))
    for name in NAMES:
        stage.boot(name)
    first_election(stage)
    assert {name: each.reputation for name, each in candidacies(stage).items()} == {
        "acor": 7,
        "pato": 10,
        "grifo": 10,
    }
    assert stage.masters() == {"grifo"}
    return stage


def scene_election_by_table_size() -> Stage:
    stage = Stage("acor", "grifo", "pato", "tordo", shows=ELECTION).flock()
    for name in stage.actors:
        stage.owner(name, here=True)
    stage.play(0.1).curtain()
    stage.say("grifo misses a submission, and the master dies before grifo is helped")
    stage.lose("tordo", "grifo", msg.Enqueue)
    stage.submit("tordo", "bread", task("T1")).play(0.01)
    stage.crash("acor").play(3)
    assert {name: each.tasks for name, each in candidacies(stage).items()} == {
        "grifo": 0,
        "pato": 1,
        "tordo": 1,
    }
    assert stage.masters() == {"pato"}
    return stage


def scene_election_by_candidacy_stamp() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION)
    stage.say("the clock of pato is 300 ms behind, so its candidacy bears the oldest stamp")
    stage.actors["pato"].clock_ahead_ms = -300
    for name in NAMES:
        stage.boot(name)
    first_election(stage)
    stamps = {name: each.stamp for name, each in candidacies(stage).items()}
    assert stamps["pato"] < min(stamps["acor"], stamps["grifo"])
    assert stage.masters() == {"pato"}
    return stage


def scene_election_by_host_name() -> Stage:
    stage = Stage("tordo", "pato", "grifo", shows=ELECTION)
    for name in stage.actors:
        stage.boot(name)
    first_election(stage)
    assert len({(c.reputation, c.tasks, c.stamp) for c in candidacies(stage).values()}) == 1
    assert stage.masters() == {"grifo"}
    return stage


def scene_master_lost() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION).flock()
    assert stage.masters() == {"acor"}
    stage.crash("acor").play(2.5)
    assert stage.masters() == {"grifo"}
    stage.say("the old master comes back, and takes its place behind the new one")
    stage.boot("acor")
    stage.link("acor", "pato", "grifo").play(2)
    assert stage.masters() == {"grifo"}
    return stage


def scene_election_is_held_once() -> Stage:
    stage = Stage(*NAMES, shows=ELECTION, settings=Settings())
    for name in NAMES:
        stage.boot(name)
    first_election(stage)
    stage.play(2)
    assert len(stage.sent(msg.NewMaster)) == 1
    return stage


def scene_two_masters_after_a_partition() -> Stage:
    stage = Stage(*NAMES, shows=(*ELECTION, "HB")).flock()
    cables = both_ways("pato", "acor", "grifo")
    stage.hold(*cables)
    stage.play(7)
    assert stage.masters() == {"acor", "pato"}
    stage.say("together again: of two masters the one with the newer election stands")
    stage.link("pato", "acor", "grifo").play(1.5)
    assert stage.masters() == {"pato"}
    return stage
