"""A sentence for each reason. They are also what the window translates.

Values stand by name in braces; ``speech`` says which field of a reason fills which place. A ``%n``
is the field ``count``, and ``(s)`` behind a word is said of several.
"""

from __future__ import annotations

from agent.api import choice_reasons as choice
from agent.api import presence_reasons as presence
from agent.api import reasons as api
from agent.protocol import link_reasons as links
from agent.protocol import reasons as told
from agent.protocol import sharing_reasons as sharing
from agent.protocol.reasons import Reason
from agent.wording.belonging import BELONGING, SENT_AWAY
from agent.wording.belonging import HOW_TO_JOIN as HOW_TO_JOIN  # noqa: PLC0414 - of the same page
from agent.wording.events import EVENTS as EVENTS  # noqa: PLC0414 - of the same page
from agent.wording.matching import MATCHING

HOW_TO_ANSWER = (
    "nobody has said yet when this machine may help, so it helps nobody: `wingbeat volunteering --mode "
    "'when idle'` lets it help while nobody uses it; 'always', 'by schedule' and 'not now' are answers "
    "too, and so is `--own-only yes`"
)
_COPIED = (
    "on the machine that got the copy end Wingbeat, delete its data folder (here that is {folder}), "
    "start it again and join with a new invitation"
)
_LEAVE_IT = (
    "if the machine you miss belongs there, leave that flock on it (`wingbeat flock leave`) and "
    "join this one"
)
_SET_CLOCKS, _TYPED = "set all by the same time server", "`addresses` in settings.toml"
HELPING, PAUSED, HELPS_NOBODY = "Helping: ", "Paused: ", "Not helping: "
"""How sentences of this machine begin where they stand alone."""
SENTENCES: dict[type[Reason] | str, str] = {
    # Whether a machine helps, as it tells the flock.
    told.Starting: "starting",
    told.SetToAlways: "set to always",
    told.NobodyAnswered: "nobody has said yet when it may help",
    told.OwnWorkOnly: "it runs only what is submitted on it",
    told.NobodyUsesIt: "nobody uses it",
    told.LikelyFreeUntil: "nobody uses it, likely free until {when}",
    told.LikelyFreeForLong: "nobody uses it, likely free for two hours or more",
    told.PausedByOwner: "paused by its owner",
    told.FinishingThenPaused: "finishing what it runs",
    told.OutsideHours: "outside its hours",
    told.CannotSeeOwner: "it cannot be seen whether somebody uses it",
    told.OwnerWarned: "it is about to help, and lets its owner say no first",
    told.OwnerUsesIt: "its owner uses it",
    told.SomebodyElseUsesIt: "somebody else uses it",
    told.OnBattery: "it runs on battery",
    told.OthersBusy: "other programs are busy on it",
    told.ShortOfMemory: "it is short of memory",
    told.CannotConfine: "it cannot confine programs",
    told.HelpsNotNow: "it does not help now",
    told.NotOfFlock: "does not belong to {flock} any more",
    # What ended a run.
    "AgentStops": "the agent stops",
    "BadOutput": "delivered an output that cannot be named: {error}",
    "CannotRun": "{program} cannot be run: {error}",
    "DiskFull": "the disk is full",
    "DiskLeft": "{program} was ended, because the disk has only {took} left",
    "EndedItself": "{program} ended itself as cancelled{scarce}{said}",
    "ExitCode": "{program} exited with code {count}{scarce}{said}",
    "FinishedBy": "{host} has finished it",
    "GaveWay": "it was a copy, and gave its place to other work",
    "InputMissing": "input {dataset} could not be fetched",
    "NewIncarnation": "this agent goes by a new incarnation",
    "NoOutput": "{program} ended well but left no {error}, which its description declares",
    "NoRoom": "could not be started: the disk has {took} free, it needs {bound}",
    "NotCommitted": "its outcome could not be committed: {error}",
    "NotFetched": "{error}",
    "NotFollowed": "could not be followed: {error}",
    "NotGranted": "could not be started: {program} asks for more than it is allowed here",
    "NotStarted": "could not be started: {error}",
    "OwnerBack": "the owner is back",
    "OwnerBans": "the owner takes no such work",
    "ProgramGone": "could not be started: the program {program} is not here any more",
    "ProgramNotReady": "{program} is not ready here: {error}",
    "Pruned": "the workflow was pruned",
    "RanTooLong": "{program} ran for longer than {limit} s, which is its limit{scarce}{said}",
    "RowStands": "what runs before it takes long",
    "SaidError": "{program} {error}{scarce}{said}",
    "SaidOnlyError": "{program} says ERROR, not which{scarce}{said}",
    "Signal": "{program} was ended by signal {count}{scarce}{said}",
    "SupersededBy": "superseded by {host}",
    "TakenOver": "a machine that suits it better had become free",
    "TookMemory": "{program} took {took} of memory, its limit is {bound}{scarce}",
    "TookProcesses": "{program} started {count} processes, its limit is {limit}",
    "TooFewOutputs": "{program} names {count} outputs, it has {limit}",
    "TooMuchMade": "{program} made {count} files and folders and names none of them as outputs, "
    "of which at most {limit} are kept: put them into one folder, or name its outputs",
    "Unconfined": "{program} could not be started: programs cannot be confined on this machine",
    "WasSilent": "{program} neither progressed nor printed anything for {limit} s, which is its "
    "limit{scarce}{said}",
    "WroteTooMuch": "{program} wrote {took}, its limit is {bound}{scarce}",
    # How a run ended that was not the outcome.
    "Failed": "it failed on {host}{because}",
    "Evicted": "{host} gave it back{because}",
    "Yielded": "{host} left off{because}",
    "Lost": "the agent of {host} died running it",
    "Died": "the agent of {host} died before it began",
    # Why a task is where it is.
    told.Cancelled: "cancelled",
    told.FailedOnce: "failed: {error}",
    told.FailedSilently: "failed",
    told.FailedOften: "failed %n time(s){last}",
    told.AgentDied: "an agent died running it",
    told.AgentsDied: "{count} agents died running it",
    told.WaitsFor: "waits for {task}",
    told.WaitsForSeveral: "waits for {tasks}",
    told.WaitsForMany: "waits for %n task(s)",
    told.WaitsForUnknown: "waits for {task}, not known here yet",
    told.NeedsGivenUp: "needs {task}, which was given up",
    told.NeedsCancelled: "needs {task}, which was cancelled",
    told.NeedsOutput: "needs output {place} of {task}, which delivered {count}",
    # What became of a task.
    told.Became: "{state}{on}{left}{because}",
    told.OutcomeMoved: "outcome changed from {before} to {host}",
    told.OutputsLost: "outputs lost, runs again in generation {generation}",
    told.ClaimedBy: "claimed by {host}",
    told.ClaimedAhead: "claimed ahead by {host}",
    told.ClaimWithdrawn: "claim withdrawn: {text}",
    sharing.MachineWoken: "{host} is asleep, and is woken for it",
    sharing.CopyClaimed: "{host} begins a copy of it",
    sharing.Prioritised: "its own priority is {priority} now",
    # Why there is no link with a machine.
    "BrokeOff": "it broke the connection off",
    "CalledByOther": "something that is not wingbeat called from there",
    "CannotHandle": "its message could not be handled here",
    "CertificateBegins": "its certificate is not valid yet: compare the clocks",
    "CertificateEnded": "its certificate has expired, or the clock here is ahead",
    "CertificateEndedHere": "it says that this machine's certificate has ended, or its clock differs",
    "CertificateFrom": "its certificate is valid from {date} only: compare the clocks of both machines",
    "CertificateMissingHere": "it takes members only, and this machine showed no certificate",
    "CertificateOfOther": "its certificate is not of the flock {name}",
    "CertificateRefusedHere": "it does not accept this machine's certificate",
    "CertificateRevoked": "its certificate is revoked",
    "CertificateRevokedHere": "it says that this machine's certificate is revoked",
    "CertificateUnreadable": "{error}",
    "CertificateUntil": "its certificate ended on {date}: it has to join with a new invitation",
    "ClosedGreeting": "it closed the connection",
    "ExpelledFrom": "{host} was expelled from {name}",
    "HasLeft": "it left the flock on {date}",
    "IdentityLinked": "an agent with the same identity is linked, from {address}: a copied disk?",
    "IdentityTaken": "another agent has the identity of this one",
    "IsItself": "that is this node itself",
    "LeftFlock": "{host} left {name}",
    "LinkBroke": "{error}",
    "LinkClosed": "the other side closed the link",
    "LinkedAlready": "there is a link already",
    "NewerLink": "a newer connection takes its place",
    "NoKnownProtocol": "it speaks no protocol that this version of Wingbeat knows",
    "NoTls": "it does not speak TLS",
    "NobodyAnswers": "nothing answers: it is off, elsewhere, or behind a firewall",
    "NobodyListens": "no Wingbeat listens there: it may not be running, or on another port",
    "NotLetIn": "no keeper whose word counts has let it in: it has to join with a new invitation",
    "NotMember": "not a member of this flock",
    "NotWanted": "it is not wanted any more",
    "NotWingbeat": "something that is not wingbeat answers there",
    "OfOtherFlock": "it belongs to another flock",
    "OtherAnswers": "another node, {name}, answers there now",
    "OtherTls": "it speaks another version of TLS",
    "OtherVersion": "it speaks another version of wingbeat",
    "OutOfFavour": "it lost its link for what it sent, a moment ago",
    "SaidGoodbye": "said goodbye: {error}",
    "SendsTooMuch": "it sends more than {count} frames or {limit} bytes/s",
    "SentNonsense": "it sent what no agent sends: {error}",
    "SentUnreadable": "{error}",
    "ShowsNoCertificate": "it shows no certificate: it has to join the flock first",
    "ShowsNothing": "it showed no certificate",
    "Silent": "silent for {length}",
    "Stopping": "the agent there is stopping",
    "TellsWrong": "what it tells is not taken: {error}",
    "TlsFailed": "TLS failed: {error}",
    "TooManyConnections": "too many connections at once",
    "TooManyGreet": "too many connections from there are greeting at once",
    "TooManyTransfers": "too many transfers with this peer at once",
    "TooSlow": "it did not finish greeting within {length}",
    "Unreachable": "it cannot be reached: {error}",
    "WasExpelled": "it was expelled from the flock on {date}",
    links.LinkGone: "its link is gone: {why}",
    links.RefusesThis: "it refuses this machine: {why}",
    "MulticastFails": "{error}",
    "NetworkRefuses": "the network refuses it ({error})",
    "NoNetwork": "no network is up",
    "NotAllowed": "this system does not allow it",
    "PortOfMulticastTaken": "another program keeps UDP port 5353 to itself",
    **MATCHING,
    # Why a source cannot see.
    presence.SystemSays: "{text}",
    presence.NotLookedAt: "it has not been looked at yet",
    presence.StillMeasured: "it has to be measured for a few seconds",
    presence.NothingShowsIt: "nothing on this system shows it",
    presence.NoScreen: "this agent was not started in a graphical session; start it from the desktop, or "
    "set it to always or by schedule with idle_s = 0",
    presence.NoSession: "this agent was not started in a graphical session",
    presence.WaylandHidesIt: "X11 sees only part of what happens in a Wayland session",
    presence.ServerGone: "the X server has gone",
    presence.CompositorGone: "the compositor has gone",
    presence.DisplayAway: "display {display} cannot be reached ({error})",
    presence.NoBus: "there is no {name} bus",
    presence.WindowsSilent: "Windows does not tell ({error})",
    presence.WindowsHidesSession: "Windows does not tell of the session in which this runs",
    presence.ProgramsHidden: "the list of programs cannot be read ({error})",
    presence.WindowsUnsure: "Windows does not know it either",
    presence.RunsAsService: "it runs as a service, which sees no keyboard: start it with the desktop",
    presence.SourceFailed: "its source failed: {error}",
    # What fills the screen.
    presence.ProgramFills: "a program fills the screen",
    presence.MicrophoneUsed: "{app} uses the microphone",
    presence.CameraUsed: "{app} uses the camera",
    presence.NamedFills: "{name} fills the screen",
    presence.GameFills: "a game fills the screen",
    presence.PresentationOn: "a presentation is on",
    presence.ScreenKeptOn: "a program keeps the screen on",
    # For whoever sits here.
    presence.PausedUntilResumed: "Paused until you resume",
    presence.PausedUntil: "Paused until {when}",
    presence.PauseUnreadable: "Paused: what was last asked for, in {file}, cannot be read; resume to go on",
    presence.FinishingTask: "Finishing this task, then paused{until}",
    presence.FinishingTasks: "Finishing {count} tasks, then paused{until}",
    presence.HeldOutsideHours: "Paused: it is outside its hours",
    presence.HeldUntilHour: "Paused: outside its hours until {when}",
    presence.HeldByProgram: "Paused: {names} runs",
    presence.HeldSinceProgram: "Paused: an exclusive program has ended only {ago} ago",
    presence.HeldByOthers: "Paused: {names} uses this machine",
    presence.HeldByMouse: "Paused: you moved the mouse {ago} ago",
    presence.HeldByInput: "Paused: you used the keyboard or mouse {ago} ago",
    presence.HeldByTerminal: "Paused: somebody typed in {where} {ago} ago",
    presence.HeldByTouchOfLock: "Paused: somebody touched the locked screen {ago} ago",
    presence.HeldByBattery: "Paused: this machine runs on battery",
    presence.HeldSincePlugged: "Paused: this machine was plugged in only {ago} ago",
    presence.HeldByScreen: "Paused: {why}",
    presence.HeldSinceScreen: "Paused: a program filled the screen until {ago} ago",
    presence.HeldByMeeting: "Paused: {why}",
    presence.HeldSinceMeeting: "Paused: a call ended only {ago} ago",
    presence.HeldByLoad: "Paused: other programs use {percent} % of the processor, more than {limit} %",
    presence.HeldSinceLoad: "Paused: other programs used more than {limit} % of the processor a moment ago",
    presence.HeldByMemory: "Paused: only {size} of memory are free, {kept_size} are kept for you",
    presence.HeldSinceMemory: "Paused: memory came free only {ago} ago",
    presence.HeldBlind: "Paused: cannot see {what}, because {why}",
    presence.HeldUnconfined: "Not helping: programs cannot be confined on this machine",
    presence.HelpsSoon: "Not helping yet: in {soon} this machine works for others; `wingbeat pause 1h` says not now",
    presence.NotAnswered: "Not helping: nobody has said yet when this machine may",
    presence.HelpsNobody: "Not helping: its owner said not now",
    presence.HelpsItself: "Not helping: only what is submitted on this machine runs",
    presence.HelpsAlways: "Helping: set to always",
    presence.HelpsLocked: "Helping: the screen is locked{load}",
    presence.HelpsEmpty: "Helping: nobody is logged in{load}",
    presence.HelpsIdle: "Helping: no input for {time}{load}",
    presence.HelpsByRules: "Helping: the rules allow it{load}",
    # What each source sees.
    presence.Blind: "{source}: cannot be seen, because {why}",
    presence.LastInputSeen: "Last input seen {ago} ago{by}",
    presence.LastInputInTerminal: "Last input seen {ago} ago in {where}{by}",
    presence.NobodyLoggedIn: "Nobody is logged in at a screen{by}",
    presence.ScreenLocked: "The screen is locked{by}",
    presence.ScreenUnlocked: "The screen is not locked{by}",
    presence.ScreenLockedOthers: "The screen is locked; {names} uses another{by}",
    presence.ScreenUnlockedOthers: "The screen is not locked; {names} uses another{by}",
    presence.MainsSeen: "This machine is on mains{by}",
    presence.BatterySeen: "This machine runs on battery{by}",
    presence.NothingFills: "Nothing fills the screen{by}",
    presence.ScreenFilled: "{why_large}{by}",
    presence.NoMeeting: "No program uses a microphone or camera{by}",
    presence.MeetingSeen: "{why_large}{by}",
    presence.LoadSeen: "Other programs use {percent} % of the processor{by}",
    presence.LoadSeenBusy: "Other programs use {percent} % of the processor, counted as busy{by}",
    presence.MemorySeen: "{size} of memory are free{by}",
    presence.ProgramsSeen: "{names} runs{by}",
    presence.NoProgramSeen: "No exclusive program runs{by}",
    # What a task waits for.
    api.SaysNoReason: "it says no reason",
    api.PausedSomehow: "paused",
    api.CancelledStopping: "cancelled; still being stopped on {hosts}",
    api.WaitsForNeeds: "waits for what it needs",
    api.NoHelper: "no machine helps now (this one: {why})",
    api.NotForPerson: "owners say whom they help, and on {hosts} {person} is not among them",
    api.OwnHelper: "1 of 1 machine helps now, none has taken it yet",
    api.SomeHelpers: "{count} of {every} machines help now, none has taken it yet",
    api.NoTaker: "none of the machines that could run it has taken it yet",
    "NobodyAllowsNetwork": "no machine allows network to {program}",
    "NobodyAllowsReading": "no machine lets {program} read {name}",
    "NobodyAllowsDevice": "no machine lets {program} use the device {name}",
    "NobodyGivesSecret": "no machine gives the secret {name} to {program}",
    "NobodyHasSecret": "no machine has the secret {name}",
    "NobodyHasShare": "no machine has {name}: its owner names a folder for it in the settings",
    api.NoFittingHelper: "no machine that helps now can run it",
    api.WaitsForAcceptance: "{hosts} could run it, but nobody there has allowed {program} yet",
    api.AllowedAreBusy: "{busy} may run {program} and has other work, and on {hosts} nobody has "
    "allowed it yet",
    api.TaskWaits: "{task} {why}",
    api.TaskReady: "{task} has all that it needs; {why}",
    api.GateWaits: "{task} waits until a person marks it done: {asks}",
    choice.TaskFetches: "{host} has taken {task} and fetches its inputs{merits}",
    choice.TaskRuns: "{task} runs on {host}{merits}",
    choice.RunsFaster: "{times} times as fast as usual",
    choice.FreeUntil: "likely free until {when}",
    choice.FreeForLong: "likely free for two hours or more",
    choice.AlsoOn: "a second run of it goes on on {hosts}",
    choice.LeftFor: "it waits for {host}, where it ends sooner than on a machine that is free now",
    api.MachineGone: "no word of {host} for {time}",
    api.TaskOnGone: "{task} was in hand on {host}, of which there is no word for {time}: it begins anew as "
    "soon as another machine takes it",
    api.TaskSuspended: "{task} is suspended on {host}, whose owner needs the machine; others may take it "
    "if that lasts",
    api.TaskOffered: "{task} is suspended on {host}, whose owner needs the machine, and others may take it; "
    "{why}",
    api.TaskFinished: "{task} finished on {host}",
    api.TaskCancelled: "{task} is cancelled",
    api.TaskStopping: "{task} is cancelled, still being stopped on {hosts}",
    api.TaskFailedOnce: "{task} failed: {error}",
    api.TaskFailed: "{task} has {why}",
    api.TaskAborted: "{task} failed: {why}",
    api.TaskCancelledFor: "{task} is cancelled: {why}",
    api.NotAcceptedYet: "{host} does not take the published program {program}: `wingbeat "
    "permissions` there tells who asks, and lets it",
    api.DoesNotHelp: "{host} could run it and does not help: {why}",
    api.FailedBefore: "{host} could run it, and failed at it before",
    api.SlotTaken: "{host} could run it, and its slot is taken",
    api.SlotsTaken: "{host} could run it, and all its {slots} slots are taken",
    api.CouldRun: "{host} could run it",
    presence.CouldRunUntil: "{host} could run it, and is likely free until {when}",
    api.AcceptanceNeeded: "{hosts} {run} {programs} only when somebody there accepts {them}: "
    "`wingbeat permissions` there tells who asks",
    # What a name means.
    api.NewestOf: "the newest of {count} called {name} is meant: {workflow}, submitted {submitted}",
    # What set a move off.
    api.ToldBy: "told by {host}",
    api.SetOff: "{event}",
    # About machines.
    api.IdentityCopied: "two machines have the identity of {name} (at {places}); `wingbeat doctor` "
    "tells what to do",
    api.AnswerWanted: HOW_TO_ANSWER,
    api.AsksToBeLetIn: "{name}{by_user} asks to be let in: `wingbeat flock requests` tells more",
    api.VersionFinishes: "Wingbeat {version} is installed: it starts when what runs here has ended, at "
    "once with `wingbeat restart --now`",
    api.VersionAsks: "Wingbeat {version} is installed: `wingbeat restart` starts it when what runs here "
    "has ended",
    api.OlderAsks: "Wingbeat {version} is installed, which is older than what runs: it starts with "
    "`wingbeat restart`, and refuses data and settings whose format it does not know",
    api.NewerElsewhere: "Wingbeat {version} runs on {hosts}, and {own} on this machine: install the same "
    "version here when you can",
    api.MachineNamed: "{name}",
    api.MachineAt: "the machine at {address}",
    # What is wrong, and what to do.
    **BELONGING,
    "ClockAhead": f"the clock of {{peer}} is {{length}} ahead of the one here: {_SET_CLOCKS}",
    "ClockBehind": f"the clock of {{peer}} is {{length}} behind the one here: {_SET_CLOCKS}",
    "DefaultsWrong": "{error} (the other settings for all users of this machine hold)",
    "ConfinedNothing": "programs cannot be confined here, so nothing of others runs: {error}",
    "ConfinementOff": "programs have all rights of this account here: remove `confinement` from settings.toml",
    "DiscoveryOff": f"discovery is switched off here: type the addresses of other machines, {_TYPED}",
    "DiskOfDataFull": "the disk of {folder} is full: make room, new work is refused until then",
    "IdentityOfTwo": f"two machines have the identity of {{peer}} (at {{places}}): {_COPIED}",
    "InvitationInVain": "this machine did not join by the invitation in {folder}: {error}",
    "JoinsByInvitation": "this machine joins a flock by the invitation in {folder} as soon as "
    "{places} can be reached{last}",
    "JournalMended": "the journal was mended ({error}): what it lacks is taken from other machines",
    "LaidDownUnknown": "{error} (a later version may know it; the rest of the file holds)",
    "ListensNowhere": "this machine listens nowhere: look into its log, and start the agent again",
    "MulticastUnusable": "multicast cannot be used here ({why}): until that is mended, type the "
    f"addresses of other machines, {_TYPED}",
    "NobodyHeard": "nobody is heard by multicast although it can be used: see that the network is "
    "marked as private, that firewalls let UDP 5353 and TCP {port} pass, and that the access point "
    f"does not keep machines apart; or type addresses, {_TYPED}",
    "OtherFlockHere": f"another flock is on this network too: {_LEAVE_IT}",
    "OtherFlocksHere": f"{{count}} other flocks are on this network too: {_LEAVE_IT}",
    "OtherPort": "port {port_wanted} was used by another program when the agent started, so this "
    "machine is reached at {port}: see that firewalls let TCP {port} pass, or choose a port of its "
    "own (`wingbeat settings --port`)",
    "OwnClockAhead": "the clock of this machine is {length} ahead of those of all others: "
    f"{_SET_CLOCKS}",
    "OwnClockBehind": "the clock of this machine is {length} behind those of all others: "
    f"{_SET_CLOCKS}",
    "OwnIdentityCopied": "another machine has the same identity as this one, so a data folder was "
    f"copied: {_COPIED}",
    "OwnerOverruled": "what the owner's settings say of {name} does nothing, for {folder} fixes it: remove "
    "it from the one or the other",
    "PeerBusy": "{peer} takes no more connections for now: wait a minute, then look at its log",
    "PeerCertificateEnded": "the certificate of {peer} has ended, or a clock is wrong: compare the "
    "clocks of both; if they are right, leave the flock on {peer} and join again with a new "
    "invitation",
    "PeerCertificateNotYet": "the certificate of {peer} is not valid yet by the clock of this "
    "machine: set both clocks by the same time server",
    "PeerElsewhere": "another machine than {peer} answers at {address}: see where {peer} is now, and "
    f"correct the address if it was typed in, {_TYPED}",
    "PeerInTheWay": "{peer} kept tasks from beginning and gave no reason that holds, so its word on them is "
    "not waited for: update or restart the agent there, or have the machine sent away",
    "PeerLost": "{peer} was linked and is gone ({why}): see that it is switched on, awake and runs "
    "Wingbeat, and that its network works",
    "PeerNotWingbeat": "something that is not Wingbeat answers at the address of {peer} ({address}): "
    f"give Wingbeat another port there, or correct the address in {_TYPED}",
    "PeerOfOtherFlock": "{peer} belongs to another flock: leave that there (`wingbeat flock leave`) "
    "and join this one again with a new invitation",
    "PeerOfOtherVersion": "{peer} runs a version of Wingbeat that this one cannot talk to: update "
    "the older of both",
    "PeerRefuses": "{peer} and this machine do not accept each other ({why}): compare the clocks of "
    "both, and look at `wingbeat flock members` on both for who was sent away and joins again",
    "PeerSlow": "{peer} at {address} answers too slowly to be greeted: look at its load and its "
    "network",
    "PeerUnreachable": "{peer} does not answer at {address} ({why}): see that it is switched on and "
    "awake, that both are on one network, and that its firewall lets Wingbeat accept connections",
    "PeerUnreadable": "{peer} sent what this machine cannot read ({why}): update Wingbeat on both",
    "PolicyWrong": "{error} (until then this machine helps nobody, for the policy may forbid it)",
    "RulesDiffer": "this machine decides by the rules {name} who runs what, and by others do {places}: "
    "install the same version on all (`wingbeat settings --policy` chooses rules for the flock)",
    "DataNotForThem": "{peer} asked {count} times for data of work that it neither runs nor shares, and got none: "
    "its person may ask the submitter to share it",
    "RecordsForged": "records in the name of {peer} were refused ({count} times), as it has not signed them: "
    "somebody in the flock forges them, or the identity of {peer} is used twice",
    "RecordsNotTheirs": "wishes of {peer} for the work of others were refused ({count} times): who submitted "
    "the work decides, or an administrator of the flock",
    "RecordsTooMany": "{peer} fills the table of the flock, and {count} of its records were left out: remove work "
    "of {peer} that nobody needs, or see what its machine does",
    "RecordsUnsigned": "records of {peer} without a signature were refused ({count} times): update Wingbeat there",
    "ResultsDiffer": "{name} was finished with different results by {places}: run it again on another "
    "machine, and compare; its program may also give something else each time",
    "UnheardMany": "nothing was heard of {name} and {count} more since this agent started: see that "
    f"they are switched on and run Wingbeat on the same network, or type their addresses, {_TYPED}",
    "UnheardOne": "nothing was heard of {peer} since this agent started: see that it is switched on "
    f"and runs Wingbeat on the same network, or type its address, {_TYPED}",
}
SOURCES = {
    "last input": "Last input",
    "sessions": "Screens",
    "mains": "Mains",
    "full screen": "Full screen",
    "meeting": "Calls",
    "processor": "Processor",
    "memory": "Memory",
    "programs": "Exclusive programs",
}
"""What a source of presence is called."""
SIGHTS = {
    "last input": "keyboard and mouse",
    "mains": "whether this machine is on mains",
    "full screen": "whether a program fills the screen",
    "meeting": "whether somebody is in a call",
    "processor": "how busy the processor is",
    "memory": "how much memory is free",
    "programs": "which programs run",
}
"""What cannot be seen, where a source is blind."""
STATES = {
    "Running": "running",
    "Suspended": "suspended",
    "Scheduled": "fetching inputs",
    "Waiting": "waits for a person",
    "Aborted": "failed",
    "Ready": "ready",
    "Submitted": "waiting",
    "Cancelled": "cancelled",
    "Terminated": "done",
    "finished": "done",
    "Failed": "failed",
    "Evicted": "given back",
    "Yielded": "left off",
    "Lost": "lost",
}
"""What the states of tasks, workflows and runs are called, in the order in which people want to hear of them;
those that are not here are called as they are."""
CLAUSES = {
    "by": ", by {way}",
    "load": ", other programs use {load_percent} % of the processor",
    "until": " until you resume",
    "last": ", last: {error}",
    "said": ": {last}",
    "scarce": ", while the disk has only {left} left",
    "on": " on {host}",
    "left": ", no longer on {host}",
    "merits": "; what speaks for that machine: {what}",
    "because": ": {why}",
    "others": "%n other(s)",
    "stands": "from {what}",
    "runs": "%n earlier run(s)",
    "runs between": "%n earlier run(s) ({low} to {high})",
    "told": "the lengths that were told",
    "progress": "its own progress",
    "user": " (user {user})",
}
"""Parts of sentences that are there or not."""
UNKNOWN = {
    "system": "an unknown system",
    "architecture": "unknown",
    "address": "an unknown address",
    "asks": "no reason given",
    "installed": "none, or does not say which",
    "app": "a program",
}
"""By the name of a field: what stands for nothing in it."""


def sent_away(flock: str) -> str:
    """Return what a person has to do at a machine that was expelled from this flock."""
    return SENT_AWAY.format(name=flock)
