"""Whose files count for all users of a machine: by owner and mode, and by Windows' access lists."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.host.administered import NotAdministeredError, WithheldError, read_administered
from agent.host.private_posix import PosixGuard
from agent.host.private_windows import WindowsGuard

INHERITED = "O:BAG:DUD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)"
PROGRAM_DATA = f"{INHERITED}(A;OICIIOID;GA;;;CO)(A;OICIID;0x1200a9;;;BU)(A;CIID;DCLCRPCR;;;BU)"
"""As a folder is that an administrator makes in ``%ProgramData%``: everybody may add files."""
FILE_IN_IT = f"{INHERITED}(A;ID;0x1200a9;;;BU)"
posix_only = pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX systems")


@pytest.mark.parametrize(
    ("folder", "file", "fault"),
    [
        (PROGRAM_DATA, FILE_IN_IT, ""),
        ("O:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)", "O:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)", ""),
        (PROGRAM_DATA, FILE_IN_IT.replace("O:BA", "O:S-1-5-21-1-2-3-1001"), "/setowner"),
        (PROGRAM_DATA.replace("O:BA", "O:BU"), FILE_IN_IT, "/setowner"),
        (PROGRAM_DATA, "", "/setowner"),
        (PROGRAM_DATA, "O:BAG:DU", "by others than administrators (WD)"),
        (PROGRAM_DATA, "O:BAD:NO_ACCESS_CONTROL", "by others than administrators (WD)"),
        (PROGRAM_DATA, f"{INHERITED}(A;;FA;;;S-1-5-21-1-2-3-1001)", "(S-1-5-21-1-2-3-1001)"),
        (PROGRAM_DATA, f"{INHERITED}(A;;FW;;;BU)", "(BU)"),
        (PROGRAM_DATA, f"{INHERITED}(A;;0x1301bf;;;AU)", "(AU)"),
        (PROGRAM_DATA, f"{INHERITED}(A;;WD;;;WD)", "(WD)"),
        (PROGRAM_DATA, f"{INHERITED}(D;;FA;;;BU)(A;;FR;;;WD)S:AI(AU;ID;FA;;;WD)", ""),
        (f"{PROGRAM_DATA}(A;OICI;0x1301bf;;;BU)", FILE_IN_IT, "(BU)"),
    ],
)
def test_on_windows_it_counts_if_administrators_own_it_and_nobody_else_may_change_it(
    tmp_path: Path, folder: str, file: str, fault: str
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("slots = 1")
    guard = WindowsGuard(
        describe=lambda each: folder if each == tmp_path else file, is_administrator=lambda: False
    )
    if not fault:
        assert read_administered(path, 100, guard) == b"slots = 1"
        return
    with pytest.raises(NotAdministeredError, match=r"policy\.toml does not count: ") as caught:
        read_administered(path, 100, guard)
    assert fault in str(caught.value)


@pytest.mark.parametrize("administers", [False, True])
def test_on_windows_who_administers_counts_itself_among_administrators(
    tmp_path: Path, administers: bool
) -> None:
    own = "S-1-5-21-1-2-3-1001"
    path = tmp_path / "policy.toml"
    path.write_text("")
    guard = WindowsGuard(
        run=lambda _: f'"office\\ana","{own}"\r\n'.encode(),
        describe=lambda _: f"O:{own}D:(A;OICI;FA;;;SY)(A;OICI;FA;;;{own})(A;OICI;0x1200a9;;;WD)",
        is_administrator=lambda: administers,
    )
    assert (guard.alterable(path) == "") == administers


@posix_only
def test_what_is_not_there_or_not_for_this_account_is_told_apart(tmp_path: Path) -> None:
    guard = PosixGuard(os.getuid())
    assert read_administered(tmp_path / "none" / "policy.toml", 100, guard) is None
    assert read_administered(tmp_path / "policy.toml", 100, guard) is None

    class Locked(type(tmp_path)):  # type: ignore[misc]
        def open(self, *_: object, **__: object) -> object:
            raise PermissionError(13, "Permission denied", str(self))

    with pytest.raises(WithheldError, match="let this account read it"):
        read_administered(Locked(tmp_path / "policy.toml"), 100, guard)


@posix_only
def test_what_a_group_may_write_counts_only_where_that_is_the_superusers(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("")
    for each in (tmp_path, path):
        each.chmod(0o755)
    path.chmod(0o664)
    if path.stat().st_gid:
        with pytest.raises(NotAdministeredError, match="mode 0664"):
            read_administered(path, 100, PosixGuard(os.getuid()))
    else:
        assert read_administered(path, 100, PosixGuard(os.getuid())) == b""
