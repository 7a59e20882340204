"""TLS as all connections of a node use it, and who is at the other end.

TLS 1.3 only; the flock's authority is the only one that is trusted; both ends show a certificate.
Host names are not checked, because addresses change: a member is known by its key, so whoever
dials compares the node id that ``peer_of`` returns with the one that it wanted.

One port serves all, and ALPN says what a connection is for. A machine that wants to join has no
certificate yet, and a TLS server decides whether to ask for one before it can look at ALPN. Of
the ways out, selecting a second context by SNI fails quietly: OpenSSL takes over the certificate
of the selected context but not its verification. So

* a node that cannot admit anybody requires certificates in the handshake, of everybody;
* a keeper requests them: a certificate that is shown is verified in the handshake, a missing one
  is let through to ``arrival_of``, which refuses it for every protocol but joining.

``arrival_of`` is called once, right after the handshake and before a byte is read; it is what
tells for what a connection came, so that a server cannot serve one without asking it. It also
applies what OpenSSL does not know: expulsions. Links that stay up ask the roster again when it
changes, and now and then, because certificates end.

There are no session tickets: a resumed session shows no certificate, and an expelled member must
not come back by one. Server and client contexts load the key from the same files; after a
renewal ``refresh`` makes new connections use the new certificate while old ones go on.
"""

from __future__ import annotations

import ssl
from typing import assert_never

from msgspec import Struct

from agent.net.authority import Flock
from agent.net.certificates import Member, member_of
from agent.net.identity import IdentityPaths
from agent.net.roster import Roster
from agent.protocol.link_reasons import NoLink

LINK = "wingbeat/1"
BULK = "wingbeat-bulk/1"
CLIENT = "wingbeat-client/1"
JOIN = "wingbeat-join/1"
MEMBER_PROTOCOLS = (LINK, BULK, CLIENT)
# No name is sent, so none is asked for; asyncio wants to be told so.
NO_SERVER_NAME = ""

TlsObject = ssl.SSLObject | ssl.SSLSocket


class Arrival(Struct, frozen=True):
    """A connection that was let in: for what, and from whom. Only a newcomer is nobody yet."""

    protocol: str
    member: Member | None


class TlsContexts:
    """The TLS contexts of one member, for listening and for dialling."""

    def __init__(self, flock: Flock, paths: IdentityPaths, *, keeper: bool) -> None:
        self._flock = flock
        self._paths = paths
        self.server = server_context(flock, paths, keeper=keeper)
        self._clients: dict[str, ssl.SSLContext] = {}

    def client(self, protocol: str) -> ssl.SSLContext:
        """Return the context to dial with by this protocol, made at the first call and the same one
        each time. Pass ``server_hostname=NO_SERVER_NAME``. Raise ``OSError`` when this node's files
        cannot be read."""
        if protocol not in self._clients:
            self._clients[protocol] = client_context(self._flock, self._paths, protocol)
        return self._clients[protocol]

    def refresh(self, *, keeper: bool) -> None:
        """Take a renewed certificate, or what a new keeper may do, into use for connections made
        from now on, by reading the files again; raise ``OSError`` when that fails."""
        for context in (self.server, *self._clients.values()):
            _present(context, self._paths)
        _offer(self.server, keeper=keeper)


def server_context(flock: Flock, paths: IdentityPaths, *, keeper: bool) -> ssl.SSLContext:
    """Return the TLS context for connections that others dial, which asks them for a certificate of
    this flock; for a ``keeper`` it also offers joining, and lets those in who show none. Raise
    ``OSError`` when this node's files cannot be read."""
    context = _bare(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    context.load_verify_locations(cadata=flock.der)
    _present(context, paths)
    _offer(context, keeper=keeper)
    return context


def client_context(flock: Flock, paths: IdentityPaths | None, protocol: str) -> ssl.SSLContext:
    """Return the TLS context for dialling members of this flock by this protocol; for ``paths``
    None, as one who has no certificate yet. Raise ``OSError`` when the files cannot be read or are
    no certificate and key."""
    context = _bare(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=flock.der)
    context.set_alpn_protocols([protocol])
    if paths is not None:
        _present(context, paths)
    return context


def unverified_context() -> ssl.SSLContext:
    """Return the TLS context for asking a stranger for its authority's certificate, which proves
    itself by its hash; nothing is verified."""
    context = _bare(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([JOIN])
    return context


def arrival_of(tls: TlsObject | None, roster: Roster) -> Arrival | NoLink:
    """Return who has dialled, and by which protocol, or why that is refused. The member is None for
    who wants to join and shows no certificate; a certificate that is shown must be a member's."""
    if tls is None:
        return NoLink("NoTls")
    protocol = tls.selected_alpn_protocol()
    if protocol == JOIN and tls.getpeercert(binary_form=True) is None:
        return Arrival(JOIN, None)
    if protocol not in (*MEMBER_PROTOCOLS, JOIN):
        return NoLink("NoKnownProtocol")
    peer = peer_of(tls, roster)
    match peer:
        case Member():
            return Arrival(protocol, peer)
        case NoLink():
            return peer
        case _:
            assert_never(peer)


def peer_of(tls: TlsObject | None, roster: Roster) -> Member | NoLink:
    """Return the member at the other end, whichever end dialled, or why it is not accepted as one,
    such as a certificate that is missing, has ended or was expelled, or that there is no TLS
    (None)."""
    certificate = tls.getpeercert(binary_form=True) if tls is not None else None
    if tls is None or certificate is None:
        return NoLink("ShowsNoCertificate")
    if tls.version() != "TLSv1.3" or tls.selected_alpn_protocol() is None:
        return NoLink("NoKnownProtocol")
    return roster.objection_to(certificate) or member_of(certificate)


def _bare(side: ssl._SSLMethod) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


def _present(context: ssl.SSLContext, paths: IdentityPaths) -> None:
    context.load_cert_chain(paths.certificate, paths.key)


def _offer(context: ssl.SSLContext, *, keeper: bool) -> None:
    """Strict unless this node can admit newcomers."""
    context.verify_mode = ssl.CERT_OPTIONAL if keeper else ssl.CERT_REQUIRED
    context.set_alpn_protocols([*MEMBER_PROTOCOLS, JOIN] if keeper else [*MEMBER_PROTOCOLS])
