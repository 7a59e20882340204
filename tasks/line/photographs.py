"""Where a photograph was taken, by its own word (EXIF), and what becomes of it in a report."""

from __future__ import annotations

import io
import math
import struct
from pathlib import Path
from typing import Any, NamedTuple

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from tasks.line.las_header import FileFaultError
from tasks.line.sentences import said

SIDE_PX = 400
QUALITY = 70
_BROKEN = (OSError, ValueError, SyntaxError, struct.error, Image.DecompressionBombError)
"""What the library raises for files that are no pictures, are cut off, or claim to be enormous."""


class Photograph(NamedTuple):
    """A photograph as a path from the flight's folder, and where the camera was."""

    path: str
    longitude_deg: float
    latitude_deg: float


def place_of(path: Path) -> tuple[float, float] | None:
    """Return longitude and latitude of a photograph, None where it does not say them. Raises
    ``FileFaultError`` for what is no photograph."""
    with _opened(path) as image:
        try:
            told = image.getexif().get_ifd(ExifTags.IFD.GPSInfo)
        except _BROKEN:
            return None
    longitude = _degrees(told, ExifTags.GPS.GPSLongitude, ExifTags.GPS.GPSLongitudeRef, "W")
    latitude = _degrees(told, ExifTags.GPS.GPSLatitude, ExifTags.GPS.GPSLatitudeRef, "S")
    if not (abs(longitude) <= 180 and abs(latitude) <= 90) or longitude == latitude == 0:
        return None
    return longitude, latitude


def small(path: Path) -> bytes:
    """Return the photograph small and upright, as a JPEG without what else it told. Raises
    ``FileFaultError`` for what cannot be shown."""
    with _opened(path) as image:
        try:
            image.draft("RGB", (2 * SIDE_PX, 2 * SIDE_PX))
            return encoded(ImageOps.exif_transpose(image))
        except _BROKEN as error:
            raise FileFaultError(
                path, said("it cannot be shown ({error})", error=error), said("a photograph")
            ) from None


def encoded(image: Image.Image) -> bytes:
    """Return a picture as a small JPEG."""
    held = image.convert("RGB")
    held.thumbnail((SIDE_PX, SIDE_PX))
    written = io.BytesIO()
    Image.frombytes("RGB", held.size, held.tobytes()).save(written, "JPEG", quality=QUALITY)
    return written.getvalue()


def _opened(path: Path) -> Image.Image:
    try:
        return Image.open(path, formats=("JPEG",))
    except UnidentifiedImageError:
        raise FileFaultError(path, said("it is no photograph"), said("a JPEG")) from None
    except _BROKEN as error:
        raise FileFaultError(
            path, said("it cannot be opened ({error})", error=error), said("a JPEG")
        ) from None


def _degrees(told: dict[int, Any], number: int, side: int, below_zero: str) -> float:
    """Degrees of three parts; NaN where they are not told, or are nonsense."""
    try:
        degrees, minutes, seconds = (float(each) for each in told[number])
        sign = -1 if str(told[side]).strip("\0 ").upper() == below_zero else 1
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return math.nan
    return sign * (degrees + minutes / 60 + seconds / 3600)
