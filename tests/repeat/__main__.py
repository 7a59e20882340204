"""Hunt for tests that fail now and then: run them again and again, busy processes beside them.

    python -m tests.repeat --times 5 --load 4 --shuffle            the whole suite
    python -m tests.repeat --times 5 -- tests/net -n 2             what pytest is told
    python -m tests.repeat --each --times 50 --load 4 NODEID…      each alone, then its file

Every run has a seed: of the order, where it is drawn, and of what hypothesis draws. It is printed, and
``--seed`` with ``--times 1`` repeats the run, as far as a run with several processes can be repeated.
At the end stands each test that ever failed, how often, and with which seeds; the exit code is 0 only
if none did. A test that never ends, and a crash of pytest, are failures too.

More is drawn than in a check: a hundred examples, and five hundred new seeds of the simulator.

All that runs has a mark in its environment, by which it is found and ended, also what outlived the
process that started it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

import psutil

from tests.repeat.load import busy

WHOLE = ("-n", "auto")
MARK = "WINGBEAT_REPEATED_BY"
RUN_S_MAX = 3_600
DISK = os.environ.get("TMPDIR") or ("/var/tmp" if Path("/var/tmp").is_dir() else None)
"""Where a file is on a disk, if nobody said otherwise: what is under /tmp may be in memory."""
ENDING_S_MAX = 30
BY_ITSELF_S_MAX = 10.0
"""Who watches over an agent ends a moment after it."""
SEEDS = 1_000_000
DRAWN = {"WINGBEAT_EXAMPLES": "100", "WINGBEAT_SIM_SEEDS": "500"}


@dataclass(frozen=True, slots=True)
class Failure:
    """One test in one run."""

    name: str
    first: str
    text: str


@dataclass(slots=True)
class Tally:
    """What one choice of tests came to."""

    arguments: Sequence[str]
    runs: int = 0
    failures: dict[str, dict[int, Failure]] = field(default_factory=dict)
    """By the name of the test and the seed of the run."""

    def count(self, seed: int, failures: Sequence[Failure]) -> None:
        self.runs += 1
        for each in failures:
            self.failures.setdefault(each.name, {}).setdefault(seed, each)

    def tell(self) -> None:
        print(f"{' '.join(self.arguments)}: {self.runs} runs, {len(self.failures)} tests failed")
        for name, by_seed in sorted(self.failures.items()):
            seeds = ", ".join(map(str, by_seed))
            print(f"  {len(by_seed)} of {self.runs}  {name}  (seeds {seeds})")
            for first in dict.fromkeys(each.first for each in by_seed.values()):
                print(f"      {first}")


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if no test failed in any run, 1 otherwise, 130 after Ctrl-C or kill."""
    chosen = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seed = SystemRandom().randrange(SEEDS) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    tallies = [Tally(each) for each in _choices(chosen)]
    interrupted = False
    with (
        TemporaryDirectory(prefix="repeat-") as folder,
        TemporaryDirectory(prefix="repeat-", dir=DISK) as written,
        busy(chosen.load, Path(written)),
    ):
        os.environ[MARK] = f"{os.getpid()} {time.time_ns()}"
        os.environ.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # as in the check: all that starts is quicker
        try:
            for tally in tallies:
                for number in range(chosen.times):
                    _count(tally, seed + number, shuffle=chosen.shuffle, folder=Path(folder))
        except KeyboardInterrupt:
            interrupted = True
        finally:
            _end_marked()
    for tally in tallies:
        tally.tell()
    return 130 if interrupted else int(any(tally.failures for tally in tallies))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tests.repeat",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--times", type=int, default=5, help="runs of each choice of tests")
    parser.add_argument("--load", type=int, default=0, help="busy processes beside them")
    parser.add_argument("--shuffle", action="store_true", help="in drawn order")
    parser.add_argument("--seed", type=int, help="of the first run; the next has the next")
    parser.add_argument("--each", action="store_true", help="each test alone, then its file")
    parser.add_argument("arguments", nargs="*", help="for pytest; with --each, names of tests")
    return parser


def _choices(chosen: argparse.Namespace) -> list[list[str]]:
    if chosen.each:
        files = dict.fromkeys(each.partition("::")[0] for each in chosen.arguments)
        return [[each] for each in dict.fromkeys([*chosen.arguments, *files])]
    return [chosen.arguments or [*WHOLE]]


def _count(tally: Tally, seed: int, *, shuffle: bool, folder: Path) -> None:
    began = time.monotonic()
    try:
        failures = _run(tally.arguments, seed, shuffle=shuffle, folder=folder)
    except KeyboardInterrupt:
        tally.count(seed, _told(folder / "told")[0])
        raise
    failures += [Failure(f"left behind: {each}", "", "") for each in _end_marked(BY_ITSELF_S_MAX)]
    tally.count(seed, failures)
    took = f"{time.monotonic() - began:.0f} s"
    print(f"run {tally.runs}, seed {seed}, {took}: {len(failures)} failed", flush=True)
    for each in failures:
        print(f"== {each.name}\n{each.text}", flush=True)


def _run(arguments: Sequence[str], seed: int, *, shuffle: bool, folder: Path) -> list[Failure]:
    told_to, output = folder / "told", folder / "output"
    told_to.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.repeat.plugin"]
    command += [f"--told-to={told_to}", f"--basetemp={folder / 'tests'}"]
    command += [f"--hypothesis-seed={seed}", *([f"--drawn-order={seed}"] if shuffle else [])]
    with output.open("wb") as writing:
        pytest = subprocess.Popen(
            [*command, *arguments],
            env={**DRAWN, **os.environ},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
        try:
            ended = f"pytest ended with {pytest.wait(RUN_S_MAX)}"
        except subprocess.TimeoutExpired:
            ended = f"pytest did not end in {RUN_S_MAX} s"
        finally:
            _end(pytest)
    failures, running = _told(told_to)
    if pytest.returncode == 0 or (pytest.returncode == 1 and failures):
        return failures
    text = output.read_text(encoding="utf-8", errors="replace")
    return [*failures, *(Failure(each, ended, text) for each in running or ["pytest itself"])]


def _told(path: Path) -> tuple[list[Failure], list[str]]:
    """Return what failed, and which tests began and never ended."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    words = [json.loads(line) for line in lines if line.endswith("}")]
    failed = [
        Failure(each["failed"], each["first"], each["text"]) for each in words if "failed" in each
    ]
    ended = {each["ended"] for each in words if "ended" in each}
    began = [each["began"] for each in words if "began" in each]
    return list({each.name: each for each in failed}.values()), [
        each for each in began if each not in ended
    ]


def _end(pytest: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does, so that it ends what its tests started; what is left is ended by its mark."""
    if pytest.poll() is None:
        os.killpg(pytest.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            pytest.wait(ENDING_S_MAX)
    if pytest.poll() is None:
        pytest.kill()
        pytest.wait()


def _end_marked(by_itself_s: float = 0.0) -> list[str]:
    """End what a run left behind and what did not end by itself meanwhile; return the commands."""
    found = [each for each in psutil.process_iter() if _is_marked(each)]
    marked = psutil.wait_procs(found, by_itself_s)[1]
    commands = []
    for each in marked:
        with suppress(psutil.Error):
            commands.append(" ".join(each.cmdline()))
            each.kill()
    psutil.wait_procs(marked, ENDING_S_MAX)
    return commands


def _is_marked(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return (
            process.pid != os.getpid()
            and process.environ().get(MARK) == os.environ[MARK]
            and process.status() != psutil.STATUS_ZOMBIE
        )
    return False


if __name__ == "__main__":
    sys.exit(main())
