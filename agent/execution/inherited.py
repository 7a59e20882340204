"""What a program finds of the agent's own environment: what systems and run times need, no more.

The environment of an account holds passwords and tokens (of databases, clouds, registries), and a
program may have been written by anybody in the flock. So names are let through, never held back: a
list of secrets would never end.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "PYTHONUTF8",
        "JAVA_HOME",
        "NODE_PATH",
        "R_HOME",
        "R_LIBS",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PATHEXT",
        "OS",
        "USERNAME",
        "USERPROFILE",
        "HOMEDRIVE",
        "HOMEPATH",
        "APPDATA",
        "LOCALAPPDATA",
        "PROGRAMDATA",
        "ALLUSERSPROFILE",
        "PUBLIC",
        "COMPUTERNAME",
        "NUMBER_OF_PROCESSORS",
    ]
)
BEGINNINGS = ("LC_", "PROGRAMFILES", "COMMONPROGRAMFILES", "PROCESSOR_", "CUDA_", "OMP_", "GDAL_")
BEGINNINGS_OF_OWN = ("WINGBEAT_PROGRAM_",)
"""For what an administrator wants programs to be told: a licence server, a folder of maps."""


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that is handed on; names are compared as Windows does."""
    return {name: value for name, value in environment.items() if _goes_on(name.upper())}


def _goes_on(name: str) -> bool:
    return name in NAMES or name.startswith(BEGINNINGS + BEGINNINGS_OF_OWN)
