"""`wingbeat doctor`: what is wrong, what to do; with ``--bundle`` all that somebody else needs to see that."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import Struct

from agent.api.flock import DOCTOR, Doctor, DoctorReply
from agent.client import Home
from agent.commands import exits
from agent.commands.asking import ask, fail, tell
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import show_lines, size

STANDARD = "-"


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
    "nothing is sent, and no agent need run.",
    "wingbeat doctor",
    "wingbeat doctor --json",
    "wingbeat doctor --bundle -          (read what would be in it)",
    "wingbeat doctor --bundle help.zip",
    argument("--bundle", metavar="FILE", help="write a support bundle; - prints it"),
    node=True,
)
def run(options: Options) -> int:
    """Ask the agent what is wrong, and return the exit code, that of a failure where anything is;
    or put a bundle together, which fails only where it cannot be written."""
    if options.bundle:
        return _bundle(options)
    return ask(options, DOCTOR, Doctor(), _show, lambda reply: bool(reply.findings))


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
    show_lines(told if reply.findings else [f"nothing is wrong here: {others}"])
    show_lines(reply.waiting)
