"""What a program finds around it, before it is started."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.execution.scratch import Scratch
from agent.protocol.effects import StartChild
from agent.protocol.records import TaskSpec
from tests.driver.worlds import RUN


def test_what_python_prints_is_utf_8_on_every_system(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, None)
    effect = StartChild("t", RUN, TaskSpec("t", "t", "tell"), ())
    told = asyncio.run(scratch.environment(effect, {}))
    assert told["PYTHONUTF8"] == "1"
    told = asyncio.run(scratch.environment(effect, {"PYTHONUTF8": "0"}))
    assert told["PYTHONUTF8"] == "0", "who decides otherwise is heard"
