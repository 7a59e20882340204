"""settings: how this node is set up, and which of it waits for a restart."""

from agent.api.methods import SETTINGS
from agent.api.settings import Settings, SettingsView
from agent.control.call import Call, verb
from agent.control.settings_view import settings_view


async def serve(call: Call, params: Settings) -> SettingsView:  # noqa: ARG001 - it has none
    """As the file says, which is what holds after the next start."""
    return await settings_view(call.surface)


VERB = verb(SETTINGS, serve)
