"""Changes ``settings.toml``, and is the only one that does.

The file is its owner's: order, comments and spelling of what is not changed survive. What comes out
is read before it takes the place of the file: it has to say what was meant.

Clients see and change them here: what the file says, and what of it waits for a restart.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.api.errors import ServiceError
from agent.api.volunteering import VolunteerRules
from agent.host.private_files import write_whole
from agent.presence.rules import TABLE, written_rules
from agent.settings.node_settings import NodeSettings, read_settings, settings_of

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
import asyncio

import msgspec

from agent.api.settings import SettingsView

Value = str | int | float | list[str]
Table = Mapping[str, Value | bool]
"""All that a table says then; keys that are not among them are removed from it."""

_one_at_a_time = threading.Lock()
LIVE = ("volunteer", "presence")
"""Presence minds these itself."""


def keep_rules(path: Path, rules: VolunteerRules) -> NodeSettings:
    """Write the rules of presence and their mode into the settings file, and return all that it
    says then. Raises what ``keep_changes`` raises."""
    return keep_changes(path, {"volunteer": rules.mode, TABLE: written_rules(rules)})


def keep_changes(path: Path, given: Mapping[str, Value | Table]) -> NodeSettings:
    """Write these values into the settings file and return all that it says then; a table takes the
    place of the whole one that is there. Where nothing changes nothing is written: then a full
    disk, or one to be read only, is no matter. Raises ``ServiceError``, with nothing written, for a
    file that is wrong before or would be then, or cannot be changed."""
    with _one_at_a_time:  # two that change it at once would each undo the other's
        read_settings(path)  # what is wrong with it so far is said as it is
        try:
            raw = path.read_bytes() if path.exists() else b""
            before = raw.decode("utf-8").replace("\r\n", "\n")
            after = with_values(before, given)
            if after == before:
                return read_settings(path)
            return _replaced(path, after.replace("\n", "\r\n") if b"\r\n" in raw else after)
        except OSError as error:
            raise ServiceError(
                f"{path} cannot be written ({error.strerror}): nothing changed"
            ) from error
        except ValueError as error:
            raise ServiceError(
                f"{path} is written in a way that cannot be changed from here ({error}): change "
                f"{', '.join(given)} by hand"
            ) from error


def with_values(text: str, given: Mapping[str, Value | Table]) -> str:
    """Return the text of a settings file with these values in the place of what it says; of a
    table, keys that are not given go. Raises ``ValueError`` where that would change something else
    too, or the text is not TOML.

    What it does not say yet comes first, where no comment about something else stands above it.
    """
    import tomlkit

    document, fresh = tomlkit.parse(text), tomlkit.document()
    for key, value in given.items():
        if isinstance(value, Mapping):
            _change_table(document, key, value)
        elif key not in document:
            fresh[key] = value
        elif document[key] != value:
            document[key] = value
    after = tomlkit.dumps(fresh) + tomlkit.dumps(document)
    if _full(tomllib.loads(after)) != _full({**tomllib.loads(text), **given}):
        raise ValueError("something else in it would change")
    return after


def _full(settings: Mapping[str, object]) -> dict[str, object]:
    """All but tables that say nothing: there or not is the same."""
    return {key: value for key, value in settings.items() if value != {}}


def _change_table(document: TOMLDocument, key: str, value: Table) -> None:
    import tomlkit
    from tomlkit import items

    table = document.get(key)
    if isinstance(table, items.InlineTable) or (
        isinstance(table, items.Table) and not table.is_super_table()
    ):
        for gone in [each for each in table if each not in value]:
            del table[gone]
        for name, wanted in value.items():
            if table.get(name) != wanted:
                table[name] = wanted
        return
    if table is not None:  # every line names it, like ``presence.idle_s = 60``: written anew
        del document[key]
    if value:
        document.add(key, tomlkit.item(dict(value)))


def _replaced(path: Path, text: str) -> NodeSettings:
    content = text.encode("utf-8")
    settings = settings_of(path, content)  # what is to be written has to say what was meant
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return settings


class OwnerSettings:
    """Of a node that runs by ``running``."""

    def __init__(
        self,
        path: Path,
        running: NodeSettings,
        listening: Callable[[], int] = lambda: 0,
        preset: Path | None = None,
        kept_logs: Callable[[], int] = lambda: 0,
    ) -> None:
        self._path, self._running, self._listening = path, running, listening
        self._preset, self._kept_logs = preset, kept_logs
        self._changing = asyncio.Lock()

    async def view(self) -> SettingsView:
        """Return what the settings file says, with the default of what it does not say, the names
        of settings that wait for a restart, as this node runs by others, the port on which it
        listens and what logs of others take here. Raises ``ServiceError`` when the file is wrong or cannot be read."""
        kept = await asyncio.to_thread(read_settings, self._path, self._preset)
        told = {
            name: getattr(kept, name)
            for name in SettingsView.__struct_fields__
            if hasattr(kept, name)
        }
        told["addresses"] = tuple(map(str, kept.addresses))
        told["listening"] = self._listening()
        told["kept_logs_bytes"] = self._kept_logs()
        restart = tuple(self._differing(kept))
        return msgspec.convert(told | {"file": str(self._path), "restart": restart}, SettingsView)

    async def change(self, given: Mapping[str, Value]) -> SettingsView:
        """Write these values into the settings file, after changes under way, and return what it
        says then, as ``view`` does; the node runs on by the old ones until it is restarted. Raises
        ``ServiceError``, and nothing is changed."""
        async with self._changing:  # else a reply could come after one that tells more
            await asyncio.to_thread(keep_changes, self._path, given)
            return await self.view()

    def _differing(self, kept: NodeSettings) -> list[str]:
        names = [name for name in NodeSettings.__dataclass_fields__ if name not in LIVE]
        return [name for name in names if getattr(kept, name) != getattr(self._running, name)]
