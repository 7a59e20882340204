"""``python -m agent.workflow.schema``: the tables of description files as JSON Schema, for editors.

A file says where its schema is in its first line, and an editor that knows the YAML language
server completes and checks it while it is written:

    # yaml-language-server: $schema=…/agent/workflow/workflow.schema.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent.workflow.kinds import Schema
from agent.workflow.program_yaml import PROGRAM_FILE
from agent.workflow.tables import WORKFLOW

FILE = Path(__file__).with_name("workflow.schema.json")
PROGRAM_SCHEMA = Path(__file__).with_name("program.schema.json")
DIALECT = "http://json-schema.org/draft-07/schema#"


def workflow_schema() -> Schema:
    """Return the JSON Schema of a workflow file, which has tasks or gates or both; ``${name}`` may
    stand for single values."""
    return {
        "$schema": DIALECT,
        "title": "Wingbeat workflow",
        "description": "Tasks that machines do and gates that persons do, and what needs what.",
        **WORKFLOW.schema(variables=True),
        "anyOf": [{"required": ["tasks"]}, {"required": ["gates"]}],
    }


def program_schema() -> Schema:
    """Return the JSON Schema of ``program.yaml``, in which there are no variables."""
    return {
        "$schema": DIALECT,
        "title": "Wingbeat program",
        "description": "A program as its author describes it, in program.yaml of its folder.",
        **PROGRAM_FILE.schema(),
    }


def text_of(schema: Schema) -> str:
    """Return a schema as the text that is published."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write both schemas into their files in this folder, over what was there, print the paths, and
    return 0. Raises ``OSError`` where a file cannot be written."""
    for path, schema in ((FILE, workflow_schema()), (PROGRAM_SCHEMA, program_schema())):
        path.write_text(text_of(schema), "utf-8")
        sys.stdout.write(f"{path} is written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
