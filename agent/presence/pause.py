"""The pause that a person asked for, kept in a file over restarts.

A file that cannot be understood counts as a pause until somebody resumes: whoever paused this
machine must not find it working because a disk was full.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from agent.api.presence_reasons import PauseUnreadable
from agent.host.private_files import write_whole
from agent.presence.judgement import Finishing, Paused, Unpaused, Wish

FILE = "pause.json"
FILE_BYTES_MAX = 4096

log = logging.getLogger(__name__)


def read_wish(folder: Path) -> Wish:
    """Return what a person asked for last, ``Unpaused`` without a file in this folder; a file that
    cannot be read or understood is logged and counts as a pause until somebody resumes."""
    path = folder / FILE
    try:
        with path.open("rb") as file:
            return _wish(json.loads(file.read(FILE_BYTES_MAX)))
    except FileNotFoundError:
        return Unpaused()
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("paused, because %s cannot be read: %s", path, error)
        return Paused(why=PauseUnreadable(str(path)))


def keep_wish(folder: Path, wish: Wish) -> None:
    """Write what a person asked for into this folder, so that it is found after a restart, or
    delete the file for ``Unpaused``; raise ``OSError`` when the disk refuses."""
    path = folder / FILE
    if isinstance(wish, Unpaused):
        path.unlink(missing_ok=True)
        return
    paused = wish.then if isinstance(wish, Finishing) else wish
    text = json.dumps({"until_s": paused.until_s, "finishing": isinstance(wish, Finishing)})
    write_whole(path, text.encode())


def _wish(kept: object) -> Wish:
    if not isinstance(kept, dict):
        raise TypeError("it is no object")
    until_s = kept["until_s"]
    if until_s is not None and (isinstance(until_s, bool) or not isinstance(until_s, int | float)):
        raise TypeError("its end is no number")
    paused = Paused(until_s)
    return Finishing(paused) if kept["finishing"] is True else paused
