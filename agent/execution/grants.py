"""What programs ask for beyond their boundary, and what the owner of this machine has allowed them.

A grant belongs to a program's name and says exactly what was allowed: a description that asks for
more later is asked about anew, and until then the program does not begin. What a published program
asks for is fixed by its name, as that ends with its content.

Some places are never opened, whoever asks: all that the agent keeps, what is hidden in a home (keys
lie there), a whole home, the homes of others, and what the system keeps for itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from agent.api.errors import ServiceError
from agent.api.permissions import AskedFor, WishKind
from agent.execution.confinement.boundary import Wishes
from agent.execution.confinement.reachable import is_private
from agent.execution.programs import Program
from agent.execution.shares import folder_of
from agent.host.private_files import write_whole
from agent.protocol.messages import Withheld
from agent.protocol.reasons import WithheldKind

FILE_BYTES_MAX = 1024 * 1024
KINDS: dict[WishKind, WithheldKind] = {
    "network": "AllowsNoNetwork",
    "reads": "AllowsNoReading",
    "device": "AllowsNoDevice",
    "secret": "AllowsNoSecret",
}

log = logging.getLogger(__name__)
Wish = tuple[WishKind, str]
_read = msgspec.json.Decoder(dict[str, tuple[Wish, ...]]).decode


def wished(wishes: Wishes) -> tuple[Wish, ...]:
    """Return all that a program's wishes ask for, as a kind and a name each."""
    network: tuple[Wish, ...] = () if wishes.network == "none" else (("network", wishes.network),)
    return (
        *network,
        *(("reads", each) for each in wishes.reads),
        *(("device", each) for each in wishes.devices),
        *(("secret", each) for each in wishes.secrets),
    )


@dataclass(slots=True)
class Grants:
    """What was allowed here, by the names of programs, kept in a file. ``kept`` are the folders of
    the agent; ``has_secret`` tells whether a value of this name is here, and
    ``secret`` returns it; ``shares`` are folders by the names that they have in the flock."""

    file: Path
    kept: Sequence[Path] = ()
    has_secret: Callable[[str], bool] = lambda _: False
    secret: Callable[[str], bytes] = lambda _: b""
    shares: Mapping[str, str] = field(default_factory=dict)
    _granted: dict[str, tuple[Wish, ...]] | None = None

    def load(self) -> None:
        """Read from the disk what was allowed before; a file that cannot be read is logged, and its
        programs are asked for again."""
        self._granted = {}
        try:
            self._granted = _read(self.file.read_bytes()[:FILE_BYTES_MAX])
        except FileNotFoundError:
            log.debug("no program was allowed more than others yet")
        except (msgspec.MsgspecError, OSError) as error:
            log.warning("%s cannot be read (%s): programs are asked about again", self.file, error)

    def asked(self, program: Program) -> tuple[AskedFor, ...]:
        """Return all that a program asks to reach beyond its folder, each with whether it was
        granted, is refused to all programs, or is missing here."""
        granted = (self._granted or {}).get(program.name, ())
        return tuple(
            AskedFor(
                kind,
                name,
                _covers(granted, (kind, name)),
                self._is_refused(kind, name),
                self._is_missing(kind, name),
            )
            for kind, name in wished(program.wishes)
        )

    def lacks_leave(self, program: Program) -> bool:
        """Tell whether the program asks for something that was not granted to it, or is refused to
        all programs; a share to read that is missing here does not count."""
        return any(
            not each.granted or each.refused
            for each in self.asked(program)
            if not (each.missing and each.kind == "reads")  # no leave brings a share
        )

    def withheld(self, programs: Iterable[Program]) -> tuple[Withheld, ...]:
        """Return, for each of these programs that may not run yet, the first thing that it asks for
        and was not granted, is refused to all, or is missing here; empty when all may run."""
        found = []
        for program in programs:
            for each in self.asked(program):
                if each.missing and each.kind == "reads":
                    found.append(Withheld(program.name, "HasNoShare", each.name))
                    break
                if not each.granted or each.refused:
                    found.append(Withheld(program.name, KINDS[each.kind], each.name))
                    break
                if each.missing:
                    found.append(Withheld(program.name, "HasNoSecret", each.name))
                    break
        return tuple(found)

    def secrets_of(self, program: Program) -> dict[str, bytes]:
        """Return the values that a program asks for, which was allowed them; waits for whoever keeps
        them. Raise ``OSError`` where one cannot be had."""
        return {name: self.secret(name) for name in program.wishes.secrets}

    def grant(self, programs: Iterable[Program]) -> None:
        """Allow these programs what they ask for now, and nothing that was allowed before; waits for
        the disk. Raise ``ServiceError`` where one asks for what nobody can allow, ``OSError`` when
        it cannot be written; nothing has changed then."""
        decided = dict(self._granted or {})
        for program in programs:
            refused = next((each for each in self.asked(program) if each.refused), None)
            if refused is not None:
                raise ServiceError(
                    f"{program.name} asks to read {refused.name}, which no program may: keys, "
                    f"settings or somebody's own things lie there. Name a folder of data."
                )
            decided[program.name] = wished(program.wishes)
        self._keep(decided)

    def revoke(self, names: Iterable[str]) -> None:
        """Take back what these programs were allowed; waits for the disk. Raise ``OSError`` when it
        cannot be written: what held before holds then."""
        gone = set(names)
        known = self._granted or {}
        if gone & known.keys():
            self._keep({name: held for name, held in known.items() if name not in gone})

    def _keep(self, decided: dict[str, tuple[Wish, ...]]) -> None:
        decided = {name: wishes for name, wishes in decided.items() if wishes}
        if decided != (self._granted or {}):
            write_whole(self.file, msgspec.json.format(msgspec.json.encode(decided), indent=1))
        self._granted = decided

    def _is_refused(self, kind: WishKind, name: str) -> bool:
        folder = folder_of(name, self.shares)
        return kind == "reads" and folder != "" and is_private(folder, self.kept)

    def _is_missing(self, kind: WishKind, name: str) -> bool:
        if kind == "reads":
            return not folder_of(name, self.shares)
        return kind == "secret" and not self.has_secret(name)


def _covers(granted: tuple[Wish, ...], wish: Wish) -> bool:
    """Whoever may reach everybody may reach the neighbours."""
    return wish in granted or (wish == ("network", "lan") and ("network", "internet") in granted)
