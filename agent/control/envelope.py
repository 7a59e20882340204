"""Bytes to lines, a line to a request, and answers to lines: JSON-RPC 2.0 as ``agent.api.rpc`` has it.

Read step by step, not against one type, so that each way to be wrong has its own sentence, and so
that the answer carries the id whenever that could be read.

A line that is too long is skipped to its end, so that the next one is heard. Bytes are told, never
asked for: the connection reads, this only cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec
from msgspec import Raw, Struct

from agent.api.methods import METHODS
from agent.api.rpc import Answer, ErrorCode, Failure, Notification, Problem, Request, RequestId
from agent.api.wording import suggestion

Value = TypeVar("Value")
_FIELDS = ("jsonrpc", "id", "method", "params")
_object = msgspec.json.Decoder(dict[str, Raw])
_id: msgspec.json.Decoder[RequestId] = msgspec.json.Decoder(RequestId)
_text = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line exceeded the limit; its content is gone."""

    limit_bytes: int


class Lines:
    """Cuts what a client sends; the limit may be raised between two lines."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._held = bytearray()
        self._searched = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        """Add bytes that have arrived; ``take`` cuts them."""
        self._held += data

    def take(self) -> Iterator[bytes | TooLong]:
        """Yield the complete lines that were fed, without their ends and spaces around them; for
        one that is longer than the limit ``TooLong``, once, as soon as that is seen. What is left
        is kept for more."""
        while True:
            end = self._held.find(b"\n", self._searched)
            if end < 0:
                break
            line = bytes(self._held[:end])
            del self._held[: end + 1]
            self._searched = 0
            if self._skipping:
                self._skipping = False
            elif len(line) > self.limit_bytes:
                yield TooLong(self.limit_bytes)
            else:
                yield line.strip()
        self._searched = len(self._held)
        if self._skipping or len(self._held) > self.limit_bytes:
            self._held.clear()
            self._searched = 0
            if not self._skipping:
                self._skipping = True
                yield TooLong(self.limit_bytes)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no request; ``id`` as far as it could be read."""

    id: RequestId | None
    problem: Problem


def read_request(line: bytes) -> Request | Malformed:
    """Return the request in a line, its method known and its parameters an object that is not read
    yet; else ``Malformed`` with what is wrong. Nothing is raised."""
    try:
        line.decode("utf-8")
        fields = _object.decode(line)
    except UnicodeDecodeError as error:
        return _not_json(f"the line is not UTF-8 (byte {error.start})")
    except msgspec.MsgspecError as error:
        return _not_json(f"the line is not JSON: {_lowered(str(error))}")
    except RecursionError:
        return _not_json("the line is nested too deeply")
    return _request(fields)


def answer_line(request_id: RequestId, result: Struct) -> bytes:
    """Return the line that answers a request with its result."""
    return _encode(Answer(request_id, Raw(_encode(result)))) + b"\n"


def failure_line(request_id: RequestId | None, problem: Problem) -> bytes:
    """Return the line that tells why a request has no result; without an id where the request could
    not be read."""
    return _encode(Failure(request_id, problem)) + b"\n"


def notification_line(kind: Literal["event", "closing"], told: Struct) -> bytes:
    """Return the line that tells of an event, or is the last word of a connection."""
    return _encode(Notification(kind, Raw(_encode(told)))) + b"\n"


def _request(fields: dict[str, Raw]) -> Request | Malformed:
    request_id = _read(_id, fields.get("id"))
    if _read(_text, fields.get("jsonrpc")) != "2.0":
        return _no_request(request_id, 'a request needs "jsonrpc": "2.0"')
    if request_id is None:
        return _no_request(None, 'a request needs an "id", a whole number or a short text')
    method = _read(_text, fields.get("method"))
    if not method:
        return _no_request(request_id, 'a request needs a "method", the name of what is asked')
    surplus = [name for name in fields if name not in _FIELDS]
    if surplus:
        meant = suggestion(surplus[0], _FIELDS)
        return _no_request(request_id, f"a request has no field {_quoted(surplus[0])}{meant}")
    if method not in METHODS:
        sentence = f"there is no method {_quoted(method)}{suggestion(method, METHODS)}"
        return Malformed(request_id, Problem(ErrorCode.NO_SUCH_METHOD, sentence))
    params = fields.get("params", Raw(b"{}"))
    if not bytes(params).lstrip().startswith(b"{"):
        sentence = f'{method}: "params" must be an object'
        return Malformed(request_id, Problem(ErrorCode.WRONG_PARAMETERS, sentence))
    return Request("2.0", request_id, method, params)


def _read(decoder: msgspec.json.Decoder[Value], raw: Raw | None) -> Value | None:
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _not_json(sentence: str) -> Malformed:
    return Malformed(None, Problem(ErrorCode.NOT_JSON, sentence))


def _no_request(request_id: RequestId | None, sentence: str) -> Malformed:
    return Malformed(request_id, Problem(ErrorCode.NOT_A_REQUEST, sentence))


def _lowered(text: str) -> str:
    text = text.removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]


def _quoted(word: str) -> str:
    return f'"{word[:40]}"'
