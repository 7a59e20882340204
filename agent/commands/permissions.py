"""`wingbeat permissions`: what others want to run on this machine, in full, and the owner's answer to it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from difflib import unified_diff

from agent.api.permissions import (
    ASK_OWNERS,
    DISTRUST,
    PERMISSIONS,
    PERMIT,
    SCRIPTS,
    AskOwners,
    Distrust,
    OwnersAsked,
    PermissionAsked,
    Permissions,
    PermissionsReply,
    Permit,
    Permitted,
    Script,
    Scripts,
    ScriptsReply,
)
from agent.api.programs import bare_name
from agent.commands.asking import ask
from agent.commands.parsing import Options, argument, command, misuse
from agent.commands.showing import ago, counted, show_lines, show_rows, show_verbatim, size

ANSWERS = {"allow-once": "once", "trust-machine": "machine", "allow-programs": "programs",
           "never": "never"}  # fmt: skip
ID_LETTERS = 12
SHOW, ASK, DISTRUST_ACTION = "show", "ask-owners", "distrust"
SAID = {
    "once": "runs here until it has ended",
    "machine": "runs here, and so does all that is submitted on its machine",
    "programs": "runs here, and so do its programs, whoever brings them",
    "never": "does not run here, nor do its programs",
}


@command(
    "permissions",
    "Show what others want to run on this machine: one question for each workflow that brings\n"
    "programs. `show` prints every script, or what changed in it since you allowed it last. Then:\n"
    "`allow-once` until it has ended, `trust-machine` all that is submitted where it was,\n"
    "`allow-programs` these very programs whoever brings them, `never` these programs.\n"
    "`ask-owners` brings a question about your own workflow up where it waits for an owner.",
    "wingbeat permissions",
    "wingbeat permissions show survey",
    "wingbeat permissions allow-once survey",
    "wingbeat permissions ask-owners survey",
    "wingbeat permissions distrust acor",
    argument(
        "action", nargs="?", choices=(SHOW, *ANSWERS, ASK, DISTRUST_ACTION), help="what to do"
    ),
    argument("workflow", nargs="?", metavar="WORKFLOW|MACHINE", help="about which one"),
)
def run(options: Options) -> int:
    """Show what is asked of the owner, or one question in full, or answer it, or ask other owners;
    return the exit code, that of misuse where nothing is named."""
    name = options.workflow
    if options.action is None:
        return ask(options, PERMISSIONS, Permissions(), _show)
    if not name:
        return misuse(f"{options.action} what? (`wingbeat permissions --help` tells)")
    if options.action == SHOW:
        return ask(options, SCRIPTS, Scripts(name), _show_scripts)
    if options.action == ASK:
        return ask(options, ASK_OWNERS, AskOwners(name), _asked)
    if options.action == DISTRUST_ACTION:
        return ask(
            options,
            DISTRUST,
            Distrust(name),
            lambda done: show_lines([f"what is submitted on {done.machine} is asked about again"]),
        )
    return ask(options, PERMIT, Permit(name, ANSWERS[options.action]), _permitted)  # type: ignore[arg-type]


def _show(reply: PermissionsReply) -> None:
    if not reply.asked:
        show_lines(["Nobody asks to run anything here."])
    else:
        show_rows(
            reply.asked,
            WORKFLOW=lambda each: each.name,
            BY=lambda each: each.submitter,
            FROM=lambda each: each.machine or "elsewhere",
            SUBMITTED=lambda each: ago(each.submitted_ms),
            PROGRAMS=lambda each: ", ".join(bare_name(one.program) for one in each.programs),
            ID=lambda each: each.workflow[:ID_LETTERS],
        )
        name = shlex.quote(reply.asked[0].name)
        show_lines([f"`wingbeat permissions show {name}` shows the scripts"])
    if reply.trusted:
        names = ", ".join(each.name for each in reply.trusted)
        show_lines([f"all that is submitted on {names} is allowed here"])


def _show_scripts(reply: ScriptsReply) -> None:
    asked = reply.asked
    show_lines([_heading(asked)])
    for script in reply.scripts:
        where = f"{bare_name(script.program)}/{script.path}"
        show_lines([f"--- {where}, {size(script.size_bytes)}, {script.change}"])
        show_verbatim(list(_lines(script)))


def _heading(asked: PermissionAsked) -> str:
    place = f"on {asked.machine}" if asked.machine else "from another machine"
    count = counted(len(asked.programs), "program")
    return f"{asked.name}, submitted by {asked.submitter} {place}, brings {count}:"


def _lines(script: Script) -> Iterator[str]:
    """What is in it, or what changed where it was allowed before."""
    if script.change == "same":
        yield "(as it was allowed)"
    elif script.text is None and script.change != "gone":
        yield "(no text, or too long to be shown)"
    elif script.before is None or script.change == "new":
        yield from (script.text or "").splitlines()
    else:
        before, now = script.before.splitlines(), (script.text or "").splitlines()
        yield from unified_diff(before, now, "allowed before", "now", lineterm="")


def _permitted(done: Permitted) -> None:
    waiting = f"; {counted(done.waiting, 'other question')} left" if done.waiting else ""
    show_lines([f"{done.name} {SAID[done.answer]}{waiting}"])


def _asked(told: OwnersAsked) -> None:
    if not (told.asked or told.silent):
        show_lines(["it waits for no owner's leave"])
    if told.asked:
        show_lines([f"asked on {', '.join(told.asked)}"])
    if told.silent:
        show_lines([f"not asked on {', '.join(told.silent)}: no answer, or its owner said no"])
