"""What may stand in a record or a message: every version of the flock reads as much, and no more.

Who widened a limit would write what older versions do not read; who narrowed one would refuse what is on
disks. So each is here once more, as what fits and what does not.
"""

from __future__ import annotations

from typing import Any, get_type_hints

import msgspec
import pytest
from msgspec import Raw

from agent.protocol import messages, needs, reasons, records
from agent.protocol.messages import UnknownMessage, decode
from agent.protocol.needs import Seat, compared
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.reasons import EndCause, Opaque, carried, reason_in
from agent.protocol.records import (
    InputRef,
    PriorityWish,
    Proof,
    Pruning,
    TaskSpec,
    Wish,
    WorkflowSpec,
    short_text,
)

WISH = Wish(0, 1, "")
TASK = TaskSpec("T1", "T1", "mill")


def field(kind: type, name: str) -> Any:
    return get_type_hints(kind, include_extras=True)[name]


NUMBERS = {
    "Count": (records.Count, 0, 10**9),
    "Size": (records.Size, 0, 2**60),
    "Milliseconds": (records.Milliseconds, 0, 2**53),
    "Incarnation": (records.Incarnation, 0, 2**53),
    "Generation": (records.Generation, 0, 10**6),
    "Priority": (records.Priority, 0, 100),
    "Hash": (messages.Hash, 0, 2**63 - 1),
    "Claim.score": (field(records.Claim, "score"), 0, 10**6),
    "InputRef.output": (field(InputRef, "output"), 0, 9_999),
    "Proof.place": (field(Proof, "place"), 0, 2**20 - 1),
    "TaskSpec.failures_max": (field(TaskSpec, "failures_max"), 1, 100),
    "Wish.kind": (field(Wish, "kind"), 0, 7),
    "Seat.most": (field(Seat, "most"), 1, 10**6),
    "Heartbeat.load": (field(messages.Heartbeat, "load_percent"), -1, 100),
    "Status.load": (field(messages.Status, "load_percent"), 0, 100),
    "Status.reputation": (field(messages.Status, "reputation"), -(10**6), 10**6),
    "Candidacy.reputation": (field(messages.TryToBeMaster, "reputation"), -(10**6), 10**6),
    "DoubtedClaim.score": (field(messages.DoubtedClaim, "score"), 0, 10**6),
    "ProgressItem.permille": (field(messages.ProgressItem, "permille"), 0, 1_000),
}
TEXTS = {
    "NodeId": (records.NodeId, 1, 64),
    "TaskId": (records.TaskId, 1, 64),
    "WorkflowId": (records.WorkflowId, 1, 128),
    "DatasetId": (records.DatasetId, 1, 256),
    "ShortText": (records.ShortText, 0, 256),
    "LongText": (records.LongText, 0, 65_536),
    "Cause": (messages.Cause, 0, 256),
    "Proof.signer": (field(Proof, "signer"), 0, 64),
    "Pruning.by": (field(Pruning, "by"), 0, 64),
    "Heartbeat.master": (field(messages.Heartbeat, "master"), 0, 64),
}
MANY: dict[str, tuple[Any, Any, int, int]] = {
    "Proof.signature": (field(Proof, "signature"), b"x", 1, 128),
    "Proof.path": (field(Proof, "path"), b"x", 0, 400),
    "Life.wishes": (field(records.Life, "wishes"), (WISH,), 0, 8),
    "WorkflowSpec.tasks": (field(WorkflowSpec, "tasks"), (TASK,), 1, 100_000),
    "ProgramNeeds": (needs.ProgramNeeds, ("acme",), 0, 32),
    "Seats": (needs.Seats, (Seat("acme", 1),), 0, 32),
    "Digest.buckets": (field(messages.Digest, "buckets"), (1,), 256, 256),
}


def fits(kind: Any, value: object) -> bool:
    try:
        return bool(msgspec.convert(value, kind) == value)
    except msgspec.ValidationError:
        return False


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_have_their_bounds(name: str) -> None:
    kind, least, most = NUMBERS[name]
    assert [fits(kind, each) for each in (least - 1, least, most, most + 1)] == [
        *(False, True, True, False)
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_texts_have_their_lengths(name: str) -> None:
    kind, least, most = TEXTS[name]
    assert [fits(kind, "x" * each) for each in (least, most, most + 1)] == [True, True, False]
    assert fits(kind, "") is (least == 0)


@pytest.mark.parametrize("name", MANY)
def test_of_what_there_is_more_there_is_so_much(name: str) -> None:
    kind, one, least, most = MANY[name]
    assert [fits(kind, one * each) for each in (least, most, most + 1)] == [True, True, False]
    assert fits(kind, one * (least - 1)) is (least == 0)


def test_stamps_and_likelihoods_have_bounds_part_by_part() -> None:
    for place in range(2):
        for value, good in ((0, True), (-1, False), (2**62, True), (2**62 + 1, False)):
            stamp = [5, 5]
            stamp[place] = value
            assert fits(records.Stamp, tuple(stamp)) is good
    lasts = field(messages.Status, "lasts")
    for value, good in ((0, True), (1_000, True), (1_001, False), (-1, False)):
        assert fits(lasts, (500, value)) is good
    assert fits(field(PriorityWish, "value"), 100)


def test_a_bucket_is_one_of_those_that_there_are_and_a_key_has_a_kind_and_an_id() -> None:
    buckets, keys = field(messages.BucketList, "buckets"), field(messages.AskRecords, "keys")
    assert [fits(buckets, (each,)) for each in (-1, 0, 255, 256)] == [False, True, True, False]
    for length, good in ((1, False), (2, True), (140, True), (141, False)):
        assert fits(keys, ("x" * length,)) is good
        assert fits(field(messages.RecordVersion, "key"), "x" * length) is good


def test_a_text_that_is_too_long_is_cut_where_a_record_has_room() -> None:
    assert [len(short_text("é" * n)) for n in (255, 256, 257)] == [255, 256, 256]
    assert short_text("a\ud800") == "a?"


def test_a_reason_is_read_up_to_its_length() -> None:
    shorter = EndCause("SaidError", error="x" * 1_000)
    room = reasons.WHY_BYTES_MAX - len(bytes(carried(shorter)[reasons.WHY])) + 1_000
    for length, is_read in ((room, True), (room + 1, False)):
        told = EndCause("SaidError", error="x" * length)
        assert reason_in(carried(told), "text") == (told if is_read else Opaque("text"))
    assert reasons.WHY_BYTES_MAX == 4_096
    assert reason_in({}, "text") == reason_in({reasons.WHY: Raw(b"")}, "text") == Opaque("text")
    assert carried(Opaque("text")) == {}


def test_a_message_of_a_later_version_has_a_name_of_some_length() -> None:
    for length, is_later in ((1, True), (64, True), (65, False)):
        data = msgspec.msgpack.encode(["X" * length])
        if is_later:
            assert decode(data) == UnknownMessage("X" * length)
            continue
        with pytest.raises(RemoteProtocolError):
            decode(data)
    assert messages.MESSAGE_BYTES_MAX == 2**25


def test_versions_are_compared_by_so_many_digits() -> None:
    nines = "9" * 17
    assert compared(f"{nines}8", f"{nines}9") == -1
    assert compared(f"{nines}98", f"{nines}99") == 0, "nobody counts so far"
