"""Learns from labelled scans what a building looks like: ``python -m tests.bench.inspection_learning``.

Writes ``tasks/line/roofs.json``. Each scan gives as many places as any other, as it is and thinned to
five and eleven points on a square metre, so that the density of one is not learned for its roofs. The
same function learns without one of the scans for the benchmark, which then measures on that one.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

from tasks.line.ground import ground_of, terrain_of
from tasks.line.roofs import LEARNED, Network, Roofs
from tasks.line.shapes import ECHOES, Echoes, shapes_of
from tests.bench.inspection_scans import TRUTH, Scan, scan

Floats = NDArray[np.float64]

PLACES_MAX = 5_000
DENSITIES = (5.0, 11.0)
HIDDEN = 24
SEEDS = (0, 1)
DIGITS = 4

Lesson = tuple[Floats, NDArray[np.int64]]


def lessons_of(name: str) -> list[Lesson]:
    """Return shapes and what they are, 1 for a building, from a scan and from the thinned ones."""
    whole = scan(name)
    thinner = [
        whole.thinned(each / whole.density) for each in DENSITIES if whole.density > 1.3 * each
    ]
    return [_lesson(each) for each in (whole, *thinner)]


def _lesson(part: Scan) -> Lesson:
    places = part.places
    terrain = terrain_of(*places.T)
    above_m = places[:, 2] - terrain.below(places[:, 0], places[:, 1])
    ground = ground_of(terrain, places[:, 0], places[:, 1], above_m)
    echoes = Echoes(part.points.return_number, part.points.returns)
    shapes = shapes_of(places, above_m, ground, echoes)
    truth = part.points.classification[~ground]
    size = len(shapes.features)
    roof = np.bincount(shapes.cube, truth == 6, size)
    leaf = np.bincount(shapes.cube, np.isin(truth, (3, 4, 5)), size)
    told = np.flatnonzero(roof != leaf)
    chosen = np.random.default_rng(0).permutation(told)[:PLACES_MAX]
    return shapes.features[chosen], (roof > leaf)[chosen].astype(np.int64)


def learned_from(lessons: Iterable[Lesson]) -> Roofs:
    """Return what is learned from lessons."""
    parts = list(lessons)
    features = np.concatenate([each for each, _ in parts])
    truth = np.concatenate([each for _, each in parts])
    with_echoes = tuple(_network(features, truth, seed) for seed in SEEDS)
    return Roofs(with_echoes, tuple(_network(features[:, :-ECHOES], truth, s) for s in SEEDS))


def _network(features: Floats, truth: NDArray[np.int64], seed: int) -> Network:
    least, most = np.nanpercentile(features, [2, 98], axis=0)
    clipped = np.clip(features, least, most)
    middle, spread = np.nanmean(clipped, axis=0), np.nanstd(clipped, axis=0) + 1e-6
    scaled = np.nan_to_num((clipped - middle) / spread)
    network = MLPClassifier(
        (HIDDEN,), alpha=1e-2, max_iter=30, early_stopping=True, random_state=seed,
        learning_rate_init=2e-3, batch_size=256,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(scaled, truth)
    return Network(
        least, most, middle, spread,
        network.coefs_[0], network.intercepts_[0],
        network.coefs_[1][:, 0], network.intercepts_[1],
    )  # fmt: skip


def _as_told(network: Network) -> dict[str, Any]:
    def short(value: Any) -> Any:
        return [short(each) for each in value] if np.ndim(value) else float(f"{value:.{DIGITS}g}")

    return {name: short(getattr(network, name)) for name in Network.__dataclass_fields__}


def main() -> int:
    """Learn from all scans and write what was learned."""
    roofs = learned_from(lesson for name in TRUTH for lesson in lessons_of(name))
    told = {
        kind: [_as_told(each) for each in getattr(roofs, kind)]
        for kind in ("with_echoes", "without")
    }
    path = Path(__file__).resolve().parents[2] / "tasks" / "line" / LEARNED
    path.write_text(json.dumps(told) + "\n", "utf-8")
    sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
