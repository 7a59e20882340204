"""Points are written and read as they were, in chunks, and a file that lies says so at once."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import laspy
import numpy as np
import pytest

from tasks.line import cloud
from tasks.line.cloud import Cloud, Points
from tasks.line.las_header import FileFaultError

COUNT = 2_500
Damage = Callable[[bytearray], bytearray]


def made(count: int = COUNT) -> Points:
    dice = np.random.default_rng(16)
    at = dice.uniform(0, 1_000, (3, count))
    return Points.of(
        np.round(500_000 + at[0], 3),
        np.round(4_000_000 + at[1], 3),
        np.round(at[2], 3),
        intensity=dice.integers(0, 65_536, count),
        return_number=dice.integers(1, 8, count),
        returns=dice.integers(1, 8, count),
        gps_time=dice.uniform(0, 1e9, count),
        classification=dice.integers(0, 256, count),
        source=dice.integers(0, 65_536, count),
    )


def test_what_was_written_is_read_in_chunks_as_it_was(tmp_path: Path) -> None:
    points = made()
    cloud.write(tmp_path / "a.laz", [points.at(slice(0, 7)), points.at(slice(7, None))])
    chunks = list(Cloud(tmp_path / "a.laz").chunks(600))
    assert [len(each) for each in chunks] == [600, 600, 600, 600, 100]
    found = Points.joined(chunks)
    for name in cloud.COLUMNS:
        told, wanted = getattr(found, name), getattr(points, name)
        assert told.dtype == wanted.dtype
        if name in "xyz":
            np.testing.assert_allclose(told, wanted, atol=1e-6)
        else:
            np.testing.assert_array_equal(told, wanted)


def test_the_same_points_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.laz", "b.laz"):
        cloud.write(tmp_path / name, [made()], 'LOCAL_CS["here"]')
    assert (tmp_path / "a.laz").read_bytes() == (tmp_path / "b.laz").read_bytes()
    assert b'LOCAL_CS["here"]\0' in (tmp_path / "a.laz").read_bytes()


def test_no_points_are_a_file_too(tmp_path: Path) -> None:
    cloud.write(tmp_path / "none.laz", [])
    assert len(cloud.read(tmp_path / "none.laz")) == 0


def plain(path: Path, count: int = 100, version: str = "1.2", kind: int = 3) -> Path:
    """As the scanners of others write it: not compressed, of an old version."""
    header = laspy.LasHeader(version=version, point_format=kind)
    header.scales = np.full(3, 0.01)
    data = laspy.LasData(header)
    data.x = data.y = data.z = np.arange(count, dtype=float)
    data.write(str(path))
    return path


def put(at: int, kind: str, *numbers: float) -> Damage:
    def damage(data: bytearray) -> bytearray:
        struct.pack_into(kind, data, at, *numbers)
        return data

    return damage


def cut(share: float) -> Damage:
    return lambda data: data[: int(len(data) * share)]


LIES: dict[str, tuple[Damage, str]] = {
    "nothing": (cut(0), "it is empty"),
    "another signature": (put(0, "4s", b"LASX"), "it begins with b'LASX'"),  # type: ignore[arg-type]
    "half a header": (lambda data: data[:150], "it has 150 bytes"),
    "LAS 2": (put(24, "<BB", 2, 0), "it is LAS 2.0"),
    "LAS 1.9": (put(24, "<BB", 1, 9), "it is LAS 1.9"),
    "a header of nothing": (put(94, "<HI", 0, 0), "its header says that it has 0 bytes"),
    "points behind the end": (put(96, "<I", 2**31), "its points begin at byte"),
    "format 99": (put(104, "<B", 55), "its points are of format 55"),
    "points of one byte": (put(105, "<H", 1), "with 1 bytes each"),
    "ten times the points": (put(107, "<I", 10 * COUNT), "its header says 25000 points"),
    "cut within a record": (cut(0.6), "the file has room for"),
    "a scale of 0": (put(131, "<3d", 0, 0, 0), "its scale factors are 0, 0, 0"),
    "a scale of next to nothing": (put(131, "<d", 1e-300), "its scale factors are 1e-300"),
    "a scale that is no number": (put(139, "<d", float("nan")), "its scale factors are"),
    "an offset without end": (put(155, "<d", float("inf")), "lead beyond every place"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_lies_says_so_in_one_sentence(lie: str, tmp_path: Path) -> None:
    damage, found = LIES[lie]
    path = plain(tmp_path / "scan.las", COUNT)
    path.write_bytes(damage(bytearray(path.read_bytes())))
    with pytest.raises(FileFaultError) as told:
        cloud.read(path)
    sentence = str(told.value)
    assert sentence.startswith("scan.las: ")
    assert found in sentence
    assert "; expected " in sentence
    assert sentence.count(";") >= 2
    assert "\n" not in sentence


COMPRESSED_LIES: dict[str, tuple[Damage, str]] = {
    "cut": (cut(0.8), "its table of chunks lies at byte"),
    "ten times the points": (put(247, "<Q", 10 * 60_000), "chunks of compressed points"),
    "no points": (put(247, "<Q", 0), "its header says 0 points and [0-9]+ bytes"),
    "LAZ v4": (put(375 + 54 + 34 + 4, "<H", 4), "compressed by LAZ v4"),
    "no record of LASzip": (put(100, "<I", 0), "it does not say how it is compressed"),
    "another way": (put(375 + 54, "<H", 9), "it is compressed by way 9"),
    "another size": (put(375 + 54 + 36, "<H", 7), "compressed"),
}


@pytest.mark.parametrize("lie", COMPRESSED_LIES)
def test_so_does_one_that_is_compressed(lie: str, tmp_path: Path) -> None:
    damage, found = COMPRESSED_LIES[lie]
    path = tmp_path / "scan.laz"
    cloud.write(path, [made(60_000)])
    path.write_bytes(damage(bytearray(path.read_bytes())))
    with pytest.raises(FileFaultError, match=found):
        cloud.read(path)


def test_what_can_be_lived_with_is_counted(tmp_path: Path) -> None:
    path = plain(tmp_path / "scan.las", 100)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 100, 3)  # three records, of which there is none
    struct.pack_into("<6d", data, 179, 1, 2, 1, 2, 1, 2)  # the box upside down
    at = struct.unpack_from("<I", data, 96)[0]
    struct.pack_into("<d", data, at + 20, float("nan"))  # the time of the first point
    path.write_bytes(data)
    scan = Cloud(path)
    assert sum(map(len, scan.chunks(30))) == 100
    assert sorted(scan.survived.values()) == [1, 3, 100]


def test_what_was_never_copied_is_no_point(tmp_path: Path) -> None:
    path = plain(tmp_path / "scan.las", 100)
    data = bytearray(path.read_bytes())
    at, size = struct.unpack_from("<I", data, 96)[0], 34
    data[at + 40 * size : at + 60 * size] = bytes(20 * size)
    path.write_bytes(data)
    scan = Cloud(path)
    assert [len(each) for each in scan.chunks()] == [79]  # the first is zeros as well
    assert scan.survived == {"points of nothing but zeros; they are left out": 21}


@pytest.mark.parametrize("version", ["1.2", "1.4"])
def test_points_that_the_header_does_not_count_are_told(version: str, tmp_path: Path) -> None:
    path = plain(tmp_path / "scan.las", 100, version)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 107, 90)
    if version == "1.4":
        struct.pack_into("<Q", data, 247, 90)
    path.write_bytes(data)
    scan = Cloud(path)
    assert len(scan) == 90
    assert scan.survived["records behind the last point that the header counts"] == 10


def test_more_records_than_fit_do_not_take_time_or_memory(tmp_path: Path) -> None:
    path = plain(tmp_path / "scan.las", 100)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 100, 1_069_128_089)
    path.write_bytes(data)
    assert len(cloud.read(path)) == 100


@pytest.mark.parametrize(("version", "kind"), [("1.1", 1), ("1.3", 3), ("1.4", 8), ("1.5", 10)])
def test_versions_of_others_are_read(version: str, kind: int, tmp_path: Path) -> None:
    assert len(cloud.read(plain(tmp_path / "scan.las", 10, version, kind))) == 10
