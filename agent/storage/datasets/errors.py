"""Why the store could not do it, in the type. Each message is one sentence for a person.

All are ``OSError``, because whoever waits for data expects a disk's troubles anyway: a full store
says ``ENOSPC`` as a full disk does, and what is damaged or gone ``EAGAIN``, so that a program which
cannot be started for it is given back to the flock instead of having failed.
"""
# ruff: noqa: N818 - the names say what happened

from __future__ import annotations

import errno


class DatasetError(OSError):
    """Any failure of the store of datasets; the subclass says which."""

    number = errno.EIO

    def __init__(self, text: str) -> None:
        super().__init__(self.number, text)
        self.text = text

    def __str__(self) -> str:
        return self.text


class DatasetMissing(DatasetError):
    """It is not on this disk, just now: it may be fetched again."""

    number = errno.EAGAIN


class DatasetDamaged(DatasetError):
    """What is on this disk is not what it was; it was removed, and may be fetched again."""

    number = errno.EAGAIN


class StoreFull(DatasetError):
    """No room, even after everything that nobody needs was removed."""

    number = errno.ENOSPC


class NotKeepable(DatasetError):
    """A file or folder that cannot be a dataset, for a reason that its owner can mend."""

    number = errno.EINVAL
