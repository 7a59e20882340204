"""The photographs and seconds of video that a report shows: for each point the one nearest to it.

Points that matter most come first, and each picture once, until there is no room for more: a report
has to be sent by mail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.line.facts import Facts, Picture
from tasks.line.joining import Point
from tasks.line.shots import Shot, read_shot

BYTES_MAX = 9_000_000
SECONDS_APART_MAX = 5.0
"""A picture of a video stands for its seconds up to so far from it."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A picture as JPEG, what is to be known about it, and its name on the page."""

    jpeg: bytes
    says: str
    name: str


@dataclass(frozen=True)
class Album:
    """The pictures, the name of that of each point by the point's id, and of how many points there
    was one for which there is no room."""

    photos: tuple[Photo, ...] = ()
    name_of: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


def album_of(
    facts: Facts, points: Sequence[Point], near: dict[str, tuple[Picture, float]]
) -> Album:
    """Return the pictures of these points, which come in the order of how much they matter; ``near`` is
    which was taken nearest to each, and from how far."""
    shown: dict[Shot, list[tuple[int, float]]] = {}
    for number, point in enumerate(points, 1):
        picture, far = near.get(point.id, (None, 0.0))
        shot = shot_of(facts, picture) if picture else None
        if shot:
            shown.setdefault(shot, []).append((number, far))
    photos: list[Photo] = []
    name_of: dict[str, str] = {}
    room, left_out = BYTES_MAX, 0
    for shot, seen in shown.items():
        jpeg = read_shot(facts.shot_files[shot.name], shot.name)
        if not jpeg or len(jpeg) > room:
            left_out += len(seen)
            continue
        room -= len(jpeg)
        photos.append(Photo(jpeg, _says(shot, seen), f"f-{len(photos) + 1}"))
        name_of |= {points[number - 1].id: photos[-1].name for number, _ in seen}
    return Album(tuple(photos), name_of, left_out)


def shot_of(facts: Facts, picture: Picture) -> Shot | None:
    """Return the best view of a photograph or of a second of a video; None where nothing shows
    it."""
    known = facts.shots.get(picture.file, ())
    if picture.second is None:
        return next(iter(known), None)
    second = picture.second
    apart = [(abs((each.second or 0.0) - second), each) for each in known]
    far, best = min(apart, default=(SECONDS_APART_MAX + 1, None))
    return best if far <= SECONDS_APART_MAX else None


def _says(shot: Shot, seen: Sequence[tuple[int, float]]) -> str:
    which = ", ".join(f"{number} ({far:.0f} m)" for number, far in seen)
    return f"{Picture(shot.file, shot.second, 0, 0).says()}: point{'s' if len(seen) > 1 else ''} {which}"
