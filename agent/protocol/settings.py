"""Every limit and period of the protocol, in one place, with its unit.

The source (a 2014 prototype) waited 15 s at each dequeue and looked for failures each 60 s;
the values here are what links of a LAN allow once silence is never taken for consent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.protocol.reasons import Reason, tag_of


@dataclass(frozen=True, slots=True)
class Settings:
    """What a node is told about periods and bounds; the same on all nodes of a flock."""

    heartbeat_s: float = 0.5
    """A word on each link this often, in a large flock at every second of these ticks; every
    periodic duty hangs on the same tick."""
    beat_s_max: float = 1.5
    """A peer may say that its next word comes as late as this, and is not believed beyond."""
    suspect_after_s: float = 2.0
    """A peer that is so late with its word is not asked and not waited for any more."""
    down_after_s: float = 5.0
    """Silence after which a link counts as gone."""
    start_wait_s: float = 5.0
    """How long a starting node waits for known members before it works without them."""
    start_wait_s_max: float = 15.0
    """How long it waits for one that is up but shares no peer with it."""
    transfer_wait_s: float = 3.0
    """How long a newcomer waits for the table of one peer before it asks another."""
    promise_s: float = 15.0
    """A consent is kept this long at most."""
    claim_s: float = 10.0
    """A claimant gives up this long after it asked, well before any promise to it ends."""
    claim_repeat_s: float = 1.0
    """An unanswered claim is sent again this often: a message may be dropped on a living link."""
    late_s: float = 1.0
    """A timer handled later than this tells that the node slept: its open claims are void."""
    overdue_s: float = 1.0
    """A task that its planned node leaves lying this long is anybody's."""
    copy_after_s: float = 15.0
    """Of a task suspended this long a copy is begun where a machine has nothing else to do."""
    copies_max: int = 1
    """So many copies are made of one attempt at a task, at most."""
    copies_share: float = 0.25
    """Copies take at most this share of the flock's places, and one in any flock."""
    hand_back_s: float = 300.0
    """A task suspended this long is offered to the flock."""
    outputs_lost_after_s: float = 300.0
    """Holders that are down this long, while others wait for their data, are given up."""
    hash_differs_s: float = 1.0
    """Two tables whose hashes differ this long are compared."""
    hash_differs_busy_s: float = 15.0
    """The same, while the own table keeps changing: of nodes at work tables always differ, by what is
    on its way."""
    ask_again_s: float = 2.0
    """A record asked from one peer is asked from another after this long."""
    election_window_s: float = 1.0
    """Candidacies are collected this long."""
    unknown_delay_s: float = 0.2
    """Answers to the question for an unknown task are spread over this long."""
    progress_s: float = 1.0
    """Progress of a running task is told to the peers this often at most."""
    retention_ms: int = 30 * 24 * 3_600_000
    """Finished workflows are pruned after this long."""
    pruning_kept_ms: int = 400 * 24 * 3_600_000
    """Prunings themselves are kept this long."""
    clock_ahead_ms_max: int = 24 * 3_600_000
    """Stamps further ahead than this move no clock."""
    nearly_done_ms: int = 5_000
    """A superseded run that expects to end within this long is let end."""
    copies: int = 2
    """Outputs are on this many disks before their task has ended."""
    deaths_max: int = 5
    """Agents that die under a task of one generation before it is given up."""
    claims_per_message_max: int = 64
    """Short tasks are claimed together, up to this many."""
    tell_within_s: float = 0.25
    """Words of short tasks that nobody waits for are told together, up to this much later."""
    row_told_after_s: float = 2.0
    """Of short tasks that lie in a node's row its peers are told only that they have ended, unless
    that takes longer than this."""
    records_per_message_max: int = 500
    """Records are transferred in pieces of this many."""
    orphans_max: int = 10_000
    """Parts of lives kept for tasks whose workflow is not known yet."""
    story_entries_max: int = 24
    """What is remembered of each task's moves."""
    words: Callable[[Reason], str] = tag_of
    """A reason in words, for peers of versions that read no reasons."""
