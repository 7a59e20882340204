"""The settings as clients see and change them: what the file says, and what of it waits for a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec

from agent.api.settings import SettingsView
from agent.settings.editing import Value, keep_changes
from agent.settings.node_settings import NodeSettings, read_settings

LIVE = ("volunteer", "presence")
"""Presence minds these itself."""


class OwnerSettings:
    """Of a node that runs by ``running``."""

    def __init__(self, path: Path, running: NodeSettings) -> None:
        self._path, self._running = path, running
        self._changing = asyncio.Lock()

    async def view(self) -> SettingsView:
        """Return what the settings file says, and what of it waits for a restart. Raises
        ``ServiceError`` when it cannot be read."""
        kept = await asyncio.to_thread(read_settings, self._path)
        told = {
            name: getattr(kept, name)
            for name in SettingsView.__struct_fields__
            if hasattr(kept, name)
        }
        told["addresses"] = tuple(map(str, kept.addresses))
        restart = tuple(self._differing(kept))
        return msgspec.convert(told | {"file": str(self._path), "restart": restart}, SettingsView)

    async def change(self, given: Mapping[str, Value]) -> SettingsView:
        """Write these values into the settings file, and return what it says then. Raises
        ``ServiceError``, and nothing is changed."""
        async with self._changing:  # else a reply could come after one that tells more
            await asyncio.to_thread(keep_changes, self._path, given)
            return await self.view()

    def _differing(self, kept: NodeSettings) -> list[str]:
        names = [name for name in NodeSettings.__dataclass_fields__ if name not in LIVE]
        return [name for name in names if getattr(kept, name) != getattr(self._running, name)]
