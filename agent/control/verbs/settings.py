"""What the owner of this machine has set."""

from msgspec import UNSET
from msgspec.structs import asdict

from agent.api.errors import RefusedError
from agent.api.methods import CHANGE_SETTINGS, SETTINGS
from agent.api.rpc import ErrorCode
from agent.api.settings import ChangeSettings, Settings, SettingsView
from agent.control.request_context import RequestContext, serves


@serves(SETTINGS)
async def settings(call: RequestContext, params: Settings) -> SettingsView:
    """Return what the settings file says, and what of it waits for a restart."""
    return await call.rooms.settings.view()


@serves(CHANGE_SETTINGS)
async def change_settings(call: RequestContext, params: ChangeSettings) -> SettingsView:
    """Write these settings into the file; return what it says then, and what of it waits for a
    restart. Raises ``RefusedError`` where none is named."""
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(params).items()
        if value is not UNSET
    }
    if not given:
        sentence = "change_settings: name at least one setting to change"
        raise RefusedError(ErrorCode.WRONG_PARAMETERS, sentence)
    return await call.rooms.settings.change(given)
