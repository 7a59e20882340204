"""The folders of Wingbeat itself: nothing of them is taken in for the flock, nothing is put there.

They hold keys, settings and the programs that run here without a question. A person may name them by
mistake, and whoever wrote a workflow file on purpose; so every verb that is given a path asks here.
"""

from __future__ import annotations

from pathlib import Path

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.paths import Home
from agent.protocol.phrases import Phrase, said


def refuse_own(path: Path) -> None:
    """Raise ``RefusedError`` where a path to be taken in lies in a folder of Wingbeat itself, or
    holds one; programs' folders are allowed. Links are followed on the disk."""
    home = Home.of()
    own = home.own_folder(path)
    if own is not None and not home.is_program(path):
        refused = said(
            "{path} is or holds a folder of Wingbeat itself ({folder}): its keys are never sent",
            path=str(path),
            folder=str(own),
        )
        raise RefusedError(ErrorCode.REFUSED, refused)


def misplaced(folder: Path) -> Phrase | None:
    """Return why nothing may be written into this folder, where it is Wingbeat's own or lies in
    one; None for any other."""
    own = Home.of().own_folder(folder, holding=False)
    if own is None:
        return None
    return said(
        "{path} is a folder of Wingbeat itself ({folder}): nothing else is written there",
        path=str(folder),
        folder=str(own),
    )
