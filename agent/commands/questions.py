"""Commands that are one question to the agent: a row each, told apart by nothing but their words.

A row says what is typed, what is asked with it, and how the answer reads. What needs more than one
question, or decides something itself, has a file of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from agent.api.admission import Nearby, NearbyReply, Refuse
from agent.api.flock import (
    Expel,
    Expelled,
    FlockCreate,
    Joined,
    Leave,
    Left,
    Members,
    MembersReply,
)
from agent.api.methods import (
    CANCEL,
    EXPEL,
    FLOCK_CREATE,
    LEAVE,
    MEMBERS,
    NEARBY,
    PRIORITY,
    REFUSE,
    RESUME,
    RETRY,
    WHY,
    Method,
)
from agent.api.values import NamedPriority
from agent.api.volunteering import Resume
from agent.api.work import Cancel, Retry, SetPriority, Story, Why, Wished
from agent.commands.asking import ask
from agent.commands.parsing import client_parser, command_parser
from agent.commands.showing import moment, show_lines, show_table
from agent.commands.volunteering import show_state

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)
Options = argparse.Namespace


class Argument(NamedTuple):
    """What is typed behind the command, as argparse has it."""

    name: str
    told: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One command. ``run`` asks and shows; only some may ask another machine's agent (`--node`)."""

    description: str
    examples: tuple[str, ...]
    arguments: tuple[Argument, ...]
    run: Callable[[Options], int]
    any_node: bool


def question(
    method: Method[P, R],
    params: Callable[[Options], P],
    show: Callable[[Options, R], None],
    description: str,
    *examples: str,
    arguments: tuple[Argument, ...] = (),
    any_node: bool = False,
) -> Question:
    """Return a row whose types fit: what is asked, and what the answer is shown by."""

    def run(options: Options) -> int:
        return ask(options, method, params(options), lambda answer: show(options, answer))

    return Question(description, examples, arguments, run, any_node)


def run(name: str, arguments: list[str]) -> int:
    """Ask the question of this name; return the exit code."""
    asked = QUESTIONS[name]
    make = client_parser if asked.any_node else command_parser
    parser = make(name, asked.description, *(f"wingbeat {each}" for each in asked.examples))
    for each in asked.arguments:
        parser.add_argument(each.name, **each.told)
    return asked.run(parser.parse_args(arguments))


def priority(text: str) -> NamedPriority:
    """Return a priority as it is typed; raise ``ArgumentTypeError`` when it is none."""
    names: dict[str, NamedPriority] = {"low": "low", "interactive": "interactive"}
    if text in names:
        return names[text]
    if text.isascii() and text.isdecimal() and int(text) <= 100:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not low, interactive, or a number up to 100")


# -- how answers read ------------------------------------------------------------------------------


def _show_story(_: Options, story: Story) -> None:
    show_lines([story.now, *(f"- {each}" for each in story.machines)])
    show_lines(f"  {moment(move.at_ms)}  {move.what} ({move.cause})" for move in story.moves)


def _show_cancelled(options: Options, wished: Wished) -> None:
    """Of some tasks the rest of the workflow goes on."""
    tasks = options.tasks
    what = f"{' and '.join(tasks)} of {wished.workflow}" if tasks else wished.workflow
    are = "are" if len(tasks) > 1 else "is"
    if wished.verdict == "cancelling":
        show_lines([f"{what} {are} being cancelled: what still runs is stopped now"])
    else:
        show_lines([f"{what} {are} cancelled{f' ({wished.text})' if wished.text else ''}"])


def _show_made(_: Options, joined: Joined) -> None:
    made = f"the flock {joined.flock} is made, with {joined.name} as its first machine"
    show_lines([made, "`wingbeat flock invite` lets others in"])


def _show_expelled(_: Options, expelled: Expelled) -> None:
    gone = f"{expelled.name} ({expelled.node}) does not belong any more"
    show_lines([gone, *_warning(expelled.warning)])


def _show_left(_: Options, left: Left) -> None:
    show_lines([f"this machine has left the flock {left.flock}", *_warning(left.warning)])


def _warning(text: str) -> list[str]:
    return [f"warning: {text}"] if text else []


def _show_members(_: Options, reply: MembersReply) -> None:
    rows = [
        (
            f"{member.name} (this one)" if member.own else member.name,
            "keeper" if member.keeper else "",
            member.node,
            moment(member.valid_until_ms),
        )
        for member in reply.members
    ]
    show_lines([f"flock {reply.flock}"])
    show_table(("NAME", "ROLE", "ID", "CERTIFICATE UNTIL"), rows)
    for gone in reply.departures:
        how = "was sent away" if gone.expelled else "left"
        show_lines([f"{gone.name} ({gone.node}) {how} on {moment(gone.at_ms)}"])


def _show_nearby(_: Options, reply: NearbyReply) -> None:
    askable = {True: "can be asked", False: "no keeper answers"}
    rows = [
        (
            each.name,
            str(each.machines or ""),
            "this machine belongs to it" if each.own else askable[each.askable],
            each.flock,
        )
        for each in reply.flocks
    ]
    if rows:
        show_table(("NAME", "MACHINES", "STATE", "ID"), rows)
    else:
        show_lines(["no flock tells of itself on this network"])
    if reply.trouble:
        show_lines([reply.trouble])


# -- the questions ---------------------------------------------------------------------------------

WORKFLOW = Argument("workflow", {"metavar": "WORKFLOW", "help": "its name, or the beginning of it"})
TASKS = Argument(
    "tasks",
    {"nargs": "*", "default": (), "metavar": "TASK", "help": "all of them if none is named"},
)

QUESTIONS: dict[str, Question] = {
    "why": question(
        WHY,
        lambda options: Why(options.task),
        _show_story,
        "Tell in sentences why a task waits or moved, as far as this machine saw it.",
        "why survey/merge",
        "why merge",
        arguments=(Argument("task", {"metavar": "TASK", "help": "its name, or workflow/name"}),),
        any_node=True,
    ),
    "cancel": question(
        CANCEL,
        lambda options: Cancel(options.workflow, tuple(options.tasks)),
        _show_cancelled,
        "Cancel a workflow, or some of its tasks with all that depends on them.",
        "cancel survey",
        "cancel survey merge check",
        arguments=(WORKFLOW, TASKS),
        any_node=True,
    ),
    "retry": question(
        RETRY,
        lambda options: Retry(options.workflow, tuple(options.tasks)),
        lambda _, wished: show_lines([f"{wished.workflow}: {wished.text}"]),
        "Try failed and cancelled tasks again, with what they need of other such tasks. What "
        "finished is kept.",
        "retry survey",
        "retry survey merge",
        arguments=(WORKFLOW, TASKS),
        any_node=True,
    ),
    "priority": question(
        PRIORITY,
        lambda options: SetPriority(options.workflow, options.priority),
        lambda options, wished: show_lines(
            [f"{wished.workflow} is of priority {options.priority} now"]
        ),
        "Change the priority of a workflow: low (50), interactive (100), or 0 to 100.",
        "priority survey interactive",
        "priority survey 10",
        arguments=(
            WORKFLOW,
            Argument(
                "priority",
                {"type": priority, "metavar": "PRIORITY", "help": "low, interactive, or 0 to 100"},
            ),
        ),
        any_node=True,
    ),
    "resume": question(
        RESUME,
        lambda _: Resume(),
        lambda _, view: show_state(view),
        "End a pause: this machine helps again by its rules.",
        "resume",
        any_node=True,
    ),
    "flock create": question(
        FLOCK_CREATE,
        lambda options: FlockCreate(options.name),
        _show_made,
        "Make a flock with this machine as its first and its keeper.",
        "flock create workshop",
        arguments=(Argument("name", {"metavar": "NAME"}),),
    ),
    "flock nearby": question(
        NEARBY,
        lambda _: Nearby(),
        _show_nearby,
        "Show the flocks that tell of themselves on this network. What they are called is their\n"
        "own word; `wingbeat flock ask` has two people compare a code.",
        "flock nearby",
    ),
    "flock refuse": question(
        REFUSE,
        lambda options: Refuse(" ".join(options.who)),
        lambda _, answered: show_lines([f"{answered.name} is not let in"]),
        "Do not let a machine in that asks. It is told so, and may ask again.",
        'flock refuse "418 230"',
        "flock refuse laptop-7",
        arguments=(
            Argument(
                "who", {"nargs": "+", "metavar": "CODE|NAME", "help": "its code, or its name"}
            ),
        ),
    ),
    "flock members": question(
        MEMBERS,
        lambda _: Members(),
        _show_members,
        "Show who belongs to the flock, and who did. Keepers can let machines in and send them\n"
        "away.",
        "flock members",
    ),
    "flock expel": question(
        EXPEL,
        lambda options: Expel(options.name),
        _show_expelled,
        "Send a machine away, for ever: it is cut off everywhere within seconds.",
        "flock expel laptop-7",
        arguments=(Argument("name", {"metavar": "NAME", "help": "its name or id"}),),
    ),
    "flock leave": question(
        LEAVE,
        lambda options: Leave(options.even_as_last_keeper),
        _show_left,
        "Leave the flock. What this machine runs is handed back, and it goes on alone.",
        "flock leave",
        arguments=(
            Argument(
                "--even-as-last-keeper",
                {"action": "store_true", "help": "although nobody can let machines in after that"},
            ),
        ),
    ),
}
