"""Secrets of this machine, by name; no value is told again."""

import asyncio

from agent.api.secrets import (
    FORGET_SECRET,
    SECRETS,
    SET_SECRET,
    ForgetSecret,
    SecretForgotten,
    Secrets,
    SecretsReply,
    SecretView,
    SetSecret,
)
from agent.control.request_context import RequestContext, serves


@serves(SECRETS)
async def secrets(call: RequestContext, params: Secrets) -> SecretsReply:
    """Return which secrets are here, in the order of names, and where their values lie."""
    await asyncio.to_thread(call.rooms.secrets.look)
    return SecretsReply(call.rooms.secrets.listing())


@serves(SET_SECRET)
async def set_secret(call: RequestContext, params: SetSecret) -> SecretView:
    """Keep a value for programs that may have it. Raises ``ServiceError`` where it cannot be kept."""
    value = params.value.encode()
    return await asyncio.to_thread(call.rooms.secrets.set, params.name, value)


@serves(FORGET_SECRET)
async def forget_secret(call: RequestContext, params: ForgetSecret) -> SecretForgotten:
    """Delete a value. Raises ``ServiceError`` where it is not here, or an administrator's."""
    await asyncio.to_thread(call.rooms.secrets.forget, params.name)
    return SecretForgotten(params.name)
