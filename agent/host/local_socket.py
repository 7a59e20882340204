"""Connections between programs of one account on this machine: a socket in a folder, on Windows a pipe.

A socket lies in a folder that nobody else may enter, and the system tells either end which account the
other is. A pipe has an access list (``pipe_windows``); who is at its other end has to be proven.

An agent that is a service listens for everybody on its machine, at a place that all know: the system
tells it who has come, and tells them that it is the service and nobody else.

The name of a socket may have 107 bytes. A longer one is reached by its open folder, so that a home may
lie as deep as it likes. One that a killed process left is replaced by the next, in one step.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from agent.host.private_windows import Caller

PIPES = "\\\\.\\pipe\\"
"""What the name of every pipe begins with."""
NAME_BYTES_MAX = 107
FOR_OWN, FOR_ALL = 0o600, 0o666
WAITING_MAX = 100
"""Connections that the system holds until the loop takes them."""
_FAMILY = getattr(socket, "AF_UNIX", -1)
_CREDENTIALS = struct.Struct("iII")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Arrived = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listening:
    """What programs of this account connect to at ``place``, until ``close``."""

    def __init__(self, place: str, close: Callable[[], None]) -> None:
        self.place, self._close = place, close

    def close(self) -> None:
        """Take nobody any more; connections live on. Can be called again."""
        self._close()
        self._close = lambda: None


async def listen(path: Path, arrived: Arrived) -> Listening:
    """Listen for programs of this account: on a socket at this path, whose folder has to be theirs
    alone, in the place of one that is there; on Windows on a pipe of a name that nobody can guess.
    Raises ``OSError``."""
    if sys.platform == "win32":
        from agent.host.pipe_windows import listen_on_pipe

        place = f"{PIPES}wingbeat-{secrets.token_hex(16)}"
        return Listening(place, listen_on_pipe(place, arrived))
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return await _listen_on_socket(path, arrived)


async def listen_for_all(path: Path, arrived: Arrived) -> Listening:
    """Listen for everybody on this machine: on a socket at this path, in the place of one that is there,
    or on Windows on the pipe of this name. Raises ``OSError``."""
    if sys.platform == "win32":
        from agent.host.pipe_windows import listen_on_pipe

        return Listening(str(path), listen_on_pipe(str(path), arrived, for_all=True))
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return await _listen_on_socket(path, arrived, FOR_ALL)


def is_service_there(path: Path) -> bool:
    """Tell whether a service has its socket or pipe there now; on Windows also that it is the machine's,
    as everybody there can make a pipe of any name. Whether it answers is not looked at."""
    if sys.platform == "win32":
        from agent.host.pipe_windows_api import PipeApi

        return PipeApi().is_of_machine(str(path))
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        with contextlib.suppress(OSError):
            return path.is_socket()
        return False


def service_answers(path: Path, within_s: float) -> bool:
    """Tell whether a service listens at this path and takes clients now; False where it does not
    within ``within_s``. On Windows tell, at once, only whether it is there
    (``is_service_there``)."""
    if sys.platform == "win32":
        return is_service_there(path)
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        with socket.socket(_FAMILY) as calling, contextlib.suppress(OSError):
            calling.settimeout(within_s)
            calling.connect(str(path))
            return True
        return False


def listens(place: str, process: int) -> bool:
    """Tell whether the agent of this account that noted this place and process may still run: on
    Windows whether anything listens at the place; elsewhere whether there is a process of this
    number, which may be another program by now."""
    if sys.platform == "win32":
        from agent.host.pipe_windows_api import PipeApi

        return PipeApi().is_there(place)
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


async def connect(place: str, *, service: bool = False) -> Streams:
    """Connect to who listens at this place, and return the streams. Raise ``OSError`` where nobody
    does; with ``service``, on Windows, also where it is not the machine's."""
    if sys.platform == "win32":
        from agent.host.pipe_windows import open_pipe

        return await open_pipe(place, of_machine=service)
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        calling = socket.socket(_FAMILY, socket.SOCK_STREAM)
        try:
            calling.setblocking(False)
            with reached(Path(place)) as name:
                await asyncio.get_running_loop().sock_connect(calling, name)
            return await asyncio.open_unix_connection(sock=calling)
        except BaseException:
            calling.close()
            raise


def account_of(writer: asyncio.StreamWriter) -> int | None:
    """Return the number of the account at the other end, as the system tells it; None where it
    tells none, because the connection is of another kind."""
    wanted, connection = getattr(socket, "SO_PEERCRED", None), writer.get_extra_info("socket")
    if wanted is None or connection is None or connection.family != _FAMILY:
        return None
    told = connection.getsockopt(socket.SOL_SOCKET, wanted, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(told)[1])


def caller_of(writer: asyncio.StreamWriter) -> int | Caller | None:
    """Return who is at the other end of a connection to a service, as the system tells it: on
    Windows a ``Caller``, elsewhere the number of the account; None where it tells nothing."""
    told = writer.get_extra_info("caller")
    return told if isinstance(told, Caller) else account_of(writer)


@contextlib.contextmanager
def reached(path: Path) -> Iterator[str]:
    """Yield a name by which a socket at this path can be made or called: on Linux however long the
    path is, elsewhere the path as it is. Raise ``OSError`` where the path is too long and its
    folder cannot be opened."""
    if len(os.fsencode(path)) <= NAME_BYTES_MAX or not sys.platform.startswith("linux"):
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


async def _listen_on_socket(path: Path, arrived: Arrived, mode: int = FOR_OWN) -> Listening:
    """Made under another name first, so that who calls never meets one that does not listen yet."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    own = socket.socket(_FAMILY, socket.SOCK_STREAM)
    try:
        with reached(fresh) as name:
            own.bind(name)
        made = _published(own, fresh, path, mode)
        server = await asyncio.start_unix_server(arrived, sock=own)
    except BaseException:
        own.close()
        fresh.unlink(missing_ok=True)
        raise

    def close() -> None:
        server.close()
        with contextlib.suppress(OSError):
            if path.stat().st_ino == made:  # not a later one's
                path.unlink()

    return Listening(str(path), close)


def _published(own: socket.socket, fresh: Path, path: Path, mode: int) -> int:
    """Begin to listen, take the path, and return what tells this socket from a later one there."""
    fresh.chmod(mode)
    own.listen(WAITING_MAX)
    fresh.replace(path)
    return path.stat().st_ino
