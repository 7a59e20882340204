"""Shares: folders that have one name in the flock, and a path of its own on each machine.

A task names what it reads as ``share:flights/line-7``, and its program's description asks for
``share:flights``. So it runs where that share is and its owner allowed reading it; nothing of it is
copied. What leads out of a share is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from agent.execution.confinement.boundary import Wishes
from agent.execution.programs import ProgramError

SHARE = "share:"


def folder_of(name: str, shares: Mapping[str, str]) -> str:
    """Return what a program asks to read, ``share:NAME`` as its folder here, empty where this machine
    has no such share; any other path as it is."""
    return shares.get(name.removeprefix(SHARE), "") if name.startswith(SHARE) else name


def opened(wishes: Wishes, shares: Mapping[str, str]) -> Wishes:
    """Return the same wishes with the folders of shares in place of their names."""
    return replace(wishes, reads=tuple(folder_of(each, shares) for each in wishes.reads))


def place_of(dataset: str, wishes: Wishes, shares: Mapping[str, str]) -> str:
    """Return the path of a dataset within a share that a program asks for, and any other dataset as
    it is. Raise ``ProgramError`` where nothing lies there, the share is not here, or a link leads
    out of it."""
    share, *inside = PurePosixPath(dataset).parts or ("",)
    if not share.startswith(SHARE) or share not in wishes.reads:
        return dataset
    folder = folder_of(share, shares)
    place = Path(folder, *inside)
    if not folder or not place.exists():
        raise ProgramError(f"{dataset} is not there: {share.removeprefix(SHARE)} is {folder}")
    if not place.resolve().is_relative_to(Path(folder).resolve()):
        raise ProgramError(f"{dataset} leads out of the share")
    return str(place.resolve())
