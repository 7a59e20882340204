"""Joining without an invitation: flocks nearby, asking to be let in, and who answers it.

A machine in no flock asks a flock that it hears of; somebody at a keeper of that flock lets it in.
Neither side knows the other yet, so both show a short code that is the same only if nobody stands
between them, and each side needs a person's act: at the keeper ``admit``, at the machine that
wants to join ``confirm_ask``, both given with the code that was compared. A machine joins only when
both were done, in whatever order. A request ends by itself after some minutes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.api.rpc import Method
from agent.api.values import Count, Millis, Reference, ShortText

CODE_DIGITS = 6
Code = Annotated[str, Meta(max_length=32)]
"""As it is shown, "418 230"; what is typed may lack the space or have a dash for it."""


class Nearby(Struct, frozen=True, forbid_unknown_fields=True):
    """Which flocks are on this network? The first time takes a moment, for they have to answer;
    asked again within minutes it answers at once with what is known by then."""


class NearbyFlock(Struct, frozen=True):
    """A flock that tells of itself here. ``name`` is empty until a keeper of it has answered,
    and then it is its own word: two flocks may call themselves the same."""

    flock: str
    name: str
    machines: Count
    askable: bool
    own: bool = False


class NearbyReply(Struct, frozen=True):
    """In the order of names. ``trouble``: why the network cannot be listened to."""

    flocks: tuple[NearbyFlock, ...]
    trouble: str = ""


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask a flock to let this machine in: by its name or id as ``nearby`` tells them, or by the
    address of one of its keepers. An earlier request of this machine is withdrawn."""

    flock: Reference


AskState = Literal["none", "waiting", "admitted", "joining", "joined", "refused", "ended"]
"""``waiting``: for a person at a keeper. ``admitted``: for ``confirm_ask`` here. ``refused``: by a
person there. ``ended``: otherwise, ``reason`` says how."""


class Asked(Struct, frozen=True, forbid_unknown_fields=True):
    """What has become of the request of this machine?"""


class AskView(Struct, frozen=True):
    """The request of this machine. ``keeper``: the machine that was asked, where the code is shown
    too. ``confirmed``: a person here has compared it already."""

    state: AskState
    flock: str = ""
    keeper: str = ""
    code: str = ""
    expires_ms: Millis = 0
    confirmed: bool = False
    reason: str = ""


class ConfirmAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """The keeper shows the same code: join as soon as it lets this machine in."""

    code: Code


class WithdrawAsk(Struct, frozen=True, forbid_unknown_fields=True):
    """This machine does not want to join any more."""


class Requests(Struct, frozen=True, forbid_unknown_fields=True):
    """Which machines ask to be let in?"""


class JoinRequestView(Struct, frozen=True):
    """A machine that asks; name and user are its own word. ``keeper``: the one that it asked."""

    request: str
    name: str
    user: str
    address: str
    code: str
    keeper: str
    asked_ms: Millis
    expires_ms: Millis
    admitted: bool = False
    """Somebody has let it in; it has not come yet."""


class RequestsReply(Struct, frozen=True):
    """Oldest first. Only where ``may_admit`` is true can they be answered; else at ``keepers``."""

    requests: tuple[JoinRequestView, ...]
    may_admit: bool
    keepers: tuple[str, ...] = ()


class Admit(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Let a machine in that asks, by the id of its request, its code, or its name together with
    ``code``: what was compared; another one is refused."""

    request: Reference
    code: Code = ""


class Refuse(Struct, frozen=True, forbid_unknown_fields=True):
    """Do not let a machine in that asks; it is told so, and may ask again."""

    request: Reference


class Answered(Struct, frozen=True):
    """What was decided about which machine; one that is let in belongs as soon as it has come."""

    request: str
    name: str
    code: str
    admitted: bool


class JoinRequested(Struct, frozen=True, tag="join requested"):
    """Event: a machine asks to be let in. Told at every member, once for each request."""

    request: ShortText
    name: str
    user: str
    code: str
    keeper: str


class JoinRequestEnded(Struct, frozen=True, tag="join request ended"):
    """Event: a machine does not ask to be let in any more."""

    request: ShortText
    name: str
    outcome: Literal["joined", "refused", "ended"]


class AskChanged(Struct, frozen=True, tag="ask changed"):
    """Event: the request of this machine is in another state; ``asked`` tells the rest."""

    state: AskState
    flock: str


def same_code(shown: str, typed: str) -> bool:
    """Tell whether a person typed the code that is shown, however they parted it."""
    return _digits(shown) == _digits(typed) and len(_digits(typed)) == CODE_DIGITS


def _digits(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")


# -- what is asked, and what is answered ----------------------------------------------------------

NEARBY = Method("nearby", Nearby, NearbyReply, by_members=False)
ASK = Method("ask", Ask, AskView, repeatable=False, by_members=False)
ASKED = Method("asked", Asked, AskView, by_members=False)
CONFIRM_ASK = Method("confirm_ask", ConfirmAsk, AskView, by_members=False)
WITHDRAW_ASK = Method("withdraw_ask", WithdrawAsk, AskView, by_members=False)
REQUESTS = Method("requests", Requests, RequestsReply)
ADMIT = Method("admit", Admit, Answered, repeatable=False, by_members=False)
REFUSE = Method("refuse", Refuse, Answered, repeatable=False, by_members=False)
