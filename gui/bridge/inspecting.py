"""A flight that was dropped on the window: looked at, and planned, in the bridge's loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from agent.api.settings import SETTINGS, Settings
from agent.client import Client
from agent.client.errors import ClientError
from agent.client.inspecting import Flight, look_at_flight, share_of
from gui.words import tr

THREE = ("lever-m", "boresight-deg")


async def inspected(
    client: Client, flight: Path, said: Mapping[str, str], into: Path | None = None
) -> tuple[Flight, str]:
    """Return what was found in a flight's folder, given what its person says of it, and the
    folder's name within a share, empty where it lies in none; with ``into`` plan and workflow are
    written there. Raises ``OSError``, and ``ClientError`` where the agent does not answer, nobody
    can look, or what is said should be three numbers and is not."""
    settings = await client.call(SETTINGS, Settings())
    share = await asyncio.to_thread(share_of, flight, settings.shares)
    options: dict[str, str | list[str]] = {
        name: _three(text) if name in THREE else text.strip()
        for name, text in said.items()
        if text.strip()
    }
    if share:
        options["share"] = share
    return await look_at_flight(flight, options, into), share


def _three(text: str) -> list[str]:
    numbers = text.replace(";", " ").split()
    try:
        if len([float(each) for each in numbers]) == 3:
            return numbers
    except ValueError:
        pass
    raise ClientError(tr("“{text}” has to be three numbers, as 0.1 -0.2 0.35", text=text.strip()))


def place_of_plan(flight: Path) -> Path:
    """Return where plan and workflow of a flight go unless its person says otherwise: beside it, and
    in the person's own folder where nothing can be written there."""
    beside = flight.parent if os.access(flight.parent, os.W_OK) else Path.home()
    return beside / f"{flight.name}-inspection"
