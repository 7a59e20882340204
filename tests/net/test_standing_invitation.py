"""An invitation that was laid down when a machine was set up: joined by, tried again, told of, used
once; and whose word counts.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from agent.api.errors import InVainError, MembershipError
from agent.flock import standing_invitation
from agent.flock.standing_invitation import StandingInvitation
from agent.host import administered
from agent.host.private_posix import PosixGuard
from agent.net.addresses import Address
from agent.net.invitation import KEEPER_BYTES, SECRET_BYTES, Invitation
from agent.paths import Home, MachineFiles
from agent.wording.speech import english
from tests.hosts.waiting import eventually

INVITATION = Invitation(
    "a" * 26,
    bytes(KEEPER_BYTES),
    bytes(SECRET_BYTES),
    2**32 - 1,
    (Address("192.0.2.7", 29464),),
)
HEARD = Address("192.0.2.8", 29464)


@dataclass
class Node:
    """As much of a node as joining by itself needs; joining raises what is next in ``faults``."""

    home: Home
    network: object | None = None
    notices: list[object] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    places: list[Sequence[Address]] = field(default_factory=list)

    def notify(self, notice: object) -> None:
        self.notices.append(notice)

    async def heard_of(self, flock_id: str) -> Sequence[Address]:
        return [HEARD] if flock_id == INVITATION.flock_id else []

    async def join(self, text: str, elsewhere: Sequence[Address]) -> None:
        self.tried.append(text)
        self.places.append(tuple(elsewhere))
        if self.faults:
            raise self.faults.pop(0)
        self.network = object()


Start = Callable[[], StandingInvitation]


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.setattr(standing_invitation, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(standing_invitation, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(administered, "alteration_guard", lambda: PosixGuard(os.getuid()))
    plain = Home.at(tmp_path / "home")
    machine = MachineFiles(tmp_path / "machine")
    machine.folder.mkdir(mode=0o755)
    home = Home(plain.data, plain.config, plain.log, plain.cache, machine)
    home.prepare()
    return Node(home)


@pytest.fixture
async def start(node: Node) -> AsyncIterator[Start]:
    begun: list[StandingInvitation] = []

    def begin() -> StandingInvitation:
        made = StandingInvitation(cast("Any", node), node.join, node.heard_of)
        made.start()
        begun.append(made)
        return made

    yield begin
    for each in begun:
        await each.stop()


def laid(path: Path, text: str = INVITATION.text) -> Path:
    path.write_text(text)
    path.chmod(0o644)
    return path


def told(standing: StandingInvitation) -> str:
    return "" if standing.state is None else english(standing.state)


async def test_it_joins_and_deletes_what_it_joined_by(node: Node, start: Start) -> None:
    own = laid(node.home.invitation, INVITATION.file.decode())
    standing = start()
    await eventually(lambda: node.network is not None and not own.exists())
    assert node.tried == [INVITATION.file.decode()]
    assert standing.state is None


async def test_a_keeper_that_is_off_is_tried_until_it_answers(
    node: Node, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    node.faults = [MembershipError("nobody answers")] * 3
    path = laid(node.home.machine.invitation)  # type: ignore[union-attr]
    standing = start()
    await eventually(lambda: len(node.tried) == 2)
    assert told(standing) == (
        f"this machine joins a flock by the invitation in {path} as soon as 192.0.2.7:29464 can be "
        f"reached, last: nobody answers"
    )
    assert node.notices
    await eventually(lambda: node.network is not None and not path.exists())
    assert standing.state is None
    assert len(node.tried) == 4
    assert node.places == [(), *[(HEARD,)] * 3], "machines of the flock are heard meanwhile"
    assert caplog.text.count("is tried again: nobody answers") == 1


async def test_one_that_may_not_be_deleted_is_used_once(
    node: Node, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    path = laid(node.home.machine.invitation)  # type: ignore[union-attr]
    first = start()
    await eventually(lambda: node.network is not None)
    done = node.home.data / standing_invitation.FILE
    await eventually(done.exists)
    await first.stop()
    node.network = None  # it has left the flock since, and is started again
    second = start()
    looked = counted(second)
    await eventually(lambda: len(looked) > 2)
    assert len(node.tried) == 1
    assert second.state is None
    path.write_text(Invitation("b" * 26, *_fields()).text)  # another one is another matter
    await eventually(lambda: len(node.tried) == 2)


def _fields() -> tuple[bytes, bytes, int, tuple[Address, ...]]:
    one = INVITATION
    return one.keeper, one.secret, one.expires_s, one.addresses


def counted(standing: StandingInvitation) -> list[None]:
    """One entry for each look of it from now on."""
    looks: list[None] = []
    look = standing._look

    def counting() -> Any:
        looks.append(None)
        return look()

    standing._look = counting  # type: ignore[method-assign]
    return looks


@pytest.mark.parametrize(
    ("text", "fault", "why"),
    [
        (INVITATION.text, InVainError("the invitation is used up"), "the invitation is used up"),
        ("good morning", None, "this is no invitation"),
        (INVITATION.text[:-1], None, "has a typing error or is not complete"),
    ],
)
async def test_what_can_do_no_more_is_tried_once_and_told_ever_after(
    node: Node,
    start: Start,
    caplog: pytest.LogCaptureFixture,
    text: str,
    fault: Exception | None,
    why: str,
) -> None:
    node.faults = [fault] if fault else []
    laid(node.home.invitation, text)
    for _ in range(2):  # the second is after a restart
        standing = start()
        await eventually(lambda told_of=standing: why in told(told_of))  # type: ignore[misc]
        looked = counted(standing)
        await eventually(lambda seen=looked: len(seen) > 2)  # type: ignore[misc]
        await standing.stop()
    assert len(node.tried) == (1 if fault else 0)
    assert caplog.text.count("did not join") == 1


async def test_one_that_is_over_by_the_clock_here_is_tried_again_by_the_next_start_only(
    node: Node, start: Start
) -> None:
    over = Invitation("a" * 26, bytes(8), bytes(12), 1000, INVITATION.addresses)
    laid(node.home.invitation, over.text)
    for tried in (1, 2):
        node.faults = [MembershipError("not found")] * 5
        standing = start()
        await eventually(lambda told_of=standing: "not found" in told(told_of))  # type: ignore[misc]
        looked = counted(standing)
        await eventually(lambda seen=looked: len(seen) > 2)  # type: ignore[misc]
        assert len(node.tried) == tried
        await standing.stop()


async def test_who_belongs_to_a_flock_does_not_need_it_then_or_later(
    node: Node, start: Start
) -> None:
    node.network = object()
    path = laid(node.home.invitation)
    start()
    await eventually(lambda: not path.exists())
    node.network = None
    laid(path)
    looked = counted(start())
    await eventually(lambda: len(looked) > 2)
    assert node.tried == []


@pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX systems")
async def test_what_others_may_have_written_is_not_believed(node: Node, start: Start) -> None:
    path = laid(node.home.machine.invitation)  # type: ignore[union-attr]
    path.chmod(0o666)
    standing = start()
    await eventually(lambda: "can be changed by others than root (mode 0666)" in told(standing))
    assert node.tried == []
    path.chmod(0o644)
    await eventually(lambda: node.network is not None)
    assert standing.state is None


async def test_an_end_meanwhile_ends_it(node: Node) -> None:
    begun = asyncio.Event()

    async def never(text: str, elsewhere: Sequence[Address]) -> None:
        begun.set()
        await asyncio.Event().wait()

    laid(node.home.invitation)
    standing = StandingInvitation(cast("Any", node), never, node.heard_of)
    standing.start()
    await begun.wait()
    await standing.stop()
    assert node.home.invitation.exists()
