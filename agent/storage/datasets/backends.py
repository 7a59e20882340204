"""The back end that a URL names."""

from __future__ import annotations

from agent.storage.datasets.backend import Backend

EMBEDDED = "embedded"
POSTGRESQL = ("postgresql://", "postgres://")


def open_backend(url: str) -> Backend | None:
    """The one that a URL names; ``None`` for the nodes themselves. Raises ``BackendError``."""
    if url in ("", EMBEDDED):
        return None
    if url.startswith(POSTGRESQL):
        from agent.storage.datasets.backend_postgresql import PostgresqlBackend

        return PostgresqlBackend(url)
    from agent.storage.datasets.backend_folder import FolderBackend

    return FolderBackend(url)
