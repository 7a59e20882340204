"""What clients want of the node, from the asking to the answer.

Each request gets a name of its own, by which the node's answer finds its way back; whoever waits
when the node stops is told so.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import replace

from agent.api.errors import ServiceError
from agent.control.port import Wish
from agent.protocol.effects import Answer
from agent.protocol.events import Event

REQUESTS_MAX = 10_000


class PendingRequests:
    """All requests that wait, in the loop."""

    def __init__(self, name: str, hand: Callable[[], Callable[[Event], None]]) -> None:
        self._name, self._hand = name, hand
        self.closed = False
        """The node is stopping, and takes no more."""
        self._waiting: dict[str, asyncio.Future[Answer]] = {}

    async def ask(self, wish: Wish) -> Answer:
        """Hand in what a client wants under a new name, wait for the node's answer and return it; a
        refusal is an answer too.

        An accepted submission is on this disk, and with peers present on one more. Raises
        ``ServiceError`` where too many wait, or the node is stopping or stops before it could
        answer.
        """
        if self.closed:
            raise ServiceError(f"{self._name} is stopping: ask another machine.")
        if len(self._waiting) >= REQUESTS_MAX:
            raise ServiceError(f"{REQUESTS_MAX} requests wait on {self._name}: ask again later.")
        name = uuid.uuid4().hex
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[name] = answer
        try:
            self._hand()(replace(wish, request=name))
            return await answer
        finally:
            self._waiting.pop(name, None)

    def answered(self, answer: Answer) -> None:
        """Give an answer to whoever waits for it; nothing happens if nobody does any more."""
        waiting = self._waiting.get(answer.request)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def give_up(self) -> None:
        """Let everybody who waits fail with ``ServiceError``, for the node answers no more. Later
        requests are refused by ``closed``, not by this."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(
                    ServiceError(f"{self._name} stopped before it could answer: ask another one.")
                )
