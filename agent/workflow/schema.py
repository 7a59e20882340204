"""``python -m agent.workflow.schema``: the tables of workflow files as JSON Schema, for editors.

A file says where its schema is in its first line, and an editor that knows the YAML language
server completes and checks it while it is written:

    # yaml-language-server: $schema=…/agent/workflow/workflow.schema.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent.workflow.kinds import Schema
from agent.workflow.tables import WORKFLOW

FILE = Path(__file__).with_name("workflow.schema.json")
DIALECT = "http://json-schema.org/draft-07/schema#"


def workflow_schema() -> Schema:
    """What a workflow file may contain."""
    return {
        "$schema": DIALECT,
        "title": "Wingbeat workflow",
        "description": "Tasks that machines do and gates that persons do, and what needs what.",
        **WORKFLOW.schema(variables=True),
        "anyOf": [{"required": ["tasks"]}, {"required": ["gates"]}],
    }


def text_of(schema: Schema) -> str:
    """As it is published."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the published file anew."""
    FILE.write_text(text_of(workflow_schema()), "utf-8")
    sys.stdout.write(f"{FILE} is written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
