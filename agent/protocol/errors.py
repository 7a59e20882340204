"""Whose fault it is, in the type: ours, theirs, or a person's."""

from __future__ import annotations

import msgspec

from agent.protocol.phrases import Phrase

UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoding raises for bytes that somebody else sent, however wrong they are."""


class LocalProtocolError(Exception):
    """This node broke a rule of its own; the message carries the story that led there."""


class RemoteProtocolError(Exception):
    """A peer sent what no correct peer sends. It costs the peer its link, never the node."""


class RequestError(Exception):
    """A client asked for what cannot be done: what, where, what to do. Tasks stand in it by their
    ids."""

    def __init__(self, fault: Phrase) -> None:
        super().__init__(fault.template)
        self.fault = fault
