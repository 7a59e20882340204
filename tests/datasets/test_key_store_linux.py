"""A real keyring on a session bus of its own keeps values; without one, and locked, that is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the session bus is Linux's", allow_module_level=True)

from agent.host.key_store_linux import SecretService

REPOSITORY = Path(__file__).parents[2]
KEEPS = """
from agent.host.key_store_linux import SecretService
own, other = SecretService("/one"), SecretService("/another")
own.put("db", b"first")
own.put("db", b"second\\0\\xff")
print(own.get("db"))
for store in (other, own):
    own.remove("db") if store is own else None
    try:
        print("FOUND", store.get("db"))
    except OSError as error:
        print(error)
"""
REFUSES = """
from agent.host.key_store_linux import SecretService
try:
    SecretService("/one").put("db", b"x")
except OSError as error:
    print(error)
"""
OPENS = """printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null
until dbus-send --session --print-reply --dest=org.freedesktop.DBus / \\
    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q 'boolean true'
do sleep 0.02; done"""
"""The daemon returns before it is on the bus."""
GONE = "the key store of this account has no db, or is locked"


def on_a_bus(folder: Path, script: str, before: str = ":") -> str:
    """What a script prints on a session bus of its own, after this."""
    for tool in ("dbus-run-session", "dbus-send", "gnome-keyring-daemon"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    try:
        subprocess.run(["gnome-keyring-daemon", "--version"], check=True, capture_output=True)
    except PermissionError:  # it carries a capability that a container may not have
        pytest.skip("gnome-keyring-daemon may not be started in this container")
    folder.chmod(0o700)
    words = f'{before}\nexec "$0" -c "$1"'
    done = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", words, sys.executable, script],
        cwd=REPOSITORY,
        env={**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


def test_values_are_kept_replaced_and_deleted_apart_from_those_of_others(tmp_path: Path) -> None:
    told = on_a_bus(tmp_path, KEEPS, OPENS)
    assert told == f"b'second\\x00\\xff'\n{GONE}\n{GONE}\n"


def test_where_no_keyring_runs_none_is_started(tmp_path: Path) -> None:
    assert on_a_bus(tmp_path, REFUSES) == "this account has no key store that runs\n"


def test_without_a_bus_that_is_said(tmp_path: Path) -> None:
    store = SecretService("/one", f"unix:path={tmp_path}/nowhere")
    with pytest.raises(OSError, match="there is no session bus"):
        store.put("db", b"x")
