"""How an answer to a wish reads."""

from __future__ import annotations

from agent.api.work import Wished
from agent.commands.showing import show_lines


def show_wished(done: str, wished: Wished) -> None:
    """``done`` is what has become of the workflow, or becomes of it."""
    if wished.verdict == "cancelling":
        show_lines([f"{wished.workflow} is being {done}: what still runs is stopped now"])
    else:
        show_lines([f"{wished.workflow} is {done}{f' ({wished.text})' if wished.text else ''}"])
