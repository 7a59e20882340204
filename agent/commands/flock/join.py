"""`wingbeat flock join`: this machine joins the flock that invites it."""

from __future__ import annotations

from pathlib import Path

from agent.api.flock import INVITATION_SUFFIX, Join, Joined
from agent.api.methods import JOIN
from agent.commands.asking import ask, fail
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines

INVITATION_LENGTH_MAX = 4_096


def run(arguments: list[str]) -> int:
    """Join the flock of an invitation; return the exit code."""
    parser = command_parser(
        "flock join",
        "Join the flock of an invitation. What this machine knows of workflows goes with it.",
        "wingbeat flock join wingbeat-ahk7...",
        "wingbeat flock join office.wingbeat-invitation",
    )
    parser.add_argument(
        "invitation", nargs="+", metavar="TEXT|FILE", help="the text, spaces do no harm; or a file"
    )
    options = parser.parse_args(arguments)
    text = " ".join(options.invitation)
    try:
        text = invitation_in(text)
    except OSError as error:
        return fail(options, f"{text} cannot be read: {error.strerror}")
    return ask(options, JOIN, Join(text[:INVITATION_LENGTH_MAX]), _show)


def invitation_in(text: str) -> str:
    """Return the text of the invitation file if one is named, else the text itself; raise
    ``OSError`` when the file cannot be read."""
    if not _names_file(text):
        return text
    with Path(text).open("rb") as file:
        return file.read(2 * INVITATION_LENGTH_MAX).decode("utf-8", "replace")


def _names_file(text: str) -> bool:
    """Whether it is one, or would be if it were there. Texts of people are no names of files."""
    try:
        return text.endswith(INVITATION_SUFFIX) or Path(text).is_file()
    except (OSError, ValueError):
        return False


def _show(joined: Joined) -> None:
    show_lines([f"{joined.name} belongs to the flock {joined.flock} now"])
