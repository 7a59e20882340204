"""Reference systems are what files and people say; nothing is guessed and nothing fetched."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyproj
import pytest

from tasks.inspection.conversation import WorkError
from tasks.line import cloud, crs
from tasks.line.cloud import Points
from tasks.line.crs import Change, Reference, named, of_scan
from tasks.line.las_header import LasHeader, Record, read_header

AT = np.array([500_000.0])


def header(*records: Record) -> LasHeader:
    nothing = (0.0, 0.0, 0.0)
    return LasHeader(
        *(Path("a.las"), "1.2", 1, 28, 227, 227, 0, False, (1.0, 1.0, 1.0)),
        *(nothing, nothing, nothing, 0, 0, records),
    )


def keys(**told: int) -> Record:
    numbers = {"projected": 3072, "geographic": 2048, "vertical": 4096, "unit": 4099}
    body = b"".join(struct.pack("<4H", numbers[name], 0, 1, code) for name, code in told.items())
    return Record(crs.PROJECTION, crs.GEO_KEYS, struct.pack("<4H", 1, 1, 0, len(told)) + body)


def wkt(text: str) -> Record:
    return Record(crs.PROJECTION, crs.WKT, text.encode() + b"\0")


def test_geo_keys_and_wkt_name_both_parts() -> None:
    by_keys = of_scan(header(keys(projected=28992, vertical=5709)))
    by_wkt = of_scan(header(wkt(pyproj.CRS("EPSG:7415").to_wkt())))
    for each in (by_keys, by_wkt):
        assert (each.name, each.heights, each.height_unit_m) == ("EPSG:28992", "EPSG:5709", 1.0)


def test_what_is_not_said_is_asked_for() -> None:
    nothing = of_scan(header())
    with pytest.raises(WorkError, match="the file says none; name it with --crs EPSG:…"):
        nothing.completed("", "metres")
    with pytest.raises(WorkError, match="does not say what its heights are"):
        nothing.completed("EPSG:28992", "")
    told = nothing.completed("EPSG:28992", "EPSG:5709")
    assert (told.name, told.heights) == ("EPSG:28992", "EPSG:5709")


@pytest.mark.parametrize(
    "record", [wkt("COMPD_CS[nonsense"), wkt(""), keys(projected=32767), keys(projected=1)]
)
def test_what_cannot_be_read_is_said_and_asked_for(record: Record) -> None:
    found = of_scan(header(record))
    assert found.horizontal is None
    with pytest.raises(WorkError, match=r"what it says cannot be read \(its (WKT|GeoKeys)"):
        found.completed("", "metres")


def test_what_the_file_says_is_kept() -> None:
    found = of_scan(header(keys(projected=32617, vertical=5703))).completed("EPSG:2154", "feet")
    assert (found.name, found.heights) == ("EPSG:32617", "EPSG:5703")


@pytest.mark.parametrize(("crs_code", "heights"), [("EPSG:0", ""), ("", "EPSG:2154"), ("", "high")])
def test_a_name_that_nobody_knows_is_refused(crs_code: str, heights: str) -> None:
    with pytest.raises(WorkError, match=r"is no (vertical )?reference system"):
        named(crs_code, heights)


def test_degrees_are_refused_for_distances() -> None:
    with pytest.raises(WorkError, match=r"in degrees .*no distance can be measured.*--target EPSG"):
        named("EPSG:4326", "ellipsoid").in_metres()


def test_feet_become_metres_across_and_up() -> None:
    feet = named("EPSG:2994", "EPSG:6360")
    x, y, z = Change(feet, feet.in_metres())(AT, AT, np.array([100.0]))
    assert x[0] == y[0] == pytest.approx(500_000 * 0.3048, abs=1e-6)
    assert z[0] == pytest.approx(100 * 1200 / 3937)
    written = of_scan(header(wkt(feet.in_metres().wkt())))
    assert written.height_unit_m == 1.0
    assert written.horizontal is not None
    assert {each.unit_name for each in written.horizontal.axis_info} == {"metre"}


def test_a_unit_of_its_own_goes_before_that_of_the_vertical_system() -> None:
    found = of_scan(header(keys(projected=26910, vertical=5703, unit=9003)))
    assert Change(found, found.in_metres())(AT, AT, np.array([3937.0]))[2][0] == pytest.approx(1200)


def test_places_are_turned() -> None:
    way = Change(named("EPSG:4326", "ellipsoid"), named("EPSG:32617", "ellipsoid"))
    x, y, z = way(np.array([-81.0]), np.array([30.0]), np.array([7.0]))
    assert (x[0], z[0]) == (pytest.approx(500_000), 7.0)
    assert y[0] == pytest.approx(3_318_785.353, abs=0.001)


def test_a_grid_that_is_not_here_is_named_and_not_fetched() -> None:
    assert not pyproj.network.is_network_enabled()  # type: ignore[attr-defined]
    with pytest.raises(WorkError, match=r"us_nga_egm\d+_\d+.*\.tif.*not on this machine"):
        Change(named("EPSG:32617", "ellipsoid"), named("EPSG:32617", "EPSG:5773"))


def test_heights_of_which_only_differences_matter_change_no_datum() -> None:
    with pytest.raises(WorkError, match="name one vertical system for both"):
        Change(named("EPSG:28992", "EPSG:5709"), named("EPSG:28992", "metres"))


def test_a_written_scan_says_its_system(tmp_path: Path) -> None:
    told = named("EPSG:28992", "EPSG:5709").in_metres()
    cloud.write(tmp_path / "a.laz", [Points.of(AT, AT, AT)], told.wkt())
    found = of_scan(read_header(tmp_path / "a.laz"))
    assert (found.name, found.heights) == ("EPSG:28992", "EPSG:5709")
    assert found == Reference(found.horizontal, "EPSG:5709")
