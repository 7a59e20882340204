"""Files that administrators lay down for everybody on a machine: believed only where nobody else may
alter them.

A policy that a user may write is none, and an invitation that one user leaves for the others would
make them join whatever flock that user likes. So a file counts only if it and its folder belong to
the system's administrators and nobody else may change either; which that is on a system is behind
``AlterationGuard``.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Protocol

from agent.api.errors import ServiceError


class AlterationGuard(Protocol):
    """What systems do differently to say who may change a file."""

    def alterable(self, path: Path) -> str:
        """Return who else than administrators may change this file or folder, as the end of a
        sentence with the cure; empty when nobody may. Raise ``OSError`` when it cannot be seen."""


class NotAdministeredError(ServiceError):
    """One sentence: why a file for all users of this machine does not count."""


class WithheldError(NotAdministeredError):
    """It is there, and this account may not read it."""


def read_administered(
    path: Path, bytes_max: int, guard: AlterationGuard | None = None
) -> bytes | None:
    """Return what is in the file, at most one byte more than ``bytes_max``; None where there is
    none. Raise ``NotAdministeredError`` when others than administrators may change the file or its
    folder, or it cannot be read, ``WithheldError`` where this account may not."""
    guard = guard or alteration_guard()
    try:
        with path.open("rb") as file:
            for each in (path.parent, path):
                if fault := guard.alterable(each):
                    raise NotAdministeredError(f"{path} does not count: {each} {fault}")
            return file.read(bytes_max + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise WithheldError(f"{path} cannot be read: let this account read it.") from error
    except OSError as error:
        raise NotAdministeredError(f"{path} cannot be read ({error.strerror}).") from error


@cache
def alteration_guard() -> AlterationGuard:
    """Return what says who may change files on the system that this runs on."""
    if sys.platform == "win32":
        from agent.host.private_windows import WindowsGuard

        return WindowsGuard()
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.host.private_posix import PosixGuard

        return PosixGuard()
