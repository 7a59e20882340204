"""What the window loads when it is there already, because its first look needs none of it."""

from __future__ import annotations

import gc
from functools import cache
from importlib import import_module

LOADED_LATER = (
    "fast_sugiyama",
    *(f"gui.views.{place}_page" for place in ("queue", "flock", "computer", "log", "history")),
)


@cache
def load_the_rest() -> None:
    """Load what is needed at the first look at a graph or a place, and would hold that look up. What
    is there then stays, so the collector of garbage need not go through it again and again."""
    for name in LOADED_LATER:
        import_module(name)
    gc.freeze()
