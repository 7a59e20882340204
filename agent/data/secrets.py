"""Values that programs of this machine may be given, by name: kept in the system's store of keys.

Where there is none, or it is locked, a value lies in a file of the agent that its account alone can
read, and whoever keeps it is told. What administrators have laid down counts where there is no own value.
Which names there are is kept in an index; values stand nowhere else, in no log, table or message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from agent.api.errors import MembershipError, ServiceError
from agent.api.secrets import VALUE_LENGTH_MAX, Place, SecretName, SecretView
from agent.host.administered import NotAdministeredError, read_administered
from agent.host.key_store import KeyStore
from agent.host.private_files import PrivateFolder

INDEX = ".index"
SECRETS_MAX = 1_000

log = logging.getLogger(__name__)
_read_index = msgspec.json.Decoder(dict[SecretName, Place]).decode
_is_name = msgspec.json.Decoder(SecretName)


class SecretValues:
    """Of one agent. All but ``has`` and ``listing`` wait for the disk."""

    def __init__(self, folder: Path, store: KeyStore, machine: Path | None) -> None:
        """``machine`` is the folder that administrators fill, if this agent heeds it."""
        self._folder, self._store, self._machine = PrivateFolder(folder), store, machine
        self._own: dict[str, Place] = {}
        self._laid_down: tuple[str, ...] = ()
        self.changed: Callable[[], object] = int

    def load(self) -> None:
        """Read the index of this account's secrets and which ones administrators have laid down; an
        index that cannot be read is logged and counts as empty."""
        try:
            content = self._folder.read(INDEX)
            self._own = _read_index(content) if content is not None else {}
        except (MembershipError, msgspec.MsgspecError) as error:
            log.warning("which secrets are here cannot be read (%s): give them again", error)
            self._own = {}
        self.look()

    def look(self) -> None:
        """Read anew which secrets administrators have laid down for this machine, without those
        that others may change or that cannot be read; a folder that cannot be listed has none."""
        found: list[str] = []
        try:
            if self._machine is not None and self._machine.is_dir():
                found = sorted(each.name for each in self._machine.iterdir() if each.is_file())
        except OSError as error:
            log.debug("%s cannot be listed: %s", self._machine, error)
        self._laid_down = tuple(each for each in found if self._of_machine(each) is not None)

    def has(self, name: str) -> bool:
        """Tell whether a value of this name is here."""
        return name in self._own or name in self._laid_down

    def listing(self) -> tuple[SecretView, ...]:
        """Return all names, and where their values lie."""
        places: dict[str, Place] = dict.fromkeys(self._laid_down, "machine")
        return tuple(SecretView(*each) for each in sorted((places | self._own).items()))

    def get(self, name: str) -> bytes:
        """Return the value of a secret, the account's own before an administrator's; raise
        ``OSError`` where there is none or it cannot be read."""
        if name not in self._own:
            content = self._of_machine(name)
            if content is None:
                raise OSError(f"the secret {name} is not here")
            return content
        if self._own[name] == "key store":
            return self._store.get(name)
        try:
            kept = self._folder.read(name)
        except MembershipError as error:
            raise OSError(str(error)) from error
        if kept is None:
            raise OSError(f"the file of the secret {name} is gone")
        return kept

    def set(self, name: str, value: bytes) -> SecretView:
        """Keep a secret's value in the system's key store, else in a private file, in place of an
        earlier one; call ``changed`` and return its name and where it lies. Raise ``ServiceError``
        where there are too many already, or the value cannot be kept."""
        if len(self._own) >= SECRETS_MAX and name not in self._own:
            raise ServiceError(f"There are {SECRETS_MAX} secrets here already: forget some first.")
        place: Place = "key store"
        self._folder.prepare()
        try:
            self._store.put(name, value)
            self._folder.remove(name)
        except OSError as error:
            log.info("the secret %s goes into a file: %s", name, error)
            self._folder.write(name, value)
            place = "file"
        self._keep({**self._own, name: place})
        return SecretView(name, place)

    def forget(self, name: str) -> None:
        """Delete a secret of this account and call ``changed``; raise ``ServiceError`` where there
        is none of the name, or it cannot be deleted."""
        if name not in self._own:
            told = "an administrator's" if name in self._laid_down else "not here"
            raise ServiceError(f"The secret {name} is {told}.")
        if self._own[name] == "key store":
            try:
                self._store.remove(name)
            except OSError as error:
                raise ServiceError(f"The secret {name} cannot be deleted: {error}.") from error
        self._folder.remove(name)
        self._keep({each: place for each, place in self._own.items() if each != name})

    def _keep(self, own: dict[str, Place]) -> None:
        self._folder.write(INDEX, msgspec.json.encode(own))
        self._own = own
        self.changed()

    def _of_machine(self, name: str) -> bytes | None:
        """None where there is none, it does not count, or it may not be read."""
        if self._machine is None:
            return None
        try:
            _is_name.decode(msgspec.json.encode(name))
            return read_administered(self._machine / name, VALUE_LENGTH_MAX)
        except (NotAdministeredError, msgspec.MsgspecError) as error:
            log.info("%s", error)
            return None
