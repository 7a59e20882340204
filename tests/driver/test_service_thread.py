"""A node in a background thread, as a window has it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent.node.agent import Service
from agent.node.facts import AlreadyRunningError, ServiceError
from agent.node.thread import ServiceThread
from tests.driver.nodes import QUIET, home_of, submit
from tests.driver.worlds import LIMIT_S


def test_it_is_started_asked_and_stopped_from_another_thread(tmp_path: Path) -> None:
    thread = ServiceThread(home_of(tmp_path, "ant"), QUIET)
    service = thread.start()
    try:
        names = thread.call(lambda asked: (asked.name, threading.current_thread().name))
        assert names.result(LIMIT_S) == ("ant", "wingbeat")
        moved = threading.Event()
        thread.call(lambda asked: asked.subscribe(lambda _: moved.set())).result(LIMIT_S)
        answer = thread.run(lambda asked: submit(asked, "say TERMINATED")).result(LIMIT_S)
        assert answer.disks == 1
        assert moved.wait(LIMIT_S)
        with pytest.raises(ServiceError, match="belongs to no flock"):
            thread.run(lambda asked: asked.expel("bee")).result(LIMIT_S)
    finally:
        thread.stop("the window was closed")
    assert service.node_id
    thread.stop()
    with pytest.raises(ServiceError, match="does not run"):
        thread.call(_nothing)


def test_why_it_cannot_start_is_raised_where_it_was_asked(tmp_path: Path) -> None:
    first = ServiceThread(home_of(tmp_path, "ant"), QUIET)
    first.start()
    try:
        second = ServiceThread(home_of(tmp_path, "bee", slots=-1), QUIET)
        with pytest.raises(ServiceError, match="slots"):
            second.start()
        second.stop()
        third = ServiceThread(first.call(lambda asked: asked.home).result(LIMIT_S), QUIET)
        with pytest.raises(AlreadyRunningError):
            third.start()
        third.stop()
    finally:
        first.stop()


def test_a_node_that_stops_by_itself_ends_its_thread(tmp_path: Path) -> None:
    thread = ServiceThread(home_of(tmp_path, "ant"), QUIET)
    thread.start()
    thread.run(lambda asked: asked.stop("a fault")).result(LIMIT_S)
    thread.stop()
    assert "wingbeat" not in [each.name for each in threading.enumerate()]


def test_what_was_never_started_is_not_asked(tmp_path: Path) -> None:
    thread = ServiceThread(home_of(tmp_path, "ant"), QUIET)
    with pytest.raises(ServiceError, match="start it first"):
        thread.call(_nothing)
    thread.stop()


def _nothing(service: Service) -> None:
    del service
