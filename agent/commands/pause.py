"""`wingbeat pause`: give this machine back, for a while or until somebody resumes."""

from __future__ import annotations

import argparse
import re

from agent.api.methods import PAUSE
from agent.api.volunteering import Pause
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.volunteering import show_state

UNITS_S = {"m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_LENGTH = re.compile(r"(\d{1,6}(?:\.\d+)?)(min|m|h|d)")


def run(arguments: list[str]) -> int:
    """Pause this machine, for a while or until somebody resumes; return the exit code."""
    parser = client_parser(
        "pause",
        "Have this machine stop helping: what runs for others is suspended at once and given back\n"
        "after five minutes. Without a time, until `wingbeat resume`. Kept over restarts.",
        "wingbeat pause",
        "wingbeat pause 15m",
        "wingbeat pause 4h",
        "wingbeat pause tomorrow",
        "wingbeat pause --finish",
    )
    parser.add_argument("length", nargs="?", type=_length, metavar="TIME", help="15m, 1h, tomorrow")
    parser.add_argument("--finish", action="store_true", help="let what runs now end first")
    options = parser.parse_args(arguments)
    tomorrow = options.length == 0.0
    length_s = None if tomorrow else options.length
    return ask(options, PAUSE, Pause(length_s, tomorrow, options.finish), show_state)


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
