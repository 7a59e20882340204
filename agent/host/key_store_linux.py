"""The Secret Service of the session bus, spoken to as freedesktop.org's specification has it.

A value crosses the bus in the clear (algorithm ``plain``): it is a socket of this account, whose border
no cipher between two of its processes would strengthen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

from jeepney import DBusAddress, MessageFlag, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

assert sys.platform != "win32"

SERVICE = "org.freedesktop.secrets"
DEFAULT = "/org/freedesktop/secrets/aliases/default"
PROPERTIES = DBusAddress(DEFAULT, bus_name=SERVICE, interface="org.freedesktop.DBus.Properties")
ANSWER_WITHIN_S = 5.0
NOTHING = "/"
"""Where a prompt would have to be shown, another path stands."""
APPLICATION = "wingbeat"
Ask = Callable[..., Any]


class SecretService:
    """Values of one agent, among all that lie in the keyring of its account."""

    def __init__(self, home: str, bus: str = "SESSION") -> None:
        self._home, self._bus = home, bus

    def put(self, name: str, value: bytes) -> None:
        """Keep a value under this name in the account's key store, over an earlier one; raise
        ``OSError`` where the store is missing, locked, does not answer or would first ask the user
        at the screen."""
        with closing(self._connected()) as connection:
            ask = _asking(connection)
            properties = {
                "org.freedesktop.Secret.Item.Label": ("s", f"Wingbeat: {name}"),
                "org.freedesktop.Secret.Item.Attributes": ("a{ss}", self._attributes(name)),
            }
            asked = "org.freedesktop.Secret.Collection", "Locked"
            if ask(PROPERTIES, "Get", "ss", *asked)[0][1]:
                raise OSError("the key store of this account is locked")
            secret = (_session(ask), b"", value, "text/plain")
            _, prompt = ask(
                _at(DEFAULT, "Collection"), "CreateItem", "a{sv}(oayays)b", properties, secret, True
            )
            if prompt != NOTHING:
                raise OSError("the key store of this account wants to be asked at its screen")

    def get(self, name: str) -> bytes:
        """Return the value that is kept under this name; raise ``OSError`` where there is none, or
        the store is missing, locked or does not answer."""
        with closing(self._connected()) as connection:
            ask = _asking(connection)
            found, _ = self._search(ask, name)
            if not found:
                raise OSError(f"the key store of this account has no {name}, or is locked")
            secret = ask(_at(found[0], "Item"), "GetSecret", "o", _session(ask))[0]
            return bytes(secret[2])

    def remove(self, name: str) -> None:
        """Delete the values that are kept under this name; do nothing where there is none. A locked
        one may stay, without a word. Raise ``OSError`` where the store is missing or refuses."""
        with closing(self._connected()) as connection:
            ask = _asking(connection)
            for each in (*self._search(ask, name)[0], *self._search(ask, name)[1]):
                ask(_at(each, "Item"), "Delete", "")

    def _search(self, ask: Ask, name: str) -> tuple[list[str], list[str]]:
        """Those that are unlocked, and those that are not."""
        service = _at("/org/freedesktop/secrets", "Service")
        unlocked, locked = ask(service, "SearchItems", "a{ss}", self._attributes(name))
        return unlocked, locked

    def _attributes(self, name: str) -> dict[str, str]:
        return {"application": APPLICATION, "home": self._home, "name": name}

    def _connected(self) -> DBusConnection:
        try:
            return open_dbus_connection(self._bus, auth_timeout=ANSWER_WITHIN_S)
        except Exception as error:  # the library's own errors have no common ancestor
            raise OSError(f"there is no session bus ({error})") from error


def _at(path: str, interface: str) -> DBusAddress:
    whole = f"org.freedesktop.Secret.{interface}"
    return DBusAddress(path, bus_name=SERVICE, interface=whole)


def _asking(connection: DBusConnection) -> Ask:
    def ask(whom: DBusAddress, method: str, signature: str, *body: object) -> Any:
        message = new_method_call(whom, method, signature or None, body)
        message.header.flags |= MessageFlag.no_auto_start
        try:
            reply = connection.send_and_get_reply(message, timeout=ANSWER_WITHIN_S)
        except Exception as error:
            raise OSError(f"the key store of this account does not answer ({error})") from error
        if reply.header.message_type is MessageType.error:
            raise OSError("this account has no key store that runs")
        return reply.body

    return ask


def _session(ask: Ask) -> str:
    """Begin a conversation; its path is what values are told with."""
    service = _at("/org/freedesktop/secrets", "Service")
    return str(ask(service, "OpenSession", "sv", "plain", ("s", ""))[1])
