"""A person's desktop tells the agent that is a service of this machine whether they are there.

From any program of theirs that lives as long as the session does, as the tray; in a thread of its own,
because looking may take a moment. Where there is no such agent, or this person has one of their own,
nothing is looked at.
"""

from __future__ import annotations

import logging
import threading

from agent.api.volunteering import AT_HAND
from agent.client.blocking import BlockingClient
from agent.client.errors import ClientError
from agent.client.link import service_of
from agent.paths import Home
from agent.presence.words import Desktop

EVERY_S, LOOK_EVERY_S = 1.0, 5.0

log = logging.getLogger(__name__)


class Attending:
    """Tells the service of this machine of its person's input, from ``start`` to ``stop``."""

    def __init__(self, home: Home) -> None:
        self._home, self._over = home, threading.Event()
        self._thread = threading.Thread(target=self._main, name="attending", daemon=True)

    def start(self) -> None:
        """Begin to look for a service, and to tell it; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Tell nothing more; the thread is not waited for."""
        self._over.set()

    def _main(self) -> None:
        while not self._over.is_set():
            if service_of(self._home) is not None:
                self._tell()
            self._over.wait(LOOK_EVERY_S)

    def _tell(self) -> None:
        desktop = Desktop()
        try:
            with BlockingClient(self._home, "presence") as client:
                while not self._over.wait(EVERY_S) and service_of(self._home) is not None:
                    client.call(AT_HAND, desktop.word())
        except ClientError as error:
            log.info("the service is not told any more who is here: %s", error)
        finally:
            desktop.close()
