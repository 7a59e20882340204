"""`wingbeat flock`: make one, invite, join or ask, see who belongs, send away, leave.

What is one question to the agent is a row of ``agent.commands.questions``; the others are here.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.commands.choosing import Command, commands_of, group_of

COMMANDS: Mapping[str, Command] = commands_of(
    ("create", "questions", "make a flock with this machine as its first"),
    ("invite", "flock.invitations", "let other machines join"),
    ("join", "flock.invitations", "join the flock of an invitation"),
    ("nearby", "questions", "show the flocks on this network"),
    ("ask", "flock.asking", "ask a flock nearby to let this machine in"),
    ("requests", "flock.asking", "show which machines ask to be let in"),
    ("admit", "flock.asking", "let a machine in that asks"),
    ("refuse", "flock.asking", "do not let it in"),
    ("members", "questions", "show who belongs, and who did"),
    ("expel", "flock.administering", "send a machine away, for ever"),
    ("appoint", "flock.administering", "make a machine an administrator or keeper"),
    ("role", "flock.administering", "make a machine an operator or a helper"),
    ("recover", "flock.administering", "take the place of lost administrators, by the phrase"),
    ("phrase", "flock.administering", "draw another recovery phrase"),
    ("upgrade", "flock.administering", "give a flock of a version before administrators"),
    ("leave", "questions", "leave the flock; what this machine runs is handed back"),
    group="flock",
)

run = group_of(
    "flock",
    "Make a flock of machines, or see to the one that this machine belongs to.",
    COMMANDS,
    "wingbeat flock create workshop",
    "wingbeat flock invite",
    "wingbeat flock join -",
)
