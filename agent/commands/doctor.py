"""`wingbeat doctor`: what is wrong, what to do; with ``--bundle`` all that somebody else needs to see that,
with ``--open-firewall`` the way to let others reach this machine.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from msgspec import Struct

from agent.api.flock import DOCTOR, ConfinementView, Doctor, DoctorReply
from agent.api.settings import SETTINGS, Settings
from agent.client import BlockingClient, Home
from agent.client.firewall import MULTICAST_PORT, open_firewall, opening
from agent.commands import exits
from agent.commands.asking import ask, fail, tell, with_client
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import confirm, is_typed, show_lines, size

STANDARD = "-"
BEHIND_FIREWALLS = ("firewall", "listening", "unreachable")


class Bundled(Struct, frozen=True):
    """Where a bundle was written, and what is in it, with sizes in bytes."""

    file: str
    contents: dict[str, int]


@command(
    "doctor",
    "Explain why machines are not seen or this one does not work, each with what to do about\n"
    "it, and tell which machines ask to be let in. The exit code is 1 when something is wrong.\n"
    "With --bundle write what somebody who helps wants to know into a file: versions, settings,\n"
    "peers, the end of the log, what each source of presence sees. Secrets are left out,\n"
    "nothing is sent, and no agent need run. --open-firewall shows the command that lets others\n"
    "reach this machine, and on a terminal runs it as administrator if you say yes.",
    "wingbeat doctor",
    "wingbeat doctor --json",
    "wingbeat doctor --bundle -          (read what would be in it)",
    "wingbeat doctor --bundle help.zip",
    argument("--open-firewall", action="store_true", help="show the command, and offer to run it"),
    argument("--bundle", metavar="FILE", help="write a support bundle; - prints it"),
    node=True,
)
def run(options: Options) -> int:
    """Ask the agent what is wrong, and return the exit code, that of a failure where anything is;
    or put a bundle together, which fails only where it cannot be written; or show the command that
    opens the firewall, and at a terminal run it if a person says yes. Bundle and firewall are of
    this machine: misuse with ``--node``."""
    if options.bundle:
        return _bundle(options)
    if options.open_firewall:
        return _open_firewall(options)
    return ask(options, DOCTOR, Doctor(), _show, lambda reply: bool(reply.findings))


class Opened(Struct, frozen=True):
    """The command that opens the firewall, and what came of it; empty where it was only shown."""

    command: str
    outcome: str = ""


OUTCOMES = {
    "opened": "the firewall lets Wingbeat pass now",
    "asked": "Windows was asked to; `wingbeat doctor` tells whether others are seen",
    "dismissed": "nobody allowed it, so nothing was changed",
}


@with_client
def _open_firewall(options: Options, client: BlockingClient) -> int:
    if options.node:
        return fail(options, "--open-firewall is for the machine on which it is run", exits.MISUSED)
    settings = client.call(SETTINGS, Settings())
    port = settings.listening or settings.port
    if not port:
        return fail(options, "this machine has no port yet by which others reach it: join a flock")
    found = opening(port, root=hasattr(os, "geteuid") and os.geteuid() == 0)
    if found is None:
        return fail(
            options,
            "no firewall that Wingbeat can open is installed here: whatever keeps others away has "
            f"to let TCP {port} and UDP {MULTICAST_PORT} pass",
        )
    asks = found.words and is_typed() and not options.json
    show_lines([] if options.json else [found.line])
    if not asks or not confirm("run it as administrator now?"):
        return tell(options, Opened(found.line), [])
    outcome, said = open_firewall(found)
    if outcome == "failed":
        return fail(options, f"it failed: {said or 'no reason is given'}")
    return tell(options, Opened(found.line, outcome), [OUTCOMES[outcome]])


def _bundle(options: Options) -> int:
    from agent.client.support import support_files, write_bundle

    if options.node:
        return fail(options, "--bundle is made on the machine that it is about", exits.MISUSED)
    files = support_files(Home.of())
    if options.bundle == STANDARD:
        for name, text in files.items():
            sys.stdout.write(f"===== {name}\n{text}\n")
        return exits.DONE
    path = Path(options.bundle).absolute()
    try:
        write_bundle(path, files)
    except FileExistsError:
        return fail(options, f"{path} is there already: name another file")
    except OSError as error:
        return fail(options, f"{path} cannot be written: {error.strerror}")
    sizes = {name: len(text.encode()) for name, text in files.items()}
    lines = [f"{path} is written; nothing was sent. In it, to be read before you pass it on:"]
    lines += [f"  {name:<20}{size(each)}" for name, each in sizes.items()]
    return tell(options, Bundled(str(path), sizes), lines)


def _show(reply: DoctorReply) -> None:
    count = reply.seen + reply.missing
    others = f"{reply.seen} of {count} other machines are linked"
    if not count:
        others = "no other machines are known here"
    elif count == 1:
        others = f"the other machine is {'linked' if reply.seen else 'not linked'}"
    told = [*(f"- {finding.text}" for finding in reply.findings), others]
    if any(finding.kind in BEHIND_FIREWALLS for finding in reply.findings):
        told.append("`wingbeat doctor --open-firewall` shows how others are let in here")
    show_lines(told if reply.findings else [f"nothing is wrong here: {others}"])
    show_lines(reply.waiting)
    if reply.confinement is not None and reply.confinement.by:
        show_lines([_confined(reply.confinement)])


def _confined(found: ConfinementView) -> str:
    """What a program cannot get at here, as it was tried."""
    sorts = ("files", "network", "signals", "tracing")
    told = [f"{sort}: {'yes' if getattr(found, sort) else 'no'}" for sort in sorts]
    return f"programs are confined here: {', '.join(told)} ({', '.join(found.by)})"
