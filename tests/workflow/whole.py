"""A workflow file as the workflow that it is, for who expects no fault in it."""

from __future__ import annotations

from pathlib import Path

from agent.workflow.faults import FaultsError
from agent.workflow.model import Workflow
from agent.workflow.reading import Asked, describe


def read_workflow_file(path: Path, asked: Asked, data: bytes | None = None) -> Workflow:
    """Return the workflow in a YAML or ``.xml`` file; with ``data``, the one that these bytes would
    be in the YAML file. Raises ``FaultsError`` with all that is wrong, also where the file cannot
    be read."""
    found = describe(path, asked, data)
    if found.workflow is None:
        raise FaultsError(found.faults)
    return found.workflow
