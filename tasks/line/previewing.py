"""Preview: what was found so far as the report will show it, for the person who is asked at a gate.

Takes what the report takes, as far as it is there, and leaves the page alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tasks.inspection.conversation import Work
from tasks.line.page import page_of
from tasks.line.reporting import asked_of, made_of, whole_of

PREVIEW = "preview.html"


def do(work: Work) -> Sequence[str]:
    """Write the page and return its name. Raises ``WorkError`` where something is missing or cannot
    be used, and ``CancelledError``."""
    report = made_of([*work.raw, *work.inputs], asked_of(work))
    work.progress(0.5)
    with Path(PREVIEW).open("w", encoding="utf-8") as page:
        page.writelines(page_of(report, whole_of(report)))
    return (PREVIEW,)
