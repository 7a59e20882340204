"""What a machine has learned of its owner's absences, on its own disk and nowhere else.

The file lies in a folder of the agent's home that no other account can open. A stretch that goes on while the
agent ends is counted until it was last seen: whoever switches the machine off has ended it.
"""

from __future__ import annotations

import json
import logging
from datetime import datetime
from pathlib import Path

from agent.api.errors import MembershipError, NotKeptError
from agent.host.private_files import PrivateFolder
from agent.presence.absences import Absences, Spell
from agent.protocol.policy.lasting import Curve

FOLDER, FILE = "absences", "spells.json"
CURVE_KEPT_S = 300.0
"""For so long a curve that was made is told on."""
WRITTEN_EVERY_S = 1800.0

log = logging.getLogger(__name__)


class KeptAbsences:
    """Told of every look whether the machine is free; remembers, and says how likely it stays so."""

    def __init__(self, folder: Path) -> None:
        self._folder = PrivateFolder(folder / FOLDER)
        self._since_s: float | None = None
        self._seen_s, self._written_s, self._made_s = 0.0, 0.0, 0.0
        self._dirty = False
        self._curve: Curve = ()
        self.absences = self._read()

    def look(self, *, free: bool, wall_s: float) -> None:
        """Note whether the machine is free at a moment, in seconds since 1970, learn from the
        stretch of being free that ends by that, and renew ``curve`` where it is old. After a clock
        that was set back a stretch begins anew. Nothing is written before ``keep``."""
        now_s = local_s(wall_s)
        if now_s < self._seen_s:  # the clock was set back: what goes on began now
            self._since_s = now_s if free else None
        elif free != (self._since_s is not None):
            if self._since_s is not None:
                self.absences.note(Spell(self._since_s, now_s))
            self._since_s, self._made_s, self._dirty = (now_s if free else None), 0.0, True
        self._seen_s = now_s
        if not 0.0 <= now_s - self._made_s < CURVE_KEPT_S:
            since_s = self._since_s
            self._curve = () if since_s is None else self.absences.curve(now_s, since_s)
            self._made_s = now_s
        self._dirty = self._dirty or (free and now_s - self._written_s >= WRITTEN_EVERY_S)

    @property
    def curve(self) -> Curve:
        """How likely the machine stays free, as it may be told; empty while it is not free."""
        return self._curve

    @property
    def stays(self) -> bool:
        """Whether its owner, once back, mostly stays for longer than a run is kept for."""
        return self.absences.stays(self._seen_s)

    def keep(self) -> None:
        """Write what changed; a disk that refuses is only logged, and asked again with the next
        change."""
        if not self._dirty:
            return
        self._dirty, self._written_s = False, self._seen_s
        kept = {
            "since": self._since_s,
            "seen": self._seen_s,
            "spells": [[round(each) for each in spell] for spell in self.absences.spells],
        }
        try:
            self._folder.prepare()
            self._folder.write(FILE, json.dumps(kept).encode())
        except (OSError, NotKeptError, MembershipError) as error:
            log.warning("what was learned of absences is not kept: %s", error)

    def _read(self) -> Absences:
        """Without a file nothing is known; one that cannot be understood is begun anew."""
        try:
            text = self._folder.read(FILE)
            if text is None:
                return Absences()
            kept = json.loads(text)
            spells = [Spell(float(begins), float(ends)) for begins, ends in kept["spells"]]
            if kept["since"] is not None:
                spells.append(Spell(float(kept["since"]), float(kept["seen"])))
        except (MembershipError, ValueError, KeyError, TypeError) as error:
            log.warning("what was learned of absences cannot be read, and is begun anew: %s", error)
            return Absences()
        absences = Absences()
        for spell in spells:
            absences.note(spell)
        return absences


def local_s(wall_s: float) -> float:
    """Return a moment as the clock on the wall shows it here, in seconds from a Monday."""
    local = datetime.fromtimestamp(wall_s)  # noqa: DTZ006 - the machine's own zone
    return (local - datetime(1970, 1, 5)).total_seconds()  # noqa: DTZ001
