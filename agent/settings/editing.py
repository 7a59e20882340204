"""Changes settings in ``settings.toml`` for whoever is not at home in files.

Only the lines of the keys that are given are replaced; comments and everything else stay. What
comes out is read again before it takes the place of the file: it has to say what was meant, and of
everything else what it said before.
"""

from __future__ import annotations

import json
import os
import re
import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path

from agent.api.errors import ServiceError
from agent.settings.node_settings import NodeSettings, read_settings

Value = str | int | float | list[str]
_one_at_a_time = threading.Lock()
_TABLE = re.compile(r"^[ \t]*\[[ \t]*[A-Za-z_]", re.MULTILINE)


def keep_changes(path: Path, given: Mapping[str, Value]) -> NodeSettings:
    """Keep these values; what the file says then. Raises ``ServiceError``."""
    with _one_at_a_time:  # two that change it at once would each undo the other's
        return _kept(path, given)


def _kept(path: Path, given: Mapping[str, Value]) -> NodeSettings:
    fresh = path.with_name(f"{path.name}.unfinished")
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        if says(before, given):
            return read_settings(path)
        after = rewritten(before, given)
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("w", encoding="utf-8") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        read_settings(fresh)
        fresh.replace(path)
    except OSError as error:
        raise ServiceError(
            f"{path} cannot be written ({error.strerror}): nothing changed"
        ) from error
    except ValueError as error:
        raise ServiceError(
            f"{path} is written in a way that cannot be changed from here ({error}): change "
            f"{', '.join(given)} by hand"
        ) from error
    except ServiceError as error:
        fresh.unlink(missing_ok=True)
        raise ServiceError(str(error).replace(str(fresh), str(path))) from error
    return read_settings(path)


def says(text: str, given: Mapping[str, Value]) -> bool:
    """Whether there is nothing to change: then a full disk, or one to be read only, is no matter."""
    was = tomllib.loads(text)
    return all(key in was and was[key] == value for key, value in given.items())


def rewritten(before: str, given: Mapping[str, Value]) -> str:
    """The text of the file with other values; raises ``ValueError`` if that cannot be done."""
    tables = _TABLE.search(before)
    cut = len(before) if tables is None else tables.start()
    top, below = before[:cut], before[cut:]
    for key, value in given.items():
        # A list may go over several lines, up to a bracket that ends one.
        pattern = re.compile(rf"^{key}[ \t]*=[ \t]*(\[[^\]]*\][^\n]*|[^\n]*)\n?", re.MULTILINE)
        top = f"{key} = {json.dumps(value, ensure_ascii=False)}\n" + pattern.sub("", top)
    after = top + below
    was, now = tomllib.loads(before), tomllib.loads(after)
    if now != {**was, **given}:
        raise ValueError("other settings would change")
    return after
