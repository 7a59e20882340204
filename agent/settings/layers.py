"""Whose word each setting is: the policy's, its owner's, the machine's, or what is built in.

Four say what holds, each key for itself: what is built in; over it the machine's ``settings.toml``,
which administrators write for everybody; over that the owner's own file; over that the machine's
``policy.toml``, which no owner may change. All three files have one format. In a table ``[presence]``
each rule counts for itself, too.

The owner's own file has to be right, or nothing starts. One of the machine must not keep thirty
agents from starting, so what is wrong in it is left out and told wherever administrators look. But a
policy may have forbidden something: where it cannot be read or a value in it is wrong, this machine
helps nobody until it is mended. A key that is unknown here, as one of a later version, is only told.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from agent.api.reasons import Diagnosis, DiagnosisKind
from agent.api.settings import Origin
from agent.host.administered import NotAdministeredError, read_administered
from agent.paths import MachineFiles
from agent.presence.rules import READERS as RULES
from agent.presence.rules import TABLE, UnknownKeyError, faults, read_rules
from agent.settings.node_settings import (
    FILE_BYTES_MAX,
    PAUSED,
    READERS,
    NodeSettings,
    SettingsError,
    read_value,
)

MODE = "volunteer"
INNER = f"{TABLE}."
NAMES = (*(name for name in READERS if name != TABLE), *(INNER + name for name in RULES))
"""Of all settings; rules of presence stand behind the name of their table."""
HELPS_NOBODY = "not now"

Layer = dict[str, object]
"""What one file says, by the names of ``NAMES``."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What holds, and on whose word."""

    settings: NodeSettings
    base: NodeSettings = field(default_factory=NodeSettings)
    """What holds where the owner says nothing, the policy apart."""
    own: Layer = field(default_factory=dict)
    defaults: Layer = field(default_factory=dict)
    policy: Layer = field(default_factory=dict)
    wrong: tuple[Diagnosis, ...] = ()
    """With what administrators have laid down."""
    overruled: tuple[Diagnosis, ...] = ()
    """What the owner has set otherwise than the policy."""

    def origin(self, name: str) -> Origin:
        """Return on whose word a setting has the value that it has: built in, the machine's, the
        owner's or the policy's."""
        if name in self.policy:
            return "policy"
        if name in self.own:
            return "owner"
        return "machine" if name in self.defaults else "built in"


def read_settings(own: Path, machine: MachineFiles | None = None) -> NodeSettings:
    """Return the settings that hold by these files, any of which may be missing. Raise
    ``SettingsError`` for an owner's own that is wrong, too large or cannot be read."""
    return settle(own, machine).settings


def settle(own: Path, machine: MachineFiles | None = None, content: bytes | None = None) -> Settled:
    """Return the settings that hold by these files, and on whose word each does; with ``content``
    as if the owner's file held that. Raise ``SettingsError`` for an owner's file that is wrong, too
    large or cannot be read; faults in the machine's files are told in the answer."""
    mine = _own(own, content)
    if machine is None:
        return Settled(_over(own, NodeSettings(), mine), own=mine)
    defaults, wrong = _laid_down(machine.defaults, "DefaultsWrong")
    base = with_layer(NodeSettings(), defaults)
    if cancelling := faults(base.rules):
        defaults = {name: value for name, value in defaults.items() if not _is_rule(name)}
        wrong.append(_told("DefaultsWrong", machine.defaults, cancelling[0]))
        base = with_layer(NodeSettings(), defaults)
    owners = _over(own, base, mine)
    policy, against = _laid_down(machine.policy, "PolicyWrong")
    if cancelling := faults(with_layer(owners, policy).rules):
        against.append(_told("PolicyWrong", machine.policy, cancelling[0]))
        policy = {name: value for name, value in policy.items() if not _is_rule(name)}
    if any(each.kind == "PolicyWrong" for each in against):
        policy[MODE] = HELPS_NOBODY
    overruled = tuple(
        Diagnosis("OwnerOverruled", name=name, folder=str(machine.policy))
        for name, value in policy.items()
        if name in mine and mine[name] != value
    )
    settings = with_layer(owners, policy)
    return Settled(settings, base, mine, defaults, policy, (*wrong, *against), overruled)


def with_layer(settings: NodeSettings, layer: Layer) -> NodeSettings:
    """Return the settings with the values that this layer names replaced."""
    rules = {name.removeprefix(INNER): each for name, each in layer.items() if INNER in name}
    plain = {name: each for name, each in layer.items() if INNER not in name}
    presence = structs.replace(settings.presence, **rules)
    return replace(settings, presence=presence, **plain)  # type: ignore[arg-type]


def _is_rule(name: str) -> bool:
    return name == MODE or name.startswith(INNER)


def _over(path: Path, base: NodeSettings, own: Layer) -> NodeSettings:
    settings = with_layer(base, own)
    if cancelling := faults(settings.rules):
        raise SettingsError(f"{path}: {cancelling[0]}")
    return settings


def _own(path: Path, content: bytes | None) -> Layer:
    if content is None:
        try:
            with path.open("rb") as file:
                content = file.read(FILE_BYTES_MAX + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SettingsError(
                f"{path} cannot be read ({error.strerror}): check whom it belongs to."
            ) from error
    layer: Layer = {}
    for key, value in _one_by_one(_parsed(path, content)):
        try:
            layer |= _read(key, value)
        except ValueError as error:
            raise SettingsError(f"{path}: {error}") from error
    return layer


def _laid_down(path: Path, kind: DiagnosisKind) -> tuple[Layer, list[Diagnosis]]:
    """What a file of the machine says, as far as it is right, and what is wrong."""
    try:
        content = read_administered(path, FILE_BYTES_MAX)
        given = {} if content is None else _parsed(path, content)
    except (NotAdministeredError, SettingsError) as error:
        return {}, [Diagnosis(kind, error=str(error).rstrip("."))]
    layer: Layer = {}
    wrong: list[Diagnosis] = []
    for key, value in _one_by_one(given):
        try:
            if value == PAUSED:
                raise ValueError(f"{key} is 'paused', which a person does: write 'not now'.")
            layer |= _read(key, value)
        except UnknownKeyError as error:
            wrong.append(_told("LaidDownUnknown", path, str(error)))
        except ValueError as error:
            wrong.append(_told(kind, path, str(error)))
    return layer, wrong


def _told(kind: DiagnosisKind, path: Path, error: str) -> Diagnosis:
    return Diagnosis(kind, error=f"{path}: {error}".rstrip("."))


def _one_by_one(given: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Each setting for itself, also those in a table."""
    for key, value in given.items():
        if key == TABLE and isinstance(value, dict):
            yield from ((key, {inner: each}) for inner, each in value.items())
        else:
            yield key, value


def _read(key: str, value: object) -> Layer:
    """Raise ``ValueError`` with the sentence behind the name of the file."""
    if key not in READERS:
        raise UnknownKeyError(
            f"there is no setting {key!r}; remove it ({', '.join(READERS)} exist)."
        )
    if key != TABLE:
        return {key: read_value(key, value)}
    try:
        return {INNER + name: each for name, each in read_rules(value).items()}
    except UnknownKeyError as error:
        raise UnknownKeyError(f"{key} {error}") from error
    except ValueError as error:
        raise ValueError(f"{key} {error}") from error


def _parsed(path: Path, content: bytes) -> dict[str, object]:
    if len(content) > FILE_BYTES_MAX:
        size = f"{FILE_BYTES_MAX // 1024} KB"
        raise SettingsError(f"{path} is larger than {size}: remove what are no settings.")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))  # as editors of Windows save it
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not written in UTF-8: save it as such.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}; mend that line or remove it.") from error
