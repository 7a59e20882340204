"""Reasons: each has a sentence, each finds its way, and what is not known is told by its text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any, get_args

import msgspec
import pytest
from msgspec import Raw, inspect, structs

from agent.api.reasons import NO_WHY, Opaque, SetOff, ToldBy, as_why, reason_of
from agent.api.work import NodeView
from agent.control.naming import cause_of
from agent.protocol import messages
from agent.protocol import reasons as told
from agent.protocol.events import Event
from agent.protocol.messages import Capabilities, Message, Status
from agent.protocol.reading import read_off
from agent.protocol.reasons import WHY, Reason, carried, kinds, reason_in, tag_of
from agent.protocol.records import Claim, Failed, Life, Run, TaskSpec
from agent.wording.english import EVENTS, SENTENCES
from agent.wording.run_ends import why_ended
from agent.wording.speech import OF_A_KIND, Speech, moment
from gui.wording import OwnSpeech

NOW_MS = 1_700_000_000_000
KINDS = sorted(set(kinds()) - {Opaque}, key=lambda kind: kind.__name__)
OF_THE_PROTOCOL = [kind for kind in KINDS if kind.__module__ == told.__name__]


def sample(kind: type[Reason]) -> Reason:
    """One of a kind, with something in each field."""
    return next(samples(kind))


def samples(kind: type[Reason]) -> Iterator[Reason]:
    """One of a kind for each of its sentences, with something in each field."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    fields = {field.name: field.type for field in info.fields}
    for name in _literals(fields):
        values = {field: _value(known) for field, known in fields.items()}
        yield kind(**values | ({"kind": name} if name else {}))


def _literals(fields: dict[str, inspect.Type]) -> list[str]:
    """The kinds of a reason that has a sentence for each."""
    known = fields.get("kind")
    return [str(each) for each in known.values] if isinstance(known, inspect.LiteralType) else [""]


def _value(known: inspect.Type) -> Any:
    match known:
        case inspect.UnionType(types=types):
            return _value(types[-1] if isinstance(types[0], inspect.NoneType) else types[0])
        case inspect.StructType(cls=cls) if issubclass(cls, Reason):
            return sample(cls)
        case inspect.VarTupleType(item_type=item):
            return (_value(item), _value(item))
        case inspect.BoolType():
            return True
        case inspect.IntType():
            return NOW_MS - 5_000
        case inspect.LiteralType(values=values):
            return values[0]
        case _:
            return "something"


def test_every_reason_has_a_sentence_and_no_sentence_is_left_over() -> None:
    of_a_kind = {str(structs.asdict(each)["kind"]) for kind in OF_A_KIND for each in samples(kind)}
    assert set(SENTENCES) == set(KINDS) - set(OF_A_KIND) | of_a_kind


def test_names_of_reasons_are_there_once() -> None:
    """The name is the tag, by which a reason is found again."""
    assert len({kind.__name__ for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("speech", [Speech(NOW_MS), OwnSpeech(NOW_MS)])
def test_a_sentence_has_all_its_values(kind: type[Reason], speech: Speech) -> None:
    for reason in samples(kind):
        said = speech.say(reason)
        assert said
        assert not set("{}") & set(said)


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_reads_what_it_is_told(kind: type[Reason]) -> None:
    reason = sample(kind)
    assert reason_of(as_why(reason), "in words") == reason


@pytest.mark.parametrize("kind", OF_THE_PROTOCOL)
def test_a_peer_reads_what_it_is_told(kind: type[Reason]) -> None:
    reason = sample(kind)
    assert reason_in(carried(reason), "in words") == reason


def test_a_reason_that_is_no_text_is_told_by_the_text_beside_it() -> None:
    assert reason_of(Raw(b'{"type":"\xff"}'), "so") == Opaque("so")


def test_a_moment_that_no_calendar_holds_is_told_all_the_same() -> None:
    assert moment(1e18, 0.0, UTC) == "second 1000000000000000000"


def test_a_reason_of_a_later_version_is_told_by_its_text() -> None:
    later = {"reason": "TheMoonIsFull", "phase": 3}
    assert reason_of(Raw(msgspec.json.encode(later)), "the moon is full") == Opaque(
        "the moon is full"
    )
    more = {WHY: Raw(msgspec.msgpack.encode(later))}
    assert reason_in(more, "the moon is full") == Opaque("the moon is full")


@pytest.mark.parametrize("told_by", [b"", b"\xc1", b"\x81", b"x" * 5_000])
def test_what_is_no_reason_is_told_by_its_text(told_by: bytes) -> None:
    assert reason_in({WHY: Raw(told_by)}, "in words") == Opaque("in words")


def test_a_reason_without_a_type_carries_nothing() -> None:
    assert carried(Opaque("in words")) == {}
    assert as_why(Opaque("in words")) == as_why(None) == NO_WHY
    assert reason_of(NO_WHY, "in words") == reason_in({}, "in words") == Opaque("in words")
    assert Speech().say(Opaque("in words")) == tag_of(Opaque("in words")) == "in words"


def test_a_reason_without_words_is_told_as_engineers_read_it() -> None:
    assert tag_of(told.WaitsFor("a")) == "WaitsFor(task='a')"


def test_every_event_has_words() -> None:
    """What sets a move off is told by its name; a message, by whoever sent it."""
    assert set(EVENTS) == {kind.__name__ for kind in get_args(Event)} | {"InputsThere"}
    assert all(words[0].islower() for words in EVENTS.values())


def _machine(node: str) -> str:
    return {"aldernode": "alder"}.get(node, node)


@pytest.mark.parametrize(
    ("cause", "after", "reason"),
    [
        ("OutputsCopied", "Terminated", SetOff("OutputsCopied")),
        *(("OutputsCopied", state, SetOff("InputsThere")) for state in ("Waiting", "Ready")),
        ("Submit", "Waiting", SetOff("Submit")),
        *((f"{kind.__name__} from aldernode", "", ToldBy("alder")) for kind in get_args(Message)),
        ("retention is over", "", Opaque("retention is over")),
        ("a word from later versions", "", Opaque("a word from later versions")),
        ("", "", Opaque("")),
    ],
)
def test_what_set_a_move_off(cause: str, after: str, reason: Reason) -> None:
    assert cause_of(cause, after, _machine) == reason


def test_a_status_of_a_later_version_costs_no_link() -> None:
    """Its reason is not known here, so its text is told; what it carries beside stays as it is."""
    later = Raw(msgspec.msgpack.encode({"reason": "TheMoonIsFull"}))
    status = Status(
        *(1, 1, "acor", "9", 2, False, True, "the moon is full", 0, 0, Capabilities(), {}),
        more={WHY: later},
    )
    read = messages.decode(messages.encode(status))
    assert isinstance(read, Status)
    assert reason_in(read.more, read.reason) == Opaque("the moon is full")


def test_an_answer_of_a_later_version_is_read() -> None:
    told_so = (
        '{"node": "n", "name": "acor", "version": "9", "reason": "so", "why": {"reason": "New"}}'
    )
    view = msgspec.json.decode(told_so, type=NodeView)
    assert reason_of(view.why, view.reason) == Opaque("so")
    before = msgspec.json.decode('{"node": "n", "name": "acor", "version": "0"}', type=NodeView)
    assert reason_of(before.why, "as before") == Opaque("as before")


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        (carried(told.EndCause("ExitCode", count=3)), told.EndCause("ExitCode", count=3)),
        ({}, None),
        ({WHY: Raw(msgspec.msgpack.encode({"reason": "EndCause", "kind": "MoonFull"}))}, None),
        (carried(told.NobodyUsesIt()), None),
    ],
    ids=["of this version", "of before", "of a later version", "of another kind"],
)
def test_a_failure_is_told_by_its_cause_or_else_by_its_text(
    more: dict[str, Raw], cause: told.EndCause | None
) -> None:
    claim = Claim(1, (1, 0), "acor")
    run = Run(1, 1, "acor", 1, claim, 1_000, phase=Failed("it broke"), more=more)
    spec = TaskSpec("t", "t", "merge", failures_max=1)
    reading = read_off(spec, Life(runs=(run,)), lambda _: None, 5)
    assert reading.reason == told.FailedOnce("it broke", cause)
    said = "exited with code 3" if cause else "it broke"
    assert Speech().say(reading.reason) == f"failed: {said}"
    why: Any = reason_in(more, "it broke")
    assert why_ended(run) == told.RunEnd("Failed", "acor", why)
