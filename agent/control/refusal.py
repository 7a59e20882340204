"""Why a request is not done: a code for programs and one sentence for people."""

from __future__ import annotations

from msgspec import UNSET

from agent.api.errors import ServiceError
from agent.api.phrases import as_raw, worded
from agent.api.rpc import ErrorCode, Problem
from agent.protocol.phrases import Phrase


class RefusedError(ServiceError):
    """Told to the client as it is."""

    def __init__(self, code: ErrorCode, told: str | Phrase) -> None:
        fault = told if isinstance(told, Phrase) else None
        sentence = worded(told) if isinstance(told, Phrase) else told
        super().__init__(sentence)
        self.problem = Problem(code, sentence, UNSET if fault is None else as_raw(fault))
