"""What is told of records of members that this node does not take in (``agent.protocol.checking``).

`wingbeat doctor` counts them; the log tells once of whom, and why. Who sent them is not named: it may
only have passed them on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from agent.api.reasons import Diagnosis, DiagnosisKind, MachineNamed
from agent.protocol.checking import Fault, Refusal
from agent.protocol.records import NodeId
from agent.wording.speech import english

log = logging.getLogger(__name__)

_FAULTS: dict[Fault, DiagnosisKind] = {
    Fault.DATA: "DataNotForThem",
    Fault.FORGED: "RecordsForged",
    Fault.NOT_THEIRS: "RecordsNotTheirs",
    Fault.TOO_MUCH: "RecordsTooMany",
    Fault.UNSIGNED: "RecordsUnsigned",
}


def refused_records(
    refused: Mapping[Refusal, int], name_of: Callable[[NodeId], str]
) -> tuple[Diagnosis, ...]:
    """Return what there is to say of records that were not taken in, in the order of who is named in
    them; of those in nobody's name nothing."""
    return tuple(
        Diagnosis(_FAULTS[fault], MachineNamed(name_of(author)), count=count)
        for (fault, author), count in sorted(refused.items())
        if author
    )


class RefusedLog:
    """Tells the log of each author and fault once."""

    def __init__(self) -> None:
        self._told: dict[Refusal, None] = {}

    def tell(self, refused: Mapping[Refusal, int], name_of: Callable[[NodeId], str]) -> None:
        """Log what was not logged before."""
        new = {each: count for each, count in refused.items() if each not in self._told}
        self._told.update(dict.fromkeys(new))
        for each in refused_records(new, name_of):
            log.warning("%s", english(each))
