"""What a person sets, in ``settings.toml`` of the configuration folder.

Everything has a default and the file may be missing. What is wrong in it is answered with one
sentence that names the file, the line or key, and what to do, and nothing is started: a node that
ignores half of what its owner wrote would surprise later. Two files of the same kind are for all users
of a machine (``paths.MachineFiles``): what holds where the owner's own says nothing, and what holds
whatever it says. How they are put together is in ``layers``.

=================  =======================================  ===================================
key                what                                     default
=================  =======================================  ===================================
``name``           what people call this node               the name of the machine
``port``           where members reach it, or the next one  29464
                   where it is used; 0 takes any
``listen``         addresses to listen on                   all
``addresses``      of other nodes, where multicast fails    none
``slots``          programs at a time                       1
``processor``      ``spare``: programs get what nobody      ``spare``
                   else wants of it; ``share``: at a low
                   priority, a little in any case
``memory_gb``      what one program may take; 0 is the      a part of what
                   default                                  the machine has
``disk_gb``        the most that one program may write,     most of what is free
``hours``          and how long it may run, 0 is the        a week, or what its
                   default of both                          description says
``processes``      the most that one program may have,      512
``open_files``     and files that one process has open      4096
``processors``     how many of them one program may use     all
                   at a time
``volunteer``      ``always``, ``when idle``,               ``not yet``: nobody
                   ``by schedule``, ``not now`` or          has answered, so it
                   ``paused``                               helps nobody
``presence``       a table: ``agent.presence.rules``        see there
``datasets``       where results are kept besides: the URL  only on the nodes
                   of a folder, object store or PostgreSQL
``datasets_gb``    how much data to keep for the flock; 0   half of what
                   is the default                           would be free
``logs_mb``        how much of the end of each task's log   1
                   another machine keeps, too; 0 is nothing
``confinement``    ``on``: programs run confined, or not;   ``on``
                   ``own work``: what is submitted here
                   runs where that is impossible;
                   ``when possible``: all does; ``off``
``tags``           for requirements, beside ``node``        none
``shares``         a table: folders by the names that they     none
                   have in the flock, as
                   ``flights = "/mnt/flights"``
``copies``         on how many disks a task's results are    2
                   before it has ended; 0 is as many as
                   the times advise that machines are up
``history_days``   how long finished work is remembered;    1095
                   0 is for ever
``telnet``         whether clients may also come by a port  ``false``
                   of loopback, for telnet and the like
``updates``        ``by itself``: a version that is         ``by itself``
                   installed while one runs begins when
                   nothing runs here; ``ask``: when
                   somebody says so
``keep_awake``     whether this machine is kept from        ``true``
                   falling asleep while a program runs
                   here and it is on mains
``wakeable``       whether peers may wake this machine,     ``false``
                   for work that has waited long and
                   that only it can take; it sleeps
                   again after
``administrators`` groups of this machine that may change  ``sudo``, ``wheel``
                   settings and act on the flock, where
                   the agent is a service
``shared_with``    who else may cancel, retry and read     nobody
                   what is submitted here: machines,
                   ``operators`` or ``everybody``
``join_requests``  whether machines without an invitation   ``true``
                   may ask this keeper to let them in
=================  =======================================  ===================================
"""

from __future__ import annotations

import ipaddress
import platform
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar, get_args

from msgspec import Meta, structs

from agent.api.errors import ServiceError
from agent.api.phrases import composed, wrong_name
from agent.api.volunteering import NOT_YET, VolunteerMode, VolunteerRules
from agent.api.wording import read_as
from agent.net.addresses import DEFAULT_PORT, Address, AddressError, parse_address
from agent.presence.rules import read_rules

NAME_LENGTH_MAX = 60
PARTING = frozenset("/\\")
SHARE_NAME = r"[A-Za-z0-9_-]{1,60}"
SLOTS_MAX = 256
URL_LENGTH_MAX = 2_000
DISK_GB = 1_000_000.0
HOURS_MAX = 8_760.0
COUNT_MAX = 1_000_000
HISTORY_DAYS_MAX = 36_500
LOGS_MB_MAX = 16
COPIES, COPIES_MAX = 2, 9
ENTRIES_MAX = 64
PAUSED = "paused"
MODES = (*get_args(VolunteerMode), PAUSED)
FILE_BYTES_MAX = 256 * 1024

ASK = "ask"
TAKES = ("always", ASK, "never")
"""What becomes of programs that others publish."""

SPARE = "spare"
PROCESSOR = (SPARE, "share")
BY_ITSELF = "by itself"
UPDATES = (BY_ITSELF, ASK)

CONFINEMENT = ("on", "own work", "when possible", "off")
"""Whether programs run within a boundary: always; where that is
impossible, own work without, or all; never."""
CONFINED = CONFINEMENT[0 if sys.platform == "linux" else 1]
"""Elsewhere there is no boundary yet; nothing of others runs, and everybody keeps the own work."""

_Value = TypeVar("_Value")


class SettingsError(ServiceError):
    """One sentence about the settings file."""


def machine_name() -> str:
    """Return what the machine is called, without its domain; never empty."""
    plain = "".join(each for each in platform.node() if each.isprintable())
    return plain.partition(".")[0][:NAME_LENGTH_MAX] or "unnamed"


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """The settings of one node."""

    name: str = field(default_factory=machine_name)
    port: int = DEFAULT_PORT
    listen: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()
    slots: int = 1
    processor: str = SPARE
    memory_gb: float = 0.0
    disk_gb: float = 0.0
    hours: float = 0.0
    processes: int = 0
    open_files: int = 0
    processors: int = 0
    volunteer: str = NOT_YET
    presence: VolunteerRules = field(default_factory=VolunteerRules)
    datasets: str = ""
    datasets_gb: float = 0.0
    published_programs: str = ASK
    confinement: str = CONFINED
    tags: tuple[str, ...] = ()
    shares: dict[str, str] = field(default_factory=dict)
    join_requests: bool = True
    telnet: bool = False
    updates: str = BY_ITSELF
    keep_awake: bool = True
    wakeable: bool = False
    administrators: tuple[str, ...] = ("sudo", "wheel")
    shared_with: tuple[str, ...] = ()
    history_days: int = 1095
    logs_mb: float = 1.0
    copies: int = COPIES

    @property
    def rules(self) -> VolunteerRules:
        """The rules of when to help, with the mode of ``volunteer``; for a node that is paused the
        mode is ``always``, which it is once somebody resumes."""
        mode = "always" if self.volunteer == PAUSED else self.volunteer
        return structs.replace(self.presence, mode=mode)


def read_value(key: str, value: object) -> object:
    """Return a setting, not the table of presence, as ``NodeSettings`` has it. Raise
    ``ValueError``, with a sentence that begins with the key, for a value that is wrong, and
    ``KeyError`` for a key that does not exist."""
    try:
        return READERS[key](value)
    except ValueError as error:
        raise ValueError(f"{key} {error}") from error


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("has to be a text, like 'workshop 3'.")
    if len(value) > NAME_LENGTH_MAX:
        raise ValueError(f"is too long: at most {NAME_LENGTH_MAX} characters.")
    if set(value) & PARTING:
        raise ValueError(f"is {value!r}: / and \\ have no place in the name of a machine.")
    return _nameable(value.strip())


def _nameable(value: str) -> str:
    name = composed(value)
    if wrong := wrong_name(name):
        raise ValueError(f"cannot be that: {wrong}.")
    return name


_days = read_as(
    Annotated[int, Meta(ge=0, le=HISTORY_DAYS_MAX)],
    f"it has to be a number of days up to {HISTORY_DAYS_MAX}, 0 for ever.",
)
_log_megabytes = read_as(
    Annotated[float, Meta(ge=0, le=LOGS_MB_MAX)],
    f"it has to be a number of megabytes up to {LOGS_MB_MAX}, 0 for nothing.",
)
_gigabytes = read_as(
    Annotated[float, Meta(ge=0, lt=DISK_GB)],
    "write how many gigabytes, like 50, or 0 for the default.",
)


_count = read_as(
    Annotated[int, Meta(ge=0, le=COUNT_MAX)], "write how many at most, or 0 for the default."
)


def _url(value: object) -> str:
    if value in ("", "embedded"):
        return ""
    if not isinstance(value, str) or "://" not in value or len(value) > URL_LENGTH_MAX:
        raise ValueError(
            f"is {value!r}: write a URL, like 'file:///mnt/results' or"
            " 'postgresql://user@server/results', or 'embedded'."
        )
    return value


def _one_of(words: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"is {value!r}: choose {', '.join(words[:-1])} or {words[-1]}.")
        return value

    return read


def _list_of(read_one: Callable[[object], _Value]) -> Callable[[object], tuple[_Value, ...]]:
    def read(value: object) -> tuple[_Value, ...]:
        if not isinstance(value, list) or len(value) > ENTRIES_MAX:
            raise ValueError(f'has to be a list of up to {ENTRIES_MAX} texts, like ["one", "two"].')
        return tuple(read_one(each) for each in value)

    return read


def _host(value: object) -> str:
    try:
        return str(ipaddress.ip_address(str(value)))
    except ValueError:
        raise ValueError(
            f"has {value!r}, which is no address of this machine, like '192.168.1.7' or '::'."
        ) from None


def _address(value: object) -> Address:
    if not isinstance(value, str):
        raise ValueError(f"has {value!r}: write texts, like 'host:29464'.")
    try:
        return parse_address(value)
    except AddressError as error:
        raise ValueError(f"cannot be used: {error}") from error


def _tag(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= NAME_LENGTH_MAX:
        raise ValueError(f"has {value!r}: a tag is a short text, like 'gpu'.")
    return _nameable(value)


def _shares(value: object) -> dict[str, str]:
    example = 'write a table, like flights = "/mnt/flights".'
    if not isinstance(value, dict) or len(value) > ENTRIES_MAX:
        raise ValueError(f"is no table of up to {ENTRIES_MAX} folders: {example}")
    for name, folder in value.items():
        if not re.fullmatch(SHARE_NAME, name):
            raise ValueError(f"has {name!r}: a share is named by letters, digits, - and _.")
        if not isinstance(folder, str) or not Path(folder).expanduser().is_absolute():
            raise ValueError(f"has {folder!r} for {name}: {example}")
    return {name: str(Path(folder).expanduser()) for name, folder in value.items()}


READERS: dict[str, Callable[[object], object]] = {
    "name": _name,
    "port": read_as(
        Annotated[int, Meta(ge=0, le=65_535)], "it has to be a port from 0 to 65535, 0 for any."
    ),
    "listen": _list_of(_host),
    "addresses": _list_of(_address),
    "slots": read_as(
        Annotated[int, Meta(ge=1, le=SLOTS_MAX)],
        f"it has to be a number from 1 to {SLOTS_MAX}.",
    ),
    "processor": _one_of(PROCESSOR),
    "memory_gb": _gigabytes,
    "disk_gb": _gigabytes,
    "hours": read_as(
        Annotated[float, Meta(ge=0, le=HOURS_MAX)], "write how many hours, or 0 for the default."
    ),
    "processes": _count,
    "open_files": _count,
    "processors": _count,
    "volunteer": _one_of(MODES),
    "presence": read_rules,
    "datasets": _url,
    "datasets_gb": _gigabytes,
    "published_programs": _one_of(TAKES),
    "confinement": _one_of(CONFINEMENT),
    "tags": _list_of(_tag),
    "shares": _shares,
    "updates": _one_of(UPDATES),
    "administrators": _list_of(_tag),
    "shared_with": _list_of(_tag),
    "history_days": _days,
    "logs_mb": _log_megabytes,
    "copies": read_as(
        Annotated[int, Meta(ge=0, le=COPIES_MAX)],
        f"it has to be a number up to {COPIES_MAX}, or 0 for as many as are advised.",
    ),
    "join_requests": read_as(bool, "write true or false."),
    "telnet": read_as(bool, "write true or false."),
    "keep_awake": read_as(bool, "write true or false."),
    "wakeable": read_as(bool, "write true or false."),
}
"""By key; they raise ``ValueError`` with the end of a sentence whose beginning is the key."""
