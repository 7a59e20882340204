"""A question that a person has to answer with a word, and whose answer is never guessed."""

from __future__ import annotations

import sys

from agent.commands.showing import plain

YES, NO = "yes", "no"


def confirm(question: str) -> bool | None:
    """Ask a person and tell whether the answer is yes; None when nobody answers. Anything else is
    asked again."""
    while True:
        sys.stdout.write(f"{plain(question)} (yes/no) ")
        sys.stdout.flush()
        answer = sys.stdin.readline()
        if not answer:
            sys.stdout.write("\n")
            return None
        word = answer.strip().casefold()
        if word in (YES, NO):
            return word == YES
