"""The settings as clients see them: what the file says, and what of it waits for a restart."""

from __future__ import annotations

import asyncio

from agent.api.settings import Processor, PublishedPrograms, SettingsView
from agent.control.node_port import NodePort
from agent.settings.node_settings import NodeSettings, read_settings

TAKES_NAMES: dict[str, PublishedPrograms] = {"always": "always", "ask": "ask", "never": "never"}
PROCESSOR_NAMES: dict[str, Processor] = {"spare": "spare", "share": "share"}
LIVE = ("volunteer", "presence")
"""Presence minds these itself."""


async def settings_view(surface: NodePort) -> SettingsView:
    """Raises ``ServiceError`` when the file cannot be read."""
    running, path = surface.settings, surface.home.settings_file
    kept = await asyncio.to_thread(read_settings, path)
    return SettingsView(
        str(path),
        kept.name,
        kept.port,
        kept.listen,
        tuple(str(each) for each in kept.addresses),
        kept.slots,
        kept.tags,
        published_programs=TAKES_NAMES[kept.published_programs],
        datasets_gb=kept.datasets_gb,
        restart=tuple(_differing(kept, running)),
        processor=PROCESSOR_NAMES[kept.processor],
        memory_gb=kept.memory_gb,
        join_requests=kept.join_requests,
    )


def _differing(kept: NodeSettings, running: NodeSettings) -> list[str]:
    names = [name for name in NodeSettings.__dataclass_fields__ if name not in LIVE]
    return [name for name in names if getattr(kept, name) != getattr(running, name)]
