"""A data folder that was copied to a second machine: real agents say so, and what to do."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

from agent.commands import exits
from tests.agent.processes import WITHIN_S, Machine
from tests.hosts.waiting import wait_for

CURE = "delete its data folder"


def _findings(machine: Machine) -> str:
    ran = machine.run("doctor")
    assert ran.code in (exits.DONE, exits.FAILED), ran
    return ran.out


def test_two_machines_of_one_identity_are_told_of_and_told_apart_from_one(tmp_path: Path) -> None:
    alder, birch, copy = (Machine(tmp_path / name) for name in ("alder", "birch", "copy"))
    with ExitStack() as stack:
        stack.enter_context(alder.agent("--name", "alder", "--port", "0"))
        with birch.agent("--name", "birch", "--port", "0"):
            alder.said("flock", "create", "meadow")
            birch.said("flock", "join", alder.answer("flock", "invite")["text"])
            wait_for(lambda: "1 of 1 other linked" in birch.said("peers"), WITHIN_S, "a link")
            birch.said("stop")
        shutil.copytree(birch.folder, copy.folder)
        stack.enter_context(birch.agent())
        wait_for(lambda: "1 of 1 other linked" in birch.said("peers"), WITHIN_S, "a link again")
        assert CURE not in _findings(alder)
        stack.enter_context(copy.agent("--name", "copy"))
        wait_for(
            lambda: (
                "two machines have the identity of birch" in _findings(alder)
                or "two machines have the identity of copy" in _findings(alder)
            ),
            2 * WITHIN_S,
            "the other machine sees it",
        )
        assert CURE in _findings(alder)
        assert "two machines have the identity of" in alder.said("peers")
        assert "two machines have the identity of" in alder.said("log")
        wait_for(
            lambda: any(
                "another machine has the same identity as this one" in _findings(each)
                for each in (birch, copy)
            ),
            2 * WITHIN_S,
            "the one that is refused sees it",
        )
        wait_for(
            lambda: any(
                "warning: another machine has the same identity" in each.said("peers")
                for each in (birch, copy)
            ),
            WITHIN_S,
            "and among its peers",
        )
