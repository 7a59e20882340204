"""What is told to a person in one sentence, from whichever room it comes.

A client is told why a request is not done by a code for programs, too.
"""

from __future__ import annotations

from msgspec import UNSET

from agent.api.phrases import as_raw, worded
from agent.api.rpc import ErrorCode, Problem
from agent.protocol.phrases import Phrase


class ServiceError(Exception):
    """One sentence for a person: what is wrong, where, and what to do."""


class MembershipError(ServiceError):
    """It is wrong with the flock, its members or its keepers."""


class InVainError(MembershipError):
    """Trying the same again changes nothing: an invitation that is used up, over or none, or a
    machine that was sent away."""


class WantsPhraseError(MembershipError):
    """The same again with the recovery phrase would do it."""

    def __init__(self) -> None:
        super().__init__(
            "this takes two administrators besides the one concerned, and there are not as many: "
            "give the flock's recovery phrase for the one who is missing"
        )


class NotKeptError(MembershipError):
    """The own disk does not take something: nobody else's fault, and worth trying again."""


class RefusedError(ServiceError):
    """Told to the client as it is."""

    def __init__(self, code: ErrorCode, told: str | Phrase) -> None:
        fault = told if isinstance(told, Phrase) else None
        sentence = worded(told) if isinstance(told, Phrase) else told
        super().__init__(sentence)
        self.problem = Problem(code, sentence, UNSET if fault is None else as_raw(fault))
