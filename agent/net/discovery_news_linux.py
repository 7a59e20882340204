"""The kernel's own words about interfaces and addresses (rtnetlink), read only to know that some came.

The socket is opened at the first question, which is answered with yes: what was before it is not
told. What did not fit into it is lost, and the kernel says so; that is a yes as well. Where such
sockets are forbidden the answer is always yes.
"""

from __future__ import annotations

import socket
import sys

assert sys.platform == "linux"

OF_LINKS, OF_IPV4_ADDRESSES, OF_IPV6_ADDRESSES = 0x1, 0x10, 0x100
"""``RTMGRP_LINK``, ``RTMGRP_IPV4_IFADDR``, ``RTMGRP_IPV6_IFADDR``."""
WORD_BYTES_MAX = 64 * 1024
WORDS_MAX = 1_000
"""Of one answer; who tells more is told of again at the next."""


class NetlinkNews:
    """The kernel's news of addresses, in the network namespace in which it is asked first."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._forbidden = False

    def due(self) -> bool:
        """Tell whether addresses may have changed since this was asked last; True the first time,
        and where the kernel cannot be heard."""
        if self._socket is None:
            self._open()
            return True
        return self._drained(self._socket)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _open(self) -> None:
        if self._forbidden:
            return
        try:
            self._socket = socket.socket(
                socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE
            )
            self._socket.bind((0, OF_LINKS | OF_IPV4_ADDRESSES | OF_IPV6_ADDRESSES))
        except OSError:
            self._forbidden = True
            self.close()

    def _drained(self, told: socket.socket) -> bool:
        """Whether anything was there; all of it is gone now."""
        for number in range(WORDS_MAX):
            try:
                told.recv(WORD_BYTES_MAX)
            except BlockingIOError:
                return number > 0
            except OSError:  # what did not fit is lost
                return True
        return True
