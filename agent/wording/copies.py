"""What the copies of results are worth, in a sentence, from how long machines were up."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log10
from typing import Final

from agent.api.datasets import CopiesView

NOT_KNOWN: Final = (
    "how long machines are up is not known well enough yet to say how many copies results need"
)
KEEP: Final = "{count} copies keep a result available {share} of the working week"
MORE: Final = (
    "{count} copies keep a result available {share} of the working week; {more} would {better}"
)
DIGITS_MAX: Final = 4
Said = Callable[..., str]


def copies_said(view: CopiesView, say: Said = str.format) -> str:
    """Return a sentence on how many copies results have and what those are worth, or that this is
    not known yet; ``say`` fills values into a template, perhaps a translated one."""
    available = view.available
    if not 0 < view.copies <= len(available):
        return say(NOT_KNOWN)
    told = {"count": view.copies, "share": percent(available[view.copies - 1])}
    if view.copies == len(available):
        return say(KEEP, **told)
    better = percent(available[view.copies])
    return say(MORE, **told, more=view.copies + 1, better=better)


def percent(share: float) -> str:
    """Return a share in percent with as many decimals as tell it from all, as 99.97 %: one to four,
    and "100 %" for what four do not tell from all."""
    missing = 100 * (1 - share)
    if missing < 10**-DIGITS_MAX:
        return "100 %"
    digits = max(1, min(DIGITS_MAX, ceil(-log10(missing))))
    return f"{100 * share:.{digits}f} %"
