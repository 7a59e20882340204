"""Commands that are one question to the agent: a row each, told apart by nothing but their words.

A row says what is typed, what is asked with it, and how the answer reads. What needs more than one
question, or decides something itself, is a function in a file of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from agent.api.admission import NEARBY, Nearby, NearbyReply
from agent.api.flock import (
    FLOCK_CREATE,
    LEAVE,
    MEMBERS,
    PEERS,
    FlockCreate,
    Joined,
    Leave,
    Left,
    Members,
    MembersReply,
    Peers,
    PeersReply,
)
from agent.api.rpc import Method, P, R
from agent.api.values import NamedPriority
from agent.api.work import (
    CANCEL,
    PRIORITY,
    WHY,
    Cancel,
    SetPriority,
    Story,
    Why,
    Wished,
)
from agent.commands.asking import ask
from agent.commands.parsing import Argument, CommandLine, Options, argument, command
from agent.commands.showing import counted, duration, moment, phrase_lines, show_lines, show_rows

CLOCK_SHOWN_MS_MIN = 1_000
HOW_TO_JOIN = (
    "This machine belongs to no flock and works alone.",
    "To join one, ask somebody in it for an invitation: wingbeat flock join -",
    "To make one with this machine as its first: wingbeat flock create NAME",
)


def question(
    name: str,
    method: Method[P, R],
    params: Callable[[Options], P],
    show: Callable[[Options, R], None],
    description: str,
    *words: str | Argument,
    node: bool = False,
    bad: Callable[[R], bool] = lambda _: False,
) -> CommandLine:
    """Make a command that asks the agent one question, and enter it into ``KNOWN``, in the place of
    one of the same name: ``params`` makes the question of the options, ``show`` prints the answer
    (not with ``--json``), and for a ``bad`` one the exit code is that of a failure. ``words`` are
    examples and arguments; with ``node`` another member can be asked."""

    @command(name, description, *words, node=node)
    def run(options: Options) -> int:
        return ask(options, method, params(options), lambda reply: show(options, reply), bad)

    return run


def priority(text: str) -> NamedPriority:
    """Return a priority as it is typed: ``low`` and ``interactive`` as they are, else the whole
    number from 0 to 100; raise ``ArgumentTypeError`` when it is none."""
    names: dict[str, NamedPriority] = {"low": "low", "interactive": "interactive"}
    if text in names:
        return names[text]
    if text.isascii() and text.isdecimal() and int(text) <= 100:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not low, interactive, or a number up to 100")


def step_priority(text: str) -> tuple[str, NamedPriority]:
    """Return step and priority typed as STEP=PRIORITY; raise ``ArgumentTypeError`` when the text is
    no such pair."""
    name, equals, value = text.rpartition("=")
    if not (equals and name):
        raise argparse.ArgumentTypeError(f"{text!r} is not STEP=PRIORITY")
    return name, priority(value)


# -- how answers read ------------------------------------------------------------------------------


def _show_story(_: Options, story: Story) -> None:
    show_lines([story.now, *(f"- {each}" for each in story.machines)])
    for move in story.moves:
        cause = f" ({move.cause})" if move.cause else ""
        show_lines([f"  {moment(move.at_ms)}  {move.what}{cause}"])


def _show_cancelled(options: Options, wished: Wished) -> None:
    """Of some tasks the rest of the workflow goes on."""
    tasks, workflow = options.tasks, _called(wished)
    what = f"{' and '.join(tasks)} of {workflow}" if tasks else workflow
    are = "are" if len(tasks) > 1 else "is"
    if wished.verdict == "cancelling":
        show_lines([f"{what} {are} being cancelled: what still runs is stopped now"])
    else:
        show_lines([f"{what} {are} cancelled{f' ({wished.text})' if wished.text else ''}"])


def _show_priority(options: Options, wished: Wished) -> None:
    steps, workflow = options.step, _called(wished)
    what = f"{' and '.join(steps)} of {workflow}" if steps else workflow
    are = "are" if len(steps) > 1 else "is"
    show_lines([f"{what} {are} of priority {options.priority} now"])


def _called(wished: Wished) -> str:
    """What people call the workflow; an agent of before took that for its id."""
    return wished.name or wished.workflow


def _show_made(_: Options, joined: Joined) -> None:
    made = f"the flock {joined.flock} is made, with {joined.name} as its first machine"
    phrase = phrase_lines(joined.phrase) if joined.phrase else []
    show_lines([made, *phrase, "`wingbeat flock invite` lets others in"])


def _show_left(_: Options, left: Left) -> None:
    show_lines([f"this machine has left the flock {left.flock}", *_warning(left.warning)])


def _warning(text: str) -> list[str]:
    return [f"warning: {text}"] if text else []


def _show_members(_: Options, reply: MembersReply) -> None:
    show_lines([f"flock {reply.flock}"])
    show_rows(
        reply.members,
        NAME=lambda each: f"{each.name} (this one)" if each.own else each.name,
        ROLE=lambda each: f"{each.role}, keeper" if each.keeper else each.role,
        PERSON=lambda each: each.person,
        ID=lambda each: each.node,
        CERTIFICATE_UNTIL=lambda each: moment(each.valid_until_ms),
    )
    for gone in reply.departures:
        how = "was sent away" if gone.expelled else "left"
        show_lines([f"{gone.name} ({gone.node}) {how} on {moment(gone.at_ms)}"])


def _show_nearby(_: Options, reply: NearbyReply) -> None:
    askable = {True: "can be asked", False: "no keeper answers"}
    if reply.flocks:
        show_rows(
            reply.flocks,
            NAME=lambda each: each.name,
            MACHINES=lambda each: str(each.machines or ""),
            STATE=lambda each: "this machine belongs to it" if each.own else askable[each.askable],
            ID=lambda each: each.flock,
        )
    else:
        show_lines(["no flock tells of itself on this network"])
    if reply.trouble:
        show_lines([reply.trouble])


def _show_peers(_: Options, reply: PeersReply) -> None:
    if not reply.node.flock:
        show_lines([reply.warning] if reply.warning else HOW_TO_JOIN)
        return
    linked = sum(peer.state == "linked" for peer in reply.peers)
    others = f"{linked} of {counted(len(reply.peers), 'other')} linked"
    show_lines([f"{reply.node.name} in flock {reply.node.flock}, {others}"])
    if reply.peers:
        show_rows(
            reply.peers,
            NAME=lambda peer: peer.name,
            STATE=lambda peer: peer.state,
            HELPS=lambda peer: "" if peer.state == "away" else "yes" if peer.volunteering else "no",
            ADDRESS=lambda peer: peer.address,
            VERSION=lambda peer: peer.version,
            ROUND_TRIP=lambda peer: (
                "" if peer.round_trip_ms is None else f"{peer.round_trip_ms:.1f} ms"
            ),
            CLOCK=lambda peer: clock_told(peer.clock_ahead_ms),
            REASON=lambda peer: peer.reason,
        )
    if reply.warning:
        show_lines([f"warning: {reply.warning}"])
    if linked < len(reply.peers):
        show_lines(["`wingbeat doctor` tells what to do about those that are away."])


def clock_told(ahead_ms: int | None) -> str:
    """Return by how much a clock is ahead of the one here, or behind; "right" below a second, empty
    where it is not known."""
    if ahead_ms is None:
        return ""
    if abs(ahead_ms) < CLOCK_SHOWN_MS_MIN:
        return "right"
    return f"{duration(abs(ahead_ms) / 1000)} {'ahead' if ahead_ms > 0 else 'behind'}"


# -- the questions ---------------------------------------------------------------------------------

STEP_PRIORITY = argument(
    "--step-priority",
    action="append",
    default=[],
    type=step_priority,
    metavar="STEP=PRIORITY",
    help="that of one step, in the place of the workflow's; may be given again",
)
WORKFLOW = argument("workflow", metavar="WORKFLOW", help="its name or id, or the beginning of one")
TASKS = argument(
    "tasks", nargs="*", default=(), metavar="TASK", help="all of them if none is named"
)

QUESTIONS: tuple[CommandLine, ...] = (
    question(
        "peers",
        PEERS,
        lambda _: Peers(),
        _show_peers,
        "Show the machines of the flock as this one sees them, and why some are away.",
        "wingbeat peers",
        "wingbeat peers --json",
        node=True,
    ),
    question(
        "why",
        WHY,
        lambda options: Why(options.task),
        _show_story,
        "Tell in sentences why a task waits or moved, as far as this machine saw it.",
        "wingbeat why survey/merge",
        "wingbeat why merge",
        argument("task", metavar="TASK", help="its name, or workflow/name"),
        node=True,
    ),
    question(
        "cancel",
        CANCEL,
        lambda options: Cancel(options.workflow, tuple(options.tasks)),
        _show_cancelled,
        "Cancel a workflow, or some of its tasks with all that depends on them.",
        "wingbeat cancel survey",
        "wingbeat cancel survey merge check",
        WORKFLOW,
        TASKS,
        node=True,
    ),
    question(
        "priority",
        PRIORITY,
        lambda options: SetPriority(options.workflow, options.priority, tuple(options.step)),
        _show_priority,
        "Change the priority of a workflow, or of steps of it alone: low (50), interactive (100), or\n"
        "0 to 100. A step that has one of its own keeps it when that of its workflow is changed.",
        "wingbeat priority survey interactive",
        "wingbeat priority survey 10",
        "wingbeat priority survey --step merge interactive",
        WORKFLOW,
        argument(
            "priority", type=priority, metavar="PRIORITY", help="low, interactive, or 0 to 100"
        ),
        argument(
            "--step",
            action="append",
            default=[],
            metavar="STEP",
            help="this step alone; may be given again",
        ),
        node=True,
    ),
    question(
        "flock create",
        FLOCK_CREATE,
        lambda options: FlockCreate(options.name),
        _show_made,
        "Make a flock with this machine as its first, its administrator and keeper.",
        "wingbeat flock create workshop",
        argument("name", metavar="NAME"),
    ),
    question(
        "flock nearby",
        NEARBY,
        lambda _: Nearby(),
        _show_nearby,
        "Show the flocks that tell of themselves on this network. What they are called is their\n"
        "own word; `wingbeat flock ask` has two people compare a code.",
        "wingbeat flock nearby",
    ),
    question(
        "flock members",
        MEMBERS,
        lambda _: Members(),
        _show_members,
        "Show who belongs to the flock, and who did. Administrators let machines in and send them\n"
        "away, operators submit, helpers only run what others submit; keepers hold the flock's key.",
        "wingbeat flock members",
    ),
    question(
        "flock leave",
        LEAVE,
        lambda options: Leave(options.even_as_last_keeper),
        _show_left,
        "Leave the flock. What this machine runs is handed back, and it goes on alone.",
        "wingbeat flock leave",
        argument(
            "--even-as-last-keeper",
            action="store_true",
            help="although nobody can let machines in after that",
        ),
    ),
)
