"""The wires and towers of a tile as a file that the later steps read.

A wire is its curve, not its points: how far something is from it is measured from the curve, also
where no point of it was seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tasks.inspection.conversation import WorkError
from tasks.line.curve import Catenary, Curve
from tasks.line.scene import Scene
from tasks.line.towers import Tower

T = TypeVar("T")

SPANS = "spans.json"
VERSION = 1
ON_TOWER_M = 4.0
"""So far beyond its arms a wire that ends hangs on a tower."""


@dataclass(frozen=True)
class Wire:
    """A curve, how many points lie on it, on how much of its length, and the towers at its ends by
    their numbers, None where it leaves what was seen."""

    curve: Curve
    points: int
    seen: float
    from_tower: int | None
    to_tower: int | None


@dataclass(frozen=True)
class Spans:
    """What later steps need of a segmented tile beside its points."""

    wires: tuple[Wire, ...]
    towers: tuple[Tower, ...]
    density: float
    too_sparse: bool
    counts: dict[int, int]
    """Points by class."""

    def write(self, path: Path) -> None:
        """Write the spans as JSON, over what is there. Raises ``OSError``."""
        path.write_text(json.dumps({"version": VERSION, **asdict(self)}, indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Spans:
        """Return the spans that ``write`` wrote. Raises ``WorkError`` for a file that holds none, and
        ``OSError``."""
        return read_tile_file(path, VERSION, cls.told, "spans", "segment the tile anew")

    @classmethod
    def told(cls, told: dict[str, Any]) -> Spans:
        """Return the spans that a decoded document tells of. Raises ``ValueError``, ``TypeError``
        or ``KeyError`` where it tells something else."""
        wires = tuple(_wire(each) for each in told["wires"])
        towers = tuple(tower_of(each) for each in told["towers"])
        counts = {int(each): int(count) for each, count in told["counts"].items()}
        return cls(wires, towers, float(told["density"]), bool(told["too_sparse"]), counts)


def read_tile_file(
    path: Path, version: int, made_of: Callable[[dict[str, Any]], T], what: str, cure: str
) -> T:
    """Return what ``made_of`` makes of the document in a file of a tile. Raises ``WorkError``, which
    says that it holds no ``what`` and the ``cure``, for another version and for what ``made_of``
    cannot read, and ``OSError``."""
    try:
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if told["version"] != version:
            raise ValueError("it is of another version")
        return made_of(told)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WorkError(f"{path.name} holds no {what}: {error!r}; {cure}") from None


def spans_of(scene: Scene) -> Spans:
    """Return the spans of a scene."""
    wires = tuple(
        Wire(
            curve,
            int((scene.wires.of_point == number).sum()),
            seen,
            *(_tower_at(curve, end_m, scene.towers) for end_m in (curve.start_m, curve.end_m)),
        )
        for number, (curve, seen) in enumerate(
            zip(scene.wires.curves, scene.wires.seen, strict=True)
        )
    )
    found = np.unique(scene.classes, return_counts=True)
    counts = dict(zip(*(each.tolist() for each in found), strict=True))
    return Spans(wires, scene.towers, scene.density, scene.too_sparse, counts)


def _tower_at(curve: Curve, end_m: float, towers: tuple[Tower, ...]) -> int | None:
    x, y, _ = (float(each) for each in curve.places(np.array([end_m]))[0])
    away = [np.hypot(each.x - x, each.y - y) - each.wide_m for each in towers]
    if not away or min(away) > ON_TOWER_M:
        return None
    return int(np.argmin(away))


def _wire(told: dict[str, Any]) -> Wire:
    return Wire(**{**told, "curve": curve_of(told["curve"])})


def curve_of(told: dict[str, Any]) -> Curve:
    """Return the curve that a document tells of. Raises ``ValueError``, ``TypeError`` or ``KeyError``
    where it tells of none."""
    curve = {each.name: told[each.name] for each in fields(Curve)}
    for name in ("origin", "way", "aside", "height"):
        curve[name] = tuple(float(each) for each in curve[name])
    if curve["catenary"] is not None:
        curve["catenary"] = Catenary(**curve["catenary"])
    return Curve(**curve)


def tower_of(told: dict[str, Any]) -> Tower:
    """Return the tower that a document tells of. Raises ``ValueError``, ``TypeError`` or ``KeyError``
    where it tells of none."""
    return Tower(**{**told, "way": tuple(float(each) for each in told["way"])})
