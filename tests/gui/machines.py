"""A real flock for the window: agents as processes on this machine, with programs that take time.

The programs are stand-ins for those of an inspection: each counts to its end, tells its progress, and
leaves a file. What the window shows of them is as real as with the true ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.hosts.machine import Machine

NAMES = ("acor", "cagarro", "garajau", "milhafre")
PROGRAM = """\
import pathlib
import sys
import time

arguments = sys.argv[1:]
words = arguments[arguments.index("-x") + 1].split() if "-x" in arguments else []
seconds = float(words[0]) if words else 1.0
print("reading", *words, flush=True)
steps = max(1, int(seconds * 4))
for step in range(steps):
    time.sleep(seconds / steps)
    print(f"PROGRESS {100 * (step + 1) / steps:.1f}", flush=True)
    if step % 8 == 0:
        print(f"block {step} of {steps} done", flush=True)
if "fails" in words:
    print("ERROR the point cloud ends in the middle of a record", flush=True)
    sys.exit(3)
name = pathlib.Path("result.las")
name.write_text("points\\n" * 2000)
print(f"TERMINATED {name}", flush=True)
"""
PROGRAMS = ("import", "georeference", "segment", "detect", "report")


def line_file(name: str, seconds: float, *, gate: str = "", fails: str = "", tiles: int = 0) -> str:
    """A workflow file: import, georeference, segment, detect, report; a gate, or tiles, if wanted."""
    tasks = [
        f'  import: {{program: import, parameters: "{seconds}", expected: {seconds}s}}',
        _step("georeference", "import", seconds, fails),
        _step("segment", "georeference", seconds, fails),
    ]
    last = "segment"
    if gate:
        last = "validate"
    if tiles:
        tasks += [
            "  tile:",
            f"    for_each: {{number: {{from: 1, to: {tiles}}}}}",
            "    program: detect",
            "    inputs: segment",
            f'    parameters: "{seconds / 2} ${{number}}"',
            f"    expected: {seconds / 2}s",
        ]
        last = "tile"
    tasks.append(
        f'  detect: {{program: detect, inputs: segment, after: [{last}], parameters: "{seconds}", '
        f"expected: {seconds}s}}"
    )
    tasks.append(_step("report", "detect", seconds / 2, fails))
    gates = [f"gates:\n  validate: {{asks: {gate}, after: [segment]}}"] if gate else []
    return "\n".join([f"name: {name}", "tasks:", *tasks, *gates, ""])


def _step(name: str, needs: str, seconds: float, fails: str) -> str:
    words = f"{seconds}{' fails' if name == fails else ''}"
    return (
        f'  {name}: {{program: {name}, inputs: {needs}, parameters: "{words}", '
        f"expected: {seconds}s, retries: 0}}"
    )


def prepared(folder: Path, name: str, answer: str = "always") -> Machine:
    """A machine with its programs, and no agent yet; what its owner has answered, empty: nothing."""
    machine = Machine(folder / name, answer=answer)
    machine.settle(listen=["127.0.0.1"])
    for program in PROGRAMS:
        machine.install(program, PROGRAM)
    return machine


@contextlib.contextmanager
def flock(folder: Path, names: tuple[str, ...] = NAMES) -> Iterator[list[Machine]]:
    """Agents that have joined one flock, ended with the block."""
    machines = [prepared(folder, name) for name in names]
    with contextlib.ExitStack() as stack:
        for machine, name in zip(machines, names, strict=True):
            stack.enter_context(machine.agent("--name", name, "--port", "0"))
        first, *others = machines
        first.said("flock", "create", "survey office")
        invitation = first.answer("flock", "invite", "--uses", str(max(1, len(others))))["text"]
        for machine in others:
            machine.said("flock", "join", invitation)
        yield machines


def submit(machine: Machine, folder: Path, text: str, *more: str) -> str:
    """Submit a workflow file's text; what the command said."""
    name = text.partition("\n")[0].removeprefix("name: ").replace(" ", "-")
    path = folder / f"{name}.wingbeat.yaml"
    path.write_text(text, "utf-8")
    return machine.said("submit", str(path), *more)
