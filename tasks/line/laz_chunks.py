"""How the points of a LAZ file are compressed, held against the file before the decoder sees it.

Points lie in chunks, of which a table at the end says where they begin. Those of the newer formats
(6 and more) lie in layers, one for each part of a point, and each chunk says how many bytes of each.
The decoder allocates what it is told there, and ends the process where that cannot be had. So every
number of these is looked at: which way and version, how many chunks, where each begins and ends,
how many points it says, and how large its layers are.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import lazrs

from tasks.line.las_header import WRITE_ANEW, FileFaultError, LasHeader
from tasks.line.sentences import said

LASZIP = ("laszip encoded", 22204)
HEAD = struct.Struct("<HHBBHIIqqH")
POINTWISE, CHUNKED, LAYERED = 1, 2, 3
VARIABLE_CHUNKS = 0xFFFFFFFF
CHUNK_POINTS_MAX = 10_000_000
"""LASzip writes 50,000; nobody needs a chunk that has to be in memory as a whole to be larger."""
ITEM_VERSIONS_MAX = 3
LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}
"""How many layers a part has, by its kind: point, colours, colours and infrared, wave packet."""
EXTRA_BYTES = 14
"""Has a layer for each byte."""


@dataclass(frozen=True)
class Compression:
    """What the record of LASzip says."""

    compressor: int
    coder: int
    chunk_points: int
    parts: tuple[tuple[int, int, int], ...]
    """Kind, bytes and version of each part of a point."""

    @property
    def layers(self) -> int:
        return sum(
            size if kind == EXTRA_BYTES else LAYERS.get(kind, 0) for kind, size, _ in self.parts
        )


def look_at_compression(header: LasHeader) -> None:
    """Look at everything that the decoder is going to believe; nothing where nothing is compressed.
    Raises ``FileFaultError`` where something cannot be true, and ``OSError``."""
    if not header.compressed:
        return
    told = _told(header)
    _look_at_way(header, told)
    if header.points and told.compressor != POINTWISE:  # which has no chunks
        with header.path.open("rb") as file:
            _look_at_table(header, told, file)
            _look_at_chunks(header, told, file)


def _told(header: LasHeader) -> Compression:
    data = header.record(*LASZIP)
    if data is None or len(data) < HEAD.size:
        raise FileFaultError(
            header.path, said("it does not say how it is compressed"), said("the record of LASzip")
        )
    compressor, coder, _, _, _, _, chunk_points, _, _, items = HEAD.unpack_from(data)
    if len(data) < HEAD.size + 6 * items or not items:
        raise FileFaultError(
            header.path,
            said("it has {items} compressed parts", items=items),
            said("what each of them is"),
            WRITE_ANEW,
        )
    parts = struct.iter_unpack("<HHH", data[HEAD.size :][: 6 * items])
    return Compression(compressor, coder, chunk_points, tuple(parts))


def _look_at_way(header: LasHeader, told: Compression) -> None:
    path, newest = header.path, max(version for _, _, version in told.parts)
    if newest > ITEM_VERSIONS_MAX:
        raise FileFaultError(
            path,
            said("its points are compressed by LAZ v{newest}", newest=newest),
            said("v1 to v{most}", most=ITEM_VERSIONS_MAX),
            said("write it anew as LAZ of LAS 1.4, or as LAS"),
        )
    if header.version > "1.4":
        raise FileFaultError(
            path,
            said("it is LAZ of LAS {version}", version=header.version),
            said("LAZ to 1.4"),
            said("write it anew as LAS"),
        )
    ways = (LAYERED,) if header.point_format > 5 else (CHUNKED, POINTWISE)
    if told.compressor not in ways or told.coder:
        raise FileFaultError(
            path,
            said(
                "it is compressed by way {way} with coder {coder}",
                way=told.compressor,
                coder=told.coder,
            ),
            said(
                "way {way} with coder 0 for points of format {point_format}",
                way=ways[0],
                point_format=header.point_format,
            ),
            WRITE_ANEW,
        )
    _look_at_sizes(header, told)


def _look_at_sizes(header: LasHeader, told: Compression) -> None:
    path, bytes_told = header.path, sum(size for _, size, _ in told.parts)
    if bytes_told != header.record_bytes:
        raise FileFaultError(
            path,
            said("its compressed parts have {bytes_told} bytes together", bytes_told=bytes_told),
            said("{record_bytes}, as its header says of a point", record_bytes=header.record_bytes),
            WRITE_ANEW,
        )
    if (
        told.compressor != POINTWISE
        and told.chunk_points != VARIABLE_CHUNKS
        and not 0 < told.chunk_points <= CHUNK_POINTS_MAX
    ):
        raise FileFaultError(
            path,
            said("its chunks have {chunk_points} points", chunk_points=told.chunk_points),
            said("one to {most}", most=CHUNK_POINTS_MAX),
            WRITE_ANEW,
        )


def _look_at_table(header: LasHeader, told: Compression, file: BinaryIO) -> None:
    """Whether the table lies within the file and has as many chunks as the points need."""
    size, first = file.seek(0, os.SEEK_END), header.points_at + 8
    file.seek(header.points_at)
    at = _number(file, "<q")
    if at == -1 and size >= first + 8:
        file.seek(-8, os.SEEK_END)
        at = _number(file, "<q")
    if not first <= at <= size - 8:
        raise FileFaultError(
            header.path,
            said("its table of chunks lies at byte {at} of {size}", at=at, size=size),
            said("a place between {first} and {size}", first=first, size=size - 8),
        )
    file.seek(at + 4)
    chunks = _number(file, "<I")
    most = min(header.points, (at - first) // header.record_bytes)
    wanted = f"one to {most}"
    if told.chunk_points != VARIABLE_CHUNKS:
        wanted = f"{-(-header.points // told.chunk_points)}"
    if not 0 < chunks <= most or wanted not in (f"{chunks}", f"one to {most}"):
        raise FileFaultError(
            header.path,
            said("it has {chunks} chunks of compressed points", chunks=chunks),
            said(
                "{wanted} for the {points} points that its header says",
                wanted=wanted,
                points=header.points,
            ),
        )


def _look_at_chunks(header: LasHeader, told: Compression, file: BinaryIO) -> None:
    size, at, points = file.seek(0, os.SEEK_END), header.points_at + 8, 0
    for number, (count, length) in enumerate(_chunks(header, file), 1):
        wanted = min(count, header.points - points)
        points += wanted
        if at + length > size:
            raise FileFaultError(
                header.path,
                said("its chunk {number} ends at byte {at}", number=number, at=at + length),
                said("at most {size}", size=size),
            )
        if header.point_format > 5:
            _look_at_layers(header, told, file, (number, at, length, wanted))
        at += length
    if points != header.points:
        raise FileFaultError(
            header.path,
            said("its chunks have {points} points", points=points),
            said("{points}, as its header says", points=header.points),
        )


def _look_at_layers(
    header: LasHeader, told: Compression, file: BinaryIO, chunk: tuple[int, int, int, int]
) -> None:
    number, at, length, wanted = chunk
    file.seek(at + header.record_bytes)
    head = file.read(4 + 4 * told.layers)
    if len(head) == 4 + 4 * told.layers:
        count, *layers = struct.unpack(f"<{1 + told.layers}I", head)
        if header.record_bytes + len(head) + sum(layers) <= length and count == wanted:
            return
        found = f"its chunk {number} says {count} points in {sum(layers)} bytes"
    else:
        found = f"its chunk {number} is cut"
    raise FileFaultError(
        header.path,
        found,
        said("{wanted} points within {length} bytes", wanted=wanted, length=length),
    )


def _chunks(header: LasHeader, file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield how many points and how many bytes each chunk has."""
    file.seek(header.points_at)
    data = header.record(*LASZIP)
    try:
        found = lazrs.read_chunk_table(file, lazrs.LazVlr(data))
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - lazrs panics with what is no Exception
        raise FileFaultError(
            header.path,
            said("its table of chunks cannot be read ({error})", error=error),
            said("one that LASzip wrote"),
        ) from None
    yield from found


def _number(file: BinaryIO, kind: str) -> int:
    data = file.read(struct.calcsize(kind))
    return int(struct.unpack(kind, data)[0]) if len(data) == struct.calcsize(kind) else -1
