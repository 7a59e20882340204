"""Small pictures of a tile, of photographs and of seconds of its videos, in one file of theirs.

Of a video the pictures are taken that stand alone in it (key frames), at most one for ``APART_S``: any
other would need all before it, and minutes of work. The file is a ZIP, in which each is named as the
index of the tile names it; the same pictures give the same bytes.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import av

from tasks.line.las_header import FileFaultError
from tasks.line.photographs import Photograph, encoded, small

SHOTS = "pictures.zip"
SHOTS_MAX = 300
APART_S = 1.0
PASS_S = 10.0
"""Seconds of a video with a longer gap between them are of two passes over the tile."""
SHOT_BYTES_MAX = 200_000
JPEG = b"\xff\xd8\xff"
_UNREADABLE = (OSError, ValueError, NotImplementedError, zipfile.BadZipFile)
"""What is raised for a file that is no ZIP, or one of a kind that is not read."""


class Shot(NamedTuple):
    """Of what there is a small picture, and what it is called in its file."""

    file: str
    second: float | None
    name: str


def write_shots(
    path: Path, flight: Path, tile: int, photographs: Sequence[Photograph],
    seconds_of: dict[str, Sequence[float]], survived: Counter[str],
) -> list[Shot]:  # fmt: skip
    """Write the pictures of a tile and return what each is of; what cannot be shown is counted."""
    shots: list[Shot] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as held:
        for file, second, jpeg in _taken(flight, photographs, seconds_of, survived):
            if len(shots) == SHOTS_MAX:
                survived["tiles with more pictures than a report can show"] += 1
                break
            shots.append(Shot(file, second, f"{tile}-{len(shots)}.jpg"))
            held.writestr(zipfile.ZipInfo(shots[-1].name), jpeg)
    return shots


def _taken(
    flight: Path, photographs: Sequence[Photograph], seconds_of: dict[str, Sequence[float]],
    survived: Counter[str],
) -> Iterator[tuple[str, float | None, bytes]]:  # fmt: skip
    for each in photographs:
        try:
            yield each.path, None, small(flight / each.path)
        except FileFaultError:
            survived["photographs that cannot be shown"] += 1
    for name, seconds in seconds_of.items():
        try:
            for second, jpeg in _frames(flight / name, seconds):
                yield name, second, jpeg
        except (av.FFmpegError, ValueError):
            survived["videos of which not all pictures can be shown"] += 1


def _frames(path: Path, seconds: Sequence[float]) -> Iterator[tuple[float, bytes]]:
    """The pictures of a video around these seconds, each with its own."""
    with av.open(str(path)) as held:
        stream = held.streams.video[0]
        stream.codec_context.skip_frame = "NONKEY"
        for first_s, last_s in _passes(seconds):
            held.seek(int(first_s * av.time_base), backward=True)
            told_s = -APART_S
            for frame in held.decode(stream):
                second = float(frame.time or 0.0)
                if second > last_s + APART_S:
                    break
                if second >= first_s - PASS_S and second - told_s >= APART_S:
                    told_s = second
                    yield round(second, 2), encoded(frame.to_image())


def _passes(seconds: Sequence[float]) -> list[tuple[float, float]]:
    """From when to when a video shows a tile, once for each time that it comes by."""
    passes: list[tuple[float, float]] = []
    for second in sorted(seconds):
        if passes and second - passes[-1][1] <= PASS_S:
            passes[-1] = (passes[-1][0], second)
        else:
            passes.append((second, second))
    return passes


def names_of(path: Path) -> list[str]:
    """Return the names of the pictures in a file of pictures; empty where it is no such file."""
    try:
        with zipfile.ZipFile(path) as held:
            return held.namelist()[:SHOTS_MAX]
    except _UNREADABLE:
        return []


def read_shot(path: Path, name: str) -> bytes:
    """Return the bytes of one picture in a file of pictures; empty where it has none of that name,
    or is no such file."""
    try:
        with zipfile.ZipFile(path) as held:
            if held.getinfo(name).file_size > SHOT_BYTES_MAX:
                return b""
            jpeg = held.read(name)
    except (KeyError, RuntimeError, *_UNREADABLE):
        return b""
    return jpeg if jpeg.startswith(JPEG) else b""
