"""The labelled scans of ``../shared/data/lidar``: where they are, what they are good for, and parts of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.line.cloud import Points, read

Floats = NDArray[np.float64]

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "lidar"
WIRES = ("wires/ahn4_12AN2_20.laz", "wires/ahn4_07CZ2_14.laz")
NEGATIVES = ("negatives/Megaplot.laz", "negatives/Topography.laz", "negatives/france.laz")
TRUTH = (
    "truth/St_Barth_RGAF09_UTM20N_IGN_1988_SB_subset_100m.laz",
    "truth/ahn3_cropped_2.laz",
    "truth/ahn_2386_9702.laz",
    "truth/fusa.laz",
    "truth/house.laz",
    "truth/test_data_77050_627755_LA93_IGN69.laz",
    "truth/test_data_77055_627755_LA93_IGN69.laz",
    "truth/test_data_77055_627760_LA93_IGN69.laz",
)
"""Of at least four points on a square metre, with roofs that somebody labelled."""
SPARSE = ("truth/donor_test.las", "truth/test_semis_2021_0382_6565_LA93_IGN69_cropped.laz")
STREET = "wires/TO_core_last_zoom.laz"


@dataclass(frozen=True)
class Scan:
    """Points, and their places side by side."""

    points: Points

    @property
    def places(self) -> Floats:
        """Return x, y and z of each point."""
        return np.column_stack([self.points.x, self.points.y, self.points.z])

    @property
    def density(self) -> float:
        """Return how many points lie on a square metre, where there are any within five metres."""
        row, column = (
            np.floor(each / 5.0).astype(np.int64) for each in (self.points.x, self.points.y)
        )
        return len(self.points) / (25.0 * len(np.unique(np.column_stack([row, column]), axis=0)))

    def thinned(self, share: float, seed: int = 1) -> Scan:
        """Return so much of it, drawn by lot."""
        kept = np.random.default_rng(seed).random(len(self.points)) < share
        return Scan(self.points.at(kept))


@lru_cache(maxsize=4)
def scan(name: str) -> Scan:
    """Return a scan by its name in the folder."""
    return Scan(read(FOLDER / name))
