"""Desktops and session services on a real bus, which answer what a test has told them.

They are the interfaces of the real ones, over real messages; only who answers differs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jeepney import HeaderFields, MessageType, new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.hosts.waiting import EVENTUALLY_S_MAX

Answer = tuple[str, tuple[Any, ...]]
"""The signature and the values."""
Answers = dict[tuple[str, str], Callable[..., Answer]]
"""By interface and method; whoever asks for others is told that there is none."""


class Desktop:
    """Answers in a thread of its own until the test ends."""

    def __init__(self, address: str, names: tuple[str, ...], answers: Answers) -> None:
        self.asked: list[str] = []
        self._answers = answers
        self._connection: DBusConnection = open_dbus_connection(
            address, enable_fds=True, auth_timeout=EVENTUALLY_S_MAX
        )
        for name in names:
            self._connection.send_and_get_reply(message_bus.RequestName(name))
        self._thread = threading.Thread(target=self._serve, name="desktop on a bus")
        self._stopping = False
        self._thread.start()

    def close(self) -> None:
        """Leave the bus."""
        self._stopping = True
        self._thread.join(EVENTUALLY_S_MAX)
        assert not self._thread.is_alive(), "the desktop does not end"
        self._connection.close()

    def _serve(self) -> None:
        while not self._stopping:
            try:
                message = self._connection.receive(timeout=0.1)
            except TimeoutError:
                continue
            if message.header.message_type is not MessageType.method_call:
                continue
            fields = message.header.fields
            method = fields[HeaderFields.member]
            self.asked.append(method)
            answer = self._answers.get((fields[HeaderFields.interface], method))
            if answer is None:
                unknown = "org.freedesktop.DBus.Error.UnknownMethod"
                self._connection.send(new_error(message, unknown))
                continue
            signature, values = answer(fields[HeaderFields.path], *message.body)
            self._connection.send(new_method_return(message, signature or None, values))
            if signature == "h":  # an open file, which is theirs now
                os.close(values[0])


@contextmanager
def desktop(address: str, names: tuple[str, ...], answers: Answers) -> Iterator[Desktop]:
    """A desktop for as long as the block."""
    found = Desktop(address, names, answers)
    try:
        yield found
    finally:
        found.close()
