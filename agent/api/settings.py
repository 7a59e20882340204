"""The settings of a node that its owner may change while it runs, and those to be seen."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from agent.api.rpc import Method
from agent.api.update import Updates
from agent.api.values import Count, SharedWith, ShortText

PublishedPrograms = Literal["always", "ask", "never"]
Processor = Literal["spare", "share"]
"""What programs get of the processor: what nobody else wants, or a little in any case."""
Rules = Literal[
    "look-ahead",
    "reaching",
    "WQR-2",
    "WQR-4",
    "WQR-FA-2",
    "WQR-FA-4",
    "FCFS",
    "EC",
    "EGC",
    "BFC",
    "BFGC",
    "BFGCE",
    "late-claims",
    "late-claims-among-3",
    "late-claims-unasked",
]
"""By which the flock decides who runs what."""
Origin = Literal["policy", "owner", "machine", "built in"]
"""On whose word a setting is as it is. ``policy`` and ``machine``: an administrator's, whom an owner
cannot or can overrule."""
NodeName = Annotated[str, Meta(max_length=60)]
Slots = Annotated[int, Meta(ge=1, le=256)]
AddressTexts = Annotated[tuple[ShortText, ...], Meta(max_length=64)]
Port = Annotated[int, Meta(ge=0, le=65_535)]
Tags = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=60)], ...], Meta(max_length=64)]
Days = Annotated[int, Meta(ge=0, le=36_500)]
Copies = Annotated[int, Meta(ge=0, le=9)]
LogMegabytes = Annotated[float, Meta(ge=0, le=16)]
Gigabytes = Annotated[float, Meta(ge=0, le=1_000_000)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How is this node set up?"""


class SettingsView(Struct, frozen=True):
    """What holds, and the file that says so. ``restart``: what is kept, but holds only after one.

    ``datasets_gb`` is how much data this machine keeps for the flock, ``memory_gb`` what one
    program may take; 0 is the default of both. ``join_requests``: whether machines without an
    invitation may ask this one, if it is a keeper, to let them in. ``listening`` is the port by
    which members reach this node now, 0 without a flock: another one where ``port`` was used.
    ``history_days`` is how long finished work is remembered, 0 for ever. ``logs_mb`` is how much of
    the end of each task's log another machine keeps, too, 0 for nothing; ``kept_logs_bytes`` is what
    those of other machines take on this disk. ``telnet``: whether clients of this machine may also
    come by a port of loopback. ``updates``: who begins with a version that was installed. ``shares``:
    folders here by the names that they have in the flock. ``keep_awake``: whether this machine is
    kept from falling asleep while a program runs here and it is on mains. ``wakeable``: whether peers may
    wake it, for work that only it can take.

    ``copies``: on how many disks results are before their task has ended, 0 for as many as are advised.
    ``rules``: by which the whole flock decides who runs what; empty from an agent of before.

    ``shared_with``: who may act on what is submitted here, where its person says nothing else.

    ``origins`` has all settings, the rules of when to help as ``presence.idle_s``; what the policy
    fixes, in the file ``policy``, cannot be changed here. ``wrong`` is what is wrong with the files
    that administrators have laid down, or said there in vain by the owner; ``whys`` the same as
    values.
    """

    file: str
    name: str
    port: int
    listen: tuple[str, ...]
    addresses: tuple[str, ...]
    slots: int
    tags: tuple[str, ...]
    published_programs: PublishedPrograms = "ask"
    datasets_gb: float = 0.0
    restart: tuple[str, ...] = ()
    processor: Processor = "spare"
    memory_gb: float = 0.0
    join_requests: bool = True
    listening: int = 0
    history_days: Days = 1095
    logs_mb: LogMegabytes = 1.0
    kept_logs_bytes: Count = 0
    telnet: bool = False
    origins: dict[str, Origin] = {}
    policy: str = ""
    machine: str = ""
    wrong: tuple[str, ...] = ()
    whys: tuple[Raw, ...] = ()
    updates: Updates = "by itself"
    shares: dict[str, str] = {}
    keep_awake: bool = True
    rules: ShortText = ""
    copies: Copies = 2
    wakeable: bool = False
    shared_with: SharedWith = ()


class ChangeSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Change the settings that are given; they are kept in the settings file, but for ``rules``,
    which are the flock's and hold on all its machines at once."""

    name: NodeName | UnsetType = UNSET
    slots: Slots | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    addresses: AddressTexts | UnsetType = UNSET
    published_programs: PublishedPrograms | UnsetType = UNSET
    datasets_gb: Gigabytes | UnsetType = UNSET
    processor: Processor | UnsetType = UNSET
    memory_gb: Gigabytes | UnsetType = UNSET
    join_requests: bool | UnsetType = UNSET
    port: Port | UnsetType = UNSET
    history_days: Days | UnsetType = UNSET
    logs_mb: LogMegabytes | UnsetType = UNSET
    telnet: bool | UnsetType = UNSET
    updates: Updates | UnsetType = UNSET
    keep_awake: bool | UnsetType = UNSET
    rules: Rules | UnsetType = UNSET
    copies: Copies | UnsetType = UNSET
    wakeable: bool | UnsetType = UNSET
    shared_with: SharedWith | UnsetType = UNSET


# -- what is asked, and what is answered ----------------------------------------------------------

SETTINGS = Method("settings", Settings, SettingsView)
CHANGE_SETTINGS = Method("change_settings", ChangeSettings, SettingsView, by_members=False)
