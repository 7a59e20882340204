"""What clients of other members see of this machine: whether it helps now."""

from __future__ import annotations

import msgspec

from agent.api import presence_reasons, session
from agent.api.reasons import as_why, reason_of
from agent.api.work import NodeView
from agent.control.colleagues import for_colleagues, told_to_colleagues
from agent.control.event_log import EventLog
from agent.control.limits import Limits
from agent.protocol.reasons import HelpsNotNow, SetToAlways

TYPED = presence_reasons.HeldByMouse(1_700_000_000_000)
OWN = NodeView("n", "acor", "1", "office", False, "you moved the mouse", True, 1, why=as_why(TYPED))
CHANGED = session.VolunteeringChanged(False, True, "you moved it", True, why=as_why(TYPED))


def test_a_row_says_nothing_of_its_owner() -> None:
    shown = for_colleagues(OWN)
    assert reason_of(shown.why, shown.reason) == HelpsNotNow()
    assert (shown.owner_present, shown.reason) == (False, "it does not help now")


def test_a_row_says_how_the_machine_is_set_up() -> None:
    helps = msgspec.structs.replace(OWN, why=as_why(SetToAlways()), volunteering=True)
    assert reason_of(for_colleagues(helps).why, "") == SetToAlways()


def test_events_say_no_more_to_members_and_all_to_its_own_screens() -> None:
    log = EventLog(Limits())
    log.record(CHANGED)
    log.record(session.PeerChanged("n", own=OWN))
    log.record(session.PeerChanged("m"))
    here, there = (b"".join(log.lines_after(0, far=far)) for far in (False, True))
    for word in (b"HeldByMouse", b"you moved"):
        assert word in here
        assert word not in there
    assert there.count(b"HelpsNotNow") == 2
    unchanged = session.PeerChanged("m")
    assert told_to_colleagues(unchanged) is unchanged
