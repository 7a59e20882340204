"""A panel that shows programs over the bus, as those of KDE and of GNOME with its extension do.

No icon is drawn: the host does what such a panel does when a person clicks. It asks the item for its
sentence and picture, asks the menu for its layout, and says which entry was clicked. So the tray's
other way to the desktop, without a window in a panel, is driven to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from jeepney import (
    DBusAddress,
    Message,
    MessageType,
    Properties,
    new_method_call,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.presence.desktop_on_bus import Answer, Answers, desktop

WATCHER, WATCHER_PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
ITEM, ITEM_PATH = "org.kde.StatusNotifierItem", "/StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
INTROSPECTABLE, PROPERTIES = (
    f"org.freedesktop.DBus.{each}" for each in ("Introspectable", "Properties")
)
ANSWER_S_MAX = EVENTUALLY_S_MAX
ALL_LEVELS = -1
DESCRIPTION = f"""<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
<node><interface name="{WATCHER}">
<method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
<method name="RegisterStatusNotifierHost"><arg type="s" direction="in"/></method>
<property name="RegisteredStatusNotifierItems" type="as" access="read"/>
<property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
<property name="ProtocolVersion" type="i" access="read"/>
<signal name="StatusNotifierItemRegistered"><arg type="s"/></signal>
<signal name="StatusNotifierHostRegistered"/>
</interface></node>"""


@dataclass(frozen=True, slots=True)
class Line:
    """An entry of a menu, as the host reads it."""

    number: int
    text: str
    enabled: bool
    lines: tuple[Line, ...]


class StatusItem:
    """An icon in a panel, as the panel knows it: what a person sees of it and does with it."""

    def __init__(self, connection: DBusConnection, name: str) -> None:
        self._connection, self._name = connection, name

    def sentence(self) -> str:
        """What is shown while the mouse rests on the icon."""
        _, _, title, text = self._property("ToolTip")
        return " ".join(each for each in (title, text) if each)

    def picture(self) -> tuple[int, int, bytes]:
        """Width, height and pixels of the largest there is."""
        pixels: list[tuple[int, int, bytes]] = self._property("IconPixmap")
        return max(pixels)

    def activate(self) -> None:
        """A left click."""
        self._call(ITEM_PATH, ITEM, "Activate", "ii", (0, 0))

    def menu(self) -> tuple[Line, ...]:
        """A right click: what can be chosen then."""
        path = self._property("Menu")
        self._call(path, MENU, "AboutToShow", "i", (0,))
        _, layout = self._call(path, MENU, "GetLayout", "iias", (0, ALL_LEVELS, []))
        return _line(layout).lines

    def choose(self, *texts: str) -> None:
        """Entry by entry down the menus, told by how they begin; the last is clicked."""
        line = Line(0, "", enabled=True, lines=self.menu())
        for text in texts:
            line = next(each for each in line.lines if each.text.startswith(text))
        assert line.enabled, f"{line.text} is grey"
        self._call(
            self._property("Menu"), MENU, "Event", "isvu", (line.number, "clicked", ("i", 0), 0)
        )

    def _property(self, name: str) -> Any:
        address = DBusAddress(ITEM_PATH, self._name, ITEM)
        return _answer(self._connection, Properties(address).get(name))[0][1]

    def _call(self, path: str, interface: str, method: str, signature: str, values: Any) -> Any:
        address = DBusAddress(path, self._name, interface)
        return _answer(self._connection, new_method_call(address, method, signature, values))


@dataclass(frozen=True)
class StatusHost:
    """Watcher and host in one, as most panels are."""

    connection: DBusConnection
    items: list[str]

    @property
    def item(self) -> StatusItem:
        """The newest."""
        return StatusItem(self.connection, self.items[-1])


@contextmanager
def status_host(bus_address: str) -> Iterator[StatusHost]:
    """There for the block."""
    items: list[str] = []
    known: dict[str, Callable[[], tuple[str, object]]] = {
        "RegisteredStatusNotifierItems": lambda: ("as", list(items)),
        "IsStatusNotifierHostRegistered": lambda: ("b", True),
        "ProtocolVersion": lambda: ("i", 0),
    }

    def register(_: str, name: str) -> Answer:
        items.append(name)
        return "", ()

    answers: Answers = {
        (WATCHER, "RegisterStatusNotifierItem"): register,
        (WATCHER, "RegisterStatusNotifierHost"): lambda *_: ("", ()),
        (INTROSPECTABLE, "Introspect"): lambda _: ("s", (DESCRIPTION,)),
        (PROPERTIES, "Get"): lambda _, __, name: ("v", (known[name](),)),
        (PROPERTIES, "GetAll"): lambda *_: (
            "a{sv}",
            ({name: told() for name, told in known.items()},),
        ),
    }
    with (
        open_dbus_connection(bus_address, auth_timeout=EVENTUALLY_S_MAX) as asking,
        desktop(bus_address, (WATCHER,), answers),
    ):
        yield StatusHost(asking, items)


@contextmanager
def item_of_panel(bus_address: str) -> Iterator[Callable[[], StatusItem | None]]:
    """For a panel that is somebody else's: its newest item, as its own watcher tells."""
    with open_dbus_connection(bus_address, auth_timeout=EVENTUALLY_S_MAX) as connection:

        def newest() -> StatusItem | None:
            address = DBusAddress(WATCHER_PATH, WATCHER, WATCHER)
            asked = Properties(address).get("RegisteredStatusNotifierItems")
            reply = connection.send_and_get_reply(asked, timeout=ANSWER_S_MAX)
            if reply.header.message_type is not MessageType.method_return:
                return None
            items = reply.body[0][1]
            return StatusItem(connection, items[-1].partition("/")[0]) if items else None

        yield newest


def _answer(connection: DBusConnection, message: Message) -> Any:
    reply = connection.send_and_get_reply(message, timeout=ANSWER_S_MAX)
    assert reply.header.message_type is MessageType.method_return, reply.body
    return reply.body


def _line(layout: Any) -> Line:
    number, told, inner = layout
    text = str(told.get("label", ("s", ""))[1]).replace("_", "")
    enabled = bool(told.get("enabled", ("b", True))[1])
    return Line(number, text, enabled, tuple(_line(each[1]) for each in inner))
