"""A server with a fake node behind it, for attacks at its door."""

from __future__ import annotations

from tests.control.conftest import there

__all__ = ["there"]
