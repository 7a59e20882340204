"""Programs: which there are, where, and what is decided about those that others publish."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.api.rpc import Method
from agent.api.values import Count, Dataset, Millis, Reference

Decision = Literal["installed", "accepted", "waiting", "refused"]
"""What this node does with a program. ``waiting``: its owner has not decided yet."""
PathText = Annotated[str, Meta(min_length=1, max_length=4_096)]


DIGEST_SHOWN = 12


def published_name(program: str, folder: str) -> str:
    """Return what tasks call a published program: its name and the beginning of its folder's digest."""
    return f"{program}@{folder.partition(':')[2][:DIGEST_SHOWN]}"


def bare_name(program: str) -> str:
    """Return what its author calls a program, published or not: its name without the digest."""
    return program.partition("@")[0]


class Programs(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which programs can the flock run? ``own``: only what this machine knows of itself."""

    own: bool = False


class ProgramView(Struct, frozen=True):
    """A program, and the names of the machines that can run it now.

    What it does is known where a machine that has its description has told it. ``published`` is its
    folder, where it came with a publication and not by an installation.
    """

    name: str
    nodes: tuple[str, ...]
    here: Decision | None = None
    text: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    expected_s: float = 0.0
    published: Dataset | None = None
    publisher: str = ""
    seen_ms: Millis = 0


class BrokenProgram(Struct, frozen=True):
    """A folder among the programs of this node that is none, and why."""

    folder: str
    fault: str


class ProgramsReply(Struct, frozen=True):
    """The programs in the order of names. ``missing`` says of which nothing is known, and who did
    not tell."""

    programs: tuple[ProgramView, ...]
    broken: tuple[BrokenProgram, ...] = ()
    missing: tuple[str, ...] = ()


class Publish(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Publish a program folder of this machine to the flock. ``with_work``: only when a submission
    that names it is accepted; nobody hears of it before."""

    folder: PathText
    with_work: bool = False


class Published(Struct, frozen=True):
    """The name by which tasks can name the program, and its folder as a dataset."""

    program: str
    dataset: Dataset


class AcceptProgram(Struct, frozen=True, forbid_unknown_fields=True):
    """Run this published program here from now on."""

    program: Reference


class RefuseProgram(Struct, frozen=True, forbid_unknown_fields=True):
    """Never run this published program here."""

    program: Reference


class ForgetProgram(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Delete a published program here with what was decided about it; work that brings it asks anew.
    ``trial``: only say what that would free."""

    program: Reference
    trial: bool = False


class Forgotten(Struct, frozen=True):
    """The program is not here any more, and so many bytes are free; in a trial what it would be."""

    program: str
    frees_bytes: Annotated[int, Meta(ge=0, le=2**60)] = 0


class Decided(Struct, frozen=True):
    """What holds now for this program here."""

    program: str
    here: Decision
    waiting: Count = 0


# -- what is asked, and what is answered ----------------------------------------------------------

PROGRAMS = Method("programs", Programs, ProgramsReply)
PUBLISH = Method("publish", Publish, Published, by_members=False)
ACCEPT_PROGRAM = Method("accept_program", AcceptProgram, Decided, by_members=False)
FORGET_PROGRAM = Method("forget_program", ForgetProgram, Forgotten, by_members=False)
REFUSE_PROGRAM = Method("refuse_program", RefuseProgram, Decided, by_members=False)
