"""Presence as clients see it, and their rules as it takes them."""

from __future__ import annotations

from dataclasses import fields

from agent.api import volunteering as api
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode
from agent.control.refusal import RefusedError
from agent.presence.hours import Hours, Weekday, clock, minutes
from agent.presence.rules import Mode, Rules
from agent.presence.watching import PresenceState
from agent.wording.speech import english

_SAME = tuple(each.name for each in fields(Rules) if each.name not in ("mode", "hours"))


def volunteering_view(state: PresenceState) -> api.VolunteeringView:
    """Return whether this machine helps and why, as clients see it."""
    until_s = state.paused_until_s
    return api.VolunteeringView(
        state.volunteering,
        state.owner_present,
        english(state.reason),
        _rules_view(state.rules),
        state.paused,
        None if until_s is None else round(until_s * 1000),
        state.finishing,
        tuple(
            api.SourceView(
                each.kind.value,
                each.sees,
                each.needed and not each.sees,
                english(each.why),
                max(0, round(each.read_s * 1000)),
                each.standing,
                as_why(each.why),
            )
            for each in state.sources
        ),
        as_why(state.reason),
    )


def rules_of(told: api.VolunteerRules) -> Rules:
    """Return the rules as presence knows them. Raises ``RefusedError`` for hours that no clock
    shows."""
    try:
        hours = tuple(
            Hours(Weekday(each.day), minutes(each.begins), minutes(each.ends))
            for each in told.hours
        )
    except ValueError as error:
        raise RefusedError(ErrorCode.REFUSED, f"one of the hours {error}") from error
    same = {name: getattr(told, name) for name in _SAME}
    return Rules(mode=Mode(told.mode), hours=hours, **same)


def _rules_view(rules: Rules) -> api.VolunteerRules:
    days = [api.Hours(each.day.value, clock(each.begins), clock(each.ends)) for each in rules.hours]
    same = {name: getattr(rules, name) for name in _SAME}
    return api.VolunteerRules(mode=rules.mode.value, hours=tuple(days), **same)
