"""A shared folder or an object store as the place of results, through fsspec.

Contents lie under their hash, so writing the same twice does no harm; on a file system they are
written beside their place first. What must be written once, an outcome, is created exclusively.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec

from agent.protocol.records import DatasetId
from agent.storage.datasets.backend import EXTRA, PIECE_BYTES, BackendError, Outcome, Stored

ON_FILE_SYSTEMS = frozenset({"file", "local", "sftp", "ssh", "smb"})
P = ParamSpec("P")
R = TypeVar("R")
_stored, _outcome = msgspec.msgpack.Decoder(Stored), msgspec.msgpack.Decoder(Outcome)
LOOKS_MAX, LOOK_AGAIN_S = 20, 0.05
"""An outcome that is being written by another node is readable a moment later."""


class FolderBackend:
    """A back end that keeps everything under one folder or prefix."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec  # type: ignore[import-untyped]
        except ImportError as error:
            raise BackendError(f"datasets = {url!r} needs fsspec: {EXTRA}.") from error
        self._url = url
        try:
            self._files, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError, OSError) as error:
            raise BackendError(f"{url} cannot be used for datasets: {error}.") from error
        self._root = str(root).rstrip("/")
        protocol = self._files.protocol
        names = {protocol} if isinstance(protocol, str) else set(protocol)
        self._beside = bool(names & ON_FILE_SYSTEMS)
        self._local = bool(names & {"file", "local"})

    def close(self) -> None:
        """Do nothing, as nothing is open between calls."""

    def find(self, dataset: DatasetId) -> Stored | None:
        with self._in_words():
            content = self._read(self._place("datasets", dataset.replace(":", "-")))
        return None if content is None else self._decoded(content, _stored)

    def put_content(self, digest: str, read: Callable[[], bytes], size_bytes: int) -> None:
        """Write a content under its digest from the pieces that ``read`` returns until one is
        empty; do nothing when it is there already in this size. Raise ``BackendError`` when that
        fails, and whatever ``read`` raises."""
        place = self._object(digest)
        with self._in_words():
            if self._files.exists(place) and self._files.size(place) == size_bytes:
                return
            self._write(place, iter(_own_side(read), b""))

    def get_content(self, digest: str, write: Callable[[bytes], None]) -> None:
        """Hand a content to ``write`` piece by piece; raise ``BackendError`` when it is not there or
        cannot be read, and whatever ``write`` raises."""
        with self._in_words():
            file: Any
            with self._files.open(self._object(digest), "rb") as file:
                while piece := file.read(PIECE_BYTES):
                    _own_side(write)(piece)

    def put(self, stored: Stored) -> None:
        place = self._place("datasets", stored.dataset.replace(":", "-"))
        with self._in_words():
            self._write(place, iter([msgspec.msgpack.encode(stored)]))

    def commit(self, outcome: Outcome) -> Outcome:
        """Record the outcome of a task's generation unless there is one already; return the one
        that was first and counts. One that stays half written for a second is replaced. Raise
        ``BackendError`` when that fails."""
        key = f"{hashlib.sha256(outcome.task.encode()).hexdigest()}-{outcome.generation}"
        place, content = self._place("outcomes", key), msgspec.msgpack.encode(outcome)
        with self._in_words():
            self._files.makedirs(self._place("outcomes"), exist_ok=True)
            try:
                self._create(place, content)
                first = outcome
            except FileExistsError:
                first = self._first(place, outcome, content)
            for output in first.outputs:
                name = hashlib.sha256(output.dataset.encode()).hexdigest()
                self._write(self._place("made", name, key), iter([msgspec.msgpack.encode(first)]))
        return first

    def made(self, dataset: DatasetId) -> list[Outcome]:
        """Return the outcomes that made this dataset, the latest first, empty when none did; raise
        ``BackendError`` when they cannot be read."""
        folder = self._place("made", hashlib.sha256(dataset.encode()).hexdigest())
        with self._in_words():
            self._files.invalidate_cache()
            if not self._files.exists(folder):
                return []
            contents = [self._read(each) for each in self._files.ls(folder, detail=False)]
        found = [self._decoded(each, _outcome) for each in contents if each is not None]
        return sorted(found, key=lambda each: each.committed_ms, reverse=True)

    # -- inside ----------------------------------------------------------------------------

    def _first(self, place: str, outcome: Outcome, content: bytes) -> Outcome:
        """What was committed before; half of one, of a node that died over it, is none."""
        for _ in range(LOOKS_MAX):
            with suppress(msgspec.MsgspecError):
                found = self._read(place)
                if found is not None:
                    return _outcome.decode(found)
            time.sleep(LOOK_AGAIN_S)
        self._write(place, iter([content]))
        return outcome

    def _create(self, place: str, content: bytes) -> None:
        """Of many nodes at once one succeeds; the others get ``FileExistsError``."""
        if not self._local:
            self._files.pipe_file(place, content, mode="create")
            return
        beside = f"{place}.{uuid.uuid4().hex}"
        self._write(beside, iter([content]))
        try:
            os.link(beside, place)  # whole from the first moment
        except FileExistsError:
            raise
        except OSError:  # not every file server knows second names
            with Path(place).open("xb") as file:
                file.write(content)
        finally:
            Path(beside).unlink()

    def _object(self, digest: str) -> str:
        return self._place("objects", digest[:2], digest)

    def _place(self, *parts: str) -> str:
        return "/".join((self._root, *parts))

    def _read(self, place: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(place))
        except FileNotFoundError:
            return None

    def _write(self, place: str, pieces: Iterator[bytes]) -> None:
        self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
        target = f"{place}.{uuid.uuid4().hex}" if self._beside else place
        file: Any
        with self._files.open(target, "wb") as file:
            for piece in pieces:
                file.write(piece)
            if self._beside:
                file.flush()
                with suppress(OSError, AttributeError):  # only what is a file here can be flushed
                    os.fsync(file.fileno())
        if self._beside:
            self._files.mv(target, place)

    def _decoded(self, content: bytes, kind: msgspec.msgpack.Decoder[R]) -> R:
        try:
            return kind.decode(content)
        except msgspec.MsgspecError as error:
            raise BackendError(f"{self._url} holds what no node wrote: {error}.") from error

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except BackendError:
            raise
        except _OwnSideError as error:
            raise error.cause from None
        except Exception as error:
            raise BackendError(f"{self._url} cannot be used just now: {error}.") from error


class _OwnSideError(Exception):
    """What reads or takes pieces on this side has failed, which the back end has no part in."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def _own_side(call: Callable[P, R]) -> Callable[P, R]:
    def called(*args: P.args, **words: P.kwargs) -> R:
        try:
            return call(*args, **words)
        except Exception as error:
            raise _OwnSideError(error) from error

    return called
