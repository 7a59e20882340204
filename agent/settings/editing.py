"""Changes an owner's ``settings.toml``, and is the only one that does.

The file is its owner's: order, comments and spelling of what is not changed survive. What comes out
is read before it takes the place of the file: it has to say what was meant.

Clients see and change them here: what the file says, and what of it waits for a restart.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.api.errors import RefusedError, ServiceError
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode
from agent.api.settings import SettingsView
from agent.api.volunteering import VolunteeringView, VolunteerRules
from agent.host.private_files import write_whole
from agent.paths import MachineFiles
from agent.presence.rules import READERS as RULES
from agent.presence.rules import TABLE, written_rules
from agent.protocol.phrases import said
from agent.settings.layers import INNER, MODE, NAMES, Layer, Settled, settle, with_layer
from agent.settings.node_settings import NodeSettings, SettingsError, read_value
from agent.wording.speech import english

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

Value = str | int | float | list[str]
Table = Mapping[str, Value | bool]
"""All that a table says then; keys that are not among them are removed from it."""

log = logging.getLogger(__name__)
_one_at_a_time = threading.RLock()
LIVE = ("volunteer", "presence", "updates", "shared_with")
"""Presence minds these itself; the last two are read when they are wanted."""


def keep_rules(
    path: Path, rules: VolunteerRules, machine: MachineFiles | None = None
) -> NodeSettings:
    """Write the rules of presence and their mode into the owner's file, as far as the machine's
    files do not say so already, and return all settings that hold then. Raises ``ServiceError``,
    with nothing written, where the file is or would be wrong, cannot be written, or the policy
    fixes a rule otherwise."""
    with _one_at_a_time:
        before = settle(path, machine)
        told = {INNER + name: getattr(rules, name) for name in RULES}
        _refuse_fixed(before, {MODE: rules.mode, **told}, machine)
        base, own = before.base.presence, with_layer(before.base, before.own).presence
        written, theirs = written_rules(rules, base), written_rules(own, base)
        for name in RULES:
            if INNER + name in before.policy:  # what they have set waits for the policy's end
                written.pop(name, None)
                written |= {name: theirs[name]} if name in theirs else {}
        mode: dict[str, Value | Table] = {} if MODE in before.policy else {MODE: rules.mode}
        return keep_changes(path, {**mode, TABLE: written}, machine)


def keep_changes(
    path: Path, given: Mapping[str, Value | Table], machine: MachineFiles | None = None
) -> NodeSettings:
    """Write these values into the owner's file and return all that holds then; a table takes the
    place of the whole one that is there. Where nothing changes nothing is written: then a full
    disk, or one to be read only, is no matter. Raises ``ServiceError``, with nothing written, for a
    file that is wrong before or would be then, or cannot be changed, and for a value that the
    policy fixes otherwise."""
    with _one_at_a_time:  # two that change it at once would each undo the other's
        settled = settle(path, machine)  # what is wrong with it so far is said as it is
        fixed = [name for name in given if name in settled.policy]
        _refuse_fixed(settled, {name: _meant(path, name, given[name]) for name in fixed}, machine)
        given = {name: each for name, each in given.items() if name not in fixed}
        _refuse_wrong(given)
        try:
            raw = path.read_bytes() if path.exists() else b""
            before = raw.decode("utf-8").replace("\r\n", "\n")
            after = with_values(before, given)
            if after == before:
                return settled.settings
            content = after.replace("\n", "\r\n") if b"\r\n" in raw else after
            return _replaced(path, content, machine)
        except OSError as error:
            raise ServiceError(
                f"{path} cannot be written ({error.strerror}): nothing changed"
            ) from error
        except ValueError as error:
            raise ServiceError(
                f"{path} is written in a way that cannot be changed from here ({error}): change "
                f"{', '.join(given)} by hand"
            ) from error


def _refuse_wrong(given: Mapping[str, Value | Table]) -> None:
    """Raise ``SettingsError`` for what was just given, where it stands in no file yet."""
    for name, value in given.items():
        if name != TABLE:
            try:
                read_value(name, value)
            except ValueError as error:
                raise SettingsError(str(error)) from error


def _meant(path: Path, name: str, value: object) -> object:
    try:
        return read_value(name, value)
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from error


def _refuse_fixed(settled: Settled, given: Layer, machine: MachineFiles | None) -> None:
    for name, value in given.items():
        if machine is not None and settled.policy.get(name, value) != value:
            fixed = said(
                "{name} is fixed by {file}, which only an administrator of this machine changes",
                name=name.removeprefix(INNER),
                file=str(machine.policy),
            )
            raise RefusedError(ErrorCode.REFUSED, fixed)


def with_values(text: str, given: Mapping[str, Value | Table]) -> str:
    """Return the text of a settings file with these values put in; of a table, keys that are not
    given go, and what is new comes first, above comments about something else. Raises
    ``ValueError`` where that would change something else too, or the text is not TOML."""
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


def _replaced(path: Path, text: str, machine: MachineFiles | None) -> NodeSettings:
    content = text.encode("utf-8")
    settled = settle(path, machine, content)  # what is to be written has to say what was meant
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return settled.settings


class OwnerSettings:
    """Of a node that runs by ``running``."""

    def __init__(
        self,
        path: Path,
        settled: Settled,
        listening: Callable[[], int] = lambda: 0,
        machine: MachineFiles | None = None,
        kept_logs: Callable[[], int] = lambda: 0,
    ) -> None:
        self._path, self._running, self._listening = path, settled.settings, listening
        self.settled = self._followed = settled
        """What the files said when they were read last; and when what they say was heeded last."""
        self.follow: Callable[[VolunteerRules], None] = lambda _: None
        """Called in the loop with the rules of presence when files of the machine say something else."""
        self._machine, self._kept_logs = machine, kept_logs
        self._changing = asyncio.Lock()

    def now(self) -> NodeSettings:
        """Return what the settings files say now, with the default of what they do not say. Blocks;
        raises ``ServiceError`` as ``view`` does."""
        return self._read().settings

    async def view(self) -> SettingsView:
        """Return what the settings files say, with the default of what they do not say and on whose
        word each is, the names of settings that wait for a restart, as this node runs by others,
        the port on which it listens and what logs of others take here. Raises ``ServiceError`` when
        the owner's file is wrong or cannot be read. What it tells is heeded from here on."""
        settled = await asyncio.to_thread(self._read)
        self._heed(settled)
        kept = settled.settings
        told: dict[str, object] = {
            name: getattr(kept, name)
            for name in SettingsView.__struct_fields__
            if hasattr(kept, name)
        }
        if self._machine is not None:
            told |= {"policy": str(self._machine.policy), "machine": str(self._machine.defaults)}
        wrong = (*settled.wrong, *settled.overruled)
        told |= {
            "file": str(self._path),
            "restart": tuple(self._differing(kept)),
            "addresses": tuple(map(str, kept.addresses)),
            "listening": self._listening(),
            "kept_logs_bytes": self._kept_logs(),
            "origins": {name: settled.origin(name) for name in NAMES},
            "wrong": tuple(map(english, wrong)),
            "whys": tuple(map(as_why, wrong)),
        }
        return SettingsView(**told)  # type: ignore[arg-type]

    async def change(self, given: Mapping[str, Value]) -> SettingsView:
        """Write these values into the owner's file, after changes under way, and return what the
        files say then; the node keeps its present ones until it is restarted. Raises
        ``ServiceError`` as ``keep_changes`` does, with nothing changed, and as ``view`` does, where
        the file was changed and somebody has spoilt it at once."""
        async with self._changing:  # else a reply could come after one that tells more
            await asyncio.to_thread(keep_changes, self._path, given, self._machine)
            return await self.view()

    def keep_rules(self, rules: VolunteerRules) -> None:
        """Write the rules of presence into the owner's file; blocks, and raises, as ``keep_rules``
        of this module does."""
        keep_rules(self._path, rules, self._machine)
        self._read()

    def wait(self) -> bool:
        """Tell whether any of the settings that were read last holds only after a restart."""
        return bool(self._differing(self.settled.settings))

    async def look(self) -> None:
        """Read all files again; where the owner's is wrong, nothing changes."""
        with suppress(ServiceError):
            self._heed(await asyncio.to_thread(self._read))

    def _heed(self, now: Settled) -> None:
        """Log what is newly wrong in files of the machine, and follow what they newly say."""
        before, self._followed = self._followed, now
        for each in now.wrong:
            if each not in before.wrong:
                log.warning("%s", english(each))
        if (now.defaults, now.policy) != (before.defaults, before.policy):
            self.follow(now.settings.rules)

    def attributed(self, view: VolunteeringView) -> VolunteeringView:
        """Return the view with three fields filled in, from the files as read last: whether owner
        or policy has set the mode, which rules the policy fixes, and the policy's file (empty where
        it fixes none)."""
        settled, machine = self.settled, self._machine
        names = {"mode": MODE, **{name: INNER + name for name in RULES}}
        fixed = tuple(rule for rule, name in names.items() if name in settled.policy)
        return replace(
            view,
            answered=settled.origin(MODE) in ("owner", "policy"),
            fixed=fixed,
            fixed_by=str(machine.policy) if machine and fixed else "",
        )

    def _read(self) -> Settled:
        self.settled = settle(self._path, self._machine)
        return self.settled

    def _differing(self, kept: NodeSettings) -> list[str]:
        names = [name for name in NodeSettings.__dataclass_fields__ if name not in LIVE]
        return [name for name in names if getattr(kept, name) != getattr(self._running, name)]
