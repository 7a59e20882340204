"""Why this machine helps or not, and what sources see; the flock is told less (``protocol.reasons``)."""

from __future__ import annotations

from agent.protocol.reasons import Opaque, Reason

# -- why a source of presence cannot see -----------------------------------------------------------


class SystemSays(Reason, frozen=True):
    """An error of the system, a screen server or a bus, in its own words."""

    text: str


class NotLookedAt(Reason, frozen=True):
    """Nobody has asked this source yet."""


class StillMeasured(Reason, frozen=True):
    """The processor's use shows only after some seconds."""


class NothingShowsIt(Reason, frozen=True):
    """This system has no source of this kind."""


class NoScreen(Reason, frozen=True):
    """The agent runs outside of any graphical session."""


class NoSession(Reason, frozen=True):
    """The environment names no screen."""


class WaylandHidesIt(Reason, frozen=True):
    """X11 is there, and sees only its own programs."""


class ServerGone(Reason, frozen=True):
    """The X server ended."""


class CompositorGone(Reason, frozen=True):
    """The Wayland compositor ended."""


class DisplayAway(Reason, frozen=True):
    """The screen that the environment names does not answer."""

    display: str
    error: str


class NoBus(Reason, frozen=True):
    """There is no D-Bus of this name."""

    name: str


class WindowsSilent(Reason, frozen=True):
    """A call of Windows failed."""

    error: str


class WindowsHidesSession(Reason, frozen=True):
    """Windows lists sessions, and not the one in which this runs."""


class ProgramsHidden(Reason, frozen=True):
    """The system does not list its programs."""

    error: str


class WindowsUnsure(Reason, frozen=True):
    """Windows was asked and does not know."""


class RunsAsService(Reason, frozen=True):
    """A service of Windows has no keyboard to look at."""


class SourceFailed(Reason, frozen=True):
    """The source is at fault; the log tells more."""

    error: str


Blindness = (
    Opaque
    | SystemSays
    | NotLookedAt
    | StillMeasured
    | NothingShowsIt
    | NoScreen
    | NoSession
    | WaylandHidesIt
    | ServerGone
    | CompositorGone
    | DisplayAway
    | NoBus
    | WindowsSilent
    | WindowsHidesSession
    | ProgramsHidden
    | WindowsUnsure
    | RunsAsService
    | SourceFailed
)


# -- what fills the screen --------------------------------------------------------------------------


class ProgramFills(Reason, frozen=True):
    """A program whose name is not known."""


class NamedFills(Reason, frozen=True):
    """A program by its name."""

    name: str


class GameFills(Reason, frozen=True):
    """Windows calls it a game."""


class PresentationOn(Reason, frozen=True):
    """Somebody gives a talk."""


class ScreenKeptOn(Reason, frozen=True):
    """A film or a talk keeps the screen from going dark."""


Filling = ProgramFills | NamedFills | GameFills | PresentationOn | ScreenKeptOn


# -- what a call uses --------------------------------------------------------------------------------


class MicrophoneUsed(Reason, frozen=True):
    """Somebody is recorded; ``app`` is empty where the program is not known."""

    app: str


class CameraUsed(Reason, frozen=True):
    """A program uses a camera, so somebody is there."""

    app: str


Meeting = MicrophoneUsed | CameraUsed


# -- why this machine does not help, or helps: for whoever sits here ---------------------------------


class PausedUntilResumed(Reason, frozen=True):
    """A person paused it until further notice."""


class PausedUntil(Reason, frozen=True):
    """A person paused it for a while."""

    until_ms: int


class PauseUnreadable(Reason, frozen=True):
    """The file that keeps the pause is damaged, so it counts as one."""

    file: str


class FinishingTask(Reason, frozen=True):
    """One task is let end, then it pauses."""

    open_ended: bool


class FinishingTasks(Reason, frozen=True):
    """Several tasks are let end, then it pauses."""

    count: int
    open_ended: bool


class HeldOutsideHours(Reason, frozen=True):
    """No hour of the schedule is ahead."""


class HeldUntilHour(Reason, frozen=True):
    """The next hour of the schedule begins then."""

    until_ms: int


class HeldByProgram(Reason, frozen=True):
    """Exclusive programs run."""

    names: tuple[str, ...]


class HeldSinceProgram(Reason, frozen=True):
    """An exclusive program ended lately."""

    at_ms: int


class HeldByOthers(Reason, frozen=True):
    """These people have a screen in use."""

    names: tuple[str, ...]


class HeldByMouse(Reason, frozen=True):
    """The pointer moved then."""

    at_ms: int


class HeldByInput(Reason, frozen=True):
    """A key, or the mouse, was used then."""

    at_ms: int


class HeldByTerminal(Reason, frozen=True):
    """Somebody typed in a terminal."""

    where: str
    at_ms: int


class HeldByTouchOfLock(Reason, frozen=True):
    """Somebody is about to unlock the screen."""

    at_ms: int


class HeldByBattery(Reason, frozen=True):
    """It is not on mains, and the rules want that."""


class HeldSincePlugged(Reason, frozen=True):
    """It came to mains lately."""

    at_ms: int


class HeldByScreen(Reason, frozen=True):
    """Something fills the screen."""

    why: Filling


class HeldSinceScreen(Reason, frozen=True):
    """Something filled the screen lately."""

    at_ms: int


class HeldByMeeting(Reason, frozen=True):
    """Somebody is in a call."""

    why: Meeting


class HeldSinceMeeting(Reason, frozen=True):
    """Somebody was in a call lately."""

    at_ms: int


HeldByCall = HeldByMeeting | HeldSinceMeeting


class HeldByLoad(Reason, frozen=True):
    """Other programs use more of the processor than the rules let them."""

    percent: int
    limit: int


class HeldSinceLoad(Reason, frozen=True):
    """They did lately."""

    limit: int


class HeldByMemory(Reason, frozen=True):
    """Less is free than is kept for the owner."""

    size_mb: int
    kept_mb: int


class HeldSinceMemory(Reason, frozen=True):
    """Memory came free lately."""

    at_ms: int


class HeldBlind(Reason, frozen=True):
    """What the rules ask for cannot be seen. ``sight`` is the kind of source."""

    sight: str
    whys: tuple[Blindness, ...]


class HeldUnconfined(Reason, frozen=True):
    """Programs cannot be held to a boundary here, so none of others runs."""


class HelpsSoon(Reason, frozen=True):
    """Nothing holds it back any more; it helps from then on, unless somebody says no."""

    begins_ms: int


class NotAnswered(Reason, frozen=True):
    """It helps nobody, because nobody has said yet when it may."""


class HelpsNobody(Reason, frozen=True):
    """Its owner was asked when it may help, and said: not now."""


class HelpsItself(Reason, frozen=True):
    """It may work, and its owner lets it run only what is submitted here."""


class HelpsAlways(Reason, frozen=True):
    """Its owner lets it help whatever happens."""


class HelpsLocked(Reason, frozen=True):
    """The screen is locked. ``load_percent`` is what other programs use, where that is seen."""

    load_percent: int | None = None


class HelpsEmpty(Reason, frozen=True):
    """Nobody is logged in."""

    load_percent: int | None = None


class HelpsIdle(Reason, frozen=True):
    """Nobody has touched it since then."""

    since_ms: int
    load_percent: int | None = None


class HelpsByRules(Reason, frozen=True):
    """No rule asks for more."""

    load_percent: int | None = None


# -- what each source sees: ``by`` is the way in which it does, or nothing ----------------------------


class Blind(Reason, frozen=True):
    """A source cannot see."""

    source: str
    whys: tuple[Blindness, ...]


class LastInputSeen(Reason, frozen=True):
    """At the screen."""

    at_ms: int
    by: str = ""


class LastInputInTerminal(Reason, frozen=True):
    """In a terminal of that name."""

    at_ms: int
    where: str
    by: str = ""


class NobodyLoggedIn(Reason, frozen=True):
    """At no screen."""

    by: str = ""


class ScreenLocked(Reason, frozen=True):
    """The owner's is."""

    by: str = ""


class ScreenUnlocked(Reason, frozen=True):
    """The owner's is not locked."""

    by: str = ""


class ScreenLockedOthers(Reason, frozen=True):
    """The owner's is locked, and these people use another."""

    names: tuple[str, ...]
    by: str = ""


class ScreenUnlockedOthers(Reason, frozen=True):
    """The owner's is not locked, and these people use another."""

    names: tuple[str, ...]
    by: str = ""


class MainsSeen(Reason, frozen=True):
    """It is plugged in."""

    by: str = ""


class BatterySeen(Reason, frozen=True):
    """It is not."""

    by: str = ""


class NothingFills(Reason, frozen=True):
    """No program fills the screen."""

    by: str = ""


class ScreenFilled(Reason, frozen=True):
    """Something does."""

    why: Filling
    by: str = ""


class NoMeeting(Reason, frozen=True):
    """No program uses a microphone or camera."""

    by: str = ""


class MeetingSeen(Reason, frozen=True):
    """A source says that somebody is in a call: a program uses microphone or camera."""

    why: Meeting
    by: str = ""


class LoadSeen(Reason, frozen=True):
    """So much of the processor others use."""

    percent: int
    by: str = ""


class LoadSeenBusy(Reason, frozen=True):
    """So much that it counts as busy."""

    percent: int
    by: str = ""


class MemorySeen(Reason, frozen=True):
    """So much is free."""

    size_mb: int
    by: str = ""


class ProgramsSeen(Reason, frozen=True):
    """Exclusive programs that run."""

    names: tuple[str, ...]
    by: str = ""


class NoProgramSeen(Reason, frozen=True):
    """No exclusive one runs."""

    by: str = ""


class CouldRunUntil(Reason, frozen=True):
    """Nothing is in the way, and its owner is expected about then."""

    host: str
    until_ms: int
