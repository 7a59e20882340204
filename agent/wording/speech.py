"""How a reason is said: its sentence, with its values in their places.

``Speech`` speaks English, for the command line, the log and clients that know no reasons. The window
derives its own, with other words, its languages and its own way to say times and sizes.

Above it is how times and shares are said to a person.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, tzinfo
from typing import Any

from agent.api.programs import bare_name
from agent.api.reasons import Diagnosis, NobodyAllows, Opaque, Reason
from agent.api.values import TaskState
from agent.api.wording import moment as minute
from agent.api.work import Basis
from agent.protocol.link_reasons import NoLink, NoMulticast
from agent.protocol.names import visible_lines
from agent.protocol.reasons import (
    Became,
    Cancelled,
    EndCause,
    FailedOften,
    FailedOnce,
    RunEnd,
    Withholds,
)
from agent.wording.english import CLAUSES, EVENTS, SENTENCES, SIGHTS, SOURCES, STATES, UNKNOWN

OF_A_KIND = (EndCause, RunEnd, NoLink, NoMulticast, Diagnosis, Withholds, NobodyAllows)
"""Reasons that have a sentence for each kind."""
NAMED_MAX = 4
"""So many machines or programs are named in a sentence."""
PLACES: dict[str, dict[str, str]] = {
    "at_ms": {"ago": "length"},
    "since_ms": {"time": "length"},
    "until_ms": {"when": "moment"},
    "begins_ms": {"soon": "ahead"},
    "dated_ms": {"date": "date"},
    "length_ms": {"length": "span"},
    "peer": {"peer": "say"},
    "submitted_ms": {"submitted": "moment"},
    "names": {"names": "listed"},
    "people": {"people": "listed"},
    "tasks": {"tasks": "listed"},
    "places": {"places": "listed"},
    "size_mb": {"size": "size"},
    "kept_mb": {"kept_size": "size"},
    "sight": {"what": "sight"},
    "source": {"source": "source"},
    "why": {"why": "say", "why_large": "beginning", "because": "because"},
    "state": {"state": "state"},
    "event": {"event": "event"},
    "whys": {"why": "every"},
    "load_percent": {"load": "load"},
    "open_ended": {"until": "open_end"},
    "took_bytes": {"took": "amount"},
    "limit_bytes": {"bound": "amount"},
    "disk_left_bytes": {"scarce": "scarce"},
    "hosts": {"hosts": "several", "run": "run"},
    "busy": {"busy": "several"},
    "programs": {"programs": "several", "them": "them"},
    "merits": {"merits": "merits"},
    "speed_percent": {"times": "times"},
}
"""By the name of a field: the places of a sentence that it fills, and the method that says how."""
CLAUSED: dict[str, tuple[str, str, str]] = {
    "by": ("by", "by", "way"),
    "error": ("last", "last", "error"),
    "host": ("on", "on", "host"),
    "last": ("said", "said", "last"),
    "left": ("left", "left", "host"),
    "user": ("by_user", "user", "user"),
}
"""By the name of a field: the place that is left empty where there is nothing in it, and else holds
this clause, with the value in that place of it."""


def megabytes(count: int) -> str:
    """Return a number of bytes as people read it, in whole MB, below one in whole kB."""
    return f"{count / 1_000_000:,.0f} MB" if count >= 1_000_000 else f"{count / 1_000:,.0f} kB"


def long(seconds: float) -> str:
    """Return a length of time, roughly: 12 s, 5 min, 3 h, 2 days; 0 s for one below nothing."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if seconds < 36 * 3600:
        return f"{round(seconds / 3600)} h"
    return f"{round(seconds / 86_400)} days"


def moment(at_s: float, now_s: float, zone: tzinfo | None) -> str:
    """Return a moment of the local clock (``zone``, if given) as text: the time of day, and the
    weekday before it within the coming week, else the date, where that is not today; ``second N``
    for one that no calendar holds, as another machine may tell it."""
    try:
        at, now = datetime.fromtimestamp(at_s, zone), datetime.fromtimestamp(now_s, zone)
    except (OverflowError, OSError, ValueError):
        return f"second {at_s:.0f}"
    text = f"{at.hour:02d}:{at.minute:02d}"
    if at.date() == now.date():
        return text
    days = (at.date() - now.date()).days
    day = at.strftime("%A") if 0 < days < 7 else f"{at.date()}"
    return f"{day} {text}"


def listed(names: tuple[str, ...]) -> str:
    """Return names as they stand in a sentence: a, b and c; empty for none."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def state_word(state: str) -> str:
    """Return what the state of a task, workflow or run is called, the same wherever it is told."""
    return STATES.get(state, state)


def counts_in_words(counts: Mapping[TaskState, int]) -> str:
    """Return how many tasks are in which state, as "4 done, 1 failed"; empty for none."""
    order = list(STATES)
    found = sorted(counts, key=lambda state: order.index(state.value))
    return ", ".join(f"{counts[state]} {state_word(state.value)}" for state in found)


class Speech:
    """Says reasons at one moment. ``machine`` and ``task`` say what ids are called."""

    ends_told: tuple[type[Reason], ...] = (FailedOften, FailedOnce, Cancelled)
    """Reasons that say themselves what became of a task."""

    def __init__(
        self,
        now_ms: int | None = None,
        zone: tzinfo | None = None,
        machine: Callable[[str], str] = str,
        task: Callable[[str], str] = str,
    ) -> None:
        self.now_ms = round(time.time() * 1000) if now_ms is None else now_ms
        self._zone, self.machine, self.task = zone, machine, task

    def say(self, reason: Reason | None) -> str:
        """Return the sentence of a reason, a word like <U+202E> in the place of each invisible
        character; empty for None, and for an ``Opaque`` one its own text. Raise ``KeyError`` for a
        type that has no sentence."""
        if reason is None:
            return ""
        if isinstance(reason, Became) and isinstance(reason.why, self.ends_told):
            return self.say(reason.why)
        if isinstance(reason, Opaque):
            return visible_lines(reason.text)
        key = reason.kind if isinstance(reason, OF_A_KIND) else type(reason)
        return visible_lines(self.filled(SENTENCES[key], self._values(reason)).strip())

    def filled(self, template: str, values: dict[str, Any]) -> str:
        """Return a sentence with its values in the places in braces. Where it has ``%n``, that is
        ``count``, and each ``(s)`` is an "s" unless that is 1; without ``count`` it reads "None".
        Raises ``KeyError`` where a place in braces has no value."""
        count = values.get("count")
        if "%n" in template:
            template = template.replace("%n", str(count)).replace("(s)", "" if count == 1 else "s")
        return template.format_map(values)

    # -- how values are said -----------------------------------------------------------------------

    def length(self, since_ms: int) -> str:
        """Return the time that has passed since a moment."""
        return long((self.now_ms - since_ms) / 1000)

    def ahead(self, at_ms: int) -> str:
        """Return the time that is left until a moment, at least a second."""
        return self.span(max(1_000, round((at_ms - self.now_ms) / 1000) * 1000))

    def moment(self, at_ms: int) -> str:
        """Return a moment of the local clock."""
        return moment(at_ms / 1000, self.now_ms / 1000, self._zone)

    def date(self, at_ms: int) -> str:
        """Return a moment with its date, which two machines may compare."""
        return minute(at_ms / 1000)

    def span(self, length_ms: int) -> str:
        """Return a length of time, below ten seconds to the tenth."""
        short = 0 < length_ms < 10_000 and length_ms % 1000
        return f"{length_ms / 1000:.1f} s" if short else long(length_ms / 1000)

    def size(self, size_mb: int) -> str:
        """Return how much memory or disk that is."""
        return f"{size_mb} MB"

    def amount(self, count: int) -> str:
        """Return how many bytes that is."""
        return megabytes(count)

    def listed(self, names: Iterable[str]) -> str:
        """Return names in a row."""
        return listed(tuple(names))

    def word(self, text: str) -> str:
        """Return a word or part of a sentence that is the same wherever it stands; here it is as
        given."""
        return text

    def beginning(self, reason: Reason | None) -> str:
        """Return a reason that begins its sentence."""
        text = self.say(reason)
        return text[:1].upper() + text[1:]

    def every(self, reasons: tuple[Reason, ...]) -> str:
        """Return the sentences of several reasons in a row, each once."""
        return "; ".join(dict.fromkeys(map(self.say, reasons)))

    def sight(self, kind: str) -> str:
        """Return what a blind source does not see."""
        return self.word(SIGHTS.get(kind, kind))

    def source(self, kind: str) -> str:
        """Return what a source is called."""
        return self.word(SOURCES.get(kind, kind))

    def basis(self, basis: Basis | None) -> str:
        """Return what a guess of time stands on, in words to be said behind the guess; empty for
        None and where nothing was guessed."""
        if basis is None:
            return ""
        parts = [self._runs(basis)] if basis.runs else []
        parts += [self._clause(name) for name in ("told", "progress") if getattr(basis, name)]
        return self._clause("stands", what=self.listed(parts)) if parts else ""

    def _runs(self, basis: Basis) -> str:
        """How many there were, and between which lengths most of them lay where that is a span."""
        low, high = self.span(basis.low_ms), self.span(basis.high_ms)
        if not basis.high_ms or low == high:
            return self._clause("runs", count=basis.runs)
        return self._clause("runs between", count=basis.runs, low=low, high=high)

    def load(self, percent: int | None) -> str:
        """Return how busy others keep the processor; empty where that is not seen."""
        return "" if percent is None else self._clause("load", load_percent=percent)

    def scarce(self, left_bytes: int) -> str:
        """Return how full the disk was, where that may be why; else empty."""
        return self._clause("scarce", left=self.amount(left_bytes)) if left_bytes else ""

    def several(self, names: tuple[str, ...]) -> str:
        """Return names as they stand in a sentence; of more than ``NAMED_MAX`` the first three, and
        how many others there are."""
        if len(names) <= NAMED_MAX:
            return self.listed(names)
        shown = names[: NAMED_MAX - 1]
        return self.listed((*shown, self._clause("others", count=len(names) - len(shown))))

    def run(self, hosts: tuple[str, ...]) -> str:
        """Return the verb of one machine or of several."""
        return "runs" if len(hosts) == 1 else "run"

    def them(self, programs: tuple[str, ...]) -> str:
        """Return the pronoun of one program or of several."""
        return "it" if len(programs) == 1 else "them"

    def because(self, reason: Reason | None) -> str:
        """Return why something came to be so; empty where that is not told."""
        return "" if reason is None else self._clause("because", why=self.say(reason))

    def merits(self, reasons: tuple[Reason, ...]) -> str:
        """Return what speaks for a machine, as it is said behind what it does; empty where nothing
        does that is known."""
        return self._clause("merits", what=", ".join(map(self.say, reasons))) if reasons else ""

    def times(self, percent: int) -> str:
        """Return how many times as much that is, to the tenth."""
        return f"{percent / 100:.1f}"

    def state(self, state: str) -> str:
        """Return the state of a task, in words."""
        return state_word(state)

    def event(self, event: str) -> str:
        """Return what happened in the flock."""
        return self.word(EVENTS.get(event, event))

    def open_end(self, open_ended: bool) -> str:
        """Return that a pause has no end yet; empty where it has one."""
        return self._clause("until") if open_ended else ""

    # -- inside ------------------------------------------------------------------------------------

    def _clause(self, name: str, **values: object) -> str:
        return self.filled(CLAUSES[name], values)

    def _values(self, reason: Reason) -> dict[str, Any]:
        values: dict[str, Any] = {}
        cause = getattr(reason, "cause", None)
        for field in reason.__struct_fields__:
            value = self.say(cause) if cause and field == "error" else getattr(reason, field)
            if field == "program" and isinstance(reason, EndCause | Withholds):
                value = bare_name(value)  # which one of this name it was stands beside the task
            values[field] = value or self.word(UNKNOWN.get(field, "")) or value
            for place, method in PLACES.get(field, {}).items():
                values[place] = getattr(self, method)(value)
            if field in CLAUSED:
                place, clause, within = CLAUSED[field]
                values[place] = self._clause(clause, **{within: value}) if value else ""
        return values


def english(reason: Reason) -> str:
    """Return a reason in English, as it is said now and here, for whoever knows no reasons."""
    return Speech().say(reason)
