"""Reads windows as a screen reader does: over the accessibility bus, from outside the program.

So a test sees what every person with a screen reader is told, names and states included, and the
program needs no door for tests. What Qt tells as an identifier is the path of object names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, MessageType, Properties, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.hosts.waiting import EVENTUALLY_S_MAX

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE, TEXT, COMPONENT, ACTION = (
    f"org.a11y.atspi.{each}" for each in ("Accessible", "Text", "Component", "Action")
)
STATE_ENABLED, STATE_FOCUSED, STATE_SHOWING = 8, 12, 25
ANSWER_S_MAX, FIND_S_MAX = EVENTUALLY_S_MAX, 5.0
PARTS_MAX = 5_000


class GoneError(Exception):
    """The part, or its program, is no more."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something in a window."""

    reader: ScreenReader
    path: str

    @property
    def name(self) -> str:
        """What a screen reader says of it."""
        return str(self.reader.property_of(self.path, "Name"))

    @property
    def identifier(self) -> str:
        """The names of the objects down to it."""
        return str(self.reader.property_of(self.path, "AccessibleId"))

    @property
    def role(self) -> str:
        """Button, label, table cell and the like."""
        return str(self.reader.ask(self.path, ACCESSIBLE, "GetRoleName")[0])

    @property
    def text(self) -> str:
        """What stands in it, of a field of text."""
        return str(self.reader.ask(self.path, TEXT, "GetText", "ii", (0, -1))[0])

    @property
    def showing(self) -> bool:
        """Whether a person sees it."""
        return self._state(STATE_SHOWING)

    @property
    def enabled(self) -> bool:
        """Whether it can be used."""
        return self._state(STATE_ENABLED)

    @property
    def middle(self) -> tuple[int, int]:
        """Where to click."""
        left, top, width, height = self.extents
        return left + width // 2, top + height // 2

    @property
    def extents(self) -> tuple[int, int, int, int]:
        """Left, top, width and height on the screen."""
        (found,) = self.reader.ask(self.path, COMPONENT, "GetExtents", "u", (0,))
        left, top, width, height = found
        return left, top, width, height

    def press(self) -> None:
        """As a screen reader does for a person who has no mouse."""
        self.reader.ask(self.path, ACTION, "DoAction", "i", (0,))

    def parts(self) -> Iterator[Part]:
        """This and everything in it, at most so many."""
        waiting = [self]
        for _ in range(PARTS_MAX):
            if not waiting:
                return
            part = waiting.pop()
            yield part
            try:
                (found,) = self.reader.ask(part.path, ACCESSIBLE, "GetChildren")
            except GoneError:
                continue
            waiting += [Part(self.reader, path) for _, path in reversed(found)]

    def _state(self, bit: int) -> bool:
        (words,) = self.reader.ask(self.path, ACCESSIBLE, "GetState")
        return bool(words[bit // 32] >> bit % 32 & 1)


class ScreenReader:
    """Of one program."""

    def __init__(self, bus_address: str, process: int) -> None:
        self._connection: DBusConnection = open_dbus_connection(
            bus_address, auth_timeout=EVENTUALLY_S_MAX
        )
        self._process = process
        self._program = ""
        self._mute: set[str] = set()
        """Connections of the program that only ask, such as those of an agent inside it; or seem
        to, because the program is slow: they are asked again when no other answers."""

    def close(self) -> None:
        """Leave the bus."""
        self._connection.close()

    def found(self, name: str) -> Part | None:
        """What has this object name and is seen now; none while there is nothing like that."""
        return next(self._seen(lambda part: part.identifier.rpartition(".")[2] == name), None)

    def named(self, name: str, role: str = "") -> list[Part]:
        """What is seen and read out like this."""
        return list(self._seen(lambda part: part.name == name and (not role or part.role == role)))

    def everything(self) -> Iterator[Part]:
        """All parts of all windows."""
        if not self._program and not self._find():
            return
        yield from Part(self, ROOT).parts()

    def told(self) -> list[str]:
        """The names of all that is seen, in the order in which a screen reader comes by."""
        names: list[str] = []

        def named(part: Part) -> bool:
            names.append(part.name)
            return bool(names[-1])

        return [names[-1] for _ in self._seen(named)]

    def _seen(self, wanted: Callable[[Part], bool]) -> Iterator[Part]:
        """Those that are wanted and showing; what is gone before it was asked is neither."""
        for part in self.everything():
            with suppress(GoneError):
                if wanted(part) and part.showing:
                    yield part

    def property_of(self, path: str, name: str) -> Any:
        """One property of one part. Raises ``GoneError``."""
        address = DBusAddress(path, self._program, ACCESSIBLE)
        return self._answer(Properties(address).get(name))[0][1]

    def ask(
        self, path: str, interface: str, method: str, signature: str = "", values: Any = ()
    ) -> Any:
        """One question to one part. Raises ``GoneError``."""
        address = DBusAddress(path, self._program, interface)
        return self._answer(new_method_call(address, method, signature, values))

    def _find(self) -> bool:
        """The program's name on the bus: the connection of its process that answers as a window."""
        (names,) = self._answer(message_bus.ListNames())
        for name in names:
            if not name.startswith(":") or name in self._mute:
                continue
            try:
                (process,) = self._answer(message_bus.GetConnectionUnixProcessID(name))
                if process != self._process:
                    continue
                self._answer(
                    Properties(DBusAddress(ROOT, name, ACCESSIBLE)).get("Name"), FIND_S_MAX
                )
            except GoneError:
                continue
            except TimeoutError:
                self._mute.add(name)
                continue
            self._program = name
            return True
        self._mute.clear()
        return False

    def _answer(self, message: Any, within_s: float = ANSWER_S_MAX) -> Any:
        reply = self._connection.send_and_get_reply(message, timeout=within_s)
        if reply.header.message_type is MessageType.error:
            raise GoneError(str(reply.body))
        return reply.body
