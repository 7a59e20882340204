"""Real processes, killed at any moment: what they said is on disk is on disk; and one has the journal.

More than that: what is found is exactly what the first so many changes leave, whole and in order.
``WINGBEAT_KILLS`` asks for more rounds, ``WINGBEAT_SEED`` for those of a failed run."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from agent.storage.database import Key, Record
from agent.storage.errors import JournalInUse
from agent.storage.journal import Journal
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.storage.samples import held, identity, persist, replayed, written
from tests.style.source import REPOSITORY

KILLS = int(os.environ.get("WINGBEAT_KILLS", "16"))
SEED = int(os.environ.get("WINGBEAT_SEED", random.SystemRandom().randrange(2**32)))


def start(folder: Path, first: int, log_pages: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.storage.writing_process", folder, str(first), str(log_pages)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
    )


def said_before_death(process: subprocess.Popen[bytes], lines: int, more_s: float) -> list[bytes]:
    """Let it say so many lines and live a moment longer; all that it said in whole lines."""
    with process, certain(process.stdout) as output:
        said = [output.readline() for _ in range(lines)]
        with suppress(subprocess.TimeoutExpired):
            process.wait(more_s)
        process.kill()
        said += output.readlines()
    return [line.strip() for line in said if line.endswith(b"\n")]


@pytest.mark.hunting
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    draw = random.Random(SEED)
    on_disk = 0
    expected: dict[Key, Record] = {}
    for _ in range(KILLS):
        process = start(tmp_path, on_disk + 1, draw.choice([10, 60, 1000]))
        lines = draw.choice([0, 1, 2, draw.randrange(500)])
        said = said_before_death(process, lines, draw.random() * (0.03 if lines else 0.3))
        numbers = [int(line) for line in said if line != b"open"]
        assert numbers == list(range(on_disk + 1, on_disk + 1 + len(numbers))), f"seed {SEED}"
        acknowledged = on_disk + len(numbers)
        remembered = written(tmp_path)
        assert remembered.notices == (), f"seed {SEED}"
        # Killed before its first record was on disk, a journal has only the copy of the identity,
        # whose clock is ahead on purpose.
        found = remembered.identity.stamp[0] if remembered.identity and remembered.lives else 0
        assert acknowledged <= found, f"seed {SEED}: {acknowledged} were acknowledged"
        expected = replayed(map(persist, range(on_disk + 1, found + 1)), expected)
        on_disk = found
        if on_disk:
            assert held(remembered) == expected, f"seed {SEED}: not what {on_disk} changes leave"
    assert on_disk > 0


def test_after_a_kill_the_next_start_needs_no_help(tmp_path: Path) -> None:
    """The lock of a dead process is no obstacle, nor is the log it leaves."""
    said_before_death(start(tmp_path, 1, 1000), 100, 0)
    assert (tmp_path / "journal.db-wal").stat().st_size > 0
    assert written(tmp_path, persist(1000)).identity == identity(1000)


def test_a_process_that_forgets_to_close_its_journal_ends_all_the_same(tmp_path: Path) -> None:
    opens = "import sys, pathlib, agent.storage.journal as journal"
    program = f"{opens}; left = journal.Journal.open(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(tmp_path)]
    assert (
        subprocess.run(command, cwd=REPOSITORY, timeout=EVENTUALLY_S_MAX, check=False).returncode
        == 0
    )


def test_a_second_opening_names_the_process_that_has_it(tmp_path: Path) -> None:
    process = start(tmp_path, 1, 1000)
    with process, certain(process.stdout) as output:
        assert output.readline() == b"open\n"
        with pytest.raises(JournalInUse, match=f"process {process.pid};") as refused:
            Journal.open(tmp_path)
        assert refused.value.process_id == process.pid
        assert str(tmp_path) in str(refused.value)
        process.kill()
    written(tmp_path, persist(1))


def test_a_second_opening_in_the_same_process_is_refused(tmp_path: Path) -> None:
    """Whatever an earlier holder left in the file of the lock."""
    (tmp_path / "lock").write_bytes(b"99999999999999999999 and more")
    with Journal.open(tmp_path), pytest.raises(JournalInUse) as refused:
        Journal.open(tmp_path)
    assert refused.value.process_id == os.getpid()


def test_who_holds_the_lock_is_not_guessed(tmp_path: Path) -> None:
    with Journal.open(tmp_path):
        for content in (b"", b"no number"):
            (tmp_path / "lock").write_bytes(content)
            with pytest.raises(JournalInUse, match="in use by another process;") as refused:
                Journal.open(tmp_path)
            assert refused.value.process_id is None


def test_a_start_that_fails_lets_go_of_the_lock(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    for _ in range(2):
        with pytest.raises(Exception, match="cannot be read or written"):
            Journal.open(tmp_path)
    (tmp_path / "journal.db").rmdir()
    Journal.open(tmp_path).close()
