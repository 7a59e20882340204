"""Segmentation of a tile: its points with their classes, and the wires and towers as curves.

Takes the points of a tile with its halo. Leaves them in their order with the classes of the LAS
standard, and ``spans.json``, which also says where there are too few points to tell of wires.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tasks.inspection.conversation import Work, WorkError
from tasks.line.cloud import WKT, Cloud, read, write
from tasks.line.las_header import FileFaultError
from tasks.line.overview import OVERVIEW, write_overview
from tasks.line.scene import scene_of
from tasks.line.shapes import Echoes
from tasks.line.spans import SPANS, spans_of

SEGMENTED = "segmented.laz"


def do(work: Work) -> Sequence[str]:
    """Write the segmented points, the spans and a picture of both, and return the files' names. Raises ``WorkError``
    where the points cannot be read, and ``CancelledError``."""
    path = work.input(0, "the points of a tile")
    try:
        header, points = Cloud(path).header, read(path)
    except FileFaultError as error:
        raise WorkError(str(error)) from None
    work.progress(0.1)
    places = np.column_stack([points.x, points.y, points.z])
    scene = scene_of(places, Echoes(points.return_number, points.returns))
    work.progress(0.9)
    segmented = replace(points, classification=scene.classes)
    wkt = (header.record(*WKT) or b"").rstrip(b"\0").decode()
    write(Path(SEGMENTED), [segmented], wkt, standard_time=header.standard_time)
    spans = spans_of(scene)
    spans.write(Path(SPANS))
    write_overview(Path(OVERVIEW), places, scene.classes, spans)
    return SEGMENTED, SPANS, OVERVIEW
