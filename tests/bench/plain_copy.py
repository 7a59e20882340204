"""The plainest copy over TLS there is, to compare transfers with: one file, one connection.

``python -m tests.bench.plain_copy give CERTIFICATE ADDRESS PORT FILE`` says ``ready`` and gives the
file to whoever comes, again and again; ``… take CERTIFICATE ADDRESS PORT FILE`` writes it to a new
file, flushes that to the disk, and says how many seconds it took. TLS 1.3 as the agents use it.
"""

from __future__ import annotations

import datetime as dt
import os
import socket
import ssl
import sys
import time
from contextlib import suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

BUFFER_BYTES = 256 * 1024


def make_certificate(path: Path) -> None:
    """Key and certificate in one file, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "plain copy")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + certificate.public_bytes(Encoding.PEM))


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
