"""The fields of ``program.yaml`` as a table, for the schema that editors check by.

``program_yaml`` reads these files itself; a test holds the names here against the names there, and
the examples of both against each other.
"""

from __future__ import annotations

from agent.workflow.kinds import Flag, Several, Text, duration, memory
from agent.workflow.program_description import NAME_LENGTH_MAX
from agent.workflow.program_fields import DOCS_LENGTH_MAX, WORDS_MAX
from agent.workflow.records import Field, Record
from agent.workflow.tables import LIMITS, REQUIREMENTS, SHORT

_WORD = Text(DOCS_LENGTH_MAX)

PROGRAM_FILE = Record(
    "a program",
    (
        Field("name", Text(NAME_LENGTH_MAX), "What tasks call it; the folder's name otherwise."),
        Field("version", SHORT, "Which one it is, for people."),
        Field("type", SHORT, "By which the inputs of other programs may name it."),
        Field("docs", Text(DOCS_LENGTH_MAX), "What it does, for people."),
        Field(
            "command",
            Several(_WORD, WORDS_MAX, alone=False),
            "What to execute: a file of the folder, or an interpreter and a script of the folder.",
            required=True,
        ),
        Field("inputs", Several(SHORT, WORDS_MAX, alone=False), "What it takes, in this order."),
        Field(
            "outputs",
            Several(SHORT, WORDS_MAX, alone=False),
            "Files that it leaves in its working folder.",
        ),
        Field("expected", duration(), "How long it usually takes; a bare number is seconds."),
        Field("requirements", REQUIREMENTS, "What a machine must have to run it."),
        Field(
            "limits",
            Record(
                "limits",
                (*LIMITS.fields, Field("log", memory(), "What it may print; a number is MB.")),
            ),
            "What one run may take before it is ended.",
        ),
        Field("checkpoint", Flag(), "Whether it saves its state for a later attempt."),
    ),
)
