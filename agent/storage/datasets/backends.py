"""The back end that a URL names."""

from __future__ import annotations

from agent.storage.datasets.backend import Backend

EMBEDDED = "embedded"
POSTGRESQL = ("postgresql://", "postgres://")


def open_backend(url: str) -> Backend | None:
    """Open the back end that a URL names; return None when results stay on the nodes themselves.
    Raise ``BackendError`` for a URL that cannot be used."""
    if url in ("", EMBEDDED):
        return None
    if url.startswith(POSTGRESQL):
        from agent.storage.datasets.backend_postgresql import PostgresqlBackend

        return PostgresqlBackend(url)
    from agent.storage.datasets.backend_folder import FolderBackend

    return FolderBackend(url)
