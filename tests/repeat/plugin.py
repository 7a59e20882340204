"""The part of ``python -m tests.repeat`` that pytest loads: draws the order, writes down failures.

Folders, files and tests are drawn, each among its own kind, so what is started once for a file or a
folder is still started once. A place follows from the seed and the name alone: every process of a run
draws the same order, and some of the tests keep the order that they had among all.

What is written is one JSON object a line, as it happens, so that a run which crashes has told of
everything before.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TextIO

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("repeat")
    group.addoption("--drawn-order", metavar="SEED", help="run in the order that the seed draws")
    group.addoption("--told-to", metavar="FILE", type=Path, help="where failures are written down")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("told_to")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Witness(path.open("w", encoding="utf-8")))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("drawn_order")
    if seed is not None:
        items.sort(key=lambda item: [_place(seed, each.nodeid) for each in item.listchain()])


def without_group(nodeid: str) -> str:
    """Return the name of a test without what pytest-xdist writes behind it."""
    return nodeid[: nodeid.rfind("@")] if nodeid.rfind("@") > nodeid.rfind("]") else nodeid


def _place(seed: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


class Witness:
    """Writes down which tests began, ended and failed."""

    def __init__(self, paper: TextIO) -> None:
        self._paper = paper

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._tell(began=without_group(nodeid))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._tell(ended=without_group(nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._look_at(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._look_at(report)

    def _look_at(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = report.longreprtext
            first = (crash.message if crash else text).strip().partition("\n")[0]
            sections = [f"--- {name} ---\n{said}" for name, said in report.sections]
            self._tell(
                failed=without_group(report.nodeid), first=first, text="\n".join([text, *sections])
            )

    def _tell(self, **words: str) -> None:
        print(json.dumps(words), file=self._paper, flush=True)
