"""What the program of a run calls its outputs; the record carries it under ``more``.

So results are shown and delivered by these names also where the program is not installed, and when it
has changed since; nodes of before pass them on unread.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, structs

from agent.protocol.records import Run, ShortText, short_text

_encode = msgspec.msgpack.Encoder().encode
OUTPUT_NAMES, OUTPUT_NAMES_MAX = "names", 200
_names = msgspec.msgpack.Decoder(tuple[ShortText, ...]).decode


def with_output_names(run: Run, names: tuple[str, ...]) -> Run:
    """Return the run with what its program calls its outputs, in their order, each cut to what fits
    a record; unchanged for more than ``OUTPUT_NAMES_MAX`` names, and where all are empty."""
    if not any(names) or len(names) > OUTPUT_NAMES_MAX:
        return run
    told = Raw(_encode(tuple(map(short_text, names))))
    return structs.replace(run, more={**run.more, OUTPUT_NAMES: told})


def output_names(run: Run) -> tuple[str, ...]:
    """Return what the program of a run calls its outputs, in their order, empty for one that has no
    name; nothing at all where the record does not say."""
    try:
        return _names(run.more[OUTPUT_NAMES])
    except (KeyError, msgspec.MsgspecError):
        return ()
