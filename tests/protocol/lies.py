"""What a member that is no friend says instead of what an honest one would, message by message.

A lie is told each message that a node is about to send, and to whom; what it returns is sent
instead, and nothing where it returns None.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from msgspec.structs import replace

from agent.protocol.messages import (
    PROTOCOL_VERSION,
    BetterClaim,
    ClaimAnswers,
    ClaimName,
    DoubtedClaim,
    Heartbeat,
    Hello,
    Message,
    Status,
)
from agent.protocol.records import Claim

Lie = Callable[[str, Message], Message | None]
"""To whom, and what."""
FAR = 10**6
NEWER = 10**14


def always_busy(_: str, message: Message) -> Message | None:
    """It has promised everything to others, whom it does not name."""
    if isinstance(message, ClaimAnswers):
        return ClaimAnswers(busy=message.consents + message.busy)
    return message


def busy_for(friend: str) -> Lie:
    """It has promised everything to somebody who knows nothing of that."""

    def lie(_: str, message: Message) -> Message | None:
        if not isinstance(message, ClaimAnswers):
            return message
        told = message.consents + message.busy
        held = tuple(BetterClaim(each.task, each.claim, worse(each, friend)) for each in told)
        return ClaimAnswers(busy=told, held=held)

    return lie


def worse(name: ClaimName, host: str) -> Claim:
    return Claim(0, (name.claim.stamp[0] + FAR, 0), host)


def silent(_: str, message: Message) -> Message | None:
    """Its heart beats, and that is all."""
    return None if isinstance(message, ClaimAnswers) else message


def claims_all(own: str) -> Lie:
    """It has always a better claim, and never runs anything."""

    def lie(_: str, message: Message) -> Message | None:
        if not isinstance(message, ClaimAnswers):
            return message
        told = message.consents + message.busy
        best = tuple(BetterClaim(each.task, each.claim, Claim(FAR, (1, 0), own)) for each in told)
        return ClaimAnswers(better=best)

    return lie


def names_rivals(*hosts: str) -> Lie:
    """One or the other has always a better claim, which nobody makes."""
    said = count()

    def lie(_: str, message: Message) -> Message | None:
        if not isinstance(message, ClaimAnswers):
            return message
        told = message.consents + message.busy
        best = tuple(
            BetterClaim(each.task, each.claim, Claim(FAR, (number, 0), hosts[number % len(hosts)]))
            for each, number in zip(told, said, strict=False)
        )
        return ClaimAnswers(better=best)

    return lie


def knows_better(_: str, message: Message) -> Message | None:
    """It doubts whatever a claim stands on, and sees no free seats."""
    if isinstance(message, ClaimAnswers):
        return ClaimAnswers(full=message.consents + message.busy)
    return message


def believes_nothing(_: str, message: Message) -> Message | None:
    """Whatever a claim stands on, it is worth nothing."""
    if isinstance(message, ClaimAnswers):
        names = message.consents + message.busy
        return ClaimAnswers(doubted=tuple(DoubtedClaim(n.task, n.claim, 0) for n in names))
    return message


def saw_later_starts(_: str, message: Message) -> Message | None:
    """Of whomever it talks to, over and over."""
    if isinstance(message, Hello):
        return replace(message, seen=NEWER)
    return Hello(PROTOCOL_VERSION, "mau", 2**50, NEWER, True) if _is_beat(message) else message


def tells_of_later_starts(_: str, message: Message) -> Message | None:
    """Of all others, as if it had seen them."""
    if isinstance(message, Status):
        return replace(
            message,
            neighbours=dict.fromkeys(message.neighbours, NEWER),
            reached=dict.fromkeys(message.reached, NEWER),
        )
    return message


def _is_beat(message: Message) -> bool:
    return isinstance(message, Heartbeat) and message.number % 4 == 0
