"""Points of interest of a tile as a file, with the wires and towers they belong to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tasks.line.obstacles import Obstacle
from tasks.line.spans import Spans, read_tile_file

INTEREST = "interest.json"
VERSION = 1


@dataclass(frozen=True)
class Interest:
    """What a tile has found: its obstacles, and its spans. ``tile`` is None where it is the whole;
    ``patched``: a person has changed its classes."""

    tile: int | None
    obstacles: tuple[Obstacle, ...]
    spans: Spans
    patched: bool = False

    def write(self, path: Path) -> None:
        """Write the points of interest as JSON, over what is there. Raises ``OSError``."""
        told: dict[str, Any] = {"version": VERSION, "tile": self.tile, "spans": asdict(self.spans)}
        told["patched"] = self.patched
        told["obstacles"] = [asdict(each) for each in self.obstacles]
        path.write_text(json.dumps(told, indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Interest:
        """Return what ``write`` wrote. Raises ``WorkError`` for a file that holds no points of
        interest, and ``OSError``."""
        return read_tile_file(path, VERSION, _interest, "points of interest", "detect them anew")


def _interest(told: dict[str, Any]) -> Interest:
    obstacles = tuple(_obstacle(each) for each in told["obstacles"])
    return Interest(told["tile"], obstacles, Spans.told(told["spans"]), bool(told.get("patched")))


def _obstacle(told: dict[str, Any]) -> Obstacle:
    return Obstacle(**{**told, "place": (*told["place"],), "wire_place": (*told["wire_place"],)})
