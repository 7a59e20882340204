"""Why a request is not done: a code for programs and one sentence for people."""

from __future__ import annotations

from agent.api.rpc import ErrorCode, Problem


class RefusedError(Exception):
    """Told to the client as it is."""

    def __init__(self, code: ErrorCode, sentence: str) -> None:
        super().__init__(sentence)
        self.problem = Problem(code, sentence)
