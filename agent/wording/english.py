"""A sentence for each reason. They are also what the window translates.

Values stand by name in braces; ``speech`` says which field of a reason fills which place. A ``%n``
is the field ``count``, and ``(s)`` behind a word is said of several.
"""

from __future__ import annotations

from agent.api import reasons as api
from agent.protocol import reasons as told
from agent.protocol.reasons import Reason

SENTENCES: dict[type[Reason], str] = {
    # Whether a machine helps, as it tells the flock.
    told.Starting: "starting",
    told.SetToAlways: "set to always",
    told.NobodyUsesIt: "nobody uses it",
    told.PausedByOwner: "paused by its owner",
    told.FinishingThenPaused: "finishing what it runs",
    told.OutsideHours: "outside its hours",
    told.CannotSeeOwner: "it cannot be seen whether somebody uses it",
    told.OwnerUsesIt: "its owner uses it",
    told.SomebodyElseUsesIt: "somebody else uses it",
    told.OnBattery: "it runs on battery",
    told.OthersBusy: "other programs are busy on it",
    told.ShortOfMemory: "it is short of memory",
    told.NotOfFlock: "does not belong to {flock} any more",
    # Why a source cannot see.
    api.SystemSays: "{text}",
    api.NotLookedAt: "it has not been looked at yet",
    api.StillMeasured: "it has to be measured for a few seconds",
    api.NothingShowsIt: "nothing on this system shows it",
    api.NoScreen: "this agent was not started in a graphical session; start it from the desktop, or "
    "set it to always or by schedule with idle_s = 0",
    api.NoSession: "this agent was not started in a graphical session",
    api.WaylandHidesIt: "X11 sees only part of what happens in a Wayland session",
    api.ServerGone: "the X server has gone",
    api.CompositorGone: "the compositor has gone",
    api.DisplayAway: "display {display} cannot be reached ({error})",
    api.NoBus: "there is no {name} bus",
    api.WindowsSilent: "Windows does not tell ({error})",
    api.WindowsHidesSession: "Windows does not tell of the session in which this runs",
    api.ProgramsHidden: "the list of programs cannot be read ({error})",
    api.WindowsUnsure: "Windows does not know it either",
    api.RunsAsService: "it runs as a service, which sees no keyboard: start it with the desktop",
    api.SourceFailed: "its source failed: {error}",
    # What fills the screen.
    api.ProgramFills: "a program fills the screen",
    api.NamedFills: "{name} fills the screen",
    api.GameFills: "a game fills the screen",
    api.PresentationOn: "a presentation is on",
    api.ScreenKeptOn: "a program keeps the screen on",
    # For whoever sits here.
    api.PausedUntilResumed: "Paused until you resume",
    api.PausedUntil: "Paused until {when}",
    api.PauseUnreadable: "Paused: what was last asked for, in {file}, cannot be read; resume to go on",
    api.FinishingTask: "Finishing this task, then paused{until}",
    api.FinishingTasks: "Finishing {count} tasks, then paused{until}",
    api.HeldOutsideHours: "Paused: it is outside its hours",
    api.HeldUntilHour: "Paused: outside its hours until {when}",
    api.HeldByProgram: "Paused: {names} runs",
    api.HeldSinceProgram: "Paused: an exclusive program has ended only {ago} ago",
    api.HeldByOthers: "Paused: {names} uses this machine",
    api.HeldByMouse: "Paused: you moved the mouse {ago} ago",
    api.HeldByInput: "Paused: you used the keyboard or mouse {ago} ago",
    api.HeldByTerminal: "Paused: somebody typed in {where} {ago} ago",
    api.HeldByTouchOfLock: "Paused: somebody touched the locked screen {ago} ago",
    api.HeldByBattery: "Paused: this machine runs on battery",
    api.HeldSincePlugged: "Paused: this machine was plugged in only {ago} ago",
    api.HeldByScreen: "Paused: {why}",
    api.HeldSinceScreen: "Paused: a program filled the screen until {ago} ago",
    api.HeldByLoad: "Paused: other programs use {percent} % of the processor, more than {limit} %",
    api.HeldSinceLoad: "Paused: other programs used more than {limit} % of the processor a moment ago",
    api.HeldByMemory: "Paused: only {size} of memory are free, {kept_size} are kept for you",
    api.HeldSinceMemory: "Paused: memory came free only {ago} ago",
    api.HeldBlind: "Paused: cannot see {what}, because {why}",
    api.HelpsAlways: "Helping: set to always",
    api.HelpsLocked: "Helping: the screen is locked{load}",
    api.HelpsEmpty: "Helping: nobody is logged in{load}",
    api.HelpsIdle: "Helping: no input for {time}{load}",
    api.HelpsByRules: "Helping: the rules allow it{load}",
    # What each source sees.
    api.Blind: "{source}: cannot be seen, because {why}",
    api.LastInputSeen: "Last input seen {ago} ago{by}",
    api.LastInputInTerminal: "Last input seen {ago} ago in {where}{by}",
    api.NobodyLoggedIn: "Nobody is logged in at a screen{by}",
    api.ScreenLocked: "The screen is locked{by}",
    api.ScreenUnlocked: "The screen is not locked{by}",
    api.ScreenLockedOthers: "The screen is locked; {names} uses another{by}",
    api.ScreenUnlockedOthers: "The screen is not locked; {names} uses another{by}",
    api.MainsSeen: "This machine is on mains{by}",
    api.BatterySeen: "This machine runs on battery{by}",
    api.NothingFills: "Nothing fills the screen{by}",
    api.ScreenFilled: "{why_large}{by}",
    api.LoadSeen: "Other programs use {percent} % of the processor{by}",
    api.LoadSeenBusy: "Other programs use {percent} % of the processor, counted as busy{by}",
    api.MemorySeen: "{size} of memory are free{by}",
    api.ProgramsSeen: "{names} runs{by}",
    api.NoProgramSeen: "No exclusive program runs{by}",
    # About machines.
    api.IdentityCopied: "two machines have the identity of {name} (at {places}); `wingbeat doctor` "
    "tells what to do",
}
SOURCES = {
    "last input": "Last input",
    "sessions": "Screens",
    "mains": "Mains",
    "full screen": "Full screen",
    "processor": "Processor",
    "memory": "Memory",
    "programs": "Exclusive programs",
}
"""What a source of presence is called."""
SIGHTS = {
    "last input": "keyboard and mouse",
    "mains": "whether this machine is on mains",
    "full screen": "whether a program fills the screen",
    "processor": "how busy the processor is",
    "memory": "how much memory is free",
    "programs": "which programs run",
}
"""What cannot be seen, where a source is blind."""
CLAUSES = {
    "by": ", by {way}",
    "load": ", other programs use {load_percent} % of the processor",
    "until": " until you resume",
}
"""Parts of sentences that are there or not."""
