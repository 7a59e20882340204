"""Files that a client sends in pieces, until they are a dataset or the client is gone.

They are written into a folder of their own beside the store, so that becoming a dataset is a rename
and no second copy. A client names files of a folder by relative paths; whatever would lead out of
that folder is refused.
"""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.protocol.phrases import said

OPEN_MAX = 8
"""Uploads of one client at once."""
FREE_BYTES_MIN = 256 * 1024 * 1024
"""An upload leaves so much of the disk free."""
EXECUTABLE = 0o700


@dataclass(slots=True)
class Upload:
    """One file or folder that is on its way."""

    name: str
    folder: bool
    place: Path
    sizes: dict[str, int] = field(default_factory=dict)


class Uploads:
    """The files that the client of one connection is sending."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, Upload] = {}

    def begin(self, name: str, *, folder: bool) -> str:
        """Make a folder for one file or folder to come, and return the number under which its
        pieces are sent. Of a ``name`` that is a path only the last part counts. Raises
        ``RefusedError`` for a name that is none, or too many open uploads, ``OSError`` when the
        disk refuses."""
        if len(self._open) >= OPEN_MAX:
            raise RefusedError(
                ErrorCode.TOO_MANY,
                said("{most} uploads are open: end one of them", most=OPEN_MAX),
            )
        plain = PurePosixPath(name.replace("\\", "/")).name
        if plain in {"", ".."}:
            raise RefusedError(
                ErrorCode.REFUSED, said('begin_upload: "{name}" is no name of a file', name=name)
            )
        number = secrets.token_hex(8)
        place = self.folder / number
        place.mkdir(parents=True, mode=0o700)
        if folder:
            (place / plain).mkdir()
        self._open[number] = Upload(plain, folder, place)
        return number

    def take(self, number: str, path: str, offset: int, data: bytes, *, executable: bool) -> int:
        """Append a piece to a file of an upload, which becomes ``executable`` or stays as it is;
        return how many bytes the file has now. Raises ``RefusedError`` where upload or path is
        wrong, the piece does not follow, or the disk is almost full, ``OSError`` when it cannot be
        written; the same piece may be sent again then."""
        upload = self._upload(number)
        target = _target(upload, path)
        held = upload.sizes.get(path, 0)
        if offset != held:
            raise RefusedError(
                ErrorCode.REFUSED,
                f"upload_chunk: {path or upload.name} has {held} bytes so far, not {offset}",
            )
        if shutil.disk_usage(upload.place).free < FREE_BYTES_MIN + len(data):
            raise RefusedError(ErrorCode.REFUSED, said("the disk of this machine is almost full"))
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("r+b" if offset else "wb") as file:
            file.truncate(offset)  # a piece that the disk took in part is behind it
            file.seek(offset)
            file.write(data)
        if executable:
            target.chmod(EXECUTABLE)
        upload.sizes[path] = held + len(data)
        return upload.sizes[path]

    def make_folder(self, number: str, path: str) -> None:
        """Make a folder at this path within an upload, if it is not there. Raises ``RefusedError``
        where the upload is unknown or the path leads out of it, ``OSError`` when the disk
        refuses."""
        _target(self._upload(number), path).mkdir(parents=True, exist_ok=True)

    def content(self, number: str) -> tuple[Path, str]:
        """Return the path of the file or folder that was sent under this number, and its name; the
        upload stays open. Raises ``RefusedError`` if the number is unknown or nothing of a file was
        sent; a folder may be empty."""
        upload = self._upload(number)
        if not upload.sizes and not upload.folder:
            raise RefusedError(
                ErrorCode.REFUSED, said("end_upload: nothing of {name} was sent", name=upload.name)
            )
        return upload.place / upload.name, upload.name

    def forget(self, number: str) -> None:
        """Delete an upload and what is left of its files, nothing being said of what cannot be
        deleted; does nothing if it is not known."""
        upload = self._open.pop(number, None)
        if upload is not None:
            shutil.rmtree(upload.place, ignore_errors=True)

    def forget_all(self) -> None:
        """Delete all uploads, for the client is gone."""
        for number in list(self._open):
            self.forget(number)

    def _upload(self, number: str) -> Upload:
        upload = self._open.get(number)
        if upload is None:
            raise RefusedError(
                ErrorCode.UNKNOWN,
                said('no upload of this connection is called "{number}"', number=number[:40]),
            )
        return upload


def _target(upload: Upload, path: str) -> Path:
    whole = upload.place / upload.name
    if not upload.folder:
        if path:
            raise RefusedError(ErrorCode.REFUSED, said("upload_chunk: a single file has no path"))
        return whole
    parts = PurePosixPath(path).parts
    strange = "\\" in path or ":" in path or not path.isprintable()
    if not parts or strange or path.startswith("/") or ".." in parts:
        raise RefusedError(
            ErrorCode.REFUSED,
            said('upload_chunk: "{path}" is no path within the folder', path=path[:80]),
        )
    return whole.joinpath(*parts)
