"""How the two ends of a connection prove to each other that they hold the token, and never say it.

Where the system does not tell who is at the other end (a port of loopback, a pipe), whoever listens
there may be a program of another account that took the place of an agent that was killed. So both
sides draw a nonce, and each shows a digest that only the token can make: first the agent, then the
client. The place is part of it: who passes every word on to the agent at another place is found out.
"""

from __future__ import annotations

import hmac
import secrets
from typing import Literal

NONCE_BYTES = 16
Side = Literal["agent", "client"]


def new_nonce() -> str:
    """Return a word that was never said before."""
    return secrets.token_hex(NONCE_BYTES)


def proof_of(token: str, side: Side, place: str, asked: str, answered: str) -> str:
    """Return what this side shows at this place, to a client that drew the nonce ``asked`` and an
    agent that drew ``answered``."""
    said = "\n".join((side, place, asked, answered))
    return hmac.digest(token.encode(), said.encode(), "sha256").hex()


def same(shown: str, wanted: str) -> bool:
    """Whether two secrets are the same, compared in constant time."""
    return hmac.compare_digest(shown.encode(), wanted.encode())
