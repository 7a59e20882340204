"""When this machine helps, and what else its owner has set."""

from msgspec import UNSET
from msgspec.structs import asdict, replace

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.settings import CHANGE_SETTINGS, SETTINGS, ChangeSettings, Settings, SettingsView
from agent.api.volunteering import (
    AT_HAND,
    PAUSE,
    RESUME,
    RUNNING_PROGRAMS,
    SET_VOLUNTEERING,
    VOLUNTEERING,
    AtHand,
    Heard,
    Pause,
    ProgramsRunning,
    Resume,
    RunningPrograms,
    SetVolunteering,
    Volunteering,
    VolunteeringView,
)
from agent.control.doorkeeping import Person
from agent.control.membership import require_membership
from agent.control.request_context import RequestContext, serves
from agent.control.views import volunteering_said
from agent.protocol.phrases import said


@serves(PAUSE)
async def pause(call: RequestContext, params: Pause) -> VolunteeringView:
    """Pause helping, for a while or until further notice, over restarts too, and return whether
    this machine helps then; what runs is suspended at once, or may end first. Raises
    ``RefusedError`` where two ends are named."""
    if params.for_s is not None and params.until_tomorrow:
        raise RefusedError(
            ErrorCode.WRONG_PARAMETERS, said("pause: either for_s or until_tomorrow, not both")
        )
    return volunteering_said(await call.rooms.presence.pause(params))


@serves(RESUME)
async def resume(call: RequestContext, params: Resume) -> VolunteeringView:
    """End the pause; whether the machine helps then is for its rules to say."""
    return volunteering_said(await call.rooms.presence.resume())


@serves(AT_HAND)
async def at_hand(call: RequestContext, params: AtHand) -> Heard:
    """Count what the desktop of a person shows of them, as long as it is fresh; an agent that is no
    service looks for itself, and makes nothing of it."""
    person = call.neighbour.name if isinstance(call.neighbour, Person) else ""
    return Heard(call.rooms.presence.heard(person, params))


@serves(RUNNING_PROGRAMS)
async def running_programs(call: RequestContext, params: RunningPrograms) -> ProgramsRunning:
    """Return the names of the programs that its owner runs on this machine. Raises
    ``ServiceError`` where the system does not list them."""
    return ProgramsRunning(await call.rooms.presence.running())


@serves(VOLUNTEERING)
async def volunteering(call: RequestContext, params: Volunteering) -> VolunteeringView:
    """Return whether this machine helps, by which rules, and what each source of presence sees. All
    sources are looked at anew, needed or not, within some seconds."""
    return volunteering_said(await call.rooms.presence.look())


@serves(SET_VOLUNTEERING)
async def set_volunteering(call: RequestContext, params: SetVolunteering) -> VolunteeringView:
    """Replace the rules by which this machine helps, in the settings file too, and return whether
    it helps then. Raises ``ServiceError``, and changes nothing, for rules that leave no moment to
    help or cannot be saved."""
    return volunteering_said(await call.rooms.presence.set_rules(params.rules))


@serves(SETTINGS)
async def settings(call: RequestContext, params: Settings) -> SettingsView:
    """Return what the settings file says, what of it waits for a restart, and the rules of the
    flock."""
    return _with_rules(call, await call.rooms.settings.view())


def _with_rules(call: RequestContext, view: SettingsView) -> SettingsView:
    return replace(view, rules=call.now.status.rules)


@serves(CHANGE_SETTINGS)
async def change_settings(call: RequestContext, params: ChangeSettings) -> SettingsView:
    """Write these settings into the file, and tell the flock by which rules it is to go; return what
    holds then, and what of it waits for a restart. Raises ``RefusedError`` where none is named and
    for rules without a flock, ``ServiceError``, and changes nothing, where one is wrong or the file
    cannot be written."""
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(params).items()
        if value is not UNSET
    }
    if not given:
        raise RefusedError(
            ErrorCode.WRONG_PARAMETERS, said("change_settings: name at least one setting to change")
        )
    rules = "" if params.rules is UNSET else params.rules
    given.pop("rules", None)
    if rules:
        require_membership(call)
    room = call.rooms.settings
    view = await (room.change(given) if given else room.view())
    if rules:
        call.rooms.flock.choose_rules(rules)
    return _with_rules(call, view)
