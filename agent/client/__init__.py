"""The client library: how windows, the command line and programs of others reach a node.

``Client.connect()`` finds the agent of this user and greets it; ``client.call(METHOD, params)``
asks anything that ``agent.api`` knows, typed on both sides; ``client.events()`` tells what happens.
``BlockingClient`` is the same for programs without a loop. Whatever goes wrong is a ``ClientError``
that is one sentence for a person.
"""

from agent.client.blocking import BlockingClient
from agent.client.connected import Client, pieces_of, submit
from agent.client.errors import (
    ClientError,
    DisconnectedError,
    EventsLostError,
    NoAgentError,
    NotUnderstoodError,
    RequestError,
)
from agent.paths import PACKAGED, Home

__all__ = [
    "PACKAGED",
    "BlockingClient",
    "Client",
    "ClientError",
    "DisconnectedError",
    "EventsLostError",
    "Home",
    "NoAgentError",
    "NotUnderstoodError",
    "RequestError",
    "pieces_of",
    "submit",
]
