"""This node's identity: a key made here that never leaves, and the flock's certificate for it.

Four files in one private folder say who a node is. The certificate is written last, so that a
node killed while joining is one that has not joined, with the key that it asked with: asking
again with it does not use up an invitation twice. A folder whose files do not fit each other is
named in a sentence and never mended by guessing, because the guess might be another flock's.

====================  ==================================================================
``identity.key``      the key; made before anything is asked
``authority.crt``     the flock's authority
``roster``            who belongs (see ``roster``)
``identity.crt``      the certificate; once it is there, the node is a member
``authority.key``     on keepers only: the key, or that it is in the key store
====================  ==================================================================
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent.api.errors import MembershipError
from agent.host.key_store import KeyStore
from agent.host.private_files import FileGuard, PrivateFolder
from agent.net import certificates
from agent.net.authority import Authority, Flock
from agent.net.certificates import Member, PrivateKey

KEY_FILE = "identity.key"
CERTIFICATE_FILE = "identity.crt"
FLOCK_FILE = "authority.crt"
AUTHORITY_KEY_FILE = "authority.key"

_IN_STORE = b"in the key store of this account\n"

log = logging.getLogger(__name__)
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this node is: its key, its flock and its certificate."""

    key: PrivateKey
    flock: Flock
    member: Member

    @property
    def node_id(self) -> str:
        """The name of this node in every message."""
        return self.member.node_id


@dataclass(frozen=True, slots=True)
class IdentityPaths:
    """Where TLS finds what it presents."""

    certificate: Path
    key: Path


def paths_in(folder: PrivateFolder) -> IdentityPaths:
    """Return the files that TLS loads."""
    return IdentityPaths(folder.path / CERTIFICATE_FILE, folder.path / KEY_FILE)


def load_identity(folder: PrivateFolder) -> Identity | None:
    """Return who this node is, by the files in the folder; None before it belongs to a flock. Raise
    ``MembershipError`` when files are missing, damaged, open to other accounts or do not belong
    together."""
    member = read_named(folder, CERTIFICATE_FILE, _member_in)
    if member is None:
        return None
    key = read_named(folder, KEY_FILE, certificates.read_private)
    flock = read_named(folder, FLOCK_FILE, _flock_in)
    if key is None or flock is None:
        missing = folder.path / (KEY_FILE if key is None else FLOCK_FILE)
        raise MembershipError(f"{missing} is missing: {_cure(folder)}")
    if certificates.node_id_of(key.public_key()) != member.node_id:
        raise _foreign(folder, CERTIFICATE_FILE, f"is not for the key in {KEY_FILE}")
    if not flock.has_issued(member.certificate):
        raise _foreign(folder, CERTIFICATE_FILE, f"is not of the authority in {FLOCK_FILE}")
    return Identity(key, flock, member)


class IdentityFolder(PrivateFolder):
    """Where a node keeps who it is. The authority's key belongs into the ``store`` of the system, where
    there is one."""

    def __init__(
        self, path: Path, guard: FileGuard | None = None, store: KeyStore | None = None
    ) -> None:
        super().__init__(path, guard)
        self.store = store


class AuthorityFile:
    """The authority's key on a keeper: in the system's store of keys where the folder has one, else in
    a file; the file says which."""

    def __init__(self, folder: IdentityFolder, flock: Flock) -> None:
        self._folder, self._flock, self._store = folder, flock, folder.store
        self.in_clear = False
        """It lies in a file that this account alone can read, as it is."""
        self.locked = ""
        """Why the system does not give it; empty when it does."""

    @property
    def _name(self) -> str:
        return f"authority of {self._flock.flock_id}"

    def load(self) -> Authority | None:
        """Return the flock's authority, None where this node is no keeper, or the system does not
        give the key now (``locked`` says why then); raise ``MembershipError`` for a file that is
        wrong."""
        return read_named(self._folder, AUTHORITY_KEY_FILE, self._read)

    def save(self, authority: Authority) -> None:
        """Keep the key, which makes this node a keeper: in the system's store or, where there is none
        or it refuses, in a file, in clear. Raise ``NotKeptError`` when the disk refuses."""
        content, self.in_clear, self.locked = authority.key_file, True, ""
        if self._store is not None:
            try:
                self._store.put(self._name, content)
                content, self.in_clear = _IN_STORE, False
            except (OSError, MembershipError) as error:
                log.info("the flock's key goes into a file: %s", error)
        self._folder.write(AUTHORITY_KEY_FILE, content)

    def remove(self) -> None:
        """Forget the key, if there is one; a store that refuses is logged, and the key stays there.
        Raise ``MembershipError`` when the file cannot be removed."""
        if self._store is not None and not self.in_clear:
            try:
                self._store.remove(self._name)
            except (OSError, MembershipError) as error:
                log.warning("the flock's key stays in the key store: %s", error)
        self._folder.remove(AUTHORITY_KEY_FILE)

    def _read(self, content: bytes) -> Authority | None:
        self.in_clear, self.locked = content != _IN_STORE, ""
        if self.in_clear:
            return Authority.read(self._flock, content)
        try:
            if self._store is None:
                raise OSError("this agent uses no key store")
            return Authority.read(self._flock, self._store.get(self._name))
        except OSError as error:
            self.locked = str(error)
            return None


def own_key(folder: PrivateFolder) -> PrivateKey:
    """Return this node's private key, made and saved now if there is none yet; the folder has to be
    prepared. Raise ``MembershipError`` when it cannot be read or saved."""
    key = read_named(folder, KEY_FILE, certificates.read_private)
    if key is None:
        key = certificates.new_key()
        folder.write(KEY_FILE, certificates.private_bytes(key))
    return key


def node_id_in(path: Path) -> str:
    """Return the id of the node whose identity lies in this folder, a digest of its key; folder and
    key are made if there are none. Raise ``MembershipError`` when they cannot be made or read."""
    folder = PrivateFolder(path)
    folder.prepare()
    return certificates.node_id_of(own_key(folder).public_key())


def save_flock(folder: PrivateFolder, flock: Flock) -> None:
    """Save the certificate of the flock's authority in place of an earlier one; raise
    ``NotKeptError`` when the disk refuses."""
    folder.write(FLOCK_FILE, certificates.to_pem(flock.der))


def save_certificate(folder: PrivateFolder, member: Member) -> None:
    """Save this node's certificate, which makes it a member; raise ``NotKeptError`` when the disk
    refuses."""
    folder.write(CERTIFICATE_FILE, certificates.to_pem(member.certificate))


def remove_identity(folder: PrivateFolder) -> None:
    """Remove certificate, keys and flock from the folder, not the roster, so that another flock gets
    another node; files that are missing are passed over. Raise ``MembershipError`` at the first that
    cannot be removed; those before it are gone."""
    for name in (CERTIFICATE_FILE, AUTHORITY_KEY_FILE, KEY_FILE, FLOCK_FILE):
        folder.remove(name)


def read_named(folder: PrivateFolder, name: str, parse: Callable[[bytes], _Read]) -> _Read | None:
    """Read a file of the folder and return what ``parse`` makes of it, None without the file; raise
    ``MembershipError`` that names file and cure when it cannot be read or its content is wrong."""
    data = folder.read(name)
    if data is None:
        return None
    try:
        return parse(data)
    except MembershipError as error:
        raise _foreign(folder, name, str(error)) from error


def _cure(folder: PrivateFolder) -> str:
    """No agent starts on what cannot be read, so none can be asked to leave either."""
    return (
        f"restore it from a backup, or move the folder {folder.path} away and join the flock "
        f"again with a new invitation"
    )


def _member_in(pem: bytes) -> Member:
    return certificates.member_of(certificates.from_pem(pem))


def _flock_in(pem: bytes) -> Flock:
    return Flock.read(certificates.from_pem(pem))


def _foreign(folder: PrivateFolder, name: str, complaint: str) -> MembershipError:
    return MembershipError(f"{folder.path / name} {complaint}: {_cure(folder)}")
