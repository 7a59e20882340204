"""`wingbeat volunteering`: whether this machine helps, why, and by which rules; `pause` gives it back
for a while, `resume` ends that.
"""

from __future__ import annotations

import argparse
import re
from itertools import chain
from typing import get_args

from msgspec.structs import replace

from agent.api.volunteering import (
    NOT_YET,
    PAUSE,
    RESUME,
    RUNNING_PROGRAMS,
    SET_VOLUNTEERING,
    UNHELPFUL,
    VOLUNTEERING,
    Hours,
    Pause,
    Resume,
    RunningPrograms,
    SetVolunteering,
    Volunteering,
    VolunteeringView,
    VolunteerMode,
    VolunteerRules,
    Weekday,
    counting,
)
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import ask, with_loop
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import helping, moment, show_json, show_lines, show_rows
from agent.wording.english import HOW_TO_ANSWER

DAYS = get_args(Weekday)
YES_NO = {"yes": True, "no": False}
ANSWERS = tuple(each for each in get_args(VolunteerMode) if each != NOT_YET)
UNITS_S = {"m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_LENGTH = re.compile(r"(\d{1,6}(?:\.\d+)?)(min|m|h|d)")


# -- what is typed -----------------------------------------------------------------------------------


def _hours(text: str) -> list[Hours]:
    days, equals, span = text.partition("=")
    begins, dash, ends = span.partition("-")
    if not (equals and dash):
        raise argparse.ArgumentTypeError(f"{text!r} is not like mon-fri=18:00-07:00")
    return [Hours(day, _clock(begins), _clock(ends)) for day in _days(days.strip())]


def _clock(text: str) -> str:
    """8:00 is what people type; the contract has two digits everywhere."""
    hours, colon, minutes = text.strip().partition(":")
    return f"{hours.zfill(2)}{colon}{minutes}" if hours.isdecimal() else text.strip()


def _days(text: str) -> list[Weekday]:
    first, _, last = text.partition("-")
    begins, ends = _day(first), _day(last or first)
    count = (ends - begins) % len(DAYS) + 1
    return [DAYS[(begins + step) % len(DAYS)] for step in range(count)]


def _day(text: str) -> int:
    found = [at for at, day in enumerate(DAYS) if len(text) >= 2 and day.startswith(text.lower())]
    if len(found) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no day: write mon, tue, wed and so on")
    return found[0]


def _length(text: str) -> float:
    """0 means until tomorrow."""
    if text == "tomorrow":
        return 0.0
    found = _LENGTH.fullmatch(text)
    length_s = float(found[1]) * UNITS_S[found[2]] if found else 0.0
    if not 1 <= length_s <= 31_536_000:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time: write 15m, 1h, 2d or tomorrow, up to a year"
        )
    return length_s


# -- whether it helps --------------------------------------------------------------------------------


@command(
    "volunteering",
    "Show whether this machine helps, why, what each source of presence sees, and the rules;\n"
    "with options, set rules. `wingbeat pause` and `wingbeat resume` lie over them. A machine of\n"
    "which nobody has said when it may help helps nobody. What is submitted on a machine itself runs\n"
    "there in every mode, unless it is paused: at once until somebody has answered, in the mode 'not\n"
    "now', and where it is interactive; else by the rules.",
    "wingbeat volunteering",
    "wingbeat volunteering --mode 'when idle' --idle 10",
    "wingbeat volunteering --mode 'by schedule' --hours mon-fri=18:00-07:00 --hours sat=00:00-24:00",
    "wingbeat volunteering --own-only yes",
    "wingbeat volunteering --who ana,bia",
    "wingbeat volunteering --ban ana,render",
    "wingbeat volunteering --warn 30",
    "wingbeat volunteering --running",
    argument("--mode", choices=ANSWERS, help="when this machine helps"),
    argument(
        "--hours",
        action="append",
        type=_hours,
        metavar="DAYS=FROM-TO",
        help="like mon-fri=18:00-07:00",
    ),
    argument("--idle", type=float, metavar="MINUTES", help="nobody was there for so long"),
    argument("--others-cpu", type=int, metavar="PERCENT", help="at most by others"),
    argument("--free-memory", type=int, metavar="MB", help="at least so much is free"),
    argument("--lets-end", type=float, metavar="MINUTES", help="let end what ends so soon"),
    argument("--warn", type=float, metavar="SECONDS", help="say so before it takes this machine"),
    argument("--who", metavar="NAMES", help="whom it helps: everybody, nobody, or ana,bia"),
    argument("--ban", metavar="NAMES", help="of whom it takes no work: nobody, or ana,pato,render"),
    argument("--exclusive", action="append", metavar="PROGRAM", help="never beside it"),
    argument("--mains-only", choices=YES_NO, help="not on battery"),
    argument(
        "--full-screen", choices=YES_NO, help="a full-screen program counts as somebody there"
    ),
    argument("--calls", choices=YES_NO, help="who uses a microphone or camera counts as there"),
    argument("--own-only", choices=YES_NO, help="only workflows that were submitted here"),
    argument("--running", action="store_true", help="list your programs, for --exclusive"),
)
@with_loop
async def volunteering(options: Options, client: Client) -> int:
    """Show whether this machine helps, why, what each source sees and by which rules, after
    changing those rules that the options give; where nobody has said yet when it may help, say how.
    With ``--running`` list the programs that run instead. Return the exit code."""
    view = await client.call(VOLUNTEERING, Volunteering())
    rules = _changed(view.rules, options)
    if rules != view.rules:
        view = await client.call(SET_VOLUNTEERING, SetVolunteering(rules))
    if options.running:
        running = await client.call(RUNNING_PROGRAMS, RunningPrograms())
        show_json(running) if options.json else show_lines(running.names)
        return exits.DONE
    if options.json:
        show_json(view)
        return exits.DONE
    _show_state(view)
    if view.sources:
        show_rows(
            view.sources,
            SOURCE=lambda each: each.source,
            SEES=lambda each: "yes" if each.sees else "no",
            WHAT=lambda each: each.text,
        )
    show_lines(_rules(view))
    if view.fixed:
        show_lines([f"fixed by {view.fixed_by}, which only an administrator changes"])
    elif not view.answered and view.rules.mode != NOT_YET:
        show_lines(["an administrator has chosen the mode; `--mode` changes it"])
    if view.rules.mode == NOT_YET:
        show_lines([HOW_TO_ANSWER])
    return exits.DONE


def _show_state(view: VolunteeringView) -> None:
    """Whether this machine helps, and until when it pauses, in a sentence or two."""
    helps = view.volunteering and not view.owner_present
    lines = [f"this machine {helping(view, helps=helps)}"]
    until = f"until {moment(view.paused_until_ms)}" if view.paused_until_ms else ""
    if view.finishing:
        lines.append(f"it pauses when what runs has ended{f', {until}' if until else ''}")
    elif view.paused:
        lines.append(f"paused {until or 'until `wingbeat resume`'}")
    show_lines(lines)


def _rules(view: VolunteeringView) -> list[str]:
    rules = view.rules
    hours = ", ".join(f"{each.day[:3]} {each.begins}-{each.ends}" for each in rules.hours)
    facts = {
        "hours": ("hours", hours),
        "idle_s": ("idle for", f"{rules.idle_s / 60:g} min"),
        "others_cpu_percent": ("others' CPU", f"at most {rules.others_cpu_percent} %"),
        "free_memory_mb": ("free memory", f"at least {rules.free_memory_mb} MB"),
        "on_mains_only": ("on mains only", "yes" if rules.on_mains_only else "no"),
        "full_screen_counts": ("full screen counts", "yes" if rules.full_screen_counts else "no"),
        "calls_count": ("calls count", "yes" if rules.calls_count else "no"),
        "exclusive_programs": ("never beside", ", ".join(rules.exclusive_programs)),
        "own_only": ("own work only", "yes" if rules.own_only else "no"),
        "people": ("helps", ", ".join(rules.people) or "everybody"),
        "bans": ("takes no work of", _bans(rules.bans)),
        "lets_end_s": (
            "lets end within",
            f"{rules.lets_end_s / 60:g} min" if rules.lets_end_s else "",
        ),
        "warn_s": ("warns before", f"{rules.warn_s:g} s" if rules.warn_s else ""),
    }
    count = counting(rules)
    return [
        f"  {'mode':<19}{rules.mode}{_fixed(view, 'mode')}",
        *(
            f"  {name:<19}{value}{'' if field in count else '  (no matter in this mode)'}"
            f"{_fixed(view, field)}"
            for field, (name, value) in facts.items()
            if value
        ),
    ]


def _named(names: str) -> tuple[str, ...]:
    return () if names == "nobody" else tuple(each.strip() for each in names.split(","))


def _bans(names: tuple[str, ...]) -> str:
    return f"{', '.join(names)} (of people nothing proves the name)" if names else ""


def _served(options: Options) -> tuple[bool | None, tuple[str, ...] | None]:
    """Whether only own work runs, and for whom else it works; None where nothing was said."""
    own_only = YES_NO.get(options.own_only)
    match options.who:
        case None:
            return own_only, None
        case "nobody":
            return True, None
        case "everybody":
            return own_only or False, ()
        case names:
            return own_only or False, tuple(each.strip() for each in names.split(","))


def _fixed(view: VolunteeringView, rule: str) -> str:
    return "  (fixed)" if rule in view.fixed else ""


def _changed(rules: VolunteerRules, options: Options) -> VolunteerRules:
    """The rules with what the options give; only its own work is an answer to when it may help."""
    own_only, people = _served(options)
    answered = "always" if own_only and rules.mode in UNHELPFUL else None
    told = {
        "mode": options.mode or answered,
        "hours": None if options.hours is None else tuple(chain(*options.hours)),
        "idle_s": None if options.idle is None else options.idle * 60,
        "others_cpu_percent": options.others_cpu,
        "free_memory_mb": options.free_memory,
        "lets_end_s": None if options.lets_end is None else options.lets_end * 60,
        "exclusive_programs": None if options.exclusive is None else tuple(options.exclusive),
        "on_mains_only": YES_NO.get(options.mains_only),
        "full_screen_counts": YES_NO.get(options.full_screen),
        "calls_count": YES_NO.get(options.calls),
        "own_only": own_only,
        "people": people,
        "bans": None if options.ban is None else _named(options.ban),
        "warn_s": options.warn,
    }
    return replace(rules, **{name: value for name, value in told.items() if value is not None})


@command(
    "pause",
    "Have this machine stop: what runs on it, for others and for yourself, is suspended at once and\n"
    "given back after five minutes; nothing begins. Without a time, until `wingbeat resume`. Kept\n"
    "over restarts.",
    "wingbeat pause",
    "wingbeat pause 15m",
    "wingbeat pause 4h",
    "wingbeat pause tomorrow",
    "wingbeat pause --finish",
    argument("length", nargs="?", type=_length, metavar="TIME", help="15m, 1h, tomorrow"),
    argument("--finish", action="store_true", help="let what runs now end first"),
)
def pause(options: Options) -> int:
    """Pause this machine for the time that is given, with a length of 0 until tomorrow, with None
    until somebody resumes; with ``--finish`` what runs now may end first. Show what holds then, and
    return the exit code."""
    tomorrow = options.length == 0.0
    wanted = Pause(None if tomorrow else options.length, tomorrow, options.finish)
    return ask(options, PAUSE, wanted, _show_state)


@command(
    "resume",
    "End a pause: this machine helps again by its rules.",
    "wingbeat resume",
)
def resume(options: Options) -> int:
    """End a pause, if there is one, and show whether this machine helps now; return the exit
    code."""
    return ask(options, RESUME, Resume(), _show_state)
