"""Terrain from a map of heights (GeoTIFF): what of it lies below a tile, in the target system.

Only the window of the tile is read, so that a map of a whole country costs no more. A map in another
horizontal system is laid anew on cells as large as its own; its heights are taken as they are, and
what unit they have is what the plan says of the scans. A tile without a map is one empty cell.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import rasterio
from numpy.typing import NDArray
from rasterio._err import CPLE_BaseError
from rasterio.errors import NotGeoreferencedWarning, RasterioError
from rasterio.transform import from_origin
from rasterio.vrt import WarpedVRT
from rasterio.windows import Window, from_bounds

from tasks.inspection.conversation import WorkError
from tasks.line.las_header import FileFaultError
from tasks.line.sentences import said

Box = tuple[float, float, float, float]

CELLS_MAX = 16_000_000
"""Of one tile; a map of 400 m has 160,000 cells of a metre."""
NOTHING = -9999.0
OPTIONS = {
    "driver": "GTiff",
    "dtype": "float32",
    "count": 1,
    "nodata": NOTHING,
    "compress": "deflate",
}


def look_at_terrain(path: Path) -> None:
    """Raise ``FileFaultError`` where a file is no map of heights that can be laid somewhere."""
    try:
        with _quietly(), rasterio.open(path) as held:
            if held.transform.is_identity:
                raise FileFaultError(
                    path, said("it lies nowhere"), said("a map that says where"), said("export it")
                )
            if held.count != 1 or held.crs is None:
                raise FileFaultError(
                    path,
                    said(
                        "it has {count} bands and the reference system {name}",
                        count=held.count,
                        name=held.crs or said("none"),
                    ),
                    said("one band of heights and a reference system"),
                    said("leave it out or export the terrain anew"),
                )
            held.read(1, window=Window(0, 0, 1, 1))
    except (RasterioError, CPLE_BaseError, ValueError) as error:
        raise _unreadable(path, error) from None


def cut_terrain(paths: Sequence[Path], box: Box, wkt: str, into: Path) -> Counter[str]:
    """Write the heights below a box from the first map that has any, and return what was lived
    with. Raises ``WorkError`` where a map cannot be read, and ``OSError``."""
    for path in paths:
        try:
            found = _window(path, box, wkt)
        except (RasterioError, CPLE_BaseError, ValueError) as error:
            raise _unreadable(path, error) from None
        if found is not None:
            _write(into, *found, wkt)
            return Counter()
    _write(into, np.full((1, 1), NOTHING, np.float32), from_origin(box[0], box[3], 1, 1), wkt)
    return Counter({"tiles that no map of the terrain covers": 1} if paths else {})


def _window(path: Path, box: Box, wkt: str) -> tuple[NDArray[np.float32], object] | None:
    """The heights within a box and where they lie; None where the map has none there."""
    with rasterio.open(path) as held, WarpedVRT(held, crs=wkt, nodata=NOTHING) as laid:
        west, south, east, north = laid.bounds
        if west >= box[2] or east <= box[0] or south >= box[3] or north <= box[1]:
            return None
        wanted = from_bounds(*box, laid.transform).round_offsets().round_lengths()
        wanted = wanted.intersection(Window(0, 0, laid.width, laid.height))
        if wanted.width * wanted.height > CELLS_MAX:
            raise WorkError(
                said(
                    "{file}: a tile has more than {cells_max} cells; thin it",
                    file=path.name,
                    cells_max=CELLS_MAX,
                )
            )
        heights = laid.read(1, window=wanted).astype(np.float32)
        heights[~np.isfinite(heights)] = NOTHING
        return None if (heights == NOTHING).all() else (heights, laid.window_transform(wanted))


def _write(into: Path, heights: NDArray[np.float32], transform: object, wkt: str) -> None:
    size = {"height": heights.shape[0], "width": heights.shape[1]}
    with rasterio.open(into, "w", crs=wkt, transform=transform, **size, **OPTIONS) as held:
        held.write(heights, 1)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without a warning of what is refused here in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        yield


def _unreadable(path: Path, error: Exception) -> FileFaultError:
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return FileFaultError(
        path, said("it cannot be read ({error})", error=why), said("a GeoTIFF of heights")
    )
