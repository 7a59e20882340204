"""What may go wrong between a client and its agent, each with one sentence for a person."""

from __future__ import annotations

from agent.api.phrases import phrase_of
from agent.api.rpc import ErrorCode, Problem


class ClientError(Exception):
    """What went wrong, as one sentence for a person."""


class NoAgentError(ClientError):
    """There is no agent to talk to."""


class NotUnderstoodError(ClientError):
    """What answers is no agent, or one of another age."""


class DisconnectedError(ClientError):
    """The connection ended before the answer; whether it was done is not known."""


class RequestError(ClientError):
    """The agent answered that it does not do that; ``code`` tells programs why, and ``fault`` is
    the sentence as a value, where something is wrong that a person wrote."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.code = problem.code
        self.fault = phrase_of(problem.fault)


class EventsLostError(RequestError):
    """Too much has happened since, or the agent was started anew: read what you show again."""


def error_of(problem: Problem) -> RequestError:
    """Return, not raise, the exception for what the agent says is wrong: ``EventsLostError`` where
    its code says that, else ``RequestError``."""
    if problem.code == ErrorCode.EVENTS_LOST:
        return EventsLostError(problem)
    return RequestError(problem)
