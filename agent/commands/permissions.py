"""`wingbeat permissions`: what others want to run on this machine, in full, and the owner's answer to it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from difflib import unified_diff

from agent.api.permissions import (
    ASK_OWNERS,
    DISTRUST,
    GRANT,
    PERMISSIONS,
    PERMIT,
    REVOKE,
    SCRIPTS,
    AskedFor,
    AskOwners,
    Distrust,
    Grant,
    Granted,
    OwnersAsked,
    PermissionAsked,
    Permissions,
    PermissionsReply,
    Permit,
    Permitted,
    Revoke,
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
GRANT_ACTION, REVOKE_ACTION = "grant", "revoke"
ACTIONS = (SHOW, *ANSWERS, GRANT_ACTION, REVOKE_ACTION, ASK, DISTRUST_ACTION)
NETWORK_SAID = "network (all of it: no machine can keep a program to the local one)"
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
    "`grant` lets an installed program have what its description asks for: network, folders,\n"
    "devices, secrets; `revoke` takes that back.\n"
    "`ask-owners` brings a question about your own workflow up where it waits for an owner.",
    "wingbeat permissions",
    "wingbeat permissions show survey",
    "wingbeat permissions allow-once survey",
    "wingbeat permissions ask-owners survey",
    "wingbeat permissions grant report",
    "wingbeat permissions distrust acor",
    argument("action", nargs="?", choices=ACTIONS, help="what to do"),
    argument("workflow", nargs="?", metavar="WORKFLOW|MACHINE|PROGRAM", help="about which one"),
)
def run(options: Options) -> int:
    """Show what is asked of the owner, or one question in full, or answer it, ask other owners,
    trust a machine no more, or grant or revoke what a program asks for; return the exit code, that
    of misuse where it is not said about which one."""
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
    if options.action == GRANT_ACTION:
        return ask(options, GRANT, Grant(name), _granted)
    if options.action == REVOKE_ACTION:
        return ask(options, REVOKE, Revoke(name), _granted)
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
            ASKS_FOR=lambda each: _wanted(
                tuple(want for one in each.programs for want in one.wants)
            ),
            ID=lambda each: each.workflow[:ID_LETTERS],
        )
        name = shlex.quote(reply.asked[0].name)
        show_lines([f"`wingbeat permissions show {name}` shows the scripts"])
    if reply.wanting:
        show_lines([""])
        show_rows(
            reply.wanting,
            PROGRAM=lambda each: each.program,
            ALLOWED=lambda each: _allowed(each.wants),
            ASKS_FOR=lambda each: _wanted(each.wants),
        )
        waiting = [each.program for each in reply.wanting if _allowed(each.wants) == "no"]
        show_lines(
            f"`wingbeat permissions grant {shlex.quote(each)}` allows it" for each in waiting
        )
        missing = {want.name: None for each in reply.wanting for want in each.wants if want.missing}
        show_lines(f"`wingbeat secrets set {each}` gives the secret {each}" for each in missing)
    if reply.trusted:
        names = ", ".join(each.name for each in reply.trusted)
        show_lines([f"all that is submitted on {names} is allowed here"])


def _show_scripts(reply: ScriptsReply) -> None:
    asked = reply.asked
    show_lines([_heading(asked)])
    for each in asked.programs:
        if each.wants:
            show_lines([f"{bare_name(each.program)} asks for {_wanted(each.wants)}"])
        for one in each.wants:
            if one.refused:
                show_lines(
                    [f"no program may read {one.name}: keys or somebody's own things lie there"]
                )
    for script in reply.scripts:
        where = f"{bare_name(script.program)}/{script.path}"
        show_lines([f"--- {where}, {size(script.size_bytes)}, {script.change}"])
        show_verbatim(list(_lines(script)))


def _wanted(wants: tuple[AskedFor, ...]) -> str:
    """What a program asks for, in a row."""
    said = {"reads": "reading {}", "device": "the device {}", "secret": "the secret {}"}
    words = [
        NETWORK_SAID if each.kind == "network" else said[each.kind].format(each.name)
        for each in wants
    ]
    return ", ".join(words)


def _allowed(wants: tuple[AskedFor, ...]) -> str:
    if any(each.refused for each in wants):
        return "never"
    return "yes" if all(each.granted for each in wants) else "no"


def _granted(told: Granted) -> None:
    if not told.wants:
        show_lines([f"{told.program} is allowed nothing beyond what all programs have"])
        return
    words = {"yes": "is allowed", "no": "is not allowed", "never": "is never allowed"}
    show_lines([f"{told.program} {words[_allowed(told.wants)]} {_wanted(told.wants)}"])


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
