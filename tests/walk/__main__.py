"""Walk one task through the program and list every function of ours that is on its way.

    python -m tests.walk            the list, its totals, and whether they keep their limits

A real window and two real nodes run in this process under ``sys.setprofile``, and one task goes the
whole way (``scene``). What is counted, and what is not:

- ``STATIONS`` names where the task changes hands on each leg: into another thread, another loop,
  another machine, onto the disk, into a program, and the steps in which it becomes something else.
  They are the landmarks that ARCHITECTURE tells of; one that is not reached ends the walk with an
  error, so that the list stays true.
- They are reached in their order, each at its first entry after the one before it. At each all
  functions of ours that are on the stack at that moment are on the way, from the loop or the thread
  down to the station: nothing between two stations is left out by hand.
- Each function counts once, in the leg on which it is first met: how a request crosses the connection
  and a message the network is the same way each time.
- What is called on the way and has returned by then (questions to the table, reading fields, wording)
  is no step of the way. Neither are lambdas and comprehensions apart from the function they stand in.
- A function that only passes on has one statement for its body, and that is a call. Crossings of the
  composition root are functions of ``agent/node/agent.py`` on the way.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from tests.style.source import REPOSITORY
from tests.walk.scene import walk
from tests.walk.stations import STATIONS

OURS = tuple(f"{REPOSITORY}/{each}/" for each in ("agent", "gui"))
ROOT = "agent/node/agent.py"
LOOP = "_run_once"
"""Of asyncio: what is above it on the stack is how the loop was started."""
OUTCOME, BACK = "claim to outcome", "way back"
ENTRIES_MAX, PASSED_ON_MAX, CROSSINGS_MAX = 120, 8, 6


class Recorder:
    """What is on the way, leg by leg, in the order in which it was first seen."""

    def __init__(self) -> None:
        self.legs: tuple[str, ...] = ()
        self.found: dict[str, list[CodeType]] = {leg: [] for leg in STATIONS}
        self.ahead = {leg: list(stations) for leg, stations in STATIONS.items()}
        self._met: set[CodeType] = set()
        self._lock = threading.RLock()

    def begin(self, *legs: str) -> None:
        """The task is on these legs from now on, or on none. Each begins when the one named before it
        is over, but for the claim: it begins before peers have heard."""
        self.legs = legs

    def seen(self, frame: FrameType, event: str, _: object) -> None:
        """Note the stack, if this is the entry of the next station of a leg that the task is on."""
        if event != "call" or not self.legs or not frame.f_code.co_filename.startswith(OURS):
            return
        name = f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_qualname}"
        with self._lock:
            for leg in self.legs:
                if self._begun(leg) and self.ahead[leg][:1] == [name]:
                    del self.ahead[leg][0]
                    self._note(leg, frame)

    def _begun(self, leg: str) -> bool:
        return leg != BACK or not self.ahead[OUTCOME]

    def _note(self, leg: str, frame: FrameType) -> None:
        for code in reversed(_ours(frame)):
            if code not in self._met:
                self._met.add(code)
                self.found[leg].append(code)


def _ours(frame: FrameType | None) -> list[CodeType]:
    stack = []
    while frame is not None and frame.f_code.co_name != LOOP:
        code = frame.f_code
        if code.co_filename.startswith(OURS) and not code.co_name.startswith("<"):
            stack.append(code)
        frame = frame.f_back
    return stack


def path_of(code: CodeType) -> str:
    """Where a function stands, within the repository."""
    return str(Path(code.co_filename).relative_to(REPOSITORY))


def passes_on(code: CodeType) -> bool:
    """Whether it does nothing but call another."""
    return (code.co_name, code.co_firstlineno) in _passing(code.co_filename)


@cache
def _passing(path: str) -> frozenset[tuple[str, int]]:
    functions = (
        each
        for each in ast.walk(ast.parse(Path(path).read_text("utf-8")))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return frozenset(
        (each.name, min([each.lineno, *(one.lineno for one in each.decorator_list)]))
        for each in functions
        if _only_calls(each.body)
    )


def _only_calls(body: list[ast.stmt]) -> bool:
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if len(body) != 1 or not isinstance(body[0], ast.Expr | ast.Return):
        return False
    value = body[0].value
    return isinstance(value.value if isinstance(value, ast.Await) else value, ast.Call)


def main() -> int:
    """Return 0 when all limits are kept."""
    recorder = Recorder()
    threading.setprofile(recorder.seen)
    sys.setprofile(recorder.seen)
    try:
        with tempfile.TemporaryDirectory() as folder:
            walk(Path(folder), recorder.begin)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if any(recorder.ahead.values()):
        print("stations that the task did not reach:", recorder.ahead)
        return 1
    return tell(recorder.found)


def tell(found: dict[str, list[CodeType]]) -> int:
    """Print the list and its totals; return 0 when all limits are kept."""
    for leg, codes in found.items():
        print(f"{leg}: {len(codes)}")
        for code in codes:
            mark = ("passes on" if passes_on(code) else "") + (
                " crosses the root" if path_of(code) == ROOT else ""
            )
            print(f"  {path_of(code)} {code.co_qualname}  {mark}".rstrip())
    every = [code for codes in found.values() for code in codes]
    totals = (
        ("function entries", len(every), ENTRIES_MAX),
        ("that only pass on", sum(map(passes_on, every)), PASSED_ON_MAX),
        ("crossings of the composition root", [*map(path_of, every)].count(ROOT), CROSSINGS_MAX),
    )
    for what, count, limit in totals:
        print(f"{what:34} {count:4}  {'kept' if count <= limit else 'MISSED'}, limit {limit}")
    return 0 if all(count <= limit for _, count, limit in totals) else 1


if __name__ == "__main__":
    sys.exit(main())
