"""Import: is what came off the aircraft whole, and if so, in units that the others read.

Takes a raw folder with ``scan.raw`` and ``track.csv``. Leaves out blocks whose check sum is wrong and
shots that nothing came back from, and fails when more than a share of the blocks is damaged or when
the recording of the flight does not cover the scan: what is missing here can only be flown again, and
better today than after the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.inspection.raw_scan import MICRORADIAN, MILLIMETRE_M, TICK_S, Record, read_raw
from tasks.inspection.scan import Shot, write_scan
from tasks.inspection.track import Track, read_track, write_track

RAW_SCAN, RAW_TRACK = "scan.raw", "track.csv"
SCAN, TRACK = "scan.bin", "track.csv"
DAMAGED_SHARE_MAX = 0.05
RANGE_M_MAX = 500.0


def do(work: Work) -> Sequence[str]:
    """Check a raw folder, write scan and track in common units without what is damaged, and return
    the files' names. Raises ``WorkError`` where something is missing, too much is damaged or the
    track does not cover the scan, and ``CancelledError``."""
    if len(work.raw) != 1 or not work.raw[0].is_dir():
        raise WorkError("one raw folder is wanted, given with -p")
    folder = work.raw[0]
    for name in (RAW_SCAN, RAW_TRACK):
        if not (folder / name).is_file():
            raise WorkError(f"{folder.name} has no {name}: copy the whole folder from the recorder")
    track = read_track(folder / RAW_TRACK)
    work.progress(0.1)
    shots = _checked(work, folder / RAW_SCAN)
    _covered(shots, track)
    write_scan(Path(SCAN), shots)
    write_track(Path(TRACK), track)
    return (SCAN, TRACK)


def _checked(work: Work, path: Path) -> list[Shot]:
    start_s, blocks = read_raw(path)
    share_max = work.parameter("damaged_share_max", DAMAGED_SHARE_MAX)
    shots: list[Shot] = []
    damaged = seen = 0
    for block in blocks:
        seen += 1
        damaged += block.damaged
        shots += (_shot(start_s, record) for record in block.records if _answered(record))
        work.progress(0.1 + 0.8 * min(1.0, seen / 1_000))
    if not shots:
        raise WorkError(f"{path.name} has not one good record")
    if damaged > share_max * seen:
        raise WorkError(
            f"{damaged} of {seen} blocks of {path.name} are damaged: copy it from the scanner again"
        )
    return sorted(shots)


def _answered(record: Record) -> bool:
    return 0 < record[3] * MILLIMETRE_M <= RANGE_M_MAX


def _shot(start_s: float, record: Record) -> Shot:
    ticks, across, along, range_mm, intensity = record
    return (
        start_s + ticks * TICK_S,
        across * MICRORADIAN,
        along * MICRORADIAN,
        range_mm * MILLIMETRE_M,
        intensity,
    )


def _covered(shots: list[Shot], track: Track) -> None:
    for name, series in (("GPS", track.positions), ("IMU", track.attitudes)):
        if series.times[0] > shots[0][0] or series.times[-1] < shots[-1][0]:
            raise WorkError(
                f"the {name} recording covers {series.times[0]:.1f} to {series.times[-1]:.1f} s, "
                f"the scan {shots[0][0]:.1f} to {shots[-1][0]:.1f} s: they are not of one flight"
            )
