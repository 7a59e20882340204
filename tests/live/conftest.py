"""The mark that leaves the live tests out: ``pytest -m "not live"``."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "live: real agents as processes on hosts of their own")
