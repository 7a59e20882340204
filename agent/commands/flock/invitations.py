"""`wingbeat flock invite` and `join`: a text, or a file, by which other machines join."""

from __future__ import annotations

import os
import sys
import tempfile
from errno import EBADF, EEXIST
from pathlib import Path

from agent.api.flock import INVITATION_SUFFIX, INVITE, JOIN, Invitation, Invite, Join
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import ask, fail, with_client
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import moment, show_json, show_lines, show_verbatim, typed_line
from agent.regular_files import open_regular

INVITATION_LENGTH_MAX = 4_096
STANDARD_INPUT = "-"


@command(
    "flock invite",
    "Make an invitation for other machines. Whoever reads it can join, so keep it to those\n"
    "who shall.",
    "wingbeat flock invite",
    "wingbeat flock invite --uses 30 --hours 8 --file office.wingbeat-invitation",
    argument("--uses", type=int, default=1, metavar="N", help="for so many machines (1)"),
    argument("--hours", type=float, default=24.0, metavar="H", help="for so long (24)"),
    argument(
        "--role",
        choices=("operator", "helper"),
        default="operator",
        help="what they may: submit, or only run what others submit (operator)",
    ),
    argument("--file", metavar="PATH", help="write it into a file to double-click"),
    node=False,
)
@with_client
def invite(options: Options, client: BlockingClient) -> int:
    """Make an invitation and show how to join by it, or write it into a file; return the exit code.
    A file that is there already is replaced only if it is named as invitations are."""
    wanted = Invite(options.uses, options.hours, options.role)
    try:
        invitation = (
            client.call(INVITE, wanted)
            if options.file is None
            else _into_file(client, wanted, Path(options.file))
        )
    except OSError as error:
        return fail(options, f"{options.file} cannot be written: {error.strerror}")
    if options.json:
        show_json(invitation)
        return exits.DONE
    machines = "one machine" if invitation.uses == 1 else f"{invitation.uses} machines"
    show_lines([f"for {machines} until {moment(invitation.expires_ms)}; on each of them:"])
    show_verbatim([f"wingbeat flock join {options.file or STANDARD_INPUT}"])
    if not options.file:
        show_lines(
            ["and then paste this, which other accounts could read among the words of a command:"]
        )
        show_verbatim([invitation.text])
    return exits.DONE


def _into_file(client: BlockingClient, wanted: Invite, path: Path) -> Invitation:
    """The place is made first: no invitation is out that nobody has."""
    if path.exists() and path.suffix != INVITATION_SUFFIX:
        raise FileExistsError(EEXIST, f"it is there already, and not as *{INVITATION_SUFFIX}")
    # For its owner only from the first moment: on Windows by the folder in which it is made, whose
    # access list it keeps where it goes.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        place = Path(folder) / path.name
        made = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "w", encoding="utf-8") as file:
            invitation = client.call(INVITE, wanted)
            file.write(invitation.file)
        place.replace(path)
    return invitation


@command(
    "flock join",
    "Join the flock of an invitation. What this machine knows of workflows goes with it. In a\n"
    "file or from standard input the invitation stands in no list of processes.",
    "wingbeat flock join -",
    "wingbeat flock join office.wingbeat-invitation",
    "wingbeat flock join - < office.wingbeat-invitation",
    argument(
        "invitation",
        nargs="+",
        metavar="-|FILE|TEXT",
        help="- for a line of standard input; a file; or the text, which other accounts of this "
        "machine can read then; spaces do no harm",
    ),
    node=False,
)
def join(options: Options) -> int:
    """Join the flock of an invitation, given as a text, a file or on standard input, and wait for it;
    return the exit code, that of a failure where it cannot be read."""
    text = " ".join(options.invitation)
    try:
        text = invitation_in(text)
    except OSError as error:
        return fail(options, f"{text} cannot be read: {error.strerror}")
    return ask(
        options,
        JOIN,
        Join(text[:INVITATION_LENGTH_MAX]),
        lambda joined: show_lines([f"{joined.name} belongs to the flock {joined.flock} now"]),
    )


def invitation_in(text: str) -> str:
    """Return what is in the invitation file, where the text has the ending of one or names a file,
    or on standard input for ``-``, of a terminal one line after a prompt, cut if it is far too
    long; else the text itself. What is no UTF-8 is replaced. Raise ``OSError`` when file or input
    cannot be read, or there is none."""
    if text == STANDARD_INPUT:
        if sys.stdin is None:
            raise OSError(EBADF, "there is none")
        if sys.stdin.isatty():
            show_lines(["paste the invitation, then press Enter:"])
            return typed_line(2 * INVITATION_LENGTH_MAX)
        return sys.stdin.buffer.read(2 * INVITATION_LENGTH_MAX).decode("utf-8", "replace")
    try:
        names_file = text.endswith(INVITATION_SUFFIX) or Path(text).is_file()
    except (OSError, ValueError):  # texts of people are no names of files
        names_file = False
    if not names_file:
        return text
    with open_regular(Path(text)) as file:
        return file.read(2 * INVITATION_LENGTH_MAX).decode("utf-8", "replace")
