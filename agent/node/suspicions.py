"""What members were seen to do that no honest machine does, as far as this node knows.

Records that it does not take in (``agent.protocol.checking``), where who sent them is not named, as it may
only have passed them on; members that keep work from beginning; results that contradict each other.
`wingbeat doctor` tells all of it, and the log each once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from agent.api.flock import FindingKind
from agent.api.reasons import Diagnosis, DiagnosisKind, MachineNamed
from agent.protocol.checking import Fault, Refusal
from agent.protocol.records import NodeId, TaskId
from agent.protocol.sharing_reasons import ResultsDiffer
from agent.protocol.table import Table
from agent.wording.speech import english

DOUBTFUL_NAMED_MAX = 20
log = logging.getLogger(__name__)

_FAULTS: dict[Fault, DiagnosisKind] = {
    Fault.DATA: "DataNotForThem",
    Fault.FORGED: "RecordsForged",
    Fault.NOT_THEIRS: "RecordsNotTheirs",
    Fault.TOO_MUCH: "RecordsTooMany",
    Fault.UNSIGNED: "RecordsUnsigned",
}


class Witness(Protocol):
    """Who has seen it; ``agent.protocol.node.Node``."""

    @property
    def refused(self) -> Mapping[Refusal, int]:
        """How many records were not taken in, by why and in whose name they were."""

    @property
    def in_the_way(self) -> tuple[NodeId, ...]:
        """The members whose word on claims is not waited for."""

    @property
    def doubtful(self) -> Mapping[TaskId, ResultsDiffer]:
        """The tasks that two machines finished with different results."""

    @property
    def table(self) -> Table:
        """The table with those tasks."""


class Suspicion(NamedTuple):
    """One of them. ``of`` is what it is known by: how often it was seen, and what somebody is called,
    may change."""

    of: tuple[str, ...]
    kind: FindingKind
    why: Diagnosis
    subject: str


def suspicions(seen: Witness, name_of: Callable[[NodeId], str]) -> Iterator[Suspicion]:
    """Yield what this node suspects: members that forge records or say what is not theirs, those
    that hinder claims, and some tasks whose results differ."""
    for (fault, author), count in sorted(seen.refused.items()):
        if author:
            peer = MachineNamed(name_of(author))
            why = Diagnosis(_FAULTS[fault], peer, count=count)
            yield Suspicion((fault.name, author), "forged", why, peer.name)
    for node in seen.in_the_way:
        peer = MachineNamed(name_of(node))
        why = Diagnosis("PeerInTheWay", peer)
        yield Suspicion(("in the way", node), "in the way", why, peer.name)
    specs = seen.table.specs
    for task, each in [*seen.doubtful.items()][:DOUBTFUL_NAMED_MAX]:
        name = specs[task].name if task in specs else task
        places = (name_of(each.host), name_of(each.other))
        why = Diagnosis("ResultsDiffer", name=name, places=places)
        yield Suspicion(("doubtful", task, each.host, each.other), "doubtful", why, name)


class SuspicionLog:
    """Tells the log of each once, and again when it had gone meanwhile."""

    def __init__(self) -> None:
        self._known: frozenset[tuple[str, ...]] = frozenset()

    def look(self, found: Iterable[Suspicion]) -> None:
        """Log the suspicions that were not there at the last look, and remember these for the
        next."""
        every = tuple(found)
        for each in every:
            if each.of not in self._known:
                log.warning("%s", english(each.why))
        self._known = frozenset(each.of for each in every)
