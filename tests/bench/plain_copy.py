"""The plainest copy over TLS there is, to compare transfers with: one file, one connection.

``python -m tests.bench.plain_copy give CERTIFICATE ADDRESS PORT FILE`` says ``ready`` and gives the
file to whoever comes, again and again; ``… take CERTIFICATE ADDRESS PORT FILE`` writes it to a new
file, flushes that to the disk, and says how many seconds it took. TLS 1.3 as the agents use it.
"""

from __future__ import annotations

import os
import socket
import ssl
import sys
import time
from contextlib import suppress
from pathlib import Path

from agent.net.certificates import private_bytes
from tests.net.flocks import new_authority, new_node

BUFFER_BYTES = 256 * 1024


def make_certificate(path: Path) -> None:
    """A key, its certificate, and that of who has issued it, in one file."""
    authority = new_authority("plain copy")
    node = new_node(authority)
    shown = map(ssl.DER_cert_to_PEM_cert, (node.member.certificate, authority.flock.der))
    path.write_bytes(private_bytes(node.key) + "".join(shown).encode())


def give(certificate: str, address: str, port: int, path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(certificate)
    buffer = memoryview(bytearray(BUFFER_BYTES))
    with socket.create_server((address, port)) as listening:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            plain, _ = listening.accept()
            with context.wrap_socket(plain, server_side=True) as taker, path.open("rb", 0) as file:
                while size := file.readinto(buffer):
                    taker.sendall(buffer[:size])
                with suppress(OSError):  # the other side does not wait for the closing word
                    taker.unwrap()


def take(certificate: str, address: str, port: int, path: Path) -> float:
    """Seconds until all of it is on the disk."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(certificate)
    buffer = memoryview(bytearray(BUFFER_BYTES))
    began_s = time.monotonic()
    with (
        socket.create_connection((address, port)) as plain,
        context.wrap_socket(plain) as giver,
        path.open("xb", 0) as file,
    ):
        while size := giver.recv_into(buffer):
            file.write(buffer[:size])
        os.fsync(file.fileno())
    return time.monotonic() - began_s


def main() -> None:
    what, certificate, address, port, path = sys.argv[1:]
    if what == "give":
        give(certificate, address, int(port), Path(path))
    else:
        sys.stdout.write(f"{take(certificate, address, int(port), Path(path))}\n")


if __name__ == "__main__":
    main()
