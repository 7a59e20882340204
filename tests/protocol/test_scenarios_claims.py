"""Scenes about who runs a task: claims, consents, and claims that come late.

Nodes race rarely, because each knows from the others' statuses who else is idle. So a race is
staged by letting owners leave at the same instant: each node then believes that it is alone.
"""

from __future__ import annotations

from msgspec.structs import replace

from agent.protocol import events as ev
from agent.protocol import messages as msg
from agent.protocol.claims import CONTESTED_S
from agent.protocol.records import Claim, Evicted, Life, Run, TaskState
from tests.protocol.stage import Stage, both_ways, task
from tests.protocol.stage_machines import NAMES, Course

Links = list[tuple[str, str]] | None


def at_their_desks(*names: str, links: Links = None) -> Stage:
    """All owners are there, so nobody runs anything yet."""
    stage = Stage(*names).flock(links=links)
    for name in names:
        stage.owner(name, here=True)
    stage.play(0.1)
    return stage


def submitted_before(stage: Stage, *tasks: str, at: str) -> None:
    stage.submit(at, "bread", *(task(each) for each in tasks)).play(0.1).curtain()


def scene_claim_without_rival() -> Stage:
    stage = Stage(*NAMES).flock()
    stage.submit("pato", "bread", task("T1")).play(3)
    assert (stage.starters("T1"), stage.outcome("T1")) == (["acor"], "acor")
    assert stage.same_tables()
    return stage


def scene_chains_go_on_where_they_are() -> Stage:
    """Who ends a task goes on with the next, and tells of both in one word."""
    stage = Stage(*NAMES).flock()
    for number in ("1", "2"):
        stage.submit(
            "pato", f"bread {number}", task(f"A{number}"), task(f"B{number}", f"A{number}")
        )
    stage.play(6)
    for number in ("1", "2"):
        assert stage.starters(f"A{number}") == stage.starters(f"B{number}")
        assert stage.outcome(f"B{number}") == stage.outcome(f"A{number}")
    assert len(stage.sent(msg.State)) == 6  # three for each chain
    assert stage.same_tables()
    return stage


def scene_race_of_three() -> Stage:
    stage = at_their_desks(*NAMES)
    submitted_before(stage, "T1", at="grifo")
    stage.say("three owners leave at the same instant; each node believes that it is alone")
    for name in NAMES:
        stage.owner(name, here=False)
    stage.play(3)
    assert (len(stage.sent(msg.TryDequeue)), stage.starters("T1")) == (3, ["acor"])
    assert stage.state("T1") is TaskState.TERMINATED
    return stage


def scene_late_claim_1_one_device() -> Stage:
    stage = Stage("acor").flock()
    stage.submit("acor", "bread", task("T1")).play(3)
    assert stage.starters("T1") == ["acor"]
    return stage


def scene_late_claim_2_two_devices() -> Stage:
    stage = at_their_desks("acor", "pato")
    submitted_before(stage, "T1", "T2", at="pato")
    stage.say("both go for the first task; the loser takes the second at once")
    stage.owner("acor", here=False)
    stage.owner("pato", here=False).play(3)
    assert (stage.starters("T1"), stage.starters("T2")) == (["acor"], ["pato"])
    return stage


def late_pato() -> Stage:
    """Three go for T1; the best claim, that of pato, is on its way for long."""
    stage = at_their_desks(*NAMES)
    submitted_before(stage, "T1", "T2", "T3", at="grifo")
    for each in ("T1", "T2", "T3"):
        stage.courses[each] = Course(length_s=4)
    stage.hold(("pato", "acor"), ("pato", "grifo"))
    stage.owner("pato", here=False).play(0.001)
    stage.owner("grifo", here=False).play(0.0008)
    stage.owner("acor", here=False)
    return stage


def scene_late_claim_3_arrives_while_it_runs() -> Stage:
    stage = late_pato()
    stage.play(3.2)
    stage.say("silence was no consent, so the others waited until they suspected pato")
    assert (stage.starters("T1"), stage.starters("T2")) == (["grifo"], ["acor"])
    stage.deliver(("pato", "acor"), ("pato", "grifo")).play(8)
    known = [
        entry
        for entry in stage.entries
        if isinstance(entry.what, msg.ClaimAnswers)
        and any(each.task == "T1" for each in entry.what.known)
    ]
    assert {entry.who: entry.to for entry in known} == {"acor": ("pato",), "grifo": ("pato",)}
    assert stage.starters("T1") == ["grifo"], "a better claim that comes late stops nobody"
    assert (stage.starters("T3"), stage.state("T3")) == (["pato"], TaskState.TERMINATED)
    return stage


def scene_late_claim_3_arrives_in_time() -> Stage:
    stage = late_pato()
    stage.play(1.2)
    assert stage.starters("T1") == []
    stage.say("the best claim was waited for")
    stage.deliver(("pato", "acor"), ("pato", "grifo")).play(8)
    assert (stage.starters("T1"), stage.starters("T2")) == (["pato"], ["acor"])
    assert stage.starters("T3") == ["grifo"]
    return stage


def scene_chain_without_the_link_of_its_ends() -> Stage:
    stage = at_their_desks("acor", "pato", "grifo", links=[("acor", "pato"), ("pato", "grifo")])
    submitted_before(stage, "T1", at="pato")
    stage.say("acor and grifo do not see each other; pato, whose owner stays, sees both")
    stage.owner("grifo", here=False).play(0.0004)
    stage.owner("acor", here=False).play(3)
    assert stage.starters("T1") == ["grifo"], "pato had promised it, though to the worse claim"
    assert any(
        isinstance(entry.what, msg.ClaimAnswers) and entry.what.busy for entry in stage.entries
    )
    assert stage.outcome("T1") == "grifo"
    return stage


def scene_disk_full_between_claim_and_start() -> Stage:
    stage = Stage(*NAMES).flock()
    stage.submit("pato", "bread", task("T1")).play(0.0015)
    stage.fill_disk("acor")
    stage.play(4)
    assert (stage.starters("T1"), stage.outcome("T1")) == (["grifo"], "grifo")
    return stage


def scene_claimant_dies_before_it_starts() -> Stage:
    stage = Stage(*NAMES).flock()
    stage.hold(("grifo", "acor"))
    stage.submit("pato", "bread", task("T1")).play(0.1)
    stage.crash("acor").play(4)
    assert stage.starters("T1") == ["grifo"]
    return stage


def scene_links_up_during_a_claim() -> Stage:
    stage = Stage(*NAMES).flock("acor", "pato")
    stage.hold(*both_ways("acor", "pato"))
    stage.submit("acor", "bread", task("T1")).play(0.1)
    stage.say("grifo comes while acor waits for pato")
    stage.boot("grifo")
    stage.link("acor", "grifo").play(0.1)
    stage.deliver(*both_ways("acor", "pato")).play(3)
    assert stage.starters("T1") == ["acor"]
    asked = [e.to for e in stage.entries if isinstance(e.what, msg.TryDequeue)]
    assert ("grifo",) in asked, "who links up during a claim is asked too"
    return stage


def scene_loser_without_a_link_to_its_rival() -> Stage:
    links = [("acor", "pato"), ("pato", "grifo"), ("acor", "tordo")]
    stage = at_their_desks("acor", "grifo", "pato", "tordo", links=links)
    submitted_before(stage, "T1", at="pato")
    stage.say("acor has the promise of pato, and waits for tordo")
    stage.hold(("tordo", "acor"))
    stage.owner("acor", here=False).play(0.01)
    stage.owner("grifo", here=False).play(1.5)
    assert len(stage.sent(msg.TryDequeue, by="grifo")) <= 3, "a loser does not ask all the time"
    return stage


def scene_rival_gives_up() -> Stage:
    stage = at_their_desks("acor", "pato", "tordo")
    submitted_before(stage, "T1", at="pato")
    stage.say("pato has lost to acor, which waits for tordo; then the owner of acor comes back")
    stage.hold(("tordo", "acor"))
    stage.owner("acor", here=False)
    stage.owner("pato", here=False).play(0.5)
    stage.owner("acor", here=True).play(0.5)
    stage.deliver(("tordo", "acor")).play(6)
    assert stage.starters("T1") == ["pato"], "an idle node does not leave a free task lying"
    return stage


def test_what_a_rival_does_not_take_is_claimed_again() -> None:
    stage = at_their_desks("acor", "pato")
    submitted_before(stage, "T1", at="acor")
    stage.hold(("acor", "pato"))
    stage.owner("acor", here=False)
    mine = stage.living()["acor"].claims.open["T1"].claim
    better = Claim(mine.score + 1, mine.stamp, "pato")
    objection = msg.ClaimAnswers(better=(msg.BetterClaim("T1", mine, better),))
    stage._hand("acor", ev.Received("pato", objection))
    stage.play(CONTESTED_S - 0.05)
    assert "T1" not in stage.living()["acor"].claims.open
    stage.play(0.1)
    assert "T1" in stage.living()["acor"].claims.open


def in_a_line() -> Stage:
    """Pato alone hears both of the others."""
    return at_their_desks("acor", "pato", "grifo", links=[("acor", "pato"), ("pato", "grifo")])


def test_new_work_is_passed_on_and_who_passes_it_on_wants_no_receipt() -> None:
    stage = in_a_line()
    stage.submit("acor", "bread", task("T1")).play(0.1)
    assert "T1" in stage.living()["grifo"].table.specs
    receipts = [entry for entry in stage.entries if isinstance(entry.what, msg.Stored)]
    assert [(each.who, each.to) for each in receipts] == [("pato", ("acor",))]


def test_what_a_claim_tells_of_its_task_is_passed_on_at_once() -> None:
    stage = in_a_line()
    submitted_before(stage, "T1", at="pato")
    claim = Claim(1, (stage.origin_ms, 0), "acor")
    life = Life(runs=(Run(1, 1, "acor", 1, claim, 1, phase=Evicted()),))
    offer = msg.ClaimOffer("T1", replace(claim, stamp=(stage.origin_ms + 1, 0)), life)
    stage._hand("pato", ev.Received("acor", msg.TryDequeue((offer,))))
    stage.play(0.05)
    assert stage.living()["grifo"].table.life("T1").runs == life.runs
