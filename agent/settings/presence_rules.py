"""Writes the rules of presence into ``settings.toml`` and leaves everything else in it alone.

The line ``volunteer`` and the table ``[presence]`` are replaced as a whole, comments within that
table included. What comes out is read again before it takes the place of the file: it has to say
what was meant, and of everything else what it said before.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

from agent.api.errors import ServiceError
from agent.presence.rules import Rules
from agent.presence.rules_file import TABLE, read_rules, write_rules

MODE_KEY = "volunteer"
_MODE_LINE = re.compile(rf"^{MODE_KEY}[ \t]*=.*\n?", re.MULTILINE)
_TABLE = re.compile(
    rf"^[ \t]*\[[ \t]*{TABLE}[ \t]*\][^\n]*(?:\n(?![ \t]*\[)[^\n]*)*\n?", re.MULTILINE
)


def write_settings(path: Path, rules: Rules, mode: str) -> None:
    """Keep these rules; raises ``ServiceError``."""
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        after = rewritten(before, rules, mode)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.unfinished")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise ServiceError(
            f"{path} cannot be written ({error.strerror}): nothing changed."
        ) from error
    except ValueError as error:
        raise ServiceError(
            f"{path} is written in a way that cannot be changed from here: put the rules into its "
            f"[{TABLE}] table by hand."
        ) from error


def rewritten(before: str, rules: Rules, mode: str) -> str:
    """The text of the file with other rules; raises ``ValueError`` if that cannot be done."""
    top, below = _halves(before)
    top = f"{MODE_KEY} = {json.dumps(mode)}\n" + _MODE_LINE.sub("", top)
    rest = _TABLE.sub("", below).strip("\n")
    after = "\n".join(
        part for part in (top.rstrip("\n"), write_rules(rules).rstrip("\n"), rest) if part
    )
    _check(before, f"{after}\n", rules, mode)
    return f"{after}\n"


def _halves(text: str) -> tuple[str, str]:
    """Keys of the file itself, and its tables."""
    found = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    cut = len(text) if found is None else found.start()
    return text[:cut], text[cut:]


def _check(before: str, after: str, rules: Rules, mode: str) -> None:
    was, now = tomllib.loads(before), tomllib.loads(after)
    for each in (was, now):
        each.setdefault(TABLE, {})
    meant = read_rules(now.pop(TABLE))
    same = [getattr(meant, name) for name in _names()] == [
        getattr(rules, name) for name in _names()
    ]
    if not same or now.pop(MODE_KEY) != mode:
        raise ValueError("the rules do not come out")
    was.pop(TABLE)
    was.pop(MODE_KEY, None)
    if was != now:
        raise ValueError("other settings would change")


def _names() -> tuple[str, ...]:
    return tuple(name for name in Rules.__dataclass_fields__ if name != "mode")
