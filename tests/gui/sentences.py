"""What the agent says at run time, one of each kind, by family: what the golden file is made of.

A family whose facts still travel as sentences stands here as sentences, the others as values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, get_args

from agent.api import choice_reasons as choice
from agent.api import presence_reasons as presence
from agent.api import reasons as why
from agent.api.phrases import as_raw, worded
from agent.api.reasons import Reason
from agent.api.rpc import ErrorCode, Problem
from agent.api.work import Move
from agent.client import RequestError
from agent.protocol import link_reasons as links
from agent.protocol import reasons as told
from agent.protocol import sharing_reasons as sharing
from agent.protocol.phrases import Phrase, said
from agent.wording.english import EVENTS
from agent.wording.speech import Speech
from gui.wording import OwnSpeech, sentence_of, story_line

NOW_MS = round(time.mktime((2026, 3, 10, 12, 0, 0, 0, 0, -1)) * 1000)
EVENING_MS = NOW_MS + 23_400_000


def ago(seconds: int) -> int:
    """A moment that long before."""
    return NOW_MS - seconds * 1000


PRESENCE: tuple[Reason, ...] = (
    presence.FinishingTask(open_ended=True),
    presence.FinishingTask(open_ended=False),
    presence.FinishingTasks(3, open_ended=True),
    presence.FinishingTasks(3, open_ended=False),
    presence.PausedUntilResumed(),
    presence.PausedUntil(EVENING_MS),
    presence.PauseUnreadable("/data/pause.json"),
    presence.HeldOutsideHours(),
    presence.HeldUntilHour(EVENING_MS),
    presence.HeldByProgram(("blender", "zoom")),
    presence.HeldSinceProgram(ago(12)),
    presence.HeldByOthers(("ana",)),
    presence.HeldByOthers(("ana", "bia")),
    presence.HeldByInput(ago(12)),
    presence.HeldByMouse(ago(12)),
    presence.HeldByTerminal("pts/3", ago(120)),
    presence.HeldByTouchOfLock(ago(12)),
    presence.HeldByBattery(),
    presence.HeldSincePlugged(ago(3)),
    presence.HeldByScreen(presence.ProgramFills()),
    presence.HeldByScreen(presence.GameFills()),
    presence.HeldByScreen(presence.PresentationOn()),
    presence.HeldByScreen(presence.ScreenKeptOn()),
    presence.HeldByScreen(presence.NamedFills("vlc")),
    presence.HeldSinceScreen(ago(3)),
    presence.HeldByMeeting(presence.MicrophoneUsed("Zoom")),
    presence.HeldByMeeting(presence.CameraUsed("")),
    presence.HeldSinceMeeting(ago(3)),
    presence.HeldByLoad(37, 10),
    presence.HeldSinceLoad(10),
    presence.HeldByMemory(300, 1024),
    presence.HeldSinceMemory(ago(12)),
    presence.HeldBlind("last input", (presence.NotLookedAt(),)),
    presence.HeldBlind("programs", (presence.NothingShowsIt(),)),
    presence.HeldBlind("mains", (presence.NoBus("system"),)),
    presence.HeldBlind("full screen", (presence.ServerGone(),)),
    presence.HeldBlind("memory", (presence.NotLookedAt(),)),
    presence.HeldBlind("processor", (presence.StillMeasured(),)),
    presence.HeldUnconfined(),
    presence.HelpsSoon(ago(-22)),
    presence.NotAnswered(),
    presence.HelpsNobody(),
    presence.HelpsItself(),
    presence.HelpsAlways(),
    presence.HelpsLocked(3),
    presence.HelpsEmpty(3),
    presence.HelpsIdle(ago(720), 3),
    presence.HelpsIdle(ago(720)),
    presence.HelpsByRules(3),
)
TOLD: tuple[Reason, ...] = (
    told.SetToAlways(),
    told.NobodyAnswered(),
    told.OwnWorkOnly(),
    told.NobodyUsesIt(),
    told.LikelyFreeUntil(EVENING_MS),
    told.LikelyFreeForLong(),
    told.PausedByOwner(),
    told.FinishingThenPaused(),
    told.OutsideHours(),
    told.CannotSeeOwner(),
    told.OwnerUsesIt(),
    told.SomebodyElseUsesIt(),
    told.OnBattery(),
    told.OthersBusy(),
    told.ShortOfMemory(),
    told.CannotConfine(),
    told.OwnerWarned(),
    told.Starting(),
    told.HelpsNotNow(),
    told.NotOfFlock("office"),
    why.IdentityCopied("acor", ("10.0.0.2", "10.0.0.9")),
)
SOURCES: tuple[Reason, ...] = (
    presence.LastInputSeen(ago(12), "X11"),
    presence.LastInputInTerminal(ago(12), "pts/3", "terminals"),
    presence.NobodyLoggedIn("logind"),
    presence.ScreenLocked("logind"),
    presence.ScreenUnlocked("logind"),
    presence.ScreenLockedOthers(("bia",), "logind"),
    presence.ScreenUnlockedOthers(("bia", "caio"), "logind"),
    presence.MainsSeen("sysfs"),
    presence.BatterySeen("sysfs"),
    presence.NothingFills("X11"),
    presence.ScreenFilled(presence.ProgramFills(), "X11"),
    presence.ScreenFilled(presence.NamedFills("vlc"), "X11"),
    presence.NoMeeting("Windows"),
    presence.MeetingSeen(presence.MicrophoneUsed("Zoom"), "Windows"),
    presence.LoadSeen(37),
    presence.LoadSeenBusy(37),
    presence.MemorySeen(2500),
    presence.NoProgramSeen(),
    presence.ProgramsSeen(("blender", "zoom")),
    presence.Blind("last input", (presence.NoScreen(),)),
    presence.Blind("sessions", (presence.WindowsSilent("error 5"),)),
    presence.Blind("mains", (presence.WindowsUnsure(),)),
    presence.Blind("full screen", (presence.WaylandHidesIt(),)),
    presence.Blind("full screen", (presence.CompositorGone(),)),
    presence.Blind("last input", (presence.DisplayAway(":0", "No such file or directory"),)),
    presence.Blind("last input", (presence.NothingShowsIt(),)),
    # What had no translation before it was a value.
    presence.Blind("last input", (presence.NoSession(), presence.NoBus("session"))),
    presence.Blind("last input", (presence.RunsAsService(),)),
    presence.Blind("sessions", (presence.WindowsHidesSession(),)),
    presence.Blind("programs", (presence.ProgramsHidden("access denied"),)),
    presence.Blind("mains", (presence.SourceFailed("ValueError()"),)),
    presence.Blind("mains", (presence.SystemSays("the system bus cannot be asked (timeout)"),)),
)
ENDS: tuple[Reason, ...] = (
    told.FailedOften(3, "ended with code 3"),
    told.FailedOften(3, ""),
    told.FailedOnce("the disk is full"),
    told.FailedSilently(),
    told.AgentDied(),
    told.AgentsDied(5),
    told.Cancelled(),
    why.CancelledStopping(("acor", "cagarro")),
    told.WaitsFor("import"),
    told.WaitsForUnknown("import"),
    why.WaitsForNeeds(),
    told.NeedsGivenUp("import"),
    told.NeedsCancelled("import"),
    told.NeedsOutput(2, "import", 1),
)
MERGE: dict[str, Any] = {"program": "merge", "last": "no such file"}
FAILED = told.EndCause("ExitCode", count=3, **MERGE)
CAUSES: tuple[Reason, ...] = (
    FAILED,
    told.EndCause("ExitCode", count=3, program="merge", disk_left_bytes=2_000_000),
    told.EndCause("Signal", count=9, program="merge"),
    told.EndCause("SaidError", program="merge", error="finds no film"),
    told.EndCause("SaidOnlyError", program="merge"),
    told.EndCause("EndedItself", program="merge"),
    told.EndCause("RanTooLong", limit=60, **MERGE),
    told.EndCause("WasSilent", limit=60, **MERGE),
    told.EndCause("TookMemory", program="merge", took_bytes=2**31, limit_bytes=10**9),
    told.EndCause("TookProcesses", program="merge", count=700, limit=512),
    told.EndCause("Unconfined", program="merge"),
    told.EndCause("WroteTooMuch", program="merge", took_bytes=2**31, limit_bytes=10**9),
    told.EndCause("DiskLeft", program="merge", took_bytes=400_000),
    told.EndCause("TooFewOutputs", program="merge", count=1, limit=2),
    told.EndCause("TooMuchMade", program="merge", count=1005, limit=1000),
    told.EndCause("NoOutput", program="merge", error="one, two"),
    told.EndCause("BadOutput", error="Invalid UTF-8"),
    told.EndCause("NotStarted", error="it is broken"),
    told.EndCause("NotFollowed", error="KeyError()"),
    told.EndCause("NoRoom", took_bytes=10**8, limit_bytes=10**9),
    told.EndCause("ProgramGone", program="merge"),
    told.EndCause("ProgramNotReady", program="merge", error="nobody has it"),
    told.EndCause("CannotRun", program="merge", error="it has no command"),
    told.EndCause("NotFetched", error="nobody has it"),
    told.EndCause("InputMissing", dataset="sha256:0"),
    told.EndCause("NotGranted", program="merge"),
    told.EndCause("NotCommitted", error="it is locked"),
    told.EndCause("AgentStops"),
    told.EndCause("OwnerBack"),
    told.EndCause("GaveWay"),
    told.EndCause("OwnerBans"),
    told.EndCause("DiskFull"),
    told.EndCause("RowStands"),
    told.EndCause("NewIncarnation"),
    told.EndCause("Pruned"),
    told.EndCause("SupersededBy", host="acor"),
    told.EndCause("TakenOver"),
    told.EndCause("FinishedBy", host="acor"),
)
RUNS: tuple[Reason, ...] = (
    told.RunEnd("Failed", "acor", FAILED),
    told.RunEnd("Failed", "acor"),
    told.RunEnd("Evicted", "acor", told.EndCause("OwnerBack")),
    told.RunEnd("Yielded", "acor", told.NeedsCancelled("import")),
    told.RunEnd("Yielded", "acor", told.Became("Ready")),
    told.RunEnd("Lost", "acor"),
    told.RunEnd("Died", "acor"),
    told.FailedOnce("merge exited with code 3", FAILED),
    told.FailedOften(2, "merge exited with code 3", FAILED),
    why.TaskFailedOnce("segment", "merge exited with code 3", FAILED),
)
ERROR = "ended with code 3"
WAITING: tuple[Reason, ...] = (
    why.TaskWaits("segment", told.WaitsFor("import")),
    why.TaskWaits("segment", told.WaitsForSeveral(("north", "south"))),
    why.TaskWaits("segment", told.WaitsForMany(240)),
    why.TaskWaits("segment", told.NeedsGivenUp("import")),
    why.TaskReady("segment", why.NoHelper(told.PausedByOwner())),
    why.TaskReady("segment", why.SeatsTaken("acme", 1, ("grifo",))),
    why.TaskReady("segment", why.NotForPerson(("acor", "pato"), "caio")),
    why.TaskReady("segment", why.NoHelper(why.PausedSomehow())),
    why.TaskReady("segment", why.NoHelper(presence.HeldByMouse(ago(12)))),
    why.TaskReady("segment", why.OwnHelper()),
    why.TaskReady("segment", why.SomeHelpers(2, 3)),
    why.TaskReady("segment", why.NoTaker()),
    why.TaskReady("segment", why.WaitsForAcceptance("p", ("b", "c"))),
    why.TaskReady("segment", why.AllowedAreBusy("p", ("b",), ("c",))),
    why.TaskReady("segment", why.NoFittingHelper()),
    why.TaskReady("segment", choice.LeftFor("acor")),
    why.TaskReady("segment", why.NobodyAllows("NobodyAllowsNetwork", "report", "lan")),
    why.TaskReady("segment", why.NobodyAllows("NobodyAllowsReading", "report", "/srv/maps")),
    why.TaskReady("segment", why.NobodyAllows("NobodyAllowsDevice", "report", "gpu")),
    why.TaskReady("segment", why.NobodyAllows("NobodyGivesSecret", "report", "survey-db")),
    why.TaskReady("segment", why.NobodyAllows("NobodyHasSecret", "report", "survey-db")),
    why.TaskReady("import", why.NobodyAllows("NobodyHasShare", "import", "share:flights")),
    why.GateWaits("look", "check the borders"),
    why.GateWaits("look", ""),
    why.MachineGone("acor", ago(300)),
    why.TaskOnGone("segment", "acor", ago(300)),
    choice.TaskFetches("segment", "acor"),
    choice.TaskFetches("segment", "acor", (choice.FreeUntil(EVENING_MS),)),
    choice.TaskRuns("segment", "acor"),
    choice.TaskRuns("segment", "acor", (choice.RunsFaster(182), choice.FreeUntil(EVENING_MS))),
    choice.TaskRuns("segment", "acor", (choice.FreeForLong(),)),
    choice.TaskRuns("segment", "acor", (choice.AlsoOn(("grifo",)),)),
    why.TaskSuspended("segment", "acor"),
    why.TaskOffered("segment", "acor", why.WaitsForAcceptance("p", ("b", "c"))),
    why.TaskOffered("segment", "acor", why.NoHelper(told.PausedByOwner())),
    why.TaskFinished("segment", "acor"),
    why.TaskCancelled("segment"),
    why.TaskStopping("segment", ("acor",)),
    why.TaskCancelledFor("segment", told.NeedsCancelled("import")),
    why.TaskFailed("segment", told.FailedOften(3, ERROR)),
    why.TaskFailedOnce("segment", ERROR),
    why.TaskAborted("segment", told.AgentDied()),
)
FITTING: tuple[Reason, ...] = (
    told.LacksProgram("segment", "acor"),
    told.LacksProgram("segment"),
    why.NotAcceptedYet("acor", "x@2"),
    told.NotAccepted("x@2", "acor"),
    told.OwnerRefuses("x@2", "acor"),
    told.OtherSystem("Windows", "Linux", "acor"),
    told.OtherSystem("", "Linux", "acor"),
    told.OtherArchitecture("x86_64", "arm64", "acor"),
    told.OtherArchitecture("", "arm64", "acor"),
    told.TooLittleMemory(512, 1024, "acor"),
    told.TooLittleDisk(512, 1024, "acor"),
    told.TooFewCores(2, 4, "acor"),
    told.LacksExtra("wingbeat[inspection]", "acor"),
    told.LacksTag("gpu", "acor"),
    told.HelpsOthers(("ana", "bia"), "acor"),
    sharing.OtherVersion("acme >= 3", "2.1", "acor"),
    sharing.OtherVersion("acme >= 3", "", "acor"),
    sharing.OwnerTakesNoWork("ana", "acor"),
    why.SeatsTaken("acme", 3, ("acor", "grifo")),
    told.Withholds("AllowsNoNetwork", "report@1", "lan", "acor"),
    told.Withholds("AllowsNoReading", "report", "/srv/maps", "acor"),
    told.Withholds("AllowsNoDevice", "report", "gpu", "acor"),
    told.Withholds("AllowsNoSecret", "report", "survey-db", "acor"),
    told.Withholds("HasNoSecret", "report", "survey-db", "acor"),
    told.Withholds("HasNoShare", "import", "share:flights", "acor"),
    why.DoesNotHelp("acor", told.OwnerUsesIt()),
    why.DoesNotHelp("acor", why.SaysNoReason()),
    why.FailedBefore("acor"),
    why.SlotTaken("acor"),
    why.SlotsTaken("acor", 4),
    why.CouldRun("acor"),
    presence.CouldRunUntil("acor", EVENING_MS),
    why.AcceptanceNeeded(("acor",), ("segment", "import")),
    why.AcceptanceNeeded(("a", "b", "c", "d", "e"), ("segment",)),
)
REFUSALS = (
    said("{host} is stopping; ask another machine", host="acor"),
    said("{host} has a full disk; ask another machine", host="acor"),
    said("{host} has a full disk; submit on another machine", host="acor"),
    said("workflow {workflow} is finished and was cleaned up", workflow="line"),
    said("no workflow {workflow} is known on {host}", workflow="line", host="acor"),
    said("workflow {workflow} has no task {task}", workflow="line", task="segment"),
    said("nothing to cancel in {workflow}: all of it has ended", workflow="line"),
    said("nothing to retry in {workflow}: no task of it failed or was cancelled", workflow="line"),
    said("workflow {workflow} has ended; its priority moves nothing", workflow="line"),
    said("{task} has ended; its priority moves nothing", task="merge"),
    said("{task} is no manual step known on {host}", task="look", host="acor"),
    said("{task} is marked done already", task="look"),
    said("{task} cannot be marked done yet: it is {state}", task="look", state=said("waiting")),
    said("{task} needs {what} of {gate}: attach it", task="look", what="scan", gate="gate"),
)
MOVES = (
    (told.Became("Submitted"), why.SetOff("Submit")),
    (told.Became("Submitted", why=told.WaitsFor("segment")), why.SetOff("Submit")),
    (told.Became("Ready"), why.SetOff("InputsThere")),
    (told.Became("Scheduled", "acor"), why.ToldBy("cagarro")),
    (told.Became("Running", "acor"), why.SetOff("InputsFetched")),
    (told.Became("Running", "grifo", "acor"), why.ToldBy("cagarro")),
    (told.Became("Suspended", "acor"), why.SetOff("PresenceChanged")),
    (told.Became("Terminated", "acor"), why.SetOff("OutputsCopied")),
    (told.Became("Aborted", "acor", why=told.FailedOften(3, ERROR)), why.SetOff("ChildFailed")),
    (told.Became("Aborted", "acor", why=told.FailedOnce(ERROR)), why.SetOff("ChildFailed")),
    (told.Became("Cancelled", why=told.Cancelled()), why.SetOff("Cancel")),
    (told.Became("Waiting"), why.SetOff("InputsThere")),
    (told.ClaimedBy("acor"), why.Opaque("")),
    (told.ClaimedAhead("acor"), why.Opaque("")),
    (told.OutcomeMoved("acor", "grifo"), why.Opaque("a cause of a later version")),
    (told.OutputsLost(2), why.Opaque("")),
    (sharing.Prioritised(100), why.Opaque("")),
    (sharing.CopyClaimed("acor"), why.Opaque("")),
    (sharing.MachineWoken("acor"), why.Opaque("")),
    (sharing.PassedBy("grifo"), why.Opaque("")),
    (sharing.ResultsDiffer("acor", "grifo"), why.Opaque("")),
    (told.ClaimWithdrawn("the place is taken by now"), why.Opaque("")),
)
LINK: dict[str, Any] = {
    "host": "acor",
    "name": "office",
    "error": "no way",
    "address": "10.0.0.2:29464",
    "dated_ms": 1_773_144_000_000,
    "length_ms": 5_000,
    "count": 3,
    "limit": 9,
}
LINKS: tuple[Reason, ...] = (
    *(links.NoLink(kind, **LINK) for kind in get_args(links.LinkKind)),
    links.LinkGone(links.NoLink("Silent", length_ms=600_000)),
    links.RefusesThis(links.NoLink("NotMember")),
    *(links.NoMulticast(kind, "broken") for kind in get_args(links.MulticastKind)),
    why.AsksToBeLetIn("acor", "ana"),
    why.AsksToBeLetIn("acor", ""),
    why.AnswerWanted(),
)
WRONG: dict[str, Any] = {
    "peer": why.MachineNamed("acor"),
    "why": links.NoLink("NobodyAnswers"),
    "name": "office",
    "places": ("10.0.0.2", "10.0.0.9"),
    "address": "10.0.0.2:29464",
    "folder": "/data",
    "error": "no keeper answers",
    "port": 29464,
    "count": 3,
    "dated_ms": 1_773_144_000_000,
    "length_ms": 5_000,
}
DIAGNOSES: tuple[Reason, ...] = (
    *(why.Diagnosis(kind, **WRONG) for kind in get_args(why.DiagnosisKind)),
    why.Diagnosis("PeerRefuses", why.MachineAt("10.0.0.9:29464"), why.Opaque("It said so.")),
)

Said = Callable[[], str]


def families() -> dict[str, list[tuple[str, Said]]]:
    """By family, what the agent says and how the window says it."""
    return {
        "presence": list(_of_values(PRESENCE)),
        "told to the flock": list(_of_values(TOLD)),
        "sources": list(_of_values(SOURCES)),
        "ends": list(_of_values(ENDS)),
        "ends of runs": list(_of_values(CAUSES + RUNS)),
        "waiting": list(_of_values(WAITING)),
        "fitting": list(_of_values(FITTING)),
        "refusals": [(f"{worded(each)}.", partial(_refused, each)) for each in REFUSALS],
        "causes": list(_of_values([*map(why.SetOff, EVENTS), why.ToldBy("acor")])),
        "links": list(_of_values(LINKS)),
        "what is wrong": list(_of_values(DIAGNOSES)),
        "moves": list(_of_moves()),
    }


def _of_values(reasons: Iterable[Reason]) -> Iterator[tuple[str, Said]]:
    for each in reasons:
        yield Speech(NOW_MS).say(each), partial(OwnSpeech(NOW_MS).say, each)


def _of_moves() -> Iterator[tuple[str, Said]]:
    speech = Speech(NOW_MS)
    for what, by in MOVES:
        texts = speech.say(what), speech.say(by)
        move = Move(NOW_MS, *texts, why.as_why(what), why.as_why(by))
        yield f"{texts[0]} ({texts[1]})", partial(story_line, move)


def _refused(fault: Phrase) -> str:
    return sentence_of(RequestError(Problem(ErrorCode.REFUSED, "", as_raw(fault))))
