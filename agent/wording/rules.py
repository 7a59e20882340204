"""The rules that a flock goes by, each in one sentence: what they mean for whoever has work in it.

Which office is served best by which of them is in ``agent/protocol/policy/README.md``.
"""

from __future__ import annotations

from typing import Final

RULES: Final = {
    "look-ahead": "each task goes to the machine on which it ends first, in an order that looks ahead so "
    "that workflows end early",
    "reaching": "machines that stay free longest take the longest tasks, and those that are soon "
    "needed take the short ones",
    "WQR-2": "each task goes to any free machine, and what runs goes on a second time on machines that "
    "nothing waits for",
    "WQR-4": "each task goes to any free machine, and what runs goes on up to four times on machines that "
    "nothing waits for",
    "WQR-FA-2": "each task goes to the free machine that surely stays free longest, and what runs goes on a "
    "second time on machines that nothing waits for",
    "WQR-FA-4": "each task goes to the free machine that surely stays free longest, and what runs goes on up "
    "to four times on machines that nothing waits for",
    "FCFS": "what was submitted first is started first, on whichever machine is free",
    "EC": "the task that was submitted first goes to the free machine that most likely stays free "
    "until it has ended",
    "EGC": "each free machine takes, of the first ten tasks, the one until whose end it most likely "
    "stays free",
    "BFC": "the task that was submitted first goes to the free machine that it fits best, by how long "
    "that usually stays free",
    "BFGC": "each free machine takes, of the first ten tasks, the one that fits best how long it "
    "usually stays free",
    "BFGCE": "each free machine takes, of the first ten tasks, the one that fits best how long it "
    "usually stays free; a task counts as a tenth longer each time that it was broken off",
    "late-claims": "the task that was submitted first goes to the free machine that most likely stays "
    "free until it has ended, and what has just begun or saves its state moves once to a better one "
    "that becomes free",
    "late-claims-among-3": "the same as late-claims; a machine asks for work of which it has only heard "
    "where it sees at least two others",
    "late-claims-unasked": "the same as late-claims; a machine never asks for work of which it has only "
    "heard, and waits until it is told",
}


def rules_said(name: str) -> str:
    """Return what the rules of this name mean; empty for those of a later version."""
    return RULES.get(name, "")
