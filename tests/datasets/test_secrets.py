"""Values of secrets: in the system's store, else in a private file, else an administrator's; by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agent.api.errors import ServiceError
from agent.api.secrets import SecretView
from agent.data.secrets import SecretValues
from agent.host.key_store_windows import ProtectedFiles
from tests.control.key_store import FakeStore

VALUE = b"correct horse battery staple"


def everything_below(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


def test_a_value_lies_in_the_store_and_nowhere_else(tmp_path: Path) -> None:
    store, told = FakeStore(), list[str]()
    secrets = SecretValues(tmp_path / "secrets", store, None)
    secrets.changed = lambda: told.append("changed")
    secrets.load()
    assert not secrets.has("db")
    assert secrets.set("db", VALUE) == SecretView("db", "key store")
    assert (secrets.get("db"), secrets.has("db"), told) == (VALUE, True, ["changed"])
    assert VALUE not in everything_below(tmp_path)
    again = SecretValues(tmp_path / "secrets", store, None)
    again.load()
    assert again.listing() == (SecretView("db", "key store"),)
    again.forget("db")
    assert (again.has("db"), store.held) == (False, {})


def test_without_a_store_it_lies_in_a_file_of_this_account_alone(tmp_path: Path) -> None:
    secrets = SecretValues(tmp_path / "secrets", FakeStore("there is no session bus"), None)
    secrets.load()
    assert secrets.set("db", VALUE) == SecretView("db", "file")
    assert secrets.get("db") == VALUE
    if sys.platform != "win32":
        modes = [each.stat().st_mode & 0o777 for each in (tmp_path / "secrets").iterdir()]
        assert modes == [0o600, 0o600]
    (tmp_path / "secrets" / "db").unlink()
    with pytest.raises(OSError, match="the file of the secret db is gone"):
        secrets.get("db")
    secrets.forget("db")
    with pytest.raises(ServiceError, match="The secret db is not here"):
        secrets.forget("db")
    with pytest.raises(OSError, match="the secret db is not here"):
        secrets.get("db")


def test_a_value_that_moves_into_the_store_leaves_no_file(tmp_path: Path) -> None:
    store = FakeStore("locked")
    secrets = SecretValues(tmp_path / "secrets", store, None)
    secrets.set("db", VALUE)
    store.broken = ""
    assert secrets.set("db", VALUE).place == "key store"
    assert VALUE not in everything_below(tmp_path)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="root lays it down")
def test_an_administrator_gives_one_to_all_and_nobody_else_does(tmp_path: Path) -> None:
    laid_down = tmp_path / "etc"
    laid_down.mkdir()
    for name in ("db", "open", "not a name"):
        (laid_down / name).write_bytes(VALUE)
    (laid_down / "open").chmod(0o666)
    secrets = SecretValues(tmp_path / "secrets", FakeStore(), laid_down)
    secrets.load()
    assert secrets.listing() == (SecretView("db", "machine"),)
    assert secrets.get("db") == VALUE
    with pytest.raises(ServiceError, match="The secret db is an administrator's"):
        secrets.forget("db")
    secrets.set("db", b"own")
    assert (secrets.get("db"), secrets.listing()) == (b"own", (SecretView("db", "key store"),))


@pytest.mark.parametrize("index", ["{", '{"../up": "file"}', '{"db": "elsewhere"}'])
def test_an_index_that_cannot_be_read_names_nothing(tmp_path: Path, index: str) -> None:
    secrets = SecretValues(tmp_path / "secrets", FakeStore("no"), None)
    secrets.set("db", VALUE)
    (tmp_path / "secrets" / ".index").write_text(index)
    secrets.load()
    assert secrets.listing() == ()


def test_windows_keeps_only_what_is_protected(tmp_path: Path) -> None:
    files = ProtectedFiles(tmp_path / "keys", (lambda each: each[::-1], lambda each: each[::-1]))
    files.put("db", VALUE)
    assert files.get("db") == VALUE
    assert VALUE not in everything_below(tmp_path)
    files.remove("db")
    with pytest.raises(OSError, match="there is no protected db"):
        files.get("db")
