"""When this machine helps: what clients ask and are told of it, and what its owner may set.

A mode holds until its owner changes it; a pause lies over it and ends by itself or by `resume`. Until
somebody has answered, the mode is ``not yet``: the machine helps nobody. What is submitted on it runs
there all the same, in every mode, unless it is paused.
Every source of presence tells what it sees in a sentence of its own, so that nobody has to guess
why a machine does not help. A source that cannot see counts as somebody being there.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

from agent.api.reasons import no_why
from agent.api.rpc import Method
from agent.api.values import Count, Millis, ShortText

VolunteerMode = Literal["always", "when idle", "by schedule", "not now", "not yet"]
"""``not now`` is an answer, ``not yet`` is the lack of one; either helps nobody."""
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
ClockTime = Annotated[str, Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$")]
PauseLength = Annotated[float, Meta(ge=1, le=31_536_000)]
PROGRAMS_MAX = 64
PEOPLE_MAX = 64
PersonName = Annotated[str, Meta(min_length=1, max_length=100)]
HOURS_MAX = 64


class Hours(Struct, frozen=True, forbid_unknown_fields=True):
    """From one time of a day to another; an end not after the beginning is on the next day."""

    day: Weekday
    begins: ClockTime
    ends: ClockTime


class VolunteerRules(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When to help; which rules count in a mode, ``counting`` tells. ``lets_end_s``: a task that
    expects to end within this is not suspended when its machine's owner comes back. ``warn_s``: so
    long before it takes a machine that was in use it says so. ``people``: whom it helps, by the
    names that workflows are submitted under; nobody named means everybody. ``bans``: of whom it
    takes no work, people (whose names nothing proves) and machines, and programs of others that never
    run here. Without a mode
    ``always`` is meant, as versions say it that know no answer."""

    mode: VolunteerMode = "always"
    hours: Annotated[tuple[Hours, ...], Meta(max_length=HOURS_MAX)] = ()
    idle_s: Annotated[float, Meta(ge=0, le=86_400)] = 300.0
    others_cpu_percent: Annotated[int, Meta(ge=0, le=100)] = 10
    on_mains_only: bool = True
    free_memory_mb: Count = 512
    full_screen_counts: bool = True
    exclusive_programs: Annotated[tuple[ShortText, ...], Meta(max_length=PROGRAMS_MAX)] = ()
    own_only: bool = False
    lets_end_s: Annotated[float, Meta(ge=0, le=86_400)] = 0.0
    calls_count: bool = True
    warn_s: Annotated[float, Meta(ge=0, le=600)] = 0.0
    people: Annotated[tuple[PersonName, ...], Meta(max_length=PEOPLE_MAX)] = ()
    bans: Annotated[tuple[PersonName, ...], Meta(max_length=PEOPLE_MAX)] = ()


NOT_YET: VolunteerMode = "not yet"
OwnWork = Literal["none", "interactive", "all"]
"""What of the work that was submitted on a machine may begin there now, whether or not it helps
others: none while it is paused, all while its rules let it work, else what somebody waits for."""


def own_work(*, willing: bool, paused: bool) -> OwnWork:
    """Return what may begin on a machine of what was submitted there."""
    if paused:
        return "none"
    return "all" if willing else "interactive"


WATCHFUL: tuple[VolunteerMode, ...] = ("when idle", "by schedule")
"""Modes in which it matters whether somebody is there."""
UNHELPFUL: tuple[VolunteerMode, ...] = ("not now", NOT_YET)
"""Modes in which nobody is helped, and what was submitted here runs at once."""


def counting(rules: VolunteerRules) -> frozenset[str]:
    """Return the names of the presence rules that have an effect in the mode that these rules are
    in, the mode itself not among them."""
    names = {"exclusive_programs"}
    if rules.mode not in UNHELPFUL:
        names.add("own_only")
        if not rules.own_only:
            names |= {"people", "bans"}
    if rules.mode in WATCHFUL:
        names |= {"warn_s", "idle_s", "others_cpu_percent", "on_mains_only", "free_memory_mb"}
        names |= {"full_screen_counts", "calls_count"}
    if rules.mode in WATCHFUL or rules.exclusive_programs:
        names.add("lets_end_s")
    return frozenset(names | ({"hours"} if rules.mode == "by schedule" else set()))


class Volunteering(Struct, frozen=True, forbid_unknown_fields=True):
    """Does this machine help, and why?"""


SourceStanding = Literal["unasked", "unseen", "free", "holds"]
"""What a source means by the rules, pause or not. ``unasked``: no rule asks it. ``unseen``: it
cannot see. ``free``: it lets the machine help. ``holds``: it does not, be it for being blind."""


class SourceView(Struct, frozen=True):
    """What one source of presence saw last. ``sees`` is false where it cannot see at all."""

    source: str
    sees: bool
    owner_present: bool
    text: str
    read_ms: Millis = 0
    standing: SourceStanding = "unasked"
    why: Raw = field(default_factory=no_why)


class VolunteeringView(Struct, frozen=True):
    """Whether this machine helps others now, why, by which rules, and what each source tells.

    ``own_work`` is what may begin now of what was submitted here.
    ``paused_until_ms`` is none while it is paused until somebody resumes. ``finishing``: it pauses
    as soon as what runs here has ended. ``answered``: the mode is a person's own word, or fixed; else
    an administrator's, until somebody here is asked. ``fixed`` are the rules, by their names, that
    the policy in the file ``fixed_by`` fixes.
    """

    volunteering: bool
    owner_present: bool
    reason: str
    rules: VolunteerRules
    paused: bool = False
    paused_until_ms: Millis | None = None
    finishing: bool = False
    sources: tuple[SourceView, ...] = ()
    why: Raw = field(default_factory=no_why)
    own_work: OwnWork = "none"
    answered: bool = True
    fixed: tuple[str, ...] = ()
    fixed_by: str = ""


class SetVolunteering(Struct, frozen=True, forbid_unknown_fields=True):
    """Help by these rules from now on, also after a restart."""

    rules: VolunteerRules


class Pause(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Stop helping: for so long, until tomorrow, or (neither given) until somebody resumes.

    ``finish_first``: what runs now is let end before.
    """

    for_s: PauseLength | None = None
    until_tomorrow: bool = False
    finish_first: bool = False


class Resume(Struct, frozen=True, forbid_unknown_fields=True):
    """End the pause: the rules count again."""


class AtHand(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the desktop of a person shows of them, told every second to an agent that is a service and
    sees no desktop. ``idle_ms``: since their last input, None where that cannot be seen."""

    idle_ms: Annotated[int, Meta(ge=0, le=2**53)] | None
    locked: bool = False
    filled: bool = False


class Heard(Struct, frozen=True):
    """It is counted, for as long as it is fresh."""

    fresh_s: float


class RunningPrograms(Struct, frozen=True, forbid_unknown_fields=True):
    """Which programs of who owns this agent run here, for the list of exclusive ones?"""


class ProgramsRunning(Struct, frozen=True):
    """These run, sorted, each once, without what the agent has started."""

    names: tuple[str, ...]


# -- what is asked, and what is answered ----------------------------------------------------------

PAUSE = Method("pause", Pause, VolunteeringView, by_members=False)
RESUME = Method("resume", Resume, VolunteeringView, by_members=False)
RUNNING_PROGRAMS = Method("running_programs", RunningPrograms, ProgramsRunning, by_members=False)
VOLUNTEERING = Method("volunteering", Volunteering, VolunteeringView, by_members=False)
SET_VOLUNTEERING = Method(
    "set_volunteering",
    SetVolunteering,
    VolunteeringView,
    by_members=False,
)
AT_HAND = Method("at_hand", AtHand, Heard, by_members=False)
