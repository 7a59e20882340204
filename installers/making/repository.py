"""A flat, signed apt repository of the packages: one folder, to be put on any web server or share.

Who installs from it trusts the key that has signed it. A release is signed by a key of the person who
makes it, in whose keyring it is; trials by one that is made for them, which nobody should trust.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from installers.making.locked import MakingError

VARIABLE = "WINGBEAT_SIGNING_KEY"
"""Names the key of a release, as gpg knows it."""
TEST_KEY, TEST_NAME = "test-signing-key.asc", "Wingbeat, for trials only"
TEST_KEY_MADE = "20100101T000000!"
"""Older than any commit, so that all that is signed by it is younger than the key."""
HEAD = """\
Origin: Wingbeat
Label: Wingbeat
Suite: stable
Codename: wingbeat
Date: {date}
Architectures: amd64
Description: Wingbeat for Debian 12 and 13 and Ubuntu 24.04
SHA256:
 {hash} {size} Packages
"""


def make_repository(folder: Path, debs: list[Path], work: Path, seconds: int) -> None:
    """Make the repository of these packages in the folder, which is not there yet; a key for trials
    is kept in ``work``. Raises ``MakingError``."""
    if not shutil.which("gpg"):
        raise MakingError("gpg is missing, which signs the apt repository: apt-get install gnupg")
    folder.mkdir()
    for deb in debs:
        os.link(deb, folder / deb.name)
    packages = "\n".join(map(_entry, debs)).encode()
    (folder / "Packages").write_bytes(packages)
    date = datetime.fromtimestamp(seconds, UTC).strftime("%a, %d %b %Y %H:%M:%S UTC")
    told = {"hash": hashlib.sha256(packages).hexdigest(), "size": len(packages), "date": date}
    (folder / "Release").write_text(HEAD.format(**told), "utf-8")
    with _signing(work) as gpg:
        release = str(folder / "Release")
        faked = f"--faked-system-time={seconds}!"
        signed = _run(*gpg, faked, "--clearsign", "--digest-algo", "SHA512", "-o-", release)
        (folder / "InRelease").write_bytes(signed)
        name = os.environ.get(VARIABLE, TEST_NAME)
        key = _run(*gpg, "--armor", "--export-options", "export-minimal", "--export", name)
        (folder / "wingbeat.asc").write_bytes(key)


def _entry(deb: Path) -> str:
    """What a package says of itself, and where and what it is."""
    control = _run("dpkg-deb", "-f", str(deb)).decode()
    digest = hashlib.sha256(deb.read_bytes()).hexdigest()
    return f"{control}Filename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n"


@contextmanager
def _signing(work: Path) -> Iterator[list[str]]:
    """gpg with the key to sign with."""
    gpg = ["gpg", "--batch", "--yes", "--quiet"]
    if name := os.environ.get(VARIABLE):
        yield [*gpg, "--local-user", name]
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as home:  # the path of a socket is short
        gpg += ["--homedir", home]
        try:
            _bring_test_key(gpg, work / TEST_KEY)
            yield gpg
        finally:
            _run("gpgconf", "--homedir", home, "--kill", "all")


def _bring_test_key(gpg: list[str], kept: Path) -> None:
    """Into a new keyring, made the first time: the same key signs the same way again."""
    if kept.exists():
        _run(*gpg, "--import", str(kept))
        return
    made = [f"--faked-system-time={TEST_KEY_MADE}", "--passphrase", "", "--quick-gen-key"]
    _run(*gpg, *made, TEST_NAME, "ed25519", "sign", "never")
    kept.write_bytes(_run(*gpg, "--armor", "--export-secret-keys", TEST_NAME))


def _run(*words: str) -> bytes:
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise MakingError(f"the apt repository cannot be made: {words[0]} says {said}")
    return done.stdout
