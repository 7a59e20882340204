"""The work of the demo where the inspection of lines is not installed: primes are counted.

Its programs need nothing but Python. They divide; how many primes there are is found here in another
way, by a sieve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.commands.demo.lines import Found
from agent.commands.demo.work import WORK_S_MAX, Judged
from agent.workflow.submission import Wanted

BELOW, BELOW_DRAWN = 1_600_000, 10_000
"""Numbers below this, and a drawn number more, are tried: half a second to a second for each part."""
WORKFLOW = """\
name: primes
variables:
  below: {type: whole}
tasks:
  count: {program: count, for_each: {part: {from: 1, to: 12}}, parameters: "${part} 12 ${below}"}
  total: {program: total, inputs: ["count/*"]}
"""
DESCRIPTION = 'command: ["{{python}}", -I, {name}.py]\noutputs: [{name}.txt]\n'
COUNT = """\
import sys  # told: -x "PART PARTS BELOW"
part, parts, below = map(int, sys.argv[2].split())
first, last = max(2, below * (part - 1) // parts), below * part // parts
found = 0
for number in range(first, last):
    if number % 20_000 == 0:
        print("PROGRESS", 100 * (number - first) // (last - first), flush=True)
    divisor = 2
    while divisor * divisor <= number and number % divisor:
        divisor += 1 if divisor == 2 else 2
    found += divisor * divisor > number
open("count.txt", "w").write(str(found))
"""
TOTAL = """\
import sys  # told: -i COUNT -i COUNT ...
total = sum(int(open(each).read()) for each in sys.argv[2::2])
open("total.txt", "w").write(str(total))
"""
PROGRAMS = {"count": COUNT, "total": TOTAL}


class Primes:
    """Counts primes in parts and judges the sum by a sieve: a ``Work`` of the demo."""

    sections = 0
    long_tasks: tuple[str, ...] = ("count",)
    results: tuple[tuple[str, tuple[str, ...]], ...] = (("total", ("total.txt",)),)
    report = "total.txt"
    scan, work_s_max = "", WORK_S_MAX

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._below = folder, BELOW + seed % BELOW_DRAWN
        self.planted: list[dict[str, object]] = []

    @property
    def workflow(self) -> Path:
        return self._folder / "primes.wingbeat.yaml"

    @property
    def wanted(self) -> Wanted:
        return Wanted({"below": str(self._below)}, submitter="demo")

    async def prepare(self) -> None:
        """Write the workflow; raises ``OSError``."""
        self._folder.mkdir()
        self.workflow.write_text(WORKFLOW, "utf-8")

    def install(self, programs: Path) -> None:
        """Write the programs where an agent looks for them; raises ``OSError``."""
        for name, text in PROGRAMS.items():
            (programs / name).mkdir(parents=True)
            (programs / name / f"{name}.py").write_text(text, "utf-8")
            (programs / name / "program.yaml").write_text(DESCRIPTION.format(name=name), "utf-8")

    def judge(self, results: Mapping[str, bytes]) -> Iterator[Judged]:
        """Yield whether as many were counted as there are. Raises ``KeyError`` or ``ValueError``
        for results of another kind."""
        counted = int(results[self.report])
        right = primes_below(self._below)
        yield Judged(
            f"there are {right} primes below {self._below}", counted == right, str(counted)
        )

    def plants(self, results: Mapping[str, bytes]) -> tuple[Found, ...]:  # noqa: ARG002
        return ()


def primes_below(number: int) -> int:
    """Return how many primes are below a number that is 2 or more."""
    sieve = bytearray(b"\1") * number
    sieve[:2] = bytes(2)
    for each in range(2, int(number**0.5) + 1):
        if sieve[each]:
            sieve[each * each :: each] = bytes(len(range(each * each, number, each)))
    return sum(sieve)
