"""What the agent says at run time, one of each kind, by family: what the golden file is made of.

A family whose facts still travel as sentences stands here as sentences, the others as values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from agent.api import reasons as why
from agent.api.reasons import Reason
from agent.protocol import reasons as told
from agent.wording.speech import Speech
from gui.model.agent_words import cause_words, refusal_in_our_words, story_line, translated
from gui.wording import OwnSpeech

NOW_MS = round(time.mktime((2026, 3, 10, 12, 0, 0, 0, 0, -1)) * 1000)
EVENING_MS = NOW_MS + 23_400_000


def ago(seconds: int) -> int:
    """A moment that long before."""
    return NOW_MS - seconds * 1000


PRESENCE: tuple[Reason, ...] = (
    why.FinishingTask(open_ended=True),
    why.FinishingTask(open_ended=False),
    why.FinishingTasks(3, open_ended=True),
    why.FinishingTasks(3, open_ended=False),
    why.PausedUntilResumed(),
    why.PausedUntil(EVENING_MS),
    why.PauseUnreadable("/data/pause.json"),
    why.HeldOutsideHours(),
    why.HeldUntilHour(EVENING_MS),
    why.HeldByProgram(("blender", "zoom")),
    why.HeldSinceProgram(ago(12)),
    why.HeldByOthers(("ana",)),
    why.HeldByOthers(("ana", "bia")),
    why.HeldByInput(ago(12)),
    why.HeldByMouse(ago(12)),
    why.HeldByTerminal("pts/3", ago(120)),
    why.HeldByTouchOfLock(ago(12)),
    why.HeldByBattery(),
    why.HeldSincePlugged(ago(3)),
    why.HeldByScreen(why.ProgramFills()),
    why.HeldByScreen(why.GameFills()),
    why.HeldByScreen(why.PresentationOn()),
    why.HeldByScreen(why.ScreenKeptOn()),
    why.HeldByScreen(why.NamedFills("vlc")),
    why.HeldSinceScreen(ago(3)),
    why.HeldByLoad(37, 10),
    why.HeldSinceLoad(10),
    why.HeldByMemory(300, 1024),
    why.HeldSinceMemory(ago(12)),
    why.HeldBlind("last input", (why.NotLookedAt(),)),
    why.HeldBlind("programs", (why.NothingShowsIt(),)),
    why.HeldBlind("mains", (why.NoBus("system"),)),
    why.HeldBlind("full screen", (why.ServerGone(),)),
    why.HeldBlind("memory", (why.NotLookedAt(),)),
    why.HeldBlind("processor", (why.StillMeasured(),)),
    why.HelpsAlways(),
    why.HelpsLocked(3),
    why.HelpsEmpty(3),
    why.HelpsIdle(ago(720), 3),
    why.HelpsIdle(ago(720)),
    why.HelpsByRules(3),
)
TOLD: tuple[Reason, ...] = (
    told.SetToAlways(),
    told.NobodyUsesIt(),
    told.PausedByOwner(),
    told.FinishingThenPaused(),
    told.OutsideHours(),
    told.CannotSeeOwner(),
    told.OwnerUsesIt(),
    told.SomebodyElseUsesIt(),
    told.OnBattery(),
    told.OthersBusy(),
    told.ShortOfMemory(),
    told.Starting(),
    told.NotOfFlock("office"),
    why.IdentityCopied("acor", ("10.0.0.2", "10.0.0.9")),
)
SOURCES: tuple[Reason, ...] = (
    why.LastInputSeen(ago(12), "X11"),
    why.LastInputInTerminal(ago(12), "pts/3", "terminals"),
    why.NobodyLoggedIn("logind"),
    why.ScreenLocked("logind"),
    why.ScreenUnlocked("logind"),
    why.ScreenLockedOthers(("bia",), "logind"),
    why.ScreenUnlockedOthers(("bia", "caio"), "logind"),
    why.MainsSeen("sysfs"),
    why.BatterySeen("sysfs"),
    why.NothingFills("X11"),
    why.ScreenFilled(why.ProgramFills(), "X11"),
    why.ScreenFilled(why.NamedFills("vlc"), "X11"),
    why.LoadSeen(37),
    why.LoadSeenBusy(37),
    why.MemorySeen(2500),
    why.NoProgramSeen(),
    why.ProgramsSeen(("blender", "zoom")),
    why.Blind("last input", (why.NoScreen(),)),
    why.Blind("sessions", (why.WindowsSilent("error 5"),)),
    why.Blind("mains", (why.WindowsUnsure(),)),
    why.Blind("full screen", (why.WaylandHidesIt(),)),
    why.Blind("full screen", (why.CompositorGone(),)),
    why.Blind("last input", (why.DisplayAway(":0", "No such file or directory"),)),
    why.Blind("last input", (why.NothingShowsIt(),)),
    # What had no translation before it was a value.
    why.Blind("last input", (why.NoSession(), why.NoBus("session"))),
    why.Blind("last input", (why.RunsAsService(),)),
    why.Blind("sessions", (why.WindowsHidesSession(),)),
    why.Blind("programs", (why.ProgramsHidden("access denied"),)),
    why.Blind("mains", (why.SourceFailed("ValueError()"),)),
    why.Blind("mains", (why.SystemSays("the system bus cannot be asked (timeout)"),)),
)
ENDS = (
    "failed 3 times, last: ended with code 3",
    "failed 1 times",
    "failed: the disk is full",
    "an agent died running it",
    "5 agents died running it",
    "cancelled",
    "cancelled; still being stopped on acor and cagarro",
    "waits for import",
    "waits for import, not known here yet",
    "waits for what it needs",
    "needs import, which was given up",
    "needs import, which was cancelled",
    "needs output 2 of import, which delivered 1",
)
WAITING = (
    "segment waits for import",
    "segment needs import, which was given up",
    "segment has all that it needs; no machine helps now (this one: paused by its owner)",
    "segment has all that it needs; 1 of 1 machine helps now, none has taken it yet",
    "segment has all that it needs; 2 of 3 machines help now, none has taken it yet",
    "segment has all that it needs; none of the machines that could run it has taken it yet",
    "segment has all that it needs; it waits until somebody accepts its program p on b and c",
    "segment has all that it needs; no machine that helps now can run it",
    "look waits until a person marks it done: check the borders",
    "acor has taken segment and fetches its inputs",
    "segment runs on acor",
    "segment is suspended on acor, whose owner needs the machine",
    "segment finished on acor",
    "segment is cancelled",
    "segment is cancelled, still being stopped on acor",
    "segment is aborted: it failed 3 times, last: ended with code 3",
    "segment is aborted: an agent died running it",
)
FITTING = (
    "acor has no program segment",
    "acor does not take the published program x@2: `wingbeat programs accept x@2` there lets it",
    "acor runs Windows, needed is Linux",
    "acor is x86_64, needed is arm64",
    "acor has 512 MB of memory, needed are 1024",
    "acor has 512 MB of disk, needed are 1024",
    "acor has 2 cores, needed are 4",
    "acor has no tag gpu",
    "acor could run it and does not help: its owner uses it",
    "acor could run it and does not help: it says no reason",
    "acor could run it, and failed at it before",
    "acor could run it, and its slot is taken",
    "acor could run it, and all its 4 slots are taken",
    "acor could run it",
    "acor runs segment and import only when somebody there accepts them: `wingbeat programs`",
)
REFUSALS = (
    "acor is stopping; ask another machine.",
    "acor has a full disk; ask another machine.",
    "workflow line is finished and was cleaned up.",
    "no workflow line is known on acor.",
    "workflow line has no task segment.",
    "nothing to cancel in line: all of it has ended.",
    "nothing to retry in line: no task of it failed or was cancelled.",
    "workflow line has ended; its priority moves nothing.",
    "look is no manual step known on acor.",
    "look is marked done already.",
    "look cannot be marked done yet: it is Submitted.",
    "Look needs scan of gate: attach it.",
)
CAUSES = (
    *("a machine came", "a machine went away", "the agent started", "the inputs are there"),
    *("the program started", "the program ended well", "the program failed", "submitted"),
    *("the program was stopped", "the outputs are kept safe", "what it needs is there"),
    *("a machine began or stopped to help", "a person cancelled", "a person had it tried again"),
    *("a person marked a gate done", "a person changed the priority", "another machine told it"),
    *("a message was lost on its way", "it was time", "the disk does not take data"),
    *("the disk takes data again", "the programs of a machine changed"),
    *("the members of the flock changed", "an input could not be fetched"),
    *("the program could not be started", "the program told how far it is"),
    *("the program saved its state", "datasets came or went", "an agent was stopped"),
    "told by acor",
)
MOVES = (
    ("Submitted", "submitted"),
    ("Ready", "the outputs are kept safe"),
    ("Scheduled on acor", "told by acor"),
    ("Running on acor", "the inputs are there"),
    ("Suspended on acor", "a machine began or stopped to help"),
    ("Terminated on acor", "the outputs are kept safe"),
    ("Aborted on acor: failed 3 times, last: ended with code 3", "the program failed"),
    ("Cancelled: cancelled", "a person cancelled"),
    ("Waiting", "the outputs are kept safe"),
)

Said = Callable[[], str]


def families() -> dict[str, list[tuple[str, Said]]]:
    """By family, what the agent says and how the window says it."""
    return {
        "presence": list(_of_values(PRESENCE)),
        "told to the flock": list(_of_values(TOLD)),
        "sources": list(_of_values(SOURCES)),
        "ends": list(_of_sentences(ENDS, translated)),
        "waiting": list(_of_sentences(WAITING, translated)),
        "fitting": list(_of_sentences(FITTING, translated)),
        "refusals": list(_of_sentences(REFUSALS, refusal_in_our_words)),
        "causes": list(_of_sentences(CAUSES, cause_words)),
        "moves": [(f"{what} ({cause})", partial(story_line, what, cause)) for what, cause in MOVES],
    }


def _of_values(reasons: Iterable[Reason]) -> Iterator[tuple[str, Said]]:
    for each in reasons:
        yield Speech(NOW_MS).say(each), partial(OwnSpeech(NOW_MS).say, each)


def _of_sentences(
    sentences: Iterable[str], said: Callable[[str], str]
) -> Iterator[tuple[str, Said]]:
    for each in sentences:
        yield each, partial(said, each)
