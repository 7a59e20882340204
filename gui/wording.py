"""What the agent tells, in the words and the language of the person: reasons become sentences here.

The agent's own English is the key of a translation, so a new reason needs nothing here. The window
says some of it in other words: shorter, and of "this computer" where the agent says "machine".
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from msgspec import Raw

from agent.api.phrases import worded
from agent.api.presence_reasons import HelpsSoon, NoScreen
from agent.api.reasons import (
    NO_WHY,
    AcceptanceNeeded,
    Cancelled,
    FailedOften,
    TaskFailed,
    TaskFailedOnce,
    ToldBy,
    reason_of,
)
from agent.api.values import TaskState
from agent.api.work import Move
from agent.client import RequestError
from agent.wording.copies import KEEP, MORE, NOT_KNOWN
from agent.wording.english import CLAUSES, EVENTS, HOW_TO_ANSWER, SENTENCES, SIGHTS, UNKNOWN
from agent.wording.rules import RULES
from agent.wording.speech import Speech
from agent.workflow.submission import ProgressStep
from gui.model.marks import state_words
from gui.model.times import clock, size, span
from gui.words import tr, tr_n

MB = 1_000_000
_STATES = {state.value: state for state in TaskState}
WEEK_DAYS = 7
BY = "{by}"
NOT_TAKEN = "{host} does not take the published program {program} until it is allowed there"
FOUND = {
    "ListensNowhere": "other machines cannot reach this computer: quit Wingbeat here and start it again",
    "JournalMended": "something on the disk of this computer was damaged and has been mended; what is "
    "missing comes from the other machines by itself",
    "DiskOfDataFull": "the disk with {folder} is full: make room there; until then no new work is taken",
    "ConfinedNothing": "programs cannot be kept apart on this computer, so it takes no work of others: "
    "{error}",
    "ConfinementOff": "programs have all rights of this account here",
    "DiscoveryOff": "looking for machines is switched off here: type their addresses in Settings, under "
    "This computer",
    "MulticastUnusable": "machines do not find each other on this network ({why}): type their addresses in "
    "Settings, under This computer",
    "DefaultsWrong": "what was laid down for all users of this computer is wrong; the rest of it holds. Tell "
    "whoever looks after it: {error}",
    "LaidDownUnknown": "something was laid down for this computer that this version does not know. Tell whoever "
    "looks after it: {error}",
    "PolicyWrong": "the policy of this computer is wrong, and until it is mended this computer helps nobody. "
    "Tell whoever looks after it: {error}",
    "OwnerOverruled": "your own setting of {name} does nothing, for an administrator has fixed it in {folder}",
    "NobodyHeard": "no other machine is found on this network: a firewall may be in between, or the network "
    "keeps its machines apart (Wi-Fi for guests does); whoever looks after it can let UDP 5353 and TCP "
    "{port} pass, or you type the addresses of machines in Settings, under This computer",
    "OtherPort": "another program was there first, so this computer is reached at port {port}: a firewall "
    "may have to let that pass",
    "InvitationInVain": "this computer was to join a flock by an invitation that was laid down for it "
    "({folder}), and cannot: {error}",
    "JoinsByInvitation": "this computer joins a flock by an invitation that was laid down for it, as soon "
    "as {places} can be reached{last}",
    "NoFlock": "this computer belongs to no flock yet: join one, or create one, under Flock",
    "OwnCertificateFrom": "by the clock here this computer belongs to its flock only from {date} on, so "
    "nobody lets it in: if the clock is right, leave the flock and join again with a new invitation",
    "OwnCertificateUntil": "this computer belonged to its flock until {date}, so nobody lets it in any "
    "more: if the clock here is right, leave the flock and join again with a new invitation",
    "OtherFlockHere": "another flock is on this network too: if the machine that you miss belongs there, "
    "let it leave that one and join yours",
    "OtherFlocksHere": "{count} other flocks are on this network too: if the machine that you miss belongs "
    "to one of them, let it leave that and join yours",
    "OwnIdentityCopied": "another machine was set up as a copy of this one, so the two cannot be told "
    "apart: on the copy, quit Wingbeat, delete {folder} and join again with a new invitation",
    "IdentityOfTwo": "two machines call themselves {peer} and cannot be told apart (at {places}), as one was "
    "set up as a copy of the other: on the copy, quit Wingbeat, delete its data (here that is {folder}) and "
    "join again with a new invitation",
    "PeerInTheWay": "{peer} kept tasks from beginning and gave no reason that holds, so nobody waits for it any "
    "more: update or restart Wingbeat there, or have the machine sent away",
    "ResultsDiffer": "{name} was finished with different results by {places}: run it again on another "
    "machine and compare, as its program may also give something else each time",
    "PeerLost": "{peer} was here and is gone: it may be switched off or asleep, or its network is down",
    "PeerUnreachable": "{peer} does not answer: it may be switched off or asleep, on another network, or its "
    "firewall keeps Wingbeat out",
    "UnheardOne": "nothing was heard of {peer} since this computer started Wingbeat: it may be switched off, "
    "on another network, or Wingbeat does not run there",
    "UnheardMany": "nothing was heard of {name} and {count} more since this computer started Wingbeat: they "
    "may be switched off, on another network, or Wingbeat does not run there",
    "PeerBusy": "{peer} has too much to answer just now: wait a minute",
    "PeerSlow": "{peer} answers too slowly: it or its network is very busy",
    "PeerElsewhere": "another machine answers where {peer} was ({address}): if its address was typed here, "
    "correct it in Settings, under This computer",
    "PeerNotWingbeat": "another program answers where {peer} should ({address}): if the address was typed "
    "here, correct it in Settings, under This computer",
    "PeerOfOtherFlock": "{peer} belongs to another flock: let it leave that one, and join this one again "
    "with a new invitation",
    "PeerRefuses": "{peer} and this computer do not accept each other ({why}): compare the clocks of both; "
    "if one of them was sent away, let it join again with a new invitation",
    "PeerUnreadable": "{peer} and this computer do not understand each other: update Wingbeat on both",
    "ActWaits": "{places} wants to change who may do what in the flock, which takes two administrators: "
    "another one has to say the same",
    "AuditCut": "the audit of {name} is not what it was: it had {count} entries, and some were cut off or "
    "written anew. Somebody with that computer's account did so, or it was set back",
    "FlockHasNoActs": "the flock {name} has no administrators yet, so {places} may do everything in it: "
    "whoever looks after it can change that",
    "KeyInClear": "the key of the flock lies on this computer as it is, for the key store of your account "
    "is not open",
    "RulesDiffer": "this computer decides by the rules {name} who runs what, and by others do {places}: "
    "they may run another version of Wingbeat, so install the same one on all",
    "SentAway": "this computer was sent away from {name}: leave the flock, and join again with a new "
    "invitation",
}
"""What *Find out why* says of what is wrong, by its kind: what may be the matter and what a person can do,
without commands and files."""
OTHERWISE = {
    "starting": "Starting …",
    "set to always": "Helps always",
    "finishing what it runs": "finishes what runs, then pauses",
    "somebody else uses it": "somebody uses it",
    "this agent was not started in a graphical session": (
        "the agent was not started in a graphical session"
    ),
    SENTENCES[NoScreen]: (
        "the agent was not started in a graphical session; start it from the desktop, or let "
        "it help always"
    ),
    "failed: {error}": "{error}",
    "it failed on {host}{because}": "on {host}{because}",
    "the agent of {host} died running it": "{host} went away while it ran",
    "the agent of {host} died before it began": "{host} went away before it began",
    "claimed by {host}": "taken by {host}",
    "claimed ahead by {host}": "taken by {host}",
    "{host} does not take the published program {program}": NOT_TAKEN,
    "{host} does not take the published program {program}: `wingbeat permissions` there tells who "
    "asks, and lets it": NOT_TAKEN,
    "1 of 1 machine helps now, none has taken it yet": (
        "machines that help now: 1 of 1; none has taken it yet"
    ),
    "{count} of {every} machines help now, none has taken it yet": (
        "machines that help now: {count} of {every}; none has taken it yet"
    ),
    "{task} is cancelled": "{task} was cancelled",
    "{task} is cancelled, still being stopped on {hosts}": (
        "{task} was cancelled, and is still being stopped on {hosts}"
    ),
    SENTENCES[TaskFailedOnce]: "{task} failed: {error}",
    SENTENCES[TaskFailed]: "{task}: {why}",
    "{task} failed: {why}": "{why}",
    "{task} is cancelled: {why}": "{why}",
    "{host} could run it, and its slot is taken": "{host} could run it, and is busy",
    "{host} could run it, and all its {slots} slots are taken": (
        "{host} could run it, and is busy with {slots} tasks"
    ),
    SENTENCES[AcceptanceNeeded]: "Somebody on {hosts} has to allow {programs} first",
    "Finishing this task, then paused{until}": "Finishes this task, then pauses",
    "Finishing {count} tasks, then paused{until}": "Finishes {count} tasks, then pauses",
    "Paused: it is outside its hours": "Paused: outside its hours",
    "Paused: {names} uses this machine": "Paused: {names} uses this computer",
    "Paused: this machine runs on battery": "Paused: this computer runs on battery",
    "Paused: this machine was plugged in only {ago} ago": (
        "Paused: this computer was plugged in only {ago} ago"
    ),
    "Paused: cannot see {what}, because {why}": "Paused: {what} cannot be seen ({why})",
    "whether this machine is on mains": "whether this computer is on mains",
    "Not helping: nobody has said yet when this machine may": "Helps nobody until you say when it may",
    "Not helping: its owner said not now": "Helps nobody: you said not now",
    "Not helping: only what is submitted on this machine runs": (
        "Runs only what is submitted on this computer"
    ),
    HOW_TO_ANSWER: "Nobody has said yet when this computer may help.",
    SENTENCES[HelpsSoon]: "Works for others in {soon}",
    "Helping: set to always": "Helps always",
    "Helping: the screen is locked{load}": "Helps: the screen is locked",
    "Helping: nobody is logged in{load}": "Helps: nobody is logged in",
    "Helping: no input for {time}{load}": "Helps: no input for {time}",
    "Helping: the rules allow it{load}": "Helps: the rules allow it",
    "{source}: cannot be seen, because {why}": "Cannot be seen: {why}",
    "Last input seen {ago} ago{by}": "Last input seen {ago} ago{by}",
    "This machine is on mains{by}": "On mains",
    "This machine runs on battery{by}": "On battery",
    "Other programs use {percent} % of the processor, counted as busy{by}": (
        "Other programs use {percent} % of the processor: busy"
    ),
}
"""By the agent's sentence: what the window says instead. How a source sees is mostly left out."""


FOUND_SAID = {SENTENCES[kind]: said for kind, said in FOUND.items()}
IN_PLACES = re.compile(r"\{\w+\}")


class OwnSpeech(Speech):
    """Says reasons as the window does."""

    ends_told = (FailedOften, Cancelled)

    def state(self, state: str) -> str:
        return state_words(_STATES[state]) if state in _STATES else state

    def filled(self, template: str, values: dict[str, Any]) -> str:
        """Return the window's own words for a template, translated, with the values put in; where
        they have ``%n``, in the number of ``values["count"]``. Raises ``KeyError`` for a value that
        is missing."""
        text = own_words(template)
        if "%n" in text:
            return tr_n(text, "", values["count"], **values)
        return tr(text, **values)

    def length(self, since_ms: int) -> str:
        return span((self.now_ms - since_ms) / 1000)

    def moment(self, at_ms: int) -> str:
        """Return the time of day, behind the day where it is not today: its name in the next days,
        else its date. A moment that no calendar holds is told in seconds."""
        try:
            at, now = time.localtime(at_ms / 1000), time.localtime(self.now_ms / 1000)
        except (
            OverflowError,
            OSError,
            ValueError,
        ):  # no calendar holds it, another machine told it
            return f"{at_ms / 1000:.0f} s"
        told = clock(at_ms / 1000)
        if at[:3] == now[:3]:
            return told
        ahead = 0 < at_ms - self.now_ms < (WEEK_DAYS - 1) * 86_400_000
        day = _day(at.tm_wday) if ahead else time.strftime("%Y-%m-%d", at)
        return f"{day} {told}"

    def span(self, length_ms: int) -> str:
        return span(length_ms / 1000)

    def size(self, size_mb: int) -> str:
        return size(size_mb * MB)

    def amount(self, count: int) -> str:
        return size(count)

    def listed(self, names: Iterable[str]) -> str:
        """Return the names with commas and an "and" before the last; empty for none."""
        every = tuple(names)
        if len(every) < 2:
            return "".join(every)
        return tr("{first} and {last}", first=", ".join(every[:-1]), last=every[-1])

    def word(self, text: str) -> str:
        return tr(own_words(text))


def explained(why: Raw, text: str) -> str:
    """Return why, in the person's words, where the answer carries a reason that is known here; else
    its text as it came."""
    return OwnSpeech().say(reason_of(why, text))


def story_line(move: Move) -> str:
    """Return in words what a task's move was, with its cause in brackets; without one where there
    is none, or it only says that some machine told of it."""
    speech, by = OwnSpeech(), reason_of(move.by, move.cause)
    what, cause = explained(move.why, move.what), speech.say(by)
    return f"{what} ({cause})" if cause and not isinstance(by, ToldBy) else what


def all_explained(whys: Iterable[Raw], texts: Iterable[str]) -> list[str]:
    """Return what ``explained`` says of each reason and text, pair by pair; texts without a reason,
    as an older agent has them, come as they are, and reasons without a text are left out."""
    return [
        explained(why, text)
        for why, text in zip_longest(whys, texts, fillvalue=NO_WHY)
        if isinstance(text, str)
    ]


def sentences(
    whys: Iterable[Raw], texts: Iterable[str], between: str = "\n", names: Iterable[str] = ()
) -> str:
    """Return each reason or text as a sentence in the person's language, with a capital (unless it
    begins with one of these machine ``names``) and a full stop, joined by ``between``; empty for
    none."""
    as_they_are, told = tuple(filter(None, names)), all_explained(whys, texts)
    begun = (each if each.startswith(as_they_are) else each[:1].upper() + each[1:] for each in told)
    return between.join(f"{each.rstrip('.')}." for each in begun)


def own_words(template: str) -> str:
    """Return what the window says in the place of a sentence of the agent; most often that
    sentence."""
    return OTHERWISE.get(template) or FOUND_SAID.get(template) or template.removesuffix(BY)


def templates() -> Iterator[str]:
    """Yield all sentences that ``OwnSpeech`` may say, which translators have to know; not those
    that are nothing but values."""
    for text in (
        *SENTENCES.values(),
        *SIGHTS.values(),
        *CLAUSES.values(),
        *UNKNOWN.values(),
        *EVENTS.values(),
        *RULES.values(),
        *(NOT_KNOWN, KEEP, MORE),
    ):
        own = own_words(text)
        if any(part.isalpha() for part in IN_PLACES.sub("", own)):
            yield own


def _day(number: int) -> str:
    return (
        tr("Monday"),
        tr("Tuesday"),
        tr("Wednesday"),
        tr("Thursday"),
        tr("Friday"),
        tr("Saturday"),
        tr("Sunday"),
    )[number]


def error_text(error: Exception) -> str:
    """Return what went wrong: in the person's language where the agent has told it as a value, else
    in the error's own words."""
    if isinstance(error, RequestError) and error.fault is not None:
        return worded(error.fault, tr)
    return str(error)


def step_text(step: ProgressStep) -> str:
    """Return what is done next of a submission, in the person's language, with a capital."""
    said = worded(step, tr)
    return said[:1].upper() + said[1:]


def sentence_of(error: Exception) -> str:
    """Return an error as a person reads it: it begins large and ends with a full stop; of an
    ``OSError`` only the system's reason, or what else it says, behind the name of its file, if any."""
    if isinstance(error, OSError):
        reason = (error.strerror or str(error) or type(error).__name__).removesuffix(".")
        return f"{error.filename}: {reason}." if error.filename else f"{reason}."
    text = error_text(error).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
