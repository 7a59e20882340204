"""In which reference system places are, horizontally and vertically, and the way into another one.

A scan says it as WKT or as GeoKeys, or not at all. Nothing is guessed: what a file does not say, or
says so that it cannot be read, a person has to say, and one sentence asks for it. ``crs`` is then a
code such as EPSG:28992, and ``heights`` a code such as EPSG:5709, ``ellipsoid``, or ``metres`` or
``feet`` where only differences of heights matter.

Distances are measured in metres. So degrees are refused where no projected system is named to turn
them into, and feet are converted. Where heights change their datum PROJ needs a grid; one that is
not on this machine is named, and never fetched.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyproj
from numpy.typing import NDArray
from pyproj.exceptions import CRSError, ProjError
from pyproj.transformer import TransformerGroup

from tasks.inspection.conversation import WorkError
from tasks.line.las_header import LasHeader
from tasks.line.sentences import said

pyproj.network.set_network_enabled(active=False)  # type: ignore[attr-defined]

PROJECTION = "LASF_Projection"
WKT, GEO_KEYS, MORE_WKT = 2112, 34735, 2111
LENGTH_UNIT_KEY = 3076
PROJECTED_KEY, GEOGRAPHIC_KEY, VERTICAL_KEY, VERTICAL_UNIT_KEY = 3072, 2048, 4096, 4099
USER_DEFINED = 32767
ELLIPSOID = "ellipsoid"
UNITS = {"metres": 1.0, "feet": 0.3048, "us-feet": 1200 / 3937}
"""Heights of which only differences matter."""
UNIT_CODES = {9001: 1.0, 9002: 0.3048, 9003: 1200 / 3937}

Column = NDArray[np.float64]


class AskedError(WorkError):
    """What no file says and a person has to: ``asks`` is the word for it, an option of the plan."""

    def __init__(self, asks: str, sentence: str) -> None:
        self.asks = asks
        super().__init__(sentence)


@dataclass(frozen=True)
class Reference:
    """A reference system: horizontal, and what heights are; None and empty where nobody said."""

    horizontal: pyproj.CRS | None = None
    heights: str = ""
    """The code of a vertical system, ``ellipsoid``, or a unit."""
    height_unit_m: float = 1.0
    unreadable: str = ""
    """What the file says that nobody can read."""

    @property
    def in_degrees(self) -> bool:
        return self.horizontal is not None and self.horizontal.is_geographic

    @property
    def name(self) -> str:
        if self.horizontal is None:
            return "none"
        code = self.horizontal.to_epsg()
        return f"EPSG:{code}" if code else str(self.horizontal.name)

    @property
    def heights_in_metres(self) -> str:
        """The same heights where they are told in metres."""
        return "metres" if self.heights in UNITS else self.heights

    def completed(self, crs: str, heights: str) -> Reference:
        """Return this reference system with what a person says filled in where the file says
        nothing. Raises ``WorkError`` for a code that is none, and where something is still
        missing."""
        told = named(crs, heights)
        horizontal, of_heights, unit_m = self.horizontal, self.heights, self.height_unit_m
        if horizontal is None:
            horizontal = told.horizontal
        if not of_heights:
            of_heights, unit_m = told.heights, told.height_unit_m
        if horizontal is None:
            why = (
                said("what it says cannot be read ({why})", why=self.unreadable)
                if self.unreadable
                else ""
            )
            raise AskedError(
                "crs",
                said(
                    "its horizontal reference system is not known: {why}; name it with --crs EPSG:…",
                    why=why or said("the file says none"),
                ),
            )
        if not of_heights:
            raise AskedError(
                "heights",
                said(
                    "it does not say what its heights are; name it with --heights EPSG:…, --heights ellipsoid, or --heights metres where only differences matter"
                ),
            )
        return Reference(horizontal, of_heights, unit_m, self.unreadable)

    def in_metres(self) -> Reference:
        """Return the same system with metres in place of other units of length. Raises ``WorkError``
        where its unit is the degree."""
        assert self.horizontal is not None
        if self.in_degrees:
            raise AskedError(
                "target",
                said(
                    "its places are in degrees ({name}), in which no distance can be measured; name a projected system with --target EPSG:…",
                    name=self.name,
                ),
            )
        return Reference(_with_metres(self.horizontal), self.heights_in_metres)

    def wkt(self) -> str:
        """Return the horizontal system as WKT, with the vertical one where that has a code."""
        assert self.horizontal is not None
        crs = self.horizontal
        if self.heights and self.heights not in (*UNITS, ELLIPSOID):
            parts = [crs, _with_metres(pyproj.CRS.from_user_input(self.heights))]
            crs = pyproj.crs.CompoundCRS(f"{crs.name} + {parts[1].name}", parts)
        return str(crs.to_wkt("WKT1_GDAL" if crs.to_epsg() else "WKT2_2019"))


def of_scan(header: LasHeader) -> Reference:
    """Return what a scan says of its reference system, which may be nothing."""
    text = header.record(PROJECTION, WKT)
    if text is not None:
        return of_wkt(text.partition(b"\0")[0].decode("utf-8", "replace").strip())
    keys = header.record(PROJECTION, GEO_KEYS)
    return Reference() if keys is None else _of_geo_keys(keys)


def named(crs: str, heights: str) -> Reference:
    """Return the reference system of these names or codes, either of which may be empty. Raises
    ``WorkError`` for a name that nobody knows."""
    horizontal = _checked(crs, "crs") if crs else None
    found = Reference() if horizontal is None else _split(horizontal)
    if not heights:
        return found
    if heights in UNITS:
        return Reference(found.horizontal, heights, UNITS[heights])
    if heights == ELLIPSOID:
        return Reference(found.horizontal, heights)
    vertical = _checked(heights, "heights")
    if not vertical.is_vertical:
        raise WorkError(
            said(
                "--heights {heights} is no vertical reference system: {vertical}",
                heights=heights,
                vertical=vertical.name,
            )
        )
    return Reference(found.horizontal, heights, _unit_m(vertical))


class Change:
    """The way from one reference system to another, for places in columns."""

    def __init__(self, source: Reference, target: Reference) -> None:
        """Find the way. Raises ``WorkError`` where there is none, or where it needs a grid that is
        not on this machine."""
        assert source.horizontal is not None
        assert target.horizontal is not None
        self._units_m = source.height_unit_m, target.height_unit_m
        self._heights = _in_three(source, target)
        before = _full(source) if self._heights else source.horizontal.to_2d()
        behind = _full(target) if self._heights else target.horizontal.to_2d()
        self._same = before == behind
        self._way = None if self._same else _way(before, behind, source, target)

    def __call__(self, x: Column, y: Column, z: Column) -> tuple[Column, Column, Column]:
        """Return the places in the other system; where one cannot be turned, inf."""
        z = z * self._units_m[0]
        if self._way is not None and self._heights:
            x, y, z = _turned(self._way.transform, x, y, z)
        elif self._way is not None:
            x, y = _turned(self._way.transform, x, y)
        return x, y, z / self._units_m[1]


def _turned(turn: Callable[..., tuple[Column, ...]], *columns: Column) -> tuple[Column, ...]:
    """Return columns turned; one place as two, for PROJ takes an array of one for a number."""
    if len(columns[0]) == 1:
        return tuple(each[:1] for each in turn(*(np.repeat(each, 2) for each in columns)))
    return turn(*columns)


def _in_three(source: Reference, target: Reference) -> bool:
    """Whether heights are turned together with places."""
    if source.heights == target.heights:
        return source.heights == ELLIPSOID  # the way of places alone would lose what is up
    for each in (source, target):
        if each.heights in UNITS and source.heights not in UNITS | {"": 0.0}:
            raise WorkError(
                said(
                    "heights are {one} in one place and {other} in another: name one vertical system for both",
                    one=source.heights,
                    other=target.heights,
                )
            )
    return source.heights not in UNITS


def _way(
    before: pyproj.CRS, behind: pyproj.CRS, source: Reference, target: Reference
) -> pyproj.Transformer:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a missing grid is told below, and refused
            ways = TransformerGroup(before, behind, always_xy=True)
    except (ProjError, CRSError) as error:
        raise WorkError(
            said(
                "there is no way from {source} to {target}: {error}",
                source=source.name,
                target=target.name,
                error=error,
            )
        ) from None
    if ways.unavailable_operations and not ways.best_available:
        grids = [g.short_name for g in ways.unavailable_operations[0].grids if not g.available]
        raise WorkError(
            said(
                "from {source} with heights {heights} to {target} with heights {other} needs the grid {grid}, which is not on this machine; put it into {folder} (nothing is fetched)",
                source=source.name,
                heights=source.heights,
                target=target.name,
                other=target.heights,
                grid=", ".join(grids),
                folder=pyproj.datadir.get_data_dir(),
            )
        )
    if not ways.transformers:
        raise WorkError(
            said(
                "there is no way from {source} to {target}", source=source.name, target=target.name
            )
        )
    return ways.transformers[0]


def _full(reference: Reference) -> pyproj.CRS:
    """The system with its heights in metres in one, as PROJ turns both together."""
    crs = reference.horizontal
    assert crs is not None
    if reference.heights == ELLIPSOID:
        return crs.to_3d()
    vertical = _with_metres(pyproj.CRS.from_user_input(reference.heights))
    return pyproj.crs.CompoundCRS("both", [crs.to_2d(), vertical])


def of_wkt(text: str) -> Reference:
    """Return the reference system that a WKT describes; where it cannot be read, an empty one that
    says why."""
    if not text:
        return Reference(unreadable=said("its WKT is empty"))
    try:
        return _split(pyproj.CRS.from_wkt(text))
    except CRSError:
        return Reference(unreadable=said("its WKT begins with {text}", text=repr(text[:40])))


def _split(crs: pyproj.CRS) -> Reference:
    """Horizontal and vertical apart."""
    if crs.is_vertical and not crs.is_compound:
        return Reference(None, _code(crs), _unit_m(crs))
    if crs.is_compound:
        horizontal, vertical = crs.sub_crs_list[0], crs.sub_crs_list[1]
        return Reference(horizontal, _code(vertical), _unit_m(vertical))
    if len(crs.axis_info) == 3:
        return Reference(crs.to_2d(), ELLIPSOID, crs.axis_info[2].unit_conversion_factor)
    return Reference(crs)


def _of_geo_keys(data: bytes) -> Reference:
    if len(data) < 8:
        return Reference(unreadable=said("its GeoKeys are empty"))
    count = min(struct.unpack_from("<H", data, 6)[0], len(data) // 8 - 1)
    keys: dict[int, int] = {}
    for number in range(1, count + 1):
        key, place, _, value = struct.unpack_from("<4H", data, 8 * number)
        if place == 0:
            keys[key] = value
    code = keys.get(PROJECTED_KEY) or keys.get(GEOGRAPHIC_KEY, 0)
    if not code:
        return Reference()
    if code == USER_DEFINED:
        return Reference(unreadable=said("its GeoKeys define a system of their own"))
    try:
        found = _split(pyproj.CRS.from_epsg(code))
    except CRSError:
        return Reference(unreadable=said("its GeoKeys name EPSG:{code}", code=code))
    unit_m = UNIT_CODES.get(keys.get(LENGTH_UNIT_KEY, 0))
    if found.horizontal is not None and not found.in_degrees and unit_m is not None:
        own_m = found.horizontal.axis_info[0].unit_conversion_factor
        if abs(unit_m - own_m) > 1e-9:
            return Reference(
                unreadable=said(
                    "its GeoKeys name EPSG:{code} and another unit of length", code=code
                )
            )
    return _with_vertical_key(found, keys)


def _with_vertical_key(found: Reference, keys: dict[int, int]) -> Reference:
    code, unit_m = keys.get(VERTICAL_KEY, 0), UNIT_CODES.get(keys.get(VERTICAL_UNIT_KEY, 0))
    if not code or code == USER_DEFINED:
        return found
    try:
        vertical = pyproj.CRS.from_epsg(code)
    except CRSError:
        return found
    if not vertical.is_vertical:
        return found
    return Reference(found.horizontal, f"EPSG:{code}", unit_m or _unit_m(vertical))


def _checked(name: str, parameter: str) -> pyproj.CRS:
    try:
        return pyproj.CRS.from_user_input(name)
    except CRSError:
        raise WorkError(
            said(
                "--{parameter} {name} is no reference system: name one such as EPSG:28992",
                parameter=parameter,
                name=name,
            )
        ) from None


def _code(crs: pyproj.CRS) -> str:
    code = crs.to_epsg()
    return f"EPSG:{code}" if code else str(crs.to_wkt())


def _unit_m(crs: pyproj.CRS) -> float:
    return float(crs.axis_info[-1].unit_conversion_factor)


def _with_metres(crs: pyproj.CRS) -> pyproj.CRS:
    """The same system with axes in metres; false easting and northing keep their own unit."""
    if all(each.unit_conversion_factor == 1.0 for each in crs.axis_info):
        return crs
    told: dict[str, Any] = crs.to_json_dict()
    if told.get("type") == "BoundCRS":
        told = told["source_crs"]
    for each in told["coordinate_system"]["axis"]:
        each["unit"] = "metre"
    told["name"] = f"{told['name']} in metres"
    told.pop("id", None)
    return pyproj.CRS.from_json_dict(told)
