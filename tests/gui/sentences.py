"""What the agent says at run time, one of each kind, by family: what the golden file is made of.

A family whose facts still travel as sentences stands here as sentences, the others as values.
"""

from __future__ import annotations

from collections.abc import Callable

from gui.model.agent_words import cause_words, refusal_in_our_words, story_line, translated

PRESENCE = (
    "Finishing this task, then paused until you resume",
    "Finishing this task, then paused",
    "Finishing 3 tasks, then paused until you resume",
    "Finishing 3 tasks, then paused",
    "Paused until you resume",
    "Paused until 18:30",
    "Paused: what was last asked for, in /data/pause.json, cannot be read; resume to go on",
    "Paused: it is outside its hours",
    "Paused: outside its hours until 18:30",
    "Paused: blender and zoom runs",
    "Paused: an exclusive program has ended only 12 s ago",
    "Paused: ana uses this machine",
    "Paused: ana and bia uses this machine",
    "Paused: you used the keyboard or mouse 12 s ago",
    "Paused: you moved the mouse 12 s ago",
    "Paused: somebody typed in pts/3 2 min ago",
    "Paused: somebody touched the locked screen 12 s ago",
    "Paused: this machine runs on battery",
    "Paused: this machine was plugged in only 3 s ago",
    "Paused: a program fills the screen",
    "Paused: a game fills the screen",
    "Paused: a presentation is on",
    "Paused: a program keeps the screen on",
    "Paused: vlc fills the screen",
    "Paused: a program filled the screen until 3 s ago",
    "Paused: other programs use 37 % of the processor, more than 10 %",
    "Paused: other programs used more than 10 % of the processor a moment ago",
    "Paused: only 300 MB of memory are free, 1024 MB are kept for you",
    "Paused: memory came free only 12 s ago",
    "Paused: cannot see keyboard and mouse, because it has not been looked at yet",
    "Paused: cannot see which programs run, because nothing on this system shows it",
    "Paused: cannot see whether this machine is on mains, because there is no system bus",
    "Paused: cannot see whether a program fills the screen, because the X server has gone",
    "Paused: cannot see how much memory is free, because it has not been looked at yet",
    "Paused: cannot see how busy the processor is, because it has to be measured for a few seconds",
    "Helping: set to always",
    "Helping: the screen is locked, other programs use 3 % of the processor",
    "Helping: nobody is logged in, other programs use 3 % of the processor",
    "Helping: no input for 12 min, other programs use 3 % of the processor",
    "Helping: no input for 12 min",
    "Helping: the rules allow it, other programs use 3 % of the processor",
)
TOLD = (
    "set to always",
    "nobody uses it",
    "paused by its owner",
    "finishing what it runs",
    "outside its hours",
    "it cannot be seen whether somebody uses it",
    "its owner uses it",
    "somebody else uses it",
    "it runs on battery",
    "other programs are busy on it",
    "it is short of memory",
    "starting",
    "does not belong to office any more",
)
SOURCES = (
    "Last input seen 12 s ago, by X11",
    "Last input seen 12 s ago in pts/3, by terminals",
    "Nobody is logged in at a screen, by logind",
    "The screen is locked, by logind",
    "The screen is not locked, by logind",
    "The screen is locked; bia uses another, by logind",
    "The screen is not locked; bia and caio uses another, by logind",
    "This machine is on mains, by sysfs",
    "This machine runs on battery, by sysfs",
    "Nothing fills the screen, by X11",
    "A program fills the screen, by X11",
    "Vlc fills the screen, by X11",
    "Other programs use 37 % of the processor",
    "Other programs use 37 % of the processor, counted as busy",
    "2500 MB of memory are free",
    "No exclusive program runs",
    "blender and zoom runs",
    "Last input: cannot be seen, because this agent was not started in a graphical session; start it "
    "from the desktop, or set it to always or by schedule with idle_s = 0",
    "Screens: cannot be seen, because Windows does not tell (error 5)",
    "Mains: cannot be seen, because Windows does not know it either",
    "Full screen: cannot be seen, because X11 sees only part of what happens in a Wayland session",
    "Full screen: cannot be seen, because the compositor has gone",
    "Last input: cannot be seen, because display :0 cannot be reached (No such file or directory)",
    "Last input: cannot be seen, because nothing on this system shows it",
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
    "two machines have the identity of acor (at 10.0.0.2 and 10.0.0.9); `wingbeat doctor` tells more",
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
    plain = {
        "presence": PRESENCE,
        "told to the flock": TOLD,
        "sources": SOURCES,
        "ends": ENDS,
        "waiting": WAITING,
        "fitting": FITTING,
    }
    told: dict[str, list[tuple[str, Said]]] = {
        family: [(each, lambda each=each: translated(each)) for each in sentences]  # type: ignore[misc]
        for family, sentences in plain.items()
    }
    told["refusals"] = [(each, lambda each=each: refusal_in_our_words(each)) for each in REFUSALS]  # type: ignore[misc]
    told["causes"] = [(each, lambda each=each: cause_words(each)) for each in CAUSES]  # type: ignore[misc]
    told["moves"] = [(f"{what} ({cause})", lambda what=what, cause=cause: story_line(what, cause)) for what, cause in MOVES]  # type: ignore[misc]  # fmt: skip
    return told
