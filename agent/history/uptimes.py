"""How long each machine of the flock was up and down within working hours, as this one has seen it.

Whether results can be had depends on how long machines that hold them are switched on while somebody
wants them. So time counts from Monday to Friday, 8:00 to 18:00 by this machine's clock, and what was long
ago counts less. A member is up while it is linked. What this agent did not see, because it did not run
or its machine slept, counts as time in which this machine was down, and for the others not at all.

From that follows how many copies are enough (``policy.availability``). The numbers stay on this disk;
people are told shares, nothing else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from agent.api.datasets import CopiesView
from agent.api.errors import MembershipError, NotKeptError
from agent.host.private_files import PrivateFolder
from agent.protocol.events import Event, MembersChanged, PeerLinked, PeerUnlinked
from agent.protocol.policy.availability import by_copies, least_copies
from agent.protocol.records import NodeId

FOLDER, FILE = "uptimes", "members.json"
WORK_BEGINS, WORK_ENDS, WORK_DAYS = timedelta(hours=8), timedelta(hours=18), 5
LOOK_S, UNSEEN_S = 60.0, 300.0
"""Between two looks; after so long without one this agent did not run."""
WRITTEN_EVERY_S = 1_800.0
HALF_LIFE_S = 30 * 86_400.0
KNOWN_S_MIN = 4 * 3_600.0
"""So long a machine is watched before it counts."""
COPIES, COPIES_MAX, GOAL = 2, 5, 0.999

log = logging.getLogger(__name__)


class Uptimes:
    """Of all members, from ``begin`` to ``close``."""

    def __init__(
        self,
        me: NodeId,
        folder: Path,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._me, self._now_s = me, now_s
        self._folder = PrivateFolder(folder / FOLDER)
        self.copies = COPIES
        """That results get."""
        self._linked: dict[NodeId, None] = {}
        self._seen_s, self._written_s = 0.0, now_s()
        self._times = self._read()
        self._looking: asyncio.Task[None] | None = None

    def begin(self, members: tuple[NodeId, ...]) -> None:
        """Watch these members from now on; what passed since this agent ended, its machine was down."""
        self.look()
        self._belong(members)
        self._looking = asyncio.create_task(self._look_often())

    async def close(self) -> None:
        """Stop watching how long machines are up, and write what was seen to the disk; a failure is
        only logged. Do nothing before ``begin``."""
        if self._looking is not None:
            self._looking.cancel()
            self.look()
            await asyncio.to_thread(self._keep)

    def heed(self, event: Event) -> None:
        """Note from an event which machines belong to the flock, and forget the times of others, or
        which are linked from now on; other events are ignored."""
        match event:
            case MembersChanged():
                self.look()
                self._belong(event.members)
            case PeerLinked():
                self.look()
                self._linked[event.peer] = None
            case PeerUnlinked():
                self.look()
                self._linked.pop(event.peer, None)
            case _:
                pass

    def look(self) -> None:
        """Count the working hours since the last look as up, for this machine and those linked now,
        or as down for others; older times fade. After more than five minutes they count as down for
        this machine and not at all for others; nothing counts where the clock was set back."""
        since_s, now_s = self._seen_s, self._now_s()
        self._seen_s = now_s
        if not 0.0 < since_s < now_s:  # the first look, or the clock was set back
            return
        seen, worked_s = now_s - since_s <= UNSEEN_S, working_s(since_s, now_s)
        fades = 0.5 ** ((now_s - since_s) / HALF_LIFE_S)
        for node, (up_s, down_s) in self._times.items():
            up = seen and (node == self._me or node in self._linked)
            counts = seen or node == self._me
            self._times[node] = (
                up_s * fades + worked_s * (counts and up),
                down_s * fades + worked_s * (counts and not up),
            )

    def shares(self) -> dict[NodeId, float]:
        """Return for each machine in which share (0 to 1) of working hours it was up; those that were
        watched for less than four hours of them are left out."""
        return {
            node: up_s / (up_s + down_s)
            for node, (up_s, down_s) in self._times.items()
            if up_s + down_s >= KNOWN_S_MIN
        }

    def mostly_off(self, node: NodeId) -> bool:
        """Tell whether a machine was up for less than half of the time, as far as that is known."""
        up_s, down_s = self._times.get(node, (0.0, 0.0))
        return up_s + down_s >= KNOWN_S_MIN and up_s < down_s

    def advised(self) -> int:
        """Return how many copies are enough: two at least, and two while too little is known."""
        available = by_copies(list(self.shares().values()), COPIES_MAX)
        return least_copies(available, GOAL, COPIES) if len(available) >= COPIES else COPIES

    def view(self) -> CopiesView:
        """Look now, and return for people how many copies there are and are advised, how much of working
        hours they keep results available (nothing with too few machines), of each machine that was
        watched for long, by its id, for how much of them it was up, and how many hours of watching
        that rests on, on average."""
        self.look()
        shares = self.shares()
        hours = sum(up_s + down_s for up_s, down_s in self._times.values()) / 3_600
        available = by_copies(list(shares.values()), COPIES_MAX)
        return CopiesView(
            self.copies,
            self.advised(),
            available if len(available) >= COPIES else (),
            shares,
            hours / max(1, len(self._times)),
        )

    def _belong(self, members: tuple[NodeId, ...]) -> None:
        who = dict.fromkeys((self._me, *members))
        self._times = {each: self._times.get(each, (0.0, 0.0)) for each in who}

    async def _look_often(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self.look()
            if self._seen_s - self._written_s >= WRITTEN_EVERY_S:
                await asyncio.to_thread(self._keep)

    def _keep(self) -> None:
        """A disk that refuses is only logged, and asked again later."""
        self._written_s = self._seen_s
        times = {node: [round(each) for each in both] for node, both in self._times.items()}
        try:
            self._folder.prepare()
            self._folder.write(FILE, json.dumps({"seen": self._seen_s, "times": times}).encode())
        except (OSError, NotKeptError, MembershipError) as error:
            log.warning("how long machines were up is not kept: %s", error)

    def _read(self) -> dict[NodeId, tuple[float, float]]:
        """Without a file nothing is known; one that cannot be understood is begun anew."""
        try:
            text = self._folder.read(FILE)
            if text is None:
                return {}
            kept = json.loads(text)
            times = {
                str(node): (max(0.0, float(up_s)), max(0.0, float(down_s)))
                for node, (up_s, down_s) in kept["times"].items()
            }
            self._seen_s = float(kept["seen"])
        except (MembershipError, ValueError, KeyError, TypeError, AttributeError) as error:
            log.warning("how long machines were up cannot be read, and is begun anew: %s", error)
            return {}
        return times


def working_s(begins_s: float, ends_s: float) -> float:
    """Return how many seconds of a stretch of time lie within working hours, Monday to Friday from
    8:00 to 18:00 by this machine's clock; 0 where it ends before it begins."""
    begins, ends = (datetime.fromtimestamp(each) for each in (begins_s, ends_s))  # noqa: DTZ006
    midnight = datetime.combine(begins.date(), datetime.min.time())
    worked = timedelta()
    while midnight < ends:
        if midnight.weekday() < WORK_DAYS:
            within = min(ends, midnight + WORK_ENDS) - max(begins, midnight + WORK_BEGINS)
            worked += max(within, timedelta())
        midnight += timedelta(days=1)
    return worked.total_seconds()
