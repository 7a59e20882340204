"""What makes the packages for Windows, as far as no tool and no network is needed for it."""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agent.host.private_windows import service_identifier
from agent.net.addresses import Address
from agent.net.invitation import KEEPER_BYTES, SECRET_BYTES, Invitation, parse_invitation
from installers.making.locked import MakingError
from installers.making.setups import ENTRIES, OFFERED, _files_for_wix, _for_nsis, _for_wix
from installers.making.windows import Python, _members, described, pack
from installers.windows import administer
from installers.windows.administer import lay_down, rule, serve, serve_no_more, with_folder

EPOCH_S = 1_700_000_000
FOLDER = r"C:\Program Files\Wingbeat"
INVITATION = Invitation(
    "a" * 26,
    bytes(KEEPER_BYTES),
    bytes(SECRET_BYTES),
    2**32 - 1,
    (Address("192.0.2.7", 29464),),
)


def archive(folder: Path) -> Python:
    """An embeddable Python as the package index has it: a zip file in a packed source."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr("cp313/python.exe", "program")
        packed.writestr("cp313/deeper/python.exe", "another")
        packed.writestr("cp312/python.exe", "older")
    file = folder / "python.tar.gz"
    with tarfile.open(file, "w:gz") as tarred:
        told = tarfile.TarInfo("source/data.zip")
        told.size = len(inner.getvalue())
        tarred.addfile(told, io.BytesIO(inner.getvalue()))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Python(file.as_uri(), digest, "3.13.2", [["source/data.zip", "cp313/"]])


def test_a_python_is_taken_by_its_hash_from_what_it_is_packed_in(tmp_path: Path) -> None:
    python = archive(tmp_path)
    assert list(_members(python, tmp_path)) == [("python.exe", b"program")]
    (tmp_path / "python.tar.gz").unlink()
    assert list(_members(python, tmp_path)) == [("python.exe", b"program")], "it was kept"
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"something else")
    with pytest.raises(MakingError, match="cannot be had"):
        list(_members(python, tmp_path))


def test_another_python_than_the_named_one_is_refused(tmp_path: Path) -> None:
    python = archive(tmp_path)._replace(sha256="0" * 64)
    with pytest.raises(MakingError, match="has the hash"):
        list(_members(python, tmp_path))
    file = tmp_path / "python.toml"
    file.write_text('url = "https://example.org/python.zip"\n')
    with pytest.raises(MakingError, match="names no Python"):
        described(file)


def test_a_packed_folder_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    made = []
    for turn, names in enumerate((("a", "b/c"), ("b/c", "a"))):
        folder = tmp_path / str(turn) / "folder"
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        pack(folder, tmp_path / str(turn) / "packed.zip", EPOCH_S)
        made.append((tmp_path / str(turn) / "packed.zip").read_bytes())
    assert made[0] == made[1]


def test_setup_and_msi_enter_the_same(tmp_path: Path) -> None:
    entered = re.findall(
        r"""WriteRegStr HKLM "(Software\\Classes.*?)" "(.*?)" (['"])(.*)\3""", _for_nsis()
    )
    by_setup = {(key, name, value.replace("$INSTDIR\\", "*")) for key, name, _, value in entered}
    whole = ET.fromstring(f"<all>{_for_wix()}</all>")
    by_msi = {
        (
            each.attrib["Key"],
            each.get("Name", ""),
            each.attrib["Value"].replace("[INSTALLDIR]", "*"),
        )
        for each in whole
    }
    assert by_setup == by_msi
    assert len(by_msi) == len(ENTRIES) + len(OFFERED)
    deleted = _for_nsis().partition("!macro DeleteEntries")[2]
    for key in {each[0] for each in by_setup}:
        top = "\\".join(key.split("\\")[:3])
        assert re.search(rf'DeleteRegKey( /ifempty)? HKLM "{re.escape(top)}"', deleted), key


def test_an_msi_has_each_file_once_and_by_the_same_name_each_time(tmp_path: Path) -> None:
    folder = tmp_path / "windows"
    names = ("python.exe", "Lib/a & b.py", "Lib/deeper/a & b.py")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    told = _files_for_wix(folder, tmp_path)
    files = [each for each in ET.fromstring(told).iter() if each.tag.endswith("File")]
    assert sorted(each.attrib["Source"] for each in files) == sorted(
        f"windows/{each}" for each in names
    )
    assert len({each.attrib["Id"] for each in files}) == len(names)
    assert "python_exe" in {each.attrib["Id"] for each in files}, "its actions are run by that one"
    assert _files_for_wix(folder, tmp_path) == told


def test_what_an_administrator_says_is_laid_down_for_administrators_to_change(
    tmp_path: Path,
) -> None:
    ran: list[Sequence[str]] = []
    folder, file = tmp_path / "ProgramData" / "Wingbeat", tmp_path / "office.txt"
    file.write_text(INVITATION.file.decode(), "utf-16")  # PowerShell's `>` writes that
    nothing = argparse.Namespace(invitation="", help_others="")
    lay_down(nothing, folder, ran.append)
    assert not folder.exists()
    lay_down(argparse.Namespace(invitation=str(file), help_others="idle"), folder, ran.append)
    laid_down = (folder / "invitation").read_bytes().decode("utf-8", "replace")
    assert parse_invitation(laid_down) == INVITATION, "as an agent reads it"
    settings = folder / "settings.toml"
    assert settings.read_text("utf-8") == 'volunteer = "when idle"\n'
    settings.write_text('\ufeffslots = 2  # ours\nvolunteer = "when idle"\n', "utf-8")
    lay_down(argparse.Namespace(invitation="", help_others="never"), folder, ran.append)
    assert settings.read_text("utf-8") == 'slots = 2  # ours\nvolunteer = "not now"\n'
    rights = [each for each in ran if "/inheritance:r" in each]
    assert [word for word in rights[0] if word.startswith("*S-1-5-32-545")] == [
        "*S-1-5-32-545:(OI)(CI)RX"
    ], "everybody may read, and no more"
    assert (folder / "invitation").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("there", [False, True])
def test_a_service_is_entered_once_under_an_account_that_owns_one_folder(
    there: bool, tmp_path: Path
) -> None:
    ran: list[Sequence[str]] = []

    def run(words: Sequence[str]) -> int:
        ran.append(words)
        return 0 if words[:2] != ["sc", "query"] or there else 1060

    serve(tmp_path / "own", tmp_path / "Wingbeat", run)
    acts = [each[1] for each in ran if each[0] == "sc"]
    assert acts == ["query", "config" if there else "create", *acts[2:-1], "start"]
    entered = next(each for each in ran if each[1] == acts[1])
    assert entered[entered.index("obj=") + 1] == r"NT SERVICE\Wingbeat"
    program = entered[entered.index("binPath=") + 1]
    assert program == f'"{tmp_path / "own" / "wingbeat-service.exe"}"', "a path with spaces"
    account = service_identifier("Wingbeat")
    granted = [each[1] for each in ran if any(account in word for word in each)]
    assert granted == [str(tmp_path / "Wingbeat" / "service")], "and nothing else is theirs"
    ran.clear()
    serve_no_more(run)
    assert ["sc", "delete", "Wingbeat"] in ran or not there


def test_a_service_that_windows_refuses_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROGRAMDATA", str(tmp_path))
    monkeypatch.setattr(administer, "_run", lambda words: 5 if words[0] == "sc" else 0)
    assert administer.main(["lay-down", "--service=1"]) == 1
    assert "Windows enters no service (sc create says 5)" in capsys.readouterr().err


def test_what_others_have_laid_down_before_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a file of theirs in a folder that counts is not made the administrators'."""
    folder = tmp_path / "Wingbeat"
    folder.mkdir()
    (folder / "policy.toml").write_text('volunteer = "always"')
    ran: list[Sequence[str]] = []
    monkeypatch.setattr(administer, "is_ours", lambda path: path != folder and path.exists())
    told = argparse.Namespace(invitation="", help_others="idle")
    lay_down(told, folder, ran.append)
    assert [each.name for each in folder.iterdir()] == ["settings.toml"]
    assert len(list(tmp_path.glob("Wingbeat.*/policy.toml"))) == 1
    monkeypatch.setattr(administer, "is_ours", lambda path: path == folder)
    (folder / "policy.toml").write_text('volunteer = "always"')
    (folder / "settings.toml").write_text("slots = 64")
    ran.clear()
    lay_down(told, folder, ran.append)
    assert "slots" not in (folder / "settings.toml").read_text()
    assert not [each for each in ran if "/t" in each or str(folder / "policy.toml") in each]


def test_settings_that_cannot_be_read_are_left_as_they_are_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROGRAMDATA", str(tmp_path))
    monkeypatch.setattr(administer, "_run", lambda _: 0)
    settings = tmp_path / "Wingbeat/settings.toml"
    settings.parent.mkdir()
    settings.write_text("slots = \n")
    assert administer.main(["lay-down", "--help-others=idle"]) == 1
    assert capsys.readouterr().err.startswith(f"{settings} is not TOML: ")
    assert settings.read_text() == "slots = \n"


def test_a_search_path_gets_the_folder_once_and_keeps_all_else() -> None:
    path = r"%SystemRoot%\system32;C:\Tools\;"
    once = with_folder(path, FOLDER, there=True)
    assert once == rf"%SystemRoot%\system32;C:\Tools\;{FOLDER}"
    assert with_folder(once, FOLDER.upper(), there=True).lower() == once.lower()
    assert with_folder(once + "\\", FOLDER, there=False) == r"%SystemRoot%\system32;C:\Tools" + "\\"
    assert with_folder(path, FOLDER, there=False) == path
    assert with_folder("", FOLDER, there=True) == FOLDER
    assert rule("delete")[-1] == "name=Wingbeat"


def test_a_purge_deletes_the_store_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored contents are read-only, and Windows refuses to delete such a file."""
    stored = tmp_path / "Wingbeat" / "service" / "objects" / "1c86"
    stored.parent.mkdir(parents=True)
    stored.write_text("x")
    stored.chmod(0o444)
    unlink = os.unlink

    def as_windows_does(path: Any, **told: Any) -> None:
        if not stored.stat().st_mode & 0o200:
            raise PermissionError(path)
        unlink(path, **told)

    monkeypatch.setattr(os, "unlink", as_windows_does)
    commands: list[list[str]] = []
    administer.purge(tmp_path / "Wingbeat", lambda words: commands.append(list(words)))
    assert list(tmp_path.iterdir()) == []
    assert [each[0] for each in commands] == ["icacls", "icacls"]
