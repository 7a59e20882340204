"""Questions over D-Bus, each answered within a second or not at all.

Nobody is started by a question: a service that does not run has nothing to tell. A lost bus is
joined anew at the next question.
"""

from __future__ import annotations

from typing import Any

from jeepney import DBusAddress, HeaderFields, MessageFlag, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from agent.api.presence_reasons import NoBus
from agent.presence.sources.source import SightError

ANSWER_WITHIN_S = 1.0
MISSING = (
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
)
UNKNOWN = (
    "org.freedesktop.DBus.Error.UnknownMethod",
    "org.freedesktop.DBus.Error.UnknownInterface",
    "org.freedesktop.DBus.Error.UnknownObject",
    "org.freedesktop.DBus.Error.NotSupported",
)


class BusError(SightError):
    """Nobody on the bus has answered, for this reason."""


class Bus:
    """The session bus or the system bus, or the one at an address."""

    def __init__(self, which: str) -> None:
        self._which = which
        self._connection: DBusConnection | None = None

    def ask(self, question: DBusAddress, method: str, signature: str = "", *body: object) -> Any:
        """Call a method over the bus and return the arguments of its answer; raise ``BusError``
        when nobody answers in time or it is refused."""
        message = new_method_call(question, method, signature or None, body)
        message.header.flags |= MessageFlag.no_auto_start
        try:
            if self._connection is None:
                self._connection = open_dbus_connection(self._which, auth_timeout=ANSWER_WITHIN_S)
            reply = self._connection.send_and_get_reply(message, timeout=ANSWER_WITHIN_S)
        except FileNotFoundError as error:
            raise BusError(NoBus(self._name)) from error
        except Exception as error:  # the library's own errors have no common ancestor
            self.close()
            why = str(error) or type(error).__name__
            raise BusError(f"the {self._name} bus cannot be asked ({why})") from error
        if reply.header.message_type is MessageType.error:
            raise BusError(_refusal(question, method, reply.header.fields))
        return reply.body

    def close(self) -> None:
        """Leave the bus; the next question joins it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _name(self) -> str:
        return self._which.lower() if self._which in ("SESSION", "SYSTEM") else "message"


def _refusal(question: DBusAddress, method: str, fields: dict[HeaderFields, Any]) -> str:
    name = str(fields.get(HeaderFields.error_name, ""))
    if name in MISSING:
        return f"{question.bus_name} is not there"
    if name in UNKNOWN:
        return f"{question.bus_name} does not tell ({method})"
    return f"{question.bus_name} refuses ({name})"
