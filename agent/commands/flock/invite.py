"""`wingbeat flock invite`: a text, or a file, by which other machines join."""

from __future__ import annotations

import argparse
import os
import tempfile
from errno import EEXIST
from pathlib import Path

from agent.api.flock import INVITATION_SUFFIX, Invitation, Invite
from agent.api.methods import INVITE
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import fail, with_client
from agent.commands.parsing import command_parser
from agent.commands.showing import moment, show_json, show_lines, show_verbatim


def run(arguments: list[str]) -> int:
    """Make an invitation and show it, or write it to a file; return the exit code."""
    parser = command_parser(
        "flock invite",
        "Make an invitation for other machines. Whoever reads it can join, so keep it to those\n"
        "who shall.",
        "wingbeat flock invite",
        "wingbeat flock invite --uses 30 --hours 8 --file office.wingbeat-invitation",
    )
    parser.add_argument("--uses", type=int, default=1, metavar="N", help="for so many machines (1)")
    parser.add_argument("--hours", type=float, default=24.0, metavar="H", help="for so long (24)")
    parser.add_argument("--file", metavar="PATH", help="write it into a file to double-click")
    options = parser.parse_args(arguments)
    return with_client(options, lambda client: _invited(options, client))


def _invited(options: argparse.Namespace, client: BlockingClient) -> int:
    if options.file is None:
        invitation = client.call(INVITE, Invite(options.uses, options.hours))
    else:
        try:
            invitation = _into_file(options, client, Path(options.file))
        except OSError as error:
            return fail(options, f"{options.file} cannot be written: {error.strerror}")
    if options.json:
        show_json(invitation)
    else:
        _show(invitation, options.file)
    return exits.DONE


def _into_file(options: argparse.Namespace, client: BlockingClient, path: Path) -> Invitation:
    """The place is made first: no invitation is out that nobody has."""
    if path.exists() and path.suffix != INVITATION_SUFFIX:
        raise FileExistsError(EEXIST, f"it is there already, and not as *{INVITATION_SUFFIX}")
    # For its owner only from the first moment.
    descriptor, place = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            invitation = client.call(INVITE, Invite(options.uses, options.hours))
            file.write(invitation.file)
        Path(place).replace(path)
    finally:
        Path(place).unlink(missing_ok=True)
    return invitation


def _show(invitation: Invitation, file: str | None) -> None:
    machines = "one machine" if invitation.uses == 1 else f"{invitation.uses} machines"
    until = moment(invitation.expires_ms)
    show_lines([f"for {machines} until {until}; on each of them:"])
    show_verbatim([f"wingbeat flock join {file or invitation.text}"])
