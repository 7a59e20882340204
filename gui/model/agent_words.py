"""The agent's sentences in the language of the person.

The agent speaks English in its log and to all clients. Its sentences about why something waits or
pauses are few and of fixed form; those are known here and said again in the person's language. One
that is not known is shown as the agent said it: better foreign than missing.
"""

from __future__ import annotations

import re

from agent.api.values import TaskState
from gui.model.agent_sentences import CAUSES, FITTING, PRESENCE, REFUSALS, SIGHT, WORK, Table
from gui.model.marks import state_words
from gui.model.times import size
from gui.words import tr, tr_n

_PATTERNS: Table = (
    *WORK,
    *PRESENCE,
    (r"(?:Helping: )?set to always", lambda: tr("Helps always")),
    (r"set to paused", lambda: tr("Does not help: switched off")),
    (r"paused by its owner", lambda: tr("paused by its owner")),
    (r"nobody uses it", lambda: tr("nobody uses it")),
    (r"finishing what it runs", lambda: tr("finishes what runs, then pauses")),
    (r"somebody uses it|in use by its owner|somebody else uses it", lambda: tr("somebody uses it")),
    (r"outside its hours", lambda: tr("outside its hours")),
    (r"starting", lambda: tr("Starting …")),
    (r"cancelled", lambda: tr("cancelled")),
    (r"failed: (?P<why>.+)", lambda: "{why}"),
    (
        r"(?P<task>.+) is aborted: it (?P<why>failed \d+ times.*)",
        lambda: "{task}: {why}",
    ),
    (r"(?P<task>.+) is aborted: (?:it )?failed: (?P<why>.+)", lambda: tr("{task} failed: {why}")),
    (r"(?P<task>.+) is (?:aborted|cancelled): (?P<why>.+)", lambda: "{why}"),
    (r"(?P<task>.+) is cancelled", lambda: tr("{task} was cancelled")),
    (
        r"(?P<task>.+) needs (?P<what>.+) of (?P<gate>.+): attach it\.?",
        lambda: tr("{task} needs {what} of {gate}: attach it."),
    ),
    (r"claimed (?:ahead )?by (?P<host>.+)", lambda: tr("taken by {host}")),
    (r"(?P<task>.+) runs on (?P<host>.+)", lambda: tr("{task} runs on {host}")),
    (r"(?P<task>.+) finished on (?P<host>.+)", lambda: tr("{task} finished on {host}")),
    (
        r"(?P<host>.+) has taken (?P<task>.+) and fetches its inputs",
        lambda: tr("{host} has taken {task} and fetches its inputs"),
    ),
    (
        r"(?P<task>.+) is suspended on (?P<host>.+), whose owner needs the machine",
        lambda: tr("{task} is suspended on {host}: its owner needs the machine"),
    ),
    (
        r"(?P<task>.+) waits until a person marks it done: (?P<asks>.+)",
        lambda: tr("{task} waits until a person marks it done: {asks}"),
    ),
    *SIGHT,
    *REFUSALS,
    *FITTING,
    # The sentence of a task behind its name, where nothing above says both.
    (r"(?P<task>.+?) (?P<why>(?:waits for|needs) .+)", lambda: "{task} {why}"),
)
_STATES = {state.value: state for state in TaskState}
NESTED = ("why", "what")
LISTS = ("hosts", "programs", "names")
SIZES_MB = ("size", "kept_size")
MB = 1_000_000
TOLD_BY = "told by "
OUTPUTS_SAFE = "the outputs are kept safe"
"""What set off the end of a task, and so the beginning of those that needed it."""
_COMPILED = tuple((re.compile(pattern, re.DOTALL), said) for pattern, said in _PATTERNS)


_TIMES = re.compile(r"failed (?P<times>\d+) times(?:, last: (?P<why>.+))?", re.DOTALL)
_MOVE = re.compile(r"(?P<state>[A-Z]\w+)(?P<where> on .+?)?(?:: (?P<why>.+))?", re.DOTALL)


def move_words(what: str) -> str:
    """One line of a task's story: the state in a word, where, and why."""
    found = _MOVE.fullmatch(what)
    if found is None or found["state"] not in _STATES:
        return translated(what)
    said = state_words(_STATES[found["state"]])
    where = (found["where"] or "").removeprefix(" on ")
    if where:
        said = tr("{what} on {machine}", what=said, machine=where)
    why = found["why"] or ""
    if why.startswith("failed"):
        return translated(why) if _TIMES.fullmatch(why) else f"{said}: {translated(why)}"
    return f"{said}: {translated(why)}" if why else said


def story_line(what: str, cause: str) -> str:
    """A move, and what set it off where that says more than that some machine passed it on."""
    said = move_words(what)
    if not cause or cause.startswith(TOLD_BY):
        return said
    if cause == OUTPUTS_SAFE and not what.startswith(TaskState.TERMINATED.value):
        begun = tr("what it needs is there")
        return f"{said} ({begun})"
    return f"{said} ({cause_words(cause)})"


def cause_words(cause: str) -> str:
    """What set a move off."""
    if cause.startswith(TOLD_BY):
        return tr("told by {machine}", machine=cause.removeprefix(TOLD_BY))
    known = CAUSES.get(cause)
    return known() if known is not None else cause


def translated(sentence: str) -> str:
    """As it is said here, or as it came."""
    bare = sentence.strip()
    times = _TIMES.fullmatch(bare)
    if times is not None:
        return _so_often(int(times["times"]), times["why"])
    for pattern, said in _COMPILED:
        found = pattern.fullmatch(bare)
        if found is not None:
            text = said()
            values = {key: _within(key, value) for key, value in found.groupdict().items()}
            return text.format(**values).strip() if values else text
    return sentence


def sentence_in_our_words(sentence: str) -> str:
    """The same where it stands by itself: it begins large, and ends without its dot."""
    said = translated(sentence).rstrip(".")
    return said[:1].upper() + said[1:]


def refusal_in_our_words(sentence: str) -> str:
    """What the agent refuses comes as a whole sentence, and is known without its beginning."""
    bare = sentence.rstrip(".")
    for each in (bare, bare[:1].lower() + bare[1:]):
        said = translated(each)
        if said != each:
            return f"{said[:1].upper()}{said[1:].rstrip('.')}."
    return sentence


def _within(key: str, value: str | None) -> str:
    """Reasons within sentences are sentences of the agent too."""
    if key == "state" and value in _STATES:
        return state_words(_STATES[value])
    if value and key in SIZES_MB:
        return size(int(value) * MB)
    if value and key in LISTS:
        first, joined, last = value.rpartition(" and ")
        return tr("{first} and {last}", first=first, last=last) if joined else value
    return translated(value) if value and key in NESTED else value or ""


def _so_often(count: int, why: str | None) -> str:
    said = tr_n("failed %n time(s)", "", count)
    return tr("{said}, last: {why}", said=said, why=why) if why else said
